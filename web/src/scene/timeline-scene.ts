import { EVENT, KIND } from '../engine/layout';
import { type History, type LeadSpan, type Mark, type Span, visible } from '../model/history';
import { inkOn, type Theme, termColour } from '../model/palette';
import { eventsBefore, firstFrom } from '../model/search';
import { spanText, tickStep } from '../model/time';
import type { TimeWindow } from '../model/window';
import type { Lane, LanePlan } from './lanes';

export interface TimelineDrawing {
  history: History;
  events: Float64Array;
  window: TimeWindow;
  now: number;
  horizon: number;
  plan: LanePlan;
  width: number;
  /** Device pixels per CSS pixel. */
  density: number;
  theme: Theme;
  font: string;
  selected: number | null;
}

/** Shorter windows show every message as an arrow between the lanes. */
export const ARROWS_BELOW = 260_000;

/** The longest a message is under way; how far before the window its sending may lie. */
const LONGEST_FLIGHT = 1_000_000;

/** Draws the swimlanes. Only what the window touches is visited. */
export function drawTimeline(canvas: HTMLCanvasElement, drawing: TimelineDrawing): void {
  const { plan, width, density } = drawing;
  const deviceWidth = Math.round(width * density);
  const deviceHeight = Math.round(plan.height * density);
  if (canvas.width !== deviceWidth) canvas.width = deviceWidth;
  if (canvas.height !== deviceHeight) canvas.height = deviceHeight;
  const context = canvas.getContext('2d');
  if (context) new Painter(context, drawing).paint();
}

class Painter {
  private readonly perUs: number;

  constructor(
    private readonly c: CanvasRenderingContext2D,
    private readonly d: TimelineDrawing,
  ) {
    this.perUs = d.width / d.window.span;
  }

  paint(): void {
    const { c, d } = this;
    c.setTransform(d.density, 0, 0, d.density, 0, 0);
    c.clearRect(0, 0, d.width, d.plan.height);
    c.font = `11px ${d.font}`;
    c.textBaseline = 'middle';
    this.axis();
    for (const lane of d.plan.lanes) this.lane(lane);
    if (d.window.span < ARROWS_BELOW) this.arrows();
    this.future();
    this.cursor();
  }

  private x(at: number): number {
    return (at - this.d.window.from) * this.perUs;
  }

  private get to(): number {
    return this.d.window.from + this.d.window.span;
  }

  private axis(): void {
    const { c, d } = this;
    const step = tickStep(d.window.span, d.width, 88);
    const first = Math.ceil(d.window.from / step) * step;
    c.lineWidth = 1;
    for (let at = first; at <= this.to; at += step) {
      const x = Math.round(this.x(at)) + 0.5;
      c.strokeStyle = d.theme.line;
      c.beginPath();
      c.moveTo(x, d.plan.axis - 6);
      c.lineTo(x, d.plan.height);
      c.stroke();
      const text = axisLabel(at, step);
      if (x + 4 + c.measureText(text).width > d.width) continue;
      c.fillStyle = d.theme.faint;
      c.fillText(text, x + 4, 7);
    }
  }

  private lane(lane: Lane): void {
    const { c, d } = this;
    const y = Math.round(lane.top) + 0.5;
    c.strokeStyle = d.theme.line;
    c.lineWidth = 1;
    if (lane.kind !== 'faults') {
      c.beginPath();
      c.moveTo(0, y);
      c.lineTo(d.width, y);
      c.stroke();
    }
    switch (lane.kind) {
      case 'node':
        this.nodeLane(lane);
        break;
      case 'resource':
        this.writes(lane, d.history.writes.get(lane.id) ?? []);
        break;
      case 'faults':
        this.faults(lane);
        break;
      case 'overlap':
        this.blocks(lane, d.history.overlaps, d.theme.red);
        break;
      case 'leaderless':
        this.blocks(lane, d.history.leaderless, d.theme.edge);
        break;
    }
  }

