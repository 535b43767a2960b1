// The built page in a real browser. Everything here goes by what a person, a screen reader or a stylesheet sees.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { type PreviewServer, preview } from 'vite';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { CHROMIUM, FLAGS } from './chromium';

const WEB = fileURLToPath(new URL('../../web', import.meta.url));
const DIST = fileURLToPath(new URL('../../dist', import.meta.url));

interface Site {
  address: string;
  browser: Browser;
  close(): Promise<void>;
}

/** Serves dist/ on a free port of this machine and starts the browser. */
async function openSite(): Promise<Site> {
  if (!existsSync(`${DIST}/index.html`)) throw new Error('dist/ is not built: run `npm run build` first');
  const server: PreviewServer = await preview({
    root: WEB,
    build: { outDir: DIST },
    // Port 0 lets the system choose; the address is read back from the socket.
    preview: { host: '127.0.0.1', port: 0 },
    logLevel: 'warn',
  });
  const socket = server.httpServer.address();
  if (typeof socket !== 'object' || socket === null) throw new Error('the preview server has no address');
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  return {
    address: `http://127.0.0.1:${socket.port}/`,
    browser,
    close: async () => {
      await browser.close();
      await server.close();
    },
  };
}

/** How a visitor comes: as a context of the browser, and with what in the address. */
type Manner = BrowserContextOptions & { hash?: string };

/**
 * The site for the tests of one file, opened before the first and closed after the last. After each test its pages are
 * closed, and what they complained about fails it.
 */
export function visits() {
  let site: Site;
  let attended: { page: Page; complaints: string[] }[] = [];

  beforeAll(async () => {
    site = await openSite();
  });

  afterAll(() => site?.close());

  afterEach(async () => {
    const visits = attended;
    attended = [];
    for (const { page } of visits) await page.context().close();
    for (const { complaints } of visits) expect(complaints).toEqual([]);
  });

  /** Listens to a page that a test opens by itself. */
  function attend(page: Page): void {
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error.stack)));
    attended.push({ page, complaints });
  }

  /** Opens the Lab in a context of its own. */
  async function enter({ hash = '', ...options }: Manner = {}): Promise<Page> {
    const context = await site.browser.newContext({
      viewport: { width: 1280, height: 800 },
      locale: 'en-US',
      ...options,
    });
    const page = await context.newPage();
    attend(page);
    await page.goto(site.address + hash);
    await page.getByTestId('lab').waitFor();
    return page;
  }

  return {
    get site() {
      return site;
    },
    attend,
    enter,
  };
}

/** A number that the page shows, in microseconds. */
export async function time(page: Page, what: 'now' | 'horizon'): Promise<number> {
  return Number(await page.getByTestId('lab').getAttribute(`data-${what}`));
}

export async function traceHash(page: Page): Promise<string | null> {
  return page.getByTestId('lab').getAttribute('data-trace-hash');
}

export async function text(locator: Locator): Promise<string> {
  return ((await locator.textContent()) ?? '').trim();
}

export function leader(page: Page): Promise<string> {
  return text(page.getByTestId('leader'));
}

/** Waits until a node is named as leader, other than one. */
export async function leaderOtherThan(page: Page, former: string): Promise<string> {
  const seen = await page.waitForFunction((name) => {
    const shown = document.querySelector('[data-testid="leader"]')?.textContent ?? '';
    return /^n\d+$/.test(shown) && shown !== name && shown;
  }, former);
  return String(await seen.jsonValue());
}

/** Lets the run play to an instant, and stops there or somewhat later. */
export async function playTo(page: Page, us: number, speed = '1'): Promise<void> {
  await setSpeed(page, speed);
  const playing = await page.getByTestId('lab').getAttribute('data-playing');
  if (playing !== 'true') await page.keyboard.press('Space');
  await page.waitForFunction(
    (to) => Number(document.querySelector<HTMLElement>('[data-testid="lab"]')?.dataset.now) >= to,
    us,
  );
  await page.keyboard.press('Space');
}

export async function setSpeed(page: Page, speed: string): Promise<void> {
  await page.locator('.speed select').selectOption(speed);
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
}

/** The rows of the event log that are in sight, as text. */
export function eventRows(page: Page): Promise<string[]> {
  return page.locator('[data-testid="events"] li').allTextContents();
}
