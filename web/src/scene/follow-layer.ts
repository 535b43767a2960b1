import type { ServerView } from '../model/cluster';
import { type Layout, num, type Point } from './geometry';
import { add, set } from './svg';

/** How far an arrow is kept clear of the servers at its ends, in their halves of a height. */
const CLEAR = 1.5;
/** Length of the barbs of its head. */
const HEAD = 7;

/** From whom servers copy: an arrow the way the data goes, broken where they are out of touch. */
export class FollowLayer {
  private readonly group: SVGGElement;
  private readonly arrows: SVGPathElement[] = [];

  constructor(parent: Element) {
    this.group = add(parent, 'g', { class: 'follows', 'aria-hidden': 'true' });
  }

  update({ servers: places, server }: Layout, servers: readonly ServerView[]): void {
    while (this.arrows.length > servers.length) this.arrows.pop()?.remove();
    while (this.arrows.length < servers.length) this.arrows.push(add(this.group, 'path'));
    servers.forEach(({ follows, linked, status }, i) => {
      const from = servers.findIndex(({ id }) => id === follows);
      const arrow = this.arrows[i];
      const shown = from >= 0 && status !== 'crashed';
      set(arrow, 'class', `follow ${linked ? 'linked' : 'apart'}`);
      set(arrow, 'd', shown ? pointed(places[from], places[i], server * CLEAR) : '');
    });
  }
}

/** Bent towards the top: a straight one would run through the servers between. */
function pointed(from: Point, to: Point, clear: number): string {
  const away = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const bend = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 - away * 0.16 };
  const begin = towards(from, bend, clear);
  const end = towards(to, bend, clear);
  const back = Math.atan2(bend.y - end.y, bend.x - end.x);
  const barb = (turn: number) =>
    `M${num(end.x + HEAD * Math.cos(back + turn))} ${num(end.y + HEAD * Math.sin(back + turn))}L${num(end.x)} ${num(end.y)}`;
  return (
    `M${num(begin.x)} ${num(begin.y)}Q${num(bend.x)} ${num(bend.y)} ${num(end.x)} ${num(end.y)}` +
    barb(0.5) +
    barb(-0.5)
  );
}

function towards(from: Point, to: Point, by: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  return { x: from.x + ((to.x - from.x) / length) * by, y: from.y + ((to.y - from.y) / length) * by };
}
