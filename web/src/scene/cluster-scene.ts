import type { Actor } from '../engine/world';
import type { Translate } from '../i18n/translate';
import type { ClusterView, FlightView } from '../model/cluster';
import { actorText, messageText } from '../model/text';
import { FlightLayer } from './flight-layer';
import { FollowLayer } from './follow-layer';
import { type Layout, layout, type Point } from './geometry';
import { LinkLayer } from './link-layer';
import { NodeMark } from './node-mark';
import { ServerMark } from './server-mark';
import { ClientMark, type Flash, ResourceMark } from './side-marks';
import { add, set } from './svg';

export interface ClusterDrawing {
  cluster: ClusterView;
  actors: readonly Actor[];
  /** Leaders have a token to show. */
  tokens: boolean;
  selected: number | null;
  /** What just happened at each resource, by actor id. */
  flashes: ReadonlyMap<number, Flash>;
  /** Motion is unwelcome. */
  still: boolean;
  t: Translate;
}

/**
 * The cluster as SVG. It draws what it is told and keeps no state of the run; node groups are real buttons, so that
 * keyboard and screen reader reach them.
 */
export class ClusterScene {
  private readonly links: LinkLayer;
  private readonly follows: FollowLayer;
  private readonly flights: FlightLayer;
  private readonly nodeGroup: SVGGElement;
  private readonly sideGroup: SVGGElement;
  private readonly client: ClientMark;
  private nodes: NodeMark[] = [];
  private servers: ServerMark[] = [];
  private resources: ResourceMark[] = [];
  private layout: Layout | null = null;
  private groups = 0;
  private width = 0;
  private height = 0;

  constructor(
    private readonly svg: SVGSVGElement,
    private readonly onSelect: (actor: number) => void,
  ) {
    const defs = add(svg, 'defs');
    const hatch = add(defs, 'pattern', {
      id: 'hatch',
      width: 6,
      height: 6,
      patternUnits: 'userSpaceOnUse',
      patternTransform: 'rotate(45)',
    });
    add(hatch, 'rect', { class: 'hatch-line', width: 2, height: 6 });
    this.links = new LinkLayer(svg);
    this.follows = new FollowLayer(svg);
    this.sideGroup = add(svg, 'g');
    this.client = new ClientMark(this.sideGroup);
    // Messages pass behind the nodes that lie on their way.
    this.flights = new FlightLayer(svg);
    this.nodeGroup = add(svg, 'g');
  }

  resize(width: number, height: number): void {
    this.width = width;
    this.height = height;
    this.layout = null;
  }

  draw({ cluster, actors, tokens, selected, flashes, still, t }: ClusterDrawing): void {
    if (this.width === 0 || this.height === 0) return;
    const plan = this.planned(cluster);
    this.links.update(plan, cluster.cut);
    this.follows.update(plan, cluster.servers);
    cluster.nodes.forEach((node, i) => {
      this.nodes[i].update(node, cluster, tokens, node.id === selected, t);
    });
    cluster.servers.forEach((server, i) => {
      this.servers[i].update(server, cluster, server.id === selected, t);
    });
    cluster.resources.forEach((resource, i) => {
      this.resources[i].update(resource, flashes.get(resource.id) ?? null, plan.stacked, t);
    });
    this.client.update(cluster.summary.acknowledged, plan.stacked, t);
    const describe = (flight: FlightView) =>
      t(flight.lost ? 'stage.flight.lost' : 'stage.flight', {
        message: messageText(flight.kind, t),
        from: actorText(flight.from, actors, t),
        to: actorText(flight.to, actors, t),
        term: flight.term,
      });
    const place = this.placer(cluster, actors, plan);
    this.flights.update(cluster.flights, place, 4.2 * Math.min(1.5, plan.scale), still, describe);
  }

  private placer(
    cluster: ClusterView,
    actors: readonly Actor[],
    plan: Layout,
  ): (actor: number) => { at: Point; clear: number } | null {
    const n = cluster.nodes.length;
    // Where there are several who write, one stands for all. Brokers have none but clients of their own.
    const one = ({ name, kind }: Actor) =>
      cluster.partition ? kind === 'client' : name === cluster.client?.name;
    const writes = new Set(actors.filter(one).map(({ id }) => id));
    return (actor) => {
      if (actor < n) return { at: plan.nodes[actor], clear: plan.radius * 1.1 };
      const server = plan.servers[actor - n];
      if (server) return { at: server, clear: plan.server * 1.6 };
      if (writes.has(actor)) return { at: plan.client, clear: plan.stacked ? 18 : 22 * plan.scale };
      const resource = cluster.resources.findIndex(({ id }) => id === actor);
      return resource < 0
        ? null
        : { at: plan.resources[resource], clear: plan.stacked ? 18 : 24 * plan.scale };
    };
  }

  /** The layout for these counts and this size, everything moved to its place when it is new. */
  private planned(cluster: ClusterView): Layout {
    const n = cluster.nodes.length;
    const r = cluster.resources.length;
    const s = cluster.servers.length;
    const groups = cluster.groups;
    const same = this.nodes.length === n && this.resources.length === r && this.servers.length === s;
    if (this.layout && same && this.groups === groups) return this.layout;
    this.groups = groups;
    const plan = layout(n, r, this.width, this.height, { servers: s, groups });
    this.layout = plan;
    set(this.svg, 'data-stacked', String(plan.stacked));
    set(this.svg, 'viewBox', `0 0 ${plan.width} ${plan.height}`);
    this.svg.style.setProperty('--scale', String(plan.scale));
    // Servers are numbered after the nodes.
    const moved = this.nodes.length !== n;
    while (this.nodes.length > n) this.nodes.pop()?.remove();
    while (this.nodes.length < n)
      this.nodes.push(new NodeMark(this.nodeGroup, this.nodes.length, this.onSelect));
    if (this.servers.length !== s || moved) {
      for (const mark of this.servers) mark.remove();
      this.servers = cluster.servers.map(({ id }) => new ServerMark(this.nodeGroup, id, this.onSelect));
    }
    while (this.resources.length > r) this.resources.pop()?.remove();
    while (this.resources.length < r) this.resources.push(new ResourceMark(this.sideGroup));
    this.flights.clear();
    this.nodes.forEach((mark, i) => {
      mark.place(plan.nodes[i], plan);
    });
    this.servers.forEach((mark, i) => {
      mark.place(plan.servers[i], plan);
    });
    this.resources.forEach((mark, i) => {
      mark.place(plan.resources[i], plan);
    });
    this.client.place(plan.client, plan);
    return plan;
  }
}
