import { readFileSync } from 'node:fs';
import type { WorldModule } from '../engine/world';

/** The real engine in Node.js, for tests of what stands on it. Build it with `npm run wasm`. */
export async function loadEngine(): Promise<WorldModule> {
  const folder = new URL('../engine/pkg/', import.meta.url);
  // The generated glue is not there when types are checked.
  const glue = await import(/* @vite-ignore */ new URL('tenure_wasm.js', folder).href);
  const { memory } = glue.initSync({ module: readFileSync(new URL('tenure_wasm_bg.wasm', folder)) });
  return {
    World: glue.World,
    memory,
    randomSeed: glue.randomSeed,
    checkScenario: glue.checkScenario,
    eventKinds: glue.eventKinds,
    build: 'whole',
  };
}
