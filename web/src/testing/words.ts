import { loadLanguage, loadPeersWords } from '../i18n/languages';
import { LANGS } from '../i18n/translate';

// Tests speak both languages, of every scheme; the page brings the words that somebody asks for.
for (const lang of LANGS) await loadLanguage(lang);
await loadPeersWords();
