import type { Frame } from '../engine/engine';
import { EVENT, type EventKind, KIND } from '../engine/layout';
import { firstAfter, firstFrom, firstWhere } from './search';

/** A stretch of a lane. `to` is Infinity while it lasts. */
export interface Span {
  from: number;
  to: number;
}

export interface TermSpan extends Span {
  term: number;
}

/**
 * How a leadership bar is drawn. `elected`: decided but not yet allowed to act. `acting`: established, may act.
 * `zombie`: frozen while it believed, and by its own unread clock may believe still.
 */
export type LeadStyle = 'elected' | 'acting' | 'zombie';

export interface LeadSpan extends TermSpan {
  node: number;
  style: LeadStyle;
}

export interface StatusSpan extends Span {
  status: 'paused' | 'crashed';
}

export interface Mark {
  at: number;
  /** Code of the event. */
  kind: number;
  actor: number;
  other: number;
  term: number;
  a: number;
  /** Index of the event. */
  event: number;
}

export interface NodeLane {
  terms: TermSpan[];
  leads: LeadSpan[];
  status: StatusSpan[];
  ticks: Mark[];
}

/** Kinds of events worth a jump. */
export const NOTABLE_KINDS: readonly EventKind[] = [
  'crash',
  'boot',
  'pause',
  'resume',
  'cut',
  'heal',
  'healed',
  'established',
  'deposed',
  'serves',
  'write-refused',
  'violation',
  'no-effect',
];
const NOTABLE = new Set(NOTABLE_KINDS.map((kind) => KIND[kind]));

/** What brokers tell of a partition, by code: each leads it, follows, or finds that nobody does. */
const PARTITION_NEWS = { leads: 45, leaderless: 47 } as const;

/** Role codes that stand for a candidacy: a tick on the lane. */
const CANDIDACIES = new Set([1, 2]);

/**
 * The swimlanes, built from events as they come. `read` takes the whole event buffer and reads on where it stopped;
 * a new `epoch` means that the past changed, and everything is built again.
 */
export class History {
  lanes: NodeLane[] = [];
  /** Faults and repairs from outside. */
  faults: Mark[] = [];
  /** Writes at resources, by actor id: accepted ones, stale ones and refused ones. */
  writes = new Map<number, Mark[]>();
  /** Two or more nodes believed that they lead, a frozen one too while its lease lasts. */
  overlaps: readonly Span[] = [];
  /** No established leader that runs. */
  leaderless: readonly Span[] = [];
  /** Established leaders, in order: the painted history of the scrubber. */
  tenures: LeadSpan[] = [];
  violations: Mark[] = [];
  /** Times and indices of events worth a jump, both rising. */
  notable: Mark[] = [];
  /** Events read so far. */
  count = 0;
  /** Rises with every change. */
  version = 0;

  private epoch = -1;

  /**
   * `members` are the nodes, and the servers after them; where servers lead, nodes lead no more than their replacement. From
   * `brokers` on they are brokers that have one partition: who leads that is drawn beside who leads the nodes.
   */
  constructor(
    private readonly members: number,
    private readonly serversLead = false,
    private readonly brokers: number | null = null,
  ) {
    this.reset();
  }

  read(events: Float64Array, epoch: number): void {
    const total = events.length / EVENT.stride;
    if (epoch !== this.epoch || total < this.count) {
      this.reset();
      this.epoch = epoch;
      this.version += 1;
    }
    if (total === this.count) return;
    for (let i = this.count; i < total; i += 1) this.take(events, i);
    this.count = total;
    this.version += 1;
  }

  /** Takes the spans that the engine keeps itself: belief begins and ends without an event, too. */
  readSpans({ overlaps, leaderless }: Pick<Frame, 'overlaps' | 'leaderless'>): void {
    this.overlaps = spansOf(overlaps);
    this.leaderless = spansOf(leaderless);
  }

  /** The last notable mark before an instant, and the first after it. */
  around(now: number): { previous: Mark | null; next: Mark | null } {
    const previous = this.notable[firstFrom(this.notable, now) - 1] ?? null;
    const next = this.notable[firstAfter(this.notable, now)] ?? null;
    return { previous, next };
  }

