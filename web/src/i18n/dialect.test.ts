import { describe, expect, it } from 'vitest';
import { PEERS } from '../model/peers';
import { dialect, inItsWords } from './dialect';
import { en as enPage, type Key } from './en';
import { enPeers } from './en-peers';
import { RULES } from './rules';
import { translator } from './translate';

const en = { ...enPage, ...enPeers };

describe('the words of a scheme', () => {
  it('take the place of the page’s own, where it has some', () => {
    const t = translator('en');
    expect(dialect(t, 'raft', 'en')).toBe(t);
    expect(dialect(t, 'kraft', 'en')('role.looking')).toBe('unattached');
    expect(dialect(t, 'zab', 'en')('role.leader')).toBe('leading');
    expect(dialect(t, 'zab', 'en')('action.crash')).toBe(t('action.crash'));
    expect(dialect(translator('zh'), 'sentinel', 'zh')('say.none')).toBe('没有主服务器。');
  });

  it('call a term an epoch in every sentence, and in good English', () => {
    for (const scheme of PEERS) {
      const t = dialect(translator('en'), scheme, 'en');
      for (const key of Object.keys(en) as Key[]) {
        expect(t(key), key).not.toMatch(/\bterms?\b/i);
        expect(t(key), key).not.toMatch(/\ba epoch/);
      }
      expect(t('event.elected', { actor: 'n1', term: 3 })).toContain('epoch 3');
    }
    for (const rule of Object.values(RULES)) {
      expect(inItsWords(rule!.text, 'kraft', 'en')).not.toMatch(/\bterms?\b|\ba epoch/);
    }
    expect(inItsWords('升高任期', 'zab', 'zh')).toBe('升高纪元');
    expect(inItsWords('a term', 'etcd', 'en')).toBe('a term');
  });

  it('stand beside a word of the page that every scheme has', () => {
    for (const key of Object.keys(en)) {
      const [base, scheme] = key.split('@');
      if (scheme === undefined) continue;
      expect(Object.keys(en), key).toContain(base);
      expect(PEERS as readonly string[], key).toContain(scheme);
    }
  });
});
