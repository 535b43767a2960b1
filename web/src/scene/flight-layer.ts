import { MESSAGES } from '../engine/layout';
import type { FlightView } from '../model/cluster';
import { hueOf } from '../model/palette';
import { along, num, type Point } from './geometry';
import { crossPath, isHollow, messageLook, messagePath } from './glyphs';
import { add, set, setText, show } from './svg';

interface Mark {
  group: SVGGElement;
  tail: SVGPathElement;
  shape: SVGPathElement;
  cross: SVGPathElement;
  title: SVGTitleElement;
}

/** Where a lost message ends: before a broken link, or somewhat further. */
const ENDS_CUT = 0.38;
const ENDS_LOST = 0.56;

/** Without motion a message stands at one place of its way until it is gone. */
const STILL = 0.6;

/** Messages on their way, each where its time says. */
export class FlightLayer {
  private readonly group: SVGGElement;
  private readonly marks = new Map<number, Mark>();
  private readonly spare: Mark[] = [];

  constructor(parent: Element) {
    this.group = add(parent, 'g', { class: 'flights', 'aria-hidden': 'true' });
  }

  update(
    flights: readonly FlightView[],
    place: (actor: number) => { at: Point; clear: number } | null,
    size: number,
    still: boolean,
    describe: (flight: FlightView) => string,
  ): void {
    const seen = new Set<number>();
    for (const flight of flights) {
      const from = place(flight.from);
      const to = place(flight.to);
      if (!from || !to) continue;
      seen.add(flight.id);
      const mark = this.marks.get(flight.id) ?? this.take(flight, size, describe);
      const ends = flight.cutOff ? ENDS_CUT : flight.lost ? ENDS_LOST : 1;
      const progress = still ? Math.min(STILL, ends) : flight.progress;
      const share = Math.min(progress, ends);
      const gone = flight.lost && progress >= ends;
      const clear = Math.min(from.clear, to.clear);
      const lane = size * 0.9;
      const head = along(from.at, to.at, share, clear, lane);
      set(mark.group, 'transform', `translate(${num(head.x)} ${num(head.y)})`);
      const tail = along(from.at, to.at, Math.max(0, share - 0.16), clear, lane);
      set(mark.tail, 'd', gone ? '' : `M0 0L${num(tail.x - head.x)} ${num(tail.y - head.y)}`);
      show(mark.shape, !gone);
      show(mark.cross, gone);
      set(mark.group, 'opacity', gone ? num(1 - (progress - ends) / (1 - ends) / 1.4) : '1');
    }
    for (const [id, mark] of this.marks) {
      if (seen.has(id)) continue;
      this.marks.delete(id);
      show(mark.group, false);
      this.spare.push(mark);
    }
  }

  clear(): void {
    this.marks.clear();
    this.spare.length = 0;
    this.group.replaceChildren();
  }

  private take(flight: FlightView, size: number, describe: (flight: FlightView) => string): Mark {
    const mark = this.spare.pop() ?? this.make();
    const look = messageLook(flight.kind);
    show(mark.group, true);
    set(mark.group, 'class', `flight ${isHollow(look) ? 'hollow' : 'filled'}`);
    set(mark.group, 'data-hue', String(hueOf(flight.term)));
    set(mark.group, 'data-kind', MESSAGES[flight.kind] ?? '');
    set(mark.shape, 'd', messagePath(look, size));
    set(mark.cross, 'd', crossPath(size));
    setText(mark.title, describe(flight));
    this.marks.set(flight.id, mark);
    return mark;
  }

  private make(): Mark {
    const group = add(this.group, 'g');
    const title = add(group, 'title');
    const tail = add(group, 'path', { class: 'tail' });
    const shape = add(group, 'path', { class: 'shape' });
    const cross = add(group, 'path', { class: 'lost' });
    return { group, tail, shape, cross, title };
  }
}
