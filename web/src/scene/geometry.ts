export interface Point {
  x: number;
  y: number;
}

/** Where everything of the cluster stands, in CSS pixels of the stage. Positions depend on counts and size alone. */
export interface Layout {
  width: number;
  height: number;
  /** 1 at the size the drawing was made for. */
  scale: number;
  radius: number;
  nodes: Point[];
  /** Servers stand in the middle, where every node reaches them. */
  servers: Point[];
  /** They keep data of their own, and copy from each other. */
  data: boolean;
  /** Half the height of a server. */
  server: number;
  /** The height of the middle of the ring. */
  middle: number;
  client: Point;
  resources: Point[];
  /** Client and resources stand small in one row below the cluster, not at its sides. */
  stacked: boolean;
}

/**
 * Reach of a node's rings and text beyond its centre, in radii. The text stands on the side away from the middle, where
 * neither links nor other nodes are.
 */
const REACH = 2.25;
const BESIDE = 1.75;

/** A stage that is lower than this spreads the cluster in its width, and what stands at its side in its height. */
const LOW = 320;

/** On one that is lower than this several servers do not fit inside the ring of the nodes; nor in one that is narrower. */
const SEVERAL = 400;
const RING = 4.5;

/** How wide the words at client and resources are where they are smallest. */
const WORDS = 104;

/** The row of client and resources below a stacked cluster. */
const FOOT = 56;
/** Height of a line of its text. */
export const FOOT_LINE = 14;
/** Where client, fenced and unfenced resource begin in it, and how far their text stands from their middle. */
const FOOT_FROM = [0.05, 0.265, 0.63] as const;
export const FOOT_TEXT = 22;

/** How far a resource stands from the right edge less its words, and where these begin. */
const KEEPER = 44;
export const KEEPER_TEXT = 36;

/** Servers in the middle: how many, and if they keep data of their own, how many groups of them copy from each other. */
export interface Middle {
  servers: number;
  groups?: number;
}

export function layout(
  nodes: number,
  resources: number,
  width: number,
  height: number,
  { servers, groups = 0 }: Middle = { servers: 0 },
): Layout {
  const stacked = width < height * 1.2 || width < 540;
  const scale = stacked
    ? clamp(Math.min(width / 400, height / 400), 0.7, 1.5)
    : clamp(Math.min(width / 720, height / 420), 0.7, 1.9);
  const low = !stacked && height < LOW;
  const crowd = nodes <= 5 ? (low ? 0.98 : 1) : nodes <= 7 ? (low || stacked ? 0.8 : 0.88) : 0.7;
  const radius = 34 * scale * crowd;
  const side = stacked ? 0 : Math.max(112 * scale, WORDS + 12);
  const beside = resources === 0 ? 16 : Math.max(184 * scale, (KEEPER + KEEPER_TEXT) * scale + WORDS);
  const far = stacked ? 0 : beside;
  const foot = stacked ? FOOT : 0;

  const room = { width: width - side - far, height: height - foot };
  const ry = Math.max(radius, room.height / 2 - radius * REACH);
  const rx = Math.max(
    radius,
    Math.min((room.width - radius * BESIDE * 2) / 2, ry * (stacked ? 2 : low ? 3.2 : 1.35)),
  );
  const centre = {
    x: side + room.width / 2,
    y: radius * REACH + ry + (nodes % 2 === 1 ? ry * (1 - Math.cos(Math.PI / nodes)) * 0.4 : 0),
  };
  // Where there is no height, or the middle is full, nodes stand in a row above the servers. Servers of data always stand
  // so: they have words below them and copy from each other.
  const data = groups > 0;
  const crowded = servers > 1 && (height < SEVERAL || rx < radius * RING);
  const flat = servers > 0 && (stacked || low || data || crowded);
  const ring = flat
    ? inARow(nodes, room.width, side, radius * REACH)
    : Array.from({ length: nodes }, (_, i) => {
        const angle = -Math.PI / 2 + (i * 2 * Math.PI) / nodes;
        return { x: centre.x + rx * Math.cos(angle), y: centre.y + ry * Math.sin(angle) };
      });
  const server = radius * (data ? 0.62 : servers > 1 ? 0.5 : 0.8);
  const row = height - foot / 2;
  return {
    width,
    height,
    scale,
    radius,
    nodes: ring,
    servers: flat
      ? inARow(servers, room.width, side, room.height - (data ? server + below(server) : server * 1.6 + 14))
      : round(centre, servers, { x: radius * 2.2, y: radius * 1.1 }),
    server,
    data,
    middle: flat ? room.height / 2 : centre.y,
    client: stacked ? { x: width * FOOT_FROM[0], y: row } : { x: side * 0.55, y: height / 2 },
    resources: Array.from({ length: resources }, (_, i) =>
      stacked
        ? { x: width * (FOOT_FROM[i + 1] ?? 1), y: row }
        : {
            x: width - far + KEEPER * scale,
            y: height * (low ? (i + 0.6) / (resources + 0.2) : (i + 1) / (resources + 1)),
          },
    ),
    stacked,
  };
}

