// The Lab as a person uses it: watch, break, share, and meet bad input.
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { BAD, code } from '../wasm/gallery';
import { eventRows, leader, leaderOtherThan, playTo, setSpeed, text, time, traceHash, visits } from './page';

const tests = visits();
const { enter } = tests;

describe('opening the page', () => {
  test('shows a living cluster within a second, and a leader soon after', async () => {
    const took: number[] = [];
    let page: Page | undefined;
    for (let i = 0; i < 3; i += 1) {
      const context = await tests.site.browser.newContext({ viewport: { width: 1280, height: 800 } });
      page = await context.newPage();
      tests.attend(page);
      await page.goto(tests.site.address, { waitUntil: 'commit' });
      // Alive: all nodes are drawn and virtual time has passed. The clock counts from the navigation.
      const alive = await page.waitForFunction(() => {
        const lab = document.querySelector<HTMLElement>('[data-testid="lab"]');
        const nodes = document.querySelectorAll('[data-testid="cluster"] [data-node]').length;
        return Number(lab?.dataset.now) > 0 && nodes === 5 && performance.now();
      });
      took.push((await alive.jsonValue()) as number);
    }
    console.log(`living cluster after ${took.map((ms) => `${Math.round(ms)} ms`).join(', ')}`);
    // The best of three: other work on the machine is not the page's.
    expect(Math.min(...took)).toBeLessThan(1000);
    await leaderOtherThan(page!, '');
  });
});

describe('breaking it', () => {
  test('the leader is killed and another is named', async () => {
    const page = await enter();
    await setSpeed(page, '0.5');
    const first = await leaderOtherThan(page, '');
    await page.locator('#panel-faults [data-command="crash-leader"]').click();
    await expect.poll(() => leader(page)).toBe('nobody');
    const second = await leaderOtherThan(page, first);
    expect(second).not.toBe(first);
    const crashed = page.locator(`[data-testid="cluster"] [aria-label^="${first}: crashed"]`);
    expect(await crashed.count()).toBe(1);
    expect(Number(await page.getByTestId('overlap').getAttribute('data-us'))).toBe(0);
    await page.locator('[data-command="restore"]').click();
    await expect.poll(() => crashed.count()).toBe(0);
  });

  test('cut off with a minority the leader loses its office, and never do two lead at once', async () => {
    const page = await enter();
    await setSpeed(page, '0.5');
    const first = await leaderOtherThan(page, '');
    await page.locator('[data-command="split"]').click();
    const cutAt = await time(page, 'now');
    // Nobody was told to stop: the lease ends by itself.
    await playTo(page, cutAt + 2_000_000);
    const second = await leader(page);
    expect(second).toMatch(/^n\d$/);
    expect(second).not.toBe(first);
    expect(await page.getByTestId('leaders').getAttribute('data-count')).toBe('1');
    expect(await page.getByTestId('overlap').getAttribute('data-us')).toBe('0');
    expect(
      await page.locator('#check-list [data-check="believed-leaders"]').getAttribute('data-verdict'),
    ).toBe('holds');
    // The old leader's side has cut links in both directions to the other three.
    expect(await page.locator('[data-link][aria-pressed="true"]').count()).toBe(12);
    await page.locator('[data-command="heal-all"]').click();
    await expect.poll(() => page.locator('[data-link][aria-pressed="true"]').count()).toBe(0);
  });

  test('a paused leader wakes and its late write is kept out by the fence alone', async () => {
    const page = await enter();
    await page.getByTestId('scenario').selectOption('paused-leader');
    await playTo(page, 3_000_000, '2');
    expect(await text(page.getByTestId('stale-unfenced'))).toBe('unfenced 1');
    expect(await text(page.getByTestId('stale-fenced'))).toBe('fenced 0');
    expect(await text(page.getByTestId('refused'))).not.toBe('refused 0');
  });

  test('what was done can be undone: the former future is back', async () => {
    const page = await enter();
    await playTo(page, 1_000_000);
    const end = await time(page, 'horizon');
    const former = await traceHash(page);
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+ArrowRight');
    await page.locator('#panel-faults [data-command="crash-leader"]').click();
    expect(await time(page, 'horizon')).toBeLessThan(end);
    await page.locator('[data-command="undo"]').click();
    await page.keyboard.press('End');
    expect(await time(page, 'now')).toBe(end);
    expect(await traceHash(page)).toBe(former);
  });
});

