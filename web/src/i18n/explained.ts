import type { Lang } from './translate';

/** A name for each of what the engine names, and a line about it. The engine may know more than the page. */
export type Explained = Partial<Record<string, { name: string; text: string }>>;

/** What is explained so, in either language: fetched when somebody looks at it. */
const WORDS = {
  rules: {
    en: async () => (await import('./rules')).RULES,
    zh: async () => (await import('./rules-zh')).RULES_ZH,
  },
  presets: {
    en: async () => (await import('./presets')).PRESETS,
    zh: async () => (await import('./presets-zh')).PRESETS_ZH,
  },
} satisfies Record<string, Record<Lang, () => Promise<Explained>>>;

export function explained(what: keyof typeof WORDS, lang: Lang): Promise<Explained> {
  return WORDS[what][lang]();
}
