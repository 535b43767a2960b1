import { EVENT, EVENT_KINDS, type EventKind } from '../engine/layout';
import { eventTime, firstWhere } from './search';

/** What the event log can be narrowed to. Each kind of event belongs to one group. */
export const LOG_GROUPS = [
  'elections',
  'faults',
  'writes',
  'jobs',
  'log',
  'messages',
  'timers',
  'disk',
  'checks',
] as const;
export type LogGroup = (typeof LOG_GROUPS)[number];

const GROUP_OF: Record<EventKind, LogGroup> = {
  boot: 'faults',
  crash: 'faults',
  pause: 'faults',
  resume: 'faults',
  cut: 'faults',
  heal: 'faults',
  healed: 'faults',
  'no-effect': 'faults',
  disconnect: 'faults',
  reconnect: 'faults',
  failover: 'faults',
  evict: 'faults',
  'back-up': 'faults',
  restore: 'faults',
  'tail-lost': 'faults',
  send: 'messages',
  deliver: 'messages',
  lose: 'messages',
  refusal: 'messages',
  persist: 'disk',
  persisted: 'disk',
  'persist-lost': 'disk',
  timeout: 'timers',
  role: 'elections',
  elected: 'elections',
  established: 'elections',
  deposed: 'elections',
  following: 'elections',
  news: 'elections',
  serves: 'elections',
  'write-issued': 'writes',
  'write-accepted': 'writes',
  'write-refused': 'writes',
  fenced: 'writes',
  read: 'writes',
  acknowledged: 'writes',
  'job-due': 'jobs',
  'job-claimed': 'jobs',
  'job-started': 'jobs',
  'job-stopped': 'jobs',
  'job-done': 'jobs',
  'job-refused': 'jobs',
  committed: 'log',
  installed: 'log',
  violation: 'checks',
  end: 'checks',
};

const GROUP_BY_CODE: readonly LogGroup[] = EVENT_KINDS.map((kind) => GROUP_OF[kind]);

export interface LogFilter {
  groups: ReadonlySet<LogGroup>;
  /** Only events of this actor, or where it is the other side. */
  node: number | null;
}

/** One event, read out of the buffer. */
export interface EventView {
  index: number;
  time: number;
  kind: EventKind;
  group: LogGroup;
  actor: number;
  other: number;
  term: number;
  a: number;
  b: number;
  cause: number;
}

export function readEvent(events: Float64Array, index: number): EventView {
  const at = index * EVENT.stride;
  const code = events[at + EVENT.kind];
  return {
    index,
    time: events[at + EVENT.time],
    kind: EVENT_KINDS[code],
    group: GROUP_BY_CODE[code],
    actor: events[at + EVENT.actor],
    other: events[at + EVENT.other],
    term: events[at + EVENT.term],
    a: events[at + EVENT.a],
    b: events[at + EVENT.b],
    cause: events[at + EVENT.cause],
  };
}

/** The events that pass a filter, kept up as more come. */
export class FilteredLog {
  /** Indices of the events that pass, rising. */
  rows: number[] = [];
  version = 0;

  private read = 0;
  private epoch = -1;

  constructor(readonly filter: LogFilter) {}

  update(events: Float64Array, epoch: number): void {
    const total = events.length / EVENT.stride;
    if (epoch !== this.epoch || total < this.read) {
      this.rows = [];
      this.read = 0;
      this.epoch = epoch;
      this.version += 1;
    }
    if (total === this.read) return;
    const { groups, node } = this.filter;
    for (let i = this.read; i < total; i += 1) {
      const at = i * EVENT.stride;
      if (!groups.has(GROUP_BY_CODE[events[at + EVENT.kind]])) continue;
      if (node !== null && events[at + EVENT.actor] !== node && events[at + EVENT.other] !== node) continue;
      this.rows.push(i);
    }
    this.read = total;
    this.version += 1;
  }

  /** How many rows lie at or before an instant. */
  upTo(events: Float64Array, now: number): number {
    return firstWhere(this.rows.length, (i) => eventTime(events, this.rows[i]) > now);
  }
}
