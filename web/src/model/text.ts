import { MESSAGES, ROLES } from '../engine/layout';
import type { Actor } from '../engine/world';
import { isKey, type Translate } from '../i18n/translate';
import type { EventView } from './log';

/** What a message is called. */
export function messageText(kind: number, t: Translate): string {
  const key = `message.${MESSAGES[kind] ?? 'other'}`;
  return isKey(key) ? t(key) : t('message.other');
}

/** Codes from here on are about the client and the resources, whose number is a token. */
const FIRST_TOKEN_MESSAGE = 20;

/** What an actor is called: nodes by name, the client and the resources by what they are. */
export function actorText(id: number, actors: readonly Actor[], t: Translate): string {
  const actor = actors.find((candidate) => candidate.id === id);
  if (!actor) return id < 0 ? t('value.none') : `#${id}`;
  if (actor.kind === 'client') return t('actor.client');
  if (actor.kind === 'resource') return t(actor.fenced ? 'actor.fenced' : 'actor.unfenced');
  return actor.name;
}

/** A sentence about one event. `checks` names the checkers in the order of their indices. */
export function eventText(
  event: EventView,
  actors: readonly Actor[],
  checks: readonly string[],
  t: Translate,
): string {
  const params: Record<string, string | number> = {
    actor: actorText(event.actor, actors, t),
    other: actorText(event.other, actors, t),
    term: event.term,
    a: event.a,
  };
  switch (event.kind) {
    case 'send':
    case 'deliver':
    case 'lose':
      params.message = messageText(event.a, t);
      params.term = t(event.a >= FIRST_TOKEN_MESSAGE ? 'event.token' : 'event.term', { term: event.term });
      params.why = numbered('lose', event.b, t);
      break;
    case 'role':
      params.role = t(`role.${ROLES[event.a] ?? 'halted'}`);
      break;
    case 'deposed':
      params.why = numbered('deposed', event.a, t);
      break;
    case 'persist':
      params.vote = actorText(event.b, actors, t);
      break;
    case 'violation':
      params.check = checkText(checks[event.a] ?? '', t);
      break;
    case 'write-accepted':
      if (event.a === 1) return t('event.write-accepted.stale', params);
      break;
  }
  return t(`event.${event.kind}`, params);
}

/** The name of a check; one that the page does not know keeps the engine's own. */
export function checkText(check: string, t: Translate): string {
  const key = `check.${check}`;
  return isKey(key) ? t(key) : check;
}

function numbered(what: 'lose' | 'deposed', code: number, t: Translate): string {
  const key = `${what}.${code}`;
  return isKey(key) ? t(key) : String(code);
}
