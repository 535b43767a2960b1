import type { Translate } from '../i18n/translate';
import type { History, LeadSpan, Mark, Span } from '../model/history';
import { eventAt, type Run } from '../model/mark';
import { firstFrom, firstWhere } from '../model/search';
import { spanText } from '../model/time';
import type { TimeWindow } from '../model/window';
import { flightsIn, LOST_AT } from './flights';
import { type Lane, type LanePlan, middlesOf } from './lanes';
import { ARROWS_BELOW } from './timeline-scene';

/** What lies under the pointer: an event, by its index, or what lasts there. */
export type Finding =
  | { kind: 'event'; event: number }
  | { kind: 'lead'; lead: LeadSpan }
  | { kind: 'status'; status: 'paused' | 'crashed' }
  | { kind: 'term'; term: number }
  | { kind: 'overlap' | 'leaderless'; span: Span };

export interface TimelinePlace {
  history: History;
  events: Float64Array;
  window: TimeWindow;
  plan: LanePlan;
  width: number;
}

/** How near the pointer must be to a mark or an arrow. */
const NEAR_PX = 6;

/** What a point of the timeline shows: marks before arrows, arrows before what lasts. */
export function findAt(place: TimelinePlace, lane: Lane, x: number, y: number): Finding | null {
  const { history, window, width } = place;
  const at = window.from + (x / width) * window.span;
  const near = (NEAR_PX / width) * window.span;
  const mark = nearest(marksOf(history, lane), at, near);
  if (mark) return { kind: 'event', event: mark.event };
  const arrow = window.span < ARROWS_BELOW ? arrowAt(place, x, y) : null;
  if (arrow !== null) return { kind: 'event', event: arrow };
  if (lane.kind === 'overlap' || lane.kind === 'leaderless') {
    const span = spanAt(lane.kind === 'overlap' ? history.overlaps : history.leaderless, at);
    return span && { kind: lane.kind, span };
  }
  const model = lane.kind === 'node' ? history.lanes[lane.id] : undefined;
  if (!model) return null;
  const lead = spanAt(model.leads, at);
  if (lead) return { kind: 'lead', lead };
  const status = spanAt(model.status, at);
  if (status) return { kind: 'status', status: status.status };
  const term = spanAt(model.terms, at);
  return term && { kind: 'term', term: term.term };
}

/** A finding in words, of the lane of a node where it is one. What lasts is told up to the horizon. */
export function tipText(found: Finding, node: string, horizon: number, run: Run, t: Translate): string {
  switch (found.kind) {
    case 'event':
      return eventAt(found.event, run, t);
    case 'lead':
      return `${node} ${t(`tip.${found.lead.style}`, { term: found.lead.term })}`;
    case 'status':
      return `${node} ${t(`status.${found.status}`)}`;
    case 'term':
      return `${node} ${t('node.term', { term: found.term })}`;
    default:
      return t(`tip.${found.kind}`, { span: spanText(Math.min(found.span.to, horizon) - found.span.from) });
  }
}

export function laneAt({ lanes }: LanePlan, y: number): Lane | null {
  return lanes.find(({ top, height }) => y >= top && y < top + height) ?? null;
}

function marksOf(history: History, lane: Lane): readonly Mark[] {
  switch (lane.kind) {
    case 'faults':
      return history.faults;
    case 'resource':
      return history.writes.get(lane.id) ?? [];
    case 'node':
      return history.lanes[lane.id]?.ticks ?? [];
    default:
      return [];
  }
}

function nearest(marks: readonly Mark[], at: number, near: number): Mark | null {
  const next = firstFrom(marks, at);
  const [best] = [marks[next - 1], marks[next]]
    .filter((mark) => mark && Math.abs(mark.at - at) <= near)
    .sort((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at));
  return best ?? null;
}

function spanAt<T extends Span>(spans: readonly T[], at: number): T | null {
  const span = spans[firstWhere(spans.length, (i) => spans[i].to > at)];
  return span && span.from <= at ? span : null;
}

/** The arrow next to a point, as the index of the event that ended it. */
function arrowAt({ events, window, plan, width }: TimelinePlace, x: number, y: number): number | null {
  const middles = middlesOf(plan);
  const toX = (at: number) => ((at - window.from) / window.span) * width;
  let best = NEAR_PX;
  let found: number | null = null;
  for (const flight of flightsIn(events, window)) {
    const y0 = middles.get(flight.from);
    const y1 = middles.get(flight.to);
    if (y0 === undefined || y1 === undefined) continue;
    const x0 = toX(flight.sent);
    const dx = toX(flight.arrives) - x0;
    const dy = y1 - y0;
    const share = ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy);
    if (!(share >= 0 && share <= (flight.lost ? LOST_AT : 1))) continue;
    const off = Math.hypot(x - x0 - share * dx, y - y0 - share * dy);
    if (off >= best) continue;
    best = off;
    found = flight.event;
  }
  return found;
}
