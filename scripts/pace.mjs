// npm run wasm && node scripts/pace.mjs: one run of the default scenario in WASM beside the same run natively, in one
// session, as a ratio.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ask, Fail, isEntry, main, root } from './lib/run.mjs';

const SCENARIO = '{"tenure": 1, "scheme": "raft", "duration": "60s"}';
const ROUNDS = 300;
const LIMIT = 1.4;
const PKG = join(root, 'web/src/engine/pkg');

async function inWasm() {
  const { initSync, World } = await import(pathToFileURL(join(PKG, 'tenure_wasm.js')));
  initSync({ module: readFileSync(join(PKG, 'tenure_wasm_bg.wasm')) });
  let best = Number.POSITIVE_INFINITY;
  let hash = '';
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = performance.now();
    const world = new World(SCENARIO);
    world.seek(world.duration);
    best = Math.min(best, performance.now() - begun);
    hash = world.traceHash();
    world.free();
  }
  return { best, hash };
}

function native() {
  const out = ask('cargo', [
    'run',
    '--release',
    '-q',
    '-p',
    'tenure-sim',
    '--example',
    'pace',
    '--',
    SCENARIO,
  ]);
  if (!out)
    throw new Fail('the native run failed: `cargo run --release -p tenure-sim --example pace` says why');
  const [best, hash] = out.trim().split(' ');
  return { best: Number(best), hash };
}

if (isEntry(import.meta.url)) {
  await main(async () => {
    const [there, here] = [native(), await inWasm()];
    if (there.hash !== here.hash)
      throw new Fail(`the traces differ: ${there.hash} natively, ${here.hash} in WASM`);
    const ratio = here.best / there.best;
    console.log(
      `native ${there.best.toFixed(2)} ms, WASM ${here.best.toFixed(2)} ms: ${ratio.toFixed(2)} of ${LIMIT}`,
    );
  });
}
