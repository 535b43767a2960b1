import type { Translate } from '../i18n/translate';
import type { ResourceView } from '../model/cluster';
import { hueOf } from '../model/palette';
import type { Layout, Point } from './geometry';
import { num } from './geometry';
import { clientPath, crossPath, cylinderPath, fencePath, railPath } from './glyphs';
import { add, set, setText, show } from './svg';

/** What happened last at a resource, shown for a moment. */
export type Flash = 'accepted' | 'stale' | 'refused' | null;

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
    this.lines = ['title', 'token', 'count', 'count stale', 'count'].map((name) =>
      add(this.group, 'text', { class: name }),
    );
  }

  remove(): void {
    this.group.remove();
  }

  place(at: Point, { scale, stacked }: Layout): void {
    set(this.group, 'transform', `translate(${num(at.x)} ${num(at.y)})`);
    set(this.body, 'd', cylinderPath(34 * scale, 40 * scale));
    for (const part of [this.rails, this.fence]) set(part, 'transform', `translate(0 ${num(13 * scale)})`);
    set(this.rails, 'd', railPath(54 * scale, 22 * scale));
    set(this.fence, 'd', fencePath(50 * scale, 22 * scale));
    set(this.cross, 'd', crossPath(6 * scale));
    set(this.cross, 'transform', `translate(${num(-38 * scale)} 0)`);
    const left = stacked ? 0 : 36 * scale;
    const line = Math.max(15, 14.5 * scale);
    const top = stacked ? 42 * scale : -line * 1.3;
    set(this.group, 'text-anchor', stacked ? 'middle' : 'start');
    this.lines.forEach((text, i) => {
      set(text, 'x', num(left + (i === 1 && !stacked ? 14 * scale : 0)));
      set(text, 'y', num(top + i * line));
    });
    set(this.chip, 'r', num(4.5 * scale));
    set(this.chip, 'cx', num(stacked ? -30 * scale : left + 4.5 * scale));
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
    const label = resource.fenced ? 'resource.label.fenced' : 'resource.label.unfenced';
    set(this.group, 'aria-label', t(label, { token, accepted, stale, refused }));
    show(this.rails, resource.fenced);
    show(this.fence, resource.fenced);
    show(this.cross, flash === 'refused');
    show(this.chip, token > 0 && !stacked);
    const [title, tokenLine, taken, late, kept] = this.lines;
    setText(title, t(resource.fenced ? 'actor.fenced' : 'actor.unfenced'));
    setText(tokenLine, token > 0 ? t('resource.token', { token }) : t('resource.no-token'));
    setText(taken, t('resource.accepted', { count: accepted }));
    setText(late, t('resource.stale', { count: stale }));
    set(late, 'class', stale > 0 ? 'count violated' : 'count');
    setText(kept, resource.fenced ? t('resource.refused', { count: refused }) : '');
  }
}

/** The client, who wants to write all the time. */
export class ClientMark {
  private readonly group: SVGGElement;
  private readonly shape: SVGPathElement;
  private readonly name: SVGTextElement;
  private readonly count: SVGTextElement;

  constructor(parent: Element) {
    this.group = add(parent, 'g', { class: 'client', role: 'img', 'text-anchor': 'middle' });
    this.shape = add(this.group, 'path', { class: 'body' });
    this.name = add(this.group, 'text', { class: 'title' });
    this.count = add(this.group, 'text', { class: 'count' });
  }

  place(at: Point, { scale }: Layout): void {
    set(this.group, 'transform', `translate(${num(at.x)} ${num(at.y)})`);
    set(this.shape, 'd', clientPath(17 * scale));
    set(this.name, 'y', num(42 * scale));
    set(this.count, 'y', num(42 * scale + Math.max(15, 14.5 * scale)));
  }

  update(acknowledged: number, t: Translate): void {
    set(this.group, 'aria-label', t('client.label', { count: acknowledged }));
    setText(this.name, t('actor.client'));
    setText(this.count, t('client.count', { count: acknowledged }));
  }
}
