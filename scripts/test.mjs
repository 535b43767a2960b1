// npm test: everything that must hold, in one command. Each step says what it proves and how long it took; the first
// that fails ends the run, and can be run alone:
//
//     npm test -- --only NAME[,NAME…]
//     npm test -- --list
import { parseArgs } from 'node:util';
import { buildPage } from './build.mjs';
import { checkCounts } from './counts.mjs';
import { checkArrows } from './lib/arrows.mjs';
import { provideChromium } from './lib/chromium.mjs';
import { checkNode } from './lib/node.mjs';
import { checkLock, installPackages } from './lib/packages.mjs';
import { Fail, main, run, runPackage, seconds } from './lib/run.mjs';
import { buildBare, checkRust, hasTarget, WASM } from './lib/toolchain.mjs';
import { checkStores } from './stores.mjs';
import { buildWasm, SIMULATORS } from './wasm.mjs';

const CRATES = ['--workspace', '--exclude', 'xtask'];

// In order, the quick ones first. `needs` names the steps whose work a step stands on, for when it is run alone.
const STEPS = [
  { name: 'tools', title: 'Node.js, Rust and the npm packages are there', work: tools },
  { name: 'chromium', title: 'Chromium is there', work: provideChromium },
  { name: 'locks', title: 'the lock files fit the manifests and name no registry', work: locks },
  { name: 'arrows', title: 'no room uses one above it', work: checkArrows },
  { name: 'fmt', title: 'Rust is formatted', work: fmt },
  {
    name: 'style',
    title: 'TypeScript, Svelte and scripts are formatted and free of lint',
    needs: ['tools'],
    work: () => runPackage('@biomejs/biome/bin/biome', ['check', '--error-on-warnings']),
  },
  {
    name: 'clippy',
    title: 'no warning in the rooms, nor in the simulator as the browser has it',
    work: clippy,
  },
  { name: 'docs', title: 'the documentation builds without a warning', work: docs },
  { name: 'rust', title: 'the Rust tests', work: () => run('cargo', ['test', ...CRATES]) },
  {
    name: 'stores',
    title: 'the simulated stores answer as the real ones, and peers take over as they do',
    work: checkStores,
  },
  { name: 'counts', title: 'the machines take no more instructions than they did', work: checkCounts },
  { name: 'no-std', title: 'the core compiles where there is no operating system', work: buildBare },
  {
    name: 'wasm',
    title: "the page's WASM modules, within their budgets",
    needs: ['tools'],
    work: wasm,
  },
  {
    name: 'machines',
    title: 'the WASM module of the machines, within its budget',
    needs: ['tools'],
    work: () => buildWasm('machines'),
  },
  {
    name: 'xtask',
    title: 'the tests of the build task',
    work: () => run('cargo', ['test', '--profile', 'tool', '-p', 'xtask']),
  },
  { name: 'types', title: 'TypeScript and Svelte are typed', needs: ['wasm', 'machines'], work: types },
  { name: 'unit', title: "the page's unit tests", needs: ['wasm'], work: () => vitest('--root', 'web') },
  { name: 'page', title: 'the page builds, within its budget', needs: ['wasm'], work: buildPage },
  {
    name: 'traces',
    title: 'the same traces in WASM, and the machines in Node.js',
    needs: ['wasm', 'machines'],
    work: () => rooms('tests/wasm'),
  },
  {
    name: 'browser',
    title: 'the page in Chromium',
    needs: ['chromium', 'page'],
    work: () => rooms('tests/browser'),
  },
];

await main(async (args) => {
  const chosen = options(args);
  if (chosen === null) return list();
  plainOutput();
  const report = [];
  const begun = performance.now();
  for (const step of chosen) {
    heading(step);
    const before = performance.now();
    try {
      await step.work();
    } catch (error) {
      if (!(error instanceof Fail)) console.error(error);
      table([...report, { step, took: performance.now() - before, failed: true }]);
      throw new Fail(
        `Step "${step.name}" failed: ${error.message}\nRun it alone with: npm test -- --only ${step.name}`,
      );
    }
    report.push({ step, took: performance.now() - before });
  }
  table(report);
  console.log(
    `\nAll passed (${report.length} of ${STEPS.length} steps) in ${seconds(performance.now() - begun)}.`,
  );
});

