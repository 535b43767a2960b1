import type { Translate } from '../i18n/translate';
import type { ClusterView, NodeView } from '../model/cluster';
import { hueOf } from '../model/palette';
import { roleText, stateText } from '../model/state';
import { termText } from '../model/text';
import { arc, circle, type Layout, num, type Point, polar, polygon, wordsAt } from './geometry';
import { bodyPath, crossPath, crownPath, cylinderPath, eyePath } from './glyphs';
import { add, onPress, set, setText, show } from './svg';

/** One node of the cluster: shape for role, colour for term, rings for what runs out. */
export class NodeMark {
  readonly group: SVGGElement;
  private readonly halo: SVGPathElement;
  private readonly track: SVGPathElement;
  private readonly timer: SVGPathElement;
  private readonly lease: SVGPathElement;
  private readonly hand: SVGPathElement;
  private readonly truth: SVGPathElement;
  private readonly promise: SVGPathElement;
  private readonly body: SVGPathElement;
  private readonly hatch: SVGPathElement;
  private readonly crown: SVGPathElement;
  private readonly eye: SVGPathElement;
  private readonly cross: SVGPathElement;
  private readonly pause: SVGGElement;
  private readonly pauseShape: SVGPathElement;
  private readonly disk: SVGGElement;
  private readonly diskShape: SVGPathElement;
  private readonly name: SVGTextElement;
  private readonly term: SVGTextElement;
  private readonly role: SVGTextElement;
  private radius = 0;

  constructor(parent: Element, id: number, onSelect: (id: number) => void) {
    this.group = add(parent, 'g', { class: 'node', role: 'button', tabindex: 0, 'data-node': id });
    this.halo = add(this.group, 'path', { class: 'halo' });
    this.track = add(this.group, 'path', { class: 'track' });
    this.promise = add(this.group, 'path', { class: 'promise' });
    this.timer = add(this.group, 'path', { class: 'timer' });
    this.lease = add(this.group, 'path', { class: 'lease' });
    this.hand = add(this.group, 'path', { class: 'hand' });
    this.truth = add(this.group, 'path', { class: 'truth' });
    this.body = add(this.group, 'path', { class: 'body' });
    this.hatch = add(this.group, 'path', { class: 'hatch' });
    this.crown = add(this.group, 'path', { class: 'crown' });
    this.eye = add(this.group, 'path', { class: 'eye' });
    this.cross = add(this.group, 'path', { class: 'cross' });
    this.name = add(this.group, 'text', { class: 'name' });
    this.term = add(this.group, 'text', { class: 'term' });
    this.role = add(this.group, 'text', { class: 'role' });
    this.pause = add(this.group, 'g', { class: 'badge pause' });
    add(this.pause, 'circle', { class: 'ground' });
    this.pauseShape = add(this.pause, 'path');
    this.disk = add(this.group, 'g', { class: 'badge disk' });
    add(this.disk, 'circle', { class: 'ground' });
    this.diskShape = add(this.disk, 'path');

    onPress(this.group, () => onSelect(id));
  }

  place(at: Point, plan: Layout): void {
    const { radius } = plan;
    this.radius = radius;
    set(this.group, 'transform', `translate(${num(at.x)} ${num(at.y)})`);
    const r = radius;
    set(this.halo, 'd', circle(r * 1.68));
    set(this.track, 'd', circle(r * 1.3));
    set(this.crown, 'd', crownPath(r * 0.24));
    set(this.crown, 'transform', `translate(0 ${num(-r * 0.42)})`);
    set(this.eye, 'd', eyePath(r * 0.34));
    set(this.eye, 'transform', `translate(0 ${num(-r * 0.55)})`);
    set(this.cross, 'd', crossPath(r * 0.95));
    set(this.pauseShape, 'd', pausePath(r * 0.18));
    set(this.pause.firstElementChild!, 'r', num(r * 0.36));
    set(this.pause, 'transform', `translate(${num(r * 0.95)} ${num(-r * 0.95)})`);
    set(this.disk, 'transform', `translate(${num(r * 0.95)} ${num(r * 0.95)})`);
    set(this.disk.firstElementChild!, 'r', num(r * 0.36));
    set(this.diskShape, 'd', cylinderPath(r * 0.3, r * 0.36));
    set(this.name, 'y', num(r * 0.08));
    set(this.term, 'y', num(r * 0.52));
    set(this.role, 'y', num(wordsAt(at, plan)));
    this.group.style.setProperty('--r', `${num(r)}px`);
  }