  /** The last notable mark at or before an instant. */
  latest(now: number): Mark | null {
    return this.notable[firstAfter(this.notable, now) - 1] ?? null;
  }

  private reset(): void {
    this.lanes = Array.from({ length: this.members }, () => ({
      terms: [],
      leads: [],
      status: [],
      ticks: [],
    }));
    this.faults = [];
    this.writes = new Map();
    this.tenures = [];
    this.violations = [];
    this.notable = [];
    this.count = 0;
  }

  private take(events: Float64Array, index: number): void {
    const at = index * EVENT.stride;
    const mark: Mark = {
      at: events[at + EVENT.time],
      kind: events[at + EVENT.kind],
      actor: events[at + EVENT.actor],
      other: events[at + EVENT.other],
      term: events[at + EVENT.term],
      a: events[at + EVENT.a],
      event: index,
    };
    if (NOTABLE.has(mark.kind) && !(mark.kind === KIND.boot && mark.at === 0)) this.notable.push(mark);
    const lane = this.lanes[mark.actor];
    switch (mark.kind) {
      case KIND.boot:
        if (lane) endSpan(lane.status, mark.at);
        if (lane && mark.at > 0) this.faults.push(mark);
        break;
      case KIND.crash:
        this.faults.push(mark);
        this.stopLeading(mark.actor, mark.at);
        if (lane) {
          endSpan(lane.terms, mark.at);
          beginStatus(lane, mark.at, 'crashed');
        }
        break;
      case KIND.pause:
        this.faults.push(mark);
        this.freeze(mark.actor, mark.at);
        if (lane) beginStatus(lane, mark.at, 'paused');
        break;
      case KIND.resume:
        this.faults.push(mark);
        this.thaw(mark.actor, mark.at);
        if (lane) endSpan(lane.status, mark.at);
        break;
      case KIND.cut:
      case KIND.heal:
      case KIND.healed:
        this.faults.push(mark);
        break;
      case KIND.role:
        this.setTerm(mark.actor, mark.term, mark.at);
        if (lane && CANDIDACIES.has(mark.a)) lane.ticks.push(mark);
        break;
      case KIND.following:
        // Of a sentinel that is the epoch of a configuration, and not its own.
        if (!this.serversLead) this.setTerm(mark.actor, mark.term, mark.at);
        break;
      case KIND.persist:
        // A term is adopted with the record that goes to the disk; not every record is of one.
        if (mark.term > 0) this.setTerm(mark.actor, mark.term, mark.at);
        break;
      case KIND.elected:
        this.setTerm(mark.actor, mark.term, mark.at);
        this.lead(mark.actor, mark.term, mark.at, 'elected');
        break;
      case KIND.established:
        this.setTerm(mark.actor, mark.term, mark.at);
        if (!this.serversLead) this.lead(mark.actor, mark.term, mark.at, 'acting');
        break;
      case KIND.deposed:
        this.stopLeading(mark.actor, mark.at);
        break;
      case KIND.news:
        if (this.brokers !== null) this.tellOfPartition(mark, this.brokers);
        break;
      case KIND.serves:
        this.serve(mark, events[at + EVENT.b] === 1);
        break;
      case KIND['write-accepted']:
      case KIND['write-refused'] /* drawn as ✕ */:
        this.writeMarks(mark.actor).push(mark);
        break;
      case KIND.violation:
        this.violations.push(mark);
        break;
    }
  }

  private writeMarks(resource: number): Mark[] {
    let marks = this.writes.get(resource);
    if (!marks) {
      marks = [];
      this.writes.set(resource, marks);
    }
    return marks;
  }

  private setTerm(node: number, term: number, at: number): void {
    const terms = this.lanes[node]?.terms;
    if (!terms || term < 0) return;
    const last = terms[terms.length - 1];
    if (last && last.to === Number.POSITIVE_INFINITY) {
      if (last.term === term) return;
      last.to = at;
    }
    if (term > 0) terms.push({ from: at, to: Number.POSITIVE_INFINITY, term });
  }

