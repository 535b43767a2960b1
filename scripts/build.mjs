// npm run build: the page as a folder of files, dist/, that any host serves under any path.
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { installPackages } from './lib/packages.mjs';
import { Fail, isEntry, main, root, runPackage } from './lib/run.mjs';
import { BUDGETS, checkBudget, gzipSize, kilobytes } from './lib/sizes.mjs';
import { checkRust } from './lib/toolchain.mjs';
import { buildWasm, SIMULATORS } from './wasm.mjs';

export const DIST = join(root, 'dist');

/** The builds of the simulator for schemes other than Raft: the page begins without, and fetches one for such a scheme. */
const OTHERS = ['peers/tenure_peers', 'stores/tenure_stores', 'tenure_wasm'].flatMap((name) => [
  `src/engine/pkg/${name}.js`,
  `src/engine/pkg/${name}_bg.wasm`,
]);

/** The words of each language, of which a visit loads one. */
const LANGUAGES = { English: 'src/i18n/english.ts', Chinese: 'src/i18n/chinese.ts' };

/** What Vite says about the files it made; read and removed, for nobody serves it. */
const MANIFEST = 'manifest.json';

/** Builds the page for publication and holds it to its budget, if that binds; the WASM modules must be there. */
export async function buildPage({ binding = true } = {}) {
  // A process of its own: what Vite does to the environment for a production build would reach the tests after it.
  const args = ['build', 'web', '--base', './', '--outDir', '../dist', '--emptyOutDir', '--logLevel', 'warn'];
  await runPackage('vite/bin/vite.js', [...args, '--manifest', MANIFEST]);
  checkPaths();
  const { later, languages } = loadedLater();
  const sizes = files(DIST)
    .filter((path) => !path.endsWith('.map'))
    .map((path) => ({ path, size: gzipSize(readFileSync(join(DIST, path))) }))
    .sort((a, b) => b.size - a.size);
  const width = Math.max(...sizes.map(({ path }) => path.length));
  const print = (list) => {
    for (const { path, size } of list) console.log(`  ${path.padEnd(width)}  ${kilobytes(size).padStart(9)}`);
    return list.reduce((sum, { size }) => sum + size, 0);
  };
  // Everything that is not known to come later counts: nothing can hide.
  const visit = print(sizes.filter(({ path }) => !later.has(path)));
  for (const [language, files] of languages) {
    const words = print(sizes.filter(({ path }) => files.includes(path)));
    checkBudget(`whole page, as one visit in ${language} loads it`, visit + words, BUDGETS.page, binding);
  }
  const spoken = languages.flatMap(([, files]) => files);
  const rest = print(sizes.filter(({ path }) => later.has(path) && !spoken.includes(path)));
  console.log(`loaded when asked for: ${kilobytes(rest)} gzip`);
}

// The files that only a dynamic import brings, as a language and the help, and the other builds of the simulator; and by name
// which of them are languages. What the entry loads at once, through however many static imports, is not among them.
function loadedLater() {
  const file = join(DIST, MANIFEST);
  const chunks = JSON.parse(readFileSync(file, 'utf8'));
  rmSync(file);
  const reach = (names, seen = new Set()) => {
    for (const name of names) {
      if (seen.has(name)) continue;
      seen.add(name);
      reach(chunks[name].imports ?? [], seen);
    }
    return seen;
  };
  const made = (names) =>
    [...names].flatMap((name) => [
      chunks[name].file,
      ...(chunks[name].css ?? []),
      ...(chunks[name].assets ?? []),
    ]);
  const atOnce = reach(Object.keys(chunks).filter((name) => chunks[name].isEntry));
  const dynamic = reach(Object.keys(chunks).filter((name) => chunks[name].isDynamicEntry));
  const others = OTHERS.map((name) => chunks[name].file);
  const first = new Set(made(atOnce).filter((path) => !others.includes(path)));
  const later = new Set([...made(dynamic), ...others].filter((path) => !first.has(path)));
  const words = ([language, name]) => [language, made(reach([name])).filter((path) => later.has(path))];
  return { later, languages: Object.entries(LANGUAGES).map(words) };
}

// A path from the root of a host is a page that works nowhere but there.
function checkPaths() {
  const rooted = readFileSync(join(DIST, 'index.html'), 'utf8').match(/(?:src|href)="(\/[^"]*)"/);
  if (rooted) {
    throw new Fail(
      `dist/index.html points to ${rooted[1]}: write paths in web/index.html relative to it (./…).`,
    );
  }
}

function files(folder, below = '') {
  return readdirSync(join(folder, below)).flatMap((name) => {
    const path = below ? `${below}/${name}` : name;
    return statSync(join(folder, path)).isDirectory() ? files(folder, path) : [path];
  });
}

if (isEntry(import.meta.url)) {
  await main(async () => {
    checkRust();
    await installPackages();
    for (const module of SIMULATORS) await buildWasm(module);
    await buildPage();
    console.log('\nThe page is in dist/: any host serves it, under any path.');
  });
}
