import type { Translate } from '../i18n/translate';
import type { ServerView } from '../model/cluster';
import { hueOf } from '../model/palette';
import { arc, circle, type Layout, num, type Point } from './geometry';
import { crossPath, cylinderPath } from './glyphs';
import { add, onPress, set, setText, show } from './svg';

/** A server below this size has no room for two lines of text. */
const SMALL = 22;

/** A server of the store: who holds, in the colour of the term, and how long its record has left. */
export class ServerMark {
  readonly group: SVGGElement;
  private readonly halo: SVGPathElement;
  private readonly track: SVGPathElement;
  private readonly lease: SVGPathElement;
  private readonly body: SVGPathElement;
  private readonly hatch: SVGPathElement;
  private readonly cross: SVGPathElement;
  private readonly name: SVGTextElement;
  private readonly holder: SVGTextElement;
  private size = 0;

  constructor(parent: Element, id: number, onSelect: (id: number) => void) {
    this.group = add(parent, 'g', { class: 'server', role: 'button', tabindex: 0, 'data-server': id });
    this.halo = add(this.group, 'path', { class: 'halo' });
    this.track = add(this.group, 'path', { class: 'track' });
    this.lease = add(this.group, 'path', { class: 'lease' });
    this.body = add(this.group, 'path', { class: 'body' });
    this.hatch = add(this.group, 'path', { class: 'hatch' });
    this.cross = add(this.group, 'path', { class: 'cross' });
    this.name = add(this.group, 'text', { class: 'name' });
    this.holder = add(this.group, 'text', { class: 'holder' });
    onPress(this.group, () => onSelect(id));
  }

  place(at: Point, { server }: Layout): void {
    this.size = server;
    set(this.group, 'transform', `translate(${num(at.x)} ${num(at.y)})`);
    set(this.halo, 'd', circle(server * 1.75));
    set(this.track, 'd', circle(server * 1.5));
    set(this.body, 'd', cylinderPath(server * 1.6, server * 1.9));
    set(this.cross, 'd', crossPath(server * 0.9));
    // Where a server is small, who holds stands below its ring.
    const small = server < SMALL;
    set(this.name, 'y', num(small ? server * 0.5 : server * 0.2));
    set(this.holder, 'y', num(small ? server * 1.5 + 12 : server * 0.75));
    this.group.style.setProperty('--r', `${num(server)}px`);
  }

  remove(): void {
    this.group.remove();
  }

  update(server: ServerView, holder: string | null, selected: boolean, t: Translate): void {
    const held = server.held && server.status !== 'crashed';
    set(this.group, 'class', `server ${server.status}${held ? ' held' : ''}${selected ? ' selected' : ''}`);
    set(this.group, 'data-hue', String(hueOf(server.held ? server.token : 0)));
    set(this.group, 'aria-pressed', String(selected));
    set(this.group, 'aria-label', serverLabel(server, holder, t));
    set(this.hatch, 'd', server.status === 'paused' ? cylinderPath(this.size * 1.6, this.size * 1.9) : '');
    show(this.cross, server.status === 'crashed');
    set(this.lease, 'd', held && server.lease ? arc(this.size * 1.5, server.lease.left) : '');
    setText(this.name, server.name);
    setText(this.holder, held ? (holder ?? '?') : '');
  }
}

/** What a screen reader says of a server. */
export function serverLabel(server: ServerView, holder: string | null, t: Translate): string {
  const status = server.status === 'up' ? '' : ` (${t(`status.${server.status}`)})`;
  const name = `${server.name}${status}`;
  if (!server.held) return t('server.label.free', { name });
  return t('server.label', {
    name,
    holder: holder ?? t('server.stranger'),
    token: server.token || t('value.none'),
  });
}
