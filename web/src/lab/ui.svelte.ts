/** The panels that are sheets on a small screen. */
export const SHEETS = ['faults', 'setup', 'node', 'events'] as const;
export type Sheet = (typeof SHEETS)[number];

/** What of the page is open: nothing of the run. */
export class Ui {
  sheet = $state<Sheet | null>(null);
  help = $state(false);
  /** What to look at in this run is told. */
  lesson = $state(false);
  /** There is room for the panels beside the stage. */
  wide = $state(true);
  /** Rises when a file is to be chosen; the page answers with the browser's own dialog. */
  fileRequests = $state(0);

  watch(media: (query: string) => MediaQueryList): void {
    const list = media('(min-width: 1120px)');
    this.wide = list.matches;
    list.addEventListener('change', ({ matches }) => {
      this.wide = matches;
    });
  }

  toggle(sheet: Sheet): void {
    this.sheet = this.sheet === sheet ? null : sheet;
  }
}
