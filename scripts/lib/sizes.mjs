// Sizes as a visitor pays for them, and the budgets that bind them.
import { gzipSync } from 'node:zlib';
import { Fail } from './run.mjs';

/**
 * Budgets in bytes after gzip: what is aimed at, and where the build stops. The aims are of one scheme's election for what the
 * page begins with, and of all schemes for every other build of the simulator.
 *
 * `raft`, which the page begins with, is the simulator without elections over a store and without other peers. With Raft's
 * election alone it had 75 KB; the replicated log, the store on it and its clients are 38 KB more, the judges of logs 5 KB,
 * changes of members with their judges and reads of each kind 12 KB, the takeover as the core has it 8 KB, the names of what
 * other schemes are judged by 1 KB.
 * `peers` has the other elections among peers besides: ZooKeeper's own, sentinels with their data servers, and Kafka's
 * controllers with brokers and their clients, 159 KB with the judges of each. `stores` has ten schemes over a store and their
 * servers, 147 KB, among them an etcd that is a cluster. `whole` has both, and the ensemble of ZooKeeper over its store, which
 * takes both. The largest part of each is how a world is cloned, which time travel takes: 16 KB of `raft`, 38 KB of `peers` and
 * of `stores`. Debian's compiler makes `raft` 3 KB smaller than rustup's and the others as large, to 1 KB.
 * Built for size (opt-level z) it is a twelfth smaller and runs 1.6 times as long; with the compiler's usual
 * inlining (scripts/wasm.mjs) it is larger and runs a tenth faster.
 *
 * `page` is what a first visit in one language loads, `raft` included: it shows Raft alone. The other builds come when a
 * scenario takes them, with the words about its scheme where those are many, and words about rules and systems when somebody
 * looks.
 */
export const BUDGETS = {
  raft: { aim: 60 * 1024, limit: 146 * 1024 },
  peers: { aim: 150 * 1024, limit: 307 * 1024 },
  stores: { aim: 150 * 1024, limit: 296 * 1024 },
  whole: { aim: 150 * 1024, limit: 474 * 1024 },
  machines: { aim: 60 * 1024, limit: 60 * 1024 },
  page: { aim: 150 * 1024, limit: 246 * 1024 },
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
