import { EngineError, pageProblem } from './errors';
import glueUrl from './pkg/tenure_wasm.js?url';
import wasmUrl from './pkg/tenure_wasm_bg.wasm?url';
import type { Instantiate, WorldModule } from './world';

interface Glue extends Omit<WorldModule, 'memory'> {
  default(options: { module_or_path: WebAssembly.Module }): Promise<{ memory: WebAssembly.Memory }>;
}

/**
 * Loads the WASM module. The code is compiled once; each call makes an instance of its own, with its own copy of the
 * glue (the glue keeps the instance in module scope, hence the fragment that makes its address new).
 */
export function engineLoader(): Instantiate {
  let compiled: Promise<WebAssembly.Module> | undefined;
  let instances = 0;
  return async () => {
    compiled ??= compile();
    const address = instances === 0 ? glueUrl : `${glueUrl}#${instances}`;
    instances += 1;
    try {
      const [module, glue] = await Promise.all([
        compiled,
        import(/* @vite-ignore */ new URL(address, location.href).href) as Promise<Glue>,
      ]);
      const { memory } = await glue.default({ module_or_path: module });
      return {
        World: glue.World,
        memory,
        randomSeed: glue.randomSeed,
        checkScenario: glue.checkScenario,
        eventKinds: glue.eventKinds,
      };
    } catch (cause) {
      compiled = undefined;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new EngineError(pageProblem('engine-not-loaded', 'engine', { reason }), true);
    }
  };
}

async function compile(): Promise<WebAssembly.Module> {
  const response = await fetch(wasmUrl);
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  // Some static hosts send a wrong type for .wasm; compiling from bytes does not mind.
  return WebAssembly.compile(await response.arrayBuffer());
}
