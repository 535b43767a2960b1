import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LANGS } from '../i18n/translate';
import { checksum, decodeLink, encodeLink, LinkError, type SharedRun } from './link';
import { problemText } from './text';

const RUN: SharedRun = {
  scenario: {
    tenure: 1,
    scheme: 'raft',
    nodes: 5,
    seed: '18446744073709551615',
    title: { en: 'One', zh: '一' },
  },
  at: 1_234_567,
  to: 2_000_000,
  hash: '0123456789abcdef',
};

async function refused(hash: string): Promise<LinkError['problem']> {
  try {
    await decodeLink(hash);
  } catch (error) {
    expect(error).toBeInstanceOf(LinkError);
    const { problem } = error as LinkError;
    for (const lang of LANGS) {
      const said = problemText(problem, lang);
      for (const part of [said.place, said.reason, said.remedy]) expect(part).toMatch(/\S{2}/);
    }
    return problem;
  }
  throw new Error(`accepted ${hash}`);
}

describe('links', () => {
  it('bring back the run', async () => {
    expect(await decodeLink(await encodeLink(RUN))).toEqual(RUN);
  });

  it('bring back any run', async () => {
    const json = fc
      .jsonValue()
      .filter((value) => JSON.stringify(value) === JSON.stringify(JSON.parse(JSON.stringify(value))));
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), json),
        fc.maxSafeNat(),
        fc.maxSafeNat(),
        fc.string(),
        async (scenario, at, to, hash) => {
          const run = JSON.parse(JSON.stringify({ scenario, at, to, hash }));
          expect(await decodeLink(await encodeLink(run))).toEqual(run);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('use characters that survive in an address', async () => {
    expect(await encodeLink(RUN)).toMatch(/^#v1\.[A-Za-z0-9_-]+\.[0-9a-f]{8}$/);
  });

  it('of another version are refused by name', async () => {
    const later = (await encodeLink(RUN)).replace('#v1.', '#v2.');
    expect(await refused(later)).toMatchObject({ code: 'link-version', place: 'v2' });
  });

  it('cut short anywhere are refused', async () => {
    const link = await encodeLink(RUN);
    for (let length = 4; length < link.length; length += 1) {
      expect((await refused(link.slice(0, length))).code).toBe('link-cut-short');
    }
  });

  it('edited anywhere are refused', async () => {
    const link = await encodeLink(RUN);
    for (let i = 4; i < link.length; i += 1) {
      if (link[i] === '.') continue;
      const other = link[i] === 'a' ? 'b' : 'a';
      expect((await refused(link.slice(0, i) + other + link.slice(i + 1))).code).toBe('link-edited');
    }
  });

  it('that are none are refused', async () => {
    expect((await refused('#nonsense')).code).toBe('link-not-ours');
    expect((await refused('#v1')).code).toBe('link-not-ours');
  });

  it('with a sound checksum over another payload are refused', async () => {
    for (const payload of ['AAAA', '!!', 'e30']) {
      const body = `v1.${payload}`;
      expect((await refused(`#${body}.${checksum(body)}`)).code).toBe('link-unreadable');
    }
    const wrong = await encodeLink({ ...RUN, at: -1 });
    expect((await refused(wrong)).code).toBe('link-unreadable');
  });

  it('that unpack without end are refused', async () => {
    const bomb = await encodeLink({ ...RUN, hash: '0'.repeat(2_000_000) });
    expect(bomb.length).toBeLessThan(8000);
    expect((await refused(bomb)).code).toBe('link-unreadable');
  });
});

describe('checksum', () => {
  it('is CRC-32', () => {
    expect(checksum('123456789')).toBe('cbf43926');
  });
});
