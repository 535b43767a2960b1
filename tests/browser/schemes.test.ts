// Elections over a store in the Lab: each scheme is chosen, its servers are drawn, and what breaks by design is seen.
import { describe, expect, test } from 'vitest';
import { leader, leaderOtherThan, playTo, setSpeed, text, time, traceHash, visits } from './page';

const visit = visits();
const { enter } = visit;

const SCHEMES = [
  ['etcd', 1],
  ['etcd-single', 1],
  ['milvus', 1],
  ['zookeeper', 1],
  ['zookeeper-controller', 1],
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
      // What runs it is fetched for the first of them.
      await expect.poll(() => marks.count(), { message: scheme }).toBe(servers);
      await playTo(page, 5_000_000, '2');
      const first = await leader(page);
      expect(first, scheme).toMatch(/^n\d$/);
      const held = page.locator('[data-testid="servers"] tbody tr', { hasText: first });
      expect(await held.count(), scheme).toBeGreaterThan(servers / 2);
      expect(await marks.first().getAttribute('aria-label'), scheme).toContain(`${first} holds`);
    }
    await page.getByTestId('scheme').selectOption('raft');
    await expect.poll(() => page.locator('[data-testid="cluster"] [data-server]').count()).toBe(0);
  });

  test('has a card that says what stops its old leader', async () => {
    const page = await enter();
    await page.getByTestId('scheme').selectOption('redlock');
    await page.getByTestId('card').locator('summary').click();
    await expect.poll(() => text(page.getByTestId('card'))).toContain('There is no token');
  });
});

describe('a setting by store', () => {
  test('goes by the parameters of a system that elects so, and says where they come from', async () => {
    const page = await enter();
    expect(await page.getByTestId('preset').count()).toBe(0);
    await page.getByTestId('scheme').selectOption('kubernetes');
    const preset = page.getByTestId('preset');
    await expect.poll(() => preset.locator('option').count()).toBe(5);
    const usual = await text(page.getByTestId('budget'));
    await preset.selectOption('openshift');
    await expect.poll(() => text(page.locator('#panel-setup'))).toContain('library-go');
    expect(await page.getByLabel('Lease (TTL)').inputValue()).toBe('137000');
    expect(await page.getByLabel('Renew deadline').inputValue()).toBe('107000');
    expect(await text(page.getByTestId('budget'))).not.toBe(usual);
    // What its budget refuses is not taken, and says why.
    await preset.selectOption('flink');
    await page.getByText('a holder may go on for 15s without a renewal, and the lease is 15s').waitFor();
    expect(await preset.inputValue()).toBe('openshift');
    // What is changed by hand is no system's any more.
    await page.getByLabel('Renewed every').fill('20000');
    await page.getByLabel('Renewed every').press('Enter');
    await expect.poll(() => preset.inputValue()).toBe('');
    expect(await page.getByLabel('Renew deadline').inputValue()).toBe('107000');
  });

  test('has as many servers as are chosen, where there is a choice', async () => {
    const page = await enter();
    await page.getByTestId('scheme').selectOption('etcd');
    const choice = page.getByRole('group', { name: 'Servers', exact: true });
    await choice.getByRole('button', { name: '3' }).click();
    const marks = page.locator('[data-testid="cluster"] [data-server]');
    await expect.poll(() => marks.count()).toBe(3);
    expect(await choice.getByRole('button', { name: '3' }).getAttribute('aria-pressed')).toBe('true');
    await playTo(page, 5_000_000, '2');
    expect(await leader(page)).toMatch(/^n\d$/);
    await page.getByTestId('scheme').selectOption('sql');
    await expect.poll(() => choice.count()).toBe(0);
  });

  test('lists the rules of the scheme, and runs without the one that is switched off', async () => {
    const page = await enter();
    const rules = page.getByTestId('rules');
    await rules.locator('summary').click();
    expect(await rules.locator('[data-rule="pre-vote"]').isChecked()).toBe(true);
    await page.getByTestId('scheme').selectOption('redis');
    await expect.poll(() => rules.locator('[data-rule]').count()).toBe(4);
    await expect.poll(() => text(rules)).toContain('two believe at once');
    await rules.locator('[data-rule="demote-by-timer"]').uncheck();
    await expect.poll(() => text(page.getByTestId('rules-off'))).toBe('Off: demote-by-timer');
    expect(await text(rules.locator('summary'))).toContain('1 off');
    // Keys are the page's own where nothing is typed or ticked.
    await page.locator('#stage').focus();
    await page.keyboard.press('s');
    await page.waitForFunction(() => location.hash !== '');
    const other = await enter({ hash: new URL(page.url()).hash });
    await expect.poll(() => text(other.getByTestId('rules-off'))).toBe('Off: demote-by-timer');
    await rules.locator('[data-rule="demote-by-timer"]').check();
    await expect.poll(() => page.getByTestId('rules-off').count()).toBe(0);
  });
});

