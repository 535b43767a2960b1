import type { Translate } from '../i18n/translate';
import type { ResourceView } from '../model/cluster';
import { hueOf } from '../model/palette';
import { tokenText } from '../model/text';
import type { Layout, Point } from './geometry';
import { FOOT_LINE, FOOT_TEXT, KEEPER_TEXT, num } from './geometry';
import { clientPath, crossPath, cylinderPath, fencePath, railPath } from './glyphs';
import { add, set, setText, show } from './svg';

/** What happened last at a resource, shown for a moment. */
export type Flash = 'accepted' | 'stale' | 'refused' | null;

/** The kinds of text at a resource, from top to bottom. */
const LINES = ['title', 'token', 'count', 'count', 'count'] as const;

/** A guarded resource: the keeper of data, with its fence if it has one, and what it took and refused. */
export class ResourceMark {
  private readonly group: SVGGElement;
  private readonly body: SVGPathElement;
  private readonly rails: SVGPathElement;
  private readonly fence: SVGPathElement;
  private readonly cross: SVGPathElement;
  private readonly chip: SVGCircleElement;
  private readonly lines: SVGTextElement[];

  constructor(parent: Element) {
    this.group = add(parent, 'g', { class: 'resource', role: 'img' });
    this.body = add(this.group, 'path', { class: 'body' });
    this.rails = add(this.group, 'path', { class: 'fence' });
    this.fence = add(this.group, 'path', { class: 'fence' });
    this.cross = add(this.group, 'path', { class: 'refused' });
    this.chip = add(this.group, 'circle', { class: 'token-dot' });
    this.lines = LINES.map((name) => add(this.group, 'text', { class: name }));
  }

  remove(): void {
    this.group.remove();
  }

  place(at: Point, { scale, stacked }: Layout): void {
    set(this.group, 'transform', `translate(${num(at.x)} ${num(at.y)})`);
    const size = stacked ? 0.6 : scale;
    set(this.body, 'd', cylinderPath(34 * size, 40 * size));
    for (const part of [this.rails, this.fence]) set(part, 'transform', `translate(0 ${num(13 * size)})`);
    set(this.rails, 'd', railPath(54 * size, 22 * size));
    set(this.fence, 'd', fencePath(50 * size, 22 * size));
    set(this.cross, 'd', crossPath(6 * size));
    set(this.cross, 'transform', stacked ? 'translate(0 -20)' : `translate(${num(-38 * scale)} 0)`);
    const left = stacked ? FOOT_TEXT : KEEPER_TEXT * scale;
    const line = stacked ? FOOT_LINE : Math.max(15, 14.5 * scale);
    const top = -line * (stacked ? 1.5 : 1.3);
    this.lines.forEach((text, i) => {
      set(text, 'x', num(left + (i === 1 && !stacked ? 14 * scale : 0)));
      set(text, 'y', num(top + i * line));
    });
    set(this.chip, 'r', num(4.5 * scale));
    set(this.chip, 'cx', num(left + 4.5 * scale));
    set(this.chip, 'cy', num(top + line - 4 * scale));
  }

  update(resource: ResourceView, flash: Flash, stacked: boolean, t: Translate): void {
    set(
      this.group,
      'class',
      `resource ${resource.fenced ? 'fenced' : 'unfenced'}${flash ? ` ${flash}` : ''}`,
    );
    set(this.group, 'data-hue', String(hueOf(resource.token)));
    set(this.group, 'data-resource', resource.fenced ? 'fenced' : 'unfenced');
    const { token, accepted, stale, refused } = resource;
    // Each write that was accepted raised the value by one, unless another overwrote it.
    const lost = accepted - resource.value;
    const label = resource.fenced ? 'resource.label.fenced' : 'resource.label.unfenced';
    set(this.group, 'aria-label', t(label, { token, accepted, stale, refused, lost }));
    show(this.rails, resource.fenced);
    show(this.fence, resource.fenced);
    show(this.cross, flash === 'refused');
    show(this.chip, !stacked);
    const name = t(resource.fenced ? 'actor.fenced' : 'actor.unfenced');
    const held = token > 0 ? tokenText(token, t) : t('resource.no-token');
    const taken = t('resource.accepted', { count: accepted });
    const late =
      t('resource.stale', { count: stale }) + (lost > 0 ? ` · ${t('resource.lost', { count: lost })}` : '');
    const kept = resource.fenced ? t('resource.refused', { count: refused }) : '';
    const words = [name, held, taken, ...(stacked ? [kept ? `${late} · ${kept}` : late] : [late, kept])];
    this.lines.forEach((line, i) => {
      setText(line, words[i] ?? '');
      set(line, 'class', LINES[i] + (stale + lost > 0 && words[i]?.startsWith(late) ? ' violated' : ''));
    });
  }
}

/** The client, who wants to write all the time. */
export class ClientMark {
  private readonly group: SVGGElement;
  private readonly shape: SVGPathElement;
  private readonly name: SVGTextElement;
  private readonly count: SVGTextElement;

  constructor(parent: Element) {
    this.group = add(parent, 'g', { class: 'client', role: 'img' });
    this.shape = add(this.group, 'path', { class: 'body' });
    this.name = add(this.group, 'text', { class: 'title' });
    this.count = add(this.group, 'text', { class: 'count' });
  }

  place(at: Point, { scale, stacked }: Layout): void {
    set(this.group, 'transform', `translate(${num(at.x)} ${num(at.y)})`);
    set(this.group, 'text-anchor', stacked ? 'start' : 'middle');
    set(this.shape, 'd', clientPath(stacked ? 11 : 17 * scale));
    const x = num(stacked ? FOOT_TEXT : 0);
    const y = stacked ? -FOOT_LINE / 1.5 : 42 * scale;
    set(this.name, 'x', x);
    set(this.name, 'y', num(y));
    set(this.count, 'x', x);
    set(this.count, 'y', num(y + (stacked ? FOOT_LINE : Math.max(15, 14.5 * scale))));
  }

  update(acknowledged: number, stacked: boolean, t: Translate): void {
    set(this.group, 'aria-label', t('client.label', { count: acknowledged }));
    setText(this.name, t('actor.client'));
    setText(this.count, stacked ? `✓ ${acknowledged}` : t('client.count', { count: acknowledged }));
  }
}
