import { describe, expect, it } from 'vitest';
import { changes, leaves } from './diff';

describe('inspected objects', () => {
  it('fall into leaves in their order', () => {
    expect(
      leaves({ role: 'leader', log: { term: '3', index: '9' }, votes: [0, 2], none: null, peers: [] }),
    ).toEqual([
      { path: 'role', text: 'leader' },
      { path: 'log.term', text: '3' },
      { path: 'log.index', text: '9' },
      { path: 'votes', text: '0, 2' },
      { path: 'none', text: '–' },
      { path: 'peers', text: '–' },
    ]);
    expect(leaves({ peers: [{ id: 1 }] })).toEqual([{ path: 'peers.0.id', text: '1' }]);
  });

  it('differ where a leaf changed, came or went', () => {
    const before = { role: 'follower', term: '3', old: 1, same: [1, 2] };
    const after = { role: 'candidate', term: '3', fresh: 1, same: [1, 2] };
    expect([...changes(before, after)].sort()).toEqual(['fresh', 'old', 'role']);
    expect(changes(after, after).size).toBe(0);
  });
});
