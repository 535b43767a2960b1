import type { Key } from '../i18n/en';
import type { Lab } from '../lab/lab.svelte';
import type { Preferences } from '../lab/preferences.svelte';
import type { Ui } from '../lab/ui.svelte';

/** What a command may touch. */
export interface Bench {
  lab: Lab;
  prefs: Preferences;
  ui: Ui;
  page: Window;
}

export type CommandGroup = 'time' | 'node' | 'cluster' | 'run' | 'page';
export const GROUPS: readonly CommandGroup[] = ['time', 'node', 'cluster', 'run', 'page'];

/** One thing a person can do. Buttons, keys and the help sheet all come from here. */
export interface Command {
  id: string;
  group: CommandGroup;
  label(bench: Bench): Key;
  /** As `keyOf` writes them; the first is the one that is shown. */
  keys: readonly string[];
  applies(bench: Bench): boolean;
  run(bench: Bench): void;
}

type KeyEvent = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>;

/**
 * A pressed key as text: `c`, `Shift+C`, `Ctrl+z`, `Shift+ArrowLeft`, `?`. Cmd counts as Ctrl. Signs that need Shift on
 * some keyboards are written bare.
 */
export function keyOf(event: KeyEvent): string {
  const key = event.key === ' ' ? 'Space' : event.key;
  const letter = /^[a-z]$/i.test(key);
  const named = key.length > 1;
  const shift = event.shiftKey && (letter || named) ? 'Shift+' : '';
  const control = event.ctrlKey || event.metaKey ? 'Ctrl+' : '';
  const alt = event.altKey ? 'Alt+' : '';
  return `${control}${alt}${shift}${letter ? (event.shiftKey ? key.toUpperCase() : key.toLowerCase()) : key}`;
}

/** The command that a key stands for here and now. */
export function commandFor(key: string, commands: readonly Command[], bench: Bench): Command | null {
  return commands.find((command) => command.keys.includes(key) && command.applies(bench)) ?? null;
}

/** A key as people read it. */
export function keyText(key: string): string {
  return key
    .replace('ArrowRight', '→')
    .replace('ArrowLeft', '←')
    .replace('Escape', 'Esc')
    .replace(/Shift\+([A-Z])$/, '⇧ $1')
    .replace('Shift+', '⇧ ')
    .replace('Ctrl+', 'Ctrl ');
}
