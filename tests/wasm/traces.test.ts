// Law W1: the same scenario and seed give the same trace on native, Node.js and Chromium. The native traces are on record
// in tests/traces.txt, where a Rust test keeps them true.
import { createReadStream, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM, FLAGS } from '../browser/chromium';
import { PACKAGE, recorded, scenarios } from './gallery';

const gallery = scenarios();

/** Runs a scenario to its end with the package at hand, in whatever JavaScript this runs in. */
type Run = (text: string) => string;

describe('in Node.js', () => {
  let run: Run;

  beforeAll(async () => {
    const wasm = await import(new URL('tenure_wasm.js', PACKAGE).href);
    wasm.initSync({ module: readFileSync(new URL('tenure_wasm_bg.wasm', PACKAGE)) });
    run = (text) => {
      const world = new wasm.World(text);
      world.seek(world.duration);
      const hash = world.traceHash();
      world.free();
      return hash;
    };
  });

  test('every trace is the native one', () => {
    const hashes = Object.fromEntries([...gallery].map(([name, text]) => [name, run(text)]));
    expect(hashes).toEqual(recorded());
  });

  test('another seed gives another trace', () => {
    const [text] = gallery.values();
    const other = { ...JSON.parse(text as string), seed: '424242' };
    expect(Object.values(recorded())).not.toContain(run(JSON.stringify(other)));
  });
});

describe('in Chromium', () => {
  let server: Server;
  let browser: Browser;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const name = request.url?.match(/^\/(tenure_wasm(?:_bg)?\.(js|wasm))$/);
      const type = name?.[2] === 'wasm' ? 'application/wasm' : 'text/javascript';
      response.setHeader('content-type', name ? type : 'text/html');
      if (name?.[1]) createReadStream(new URL(name[1], PACKAGE)).pipe(response);
      else response.end('<!doctype html><title>traces</title>');
    });
    await new Promise<void>((listening) => {
      server.listen(0, '127.0.0.1', listening);
    });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  });

  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  test('every trace is the native one', async () => {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const hashes = await page.evaluate(
      async (gallery) => {
        const address = new URL('/tenure_wasm.js', location.href).href;
        const wasm = await import(address);
        await wasm.default({ module_or_path: '/tenure_wasm_bg.wasm' });
        return gallery.map(([name, text]) => {
          const world = new wasm.World(text);
          world.seek(world.duration);
          return [name, world.traceHash()] as const;
        });
      },
      [...gallery],
    );
    expect(Object.fromEntries(hashes)).toEqual(recorded());
  });
});
