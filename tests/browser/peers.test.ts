// ZooKeeper's own election, Redis Sentinel and Kafka's controllers in the Lab: each is chosen and set, and what is particular to
// it is seen, before its leader crashes and after.
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventRows, leader, playTo, setSpeed, text, time, visits } from './page';

const visit = visits();
const { enter } = visit;

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

const nodes = (page: Page) => page.locator('[data-testid="nodes"] tbody tr');
const servers = (page: Page) => page.locator('[data-testid="servers"] tbody tr');
const inspector = (page: Page) => page.getByTestId('inspector');

/** Goes over to a scheme and waits until it runs: what runs it is fetched first. */
async function choose(page: Page, scheme: 'zab' | 'sentinel' | 'kraft', sign: string): Promise<void> {
  await page.getByTestId('scheme').selectOption(scheme);
  await expect.poll(() => text(page.locator('#panel-setup')), { timeout: 20_000 }).toContain(sign);
}

/** Waits until somebody is named as the leader who was not before. */
async function anotherThan(page: Page, former: string): Promise<string> {
  await expect.poll(() => leader(page), { timeout: 30_000 }).toMatch(/^[bns]\d$/);
  await expect.poll(() => leader(page), { timeout: 30_000 }).not.toBe(former);
  return leader(page);
}

/**
 * What stands in the rows and on the stage at any instant since one, until now: states that hardly last are visited rather than
 * waited for. The run stands still from then on.
 */
async function seenSince(page: Page, since: number, step: number): Promise<string> {
  const playing = await page.getByTestId('lab').getAttribute('data-playing');
  await page.locator('#stage').focus();
  if (playing === 'true') await page.keyboard.press('Space');
  const until = await time(page, 'now');
  return page.evaluate(
    async ({ since, until, step }) => {
      const scrubber = document.querySelector<HTMLInputElement>('[data-testid="scrubber"]')!;
      const said = new Set<string>();
      for (let at = since; at < until + step; at += step) {
        scrubber.value = String(Math.min(at, until));
        scrubber.dispatchEvent(new Event('input', { bubbles: true }));
        await new Promise(requestAnimationFrame);
        for (const it of document.querySelectorAll(
          '[data-testid="nodes"] tbody tr, [data-testid="cluster"] .role',
        ))
          said.add(it.textContent!.trim());
      }
      return [...said].join('\n');
    },
    { since, until, step },
  );
}

const crashLeader = (page: Page) => page.locator('#panel-faults [data-command="crash-leader"]').click();

