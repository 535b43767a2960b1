// The replicated log as a person meets it: there with a run that has one, aligned on index, and explained.
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { playTo, text, time, visits } from './page';

const tests = visits();
const { enter } = tests;

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

const panel = (page: Page) => page.getByTestId('log');
const row = (page: Page, node: number) => page.locator(`[data-testid="log"] [data-row="${node}"]`);
const scroller = (page: Page) => panel(page).locator('[tabindex="0"]');

/** Opens a scenario of the gallery and plays it to an instant. */
async function watch(page: Page, id: string, us: number): Promise<void> {
  await page.getByTestId('scenario').selectOption(id);
  await panel(page).waitFor();
  await playTo(page, us);
}

/** How much of a row is drawn as not committed, in pixels. */
function outlined(page: Page, node: number): Promise<number> {
  return row(page, node)
    .locator('.stretch.open')
    .evaluateAll((parts) => parts.reduce((sum, part) => sum + part.getBoundingClientRect().width, 0));
}

describe('a run without a log', () => {
  test('shows none, and does not load what would', async () => {
    const page = await enter();
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(request.url()));
    await playTo(page, 300_000);
    expect(await panel(page).count()).toBe(0);
    expect(loaded.filter((url) => url.includes('LogPanel'))).toEqual([]);
    await watch(page, 'uncommitted-tail', 300_000);
    expect(loaded.filter((url) => url.endsWith('.js')).join()).toContain('LogPanel');
    await page.getByTestId('scenario').selectOption('five-nodes');
    await expect.poll(() => panel(page).count()).toBe(0);
  });
});

