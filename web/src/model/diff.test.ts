import { describe, expect, it } from 'vitest';
import { changes, leaves } from './diff';

describe('inspected objects', () => {
  it('fall into leaves in their order', () => {
    expect(
      leaves({ role: 'leader', log: { term: '3', index: '9' }, votes: [0, 2], none: null, peers: [] }),
    ).toEqual([
      { path: 'role', value: 'leader' },
      { path: 'log.term', value: '3' },
      { path: 'log.index', value: '9' },
      { path: 'votes', value: '0, 2' },
      { path: 'none', value: null },
      { path: 'peers', value: null },
    ]);
    expect(leaves({ peers: [{ id: 1 }] })).toEqual([{ path: 'peers.0.id', value: 1 }]);
  });

  it('differ where a leaf changed, came or went', () => {
    const before = { role: 'follower', term: '3', old: 1, same: [1, 2] };
    const after = { role: 'candidate', term: '3', fresh: 1, same: [1, 2] };
    expect([...changes(before, after)].sort()).toEqual(['fresh', 'old', 'role']);
    expect(changes(after, after).size).toBe(0);
  });
});