  private nodeLane(lane: Lane): void {
    const { c, d } = this;
    const model = d.history.lanes[lane.id];
    if (!model) return;
    const middle = lane.top + lane.height / 2;
    if (d.selected === lane.id) {
      c.fillStyle = d.theme.wash;
      c.fillRect(0, lane.top + 1, d.width, lane.height - 1);
    }
    for (const span of this.seen(model.terms)) {
      const [x, w] = this.extent(span);
      c.fillStyle = termColour(d.theme, span.term);
      c.fillRect(x, middle - 1, w, 2);
    }
    for (const span of this.seen(model.status)) {
      const [x, w] = this.extent(span);
      if (span.status === 'crashed') this.crashed(x, w, middle);
      else this.hatch(x, w, lane, d.theme.edge, 8);
    }
    for (const span of this.seen(model.leads)) this.bar(span, lane);
    c.fillStyle = d.theme.ink;
    for (const mark of this.marks(model.ticks)) this.candidacy(mark, middle);
  }

  private bar(span: LeadSpan, lane: Lane): void {
    const { c, d } = this;
    const [x, w] = this.extent(span);
    const height = lane.height - 10;
    const y = lane.top + 5;
    const colour = termColour(d.theme, span.term);
    if (span.style === 'acting') {
      c.fillStyle = colour;
      round(c, x, y, Math.max(1.5, w), height, 3);
      c.fill();
      if (w > 34)
        this.label(`${span.term}`, Math.max(x, 0) + 6, lane.top + lane.height / 2 + 0.5, inkOn(colour));
      return;
    }
    if (span.style === 'zombie') this.hatch(x, w, lane, colour, height);
    c.strokeStyle = colour;
    c.lineWidth = 1.5;
    round(c, x + 0.75, y + 0.75, Math.max(1, w - 1.5), height - 1.5, 3);
    c.stroke();
  }

  private label(text: string, x: number, y: number, colour: string): void {
    const { c, d } = this;
    c.font = `600 11px ${d.font}`;
    c.fillStyle = colour;
    c.fillText(text, x, y);
    c.font = `11px ${d.font}`;
  }

  private hatch(x: number, w: number, lane: Lane, colour: string, height: number): void {
    const { c } = this;
    const left = Math.max(x, 0);
    const right = Math.min(x + w, this.d.width);
    if (right <= left) return;
    const y = lane.top + (lane.height - height) / 2;
    c.save();
    c.beginPath();
    c.rect(left, y, right - left, height);
    c.clip();
    c.fillStyle = this.d.theme.bg;
    c.fillRect(left, y, right - left, height);
    c.strokeStyle = colour;
    c.lineWidth = 1.5;
    c.beginPath();
    // Anchored to time, not to the window: the pattern does not crawl when the window moves.
    const phase = (((x % 6) + 6) % 6) - 6;
    for (let at = left - height - 6 + ((phase - left) % 6); at < right; at += 6) {
      c.moveTo(at, y + height);
      c.lineTo(at + height, y);
    }
    c.stroke();
    c.restore();
  }

  private crashed(x: number, w: number, middle: number): void {
    const { c, d } = this;
    c.strokeStyle = d.theme.edge;
    c.lineWidth = 1.5;
    c.setLineDash([2, 4]);
    c.beginPath();
    c.moveTo(x, middle);
    c.lineTo(x + w, middle);
    c.stroke();
    c.setLineDash([]);
    if (x > -8) this.cross(x + 1, middle, 4, d.theme.ink);
  }

  private candidacy(mark: Mark, middle: number): void {
    const { c, d } = this;
    const x = this.x(mark.at);
    const size = 4;
    c.beginPath();
    c.moveTo(x, middle - size);
    c.lineTo(x + size, middle);
    c.lineTo(x, middle + size);
    c.lineTo(x - size, middle);
    c.closePath();
    c.fillStyle = mark.a === 2 ? termColour(d.theme, mark.term) : d.theme.bg;
    c.strokeStyle = mark.a === 2 ? termColour(d.theme, mark.term) : d.theme.edge;
    c.lineWidth = 1.25;
    c.fill();
    c.stroke();
  }

