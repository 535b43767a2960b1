import { save, share } from '../lab/share';
import type { Command } from './command';

/** The run as a whole: its history of interventions, its seed, its ways in and out. */
export const runCommands: readonly Command[] = [
  {
    id: 'undo',
    group: 'run',
    label: () => 'action.undo',
    keys: ['Ctrl+z', 'u'],
    applies: ({ lab }) => lab.canUndo,
    run: ({ lab }) => lab.undo(),
  },
  {
    id: 'redo',
    group: 'run',
    label: () => 'action.redo',
    keys: ['Ctrl+Shift+Z', 'Ctrl+y', 'Shift+U'],
    applies: ({ lab }) => lab.canRedo,
    run: ({ lab }) => lab.redo(),
  },
  {
    id: 'rerun',
    group: 'run',
    label: () => 'action.rerun',
    keys: ['Shift+Home'],
    applies: () => true,
    run: ({ lab }) => lab.rerun(),
  },
  {
    id: 'new-seed',
    group: 'run',
    label: () => 'action.new-seed',
    keys: ['n'],
    applies: () => true,
    run: ({ lab }) => lab.newSeed(),
  },
  {
    id: 'share',
    group: 'run',
    label: () => 'action.share',
    keys: ['s'],
    applies: () => true,
    run: ({ lab, page }) => void share(lab, page),
  },
  {
    id: 'export',
    group: 'run',
    label: () => 'action.export',
    keys: ['e'],
    applies: () => true,
    run: ({ lab, page }) => save(lab, page.document),
  },
  {
    id: 'import',
    group: 'run',
    label: () => 'action.import',
    keys: ['o'],
    applies: () => true,
    run: ({ ui }) => {
      ui.fileRequests += 1;
    },
  },
];

/** The page itself. */
export const pageCommands: readonly Command[] = [
  {
    id: 'theme',
    group: 'page',
    label: () => 'action.theme',
    keys: ['t'],
    applies: () => true,
    run: ({ prefs }) => prefs.nextTheme(),
  },
  {
    id: 'language',
    group: 'page',
    label: () => 'action.language',
    keys: ['l'],
    applies: () => true,
    run: ({ prefs }) => prefs.nextLang(),
  },
  {
    id: 'help',
    group: 'page',
    label: () => 'action.help',
    keys: ['?'],
    applies: () => true,
    run: ({ ui }) => {
      ui.help = !ui.help;
    },
  },
];
