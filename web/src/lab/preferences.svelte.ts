import { loadLanguage } from '../i18n/languages';
import { LANG_TAG, LANGS, type Lang, preferredLang, type Translate, translator } from '../i18n/translate';

export type ThemeChoice = 'auto' | 'light' | 'dark';
const THEMES: readonly ThemeChoice[] = ['auto', 'light', 'dark'];

/** What a person chose about the page itself; remembered in the browser when it lets us. */
export class Preferences {
  /** Of those that are loaded. */
  lang = $state<Lang>('en');
  /** There are words. */
  ready = $state(false);
  theme = $state<ThemeChoice>('auto');
  /** Single keys act. */
  keys = $state(true);
  systemDark = $state(false);
  reducedMotion = $state(false);

  readonly dark = $derived(this.theme === 'auto' ? this.systemDark : this.theme === 'dark');
  readonly t: Translate = $derived(translator(this.lang));

  private readonly wanted: Lang;

  constructor(
    private readonly storage: Storage | null,
    languages: readonly string[],
  ) {
    const lang = this.recall('lang');
    const theme = this.recall('theme');
    this.wanted = LANGS.find((known) => known === lang) ?? preferredLang(languages);
    this.theme = THEMES.find((known) => known === theme) ?? 'auto';
    this.keys = this.recall('keys') !== 'off';
  }

  /** Follows what the system asks for, as it changes. */
  watch(media: (query: string) => MediaQueryList): void {
    const follow = (query: string, take: (matches: boolean) => void) => {
      const list = media(query);
      take(list.matches);
      list.addEventListener('change', (event) => take(event.matches));
    };
    follow('(prefers-color-scheme: dark)', (matches) => {
      this.systemDark = matches;
    });
    follow('(prefers-reduced-motion: reduce)', (matches) => {
      this.reducedMotion = matches;
    });
  }

  /** Brings the words of the language asked for; rejects when they cannot be had, and the page speaks English if it can. */
  async start(): Promise<void> {
    try {
      await this.speak(this.wanted);
    } catch (error) {
      if (this.wanted !== 'en') await this.speak('en');
      throw error;
    }
  }

  async nextLang(): Promise<void> {
    await this.speak(LANGS[(LANGS.indexOf(this.lang) + 1) % LANGS.length]);
    this.remember('lang', this.lang);
  }

  nextTheme(): void {
    this.theme = THEMES[(THEMES.indexOf(this.theme) + 1) % THEMES.length];
    this.remember('theme', this.theme);
  }

  setKeys(on: boolean): void {
    this.keys = on;
    this.remember('keys', on ? 'on' : 'off');
  }

  /** Writes the choices to the document, whose stylesheet does the rest. */
  apply(document: Document): void {
    document.documentElement.lang = LANG_TAG[this.lang];
    document.documentElement.dataset.theme = this.theme;
  }

  private async speak(lang: Lang): Promise<void> {
    await loadLanguage(lang);
    this.lang = lang;
    this.ready = true;
  }

  private recall(name: string): string | null {
    try {
      return this.storage?.getItem(`tenure.${name}`) ?? null;
    } catch {
      return null;
    }
  }

  private remember(name: string, value: string): void {
    try {
      this.storage?.setItem(`tenure.${name}`, value);
    } catch {
      // A browser that keeps nothing loses the choice with the tab; nothing else depends on it.
    }
  }
}
