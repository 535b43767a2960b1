import { EVENT, KIND } from '../engine/layout';
import { eventsBefore } from '../model/search';
import type { TimeWindow } from '../model/window';

/** A message on its way between two lanes, from its sending to its arrival or loss. */
export interface Flight {
  /** Index of the event that ended it. */
  event: number;
  from: number;
  to: number;
  sent: number;
  arrives: number;
  lost: boolean;
  term: number;
}

/** How far along its way a lost message is drawn. */
export const LOST_AT = 0.55;

/** The longest a message is under way; how far after the window its arrival may lie. */
const LONGEST_FLIGHT = 1_000_000;

/** The messages that were under way in a window. */
export function* flightsIn(events: Float64Array, { from, span }: TimeWindow): Generator<Flight> {
  const limit = from + span + LONGEST_FLIGHT;
  for (let at = eventsBefore(events, from) * EVENT.stride; at < events.length; at += EVENT.stride) {
    const arrives = events[at + EVENT.time];
    if (arrives > limit) return;
    const kind = events[at + EVENT.kind];
    if (kind !== KIND.deliver && kind !== KIND.lose) continue;
    const cause = events[at + EVENT.cause];
    const sent = cause >= 0 ? events[cause * EVENT.stride + EVENT.time] : arrives;
    if (sent > from + span) continue;
    yield {
      event: at / EVENT.stride,
      from: events[at + EVENT.actor],
      to: events[at + EVENT.other],
      sent,
      arrives,
      lost: kind === KIND.lose,
      term: events[at + EVENT.term],
    };
  }
}
