import { type Layout, num, type Point } from './geometry';
import { add, set } from './svg';

/** The links of the cluster: a hairline each, broken where it is cut, split in two where only one direction is. */
export class LinkLayer {
  private readonly group: SVGGElement;
  private pairs: { a: number; b: number; whole: SVGPathElement; broken: SVGPathElement }[] = [];
  private drawn = '';
  private counts = '';

  constructor(parent: Element) {
    this.group = add(parent, 'g', { class: 'links', 'aria-hidden': 'true' });
  }

  /** Links between the nodes; or, where there are servers of a store, between each of them and each node. */
  update({ nodes, radius, servers, server, data }: Layout, cut: readonly (readonly boolean[])[]): void {
    const state = JSON.stringify([nodes, servers, cut]);
    if (state === this.drawn) return;
    this.drawn = state;
    this.rebuild(nodes.length, servers.length, data);
    const ends = [...nodes, ...servers];
    for (const { a, b, whole, broken } of this.pairs) {
      const there = cut[a]?.[b] ?? false;
      const back = cut[b]?.[a] ?? false;
      const from = ends[a];
      const to = ends[b];
      const clear = b < nodes.length ? radius * 1.65 : Math.min(radius * 1.65, server * 2.2);
      if (there && back) {
        set(whole, 'd', '');
        set(broken, 'd', gap(from, to, clear, 0, true) + gap(to, from, clear, 0, true));
      } else if (there || back) {
        const [open, closed] = there ? [to, from] : [from, to];
        const other = open === from ? to : from;
        set(whole, 'd', line(open, other, clear, 4) + tip(open, other, clear, 4));
        set(
          broken,
          'd',
          gap(closed, closed === from ? to : from, clear, 4, true) +
            rest(closed, closed === from ? to : from, clear, 4),
        );
      } else {
        // Who copies from whom says more than that servers reach each other.
        set(whole, 'd', a >= nodes.length ? '' : line(from, to, clear, 0));
        set(broken, 'd', '');
      }
    }
  }

  private rebuild(n: number, servers: number, data: boolean): void {
    const counts = `${n} ${servers} ${data}`;
    if (this.counts === counts) return;
    this.counts = counts;
    this.group.replaceChildren();
    this.pairs = [];
    for (let a = 0; a < (data ? n + servers : n); a += 1) {
      for (let b = servers > 0 && !data ? n : a + 1; b < n + servers; b += 1) {
        this.pairs.push({
          a,
          b,
          whole: add(this.group, 'path', { class: 'link' }),
          broken: add(this.group, 'path', { class: 'link cut' }),
        });
      }
    }
  }
}

/** How far the broken halves reach, as a share of the link. */
const REACH = 0.4;

function at(a: Point, b: Point, share: number, clear: number, lane: number): Point {
  const dx = b.x - a.x;
  const dy = b.y - a.y;
  const length = Math.hypot(dx, dy) || 1;
  const way = clear + (length - 2 * clear) * share;
  return {
    x: a.x + (dx / length) * way - (dy / length) * lane,
    y: a.y + (dy / length) * way + (dx / length) * lane,
  };
}

function line(a: Point, b: Point, clear: number, lane: number): string {
  return segment(at(a, b, 0, clear, lane), at(a, b, 1, clear, lane));
}

function segment(p: Point, q: Point): string {
  return `M${num(p.x)} ${num(p.y)}L${num(q.x)} ${num(q.y)}`;
}

/** From a as far as the break, with a bar across its end. */
function gap(a: Point, b: Point, clear: number, lane: number, bar: boolean): string {
  const end = at(a, b, REACH, clear, lane);
  const stem = segment(at(a, b, 0, clear, lane), end);
  if (!bar) return stem;
  return stem + segment(at(a, b, REACH, clear, lane - 5), at(a, b, REACH, clear, lane + 5));
}

/** What is left of a direction beyond its break. */
function rest(a: Point, b: Point, clear: number, lane: number): string {
  return segment(at(a, b, 1 - REACH, clear, lane), at(a, b, 1, clear, lane));
}

/** An arrow head at the receiving end. */
function tip(a: Point, b: Point, clear: number, lane: number): string {
  const end = at(a, b, 1, clear, lane);
  const length = Math.hypot(b.x - a.x, b.y - a.y) - 2 * clear;
  const share = 1 - 7 / Math.max(14, length);
  return segment(at(a, b, share, clear, lane - 4), end) + segment(at(a, b, share, clear, lane + 4), end);
}
