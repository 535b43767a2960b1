import { loadLanguage } from '../i18n/languages';

// Tests speak both languages; the page brings the second when somebody asks for it.
await loadLanguage('zh');
