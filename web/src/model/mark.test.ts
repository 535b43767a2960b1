import { describe, expect, it } from 'vitest';
import { translator } from '../i18n/translate';
import { type EventRow, eventRows } from '../testing/fixtures';
import { History } from './history';
import { markText } from './mark';

const t = translator('en');

function last(rows: EventRow[]): string {
  const events = eventRows(rows);
  const history = new History(3);
  history.read(events, 0);
  const actors = ['n1', 'n2', 'n3', 'client', 'fenced', 'unfenced'].map((name, id) => ({
    id,
    name,
    kind: id < 3 ? ('node' as const) : id === 3 ? ('client' as const) : ('resource' as const),
    fenced: name === 'fenced',
  }));
  const run = { history, actors, events: () => events };
  return markText(history.latest(Number.POSITIVE_INFINITY)!, run, t);
}

describe('what happened last', () => {
  it('is an event in words', () => {
    expect(last([{ at: 5, kind: 'established', actor: 1, term: 3 }])).toBe('n2 is established, term 3');
  });

  it('is one thing when many links are cut or healed at one instant', () => {
    const cut = (at: number, other: number): EventRow => ({ at, kind: 'cut', actor: 0, other });
    expect(last([cut(5, 1)])).toBe('link n1 → n2 cut');
    expect(last([cut(3, 1), cut(5, 1), cut(5, 2)])).toBe('2 link directions cut');
    expect(last([cut(5, 1), { at: 9, kind: 'heal', actor: 0, other: 1 }])).toBe('link n1 → n2 healed');
  });

  it('is the write itself when a write broke a rule', () => {
    const write: EventRow = { at: 8, kind: 'write-accepted', actor: 5, other: 0, term: 1, a: 1 };
    expect(last([write, { at: 8, kind: 'violation', a: 5 }])).toBe(
      'unfenced takes a stale write of n1, token 1',
    );
    expect(last([{ at: 8, kind: 'violation', a: 5 }])).toMatch(/^violation/);
  });
});
