// Running commands, and failing with a sentence that says what to do.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A failure that a person can act upon: its message is all they need, so no stack is shown. */
export class Fail extends Error {}

/** Runs a command before their eyes; a failure names the command. */
export function run(command, args, { env, cwd = root } = {}) {
  console.log(`$ ${[command, ...args].map(shown).join(' ')}`);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: 'inherit' });
    child.on('error', (error) => {
      reject(
        new Fail(error.code === 'ENOENT' ? `${command} is not installed.` : `${command}: ${error.message}`),
      );
    });
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else
        reject(
          new Fail(`${shown(command)} ${shown(args[0] ?? '')} ended with ${signal ?? `exit code ${code}`}.`),
        );
    });
  });
}

/** What a command prints, without its last line break, or null when it cannot run or fails. */
export function ask(command, args, { env, stderr = 'ignore' } = {}) {
  const answer = spawnSync(command, args, {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', stderr],
  });
  return answer.status === 0 ? answer.stdout.trimEnd() : null;
}

/** Runs a program from the npm packages: by its script, since the shims of npm differ between systems. */
export function runPackage(script, args, options) {
  return run(process.execPath, [join(root, 'node_modules', script), ...args], options);
}

/** The first of the paths at which something is. */
export function firstExisting(paths) {
  return paths.find((path) => path && existsSync(path));
}

export function seconds(milliseconds) {
  const s = milliseconds / 1000;
  if (s < 60) return `${s.toFixed(1)} s`;
  return `${Math.floor(s / 60)} min ${String(Math.floor(s % 60)).padStart(2, '0')} s`;
}

/** The command line's entry: runs the work, and turns a failure into one sentence and exit code 1. */
export async function main(work) {
  try {
    await work(process.argv.slice(2));
  } catch (error) {
    console.error(`\n${error instanceof Fail ? error.message : (error?.stack ?? error)}`);
    process.exitCode = 1;
  }
}

/** Whether this file is what Node was started with, and not a module of another. */
export function isEntry(url) {
  return process.argv[1] !== undefined && fileURLToPath(url) === realpathSync(process.argv[1]);
}

// What is on the screen is a command that can be typed: paths below the root are shown from there.
function shown(word) {
  const plain = word === process.execPath ? 'node' : word.replace(root, '');
  return /^[\w@%+=:,./-]+$/.test(plain) ? plain : `'${plain}'`;
}
