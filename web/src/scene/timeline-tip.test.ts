import { describe, expect, it } from 'vitest';
import { EVENT } from '../engine/layout';
import { translator } from '../i18n/translate';
import { History } from '../model/history';
import { eventRows } from '../testing/fixtures';
import { planLanes } from './lanes';
import { findAt, laneAt, tipText } from './timeline-tip';

const ms = 1000;
const plan = planLanes([0, 1, 2], [4, 5], 'normal');
const events = eventRows([
  { at: 100 * ms, kind: 'role', actor: 1, term: 1, a: 2 },
  { at: 120 * ms, kind: 'established', actor: 1, term: 1 },
  { at: 150 * ms, kind: 'send', actor: 1, other: 2, term: 1, a: 6 },
  { at: 160 * ms, kind: 'deliver', actor: 1, other: 2, term: 1, a: 6 },
  { at: 170 * ms, kind: 'write-accepted', actor: 5, other: 1, term: 1, a: 1 },
  { at: 180 * ms, kind: 'pause', actor: 1 },
]);
events[3 * EVENT.stride + EVENT.cause] = 2;
const history = new History(3);
history.read(events, 0);
history.readSpans({ overlaps: new Float64Array(), leaderless: Float64Array.of(0, 120 * ms, 180 * ms, -1) });

/** A pixel is a millisecond. */
const place = { history, events, plan, width: 200, window: { from: 0, span: 200 * ms } };
const run = {
  history,
  events: () => events,
  actors: ['n1', 'n2', 'n3', 'client', 'fenced', 'unfenced'].map((name, id) => ({
    id,
    name,
    kind: id < 3 ? ('node' as const) : id === 3 ? ('client' as const) : ('resource' as const),
    fenced: name === 'fenced',
  })),
};

function tell(x: number, y: number): string | null {
  const lane = laneAt(plan, y)!;
  const found = findAt(place, lane, x, y);
  return (
    found && tipText(found, lane.kind === 'node' ? `n${lane.id + 1}` : '', 190 * ms, run, translator('en'))
  );
}

const middle = (kind: string, id: number) => {
  const lane = plan.lanes.find((known) => known.kind === kind && known.id === id)!;
  return lane.top + lane.height / 2;
};

describe('the tip of the timeline', () => {
  it('tells what lasts at a point: leadership, frozen leadership, term, leaderless time', () => {
    expect(tell(140, middle('node', 1))).toBe('n2 leads term 1');
    expect(tell(188, middle('node', 1))).toBe('n2 frozen while it led term 1');
    expect(tell(111, middle('node', 1))).toBe('n2 term 1');
    expect(tell(50, middle('node', 0))).toBeNull();
    expect(tell(50, middle('leaderless', -1))).toBe('nobody leads, for 120 ms');
    expect(tell(185, middle('leaderless', -1))).toBe('nobody leads, for 10 ms');
    expect(tell(140, middle('overlap', -1))).toBeNull();
  });

  it('tells of the mark next to it first', () => {
    expect(tell(97, middle('node', 1))).toContain('candidate');
    expect(tell(183, middle('faults', -1))).toBe('n2 is paused');
    expect(tell(172, middle('resource', 5))).toContain('stale write');
    expect(tell(160, middle('resource', 5))).toBeNull();
  });

  it('tells of the message whose arrow is next to it, when arrows are drawn', () => {
    const between = (middle('node', 1) + middle('node', 2)) / 2;
    expect(tell(156, between)).toBe('n3 hears Heartbeat from n2, term 1');
    expect(tell(130, between)).toBeNull();
    const far = { ...place, window: { from: 0, span: 2000 * ms } };
    expect(findAt(far, laneAt(plan, between)!, 15.5, between)?.kind).not.toBe('event');
  });

  it('has nothing above the lanes', () => {
    expect(laneAt(plan, 5)).toBeNull();
  });
});
