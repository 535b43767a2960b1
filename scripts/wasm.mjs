// npm run wasm: the core and the simulator as a WASM module with its JavaScript and TypeScript bindings, for the page
// and for Node.js. Does nothing when nothing it is made of has changed.
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

// What changes the module when it changes.
const SOURCES = [
  'core',
  'sim',
  'wasm',
  'xtask',
  'Cargo.toml',
  'Cargo.lock',
  'rust-toolchain.toml',
  'package.json',
  'scripts/wasm.mjs',
  'scripts/lib/toolchain.mjs',
];
const PKG = join(root, 'web/src/engine/pkg');
const STAMP = join(PKG, 'made-of.json');
const MODULE = 'tenure_wasm_bg.wasm';

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

/** Builds the module where it is not up to date, and holds it to its budget if that binds. */
export async function buildWasm({ binding = true } = {}) {
  const toolchain = await wasmToolchain();
  const madeOf = sources(toolchain.id);
  if (isFresh(madeOf)) console.log('the WASM module is up to date');
  else await build(toolchain, madeOf);
  checkBudget('sim module', gzipSize(readFileSync(join(PKG, MODULE))), BUDGETS.module, binding);
}

async function build(toolchain, madeOf) {
  console.log(`building the WASM module with ${toolchain.label}`);
  const work = join(root, 'target-wasm');
  const args = ['build', '--profile', 'browser', '-p', 'tenure-wasm', '--target', WASM, '--target-dir', work];
  await run(toolchain.cargo, args, {
    env: { ...toolchain.env, ...encodedFlags([...toolchain.flags, ...FEWER_COPIES, ...shortPaths()]) },
  });

  const bound = join(work, 'pkg');
  rmSync(bound, { recursive: true, force: true });
  const built = join(work, WASM, 'browser/tenure_wasm.wasm');
  await run('cargo', ['run', '--profile', 'tool', '-p', 'xtask', '--', 'bindgen', built, 'web', bound]);

  const module = join(bound, MODULE);
  const before = gzipSize(readFileSync(module));
  await runPackage('binaryen/bin/wasm-opt', [
    module,
    '-o',
    module,
    '-O3',
    // Which tools built it is of use to nobody who runs it.
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
  rmSync(STAMP, { force: true });
  mkdirSync(PKG, { recursive: true });
  for (const name of readdirSync(bound)) copyFileSync(join(bound, name), join(PKG, name));
  writeFileSync(STAMP, `${JSON.stringify({ madeOf, module: digest(join(PKG, MODULE)) })}\n`);
}

function isFresh(madeOf) {
  if (!existsSync(STAMP) || !existsSync(join(PKG, MODULE))) return false;
  const stamp = JSON.parse(readFileSync(STAMP, 'utf8'));
  return stamp.madeOf === madeOf && stamp.module === digest(join(PKG, MODULE));
}

function sources(toolchain) {
  const hash = createHash('sha256').update(toolchain);
  for (const path of SOURCES.flatMap((path) => files(path)).sort()) {
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
    await buildWasm();
  });
}
