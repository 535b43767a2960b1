/** The stretch of time that the timeline shows. */
export interface TimeWindow {
  from: number;
  span: number;
}

export const MIN_SPAN = 2_000;

/** Where the present moment sits while the timeline follows it. */
const FOLLOW_AT = 0.82;

/** The window that follows an instant: still at first, then moving with it. */
export function following(now: number, span: number): TimeWindow {
  return { from: Math.max(0, now - span * FOLLOW_AT), span };
}

/** Zoomed by a factor with one instant held in its place. */
export function zoomed(window: TimeWindow, at: number, factor: number, extent: number): TimeWindow {
  const span = Math.min(Math.max(MIN_SPAN, window.span * factor), Math.max(MIN_SPAN, extent));
  const share = (at - window.from) / window.span;
  return within({ from: at - share * span, span }, extent);
}

/** Moved by a time, kept on the run. */
export function panned(window: TimeWindow, by: number, extent: number): TimeWindow {
  return within({ from: window.from + by, span: window.span }, extent);
}

export function contains(window: TimeWindow, at: number): boolean {
  return at >= window.from && at <= window.from + window.span;
}

function within({ from, span }: TimeWindow, extent: number): TimeWindow {
  return { from: Math.max(0, Math.min(from, extent - span * (1 - FOLLOW_AT))), span };
}
