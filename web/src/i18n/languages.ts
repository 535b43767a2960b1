import type { Key } from './en';
import type { Glossary } from './glossary';
import type { Refusals } from './refusals';
import type { Lang } from './translate';

type Messages = Partial<Record<Key, string>>;

/** The words of one language. */
export interface Language {
  /** Those of the page; and of other peers than Raft's, once there are some. */
  messages: Messages;
  glossary: Glossary;
  /** Empty where the engine's own words are the ones to use. */
  refusals: Refusals;
  /** The names of the gallery's scenarios. */
  titles: Readonly<Record<string, string>>;
}

const WORDS: Record<Lang, { page: () => Promise<Language>; peers: () => Promise<Messages> }> = {
  en: {
    page: async () => (await import('./english')).english,
    peers: async () => (await import('./en-peers')).enPeers,
  },
  zh: {
    page: async () => (await import('./chinese')).chinese,
    peers: async () => (await import('./zh-peers')).zhPeers,
  },
};

const loaded: Partial<Record<Lang, Language>> = {};
let ofPeers = false;

/** Brings the words of a language, once. */
export async function loadLanguage(lang: Lang): Promise<void> {
  const language = loaded[lang] ?? (await WORDS[lang].page());
  if (ofPeers) await addPeers(lang, language);
  loaded[lang] = language;
}

/** Brings the words about elections among peers other than Raft's, in the languages that are spoken and from now on in all. */
export async function loadPeersWords(): Promise<void> {
  // A language that is loaded meanwhile needs them as well.
  ofPeers = true;
  try {
    for (const [lang, language] of Object.entries(loaded)) await addPeers(lang as Lang, language);
  } catch (error) {
    // None that is loaded later is to fail for the want of them.
    ofPeers = false;
    throw error;
  }
}

/** They are added to what translates already. */
async function addPeers(lang: Lang, { messages }: Language): Promise<void> {
  Object.assign(messages, await WORDS[lang].peers());
}

/** The words of a language that was loaded; before, of whichever was. */
export function language(lang: Lang): Language {
  const known = loaded[lang] ?? Object.values(loaded)[0];
  if (!known) throw new Error('no language was loaded');
  return known;
}

/** What there are words for, the peers' own last: in every language the same. */
export function knownKeys(): string[] {
  return Object.keys(language('en').messages);
}
