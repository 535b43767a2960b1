import type { Problem } from '../engine/errors';
import { MESSAGES, ROLES, type Status } from '../engine/layout';
import type { Actor } from '../engine/world';
import { knownKeys } from '../i18n/languages';
import { refusalPlace, refusalWords } from '../i18n/refusals';
import { isKey, type Lang, type Translate, translator } from '../i18n/translate';
import type { ClusterView } from './cluster';
import type { Leaf } from './diff';
import type { EventView } from './log';
import { instantText, spanText } from './time';

/** What a message is called. Those of the protocol keep their names in every language. */
export function messageText(kind: number, t: Translate): string {
  const name = MESSAGES[kind] ?? 'other';
  const key = `message.${name}`;
  return isKey(key) ? t(key) : name;
}

/** The codes of messages that are about the client and the resources, whose number is a token. */
const TOKEN_MESSAGES = { first: 20, last: 39 };

/** A disk that was wiped lost no record of a number, but all. */
const WIPED = 2;

/** A write that was refused by the store that its writer was elected by. */
const EPOCH_MOVED = 8;

/** What an actor is called: nodes by name, the client and the resources by what they are. */
export function actorText(id: number, actors: readonly Actor[], t: Translate): string {
  const actor = actors.find((candidate) => candidate.id === id);
  if (!actor) return id < 0 ? t('value.none') : `#${id}`;
  const number = /^store-client-(\d+)$/.exec(actor.name)?.[1];
  if (number) return t('actor.store-client', { number });
  if (actor.kind === 'client') return t('actor.client');
  if (actor.kind === 'resource') return t(actor.fenced ? 'actor.fenced' : 'actor.unfenced');
  return actor.name;
}

/**
 * What stands for a term on the stage. Where leaders have no token, there is no number to tell them by. One that is a place in
 * ZooKeeper's history is so long that it stands for itself.
 */
export function termText(term: number, tokens: boolean, t: Translate): string {
  if (!tokens) return t('node.no-token');
  return term < LONG ? t('node.term', { term }) : String(term);
}

/** From here on a number has no room for a word beside it. */
const LONG = 1_000_000;

/** The token that a resource saw last. */
export function tokenText(token: number, t: Translate): string {
  return token < LONG ? t('resource.token', { token }) : String(token);
}

/** A check of the engine by its code: the page has its words about them in the order of their codes. */
function checkOf(code: number): string {
  const checks = knownKeys().filter((key) => /^check\.[a-z-]+$/.test(key));
  return checks[code]?.slice('check.'.length) ?? '';
}

/** A sentence about one event. */
export function eventText(event: EventView, actors: readonly Actor[], t: Translate): string {
  const params: Record<string, string | number> = {
    actor: actorText(event.actor, actors, t),
    other: actorText(event.other, actors, t),
    // A writer without a leader has no token to show.
    term: event.term < 0 ? t('value.none') : event.term,
    a: event.a,
    b: event.b,
  };
  switch (event.kind) {
    case 'send':
    case 'deliver':
    case 'lose':
      params.message = messageText(event.a, t);
      params.term = t(
        event.a >= TOKEN_MESSAGES.first && event.a <= TOKEN_MESSAGES.last ? 'event.token' : 'event.term',
        { term: params.term },
      );
      params.why = numbered('lose', event.b, t);
      break;
    case 'boot':
      // The lives of a server are not counted.
      if (event.a < 0) return t('event.boot.server', params);
      break;
    case 'role':
      params.role = t(`role.${ROLES[event.a] ?? 'halted'}`);
      break;
    case 'deposed':
      params.why = numbered('deposed', event.a, t);
      break;
    case 'refusal':
      params.why = numbered('refusal', event.a, t);
      break;
    case 'write-refused':
      if (event.a === EPOCH_MOVED) return t('event.write-refused.epoch', params);
      params.why = numbered('refused', event.a, t);
      break;
    case 'following':
      if (event.other < 0) return t('event.following.nobody', params);
      break;
    case 'persist':
      params.vote = actorText(event.b, actors, t);
      break;
    case 'persist-lost':
      if (event.b === WIPED) return t('event.persist-lost.wiped', params);
      params.why = event.b < 0 ? t('lost.none') : numbered('lost', event.b, t);
      break;
    case 'news': {
      const key = `news.${event.a}`;
      if (isKey(key)) return t(key, params);
      break;
    }
    case 'serves':
      if (event.a !== 1) return t('event.serves.no', params);
      if (event.b !== 1) return t('event.serves.untold', params);
      break;
    case 'violation':
      params.check = checkText(checkOf(event.a), t);
      break;
    case 'write-accepted':
      if (event.a === 1) return t('event.write-accepted.stale', params);
      break;
    case 'job-claimed':
      if (event.b >= 0) return t('event.job-claimed.over', params);
      break;
    case 'job-done':
      if (event.b === 1) return t('event.job-done.again', params);
      break;
    case 'job-refused':
      params.why = numbered('refused', event.b, t);
      break;
  }
  return t(`event.${event.kind}`, params);
}

