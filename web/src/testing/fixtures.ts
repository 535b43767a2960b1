import type { Frame } from '../engine/engine';
import { EVENT, type EventKind, FLIGHT, KIND, NODE, RESOURCE, SERVER, SUMMARY } from '../engine/layout';
import type { Actor } from '../engine/world';
import type { Span } from '../model/history';

/** Hand-made buffers for unit tests, in the layout of the engine. Fields left out are 0, or -1 where -1 means none. */

type Fields<T> = Partial<Record<Exclude<keyof T, 'stride'>, number>>;

export function nodeRows(...rows: Fields<typeof NODE>[]): Float64Array {
  const none = {
    vote: -1,
    follows: -1,
    deadline: -1,
    armedAt: -1,
    leaseUntil: -1,
    leaseStart: -1,
    promiseUntil: -1,
    promiseStart: -1,
    promiseTerm: -1,
  };
  return table(
    NODE,
    rows.map((row, id) => ({ ...none, id, ...row })),
  );
}

export function flightRows(...rows: Fields<typeof FLIGHT>[]): Float64Array {
  return table(FLIGHT, rows);
}

export function resourceRows(...rows: Fields<typeof RESOURCE>[]): Float64Array {
  return table(
    RESOURCE,
    rows.map((row) => ({ writer: -1, ...row })),
  );
}

export function serverRows(...rows: Fields<typeof SERVER>[]): Float64Array {
  const none = {
    holder: -1,
    until: -1,
    pace: 1_000_000,
    follows: -1,
    committed: -1,
    brokerEpoch: -1,
    leaderEpoch: -1,
  };
  return table(
    SERVER,
    rows.map((row) => ({ ...none, ...row })),
  );
}

export function summaryRow(fields: Fields<typeof SUMMARY>): Float64Array {
  const row = new Float64Array(13);
  row[SUMMARY.leader] = -1;
  for (const [name, value] of Object.entries(fields)) row[SUMMARY[name as keyof typeof SUMMARY]] = value;
  return row;
}

export interface EventRow {
  at: number;
  kind: EventKind;
  actor?: number;
  other?: number;
  term?: number;
  a?: number;
  b?: number;
}

export function eventRows(rows: EventRow[]): Float64Array {
  return table(
    EVENT,
    rows.map(({ at, kind, actor = 0, other = -1, term = -1, a = 0, b = 0 }) => ({
      time: at,
      kind: KIND[kind],
      actor,
      other,
      term,
      a,
      b,
      cause: -1,
    })),
  );
}

export function frame(fields: Partial<Frame>): Frame {
  const nodes = fields.nodes ?? nodeRows();
  const servers = fields.servers ?? serverRows();
  const n = nodes.length / NODE.stride + servers.length / SERVER.stride;
  return {
    now: 0,
    horizon: 0,
    nodes,
    flights: flightRows(),
    resources: resourceRows(),
    servers,
    particulars: new Float64Array(),
    links: new Uint8Array(n * n),
    summary: summaryRow({}),
    overlaps: new Float64Array(),
    leaderless: new Float64Array(),
    ...fields,
  };
}

/** n nodes, servers of a store, the client and the two resources. */
export function actors(n: number, servers = 0): Actor[] {
  const named: Omit<Actor, 'id'>[] = [
    ...Array.from({ length: n }, (_, i) => ({ kind: 'node' as const, name: `n${i + 1}` })),
    ...Array.from({ length: servers }, (_, i) => ({ kind: 'server' as const, name: `s${i + 1}` })),
    { kind: 'client', name: 'client' },
    { kind: 'resource', name: 'fenced', fenced: true },
    { kind: 'resource', name: 'unfenced', fenced: false },
  ];
  return named.map((actor, id) => ({ id, ...actor }));
}

/** Total length of spans up to an instant. */
export function totalUntil(spans: readonly Span[], now: number): number {
  return spans.reduce((total, { from, to }) => total + Math.max(0, Math.min(to, now) - from), 0);
}

function table<T extends { stride: number }>(
  layout: T,
  rows: Partial<Record<string, number>>[],
): Float64Array {
  const data = new Float64Array(rows.length * layout.stride);
  rows.forEach((row, i) => {
    for (const [name, value] of Object.entries(row)) {
      data[i * layout.stride + (layout as unknown as Record<string, number>)[name]] = value ?? 0;
    }
  });
  return data;
}
