// Time as a person meets it: the line over the cluster, the timeline below it, the end of the run; on a phone too.
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { leaderOtherThan, playTo, setSpeed, text, time, visits } from './page';

const tests = visits();
const { enter } = tests;

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

const span = (page: Page) => page.locator('.zoom .span').textContent();
const caption = (page: Page) => text(page.getByTestId('caption').locator('p'));
const timeline = async (page: Page) => (await page.getByTestId('timeline').boundingBox())!;

describe('the line over the cluster', () => {
  test('says what to try, then what happened', async () => {
    const page = await enter();
    await setSpeed(page, '0.5');
    const first = await leaderOtherThan(page, '');
    await expect.poll(() => caption(page)).toBe(`${first} leads. Crash it and watch who takes over.`);
    await page.getByTestId('caption').getByRole('button').click();
    await expect.poll(() => caption(page)).toContain(`${first} `);
    const second = await leaderOtherThan(page, first);
    await expect.poll(() => caption(page)).toMatch(new RegExp(`^\\d\\.\\d{3} s: ${second} is established`));
    expect(await page.getByTestId('caption').getByRole('button').count()).toBe(0);
  });

  test('says that the run is over; it is played again or goes on', async () => {
    const page = await enter();
    await page.getByTestId('scenario').selectOption('paused-leader');
    await setSpeed(page, '2');
    await page.waitForFunction(() => {
      const slider = document.querySelector<HTMLInputElement>('[data-testid="scrubber"]')!;
      slider.value = slider.max;
      slider.dispatchEvent(new Event('input', { bubbles: true }));
      return document.querySelector<HTMLElement>('[data-testid="lab"]')?.dataset.playing === 'false';
    });
    const end = await time(page, 'now');
    expect(await caption(page)).toBe(`The run ends here, after ${end / 1_000_000} s.`);
    await page.getByTestId('caption').getByRole('button', { name: 'Run on' }).click();
    await expect.poll(() => time(page, 'now')).toBeGreaterThan(end);
    // What had happened is still there.
    expect(await text(page.getByTestId('stale-unfenced'))).toBe('unfenced 1');
    await page.keyboard.press('Home');
    expect(await time(page, 'horizon')).toBeGreaterThan(end);
  });
});

describe('the timeline', () => {
  test('is zoomed by wheel and keys, moved by dragging, and a click goes there', async () => {
    const page = await enter();
    await playTo(page, 1_000_000);
    const before = await span(page);
    await page.keyboard.press('z');
    expect(await span(page)).not.toBe(before);
    await page.keyboard.press('Shift+Z');
    expect(await span(page)).toBe(before);
    const box = await timeline(page);
    await page.mouse.move(box.x + box.width / 2, box.y + 40);
    const held = await text(page.getByTestId('tip').locator('span'));
    await page.mouse.wheel(0, -400);
    await expect.poll(() => span(page)).not.toBe(before);
    // The instant below the pointer stays there.
    expect(await text(page.getByTestId('tip').locator('span'))).toBe(held);
    const now = await time(page, 'now');
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 100, box.y + 40, { steps: 4 });
    await page.mouse.up();
    expect(await time(page, 'now')).toBe(now);
    await page.mouse.click(box.x + box.width / 4, box.y + 40);
    expect(await time(page, 'now')).toBeLessThan(now);
  });

  test('tells what lies below the pointer, and in the lane whose name has the focus', async () => {
    const page = await enter();
    await playTo(page, 600_000);
    const name = await leaderOtherThan(page, '');
    const tip = page.getByTestId('tip');
    expect(await tip.count()).toBe(0);
    const box = await timeline(page);
    const lane = (await page.locator('.timeline button', { hasText: name }).boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.4, lane.y + lane.height / 2);
    expect(await text(tip)).toMatch(new RegExp(`^0\\.\\d{3} s\\s+${name} leads term 1$`));
    await page.mouse.move(box.x + box.width / 2, box.y - 200);
    expect(await tip.count()).toBe(0);
    await page.locator('.timeline button', { hasText: name }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Shift+Tab');
    expect(await text(tip)).toContain(`${name} leads term 1`);
  });
});

describe('on a phone', () => {
  test('stage, time and every lane are in sight together', async () => {
    const page = await enter(PHONE);
    await leaderOtherThan(page, '');
    const box = await timeline(page);
    expect(box.height).toBeGreaterThan(180);
    const bar = (await page.getByRole('navigation').boundingBox())!;
    expect(box.y + box.height).toBeLessThanOrEqual(bar.y);
    const drawing = (await page.getByTestId('cluster').boundingBox())!;
    expect(drawing.y + drawing.height).toBeLessThanOrEqual(box.y);
  });

  test('two fingers zoom the timeline, and what was between them stays between them', async () => {
    const page = await enter(PHONE);
    await playTo(page, 1_000_000);
    const before = await span(page);
    const box = await timeline(page);
    const session = await page.context().newCDPSession(page);
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...xs: number[]) =>
      session.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: xs.map((x, id) => ({ id, x: box.x + x, y: box.y + 60 })),
      });
    const now = await time(page, 'now');
    await touch('touchStart', 120, 160);
    for (const by of [10, 20, 30, 40, 50]) await touch('touchMove', 120 - by, 160 + by);
    await touch('touchEnd');
    await expect.poll(() => span(page)).not.toBe(before);
    expect(Number.parseFloat((await span(page)) ?? '')).toBeLessThan(600);
    // A pinch is no tap.
    expect(await time(page, 'now')).toBe(now);
  });

  test('an open sheet leaves the whole stage in sight', async () => {
    const page = await enter({ ...PHONE, reducedMotion: 'reduce' });
    await page.locator('.sheets button').first().click();
    const sheet = page.locator('#panel-faults');
    await sheet.waitFor();
    const top = (await sheet.boundingBox())!.y;
    const stage = (await page.locator('#stage').boundingBox())!;
    expect(stage.y + stage.height).toBeLessThanOrEqual(top + 8);
    expect(stage.y).toBeGreaterThan(-1);
  });
});
