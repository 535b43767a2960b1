import type { Span } from './history';

/** Length of all spans up to an instant. */
export function covered(spans: readonly Span[], now: number): number {
  return spans.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, now) - from), 0);
}

/**
 * Where a count grew that stands still or rises with time: found by asking for it at a few instants. `count(from)` and
 * `count(to)` are known. Exact to the microsecond.
 */
export function growth(
  [from, low]: readonly [at: number, count: number],
  [to, high]: readonly [at: number, count: number],
  count: (at: number) => number,
): Span[] {
  if (high <= low) return [];
  if (high - low >= to - from) return [{ from, to }];
  const at = Math.floor((from + to) / 2);
  const middle = [at, count(at)] as const;
  const spans = growth([from, low], middle, count);
  for (const span of growth(middle, [to, high], count)) append(spans, span);
  return spans;
}

/**
 * A lane that the engine counts and the page draws. Events tell where it lies for every protocol whose leaders lapse
 * aloud; in a broken one belief ends or goes on without an event. Then the lane is what the engine counted.
 */
export class CountedLane {
  /** The count up to which the spans were measured; null while they are those that the events tell of. */
  private measured: readonly [at: number, count: number] | null = null;

  constructor(public spans: Span[]) {}

  /** Goes over to measuring when the spans of the events do not add up to the engine's count at the horizon. */
  agree(horizon: number, total: number, count: (at: number) => number): void {
    if (!this.measured) {
      if (covered(this.spans, horizon) === total) return;
      this.measured = [0, 0];
      this.spans = [];
    }
    if (horizon <= this.measured[0]) return;
    for (const span of growth(this.measured, [horizon, total], count)) append(this.spans, span);
    this.measured = [horizon, total];
  }
}

function append(spans: Span[], span: Span): void {
  const last = spans.at(-1);
  if (last?.to === span.from) last.to = span.to;
  else spans.push(span);
}
