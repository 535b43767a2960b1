import { getContext, setContext } from 'svelte';
import type { Bench } from '../actions';
import { dialect } from '../i18n/dialect';
import type { Translate } from '../i18n/translate';

const KEY = Symbol('bench');

/** The session's parts, for every panel below the page. */
export function provideBench(bench: Bench): Bench {
  return setContext(KEY, bench);
}

export function useBench(): Bench {
  return getContext<Bench>(KEY);
}

/** The words of the page as the scheme of the run says them. */
export function spoken({ lab, prefs }: Bench): Translate {
  return dialect(prefs.t, lab.setting.scheme, prefs.lang);
}