async function tools() {
  checkNode();
  checkRust();
  await installPackages();
}

async function locks() {
  checkLock();
  try {
    await run('cargo', ['update', '--workspace', '--locked', '--quiet']);
  } catch {
    throw new Fail('Cargo.lock does not fit the manifests: run `cargo check` and commit it.');
  }
}

function fmt() {
  // rustfmt does not heed NO_COLOR.
  const colour = process.stdout.isTTY ? [] : ['--', '--color', 'never'];
  return run('cargo', ['fmt', '--all', '--check', ...colour]);
}

async function clippy() {
  await run('cargo', ['clippy', ...CRATES, '--all-targets', '--', '-D', 'warnings']);
  const alone = ['-p', 'tenure-sim', '--lib', '--no-default-features'];
  await run('cargo', ['clippy', ...alone, '--', '-D', 'warnings']);
  // Debian's toolchain, which stands in where rustup is not, has no clippy.
  if (!hasTarget(WASM)) return console.log(`${WASM} is not there: nothing is looked at as compiled for it`);
  for (const features of [[], ['--features', 'peers'], ['--features', 'stores']]) {
    const browser = [...features, '--target', WASM, '--target-dir', 'target-wasm'];
    await run('cargo', ['clippy', ...alone, ...browser, '--', '-D', 'warnings']);
  }
}

async function wasm() {
  for (const module of SIMULATORS) await buildWasm(module);
}

function docs() {
  const args = ['doc', '--no-deps', '--lib', '-p', 'tenure', '-p', 'tenure-sim'];
  return run('cargo', args, { env: { RUSTDOCFLAGS: '-D warnings' } });
}

async function types() {
  await runPackage('svelte-check/bin/svelte-check', [
    '--tsconfig',
    './web/tsconfig.json',
    '--fail-on-warnings',
  ]);
  await runPackage('typescript/bin/tsc', ['--noEmit', '-p', 'tests/tsconfig.json']);
}

function vitest(...args) {
  return runPackage('vitest/vitest.mjs', ['run', ...args]);
}

function rooms(folder) {
  return vitest('--config', 'scripts/vitest.config.mjs', '--dir', folder);
}

/** The steps to run, in order; null when they are to be listed. */
function options(args) {
  let values;
  try {
    ({ values } = parseArgs({ args, options: { only: { type: 'string' }, list: { type: 'boolean' } } }));
  } catch (error) {
    throw new Fail(`${error.message}\nUsage: npm test -- [--only NAME[,NAME…]] [--list]`);
  }
  if (values.list) return null;
  if (values.only === undefined) return STEPS;
  const wanted = new Set();
  for (const name of values.only.split(',')) want(name, wanted);
  return STEPS.filter(({ name }) => wanted.has(name));
}

function want(name, wanted) {
  const step = STEPS.find((step) => step.name === name);
  if (!step)
    throw new Fail(`There is no step "${name}": choose from ${STEPS.map(({ name }) => name).join(', ')}.`);
  wanted.add(name);
  for (const need of step.needs ?? []) want(need, wanted);
}

// Colours for people only: logs are read by programs, too, and some tools colour whatever a CI machine runs.
function plainOutput() {
  if (process.stdout.isTTY) return;
  process.env.NO_COLOR = '1';
  process.env.CARGO_TERM_COLOR = 'never';
}

function heading({ name, title }) {
  console.log(`\n=== ${name}: ${title}`);
}

function list() {
  for (const { name, title } of STEPS) console.log(`${name.padEnd(10)}${title}`);
}

function table(report) {
  console.log('\n=== summary');
  for (const { step, took, failed } of report) {
    console.log(
      `${failed ? 'FAILED' : 'passed'}  ${step.name.padEnd(10)}${seconds(took).padStart(11)}  ${step.title}`,
    );
  }
}
