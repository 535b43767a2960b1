import type { Problem } from '../engine/errors';
import type { Key } from '../i18n/en';

/** A calm message in the page. A problem says where, why and what to do. */
export interface Notice {
  id: number;
  title: Key;
  problem: Problem | null;
  /** A closing sentence: what the page did about it. */
  after: Key | null;
}

/** What went well need not be put away by hand. A problem stays until it is. */
const GOOD_NEWS_MS = 8000;

export class Notices {
  list = $state.raw<Notice[]>([]);
  private last = 0;

  /** The same notice twice is shown once, as the newer. At most three are kept. */
  add(title: Key, problem: Problem | null = null, after: Key | null = null): void {
    this.last += 1;
    const same = (notice: Notice) => notice.title === title && notice.problem?.code === problem?.code;
    const others = this.list.filter((notice) => !same(notice));
    const id = this.last;
    this.list = [...others, { id, title, problem, after }].slice(-3);
    if (!problem) setTimeout(() => this.dismiss(id), GOOD_NEWS_MS);
  }

  dismiss(id: number): void {
    this.list = this.list.filter((notice) => notice.id !== id);
  }
}