describe('a link', () => {
  async function shared() {
    const page = await enter();
    await playTo(page, 700_000);
    await page.locator('#panel-faults [data-command="crash-leader"]').click();
    await playTo(page, 2_000_000);
    await page.getByTestId('scrubber').fill('1500000');
    await page.locator('[data-command="share"]').click();
    await expect.poll(() => page.url()).toContain('#v1.');
    return page;
  }

  test('reloaded, brings the same run back', async () => {
    const page = await shared();
    const seen = async () => ({
      hash: await traceHash(page),
      now: await time(page, 'now'),
      horizon: await time(page, 'horizon'),
      leader: await leader(page),
      events: await page.getByTestId('events').getAttribute('data-total'),
      rows: await eventRows(page),
    });
    const before = await seen();
    expect(before.rows.length).toBeGreaterThan(5);
    await page.reload();
    await page.locator('[data-testid="notice"]').waitFor();
    await expect.poll(seen).toEqual(before);
    expect(before.now).toBe(1_500_000);
  });

  test('of an unknown version, cut short, edited or without a run is refused, and the page lives', async () => {
    const page = await shared();
    const good = new URL(page.url()).hash;
    const middle = Math.floor(good.length / 2);
    const bad = {
      'link-version': good.replace('#v1.', '#v9.'),
      'link-cut-short': good.slice(0, middle),
      'link-edited': good.slice(0, middle) + (good[middle] === 'x' ? 'y' : 'x') + good.slice(middle + 1),
      'link-not-ours': '#hello',
    };
    for (const [code, hash] of Object.entries(bad)) {
      const other = await enter({ hash });
      const notice = other.locator(`[data-testid="notice"][data-code="${code}"]`);
      await notice.waitFor();
      // Title, place, reason, remedy, and what the page does instead.
      expect((await notice.locator('.text > *').allTextContents()).filter(Boolean)).toHaveLength(5);
      const before = await time(other, 'now');
      await expect.poll(() => time(other, 'now')).toBeGreaterThan(before);
      await notice.getByRole('button').click();
      await expect.poll(() => notice.count()).toBe(0);
    }
  });

  test('pasted into the open page is opened too', async () => {
    const page = await shared();
    const { hash } = new URL(page.url());
    const other = await enter();
    await other.evaluate((address) => {
      location.hash = address;
    }, hash);
    await other.locator('[data-testid="notice"]').waitFor();
    expect(await traceHash(other)).toBe(await traceHash(page));
    expect(await time(other, 'now')).toBe(1_500_000);
  });
});

describe('the gallery', () => {
  test('says what to look at in a scenario that is chosen, in the language of the page', async () => {
    const page = await enter();
    const lesson = page.getByTestId('lesson').locator('p');
    expect(await lesson.isVisible()).toBe(false);
    await page.getByTestId('scenario').selectOption('minority-leader');
    await lesson.waitFor();
    expect(await text(lesson)).toContain('three nodes are on the other side');
    await page.locator('[data-command="language"]').click();
    await expect.poll(() => text(lesson)).toContain('另一边有三个节点');
    await page.getByTestId('lesson').locator('summary').click();
    expect(await lesson.isVisible()).toBe(false);
  });
});

describe('bad input', () => {
  test('a setting that cannot run is refused and put back', async () => {
    const page = await enter();
    const heartbeat = page.getByRole('spinbutton', { name: 'Heartbeat' });
    await heartbeat.fill('9000');
    await heartbeat.press('Enter');
    await page.locator('[data-testid="notice"]').waitFor();
    expect(await heartbeat.inputValue()).toBe('50');
    await leaderOtherThan(page, '');
  });

  test('a file that is no scenario is refused, one that is runs', async () => {
    const page = await enter();
    const file = (text: string) => ({
      name: 'run.json',
      mimeType: 'application/json',
      buffer: Buffer.from(text),
    });
    const input = page.locator('input[type="file"]');
    await input.setInputFiles(file('{"tenure":1,"scheme":"raft","nodez":3}'));
    const notice = page.locator('[data-testid="notice"]');
    await notice.waitFor();
    expect(await text(notice)).toContain('nodez');
    await input.setInputFiles(
      file('{"tenure":1,"scheme":"raft","nodes":3,"seed":"12","rulesOff":["pre-vote"]}'),
    );
    await expect.poll(() => page.locator('[data-testid="cluster"] [data-node]').count()).toBe(3);
    expect(await page.getByTestId('seed').inputValue()).toBe('12');
    // A run without a rule is never taken for one of the protocol.
    expect(await page.locator('#panel-faults .off').allTextContents()).toEqual([
      'Switched off: the rule pre-vote',
    ]);

    // The same by dropping it anywhere.
    await page.evaluate(() => {
      const dataTransfer = new DataTransfer();
      const scenario = '{"tenure":1,"scheme":"raft","nodes":7}';
      dataTransfer.items.add(new File([scenario], 'dropped.json', { type: 'application/json' }));
      const drop = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true });
      document.querySelector('main')?.dispatchEvent(drop);
    });
    await expect.poll(() => page.locator('[data-testid="cluster"] [data-node]').count()).toBe(7);
  });
});

