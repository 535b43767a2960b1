// The example that embeds the machines in Node.js, as a person runs it, and its disk by itself.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { drain, load } from './machines';

const FOLDER = new URL('../../wasm/examples/three-workers/', import.meta.url);
const EXAMPLE = fileURLToPath(new URL('main.mjs', FOLDER));

test('three worker threads lose their leader and get it back', async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [EXAMPLE], { timeout: 30_000 });
  expect(stderr).toBe('');
  const story = new RegExp(
    [
      'node (?<first>\\d) leads with token (?<token>\\d+)',
      'everybody has applied one, two, three',
      'node \\k<first> is terminated',
      'node (?<second>\\d) leads with token (?<next>\\d+), \\d+ ms later',
      'node \\k<first> is back and has applied one, two, three, four, five',
      '',
    ].join('\n'),
  );
  const groups = stdout.match(story)?.groups;
  expect(groups, stdout).toBeDefined();
  expect(groups?.second).not.toBe(groups?.first);
  expect(Number(groups?.next)).toBeGreaterThan(Number(groups?.token));
});

test('its disk gives back what was written, and is refused when it is damaged or gone', async () => {
  const { Raft } = await load();
  const { Disk } = await import(new URL('disk.mjs', FOLDER).href);
  const temporary = mkdtempSync(join(tmpdir(), 'tenure-disk-'));
  try {
    const folder = join(temporary, '0');
    expect(() => Disk.open(folder)).toThrow('ENOENT');
    const disk = Disk.create(folder);
    expect([disk.incarnation, disk.stored]).toEqual([1, undefined]);
    const raft = new Raft({ id: 0, voters: [0], replication: {} }, { incarnation: 1, seed: 1 }, 0);
    raft.campaign(0);
    const write = (payloads: Map<string, string>) => {
      for (const output of drain(raft)) {
        if (output.kind !== 'request') continue;
        disk.write(output, payloads);
        raft.reply(0, output.ticket, true);
      }
    };
    write(new Map());
    write(new Map());
    const { term, index } = raft.propose(0, 1);
    const [request] = drain(raft).filter(({ kind }) => kind === 'request');
    expect(() => disk.write(request, new Map())).toThrow('without its payload');
    disk.write(request, new Map([[`${term}.${index}`, 'payload']]));
    // An entry that is there already keeps its payload when it is written again.
    disk.write(request, new Map());

    const again = Disk.open(folder);
    expect(again.incarnation).toBe(2);
    expect([again.payload(term, index), again.payload(term + 1n, index)]).toEqual(['payload', undefined]);
    expect([again.payload(term, index - 1n), again.payload(term, index + 1n)]).toEqual([null, undefined]);
    const boot = { incarnation: again.incarnation, seed: 1, stored: again.stored };
    expect(new Raft({ id: 0, voters: [0], replication: {} }, boot, 0).last).toEqual({ term, index });

    const file = join(folder, 'disk');
    const whole = readFileSync(file);
    for (let place = 0; place < whole.length; place += 1) {
      writeFileSync(
        file,
        whole.map((byte, at) => (at === place ? byte ^ 1 : byte)),
      );
      expect(() => Disk.open(folder), `byte ${place}`).toThrow('damaged');
      writeFileSync(file, whole.subarray(0, place));
      expect(() => Disk.open(folder), `${place} bytes`).toThrow('damaged');
    }
  } finally {
    rmSync(temporary, { recursive: true });
  }
});
