// The npm packages: installed exactly as the lock says, and only when they are not.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fail, root, run } from './run.mjs';

/** Installs the npm packages when what is there is not what the lock says. */
export async function installPackages() {
  const reason = difference();
  if (reason === null) return;
  console.log(`npm packages: ${reason}; installing`);
  // npm tells its scripts where it is: starting it through Node needs no shell, on any system.
  const npm = process.env.npm_execpath;
  const [command, before] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  try {
    await run(command, [...before, 'ci', '--no-fund', '--no-audit']);
  } catch {
    throw new Fail(
      'The npm packages cannot be installed. If the lock and package.json differ, run `npm install`; ' +
        'else see that npm reaches its registry.',
    );
  }
}

/** Refuses a lock that carries the address of a registry: it would bind everybody to that one. */
export function checkLock() {
  const bound = Object.entries(readJson('package-lock.json').packages)
    .filter(([, entry]) => entry.resolved !== undefined && !entry.link)
    .map(([name]) => name);
  if (bound.length > 0) {
    throw new Fail(
      `package-lock.json names the address of ${bound[0]} and ${bound.length - 1} more. Remove it and node_modules ` +
        'and run `npm install` in this folder, whose .npmrc leaves addresses out.',
    );
  }
  console.log('package-lock.json holds no addresses');
}

// Versions rather than dates of change: a checkout makes every file new.
function difference() {
  const wanted = readJson('package-lock.json');
  const there = readJson('node_modules/.package-lock.json');
  if (wanted === null) throw new Fail('package-lock.json is missing: check it out again.');
  if (there === null) return 'none are installed';
  for (const [name, { version, optional }] of Object.entries(wanted.packages)) {
    const found = there.packages[name];
    const excused = name === '' || (optional && found === undefined);
    if (!excused && found?.version !== version)
      return `${name} is ${found?.version ?? 'missing'}, not ${version}`;
  }
  return null;
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8'));
  } catch {
    return null;
  }
}