describe('ZooKeeper’s own election', () => {
  test('is chosen with its own fields, rules and card', async () => {
    const page = await enter();
    await choose(page, 'zab', 'syncLimit, in ticks');
    expect(await page.getByLabel('Tick (tickTime)').inputValue()).toBe('2000');
    expect(await page.getByLabel('Heartbeat').count()).toBe(0);
    await page.getByTestId('card').locator('summary').click();
    await expect.poll(() => text(page.getByTestId('card'))).toContain('promises of a quorum');
    const rules = page.getByTestId('rules');
    await rules.locator('summary').click();
    await expect.poll(() => text(rules)).toContain('A sync asks a quorum');
    await page.getByLabel('Observers among them').fill('2');
    await page.getByLabel('Observers among them').press('Enter');
    await playTo(page, 2_000_000, '2');
    expect(await nodes(page).allTextContents()).toEqual(
      expect.arrayContaining([expect.stringContaining('observing')]),
    );
    // One more than there are nodes: nobody would vote.
    await page.getByLabel('Observers among them').fill('5');
    await page.getByLabel('Observers among them').press('Enter');
    await page.getByText('observers learn from those that vote').waitFor();
    expect(await page.getByLabel('Observers among them').inputValue()).toBe('2');
  });

  test('shows rounds, votes and epochs, and the next epoch after a crash', async () => {
    const page = await enter();
    await choose(page, 'zab', 'syncLimit, in ticks');
    await setSpeed(page, '1');
    const first = await anotherThan(page, '');
    expect(await text(page.getByTestId('leaders'))).toContain('epoch 1');
    expect(await page.getByTestId('log').count()).toBe(1);
    const heads = await page.locator('[data-testid="nodes"] thead th').allTextContents();
    const names = ['Node', 'State', 'Round', 'Epoch', 'Vote', 'zxid'];
    expect(heads).toEqual(names.map((name) => expect.stringMatching(new RegExp(`^${name}`))));
    const before = await time(page, 'now');
    await crashLeader(page);
    const second = await anotherThan(page, first);
    const said = await seenSince(page, before, 5_000);
    expect(said).toMatch(/looking: n\d \d\/3/);
    expect(said).toMatch(/discovering \d\/3/);
    expect(said).toMatch(/synchronising \d\/3/);
    await page.locator(`[data-testid="cluster"] [data-node="${Number(second.slice(1)) - 1}"]`).click();
    await expect.poll(() => text(inspector(page))).toMatch(/accepted epoch\s*2/);
    const own = await text(inspector(page));
    expect(own).toMatch(/server state\s*LEADING/);
    expect(own).toMatch(/round\s*2/);
    expect((await eventRows(page)).join('\n')).toContain('synchronising, epoch 2');
    // Its first proposal may be still to come.
    await page.locator('#stage').focus();
    await page.keyboard.press('Space');
    await expect.poll(() => text(inspector(page))).toMatch(/last zxid\s*2\.\d+/);
  });
});

describe('Redis Sentinel', () => {
  test('is chosen with what it watches, and goes back from what cannot be', async () => {
    const page = await enter();
    await choose(page, 'sentinel', 'min-replicas-to-write');
    expect(await page.getByLabel('down-after', { exact: true }).inputValue()).toBe('3000');
    expect(await page.getByLabel('Quorum', { exact: true }).getAttribute('placeholder')).toBe('majority');
    const marks = page.locator('[data-testid="cluster"] [data-server]');
    await expect.poll(() => marks.count()).toBe(3);
    await page.getByLabel('Masters', { exact: true }).fill('2');
    await page.getByLabel('Masters', { exact: true }).press('Enter');
    await expect.poll(() => marks.count()).toBe(6);
    await page.getByLabel('Quorum', { exact: true }).fill('9');
    await page.getByLabel('Quorum', { exact: true }).press('Enter');
    await page.getByText('there are not so many sentinels').waitFor();
    expect(await page.getByLabel('Quorum', { exact: true }).inputValue()).toBe('');
    await page.getByTestId('card').locator('summary').click();
    await expect.poll(() => text(page.getByTestId('card'))).toContain('Sentinel is not Raft');
    // Its clients write at no guarded resource.
    expect(await page.locator('[data-testid="cluster"] [data-resource]').count()).toBe(0);
  });

  test('shows opinions, the failover and the new master, and that nothing fences the old one', async () => {
    const page = await enter();
    await choose(page, 'sentinel', 'min-replicas-to-write');
    await setSpeed(page, '2');
    expect(await anotherThan(page, '')).toBe('s1');
    expect(await servers(page).allTextContents()).toEqual([
      expect.stringMatching(/s1\s*master/),
      expect.stringMatching(/s2\s*follows s1/),
      expect.stringMatching(/s3\s*follows s1/),
    ]);
    expect(await text(page.locator('#panel-faults'))).toContain('Crash the master');
    const before = await time(page, 'now');
    await crashLeader(page);
    const second = await anotherThan(page, 's1');
    const seen = await seenSince(page, before, 20_000);
    expect(seen).toMatch(/s1 SDOWN \d\/3/);
    expect(seen).toContain('s1 ODOWN');
    expect(seen).toMatch(/asks for votes \d\/3/);
    expect(seen).toMatch(/waits for s[23] to lead/);
    expect(second).toMatch(/^s[23]$/);
    expect(await text(page.getByTestId('leaders'))).toMatch(/epoch \d/);
    const told = (await eventRows(page)).join('\n');
    expect(told).toContain('(+switch-master)');
    await page.locator('[data-testid="cluster"] [data-server]').first().click();
    await page.locator('[data-testid="inspector"] [data-command="restart"]').click();
    const back = await time(page, 'now');
    await playTo(page, back + 1_000_000, '1');
    expect(await text(servers(page).first())).toContain('master, not named');
    expect(await text(page.getByTestId('leaders'))).toMatch(/^2/);
    expect(await text(inspector(page))).toMatch(/takes writes\s*yes/);
    // Until the sentinels have watched it for a while.
    await playTo(page, back + 12_000_000, '2');
    await expect.poll(() => text(servers(page).first()), { timeout: 30_000 }).toContain(`follows ${second}`);
    const design = page.locator('#check-list [data-check="sen-single-writable"]');
    expect(await design.getAttribute('data-verdict')).toBe('broken-by-design');
  });

  test('says the same in Chinese, on a phone, without a complaint about access', async () => {
    const page = await enter({ ...PHONE, locale: 'zh-CN' });
    await page.getByRole('button', { name: '场景', exact: true }).click();
    await page.getByTestId('scheme').selectOption('sentinel');
    await expect.poll(() => page.locator('[data-testid="cluster"] [data-server]').count()).toBe(3);
    await page.getByRole('button', { name: '关闭' }).first().click();
    await playTo(page, 3_000_000, '2');
    expect(await text(page.getByTestId('cluster'))).toContain('跟随 s1');
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  });
});

