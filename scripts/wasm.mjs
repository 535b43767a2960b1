// npm run wasm: the WASM modules with their JavaScript and TypeScript bindings: the simulator for the page, in several builds,
// and the machines for programs in Node.js. Does nothing for a module when nothing it is made of has changed.
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { installPackages } from './lib/packages.mjs';
import { isEntry, main, root, run, runPackage } from './lib/run.mjs';
import { BUDGETS, checkBudget, gzipSize, kilobytes } from './lib/sizes.mjs';
import { checkRust, encodedFlags, WASM, wasmToolchain } from './lib/toolchain.mjs';

/** A build of the simulator for the page. */
const simulator = (title, name, folder, budget) => ({
  title,
  name,
  target: 'web',
  folder: join(root, 'web/src/engine/pkg', folder),
  budget,
  sources: ['sim', 'wasm/src/world'],
});

/**
 * Each module is tenure-wasm with one of its features: so bound, so named, put there, and held to that budget. `sources`
 * change it when they change, beside those that change both.
 */
const MODULES = {
  // What the page begins with.
  world: simulator('sim module with Raft alone', 'tenure_raft', 'raft', BUDGETS.raft),
  // What it goes over to for another election among peers, for one over a store, and for a store whose servers elect as
  // peers do.
  peers: simulator('sim module with all peers', 'tenure_peers', 'peers', BUDGETS.peers),
  stores: simulator('sim module with the stores', 'tenure_stores', 'stores', BUDGETS.stores),
  whole: simulator('sim module, whole', 'tenure_wasm', '', BUDGETS.whole),
  machines: {
    title: 'machines module',
    name: 'tenure_machines',
    target: 'experimental-nodejs-module',
    folder: join(root, 'wasm/pkg/node'),
    budget: BUDGETS.machines,
    sources: ['wasm/src/machines'],
  },
};

/** Those of the page. */
export const SIMULATORS = ['world', 'peers', 'stores', 'whole'];

const SOURCES = [
  'core',
  'wasm/Cargo.toml',
  'wasm/src/lib.rs',
  'wasm/src/object.rs',
  'xtask',
  'Cargo.toml',
  'Cargo.lock',
  'rust-toolchain.toml',
  'package.json',
  'scripts/wasm.mjs',
  'scripts/lib/toolchain.mjs',
];

const STAMP = 'made-of.json';

// What Node.js 20 and the browsers of its age all run: a wider set is refused there.
const FEATURES = [
  'bulk-memory',
  'nontrapping-float-to-int',
  'sign-ext',
  'mutable-globals',
  'reference-types',
  'multivalue',
];

// Copies of code cost bytes, after gzip too.
const FEWER_COPIES = [
  // Of functions in their callers: with the usual 225 a run is a tenth faster and the module 3.5 KB larger; below 100
  // speed goes faster than bytes do. What is to stay out of line besides says so itself.
  '-inline-threshold=100',
  // Of the bodies of loops: 2 KB, and no speed that could be measured.
  '-unroll-runtime=false',
  '-unroll-threshold=50',
].map((option) => `-Cllvm-args=${option}`);

/** Builds one module where it is not up to date, and holds it to its budget if that binds. */
export async function buildWasm(feature, { binding = true } = {}) {
  const module = MODULES[feature];
  const toolchain = await wasmToolchain();
  const madeOf = sources(toolchain.id, [...SOURCES, ...module.sources]);
  if (isFresh(module, madeOf)) console.log(`the ${module.title} is up to date`);
  else await build(feature, toolchain, madeOf);
  checkBudget(module.title, gzipSize(readFileSync(wasmOf(module, module.folder))), module.budget, binding);
}

async function build(feature, toolchain, madeOf) {
  const { title, name, target, folder } = MODULES[feature];
  console.log(`building the ${title} with ${toolchain.label}`);
  const work = join(root, 'target-wasm');
  const args = ['build', '--profile', 'browser', '-p', 'tenure-wasm', '--no-default-features'];
  await run(toolchain.cargo, [...args, '--features', feature, '--target', WASM, '--target-dir', work], {
    env: { ...toolchain.env, ...encodedFlags([...toolchain.flags, ...FEWER_COPIES, ...shortPaths()]) },
  });

  const bound = join(work, 'pkg', feature);
  rmSync(bound, { recursive: true, force: true });
  mkdirSync(bound, { recursive: true });
  // The bindings are named as the file is that they bind.
  const built = join(work, `${name}.wasm`);
  copyFileSync(join(work, WASM, 'browser/tenure_wasm.wasm'), built);
  await run('cargo', ['run', '--profile', 'tool', '-p', 'xtask', '--', 'bindgen', built, target, bound]);

  const module = wasmOf(MODULES[feature], bound);
  const before = gzipSize(readFileSync(module));
  await runPackage('binaryen/bin/wasm-opt', [
    module,
    '-o',
    module,
    '-O3',
    // Functions that are alike, as copies for several types are, have names that are: side by side they compress better.
    '--reorder-functions-by-name',
    // Names, and which tools built it, are of use to nobody who runs it.
    '--strip-debug',
    '--strip-producers',
    '--strip-target-features',
    // What the compiler left out of line was left so for size.
    '--always-inline-max-function-size=0',
    '--flexible-inline-max-function-size=0',
    '--one-caller-inline-max-function-size=0',
    ...FEATURES.map((name) => `--enable-${name}`),
  ]);
  console.log(`wasm-opt: ${kilobytes(before)} to ${kilobytes(gzipSize(readFileSync(module)))} gzip`);

  // The stamp goes first and comes last: what an interruption leaves behind is never taken for whole.
  rmSync(join(folder, STAMP), { force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(bound)) copyFileSync(join(bound, file), join(folder, file));
  const stamp = { madeOf, module: digest(wasmOf(MODULES[feature], folder)) };
  writeFileSync(join(folder, STAMP), `${JSON.stringify(stamp)}\n`);
}

function wasmOf({ name }, folder) {
  return join(folder, `${name}_bg.wasm`);
}

function isFresh(module, madeOf) {
  const [stamp, wasm] = [join(module.folder, STAMP), wasmOf(module, module.folder)];
  if (!existsSync(stamp) || !existsSync(wasm)) return false;
  const made = JSON.parse(readFileSync(stamp, 'utf8'));
  return made.madeOf === madeOf && made.module === digest(wasm);
}

function sources(toolchain, paths) {
  const hash = createHash('sha256').update(toolchain);
  for (const path of paths.flatMap((path) => files(path)).sort()) {
    hash.update(`\0${path}\0`).update(readFileSync(join(root, path)));
  }
  return hash.digest('hex');
}

function files(path) {
  const full = join(root, path);
  if (!existsSync(full)) return [];
  if (statSync(full).isFile()) return [path];
  return readdirSync(full)
    .filter((name) => name !== 'target')
    .flatMap((name) => files(`${path}/${name}`));
}

function digest(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

// Messages of a panic name source files: without their builder's folders they are shorter, and tell nobody's name.
function shortPaths() {
  const cargo = process.env.CARGO_HOME || join(homedir(), '.cargo');
  return [`--remap-path-prefix=${join(cargo, 'registry/src')}=crates`, `--remap-path-prefix=${root}=`];
}

if (isEntry(import.meta.url)) {
  await main(async () => {
    checkRust();
    await installPackages();
    for (const feature of Object.keys(MODULES)) await buildWasm(feature);
  });
}