  remove(): void {
    this.group.remove();
  }

  update(node: NodeView, cluster: ClusterView, tokens: boolean, selected: boolean, t: Translate): void {
    const r = this.radius;
    const hue = hueOf(node.term);
    const up = node.status === 'up';
    const watch = node.own?.scheme === 'sentinel' ? node.own.watches[0] : null;
    // A sentinel leads a failover at most: who leads is a data server.
    const role = watch && node.role === 'leader' ? 'elected' : node.role;
    const leads = role === 'leader';
    const opinion = watch && up ? ` ${watch.opinion}` : '';
    set(this.group, 'class', `node ${role} ${node.status}${opinion}${selected ? ' selected' : ''}`);
    set(this.group, 'data-hue', String(hue));
    set(this.group, 'data-role', node.role);
    set(this.group, 'data-status', node.status);
    set(this.group, 'aria-pressed', String(selected));
    set(this.group, 'aria-label', nodeLabel(node, cluster, t));
    set(this.body, 'd', bodyPath(role, r));
    set(this.hatch, 'd', node.status === 'paused' ? bodyPath(role, r) : '');
    show(this.crown, leads && node.status !== 'crashed');
    show(this.eye, watch !== null && node.status !== 'crashed');
    show(this.cross, node.status === 'crashed');
    show(this.pause, node.status === 'paused');
    show(this.disk, up && node.diskPending > 0);
    setText(this.name, node.name);
    const term = termText(node.term, tokens, t);
    setText(this.term, term);
    set(this.term, 'class', term.length > WIDE ? 'term wide' : 'term');
    setText(this.role, stateText(node, cluster, t));

    // A leader's next deadline is its heartbeat: the lease is what matters to it.
    const timed = node.status !== 'crashed' && node.timer && node.lease === null;
    set(this.timer, 'd', timed ? arc(r * 1.3, node.timer!.left) : '');
    const lease = node.status === 'crashed' ? null : node.lease;
    set(this.lease, 'd', lease ? arc(r * 1.3, lease.left) : '');
    show(this.hand, lease !== null);
    show(this.truth, lease !== null && node.promised !== null && node.promised.left > 0);
    if (lease) set(this.hand, 'd', ray(r * 1.18, r * 1.42, lease.left));
    if (lease && node.promised) set(this.truth, 'd', pointer(r * 1.5, r * 0.17, node.promised.left));
    const promise = node.status === 'crashed' || lease ? null : node.promise;
    set(this.promise, 'd', promise ? arc(r * 1.5, promise.left) : '');
    set(this.promise, 'data-hue', String(promise ? hueOf(promise.term) : -1));
  }
}

/** Letters at a node's term that fit into it in their usual size. */
const WIDE = 9;

/** What a screen reader says of a node. */
export function nodeLabel(node: NodeView, cluster: ClusterView, t: Translate): string {
  const key =
    node.status === 'paused'
      ? 'node.label.paused'
      : node.status === 'crashed'
        ? 'node.label.crashed'
        : 'node.label';
  // What is particular to a scheme is in what it is doing.
  const role = node.own && node.status === 'up' ? stateText(node, cluster, t) : roleText(node, t);
  return t(key, { name: node.name, role, term: node.term });
}

/** The hand of a ring, across it. */
function ray(inner: number, outer: number, share: number): string {
  const a = polar(inner, share);
  const b = polar(outer, share);
  return `M${num(a.x)} ${num(a.y)}L${num(b.x)} ${num(b.y)}`;
}

/** A small triangle outside the ring that points inwards. */
function pointer(radius: number, size: number, share: number): string {
  const shown = Math.min(share, 1);
  const at = polar(radius + size * 0.4, shown);
  const triangle = polygon(3, size, shown + 0.5);
  return triangle.replace(
    /(-?[\d.]+) (-?[\d.]+)/g,
    (_, x, y) => `${num(Number(x) + at.x)} ${num(Number(y) + at.y)}`,
  );
}

function pausePath(size: number): string {
  const bar = size * 0.32;
  return (
    `M${num(-size * 0.55)} ${num(-size)}h${num(bar)}v${num(size * 2)}h${num(-bar)}Z` +
    `M${num(size * 0.25)} ${num(-size)}h${num(bar)}v${num(size * 2)}h${num(-bar)}Z`
  );
}
