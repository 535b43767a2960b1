// Sizes as a visitor pays for them, and the budgets that bind them.
import { gzipSync } from 'node:zlib';
import { Fail } from './run.mjs';

/**
 * Budgets in bytes after gzip: what is aimed at, and where the build stops. The aims are of one scheme's election for what the
 * page begins with, and of all schemes for the whole simulator.
 *
 * `raft`, which the page begins with, is the simulator without elections over a store. With Raft's election alone it had 75 KB;
 * the replicated log, the store on it and its clients are 38 KB more, the judges of logs 5 KB, changes of members with their
 * judges and reads of each kind 12 KB, the takeover as the core has it 8 KB, the names of what other schemes are judged by 1 KB.
 * `whole` has nine schemes over a store and their servers besides, 149 KB, 12 KB of an etcd that is a cluster, and the
 * elections among peers that are not Raft: 32 KB of ZooKeeper's own servers (their election and broadcast in the core, their
 * messages and disks, the seven judges of it), and 86 KB of sentinels with their data servers and of Kafka's controllers;
 * what of these is shown beyond what Raft shows is 3 KB. Brokers with their controller, clients and eleven judges, and the
 * ensemble of ZooKeeper over its store, are 107 KB more: the next step is a module of the peers alone beside that of the
 * stores. Built for size (opt-level z) it is a twelfth smaller and runs 1.6 times as long; with the compiler's usual
 * inlining (scripts/wasm.mjs) it is larger and runs a tenth faster.
 *
 * `page` is what a first visit loads, `raft` included: it shows Raft alone. `whole` comes when a scenario takes it, and words
 * about schemes, rules and systems when somebody looks; the switches themselves are 1 KB. To fetch them later would cost more:
 * the page lists by name what comes later. The names of 22 checks of ZooKeeper, Sentinel and Kafka are 2 KB, and what else the
 * page says of these three and shows of them alone 9 KB: their words, of which most are what a sentinel tells of and why each
 * refuses a message, the marks and tables of data servers, and their settings; and as much of
 * brokers and of a partition 4 KB.
 */
export const BUDGETS = {
  raft: { aim: 60 * 1024, limit: 151 * 1024 },
  peers: { aim: 150 * 1024, limit: 356 * 1024 },
  stores: { aim: 150 * 1024, limit: 315 * 1024 },
  whole: { aim: 150 * 1024, limit: 540 * 1024 },
  machines: { aim: 60 * 1024, limit: 60 * 1024 },
  page: { aim: 150 * 1024, limit: 251 * 1024 },
};

export function gzipSize(bytes) {
  return gzipSync(bytes, { level: 9 }).length;
}

export function kilobytes(bytes) {
  return `${(bytes / 1024).toFixed(1)} KB`;
}

/** Prints a size beside its budget, and fails above the limit, unless somebody only wants to see the page. */
export function checkBudget(what, bytes, { aim, limit }, binding = true) {
  const beside = bytes <= limit ? 'below' : 'and above';
  const verdict =
    bytes > aim
      ? `: ${kilobytes(bytes - aim)} above its aim, ${beside} its limit of ${kilobytes(limit)}`
      : '';
  console.log(`${what}: ${kilobytes(bytes)} gzip of ${kilobytes(aim)}${verdict}`);
  if (bytes > limit && binding) {
    throw new Fail(
      `${what} is ${kilobytes(bytes - limit)} over its limit: make it smaller, or say in the change why the limit ` +
        'in scripts/lib/sizes.mjs must rise.',
    );
  }
}
