import type { Engine } from '../engine/engine';
import { changes } from '../model/diff';
import { eventsUntil, timeBefore } from '../model/search';

export interface Inspection {
  node: number;
  value: unknown;
  /** Paths that the last event changed. */
  changed: ReadonlySet<string>;
}

/**
 * Looks into a node and marks what the last event changed. While the run plays that is the difference to the last look
 * from which events came; when it stands still, to the instant before.
 */
export class Inspector {
  private last: { count: number; seen: Inspection } | null = null;

  constructor(private readonly engine: Engine) {}

  look(node: number, now: number, playing: boolean): Inspection {
    const value = this.engine.inspect(node);
    if (!playing) {
      this.last = null;
      return { node, value, changed: changes(this.before(node, now), value) };
    }
    const count = eventsUntil(this.engine.events(), now);
    const last = this.last?.seen.node === node ? this.last : null;
    if (last?.count === count) return { ...last.seen, value };
    const seen = { node, value, changed: last ? changes(last.seen.value, value) : new Set<string>() };
    this.last = { count, seen };
    return seen;
  }

  /** What was seen belongs to another run. */
  forget(): void {
    this.last = null;
  }

  /** The node as it was at the event before this instant. */
  private before(node: number, now: number): unknown {
    this.engine.seek(timeBefore(this.engine.events(), now));
    const value = this.engine.inspect(node);
    this.engine.seek(now);
    return value;
  }
}
