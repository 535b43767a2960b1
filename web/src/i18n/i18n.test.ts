import { readdirSync, readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { MESSAGES } from '../engine/layout';
import { SCHEMES } from '../model/scenario';
import { loadEngine } from '../testing/wasm';
import { en as enPage, type Key } from './en';
import { enPeers } from './en-peers';
import { WORDS } from './glossary';
import { GLOSSARY } from './glossary-en';
import { GLOSSARY_ZH } from './glossary-zh';
import { PRESETS } from './presets';
import { PRESETS_ZH } from './presets-zh';
import { REFUSALS_ZH } from './refusals-zh';
import { RULES } from './rules';
import { RULES_ZH } from './rules-zh';
import { preferredLang, translator } from './translate';
import { zh as zhPage } from './zh';
import { zhPeers } from './zh-peers';

const en = { ...enPage, ...enPeers };
const zh = { ...zhPage, ...zhPeers };

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
      const own = text.replace(/\{\w+\}/g, '');
      if (/[\u4e00-\u9fff]/.test(text)) expect(own, key).not.toMatch(/[,;:?()]/);
      // What only joins names is half a sentence in Chinese all the same.
      else expect(text, key).not.toMatch(/\}[,;:?]/);
    }
    // What is to be typed is typed as JSON is.
    for (const [code, { reason, remedy }] of Object.entries(REFUSALS_ZH))
      expect(reason + remedy, code).not.toMatch(/"[：，]/);
    for (const word of WORDS) expect(GLOSSARY_ZH[word].text).not.toMatch(/[,;:?()]/);
  });

  it('explain the same words', () => {
    for (const word of WORDS) {
      expect(GLOSSARY[word].text).toMatch(/\.$|\.\s/);
      expect(GLOSSARY_ZH[word].text).toMatch(/[\u4e00-\u9fff]/);
    }
    expect(Object.keys(GLOSSARY_ZH).sort()).toEqual([...WORDS].sort());
    expect(Object.keys(GLOSSARY).sort()).toEqual([...WORDS].sort());
  });
});