describe('Kafka’s controllers', () => {
  test('are chosen with their timeouts, and show who may act before a crash and after', async () => {
    const page = await enter();
    await choose(page, 'kraft', 'Fetch timeout');
    expect(await page.getByLabel('Fetch timeout').inputValue()).toBe('2000');
    await page.getByTestId('card').locator('summary').click();
    await expect.poll(() => text(page.getByTestId('card'))).toContain('active once it has applied');
    await setSpeed(page, '2');
    const first = await anotherThan(page, '');
    const stage = page.getByTestId('cluster');
    await expect.poll(() => text(stage)).toContain('active controller');
    const before = await time(page, 'now');
    await crashLeader(page);
    const second = await anotherThan(page, first);
    const seen = await seenSince(page, before + 1_000_000, 10_000);
    expect(seen).toMatch(/prospective \d\/3/);
    expect(seen).toMatch(/candidate \d\/3/);
    expect(seen).toContain('leader, not active');
    const row = nodes(page).filter({ hasText: 'active controller' });
    expect(await text(row)).toMatch(new RegExp(`^${second}`));
    await page.locator(`[data-testid="cluster"] [data-node="${Number(second.slice(1)) - 1}"]`).click();
    await expect.poll(() => text(inspector(page))).toMatch(/active controller\s*yes/);
    expect(await text(inspector(page))).toMatch(/quorum state\s*Leader/);
    expect(await text(inspector(page))).toMatch(/high watermark\s*\d+/);
    // Whoever led before resigned of its epoch when it is back.
    await page.locator(`[data-testid="cluster"] [data-node="${Number(first.slice(1)) - 1}"]`).click();
    await page.locator('[data-testid="inspector"] [data-command="restart"]').click();
    const back = await time(page, 'now');
    await playTo(page, back + 3_000_000, '2');
    expect(await text(inspector(page))).toMatch(/quorum state\s*Follower/);
    expect(await seenSince(page, back, 10_000)).toContain('resigned');
  });
});

