// Three worker threads elect a leader and keep a log; the leader's is terminated, another takes over, and the first comes
// back and catches up:
//
//     npm run wasm && node wasm/examples/three-workers/main.mjs
//
// node.mjs is what a program consists of that embeds Tenure, with a clock.mjs and a disk.mjs. This file starts the threads,
// connects them, and listens to what they say.
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

const VOTERS = [0, 1, 2];
/** How long anything may take, in ms, before something is wrong. An election takes half a second. */
const PATIENCE = 10_000;

const folder = mkdtempSync(join(tmpdir(), 'tenure-three-workers-'));
/** The threads that run, each with what it told: whether it leads, and what it applied. */
const nodes = new Map();
const news = new EventEmitter();

try {
  for (const id of VOTERS) start(id, false);
  const first = await until('a leader', leader);
  console.log(`node ${first.id} leads with token ${first.token.counter}`);
  for (const text of ['one', 'two', 'three']) await write(text);
  console.log(`everybody has applied ${told(first)}`);

  await nodes.get(first.id).worker.terminate();
  nodes.delete(first.id);
  const terminated = performance.now();
  console.log(`node ${first.id} is terminated`);

  const second = await until('another leader', leader);
  const took = Math.round(performance.now() - terminated);
  console.log(`node ${second.id} leads with token ${second.token.counter}, ${took} ms later`);
  for (const text of ['four', 'five']) await write(text);

  const back = start(first.id, true);
  await until('the terminated one to catch up', () => back.applied.size === second.applied.size && back);
  console.log(`node ${back.id} is back and has applied ${told(back)}`);
} finally {
  await Promise.all([...nodes.values()].map(({ worker }) => worker.terminate()));
  rmSync(folder, { recursive: true });
}

/** Starts a node's thread and connects it with those that run. */
function start(id, ran) {
  const ports = [];
  for (const other of nodes.values()) {
    const { port1, port2 } = new MessageChannel();
    other.worker.postMessage({ kind: 'connect', peer: id, port: port1 }, [port1]);
    ports.push({ peer: other.id, port: port2 });
  }
  const worker = new Worker(new URL('node.mjs', import.meta.url), {
    workerData: { id, voters: VOTERS, folder: join(folder, String(id)), ran, ports },
    transferList: ports.map(({ port }) => port),
  });
  const node = { id, worker, token: undefined, applied: new Set() };
  worker.on('message', (event) => {
    if (event.kind === 'established') node.token = event.token;
    if (event.kind === 'deposed') node.token = undefined;
    // What was proposed twice, for its first leader was lost, counts once.
    if (event.kind === 'applied') node.applied.add(event.text);
    news.emit('told');
  });
  worker.on('error', (error) => news.emit('error', error));
  nodes.set(id, node);
  return node;
}

/** Who leads: of two that both say so, the one with the higher token. */
function leader() {
  const leading = [...nodes.values()].filter(({ token }) => token);
  return leading.sort((a, b) => Number(b.token.counter - a.token.counter))[0];
}

/** Has a leader propose a text, until all that run have applied it. */
async function write(text) {
  const applied = () => [...nodes.values()].every((node) => node.applied.has(text));
  while (!applied()) {
    const asked = await until('a leader', leader);
    asked.worker.postMessage({ kind: 'propose', text });
    await until(`everybody to apply ${text}`, () => applied() || leader() !== asked);
  }
}

/** Waits for news until `holds`. */
async function until(what, holds) {
  const signal = AbortSignal.timeout(PATIENCE);
  for (;;) {
    const held = holds();
    if (held) return held;
    await once(news, 'told', { signal }).catch((error) => {
      throw error.name === 'AbortError' ? new Error(`waited ${PATIENCE} ms for ${what}`) : error;
    });
  }
}

function told({ applied }) {
  return [...applied].join(', ');
}