describe('what the engine refuses in a file', () => {
  // Each is refused by its code, or a test of the engine fails.
  const bad = new URL('../../../scenarios/bad/', import.meta.url);
  const filed = new Set(readdirSync(bad).map((file) => file.split('.')[0]));

  it('has words in Chinese, and a file that shows it', () => {
    const read = (name: string) =>
      readFileSync(new URL(`../../../sim/src/scenario/${name}.rs`, import.meta.url), 'utf8');
    const reader = ['by_store', 'file', 'fits', 'parts', 'reader', 'zab']
      .map(read)
      .join('\n')
      .replace(/#\[cfg\(test\)\][\s\S]*?\n\}\n/g, '');
    // A code stands between a place and a reason, which has several words or is made of them.
    const named = reader.matchAll(/(?:slip\(|,)\s*"([a-z]+(?:-[a-z]+)*)",\s*(?:&|reason|mistake|" ?\S+ )/g);
    const codes = new Set([...named].map(([, code]) => code));
    for (const known of ['syntax', 'no-version', 'nobody-votes', 'no-voters', 'too-many-writes', 'bad-seed'])
      expect(codes).toContain(known);
    for (const code of new Set([...codes, ...filed])) expect(Object.keys(REFUSALS_ZH)).toContain(code);
    for (const code of codes) expect(filed).toContain(code);
  });
});

describe('what the engine names', () => {
  it('is explained in both languages, and nothing else is', async () => {
    const { World } = await loadEngine();
    const worlds = SCHEMES.map((scheme) => new World(JSON.stringify({ tenure: 1, scheme })));
    worlds.push(new World(JSON.stringify({ tenure: 1, scheme: 'raft', raft: { log: true } })));
    worlds.push(new World(JSON.stringify({ tenure: 1, scheme: 'kraft', brokers: {} })));
    for (const [named, english, chinese] of [
      [worlds.flatMap((world) => world.rules()), RULES, RULES_ZH],
      [worlds.flatMap((world) => world.presets?.() ?? []), PRESETS, PRESETS_ZH],
    ] as const) {
      const names = [...new Set(named)].sort();
      expect(names.length).toBeGreaterThan(10);
      expect(Object.keys(english).sort()).toEqual(names);
      expect(Object.keys(chinese).sort()).toEqual(names);
      for (const name of names) {
        expect(english[name]!.text, name).toMatch(/\.$/);
        expect(chinese[name]!.text, name).toMatch(/[\u4e00-\u9fff].*。$/s);
        expect(chinese[name]!.name + chinese[name]!.text, name).not.toMatch(/[,;:?]/);
      }
    }
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
      // What a scheme says in its own words is asked for by the key of the others.
      const [base, scheme] = key.split('@');
      const own = scheme !== undefined && base in en && (SCHEMES as readonly string[]).includes(scheme);
      const numbered = /^(lose|lost|deposed|refusal|refused)\.\d+(@\w+)?$/.test(key);
      // The word that a field of an inspected node may have.
      const word = `field.${key.split('.')[0]}` in en;
      expect(used || own || numbered || word, key).toBe(true);
    }
  });
});

describe('the codes of the engine', () => {
  const source = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
  const numbered = (what: string) => Object.keys(en).filter((key) => key.startsWith(`${what}.`));

  it('each have words: why a message is refused', () => {
    const named = (scheme: string, first: number, own = '') => {
      const [, variants] = /pub enum Refusal \{([\s\S]*?)\n {4}\}/.exec(
        source(`core/src/${scheme}/refuse.rs`),
      )!;
      return [...variants.matchAll(/^\s+(\w+),$/gm)].map((_, code) => `refusal.${first + code}${own}`);
    };
    expect(named('raft', 0)).toContain('refusal.13');
    expect(numbered('refusal')).toEqual([
      ...named('raft', 0),
      ...named('zab', 100),
      ...named('sentinel', 0, '@sentinel'),
      ...named('kraft', 0, '@kraft'),
    ]);
  });

  it('each have words: what a sentinel tells of, and a broker', () => {
    const [, list] = /NAMES: \[&str; \d+\] = \[([\s\S]*?)\];/.exec(
      source('sim/src/scheme/sentinel/news.rs'),
    )!;
    // The first stands for what has no name.
    const names = [...list.matchAll(/"(.+)"/g)].map(([, name]) => name).slice(1);
    const [, told] = /const NEWS: \[&str; \d+\] = \[([\s\S]*?)\];/.exec(source('sim/src/brokers/code.rs'))!;
    // The last is told to nobody: the partition shows its ISR.
    const brokers = [...told.matchAll(/"(.+)"/g)].slice(0, -1);
    expect(numbered('news')).toEqual([
      ...names.map((_, i) => `news.${i + 1}`),
      ...brokers.map((_, i) => `news.${i + 40}`),
    ]);
    names.forEach((name, i) => {
      // One is the simulator's own: no Redis gives up so.
      if (name !== '-failover-abort-overtaken') expect(en[`news.${i + 1}` as Key]).toContain(`(${name})`);
    });
  });

  it('each have words: why a resource refuses', () => {
    const [, arms] = /fn refusal_code[\s\S]*?match refused \{([\s\S]*?)\}\n\}/.exec(
      source('sim/src/resource.rs'),
    )!;
    const beside = [...source('sim/src/resource.rs').matchAll(/pub const \w+: u64 = (\d+);/g)];
    const codes = [...arms.matchAll(/=> (\d+),/g), ...beside].map(([, code]) => `refused.${code}`);
    expect(numbered('refused')).toEqual(codes);
  });

  it('each have words: why a leader is deposed', () => {
    const [, variants] = /pub enum Ended \{([\s\S]*?)\n\}/.exec(source('sim/src/physics/trace.rs'))!;
    const codes = [...variants.matchAll(/= (\d+),/g)].map(([, code]) => `deposed.${code}`);
    expect(codes).toContain('deposed.7');
    expect(numbered('deposed')).toEqual(codes);
  });
});

describe('the checks of the engine', () => {
  it('have the same names in Chinese on the page and in the titles that the engine makes', () => {
    const story = readFileSync(new URL('../../../sim/src/minimise/story.rs', import.meta.url), 'utf8');
    const [, arms] = /fn chinese\(check: Check\)[^{]*\{\s*match check \{([\s\S]*?)\n {4}\}/.exec(story)!;
    const named = [...arms.matchAll(/Check::\w+ => "(.+)"/g)].map(([, name]) => name);
    // Both are in the order of the engine.
    const checks = (Object.keys(en) as Key[]).filter((key) => /^check\.[a-z-]+$/.test(key));
    expect(named).toEqual(checks.map((key) => zh[key]));
  });
});

describe('the messages of the engine', () => {
  it('each have a name on the page', () => {
    const source = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
    const codes = [
      'sim/src/scheme/raft/code.rs',
      'sim/src/scheme/zab/code.rs',
      'sim/src/scheme/sentinel/code.rs',
      'sim/src/scheme/kraft/code.rs',
      'sim/src/brokers/code.rs',
      'sim/src/packet.rs',
    ]
      .flatMap((path) => [...source(path).matchAll(/pub\(crate\) const \w+: i64 = (\d+);/g)])
      .map(([, code]) => code);
    expect(codes).toContain('40');
    expect(Object.keys(MESSAGES).sort()).toEqual(codes.sort());
  });
});

describe('the actions of the engine', () => {
  const source = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

  it('each have a name on the page', () => {
    const [, list] = /pub const NAMES[^=]*= \[([\s\S]*?)\];/.exec(source('sim/src/fault.rs'))!;
    const actions = [...list.matchAll(/"([a-z-]+)"/g)].map(([, name]) => name);
    expect(actions).toContain('slow');
    // To heal all is a healing.
    const named = actions.filter((name) => name !== 'heal-all');
    expect(Object.keys(en)).toEqual(expect.arrayContaining(named.map((name) => `faults.fault.${name}`)));
  });

  it('each have words for how a message or a record is lost', () => {
    const codes = (name: string) => {
      const [, arms] = new RegExp(`pub enum ${name} \\{([\\s\\S]*?)\n\\}`).exec(
        source('sim/src/physics/trace.rs'),
      )!;
      return [...arms.matchAll(/= (\d+),/g)].map(([, code]) => code);
    };
    const numbered = (what: string) =>
      Object.keys(en).filter((key) => new RegExp(`^${what}\\.\\d$`).test(key));
    expect(numbered('lose')).toEqual(codes('Loss').map((code) => `lose.${code}`));
    // What a wiped disk lost has no number.
    const lost = codes('Lost').filter((code) => code !== '2');
    expect(numbered('lost')).toEqual(lost.map((code) => `lost.${code}`));
  });
});

describe('the words about peers', () => {
  beforeEach(() => {
    vi.resetModules();
  });

  it('come when they are asked for, to what translates already and to a language that comes later', async () => {
    const { loadLanguage, loadPeersWords } = await import('./languages');
    const { isKey, translator } = await import('./translate');
    const [english, chinese] = [translator('en'), translator('zh')];
    await loadLanguage('en');
    expect([isKey('page.title'), isKey('peer.tick')]).toEqual([true, false]);
    await loadPeersWords();
    expect(english('peer.tick')).toBe(enPeers['peer.tick']);
    await loadLanguage('zh');
    expect(chinese('peer.tick')).toBe(zhPeers['peer.tick']);
    expect(enPage).not.toHaveProperty(['peer.tick']);
  });
});

describe('translator', () => {
  it('fills in names and leaves unknown ones to be seen', () => {
    const t = translator('en');
    expect(t('say.leader', { name: 'n2', term: 3 })).toBe('n2 leads term 3.');
    expect(t('say.leader', { name: 'n2' })).toBe('n2 leads term {term}.');
  });
});

describe('preferredLang', () => {
  it('takes the first language there is, whatever the region', () => {
    expect(preferredLang(['fr-CA', 'zh-Hant-TW', 'en'])).toBe('zh');
    expect(preferredLang(['de'])).toBe('en');
    expect(preferredLang([])).toBe('en');
  });
});