describe('the log', () => {
  test('shows the tail that was never committed, and how it is overwritten', async () => {
    const page = await enter();
    await watch(page, 'uncommitted-tail', 1_700_000);
    expect(await panel(page).locator('[data-row]').count()).toBe(5);
    const [stuck, ahead] = await Promise.all([outlined(page, 0), outlined(page, 3)]);
    expect(stuck).toBeGreaterThan(4 * 14);
    expect(stuck).toBeGreaterThan(ahead);
    const committed = Number(await row(page, 0).getAttribute('data-committed'));
    await playTo(page, 3_000_000);
    expect(Number(await row(page, 0).getAttribute('data-committed'))).toBeGreaterThan(committed + 10);
    const label = await row(page, 0).getAttribute('aria-label');
    expect(label).toMatch(
      /^n1: entries \d+ to \d+ of term 2; committed up to \d+, applied up to \d+, on disk up to \d+\./,
    );
    expect(label).toMatch(/n5 knows it to have \d+ and sends \d+ next\.$/);
    // One for each follower, and one that says what it means.
    expect(await panel(page).locator('.match').count()).toBe(5);
  });

  test('tells of an entry below the pointer, and which node is which', async () => {
    const page = await enter();
    await watch(page, 'constrained-election', 2_140_000);
    const box = (await row(page, 2).boundingBox())!;
    const view = (await scroller(page).boundingBox())!;
    await page.mouse.move(view.x + view.width - 30, box.y + box.height / 2);
    const tip = page.getByTestId('log-tip');
    expect(await text(tip)).toMatch(/^n3: entry \d+ of term 1: (not )?committed/);
    const shown = (await tip.boundingBox())!;
    expect(shown.x + shown.width).toBeLessThanOrEqual(view.x + view.width);
    await page.mouse.move(view.x, view.y - 80);
    expect(await tip.count()).toBe(0);
    await scroller(page).focus();
    await page.keyboard.press('Shift+Tab');
    expect(await text(tip)).toBe(await row(page, 4).getAttribute('aria-label'));
    expect(await row(page, 0).getAttribute('aria-label')).toMatch(
      /^n1 is down: entries \d+ to \d+ of term 1 on its disk\./,
    );
    await panel(page).getByRole('button', { name: 'n2' }).click();
    expect(await text(page.getByTestId('inspector'))).toContain('n2');
  });

  test('follows its end until it is scrolled away by keys, which do not move time', async () => {
    const page = await enter();
    await watch(page, 'uncommitted-tail', 3_000_000);
    const at = () => scroller(page).evaluate((it) => it.scrollLeft);
    const end = await at();
    expect(end).toBeGreaterThan(0);
    const now = await time(page, 'now');
    await scroller(page).focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(at).toBeLessThan(end);
    await page.keyboard.press('Home');
    await expect.poll(at).toBe(0);
    expect(await time(page, 'now')).toBe(now);
    await page.keyboard.press('Space');
    await page.waitForTimeout(200);
    expect(await at()).toBe(0);
    await page.keyboard.press('End');
    await page.waitForTimeout(400);
    expect(await at()).toBeGreaterThan(end);
  });

  test('counts what clients of the store were answered, and explains its words', async () => {
    const page = await enter();
    await watch(page, 'stale-lease-read', 3_300_000);
    for (const errand of ['write', 'log-read', 'confirmed-read', 'leased-read', 'lease']) {
      const shown = panel(page).locator(`[data-errand="${errand}"]`);
      expect(Number(await shown.getAttribute('data-answered')), errand).toBeGreaterThan(0);
    }
    const word = panel(page).getByRole('button', { name: /^by read index/ });
    await word.focus();
    const explanation = page.locator(`[id="${await word.getAttribute('aria-describedby')}"]`);
    expect(await explanation.isVisible()).toBe(true);
    expect(await text(explanation)).toContain('a majority confirms');
  });

  test('has words for all that its events tell', async () => {
    for (const locale of ['en-US', 'zh-CN']) {
      const page = await enter({ locale });
      await watch(page, 'constrained-election', 2_600_000);
      const groups = page.locator('#panel-events .chips button[aria-pressed="false"]');
      while ((await groups.count()) > 0) await groups.first().click();
      const list = page.locator('#panel-events .list');
      for (const share of [0.2, 0.5, 0.8, 1]) {
        await list.evaluate((it, part) => it.scrollTo(0, it.scrollHeight * part), share);
        await page.waitForTimeout(50);
        const rows = (await page.locator('[data-testid="events"] li').allTextContents()).join('\n');
        expect(rows).not.toMatch(/store-client-|event\.|#\d|message\.|undefined|\{\w+\}/);
      }
      await page.getByTestId('checks').click();
      const checks = (await page.locator('#check-list strong').allTextContents()).join('\n');
      expect(checks).not.toMatch(/[a-z]-[a-z]/);
    }
  });
});

describe('for everybody', () => {
  for (const [colorScheme, locale] of [
    ['light', 'en-US'],
    ['dark', 'zh-CN'],
  ] as const) {
    test(`axe finds nothing: ${colorScheme}, ${locale}`, async () => {
      const page = await enter({ colorScheme, locale });
      await watch(page, 'uncommitted-tail', 1_700_000);
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 160)}`)).toEqual([]);
    });
  }

  test('on a phone it scrolls by itself, and the page stays as wide as it is', async () => {
    const page = await enter({ ...PHONE, locale: 'zh-CN' });
    await page.locator('.sheets button').nth(1).tap();
    await page.getByTestId('scenario').selectOption('uncommitted-tail');
    await page.keyboard.press('Escape');
    await playTo(page, 3_000_000);
    await panel(page).waitFor();
    const { page: beyond, log } = await page.evaluate(() => {
      const it = document.querySelector('[data-testid="log"] [tabindex="0"]')!;
      return {
        page: document.documentElement.scrollWidth - window.innerWidth,
        log: it.scrollWidth - it.clientWidth,
      };
    });
    expect(beyond).toBeLessThanOrEqual(0);
    expect(log).toBeGreaterThan(0);
  });

  test('stage, log and timeline of a usual window are in sight together', async () => {
    const page = await enter();
    await watch(page, 'uncommitted-tail', 1_700_000);
    const room = await page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight);
    expect(room).toBeLessThanOrEqual(2);
    const bottom = async (id: string) => {
      const box = (await page.getByTestId(id).boundingBox())!;
      return box.y + box.height;
    };
    const [cluster, log] = [await bottom('cluster'), (await panel(page).boundingBox())!];
    expect(cluster).toBeLessThanOrEqual(log.y);
    expect(log.y + log.height).toBeLessThanOrEqual((await page.getByTestId('timeline').boundingBox())!.y);
  });
});
