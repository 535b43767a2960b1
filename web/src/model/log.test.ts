import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EVENT_KINDS } from '../engine/layout';
import { translator } from '../i18n/translate';
import { actors, type EventRow, eventRows } from '../testing/fixtures';
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
    eventText(readEvent(events, index), actors(3), translator(lang));

  it('names who, what and to whom in both languages', () => {
    expect(text(1, 'en')).toBe('n1 sends RequestVote to n2, term 1');
    expect(text(1, 'zh')).toBe('n1 向 n2 发送 RequestVote，任期 1');
    expect(text(4, 'en')).toBe('n1 is established, term 1');
  });

  it('has a sentence for every kind of event, without a gap left', () => {
    for (const kind of EVENT_KINDS) {
      for (const lang of ['en', 'zh'] as const) {
        const [row] = [eventRows([{ at: 1, kind, actor: 0, other: 1, term: 2, a: 1, b: 1 }])];
        const said = eventText(readEvent(row, 0), actors(3), translator(lang));
        expect(said, kind).not.toMatch(/[{}]|undefined|NaN/);
      }
    }
  });

  it('says in words what a sentinel tells of, and whether a server takes writes', () => {
    const said = (row: Omit<EventRow, 'at'>) =>
      eventText(readEvent(eventRows([{ at: 1, ...row }]), 0), actors(2, 2), translator('en'));
    expect(said({ kind: 'news', actor: 0, other: 2, a: 1 })).toBe('n1 holds s1 to be down (+sdown)');
    expect(said({ kind: 'news', actor: 1, other: 0, term: 4, a: 7 })).toBe(
      'n2 votes for n1 in epoch 4 (+vote-for-leader)',
    );
    expect(said({ kind: 'news', actor: 1, a: 99 })).toBe('n2 tells of its work');
    expect(said({ kind: 'serves', actor: 2, term: 1, a: 1, b: 1 })).toContain('as the master, epoch 1');
    expect(said({ kind: 'serves', actor: 2, a: 1 })).toContain('name another');
    expect(said({ kind: 'serves', actor: 2 })).toBe('s1 takes no more writes');
  });

  it('names a broken check by its code, however many of them a scheme has', () => {
    const said = (a: number) =>
      eventText(readEvent(eventRows([{ at: 1, kind: 'violation', a }]), 0), actors(2), translator('en'));
    const codes = readFileSync(new URL('../../../sim/src/check/mod.rs', import.meta.url), 'utf8');
    const [, list] = /pub enum Check \{([\s\S]*?)\n\}/.exec(codes)!;
    const names = [...list.matchAll(/^ {4}(\w+)(?: = \d+)?,/gm)].map(([, name]) => name);
    expect(said(names.indexOf('OneLeaderPerTerm'))).toBe('violation: One leader per term');
    expect(said(names.indexOf('SentinelSingleWritable'))).toBe('violation: One writable master');
  });

  it('tells what the store does not keep from what a resource refuses', () => {
    const said = (a: number) => {
      const row = eventRows([{ at: 1, kind: 'write-refused', actor: 3, other: 0, term: 2, a }]);
      return eventText(readEvent(row, 0), actors(3), translator('en'));
    };
    expect(said(8)).toContain('the version of the epoch has changed');
    expect(said(0)).toContain('a higher token was seen');
  });

  it('tells a stale write from a fresh one', () => {
    const row = eventRows([{ at: 1, kind: 'write-accepted', actor: 5, other: 0, term: 2, a: 1 }]);
    expect(eventText(readEvent(row, 0), actors(3), translator('en'))).toContain('stale');
  });
});