describe('Kafka’s brokers', () => {
  test('show the partition’s next leader and its smaller ISR once the controller fenced the one that died', async () => {
    const page = await enter();
    await page.getByTestId('scenario').selectOption('kafka-leader-crash');
    await expect.poll(() => servers(page).count(), { timeout: 20_000 }).toBe(3);
    await playTo(page, 8_000_000, '2');
    // Leader and leader epoch, ISR, ELR.
    const partition = async () =>
      (await page.locator('[data-testid="partition"] dd').allTextContents()).map((said) => said.trim());
    expect((await partition()).slice(0, 3)).toEqual([expect.stringMatching(/^b2\s*1$/), 'b1 b2 b3', '–']);
    expect(await servers(page).allTextContents()).toEqual([
      expect.stringMatching(/b1\s*follows b2\s*unfenced \d+\s*ISR\s*\d+\s*\/\s*\d+/),
      expect.stringMatching(/b2\s*leader\s*unfenced/),
      expect.stringMatching(/b3\s*follows b2/),
    ]);
    // It dies at ten seconds, and is silent for a session of nine.
    await playTo(page, 22_000_000, '2');
    expect((await partition()).slice(0, 2)).toEqual([expect.stringMatching(/^b[13]\s*2$/), 'b1 b3']);
    expect(await text(servers(page).nth(1))).toMatch(/b2\s*crashed\s*fenced \d+\s*–/);
    const crowns = page.locator('[data-testid="cluster"] [data-server].leads');
    expect(await crowns.count()).toBe(1);
    await crowns.click();
    await expect.poll(() => text(inspector(page))).toMatch(/leader epoch\s*2/);
    expect(await text(inspector(page))).toContain('I lead the partition, and take records');
    expect(await text(inspector(page))).toMatch(/ISR, as it knows\s*b1, b3/);
    // With one more that goes in good order there are too few in sync.
    await page.locator('[data-testid="inspector"] [data-command="resign"]').click();
    const gone = await time(page, 'now');
    await playTo(page, gone + 4_000_000, '2');
    expect(await servers(page).allTextContents()).toEqual(
      expect.arrayContaining([expect.stringContaining('leader, takes nothing')]),
    );
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  });

  test('can be had and done without, with their own settings and rules', async () => {
    const page = await enter();
    await choose(page, 'kraft', 'Fetch timeout');
    expect(await page.getByLabel('acks', { exact: true }).count()).toBe(0);
    await page.getByLabel('Brokers', { exact: true }).fill('4');
    await page.getByLabel('Brokers', { exact: true }).press('Enter');
    await expect.poll(() => servers(page).count()).toBe(4);
    await page.getByLabel('acks', { exact: true }).selectOption('1');
    expect(await page.getByLabel('min.insync.replicas').inputValue()).toBe('2');
    const rules = page.getByTestId('rules');
    await rules.locator('summary').click();
    await expect.poll(() => text(rules)).toContain('Clean elections');
    // Fewer than there are to be replicas: no topic could be made.
    await page.getByLabel('Brokers', { exact: true }).fill('2');
    await page.getByLabel('Brokers', { exact: true }).press('Enter');
    await page.getByText('there are not so many brokers').waitFor();
    expect(await page.getByLabel('Brokers', { exact: true }).inputValue()).toBe('4');
  });
});

describe('all of them', () => {
  test('axe finds nothing, with somebody chosen and something broken', async () => {
    const page = await enter({ colorScheme: 'dark' });
    for (const [scheme, sign] of [
      ['zab', 'syncLimit, in ticks'],
      ['sentinel', 'min-replicas-to-write'],
      ['kraft', 'Fetch timeout'],
    ] as const) {
      await choose(page, scheme, sign);
      await playTo(page, 4_000_000, '2');
      await crashLeader(page);
      await page.locator('[data-testid="cluster"] [data-node="0"]').click();
      await inspector(page).waitFor();
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => `${scheme} ${id}: ${nodes[0].html.slice(0, 160)}`)).toEqual(
        [],
      );
      await page.keyboard.press('Escape');
    }
  });
});
