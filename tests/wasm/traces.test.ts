// Law W1: the same scenario and seed give the same trace on native, Node.js and Chromium. The native traces are on record
// in scenarios/traces.txt, where a Rust test keeps them true.
import { createReadStream, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Build, buildFor, runs } from '../../web/src/engine/build';
import { CHROMIUM, FLAGS } from '../browser/chromium';
import { BAD, PACKAGE, recorded, SMALLER, scenarios } from './gallery';

const gallery = scenarios();

/** Runs a scenario to its end and gives the hash of its trace. */
type Run = (text: string) => string;

/** The same in a page of its own, without the playground. */
const PAGE = `<!doctype html>
<title>traces</title>
<script type="module">
  import init, { World } from '/tenure_wasm.js';
  await init({ module_or_path: '/tenure_wasm_bg.wasm' });
  globalThis.run = (text) => {
    const world = new World(text);
    world.seek(world.duration);
    return world.traceHash();
  };
</script>`;

/** A module in Node.js. */
async function load(name: string, folder: URL): Promise<Run> {
  const wasm = await import(new URL(`${name}.js`, folder).href);
  wasm.initSync({ module: readFileSync(new URL(`${name}_bg.wasm`, folder)) });
  return (text) => {
    const world = new wasm.World(text);
    world.seek(world.duration);
    const hash = world.traceHash();
    world.free();
    return hash;
  };
}

describe('in Node.js', () => {
  let run: Run;

  beforeAll(async () => {
    run = await load('tenure_wasm', PACKAGE);
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

/** What a file has of its scheme alone, among peers other than Raft. */
const PARTS = ['zab', 'sentinel', 'kraft', 'brokers'];

/** The schemes that a build knows. */
const KNOWN = {
  raft: 'raft',
  peers: 'raft, zab, sentinel, kraft',
  stores:
    'raft, sql, etcd, kubernetes, redis, redlock, sql-session, etcd-single, milvus, zookeeper, zookeeper-controller',
};

describe.each(Object.keys(SMALLER) as (keyof typeof SMALLER)[])('with the build %s', (build) => {
  let run: Run;

  beforeAll(async () => {
    run = await load(`tenure_${build}`, SMALLER[build]);
  });

  test('every trace of what it runs is the native one', () => {
    const own = [...gallery].filter(([, text]) => runs(build, buildFor(text)));
    expect(own.length).toBeGreaterThan(10);
    expect(recorded()).toMatchObject(Object.fromEntries(own.map(([name, text]) => [name, run(text)])));
  });

  test('every scenario of a scheme that it does not know is refused by its name, or by the part that is its own', () => {
    const known = KNOWN[build].split(', ');
    const others = [...gallery].filter(([, text]) => !known.includes(JSON.parse(text).scheme));
    expect(others.length).toBeGreaterThan(5);
    for (const [name, text] of others) {
      const { scheme, ...fields } = JSON.parse(text);
      const part = Object.keys(fields).find((field) => PARTS.includes(field));
      const refusal =
        part && build !== 'peers'
          ? { code: 'unknown-field', place: expect.stringContaining(part) }
          : {
              code: 'unknown-name',
              reason: `"${scheme}" is not known here`,
              remedy: `use one of: ${KNOWN[build]}`,
            };
      expect(() => run(text), name).toThrow(expect.objectContaining(refusal));
    }
  });
});

test('a bad scenario is refused by its build as by the whole one, but for a word that it does not know', async () => {
  const whole = await load('tenure_wasm', PACKAGE);
  const refusal = (run: Run, text: string) => {
    try {
      run(text);
      return null;
    } catch (refused) {
      return refused as { code: string };
    }
  };
  for (const build of Object.keys(SMALLER) as (keyof typeof SMALLER)[]) {
    const run = await load(`tenure_${build}`, SMALLER[build]);
    const texts = [...scenarios(BAD)].filter(([, text]) => buildFor(text) === build);
    expect(texts.length, build).toBeGreaterThan(10);
    for (const [name, text] of texts) {
      const refused = refusal(run, text);
      // Then the page asks the whole one.
      if (['unknown-field', 'unknown-name'].includes(refused?.code ?? '')) continue;
      expect(refused, name).not.toBeNull();
      expect(refused, name).toEqual(refusal(whole, text));
    }
  }
});

test('no scheme but Raft is left to the build with Raft alone, nor takes more than it has to', () => {
  const schemes = (build: Build) => {
    const texts = [...gallery.values()].filter((text) => buildFor(text) === build);
    return [...new Set(texts.map((text) => JSON.parse(text).scheme))].sort();
  };
  expect(schemes('raft')).toEqual(['raft']);
  expect(schemes('peers')).toEqual(['kraft', 'sentinel', 'zab']);
  expect(schemes('whole')).toEqual(['zookeeper', 'zookeeper-controller']);
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
      else response.end(PAGE);
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
    await page.waitForFunction(() => 'run' in globalThis);
    const hashes = await page.evaluate(
      (gallery) => {
        const { run } = globalThis as unknown as { run: Run };
        return gallery.map(([name, text]) => [name, run(text)] as const);
      },
      [...gallery],
    );
    expect(Object.fromEntries(hashes)).toEqual(recorded());
  });
});
