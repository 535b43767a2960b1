// For everybody: keyboard alone, screen reader, both languages, both themes, small screens, without motion.
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { leader, leaderOtherThan, setSpeed, text, time, visits } from './page';

const tests = visits();
const { enter } = tests;

async function violations(page: Page) {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
  );
}

/** What has the focus, as a screen reader would name it. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const it = document.activeElement;
    return it?.getAttribute('aria-label') ?? it?.textContent?.trim() ?? '';
  });
}

describe('axe finds nothing', () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const locale of ['en-US', 'zh-CN']) {
      test(`${colorScheme}, ${locale}`, async () => {
        const page = await enter({ colorScheme, locale });
        await setSpeed(page, '0.5');
        await leaderOtherThan(page, '');
        // A run with something of everything: a crash, cut links, a chosen node, a notice, many terms.
        await page.keyboard.press('Shift+C');
        await page.keyboard.press('m');
        await page.keyboard.press('2');
        await page.keyboard.press('s');
        await page.keyboard.press('Space');
        expect(await violations(page)).toEqual([]);
        await page.getByTestId('checks').click();
        expect(await violations(page)).toEqual([]);
        await page.keyboard.press('Escape');
        await page.keyboard.press('?');
        await page.getByTestId('help').waitFor();
        expect(await violations(page)).toEqual([]);
      });
    }
  }

  for (const [colorScheme, locale] of [
    ['light', 'en-US'],
    ['dark', 'zh-CN'],
  ] as const) {
    test(`${colorScheme}, ${locale}, on a phone, each sheet`, async () => {
      const page = await enter({
        colorScheme,
        locale,
        viewport: { width: 390, height: 844 },
        hasTouch: true,
      });
      await page.keyboard.press('Space');
      for (let sheet = 0; sheet < 4; sheet += 1) {
        await page.locator('.sheets button').nth(sheet).click();
        expect(await violations(page)).toEqual([]);
      }
    });
  }
});

describe('keyboard alone', () => {
  test('reaches the cluster, breaks a node, mends it, and travels in time', async () => {
    const page = await enter();
    await setSpeed(page, '0.5');
    const first = await leaderOtherThan(page, '');
    await page.keyboard.press('Space');
    expect(await page.getByTestId('lab').getAttribute('data-playing')).toBe('false');

    // The first Tab offers the way to the cluster; the next stops there are its nodes.
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to the cluster');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Crash the leader');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toMatch(/^n1: /);
    while (!(await focused(page)).startsWith(`${first}: `)) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await text(page.getByTestId('inspector'))).toContain(first);

    await page.keyboard.press('c');
    expect(await leader(page)).toBe('nobody');
    const crashedAt = await time(page, 'now');
    await page.keyboard.press('Shift+ArrowRight');
    expect(await time(page, 'now')).toBeGreaterThan(crashedAt);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('r');
    await expect.poll(() => focused(page)).toMatch(new RegExp(`^${first}: follower`));
    await page.keyboard.press('u');
    await page.keyboard.press('u');
    await page.keyboard.press('Home');
    expect(await time(page, 'now')).toBe(0);
  });

  test('skips to the cluster, and the address stays as it is', async () => {
    const page = await enter();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('stage');
    expect(new URL(page.url()).hash).toBe('');
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('cuts one direction of a link in the matrix', async () => {
    const page = await enter();
    await page.locator('[data-link="0-1"]').focus();
    await page.keyboard.press('ArrowDown');
    expect(await focused(page)).toBe('n3 to n2: open');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toBe('n3 to n2: cut');
    expect(await page.locator('[data-link="1-2"]').getAttribute('aria-pressed')).toBe('false');
  });

  test('moves the scrubber, which says what happened', async () => {
    const page = await enter();
    await setSpeed(page, '1');
    await leaderOtherThan(page, '');
    await page.keyboard.press('Space');
    const scrubber = page.getByTestId('scrubber');
    await scrubber.focus();
    // Other keys act while the slider has the focus.
    await page.keyboard.press('Space');
    expect(await page.getByTestId('lab').getAttribute('data-playing')).toBe('true');
    await page.keyboard.press('Space');
    const before = await time(page, 'now');
    await page.keyboard.press('ArrowLeft');
    expect(await time(page, 'now')).toBeLessThan(before);
    await page.keyboard.press('ArrowRight');
    expect(await scrubber.getAttribute('aria-valuetext')).toMatch(/^0\.\d{3} s: n\d is established, term 1$/);
  });

  test('opens help, closes it, and can turn single keys off', async () => {
    const page = await enter();
    await page.keyboard.press('?');
    const help = page.getByTestId('help');
    await help.waitFor();
    await help.getByRole('checkbox').uncheck();
    await page.keyboard.press('Escape');
    await expect.poll(() => help.count()).toBe(0);
    await page.keyboard.press('2');
    expect(await page.getByTestId('inspector').count()).toBe(0);
    await page.reload();
    await page.getByTestId('lab').waitFor();
    await page.keyboard.press('2');
    expect(await page.getByTestId('inspector').count()).toBe(0);
  });
});

describe('a screen reader', () => {
  test('has a table of the nodes and is told when the leader changes', async () => {
    const page = await enter();
    await setSpeed(page, '0.5');
    const first = await leaderOtherThan(page, '');
    const table = page.getByTestId('nodes');
    expect(await table.locator('tbody tr').count()).toBe(5);
    expect(await text(table.locator('tr', { hasText: first }).first())).toContain('leader');
    await expect.poll(() => text(page.getByTestId('live')), { timeout: 5000 }).toBe(`${first} leads term 1.`);
    await page.keyboard.press('Shift+C');
    await expect
      .poll(() => text(page.getByTestId('live')), { timeout: 8000 })
      .toMatch(new RegExp(`Crashed: ${first}`));
  });
});

describe('words', () => {
  test('explain themselves on focus, and close with Escape', async () => {
    const page = await enter();
    const word = page.getByRole('button', { name: 'two leaders' }).first();
    await word.focus();
    const id = await word.getAttribute('aria-describedby');
    const explanation = page.locator(`[id="${id}"]`);
    expect(await explanation.isVisible()).toBe(true);
    expect(await text(explanation)).toContain('Split brain');
    await page.keyboard.press('Escape');
    expect(await explanation.isVisible()).toBe(false);
  });

  test('explain themselves on a tap', async () => {
    const page = await enter({ viewport: { width: 390, height: 844 }, hasTouch: true, locale: 'zh-CN' });
    const word = page.getByRole('button', { name: '双主时间' });
    await word.tap();
    const explanation = page.locator(`[id="${await word.getAttribute('aria-describedby')}"]`);
    expect(await explanation.isVisible()).toBe(true);
    expect(await text(explanation)).toContain('脑裂');
  });
});

describe('the table of leaders', () => {
  test('tells when each ended, also of those that were there when it was first drawn', async () => {
    const page = await enter();
    await page.getByTestId('scenario').selectOption('leader-crash');
    await setSpeed(page, '0.5');
    const rows = page.getByTestId('tenures').locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(1);
    expect(await text(rows.first().locator('td').last())).toBe('now');
    await expect.poll(() => rows.count(), { timeout: 20_000 }).toBe(2);
    const ends = await rows.locator('td:last-child').allTextContents();
    expect(ends.filter((end) => end === 'now')).toHaveLength(1);
    expect(ends).toContain('1.000 s');
  });
});

describe('language and theme', () => {
  test('are switched, shown and remembered', async () => {
    const page = await enter();
    await page.locator('[data-command="language"]').click();
    const lang = () => page.locator('html').getAttribute('lang');
    await expect.poll(lang).toBe('zh-CN');
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const before = await ground();
    await page.keyboard.press('t');
    await page.keyboard.press('t');
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    expect(await ground()).not.toBe(before);
    await page.reload();
    await page.getByTestId('lab').waitFor();
    expect(await lang()).toBe('zh-CN');
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
  });

  test('in Chinese come without English', async () => {
    const page = await tests.site.browser.newPage({ locale: 'zh-CN' });
    try {
      const fetched: string[] = [];
      page.on('request', (request) => fetched.push(request.url()));
      await page.goto(tests.site.address);
      await page.getByTestId('lab').waitFor();
      const languages = fetched.flatMap((url) => /assets\/(chinese|english)-/.exec(url)?.[1] ?? []);
      expect(languages).toEqual(['chinese']);
    } finally {
      await page.close();
    }
  });

  test('of which nothing can be loaded: that is told in both languages', async () => {
    const page = await tests.site.browser.newPage({ locale: 'zh-CN' });
    try {
      await page.route(/assets\/(chinese|english)-/, (route) => route.abort());
      await page.goto(tests.site.address);
      await page.getByText('Reload it.').waitFor();
      await page.getByText('请重新加载').waitFor();
    } finally {
      await page.close();
    }
  });

  test('that cannot be loaded is told, and the page goes on as it is', async () => {
    const page = await tests.site.browser.newPage({ locale: 'zh-CN' });
    try {
      await page.route(/assets\/(chinese|Help|gallery)-/, (route) => route.abort());
      await page.goto(tests.site.address);
      const notice = page.locator('[data-testid="notice"][data-code="page-failed"]');
      await notice.waitFor();
      // Title, place, reason, remedy.
      expect((await notice.locator('.text > *').allTextContents()).filter(Boolean)).toHaveLength(4);
      expect(await page.locator('html').getAttribute('lang')).toBe('en');
      const putAway = async () => {
        await notice.getByRole('button').click();
        await expect.poll(() => notice.count()).toBe(0);
      };
      await putAway();
      for (const command of ['language', 'help']) {
        await page.locator(`[data-command="${command}"]`).click();
        await notice.waitFor();
        await putAway();
      }
      await page.getByTestId('scenario').selectOption('leader-crash');
      await notice.waitFor();
      await putAway();
      expect(await page.getByTestId('scenario').inputValue()).toBe('five-nodes');
      await page.keyboard.press('2');
      await page.getByTestId('inspector').waitFor();
    } finally {
      await page.close();
    }
  });
});

describe('without motion', () => {
  test('nothing plays by itself, and the cluster is shown with its leader', async () => {
    const page = await enter({ reducedMotion: 'reduce' });
    await leaderOtherThan(page, '');
    const now = await time(page, 'now');
    await page.waitForTimeout(300);
    expect(await time(page, 'now')).toBe(now);
  });
});

describe('every size', () => {
  for (const width of [320, 390, 768, 1119, 1280, 2560]) {
    test(`${width} px: nothing runs out of the window`, async () => {
      for (const locale of ['en-US', 'zh-CN']) {
        const page = await enter({ locale, viewport: { width, height: 800 } });
        const room = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect(room).toBeLessThanOrEqual(0);
      }
    });
  }
});