describe('the gallery of bad scenarios', () => {
  for (const [locale, words] of [
    ['en-US', /^["A-Z].*\.$/],
    ['zh-CN', /[\u4e00-\u9fff].*。$/],
  ] as const) {
    test(`is refused one by one, by code, place, reason and remedy: ${locale}`, async () => {
      const page = await enter({ locale });
      const files = readdirSync(BAD);
      expect(files.length).toBeGreaterThanOrEqual(40);
      for (const file of files) {
        await page.locator('input[type="file"]').setInputFiles(fileURLToPath(new URL(file, BAD)));
        const notice = page.locator(`[data-testid="notice"][data-code="${code(file)}"]`);
        await notice.waitFor();
        const [, place, reason, remedy] = await notice.locator('.text > *').allTextContents();
        expect(place, file).not.toBe('');
        expect(reason, file).toMatch(words);
        expect(remedy, file).toMatch(words);
        await notice.getByRole('button').click();
      }
      const before = await time(page, 'now');
      await expect.poll(() => time(page, 'now')).toBeGreaterThan(before);
    });
  }
});

describe('an engine that stops', () => {
  /** A page whose engine traps at its next seek once `trap` is called. */
  async function trapping() {
    const context = await tests.site.browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    tests.attend(page);
    await page.addInitScript(() => {
      const instantiate = WebAssembly.instantiate.bind(WebAssembly) as (
        module: WebAssembly.Module,
        imports: WebAssembly.Imports,
      ) => Promise<WebAssembly.Instance>;
      const patched = async (module: WebAssembly.Module, imports: WebAssembly.Imports) => {
        const { exports } = await instantiate(module, imports);
        const seek = exports.world_seek as (...args: unknown[]) => unknown;
        const world_seek = (...args: unknown[]) => {
          if (!('trap' in window)) return seek(...args);
          delete window.trap;
          throw new WebAssembly.RuntimeError('unreachable');
        };
        return { instance: { exports: { ...exports, world_seek } }, module };
      };
      WebAssembly.instantiate = patched as unknown as typeof WebAssembly.instantiate;
    });
    await page.goto(tests.site.address);
    await page.getByTestId('lab').waitFor();
    await playTo(page, 600_000);
    return { page, trap: () => page.evaluate(() => Object.assign(window, { trap: true })) };
  }

  const stopped = '[data-testid="notice"][data-code="engine-stopped"]';

  test('is started again, replayed to where it was, and goes on', async () => {
    const { page, trap } = await trapping();
    const before = { now: await time(page, 'now'), hash: await traceHash(page) };
    await trap();
    await page.keyboard.press('Home');
    await page.locator(stopped).waitFor();
    expect({ now: await time(page, 'now'), hash: await traceHash(page) }).toEqual(before);
    await playTo(page, before.now + 100_000);
  });

  test('inside opening a link is told, and the page goes on', async () => {
    const { page, trap } = await trapping();
    await page.locator('[data-command="share"]').click();
    await expect.poll(() => page.url()).toContain('#v1.');
    const { hash } = new URL(page.url());
    const opened = async () => {
      await page.evaluate((address) => {
        location.hash = '';
        location.hash = address;
      }, hash);
    };
    await trap();
    await opened();
    await page.locator(stopped).waitFor();
    await playTo(page, 200_000);
    await opened();
    await page.getByText('Opened from a link').waitFor();
    expect(await page.getByTestId('lab').getAttribute('data-playing')).toBe('false');
  });
});
