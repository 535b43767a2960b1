import { describe, expect, it } from 'vitest';
import { en, type Key } from './en';
import { GLOSSARY, WORDS } from './glossary';
import { preferredLang, translator } from './translate';
import { zh } from './zh';

const names = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort();

describe('the two languages', () => {
  it('have the same keys', () => {
    expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
  });

  it('fill in the same names', () => {
    for (const key of Object.keys(en) as Key[]) expect(names(zh[key]), key).toEqual(names(en[key]));
  });

  it('leave nothing empty or untranslated', () => {
    for (const key of Object.keys(en) as Key[]) {
      expect(zh[key].trim(), key).not.toBe('');
      const sentence = en[key].split(' ').length > 2 && names(en[key]).length === 0;
      if (sentence) expect(zh[key], key).toMatch(/[\u4e00-\u9fff]/);
    }
  });

  it('write Chinese with Chinese punctuation', () => {
    for (const [key, text] of Object.entries(zh)) {
      if (/[\u4e00-\u9fff]/.test(text)) expect(text.replace(/\{\w+\}/g, ''), key).not.toMatch(/[,;:?()]/);
    }
    for (const word of WORDS) expect(GLOSSARY.zh[word].text).not.toMatch(/[,;:?()]/);
  });

  it('explain the same words', () => {
    for (const word of WORDS) {
      expect(GLOSSARY.en[word].text).toMatch(/\.$|\.\s/);
      expect(GLOSSARY.zh[word].text).toMatch(/[\u4e00-\u9fff]/);
    }
    expect(Object.keys(GLOSSARY.zh).sort()).toEqual([...WORDS].sort());
    expect(Object.keys(GLOSSARY.en).sort()).toEqual([...WORDS].sort());
  });
});

describe('strings', () => {
  it('are all used', () => {
    const sources = import.meta.glob<string>(['../**/*.{ts,svelte}', '!./**', '!../**/*.test.ts'], {
      query: '?raw',
      import: 'default',
      eager: true,
    });
    const code = Object.values(sources).join('\n');
    const made = [...code.matchAll(/`([a-z][a-z.-]*\.)\$\{/g)].map(([, start]) => start);
    for (const key of Object.keys(en)) {
      const used = code.includes(`'${key}'`) || made.some((start) => key.startsWith(start));
      expect(used || /^(lose|deposed)\.\d$/.test(key), key).toBe(true);
    }
  });
});

describe('translator', () => {
  it('fills in names and leaves unknown ones to be seen', () => {
    const t = translator('en');
    expect(t('verdict.leader.named', { name: 'n2', term: 3 })).toBe('n2, term 3');
    expect(t('verdict.leader.named', { name: 'n2' })).toBe('n2, term {term}');
  });
});

describe('preferredLang', () => {
  it('takes the first language there is, whatever the region', () => {
    expect(preferredLang(['fr-CA', 'zh-Hant-TW', 'en'])).toBe('zh');
    expect(preferredLang(['de'])).toBe('en');
    expect(preferredLang([])).toBe('en');
  });
});
