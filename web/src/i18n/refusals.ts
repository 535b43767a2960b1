import { language } from './languages';
import { fill, type Lang } from './translate';

interface Words {
  reason: string;
  remedy: string;
}

/** Words for what the engine refuses, by the code of the refusal. */
export type Refusals = Record<string, Words>;

/** Where in a file, in the words of a language. */
export function refusalPlace(place: string, lang: Lang): string {
  return lang === 'en' ? place : place.replace(/line (\d+), column (\d+)/, '第 $1 行第 $2 列');
}

/** A refusal of the engine in the words of a language; null when the engine's own are to be used. */
export function refusalWords(code: string, reason: string, remedy: string, lang: Lang): Words | null {
  const words = language(lang).refusals[code];
  if (!words) return null;
  const own = { reason, remedy, list: remedy.slice(remedy.indexOf(':') + 1).trim() };
  return { reason: fill(words.reason, own), remedy: fill(words.remedy, own) };
}