describe('what runs another scheme', () => {
  const OTHERS = /\/(tenure_(peers|stores|wasm)|en-peers)[^/]*\.(js|wasm)$/;

  test('is fetched when a scheme takes it, with its words, and no sooner', async () => {
    const page = await enter();
    const fetched: string[] = [];
    page.on('request', (request) => fetched.push(request.url()));
    const others = () => fetched.flatMap((url) => OTHERS.exec(url)?.[1] ?? []).sort();
    await page.reload();
    await leaderOtherThan(page, '');
    expect(fetched.some((url) => /tenure_raft[^/]*\.wasm$/.test(url))).toBe(true);
    expect(others()).toEqual([]);
    await page.getByTestId('scenario').selectOption('redlock-clock-jump');
    await expect.poll(() => page.getByTestId('scheme').inputValue()).toBe('redlock');
    await page.getByTestId('scheme').selectOption('raft');
    await page.getByTestId('scheme').selectOption('sql');
    await leaderOtherThan(page, '');
    const stores = ['tenure_stores', 'tenure_stores'];
    expect(others()).toEqual(stores);
    await page.getByTestId('scheme').selectOption('kraft');
    await expect.poll(() => text(page.getByTestId('nodes').locator('thead'))).toContain('HW / end');
    const peers = ['en-peers', 'tenure_peers', 'tenure_peers'];
    expect(others()).toEqual([...peers, ...stores]);
    await page.getByTestId('scheme').selectOption('zookeeper');
    await leaderOtherThan(page, '');
    await page.getByTestId('scheme').selectOption('zab');
    await leaderOtherThan(page, '');
    expect(others()).toEqual([...peers, ...stores, 'tenure_wasm', 'tenure_wasm']);
  });

  test('is fetched for the run in a link', async () => {
    const page = await enter();
    await page.getByTestId('scheme').selectOption('etcd');
    await playTo(page, 4_000_000, '2');
    const hash = await traceHash(page);
    await page.keyboard.press('s');
    await page.waitForFunction(() => location.hash !== '');
    const other = await enter({ hash: new URL(page.url()).hash });
    await expect.poll(() => traceHash(other)).toBe(hash);
    expect(await other.getByTestId('scheme').inputValue()).toBe('etcd');
  });

  test('leaves the present run as it is when it cannot be had, and is asked for again', async () => {
    const context = await visit.site.browser.newContext({ locale: 'en-US' });
    try {
      // Not attended: the browser complains of what is not there.
      const page = await context.newPage();
      await page.goto(visit.site.address);
      await leaderOtherThan(page, '');
      const scheme = page.getByTestId('scheme');
      const said = page.getByText('What runs schemes other than Raft could not be loaded');
      const servers = page.locator('[data-testid="cluster"] [data-server]');
      for (const [missing, other, count] of [
        [/tenure_stores/, 'etcd', 1],
        [/en-peers/, 'sentinel', 3],
      ] as const) {
        await page.route(missing, (route) => route.abort());
        await scheme.selectOption(other);
        await said.waitFor();
        expect(await scheme.inputValue()).toBe('raft');
        const before = await time(page, 'now');
        await expect.poll(() => time(page, 'now')).toBeGreaterThan(before);
        await page.unroute(missing);
        await scheme.selectOption(other);
        await expect.poll(() => servers.count()).toBe(count);
        await page.getByTestId('notice').getByRole('button').click();
        await scheme.selectOption('raft');
        await expect.poll(() => servers.count()).toBe(0);
      }
    } finally {
      await context.close();
    }
  });
});

describe('a store', () => {
  test('keeps the record of a leader that crashed, and another leads once it is over', async () => {
    const page = await enter();
    await page.getByTestId('scheme').selectOption('etcd');
    // The run before it had a leader, too.
    await page.locator('[data-testid="cluster"] [data-server]').first().waitFor();
    await setSpeed(page, '2');
    const first = await leaderOtherThan(page, '');
    await page.locator('#panel-faults [data-command="crash-leader"]').click();
    const second = await leaderOtherThan(page, first);
    expect(second).not.toBe(first);
    expect(await page.getByTestId('overlap').getAttribute('data-us')).toBe('0');
  });

  test('that is paused is shown with what it keeps', async () => {
    const page = await enter();
    await page.getByTestId('scheme').selectOption('etcd');
    // The run before it had a leader, too.
    await page.locator('[data-testid="cluster"] [data-server]').first().waitFor();
    await setSpeed(page, '2');
    const first = await leaderOtherThan(page, '');
    await page.locator('[data-testid="cluster"] [data-server]').click();
    await page.locator('[data-testid="inspector"] [data-command="pause"]').click();
    const row = page.locator('[data-testid="servers"] tbody tr');
    await expect.poll(() => text(row)).toContain(`paused, ${first}`);
    await page.locator('[data-testid="inspector"] [data-command="resume"]').click();
    await expect.poll(() => text(row)).not.toContain('paused');
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
