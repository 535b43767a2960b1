// One node's disk: a file that is replaced whole, so that after a crash at any moment it is the old one or the new one.
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import { Stored } from '../../pkg/node/tenure_machines.js';

/** The bytes of the checksum that the file begins with. */
const CHECKSUM = 4;

/** The name under which the payload of an entry is kept. */
export function nameOf(term, index) {
  return `${term}.${index}`;
}

/** What a node keeps: what its machine wrote, the payloads of its log, and how many lives it had. */
export class Disk {
  #folder;
  #stored;
  /** By index: the name of the entry and its payload; null for an entry that the machine made itself. */
  #entries;

  /** A disk for a node that never ran. */
  static create(folder) {
    mkdirSync(folder);
    // A folder that vanishes in a power cut takes the votes in it along.
    sync(dirname(folder));
    return new Disk(folder, { lives: 0, stored: undefined, entries: new Map() });
  }

  /**
   * The disk of a node that ran. A file that is missing or damaged is never taken for an empty one: under its old name the
   * node might vote twice in one term. Restore it, or give the node a new id.
   */
  static open(folder) {
    const file = readFileSync(join(folder, 'disk'));
    const held = file.subarray(CHECKSUM);
    if (file.length < CHECKSUM || file.readUInt32LE() !== crc32(held))
      throw new Error(`${folder}: the disk is damaged; restore it, or give the node a new id`);
    return new Disk(folder, deserialize(held));
  }

  constructor(folder, { lives, stored, entries }) {
    this.#folder = folder;
    this.#stored = new Stored(stored);
    this.#entries = entries;
    /** Differs from that of every earlier life, for it is on the disk before anything is said in this one. */
    this.incarnation = lives + 1;
    this.#replace();
  }

  /** What the machine starts from; nothing in its first life. */
  get stored() {
    return this.incarnation === 1 ? undefined : this.#stored.bytes();
  }

  /** Carries out a request, with the payloads of what it appends. Returns when it is there to stay, or throws. */
  write({ write, log }, payloads) {
    const entries = log.kind === 'append' ? this.#appended(log, payloads) : this.#entries;
    this.#stored.apply(write);
    this.#entries = entries;
    this.#replace();
  }

  #appended({ after, term, count, own }, payloads) {
    const entries = new Map([...this.#entries].filter(([index]) => index <= after.index));
    for (let nth = 1n; nth <= count; nth += 1n) {
      const index = after.index + nth;
      const name = nameOf(term, index);
      const payload = nth <= own ? null : (payloads.get(name) ?? this.payload(term, index));
      if (payload === undefined) throw new Error(`entry ${name} came without its payload`);
      entries.set(index, { name, payload });
    }
    return entries;
  }

  /** The payload of the entry of that name; undefined when it is not here. */
  payload(term, index) {
    const entry = this.#entries.get(index);
    return entry?.name === nameOf(term, index) ? entry.payload : undefined;
  }

  #replace() {
    const held = serialize({
      lives: this.incarnation,
      stored: this.#stored.bytes(),
      entries: this.#entries,
    });
    const checksum = Buffer.alloc(CHECKSUM);
    checksum.writeUInt32LE(crc32(held));
    const fresh = join(this.#folder, 'fresh');
    writeFileSync(fresh, Buffer.concat([checksum, held]), { flush: true });
    renameSync(fresh, join(this.#folder, 'disk'));
    sync(this.#folder);
  }
}

/** Makes what happened to the names in a folder durable. */
function sync(folder) {
  // Windows opens no folders, and needs none of this.
  if (process.platform === 'win32') return;
  const open = openSync(folder, 'r');
  fsyncSync(open);
  closeSync(open);
}
