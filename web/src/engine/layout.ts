/** Where each field lies in the engine's buffers. The engine writes these buffers in place once per frame. */

export const NODE = {
  stride: 20,
  id: 0,
  role: 1,
  status: 2,
  term: 3,
  vote: 4,
  follows: 5,
  deadline: 6,
  armedAt: 7,
  leaseUntil: 8,
  leaseStart: 9,
  promiseUntil: 10,
  promiseStart: 11,
  promiseTerm: 12,
  diskPending: 13,
  believes: 14,
  wouldAct: 15,
  granted: 16,
  lastLogTerm: 17,
  lastLogIndex: 18,
  incarnation: 19,
} as const;

export const FLIGHT = {
  stride: 8,
  id: 0,
  from: 1,
  to: 2,
  kind: 3,
  term: 4,
  sentAt: 5,
  arrivesAt: 6,
  fate: 7,
} as const;

/** What becomes of a message in flight. */
export const FATE = { arrives: 0, lost: 1, cut: 2, broken: 3, replayed: 4 } as const;

export const RESOURCE = {
  stride: 8,
  actor: 0,
  fenced: 1,
  token: 2,
  writer: 3,
  accepted: 4,
  stale: 5,
  refused: 6,
  value: 7,
} as const;

/** A server: of a store by which nodes elect, or one that keeps data of its own. */
export const SERVER = {
  stride: 18,
  actor: 0,
  status: 1,
  held: 2,
  holder: 3,
  token: 4,
  until: 5,
  records: 6,
  ahead: 7,
  pace: 8,
  part: 9,
  follows: 10,
  end: 11,
  linked: 12,
  committed: 13,
  registered: 14,
  brokerEpoch: 15,
  place: 16,
  leaderEpoch: 17,
} as const;

/** What a server is, by code. */
export const PARTS = ['store', 'master', 'replica', 'leader', 'follower', 'broker'] as const;
export type Part = (typeof PARTS)[number];

/** What the metadata says of a broker, by code. */
export const REGISTERED = ['unregistered', 'fenced', 'unfenced', 'controlled'] as const;

/** What a broker is to the partition that is shown, by code. */
export const PLACES = ['none', 'out', 'eligible', 'in-sync', 'leader'] as const;

/** What is particular to a node of ZooKeeper's own election. */
export const ZAB = {
  stride: 12,
  node: 0,
  state: 1,
  phase: 2,
  round: 3,
  proposes: 4,
  proposedEpoch: 5,
  proposedZxidEpoch: 6,
  proposedZxidIndex: 7,
  acceptedEpoch: 8,
  currentEpoch: 9,
  zxidEpoch: 10,
  zxidIndex: 11,
} as const;

/** The phases of ZAB, by code. */
export const PHASES = ['election', 'discovery', 'synchronisation', 'broadcast'] as const;

/** What is particular to a sentinel: so many rows as it watches masters. */
export const SENTINEL = {
  stride: 14,
  node: 0,
  master: 1,
  configEpoch: 2,
  opinion: 3,
  agree: 4,
  quorum: 5,
  voteEpoch: 6,
  votedFor: 7,
  failover: 8,
  failoverEpoch: 9,
  promotes: 10,
  votes: 11,
  voters: 12,
  tilt: 13,
} as const;

/** What a sentinel holds of a master, by code. */
export const OPINIONS = ['up', 'sdown', 'odown'] as const;

/** How far a sentinel's failover has come, by code. */
export const FAILOVERS = [
  'none',
  'wait-start',
  'select-replica',
  'send-replica-of-no-one',
  'wait-promotion',
  'reconf-replicas',
  'update-config',
] as const;

/** What is particular to a node of Kafka's controllers. */
export const KRAFT = {
  stride: 9,
  node: 0,
  state: 1,
  voter: 2,
  voted: 3,
  highWatermark: 4,
  logEnd: 5,
  epochStart: 6,
  active: 7,
  fetched: 8,
} as const;

/** The states of the quorum, by code. */
export const QUORUM_STATES = [
  'unattached',
  'prospective',
  'candidate',
  'leader',
  'follower',
  'resigned',
] as const;

export const SUMMARY = {
  believedLeaders: 0,
  overlapUs: 1,
  leaderlessUs: 2,
  staleUnfenced: 3,
  staleFenced: 4,
  refused: 5,
  messages: 6,
  elections: 7,
  established: 8,
  acknowledged: 9,
  broken: 10,
  leader: 11,
  leaderTerm: 12,
} as const;

/** A replicated log: this, then its runs, then the followers that its node leads. */
export const LOG = {
  stride: 9,
  node: 0,
  base: 1,
  baseTerm: 2,
  last: 3,
  committed: 4,
  applied: 5,
  durable: 6,
  runs: 7,
  followers: 8,
} as const;

/** Entries of one term that follow each other. */
export const RUN = { stride: 2, term: 0, count: 1 } as const;

/** What a leader knows of a follower's log. */
export const FOLLOWER = { stride: 4, node: 0, match: 1, next: 2, pace: 3 } as const;

/** How entries go to a follower, by code. */
export const PACES = ['probe', 'probing', 'stream', 'snapshot'] as const;
export type Pace = (typeof PACES)[number];

