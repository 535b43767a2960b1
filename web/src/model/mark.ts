import { KIND } from '../engine/layout';
import type { Actor } from '../engine/world';
import type { Translate } from '../i18n/translate';
import type { History, Mark } from './history';
import { readEvent } from './log';
import { firstFrom } from './search';
import { eventText } from './text';

/** Links are cut and healed one direction at a time; together they are one thing that happened. */
const BY_LINK = new Set([KIND.cut, KIND.heal]);

/** Of a run, what it takes to tell of it. */
export interface Run {
  readonly history: History;
  readonly actors: readonly Actor[];
  events(): Float64Array;
}

/** What a mark of the history tells: an event, or several of one kind at one instant. */
export function markText(mark: Mark, run: Run, t: Translate): string {
  const count = BY_LINK.has(mark.kind) ? together(run.history.notable, mark) : 1;
  if (count > 1) return t(mark.kind === KIND.cut ? 'caption.cut' : 'caption.healed', { count });
  return eventAt(mark.event, run, t);
}

/** What an event tells, by its index; of a write that broke a rule the write itself says more than the rule. */
export function eventAt(index: number, run: Run, t: Translate): string {
  const events = run.events();
  const event = readEvent(events, index);
  const before = event.kind === 'violation' && index > 0 ? readEvent(events, index - 1) : event;
  return eventText(before.kind === 'write-accepted' ? before : event, run.actors, t);
}

/** How many marks of this kind stand at this instant. */
function together(marks: readonly Mark[], { at, kind }: Mark): number {
  let count = 0;
  for (let i = firstFrom(marks, at); marks[i]?.at === at; i += 1) if (marks[i].kind === kind) count += 1;
  return count;
}
