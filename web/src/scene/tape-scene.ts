import { KIND } from '../engine/layout';
import type { History } from '../model/history';
import { type Theme, termColour } from '../model/palette';
import type { TimeWindow } from '../model/window';

export interface TapeDrawing {
  history: History;
  horizon: number;
  extent: number;
  window: TimeWindow;
  width: number;
  height: number;
  density: number;
  theme: Theme;
}

/** The scrubber's ground: who led when, over the whole run. */
export function drawTape(canvas: HTMLCanvasElement, drawing: TapeDrawing): void {
  const { history, horizon, extent, window, width, height, density, theme } = drawing;
  const deviceWidth = Math.round(width * density);
  const deviceHeight = Math.round(height * density);
  if (canvas.width !== deviceWidth) canvas.width = deviceWidth;
  if (canvas.height !== deviceHeight) canvas.height = deviceHeight;
  const c = canvas.getContext('2d');
  if (!c) return;
  const x = (at: number) => (at / extent) * width;
  const end = x(horizon);
  c.setTransform(density, 0, 0, density, 0, 0);
  c.clearRect(0, 0, width, height);

  // What the timeline below shows of it.
  const left = Math.round(x(window.from));
  const right = Math.round(Math.min(x(window.from + window.span), width));
  c.fillStyle = theme.wash;
  c.fillRect(left, 0, right - left, height);

  const top = height / 2 - 5;
  c.fillStyle = theme.line;
  c.fillRect(0, height / 2 - 0.5, width, 1);
  c.fillStyle = theme.edge;
  c.fillRect(0, height / 2 - 0.5, end, 1);
  for (const tenure of history.tenures) {
    const from = x(tenure.from);
    const to = Math.min(x(tenure.to), end);
    c.fillStyle = termColour(theme, tenure.term);
    c.fillRect(from, top, Math.max(1, to - from), 10);
  }
  c.fillStyle = theme.red;
  for (const span of history.overlaps) {
    c.fillRect(x(span.from), top - 3, Math.max(2, Math.min(x(span.to), end) - x(span.from)), 3);
  }
  for (const mark of history.violations) c.fillRect(x(mark.at) - 1, top - 4, 2, 18);

  c.fillStyle = theme.soft;
  let last = Number.NEGATIVE_INFINITY;
  for (const mark of history.faults) {
    const at = Math.round(x(mark.at));
    if (at - last < 2 || mark.kind === KIND.boot) continue;
    last = at;
    c.fillRect(at, top + 12, 1.5, 4);
  }
}
