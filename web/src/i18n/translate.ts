import type { Key } from './en';
import { language } from './languages';

export type Lang = 'en' | 'zh';
export const LANGS: readonly Lang[] = ['en', 'zh'];

/** The value of `<html lang>`. */
export const LANG_TAG: Record<Lang, string> = { en: 'en', zh: 'zh-CN' };

export type Params = Record<string, string | number>;

/** Text in one language. */
export type Translate = (key: Key, params?: Params) => string;

export function translator(lang: Lang): Translate {
  return (key, params) => fill(language(lang).messages[key] ?? key, params);
}

/** Whether a made-up key exists: for names that come from the engine, which may know more than the page. */
export function isKey(key: string): key is Key {
  return Object.hasOwn(language('en').messages, key);
}

/** A text with its names filled in; unknown ones are left to be seen. */
export function fill(text: string, params: Params | undefined): string {
  if (!params) return text;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(params[name] ?? whole));
}

/** The language a browser asks for, of those there are. */
export function preferredLang(languages: readonly string[]): Lang {
  for (const tag of languages) {
    const found = LANGS.find((lang) => tag.toLowerCase().split('-')[0] === lang);
    if (found) return found;
  }
  return 'en';
}