  private writes(lane: Lane, marks: readonly Mark[]): void {
    const { c, d } = this;
    const middle = lane.top + lane.height / 2;
    let last = Number.NEGATIVE_INFINITY;
    for (const mark of this.marks(marks)) {
      const x = this.x(mark.at);
      if (mark.kind === KIND['write-refused']) this.cross(x, middle, 4, d.theme.ink);
      else if (mark.a === 1) this.stale(x, middle);
      else if (x - last >= 1) {
        c.fillStyle = termColour(d.theme, mark.term);
        c.fillRect(x - 0.75, middle - 4, 1.5, 8);
        last = x;
      }
    }
  }

  /** A stale write that got in: one of the two places where red is due. */
  private stale(x: number, middle: number): void {
    const { c, d } = this;
    c.fillStyle = d.theme.red;
    c.beginPath();
    c.moveTo(x, middle - 5);
    c.lineTo(x + 5, middle + 4);
    c.lineTo(x - 5, middle + 4);
    c.closePath();
    c.fill();
  }

  private faults(lane: Lane): void {
    const { c, d } = this;
    const middle = lane.top + lane.height / 2;
    let last = Number.NEGATIVE_INFINITY;
    c.fillStyle = d.theme.soft;
    for (const mark of this.marks(d.history.faults)) {
      const x = Math.round(this.x(mark.at));
      if (x - last < 3) continue;
      last = x;
      c.strokeStyle = d.theme.line;
      c.lineWidth = 1;
      c.beginPath();
      c.moveTo(x + 0.5, middle + 5);
      c.lineTo(x + 0.5, d.plan.height);
      c.stroke();
      this.faultSign(mark.kind, x + 0.5, middle);
    }
  }

  private faultSign(kind: number, x: number, y: number): void {
    const { c, d } = this;
    c.strokeStyle = d.theme.soft;
    c.lineWidth = 1.5;
    c.beginPath();
    if (kind === KIND.crash) {
      this.cross(x, y, 3.5, d.theme.soft);
    } else if (kind === KIND.pause) {
      c.moveTo(x - 2, y - 4);
      c.lineTo(x - 2, y + 4);
      c.moveTo(x + 2, y - 4);
      c.lineTo(x + 2, y + 4);
    } else if (kind === KIND.cut) {
      c.moveTo(x - 6, y);
      c.lineTo(x - 2, y);
      c.moveTo(x + 2, y);
      c.lineTo(x + 6, y);
      c.moveTo(x - 2, y - 3);
      c.lineTo(x - 2, y + 3);
      c.moveTo(x + 2, y - 3);
      c.lineTo(x + 2, y + 3);
    } else if (kind === KIND.heal || kind === KIND.healed) {
      c.moveTo(x - 6, y);
      c.lineTo(x + 6, y);
    } else {
      c.moveTo(x - 3, y - 4);
      c.lineTo(x + 4, y);
      c.lineTo(x - 3, y + 4);
      c.closePath();
    }
    c.stroke();
  }

  private blocks(lane: Lane, spans: readonly Span[], colour: string): void {
    const { c, d } = this;
    c.fillStyle = colour;
    for (const span of this.seen(spans)) {
      const [x, w] = this.extent(span);
      c.fillRect(x, lane.top + 5, Math.max(1, w), lane.height - 9);
    }
    c.fillStyle = d.theme.ink;
  }

  private arrows(): void {
    const { c, d } = this;
    const middles = new Map(
      d.plan.lanes
        .filter(({ kind }) => kind === 'node' || kind === 'resource')
        .map(({ id, top, height }) => [id, top + height / 2]),
    );
    const limit = this.to + LONGEST_FLIGHT;
    c.lineWidth = 1;
    for (
      let at = eventsBefore(d.events, d.window.from) * EVENT.stride;
      at < d.events.length;
      at += EVENT.stride
    ) {
      const time = d.events[at + EVENT.time];
      if (time > limit) break;
      const kind = d.events[at + EVENT.kind];
      if (kind !== KIND.deliver && kind !== KIND.lose) continue;
      const cause = d.events[at + EVENT.cause];
      const sent = cause >= 0 ? d.events[cause * EVENT.stride + EVENT.time] : time;
      const from = middles.get(d.events[at + EVENT.actor]);
      const to = middles.get(d.events[at + EVENT.other]);
      if (sent > this.to || from === undefined || to === undefined) continue;
      this.arrow(this.x(sent), from, this.x(time), to, kind === KIND.lose, d.events[at + EVENT.term]);
    }
    c.globalAlpha = 1;
  }

