// The machines' module, and frames made by hand to try it with.
import type { Output, Raft } from '../../wasm/pkg/node/tenure_machines';

export type Machines = typeof import('../../wasm/pkg/node/tenure_machines');

/** The generated package. */
export const PACKAGE = new URL('../../wasm/pkg/node/', import.meta.url);

/** The same as Node.js loads it. */
export function load(): Promise<Machines> {
  return import(new URL('tenure_machines.js', PACKAGE).href);
}

/** Everything a machine has to say now. */
export function drain(raft: Raft): Output[] {
  const outputs: Output[] = [];
  for (let output = raft.poll(); output; output = raft.poll()) outputs.push(output);
  return outputs;
}

/** A frame of the codec around any body: version, kind, length, body, checksum. */
export function frame(kind: number, body: ArrayLike<number>): Uint8Array {
  const before = [1, kind, ...varint(BigInt(body.length)), ...Array.from(body)];
  const sum = crc32c(before);
  return Uint8Array.from([...before, sum, sum >>> 8, sum >>> 16, sum >>> 24]);
}

/** LEB128 in its shortest form. */
export function varint(value: bigint): number[] {
  const low = Number(value & 0x7fn);
  return value < 0x80n ? [low] : [low | 0x80, ...varint(value >> 7n)];
}

function crc32c(bytes: number[]): number {
  let rest = ~0;
  for (const byte of bytes) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit += 1) rest = (rest >>> 1) ^ (0x82f63b78 & -(rest & 1));
  }
  return ~rest;
}
