import { type Problem, pageProblem } from '../engine/errors';

/**
 * A run as a link: `#v1.<payload>.<checksum>`.
 *
 * The payload is the JSON below, deflated and written in base64url. The checksum is CRC-32 over everything before it,
 * eight hexadecimal digits, so that an edited link is told from one that was cut short.
 */
export interface SharedRun {
  /** The scenario that reproduces the run, interventions included. */
  scenario: unknown;
  /** The cursor, and how far the run was computed, in microseconds. */
  at: number;
  to: number;
  /** The trace hash at `to`, to notice an engine that computes another run. */
  hash: string;
}

export const LINK_VERSION = 1;

const CHECKSUM_LENGTH = 8;

/** Longer links break in mail and chat; the page offers a file instead. */
export const LINK_LIMIT = 8000;

/** No scenario a person makes comes near this; it stops a link that unpacks without end. */
const UNPACKED_LIMIT = 1_000_000;

export class LinkError extends Error {
  readonly problem: Problem;

  constructor(code: string, place: string, params?: Problem['params']) {
    super(`${code}: ${place}`);
    this.problem = pageProblem(code, place, params);
  }
}

export async function encodeLink(run: SharedRun): Promise<string> {
  const packed = await through(
    new TextEncoder().encode(JSON.stringify(run)),
    new CompressionStream('deflate-raw'),
  );
  const body = `v${LINK_VERSION}.${toBase64Url(packed)}`;
  return `#${body}.${checksum(body)}`;
}

/** The run in a link's hash. Throws LinkError, which says what is wrong and what to do. */
export async function decodeLink(hash: string): Promise<SharedRun> {
  const text = hash.replace(/^#/, '');
  const version = /^v(\d+)\./.exec(text);
  if (!version) throw new LinkError('link-not-ours', text.slice(0, 12));
  if (Number(version[1]) !== LINK_VERSION) {
    throw new LinkError('link-version', `v${version[1]}`, { known: LINK_VERSION, found: version[1] });
  }
  const parts = text.split('.');
  const [, payload, sum] = parts;
  if (parts.length < 3 || payload === '' || sum.length < CHECKSUM_LENGTH) {
    throw new LinkError('link-cut-short', `#${text.length}`, { length: text.length });
  }
  const body = text.slice(0, text.lastIndexOf('.'));
  if (parts.length > 3 || checksum(body) !== sum) throw new LinkError('link-edited', `v${LINK_VERSION}.…`);
  return readPayload(payload);
}

async function readPayload(payload: string): Promise<SharedRun> {
  try {
    const bytes = await through(
      fromBase64Url(payload),
      new DecompressionStream('deflate-raw'),
      UNPACKED_LIMIT,
    );
    const run: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (isSharedRun(run)) return run;
  } catch {
    // Told below, with the same words: a sound checksum over a bad payload means another program wrote it.
  }
  throw new LinkError('link-unreadable', `v${LINK_VERSION}.…`);
}

function isSharedRun(value: unknown): value is SharedRun {
  if (typeof value !== 'object' || value === null) return false;
  const run = value as Record<string, unknown>;
  const instant = (x: unknown) => typeof x === 'number' && Number.isSafeInteger(x) && x >= 0;
  return (
    typeof run.scenario === 'object' &&
    run.scenario !== null &&
    instant(run.at) &&
    instant(run.to) &&
    typeof run.hash === 'string'
  );
}

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  transform: GenericTransformStream,
  limit = Number.POSITIVE_INFINITY,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = (
    new Blob([bytes]).stream().pipeThrough(transform) as ReadableStream<Uint8Array>
  ).getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > limit) {
      await reader.cancel();
      throw new RangeError('unpacks to more than the limit');
    }
    chunks.push(value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

function toBase64Url(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
}

/** CRC-32 (the one of zip and PNG) of the text's UTF-8, as eight hexadecimal digits. */
export function checksum(text: string): string {
  let crc = 0xffffffff;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(CHECKSUM_LENGTH, '0');
}
