// The arrows between the rooms: who may use whom. Crates are asked of cargo, the page's imports are read.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { ask, Fail, root } from './run.mjs';

/** What each crate may depend on among the workspace's own. */
const CRATES = {
  tenure: [],
  'tenure-sim': ['tenure'],
  'tenure-wasm': ['tenure', 'tenure-sim'],
  'tenure-counts': ['tenure'],
  'tenure-stores': ['tenure', 'tenure-sim'],
  'tenure-tests': ['tenure', 'tenure-counts', 'tenure-sim', 'tenure-wasm'],
  xtask: [],
};

/** Where the page's modules may import from, beside packages: its own room, and the gallery, which is data. */
const PAGE = ['web/', 'scenarios/'];

export function checkArrows() {
  const wrong = [...crateArrows(), ...pageArrows()];
  if (wrong.length > 0) throw new Fail(`an arrow points the wrong way: ${wrong.join('; ')}`);
}

function crateArrows() {
  const metadata = JSON.parse(ask('cargo', ['metadata', '--no-deps', '--format-version', '1']));
  const wrong = [];
  for (const { name, dependencies } of metadata.packages) {
    const allowed = CRATES[name];
    if (!allowed) {
      wrong.push(`${name} is not in scripts/lib/arrows.mjs`);
      continue;
    }
    for (const { name: used } of dependencies) {
      if (used in CRATES && !allowed.includes(used)) wrong.push(`${name} uses ${used}`);
    }
  }
  return wrong;
}

function pageArrows() {
  const wrong = [];
  for (const file of sources(join(root, 'web/src'))) {
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']*)'/g)) {
      const target = relative(root, resolve(dirname(file), path));
      if (!PAGE.some((room) => target.startsWith(room)))
        wrong.push(`${relative(root, file)} imports ${target}`);
    }
  }
  return wrong;
}

function sources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'pkg' ? [] : sources(path);
    return /\.(ts|svelte)$/.test(entry.name) ? [path] : [];
  });
}