/** Places round a point; one alone is there. */
function round({ x, y }: Point, count: number, reach: Point): Point[] {
  return Array.from({ length: count }, (_, i) => {
    const angle = -Math.PI / 2 + (i * 2 * Math.PI) / count;
    return count === 1 ? { x, y } : { x: x + reach.x * Math.cos(angle), y: y + reach.y * Math.sin(angle) };
  });
}

/** Height of a line of the words below a server of data: what it is, and how much it has. */
export function lineBelow(server: number): number {
  return Math.max(13, server * 0.6);
}

/** How far those words reach below it. */
function below(server: number): number {
  return lineBelow(server) * 2.3 + 2;
}

/** Places side by side. */
function inARow(count: number, width: number, left: number, y: number): Point[] {
  return Array.from({ length: count }, (_, i) => ({ x: left + (width * (i + 0.5)) / count, y }));
}

/** The base line of the words at a node, from its centre: on the side away from the middle of the ring. */
export function wordsAt({ y }: Point, { radius, middle }: Layout): number {
  return radius * (y < middle ? -1.82 : 2.05);
}

/** The point on the way from a to b, kept clear of both ends and moved to the right of the direction by `lane`. */
export function along(a: Point, b: Point, share: number, clear: number, lane: number): Point {
  const dx = b.x - a.x;
  const dy = b.y - a.y;
  const length = Math.hypot(dx, dy) || 1;
  const ends = Math.min(clear, length / 2 - 1);
  const at = ends + (length - 2 * ends) * share;
  return {
    x: a.x + (dx / length) * at - (dy / length) * lane,
    y: a.y + (dy / length) * at + (dx / length) * lane,
  };
}

/** An arc clockwise from twelve o'clock over a share of the circle, as path data. */
export function arc(radius: number, share: number): string {
  const part = clamp(share, 0, 1);
  if (part <= 0.0005) return '';
  if (part >= 0.9995) {
    return `M0 ${num(-radius)}A${num(radius)} ${num(radius)} 0 1 1 0 ${num(radius)}A${num(radius)} ${num(radius)} 0 1 1 0 ${num(-radius)}`;
  }
  const end = polar(radius, part);
  return `M0 ${num(-radius)}A${num(radius)} ${num(radius)} 0 ${part > 0.5 ? 1 : 0} 1 ${num(end.x)} ${num(end.y)}`;
}

/** A point on a circle, at a share of the way round from twelve o'clock. */
export function polar(radius: number, share: number): Point {
  const angle = share * 2 * Math.PI;
  return { x: radius * Math.sin(angle), y: -radius * Math.cos(angle) };
}

/** A regular polygon round the origin as path data, first corner at the top unless turned. */
export function polygon(corners: number, radius: number, turn = 0): string {
  const points = Array.from({ length: corners }, (_, i) => polar(radius, turn + i / corners));
  return `M${points.map(({ x, y }) => `${num(x)} ${num(y)}`).join('L')}Z`;
}

export function circle(radius: number): string {
  return `${arc(radius, 1)}Z`;
}

/** A coordinate as text, without digits nobody sees. */
export function num(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
