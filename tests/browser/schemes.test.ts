// Elections over a store in the Lab: each scheme is chosen, its servers are drawn, and what breaks by design is seen.
import { describe, expect, test } from 'vitest';
import { leader, leaderOtherThan, playTo, setSpeed, text, visits } from './page';

const { enter } = visits();

const SCHEMES = [
  ['etcd', 1],
  ['etcd-single', 1],
  ['milvus', 1],
  ['zookeeper', 1],
  ['kubernetes', 1],
  ['redis', 1],
  ['redlock', 5],
  ['sql', 1],
  ['sql-session', 1],
] as const;

describe('every scheme', () => {
  test('is chosen from the list, elects, and shows who holds at its servers', async () => {
    const page = await enter();
    for (const [scheme, servers] of SCHEMES) {
      await page.getByTestId('scheme').selectOption(scheme);
      const marks = page.locator('[data-testid="cluster"] [data-server]');
      expect(await marks.count(), scheme).toBe(servers);
      await playTo(page, 5_000_000, '2');
      const first = await leader(page);
      expect(first, scheme).toMatch(/^n\d$/);
      const held = page.locator('[data-testid="servers"] tbody tr', { hasText: first });
      expect(await held.count(), scheme).toBeGreaterThan(servers / 2);
      expect(await marks.first().getAttribute('aria-label'), scheme).toContain(`${first} holds`);
    }
    await page.getByTestId('scheme').selectOption('raft');
    expect(await page.locator('[data-testid="cluster"] [data-server]').count()).toBe(0);
  });

  test('has a card that says what stops its old leader', async () => {
    const page = await enter();
    await page.getByTestId('scheme').selectOption('redlock');
    await page.getByTestId('card').locator('summary').click();
    await expect.poll(() => text(page.getByTestId('card'))).toContain('There is no token');
  });
});

describe('a store', () => {
  test('keeps the record of a leader that crashed, and another leads once it is over', async () => {
    const page = await enter();
    await page.getByTestId('scheme').selectOption('etcd');
    await setSpeed(page, '2');
    const first = await leaderOtherThan(page, '');
    await page.locator('#panel-faults [data-command="crash-leader"]').click();
    const second = await leaderOtherThan(page, first);
    expect(second).not.toBe(first);
    expect(await page.getByTestId('overlap').getAttribute('data-us')).toBe('0');
  });

  test('whose clock jumps gives its row to a second leader, whom the fence tells from the first', async () => {
    const page = await enter();
    await page.getByTestId('scheme').selectOption('sql');
    await playTo(page, 5_000_000, '2');
    await page.locator('[data-testid="cluster"] [data-server]').click();
    await page.locator('[data-testid="inspector"] [data-command="clock-ahead"]').click();
    await playTo(page, 9_000_000, '2');
    expect(Number(await page.getByTestId('overlap').getAttribute('data-us'))).toBeGreaterThan(0);
    const verdict = page.locator('#check-list [data-check="believed-leaders"]');
    expect(await verdict.getAttribute('data-verdict')).toBe('broken-by-design');
    expect(await text(page.getByTestId('stale-fenced'))).toBe('fenced 0');
    expect(await text(page.getByTestId('refused'))).not.toBe('refused 0');
  });
});
