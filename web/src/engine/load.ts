import type { Build } from './build';
import { EngineError, pageProblem } from './errors';
import peersGlueUrl from './pkg/peers/tenure_peers.js?url';
import peersWasmUrl from './pkg/peers/tenure_peers_bg.wasm?url';
import raftGlueUrl from './pkg/raft/tenure_raft.js?url';
import raftWasmUrl from './pkg/raft/tenure_raft_bg.wasm?url';
import storesGlueUrl from './pkg/stores/tenure_stores.js?url';
import storesWasmUrl from './pkg/stores/tenure_stores_bg.wasm?url';
import glueUrl from './pkg/tenure_wasm.js?url';
import wasmUrl from './pkg/tenure_wasm_bg.wasm?url';
import type { Instantiate, WorldModule } from './world';

interface Glue extends Omit<WorldModule, 'memory' | 'build'> {
  default(options: { module_or_path: WebAssembly.Module }): Promise<{ memory: WebAssembly.Memory }>;
}

/** Loads the WASM modules, each when it is first asked for. */
export function engineLoader(): Instantiate {
  const loaders: Record<Build, () => Promise<WorldModule>> = {
    raft: moduleLoader('raft', raftGlueUrl, raftWasmUrl),
    peers: moduleLoader('peers', peersGlueUrl, peersWasmUrl),
    stores: moduleLoader('stores', storesGlueUrl, storesWasmUrl),
    whole: moduleLoader('whole', glueUrl, wasmUrl),
  };
  return (build) => loaders[build]();
}

/**
 * Loads one module. Its code is compiled once; each call makes an instance of its own, with its own copy of the glue (the
 * glue keeps the instance in module scope, hence the fragment that makes its address new).
 */
function moduleLoader(build: Build, glueUrl: string, wasmUrl: string): () => Promise<WorldModule> {
  let compiled: Promise<WebAssembly.Module> | undefined;
  let instances = 0;
  return async () => {
    compiled ??= compile(wasmUrl);
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
        build,
      };
    } catch (cause) {
      compiled = undefined;
      const reason = cause instanceof Error ? cause.message : String(cause);
      const code = build === 'raft' ? 'engine-not-loaded' : 'scheme-not-loaded';
      throw new EngineError(pageProblem(code, 'engine', { reason }));
    }
  };
}

async function compile(wasmUrl: string): Promise<WebAssembly.Module> {
  const response = await fetch(wasmUrl);
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  // Some static hosts send a wrong type for .wasm; compiling from bytes does not mind.
  return WebAssembly.compile(await response.arrayBuffer());
}
