import titles from 'virtual:gallery-titles/en';
import { en, type Key } from './en';
import { GLOSSARY, type Glossary } from './glossary';
import type { Refusals } from './refusals';
import type { Lang } from './translate';

/** All words of one language. */
export interface Language {
  messages: Record<Key, string>;
  glossary: Glossary;
  /** Empty where the engine's own words are the ones to use. */
  refusals: Refusals;
  /** The names of the gallery's scenarios. */
  titles: Readonly<Record<string, string>>;
}

const english: Language = { messages: en, glossary: GLOSSARY, refusals: {}, titles };
const loaded: Partial<Record<Lang, Language>> = { en: english };

/** Brings the words of a language, once. English is there from the start. */
export async function loadLanguage(lang: Lang): Promise<void> {
  loaded[lang] ??= (await import('./chinese')).chinese;
}

/** The words of a language that was loaded; English before. */
export function language(lang: Lang): Language {
  return loaded[lang] ?? english;
}
