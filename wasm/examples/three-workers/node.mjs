// One node: a machine in a worker thread, and what a program that embeds it does around it.
import { parentPort, workerData } from 'node:worker_threads';
import { Raft } from '../../pkg/node/tenure_machines.js';
import { GRAIN, now } from './clock.mjs';
import { Disk, nameOf } from './disk.mjs';

const { id, voters, folder, ran, ports } = workerData;

const disk = ran ? Disk.open(folder) : Disk.create(folder);
const [seed] = crypto.getRandomValues(new BigUint64Array(1));
const timing = { electionMin: 300_000, electionMax: 600_000, heartbeat: 75_000, grain: GRAIN };
const raft = new Raft(
  { id, voters, timing, replication: {} },
  { stored: disk.stored, incarnation: disk.incarnation, seed },
  now(),
);

/** The way to each peer. */
const peers = new Map();
/** Payloads that came with the present input, by the names of their entries. */
const payloads = new Map();
/** Up to where the log was applied. */
let applied = 0n;
let timer;

parentPort.on('message', (command) => {
  if (command.kind === 'connect') connect(command.peer, command.port);
  if (command.kind === 'propose') propose(command.text);
});
for (const { peer, port } of ports) connect(peer, port);
input(() => {});

function connect(peer, port) {
  peers.set(peer, port);
  port.on('message', ({ message, carried }) => {
    input((at) => {
      for (const { term, index, payload } of carried) payloads.set(nameOf(term, index), payload);
      raft.handlePeer(at, peer, message);
    });
  });
}

function propose(text) {
  input((at) => {
    // Only who may act answers clients. Who may not is asked again, or another is.
    if (raft.standing(at).kind !== 'leading') return;
    const { term, index } = raft.propose(at, 1);
    payloads.set(nameOf(term, index), text);
  });
}

/** Gives the machine one input, and does what it asks. */
function input(handle) {
  // A flood of input must not keep a due timeout waiting: it could be the end of a tenure.
  raft.handleTimeout(now());
  drain();
  handle(now());
  drain();
  // The disk answers at once, and so has taken by now what it is to take: the rest came with what the machine refused.
  payloads.clear();
  apply();
  clearTimeout(timer);
  const deadline = raft.deadline();
  // A timer that fires early is harmless: the machine goes by `now`.
  if (deadline !== undefined) timer = setTimeout(input, Math.ceil((deadline - now()) / 1_000), () => {});
}

function drain() {
  for (let output = raft.poll(); output; output = raft.poll()) {
    if (output.kind === 'send') send(output);
    if (output.kind === 'request') write(output);
    if (output.kind === 'event') tell(output.event);
  }
}

function send({ to, message, carries }) {
  // Nothing is compacted here, and so nobody needs a snapshot.
  const span = carries?.kind === 'entries' ? carries : undefined;
  const carried = [];
  // The machine's own entries, which come first, have no payload.
  for (let nth = 1n + (span?.own ?? 0n); nth <= (span?.count ?? 0n); nth += 1n) {
    const index = span.after.index + nth;
    const payload = disk.payload(span.term, index);
    // A message that cannot bring what it names is not sent: it was lost, and the machine tries again.
    if (payload === undefined) return;
    carried.push({ term: span.term, index, payload });
  }
  peers.get(to)?.postMessage({ message, carried });
}

function write(request) {
  try {
    disk.write(request, payloads);
  } catch (error) {
    // Nobody knows what the disk holds now: the machine says nothing more, and the thread ends.
    raft.reply(now(), request.ticket, false);
    throw error;
  }
  raft.reply(now(), request.ticket, true);
}

/** What is committed happens everywhere, in the same order. */
function apply() {
  while (applied < raft.commit) {
    applied += 1n;
    const text = disk.payload(raft.termAt(applied), applied);
    if (text !== null) parentPort.postMessage({ kind: 'applied', text });
  }
}

/** News is for people: before each effect a program asks `raft.standing(now())`, which alone authorises. */
function tell(event) {
  parentPort.postMessage(event);
}
