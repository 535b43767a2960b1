// npm run build: the page as a folder of files, dist/, that any host serves under any path.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { installPackages } from './lib/packages.mjs';
import { Fail, isEntry, main, root, runPackage } from './lib/run.mjs';
import { BUDGETS, checkBudget, gzipSize, kilobytes } from './lib/sizes.mjs';
import { checkRust } from './lib/toolchain.mjs';
import { buildWasm } from './wasm.mjs';

export const DIST = join(root, 'dist');

/** Builds the page for publication and holds it to its budget; the WASM module must be there. */
export async function buildPage() {
  // A process of its own: what Vite does to the environment for a production build would reach the tests after it.
  const args = ['build', 'web', '--base', './', '--outDir', '../dist', '--emptyOutDir', '--logLevel', 'warn'];
  await runPackage('vite/bin/vite.js', args);
  checkPaths();
  const sizes = files(DIST)
    .filter((path) => !path.endsWith('.map'))
    .map((path) => ({ path, size: gzipSize(readFileSync(join(DIST, path))) }))
    .sort((a, b) => b.size - a.size);
  const width = Math.max(...sizes.map(({ path }) => path.length));
  for (const { path, size } of sizes) console.log(`  ${path.padEnd(width)}  ${kilobytes(size).padStart(9)}`);
  // Everything there is: more than most visits load, and nothing can hide.
  checkBudget(
    'whole page',
    sizes.reduce((sum, { size }) => sum + size, 0),
    BUDGETS.page,
  );
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
    await buildWasm();
    await buildPage();
    console.log('\nThe page is in dist/: any host serves it, under any path.');
  });
}