  private lead(node: number, term: number, at: number, style: LeadStyle): void {
    const leads = this.lanes[node]?.leads;
    if (!leads) return;
    endSpan(leads, at);
    leads.push({ from: at, to: Number.POSITIVE_INFINITY, term, node, style });
    if (style !== 'acting') return;
    endSpan(this.tenures, at);
    this.tenures.push({ from: at, to: Number.POSITIVE_INFINITY, term, node, style });
  }

  /** A data server that takes writes leads, and is a zombie where clients are told of another: of the term that named it last. */
  private serve({ actor, term, at, a }: Mark, told: boolean): void {
    const leads = this.lanes[actor]?.leads;
    this.stopLeading(actor, at);
    if (a !== 1 || !leads) return;
    if (told) {
      this.lead(actor, term, at, 'acting');
    } else {
      const former = leads.findLast(({ style }) => style === 'acting')?.term ?? 0;
      leads.push({ from: at, to: Number.POSITIVE_INFINITY, term: former, node: actor, style: 'zombie' });
    }
  }

  /** A broker leads the partition or follows; whoever led it before and was not told is left behind. */
  private tellOfPartition({ actor, term, at, a }: Mark, brokers: number): void {
    const lane = this.lanes[actor];
    if (!lane || a < PARTITION_NEWS.leads || a > PARTITION_NEWS.leaderless) return;
    this.setTerm(actor, term, at);
    endSpan(lane.leads, at);
    if (a !== PARTITION_NEWS.leads) return;
    for (let broker = brokers; broker < this.members; broker += 1) this.freeze(broker, at);
    lane.leads.push({ from: at, to: Number.POSITIVE_INFINITY, term, node: actor, style: 'acting' });
  }

  private freeze(node: number, at: number): void {
    const open = openSpan(this.lanes[node]?.leads);
    if (open?.style !== 'acting') return;
    open.to = at;
    this.lanes[node].leads.push({ ...open, from: at, to: Number.POSITIVE_INFINITY, style: 'zombie' });
  }

  private thaw(node: number, at: number): void {
    const open = openSpan(this.lanes[node]?.leads);
    if (open?.style !== 'zombie' || this.isOvertaken(open)) return;
    open.to = at;
    this.lanes[node].leads.push({ ...open, from: at, to: Number.POSITIVE_INFINITY, style: 'acting' });
  }

  /** Whether another broker led the partition later. */
  private isOvertaken({ term }: LeadSpan): boolean {
    if (this.brokers === null) return false;
    return this.lanes.slice(this.brokers).some(({ leads }) => (leads.at(-1)?.term ?? 0) > term);
  }

  private stopLeading(node: number, at: number): void {
    const leads = this.lanes[node]?.leads;
    if (!leads) return;
    endSpan(leads, at);
    // Woken and deposed in one instant: it never acted after the freeze.
    if (leads.length > 0 && leads[leads.length - 1].from === at) leads.pop();
    const tenure = openSpan(this.tenures);
    if (tenure?.node === node) tenure.to = at;
  }
}

function beginStatus(lane: NodeLane, at: number, status: StatusSpan['status']): void {
  endSpan(lane.status, at);
  lane.status.push({ from: at, to: Number.POSITIVE_INFINITY, status });
}

function openSpan<T extends Span>(spans: readonly T[] | undefined): T | null {
  const last = spans?.[spans.length - 1];
  return last && last.to === Number.POSITIVE_INFINITY ? last : null;
}

function endSpan(spans: Span[], at: number): void {
  const open = openSpan(spans);
  if (open) open.to = at;
}

function spansOf(pairs: Float64Array): Span[] {
  return Array.from({ length: pairs.length / 2 }, (_, i) => {
    const to = pairs[2 * i + 1];
    return { from: pairs[2 * i], to: to < 0 ? Number.POSITIVE_INFINITY : to };
  });
}

/** The spans that touch [from, to], as a half-open range of indices. Spans lie in order and do not overlap. */
export function visible(spans: readonly Span[], from: number, to: number): [start: number, end: number] {
  const start = firstWhere(spans.length, (i) => spans[i].to >= from);
  const end = firstWhere(spans.length, (i) => spans[i].from > to);
  return [start, Math.max(start, end)];
}
