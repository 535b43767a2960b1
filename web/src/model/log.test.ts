import { describe, expect, it } from 'vitest';
import { EVENT_KINDS } from '../engine/layout';
import { translator } from '../i18n/translate';
import { actors, eventRows } from '../testing/fixtures';
import { FilteredLog, LOG_GROUPS, type LogGroup, readEvent } from './log';
import { eventText } from './text';

const events = eventRows([
  { at: 0, kind: 'boot', actor: 0, a: 1 },
  { at: 10, kind: 'send', actor: 0, other: 1, term: 1, a: 3 },
  { at: 15, kind: 'deliver', actor: 0, other: 1, term: 1, a: 3 },
  { at: 20, kind: 'elected', actor: 0, term: 1 },
  { at: 20, kind: 'established', actor: 0, term: 1 },
  { at: 30, kind: 'crash', actor: 2 },
]);

const log = (groups: LogGroup[], node: number | null = null) => {
  const made = new FilteredLog({ groups: new Set(groups), node });
  made.update(events, 0);
  return made;
};

describe('the filtered log', () => {
  it('keeps the groups asked for', () => {
    expect(log(['elections']).rows).toEqual([3, 4]);
    expect(log([...LOG_GROUPS]).rows).toEqual([0, 1, 2, 3, 4, 5]);
    expect(log([]).rows).toEqual([]);
  });

  it('keeps a node on either side of an event', () => {
    expect(log(['messages', 'faults'], 1).rows).toEqual([1, 2]);
    expect(log(['messages', 'faults'], 2).rows).toEqual([5]);
  });

  it('reads on, and starts again when the past changed', () => {
    const made = new FilteredLog({ groups: new Set(LOG_GROUPS), node: null });
    made.update(events.subarray(0, 16), 0);
    expect(made.rows).toHaveLength(2);
    made.update(events, 0);
    expect(made.rows).toHaveLength(6);
    made.update(events.subarray(0, 8), 1);
    expect(made.rows).toEqual([0]);
  });

  it('says how many rows lie at or before an instant', () => {
    const made = log(['elections', 'faults']);
    expect([-1, 0, 20, 25, 99].map((now) => made.upTo(events, now))).toEqual([0, 1, 3, 3, 4]);
  });
});

describe('event text', () => {
  const text = (index: number, lang: 'en' | 'zh') =>
    eventText(readEvent(events, index), actors(3), ['one-leader-per-term'], translator(lang));

  it('names who, what and to whom in both languages', () => {
    expect(text(1, 'en')).toBe('n1 sends RequestVote to n2, term 1');
    expect(text(1, 'zh')).toBe('n1 向 n2 发送 RequestVote，任期 1');
    expect(text(4, 'en')).toBe('n1 is established, term 1');
  });

  it('has a sentence for every kind of event, without a gap left', () => {
    for (const kind of EVENT_KINDS) {
      for (const lang of ['en', 'zh'] as const) {
        const [row] = [eventRows([{ at: 1, kind, actor: 0, other: 1, term: 2, a: 1, b: 1 }])];
        const said = eventText(
          readEvent(row, 0),
          actors(3),
          ['token-rises', 'one-vote-per-term'],
          translator(lang),
        );
        expect(said, kind).not.toMatch(/[{}]|undefined|NaN/);
      }
    }
  });

  it('tells a stale write from a fresh one', () => {
    const row = eventRows([{ at: 1, kind: 'write-accepted', actor: 5, other: 0, term: 2, a: 1 }]);
    expect(eventText(readEvent(row, 0), actors(3), [], translator('en'))).toContain('stale');
  });
});