/** Fields of an inspected node that are instants, and those that are lengths of time, in microseconds. */
const INSTANTS = new Set(['deadline', 'armedAt', 'leaseFrom', 'leaseUntil', 'promiseSince', 'promiseUntil']);
const LENGTHS = new Set(['diskWrite']);

/** What a field of an inspected node is called; one that the page does not know keeps the engine's own name. */
export function fieldText(path: string, t: Translate): string {
  const key = `field.${path}`;
  return isKey(key) ? t(key) : path;
}

/** The value of a field, as people read it. */
export function valueText({ path, value }: Leaf, t: Translate): string {
  if (value === null || value === undefined) return t('value.none');
  if (typeof value === 'boolean') return t(value ? 'value.yes' : 'value.no');
  if (typeof value === 'number' && INSTANTS.has(path)) return instantText(value);
  if (typeof value === 'number' && LENGTHS.has(path)) return spanText(value);
  // Roles and states: the engine's words, of which the page knows the last or the first.
  const words = String(value).split(' ');
  // A number is no word, whatever has words for its codes.
  const named = [words.at(-1), words[0]].filter((word) => !/^\d*$/.test(word ?? ''));
  const key = named.map((word) => `${path}.${word}`).find(isKey);
  return key ? t(key) : String(value);
}

/** The state of the cluster in a few sentences, for a screen reader. */
export function describeCluster({ nodes, servers, cut, summary }: ClusterView, t: Translate): string {
  const all = [...nodes, ...servers];
  const names = (status: Status) =>
    all
      .filter((node) => node.status === status)
      .map(({ name }) => name)
      .join(', ');
  const leader = all.find(({ id }) => id === summary.leader);
  const parts = [leader ? t('say.leader', { name: leader.name, term: summary.leaderTerm }) : t('say.none')];
  if (names('crashed')) parts.push(t('say.down', { names: names('crashed') }));
  if (names('paused')) parts.push(t('say.paused', { names: names('paused') }));
  const count = cut.flat().filter(Boolean).length;
  if (count > 0) parts.push(t('say.cut', { count }));
  const stale = summary.staleFenced + summary.staleUnfenced;
  if (stale > 0) parts.push(t('say.stale', { count: stale }));
  return parts.join(' ');
}

/** The browser carries no judge of histories: these checks are the command's. */
export function isJudged(check: string): boolean {
  return !check.startsWith('linearizable-');
}

/** The name of a check; one that the page does not know keeps the engine's own. */
export function checkText(check: string, t: Translate): string {
  const key = `check.${check}`;
  return isKey(key) ? t(key) : check;
}

export interface ProblemWords {
  place: string;
  reason: string;
  remedy: string;
}

/** A problem in words: the page's own by its code, the engine's as it sent them or as the language has them. */
export function problemText({ code, place, reason, remedy, params }: Problem, lang: Lang): ProblemWords {
  const t = translator(lang);
  const known = { reason: `problem.${code}.reason`, remedy: `problem.${code}.remedy` };
  if (isKey(known.reason) && isKey(known.remedy)) {
    return { place, reason: t(known.reason, params), remedy: t(known.remedy, params) };
  }
  const words = refusalWords(code, reason, remedy, lang);
  if (!words) return { place, reason: sentence(reason), remedy: sentence(remedy) };
  return { place: refusalPlace(place, lang), reason: `${words.reason}。`, remedy: `${words.remedy}。` };
}

/** The engine writes its words to be joined; on their own they are sentences. */
function sentence(words: string): string {
  return words === '' ? '' : `${words[0].toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`;
}

function numbered(
  what: 'lose' | 'lost' | 'deposed' | 'refusal' | 'refused',
  code: number,
  t: Translate,
): string {
  const key = `${what}.${code}`;
  return isKey(key) ? t(key) : String(code);
}
