import type { Scheme } from '../model/scenario';
import { isKey, type Lang, type Translate } from './translate';

/** Schemes that call a term an epoch. */
const EPOCHS: ReadonlySet<Scheme> = new Set(['zab', 'sentinel', 'kraft']);

/**
 * The words of the page as a scheme says them. Where it has another sentence for a key, that stands beside it under the name of
 * the scheme (`role.looking@kraft`); where it calls a term an epoch, so does every sentence.
 */
export function dialect(t: Translate, scheme: Scheme, lang: Lang): Translate {
  if (!EPOCHS.has(scheme)) return t;
  return (key, params) => {
    const own = `${key}@${scheme}`;
    return inEpochs(t(isKey(own) ? own : key, params), lang);
  };
}

/** A text about a scheme or its rules, as the scheme says it. */
export function inItsWords(text: string, scheme: Scheme, lang: Lang): string {
  return EPOCHS.has(scheme) ? inEpochs(text, lang) : text;
}

function inEpochs(text: string, lang: Lang): string {
  if (lang === 'zh') return text.replaceAll('任期', '纪元');
  return text
    .replace(/\b(a )?term(s?)\b/g, (_, a, s) => `${a ? 'an ' : ''}epoch${s}`)
    .replace(/\bTerm\b/g, 'Epoch');
}
