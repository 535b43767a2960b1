import { EVENT } from '../engine/layout';

/**
 * The first index for which a condition holds, `length` when there is none. The condition must hold for all later ones
 * too: everything that is searched here is in order of time.
 */
export function firstWhere(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

interface Timed {
  at: number;
}

/** Index of the first mark later than an instant. */
export function firstAfter(marks: readonly Timed[], now: number): number {
  return firstWhere(marks.length, (i) => marks[i].at > now);
}

/** Index of the first mark at or after an instant. */
export function firstFrom(marks: readonly Timed[], at: number): number {
  return firstWhere(marks.length, (i) => marks[i].at >= at);
}

export function eventTime(events: Float64Array, index: number): number {
  return events[index * EVENT.stride + EVENT.time];
}

/** How many events lie at or before an instant. */
export function eventsUntil(events: Float64Array, now: number): number {
  return firstWhere(events.length / EVENT.stride, (i) => eventTime(events, i) > now);
}

/** How many events lie before an instant: the index of the first one from there on. */
export function eventsBefore(events: Float64Array, at: number): number {
  return firstWhere(events.length / EVENT.stride, (i) => eventTime(events, i) >= at);
}

/** The time of the last event before an instant, 0 when there is none. */
export function timeBefore(events: Float64Array, at: number): number {
  const count = eventsBefore(events, at);
  return count === 0 ? 0 : eventTime(events, count - 1);
}
