import type { Translate } from '../i18n/translate';
import type { ClusterView, ServerView } from '../model/cluster';
import { hueOf } from '../model/palette';
import { lagOf, partText, syncText } from '../model/state';
import { arc, circle, type Layout, lineBelow, num, type Point } from './geometry';
import { crossPath, crownPath, cylinderPath } from './glyphs';
import { add, onPress, set, setText, show } from './svg';

/** A server below this size has no room for two lines of text. */
const SMALL = 22;
/**
 * A server. Of a store: who holds, in the colour of the term, and how long its record has left. With data of its own: what it is
 * among its like, in the colour of the epoch that named it the master, and how much data it has.
 */
export class ServerMark {
  readonly group: SVGGElement;
  private readonly halo: SVGPathElement;
  private readonly track: SVGPathElement;
  private readonly lease: SVGPathElement;
  private readonly body: SVGPathElement;
  private readonly hatch: SVGPathElement;
  private readonly crown: SVGPathElement;
  private readonly cross: SVGPathElement;
  private readonly name: SVGTextElement;
  private readonly holder: SVGTextElement;
  private readonly data: SVGTextElement;
  private size = 0;

  constructor(parent: Element, id: number, onSelect: (id: number) => void) {
    this.group = add(parent, 'g', { class: 'server', role: 'button', tabindex: 0, 'data-server': id });
    this.halo = add(this.group, 'path', { class: 'halo' });
    this.track = add(this.group, 'path', { class: 'track' });
    this.lease = add(this.group, 'path', { class: 'lease' });
    this.body = add(this.group, 'path', { class: 'body' });
    this.hatch = add(this.group, 'path', { class: 'hatch' });
    this.crown = add(this.group, 'path', { class: 'crown' });
    this.cross = add(this.group, 'path', { class: 'cross' });
    this.name = add(this.group, 'text', { class: 'name' });
    this.holder = add(this.group, 'text', { class: 'holder' });
    this.data = add(this.group, 'text', { class: 'data' });
    onPress(this.group, () => onSelect(id));
  }

  place(at: Point, { server, data }: Layout): void {
    this.size = server;
    set(this.group, 'transform', `translate(${num(at.x)} ${num(at.y)})`);
    set(this.halo, 'd', circle(server * 1.75));
    set(this.track, 'd', data ? '' : circle(server * 1.5));
    set(this.body, 'd', cylinderPath(server * 1.6, server * 1.9));
    set(this.crown, 'd', crownPath(server * 0.34));
    set(this.crown, 'transform', `translate(0 ${num(-server * 1.08)})`);
    set(this.cross, 'd', crossPath(server * 0.9));
    // Where a server is small, who holds stands below its ring; and so does what a server of data is.
    const below = data || server < SMALL;
    set(this.name, 'y', num(below ? server * 0.5 : server * 0.2));
    const line = lineBelow(server);
    const first = data ? server + line + 2 : below ? server * 1.5 + 12 : server * 0.75;
    set(this.holder, 'y', num(first));
    set(this.data, 'y', num(first + line));
    this.group.style.setProperty('--r', `${num(server)}px`);
  }

  remove(): void {
    this.group.remove();
  }

  update(server: ServerView, cluster: ClusterView, selected: boolean, t: Translate): void {
    const held = server.held && server.status !== 'crashed';
    const { part, status } = server;
    const store = part === 'store';
    const leads = server.broker ? part === 'leader' && status !== 'crashed' : !store && held;
    const crowned = leads && server.epoch !== null;
    const kind = store ? '' : ` data ${part}${apart(server) ? ' apart' : ''}`;
    set(
      this.group,
      'class',
      `server${kind} ${status}${held ? ' held' : ''}${crowned ? ' leads' : ''}${selected ? ' selected' : ''}`,
    );
    const hue = hueOf(store ? (server.held ? server.token : 0) : (epochOf(server, cluster) ?? 0));
    set(this.group, 'data-hue', String(hue));
    set(this.group, 'data-part', part);
    set(this.group, 'aria-pressed', String(selected));
    set(this.group, 'aria-label', serverLabel(server, cluster, t));
    set(this.hatch, 'd', status === 'paused' ? cylinderPath(this.size * 1.6, this.size * 1.9) : '');
    show(this.crown, crowned);
    show(this.cross, status === 'crashed');
    set(this.lease, 'd', held && server.lease ? arc(this.size * 1.5, server.lease.left) : '');
    setText(this.name, server.name);
    setText(
      this.holder,
      store ? (held ? (holderOf(server, cluster) ?? '?') : '') : partText(server, cluster, t),
    );
    setText(this.data, store ? '' : dataText(server, cluster, t));
  }
}

/** How much data it has, and by how much that is less than its source has; of a broker, whether that is in sync. */
function dataText(server: ServerView, cluster: ClusterView, t: Translate): string {
  const lag = lagOf(server, cluster);
  const data = lag !== null && lag > 0 ? `${server.end} −${lag}` : String(server.end);
  const { broker } = server;
  return broker && broker.place !== 'none' ? `${data} · ${syncText(broker, t)}` : data;
}

/** Whether it is a broker that may not lead the partition. */
function apart({ broker }: ServerView): boolean {
  return broker !== null && broker.place !== 'leader' && broker.place !== 'in-sync';
}

/** The epoch that names it the master; of brokers, the leader epoch that those share who are in sync. */
function epochOf(server: ServerView, { partition }: ClusterView): number | null {
  if (!server.broker) return server.epoch;
  return apart(server) ? null : (partition?.epoch ?? null);
}

function holderOf({ holder }: ServerView, { nodes }: ClusterView): string | null {
  return holder === null ? null : nodes[holder].name;
}

/** What a screen reader says of a server. */
export function serverLabel(server: ServerView, cluster: ClusterView, t: Translate): string {
  if (server.part !== 'store') {
    const part = partText(server, cluster, t);
    const { name, end, broker } = server;
    if (!broker) return t('part.label', { name, part, end });
    return t('part.label.broker', { name, part, end, sync: syncText(broker, t) });
  }
  const status = server.status === 'up' ? '' : ` (${t(`status.${server.status}`)})`;
  const name = `${server.name}${status}`;
  if (!server.held) return t('server.label.free', { name });
  return t('server.label', {
    name,
    holder: holderOf(server, cluster) ?? t('server.stranger'),
    token: server.token || t('value.none'),
  });
}
