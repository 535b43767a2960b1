// npm run counts: how many instructions the machines take, under Valgrind, beside the table in tests/counts/table.json.
//
//     npm run counts -- --update      writes the table; say in the change why a count rose
//
// Instructions do not depend on what else a machine does, as times do. They depend on the compiler, so that the table
// names the one it was made with, and binds where that one is used.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canInstall, installSystem } from './lib/debian.mjs';
import { ask, Fail, isEntry, main, root, run } from './lib/run.mjs';

const TABLE = 'tests/counts/table.json';
/** How much more than in the table is taken for the same: what a change elsewhere in the program can move. */
const TOLERANCE = 0.01;
const TIMES = 1000;

/** Counts, and fails when something takes more instructions than the table says. */
export async function checkCounts({ update = false } = {}) {
  const table = JSON.parse(readFileSync(join(root, TABLE), 'utf8'));
  const compiler = compilerHere();
  const reason = (await withoutValgrind()) ?? (update ? null : otherwiseBuilt(table, compiler));
  if (reason !== null) {
    console.log(`Instructions are not counted here: ${reason}`);
    return;
  }
  const program = await build();
  const counts = {};
  for (const work of Object.keys(table.instructions)) counts[work] = count(program, work);
  if (update) {
    writeFileSync(join(root, TABLE), `${JSON.stringify({ ...compiler, instructions: counts }, null, 2)}\n`);
    console.log(`${TABLE} is written.`);
    return;
  }
  compare(table.instructions, counts);
}

function compare(table, counts) {
  const slower = [];
  for (const [work, now] of Object.entries(counts)) {
    const change = now / table[work] - 1;
    const told = `${work}: ${now} instructions, ${percent(change)} beside ${table[work]}`;
    console.log(told);
    if (change > TOLERANCE) slower.push(told);
    else if (change < -TOLERANCE) console.log(`  fewer: keep it so with \`npm run counts -- --update\``);
  }
  if (slower.length === 0) return;
  throw new Fail(
    `slower than ${TABLE} allows (${percent(TOLERANCE)}): ${slower.join('; ')}. Make it faster, or write the table anew with ` +
      '`npm run counts -- --update` and say in the change what the instructions buy.',
  );
}

/** Why Valgrind cannot count here, or null. */
async function withoutValgrind() {
  if (process.platform !== 'linux') return 'Valgrind counts them on Linux alone.';
  if (ask('valgrind', ['--version']) !== null) return null;
  if (!canInstall()) return 'Valgrind is missing; `sudo apt-get install valgrind` brings it.';
  await installSystem(['valgrind']);
  return null;
}

/** Why the table says nothing about this compiler, or null. */
function otherwiseBuilt({ release, host }, here) {
  if (release === here.release && host === here.host) return null;
  return `the table is of Rust ${release} for ${host}, and this is ${here.release} for ${here.host}.`;
}

function compilerHere() {
  const version = ask('rustc', ['-vV']) ?? '';
  const word = (name) => version.match(new RegExp(`^${name}: (.*)$`, 'm'))?.[1];
  return { release: word('release'), host: word('host') };
}

/** The program that does the work; its path. */
async function build() {
  const args = ['build', '--release', '-p', 'tenure-counts'];
  await run('cargo', args);
  const messages = ask('cargo', [...args, '--quiet', '--message-format', 'json']) ?? '';
  const built = messages.split('\n').map((line) => JSON.parse(line));
  const program = built.find(({ target, executable }) => target?.name === 'counts' && executable);
  if (!program) throw new Fail('cargo does not say where it put the program that is counted.');
  return program.executable;
}

/** Instructions of the work, once, on average. */
function count(program, work) {
  const args = ['--tool=callgrind', '--callgrind-out-file=/dev/null', '--toggle-collect=*counted*'];
  // What Valgrind tells goes to its log, here the output, which the program leaves alone.
  const told = ask('valgrind', ['--log-fd=1', ...args, program, work, String(TIMES)], { stderr: 'inherit' });
  const counted = Number(told?.match(/Collected : (\d+)/)?.[1] ?? 0);
  if (counted === 0) throw new Fail(`Valgrind counted nothing of "${work}".`);
  return Math.round(counted / TIMES);
}

function percent(share) {
  return `${share < 0 ? '' : '+'}${(share * 100).toFixed(1)} %`;
}

if (isEntry(import.meta.url)) {
  await main((args) => checkCounts({ update: args.includes('--update') }));
}
