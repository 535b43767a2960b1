/** The panels that are sheets on a small screen. */
export const SHEETS = ['setup', 'node', 'events'] as const;
export type Sheet = (typeof SHEETS)[number];

/** What of the page is open: nothing of the run. */
export class Ui {
  sheet = $state<Sheet | null>(null);
  help = $state(false);
  /** Rises when a file is to be chosen; the page answers with the browser's own dialog. */
  fileRequests = $state(0);

  toggle(sheet: Sheet): void {
    this.sheet = this.sheet === sheet ? null : sheet;
  }
}
