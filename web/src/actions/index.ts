import { clusterCommands, nodeCommands } from './cluster';
import { type Bench, type Command, commandFor, keyOf } from './command';
import { pageCommands, runCommands } from './page';
import { timeCommands } from './time';

export * from './command';

/** Every command of the page. Order matters in two places: the help sheet, and keys that two commands share. */
export const COMMANDS: readonly Command[] = [
  ...timeCommands,
  ...nodeCommands,
  ...clusterCommands,
  ...runCommands,
  ...pageCommands,
];

export function command(id: string): Command {
  const found = COMMANDS.find((candidate) => candidate.id === id);
  if (!found) throw new Error(`no command ${id}`);
  return found;
}

/** Elements with keys of their own. */
const TYPING = 'input:not([type="range"]), select, textarea, [contenteditable="true"]';
/** What a slider needs: all other keys act as everywhere. */
const SLIDING = /^(Arrow\w+|Home|End|PageUp|PageDown)$/;
const PRESSABLE = 'button, a, summary, [role="button"], [role="gridcell"]';

/** Lets keys act. Keys that the focused element needs itself are left to it. */
export function onKey(event: KeyboardEvent, bench: Bench): void {
  if (event.defaultPrevented || event.isComposing) return;
  const key = keyOf(event);
  const target = event.target instanceof Element ? event.target : null;
  const held = event.ctrlKey || event.metaKey;
  if (target?.closest(TYPING)) return;
  if (target?.matches('input') && SLIDING.test(key)) return;
  if (key === 'Space' && target?.closest(PRESSABLE)) return;
  if (!held && !bench.prefs.keys && key !== '?' && key !== 'Escape') return;
  if (bench.ui.help && key !== '?') return;
  if (/^[1-9]$/.test(key)) {
    event.preventDefault();
    bench.lab.select(Number(key) - 1);
    return;
  }
  const found = commandFor(key, COMMANDS, bench);
  if (!found) return;
  event.preventDefault();
  found.run(bench);
}