/** A client of the store: what it waits for and since when, then how many of each errand were answered. */
export const CLIENT = { stride: 8, actor: 0, errand: 1, since: 2, answered: 3 } as const;

/** What a client asks the store for, by code. */
export const ERRANDS = ['write', 'log-read', 'confirmed-read', 'leased-read', 'lease'] as const;
export type Errand = (typeof ERRANDS)[number];

export const EVENT = {
  stride: 8,
  time: 0,
  kind: 1,
  actor: 2,
  other: 3,
  term: 4,
  a: 5,
  b: 6,
  cause: 7,
} as const;

/** Event codes, in the order of `eventKinds()`. */
export const EVENT_KINDS = [
  'boot',
  'crash',
  'pause',
  'resume',
  'cut',
  'heal',
  'send',
  'deliver',
  'lose',
  'persist',
  'persisted',
  'persist-lost',
  'timeout',
  'role',
  'elected',
  'established',
  'deposed',
  'following',
  'write-issued',
  'write-accepted',
  'write-refused',
  'fenced',
  'read',
  'acknowledged',
  'violation',
  'no-effect',
  'refusal',
  'healed',
  'end',
  'disconnect',
  'reconnect',
  'job-due',
  'job-claimed',
  'job-started',
  'job-stopped',
  'job-done',
  'job-refused',
  'committed',
  'installed',
  'failover',
  'evict',
  'back-up',
  'restore',
  'tail-lost',
  'news',
  'serves',
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];

/** The code of an event kind. */
export const KIND = Object.fromEntries(EVENT_KINDS.map((name, code) => [name, code])) as Record<
  EventKind,
  number
>;

export const ROLES = [
  'follower',
  'pre-candidate',
  'candidate',
  'elected',
  'leader',
  'halted',
  'looking',
  'observer',
] as const;
export type Role = (typeof ROLES)[number];

export const STATUSES = ['up', 'paused', 'crashed'] as const;
export type Status = (typeof STATUSES)[number];

/** Message kinds by code. */
export const MESSAGES: Readonly<Record<number, string>> = {
  0: 'RequestPreVote',
  1: 'PreVoteGranted',
  2: 'PreVoteRefused',
  3: 'RequestVote',
  4: 'VoteGranted',
  5: 'VoteRefused',
  6: 'Heartbeat',
  7: 'HeartbeatAck',
  8: 'HeartbeatRefused',
  9: 'Release',
  10: 'Append',
  11: 'AppendAck',
  12: 'AppendRefused',
  13: 'Commit',
  14: 'InstallSnapshot',
  15: 'Fetch',
  16: 'Suffix',
  17: 'ReadIndex',
  18: 'ReadIndexAck',
  19: 'NotMember',
  20: 'ClientRequest',
  21: 'ClientReply',
  22: 'Write',
  23: 'WriteReply',
  24: 'Fence',
  25: 'Read',
  26: 'Look',
  27: 'List',
  28: 'Claim',
  29: 'Finish',
  30: 'Ask',
  31: 'Said',
  32: 'AskStore',
  33: 'StoreSaid',
  34: 'Servers',
  40: 'SuffixSnapshot',
  50: 'Notification',
  51: 'LearnerInfo',
  52: 'LeaderInfo',
  53: 'AckEpoch',
  54: 'Diff',
  55: 'Trunc',
  56: 'Snap',
  57: 'Proposal',
  58: 'Commit',
  59: 'Inform',
  60: 'NewLeader',
  61: 'AckNewLeader',
  62: 'Ack',
  63: 'UpToDate',
  64: 'Ping',
  65: 'Sync',
  66: 'Closed',
  70: 'Ping',
  71: 'Pong',
  72: 'Info',
  73: 'InfoReply',
  74: 'IsMasterDown',
  75: 'MasterDownReply',
  76: 'Hello',
  77: 'ReplicaOf',
  78: 'Psync',
  79: 'Stream',
  80: 'FullSync',
  81: 'Closed',
  90: 'Vote',
  91: 'PreVoteAsked',
  92: 'VoteYes',
  93: 'VoteNo',
  94: 'BeginQuorum',
  95: 'BeginQuorumReply',
  96: 'EndQuorum',
  97: 'EndQuorumReply',
  98: 'FetchAsked',
  99: 'Fetched',
  100: 'Diverging',
  101: 'SnapshotNeeded',
  102: 'FetchSnapshot',
  103: 'SnapshotFetched',
  110: 'FetchMetadata',
  111: 'Metadata',
  112: 'MetadataDiverges',
  113: 'NoMetadata',
  114: 'AskController',
  115: 'ControllerAnswer',
  116: 'ReplicaFetch',
  117: 'ReplicaRecords',
  118: 'ReplicaDiverging',
  119: 'ReplicaRefused',
  120: 'Produce',
  121: 'Produced',
  122: 'Consume',
  123: 'Consumed',
  124: 'Describe',
  125: 'Partitions',
};

/** Two 32-bit halves of a bit mask over event codes, as `seekNext` takes them. */
export function kindMask(kinds: Iterable<EventKind>): [lo: number, hi: number] {
  let lo = 0;
  let hi = 0;
  for (const kind of kinds) {
    const code = KIND[kind];
    if (code < 32) lo |= 1 << code;
    else hi |= 1 << (code - 32);
  }
  return [lo >>> 0, hi >>> 0];
}
