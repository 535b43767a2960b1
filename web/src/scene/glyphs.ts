import type { Role } from '../engine/layout';
import { circle, num, polygon } from './geometry';

/** Role is shape: the outline of a node's body, all of about the same area. */
export function bodyPath(role: Role, radius: number): string {
  switch (role) {
    case 'candidate':
      return polygon(4, radius * 1.18);
    case 'elected':
    case 'leader':
      return polygon(6, radius * 1.08);
    case 'halted':
      return polygon(4, radius * 1.15, 0.125);
    case 'looking':
      return polygon(5, radius * 1.12);
    case 'observer':
      return polygon(8, radius * 1.04);
    default:
      return circle(radius);
  }
}

/** How a message is drawn. Filled asks, hollow grants, a hollow square refuses; diamonds are about votes. */
export type MessageLook = 'ask' | 'grant' | 'refuse' | 'vote' | 'vote-grant' | 'release' | 'fence';

const LOOKS: Readonly<Record<number, MessageLook>> = {
  0: 'vote',
  1: 'vote-grant',
  2: 'refuse',
  3: 'vote',
  4: 'vote-grant',
  5: 'refuse',
  6: 'ask',
  7: 'grant',
  8: 'refuse',
  9: 'release',
  11: 'grant',
  12: 'refuse',
  16: 'grant',
  18: 'grant',
  19: 'refuse',
  20: 'ask',
  21: 'grant',
  22: 'ask',
  23: 'grant',
  24: 'fence',
  25: 'ask',
  31: 'grant',
  40: 'grant',
  50: 'vote',
  53: 'vote-grant',
  61: 'grant',
  62: 'grant',
  66: 'refuse',
  71: 'grant',
  73: 'grant',
  74: 'vote',
  75: 'vote-grant',
  77: 'fence',
  81: 'refuse',
  90: 'vote',
  91: 'vote',
  92: 'vote-grant',
  93: 'refuse',
  95: 'grant',
  96: 'release',
  97: 'grant',
  99: 'grant',
  100: 'refuse',
  101: 'refuse',
  103: 'grant',
};

export function messageLook(kind: number): MessageLook {
  return LOOKS[kind] ?? 'ask';
}

export function isHollow(look: MessageLook): boolean {
  return look === 'grant' || look === 'refuse' || look === 'vote-grant';
}

export function messagePath(look: MessageLook, size: number): string {
  switch (look) {
    case 'vote':
    case 'vote-grant':
      return polygon(4, size * 1.45);
    case 'refuse':
      return polygon(4, size * 1.3, 0.125);
    case 'release':
      return polygon(3, size * 1.4);
    case 'fence':
      return `M${num(-size * 0.5)} ${num(-size * 1.5)}h${num(size)}v${num(size * 3)}h${num(-size)}Z`;
    default:
      return circle(size);
  }
}

export function crossPath(size: number): string {
  const s = num(size);
  const m = num(-size);
  return `M${m} ${m}L${s} ${s}M${s} ${m}L${m} ${s}`;
}

/** The crown of an established leader, centred on its base line. */
export function crownPath(size: number): string {
  const p = (x: number, y: number) => `${num(x * size)} ${num(y * size)}`;
  return `M${p(-1, 0)}L${p(-1.15, -0.95)}L${p(-0.5, -0.5)}L${p(0, -1.25)}L${p(0.5, -0.5)}L${p(1.15, -0.95)}L${p(1, 0)}Z`;
}

/** An eye, the sign for somebody who watches. */
export function eyePath(size: number): string {
  const s = num(size);
  const lid = num(size * 0.9);
  const pupil = num(size * 0.28);
  return (
    `M${num(-size)} 0Q0 ${num(-size * 0.9)} ${s} 0Q0 ${lid} ${num(-size)} 0Z` +
    `M${pupil} 0A${pupil} ${pupil} 0 1 1 ${num(-size * 0.28)} 0A${pupil} ${pupil} 0 1 1 ${pupil} 0Z`
  );
}

/** A cylinder, the sign for something that keeps data. */
export function cylinderPath(width: number, height: number): string {
  const w = width / 2;
  const h = height / 2;
  const e = width * 0.18;
  return (
    `M${num(-w)} ${num(-h + e)}A${num(w)} ${num(e)} 0 0 1 ${num(w)} ${num(-h + e)}` +
    `V${num(h - e)}A${num(w)} ${num(e)} 0 0 1 ${num(-w)} ${num(h - e)}Z` +
    `M${num(-w)} ${num(-h + e)}A${num(w)} ${num(e)} 0 0 0 ${num(w)} ${num(-h + e)}`
  );
}

/** A picket fence, to stand before a resource: closed pickets, so that what is behind them is hidden. */
export function fencePath(width: number, height: number): string {
  const count = 5;
  const step = width / count;
  const half = step * 0.3;
  const h = height / 2;
  const point = height * 0.2;
  return Array.from({ length: count }, (_, i) => {
    const x = (i + 0.5) * step - width / 2;
    return (
      `M${num(x - half)} ${num(h)}V${num(-h + point)}L${num(x)} ${num(-h)}` +
      `L${num(x + half)} ${num(-h + point)}V${num(h)}Z`
    );
  }).join('');
}

/** The rails that hold the pickets. */
export function railPath(width: number, height: number): string {
  const w = num(width / 2);
  return [-0.1, 0.28].map((at) => `M${num(-width / 2)} ${num(at * height)}H${w}`).join('');
}

/** A screen on a stand: somebody who uses the cluster. */
export function clientPath(size: number): string {
  return (
    `M${num(-size)} ${num(-size * 0.8)}h${num(size * 2)}v${num(size * 1.3)}h${num(-size * 2)}Z` +
    `M0 ${num(size * 0.5)}v${num(size * 0.4)}M${num(-size * 0.55)} ${num(size * 0.9)}h${num(size * 1.1)}`
  );
}
