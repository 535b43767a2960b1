import { getContext, setContext } from 'svelte';
import type { Bench } from '../actions';

const KEY = Symbol('bench');

/** The session's parts, for every panel below the page. */
export function provideBench(bench: Bench): Bench {
  return setContext(KEY, bench);
}

export function useBench(): Bench {
  return getContext<Bench>(KEY);
}