  private arrow(x0: number, y0: number, x1: number, y1: number, lost: boolean, term: number): void {
    const { c, d } = this;
    const end = lost ? 0.55 : 1;
    const x = x0 + (x1 - x0) * end;
    const y = y0 + (y1 - y0) * end;
    c.globalAlpha = 0.65;
    c.strokeStyle = termColour(d.theme, term);
    c.beginPath();
    c.moveTo(x0, y0);
    c.lineTo(x, y);
    c.stroke();
    c.globalAlpha = 1;
    if (lost) {
      this.cross(x, y, 3, d.theme.soft);
      return;
    }
    c.fillStyle = termColour(d.theme, term);
    c.beginPath();
    c.arc(x, y, 1.75, 0, 7);
    c.fill();
  }

  /** What has not been computed yet. */
  private future(): void {
    const { c, d } = this;
    const x = this.x(d.horizon);
    if (x >= d.width) return;
    c.fillStyle = d.theme.bg;
    c.fillRect(Math.max(0, x), d.plan.axis, d.width - x, d.plan.height - d.plan.axis);
  }

  private cursor(): void {
    const { c, d } = this;
    const x = Math.round(this.x(d.now)) + 0.5;
    if (x < 0 || x > d.width) return;
    c.strokeStyle = d.theme.ink;
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(x, d.plan.axis);
    c.lineTo(x, d.plan.height);
    c.stroke();
    c.fillStyle = d.theme.ink;
    c.beginPath();
    c.moveTo(x - 5, d.plan.axis - 5);
    c.lineTo(x + 5, d.plan.axis - 5);
    c.lineTo(x, d.plan.axis + 2);
    c.closePath();
    c.fill();
  }

  private cross(x: number, y: number, size: number, colour: string): void {
    const { c } = this;
    c.strokeStyle = colour;
    c.lineWidth = 1.75;
    c.beginPath();
    c.moveTo(x - size, y - size);
    c.lineTo(x + size, y + size);
    c.moveTo(x + size, y - size);
    c.lineTo(x - size, y + size);
    c.stroke();
  }

  /** Left edge and width on the canvas, clipped to a little beyond it. */
  private extent(span: Span): [x: number, width: number] {
    const from = Math.max(this.x(span.from), -8);
    const to = Math.min(this.x(Math.min(span.to, this.d.horizon)), this.d.width + 8);
    return [from, Math.max(0, to - from)];
  }

  private *seen<T extends Span>(spans: readonly T[]): Generator<T> {
    const [start, end] = visible(spans, this.d.window.from, this.to);
    for (let i = start; i < end; i += 1) yield spans[i];
  }

  private *marks(marks: readonly Mark[]): Generator<Mark> {
    const pad = 8 / this.perUs;
    const end = firstFrom(marks, this.to + pad);
    for (let i = firstFrom(marks, this.d.window.from - pad); i < end; i += 1) yield marks[i];
  }
}

function axisLabel(at: number, step: number): string {
  if (step >= 1_000_000) return `${at / 1_000_000} s`;
  if (at === 0) return '0';
  if (step >= 1000) return `${(at / 1_000_000).toFixed(step >= 100_000 ? 1 : step >= 10_000 ? 2 : 3)} s`;
  return spanText(at);
}

function round(
  c: CanvasRenderingContext2D,
  x: number,
  y: number,
  w: number,
  h: number,
  radius: number,
): void {
  c.beginPath();
  c.roundRect(x, y, w, h, Math.min(radius, w / 2, h / 2));
}
