import type { Glossary } from './glossary';

/** What the words of the subject mean, in English. */
export const GLOSSARY: Glossary = {
  leader: {
    name: 'leader',
    text: 'The one node that may act for all. Safety wants never two; liveness, never nobody for long.',
  },
  follower: {
    name: 'follower',
    text: 'A node that hears a leader and waits. When it hears nothing until its timer runs out it asks for votes.',
  },
  candidate: {
    name: 'candidate',
    text: 'A node that has raised its term, voted for itself and asks the others for their vote.',
  },
  preCandidate: {
    name: 'pre-candidate',
    text: 'A node that asks whether it would get votes before it raises its term. See pre-vote.',
  },
  term: {
    name: 'term',
    text: 'One period of leadership, numbered upwards. A node that hears a higher term adopts it; an older term is refused.',
  },
  token: {
    name: 'fencing token',
    text: 'A number that rises with every new leader and travels with each write, so that a resource can tell an old leader from the new one.',
  },
  tenure: {
    name: 'tenure',
    text: 'What a leader holds: its token and the instant until which it may act. Once lapsed it never revives.',
  },
  lease: {
    name: 'lease',
    text: 'The time for which a leader may act without asking again. It counts from the moment the heartbeat was sent, never from the reply.',
  },
  promise: {
    name: 'promise',
    text: 'A voter that heard a heartbeat promises to elect nobody else for a while. A majority of promises is what makes a lease safe.',
  },
  electionTimeout: {
    name: 'election timeout',
    text: 'How long a follower waits for a heartbeat before it stands itself. Drawn at random each time, so that rarely two stand together.',
  },
  heartbeat: {
    name: 'heartbeat',
    text: 'The message by which a leader says that it is there, many times per election timeout. Answers from a majority extend its lease.',
  },
  preVote: {
    name: 'pre-vote',
    text: 'A question before the election: would you vote for me? A node that was cut off cannot disturb a good leader with a higher term.',
  },
  quorum: {
    name: 'majority',
    text: 'More than half of the nodes. Any two majorities share a node, so two leaders of one term cannot both be elected.',
  },
  established: {
    name: 'established',
    text: 'Elected means decided; established means allowed to act: a majority has answered a heartbeat of the new term.',
  },
  fence: {
    name: 'fence',
    text: 'The guard a resource keeps: it remembers the highest token it has seen and refuses writes with a lower one.',
  },
  staleWrite: {
    name: 'stale write',
    text: 'A write by a leader that has already been replaced. It left in good faith and arrives too late.',
  },
  splitBrain: {
    name: 'two leaders',
    text: 'Split brain: two nodes believe at the same instant that they may act as leader.',
  },
  zombie: {
    name: 'zombie',
    text: 'A leader that was frozen and has been replaced meanwhile, without knowing. When it wakes it may act on what it last knew.',
  },
  partition: {
    name: 'partition',
    text: 'The network falls into groups that cannot hear each other. Only a group with a majority can have a leader.',
  },
  takeover: {
    name: 'takeover',
    text: 'What a new leader does before it works. Fencing first means that no late write of the old leader slips in after the read.',
  },
  job: {
    name: 'job',
    text: 'Periodic work that the leader does. Whoever leads next takes over what was begun.',
  },
  linearizable: {
    name: 'linearizable',
    text: 'Every answer fits one order of all operations, each done at one instant between question and answer.',
  },
  safeMode: {
    name: 'safe mode',
    text: 'Pre-vote and the leader’s check of its own majority, as one switch. It is on by default and should stay so.',
  },
  seed: {
    name: 'seed',
    text: 'All chance in a run comes from this number. The same scenario with the same seed is the same run, on every machine.',
  },
  disk: {
    name: 'disk',
    text: 'Term and vote must be on disk before the answer leaves. A vote that could be forgotten in a crash might be given twice.',
  },
  log: {
    name: 'log',
    text: 'Every command of the group is an entry: an index, and the term of the leader that wrote it. All nodes carry out the same entries in the same order.',
  },
  committed: {
    name: 'committed',
    text: 'A majority has the entry on disk, and its leader leads the term it belongs to: it stays for ever. What is not committed the next leader may overwrite.',
  },
  applied: {
    name: 'applied',
    text: 'Carried out on the node’s own copy of the store. Only what is committed is applied.',
  },
  snapshot: {
    name: 'snapshot',
    text: 'The state as of an entry. What led to it is no longer kept, and whoever lacks it is sent the snapshot.',
  },
  progress: {
    name: 'match and next',
    text: 'What the leader knows of a follower: up to where their logs agree, on disk (the line below a log), and which entry it sends next (▸). Dots are entries on their way.',
  },
  readIndex: {
    name: 'read index',
    text: 'A read without an entry: the leader notes how far is committed, a majority confirms that it still leads, and the answer comes once that is applied.',
  },
  scheme: {
    name: 'scheme',
    text: 'By what the nodes choose: by votes among themselves, or by a record in a store that all of them reach.',
  },
  ttl: {
    name: 'TTL',
    text: 'How long the store keeps a record that is not renewed. Shorter: a crash is noticed sooner. Longer: a pause or a slow network costs no leader.',
  },
  store: {
    name: 'store',
    text: 'A service that keeps the record of who leads, and lets it end by its own clock: etcd, ZooKeeper, Redis, a database.',
  },
  leaseRead: {
    name: 'lease read',
    text: 'A read from the leader’s own copy, with nobody asked, while its lease lasts. It is as good as the bound on the clocks.',
  },
  zxid: {
    name: 'zxid',
    text: 'The name of an entry: the epoch of the leader that proposed it, and its number. ZooKeeper counts anew in each epoch; here the number is its place in the whole log.',
  },
  round: {
    name: 'round',
    text: 'One attempt of a server to elect. Rounds are counted in memory alone and order nothing but the attempts: what makes an epoch safe are promises on disk.',
  },
  promised: {
    name: 'accepted and current epoch',
    text: 'The highest epoch that a server promised, and the one whose history it holds. Both are on disk; who promised an epoch does nothing for an earlier one.',
  },
  observer: {
    name: 'observer',
    text: 'A node that learns all that is decided and has no vote.',
  },
  opinion: {
    name: 'SDOWN and ODOWN',
    text: 'Subjectively down: this sentinel has heard nothing for down-after. Objectively down: as many as the quorum hold it to be so. Only then a failover is tried.',
  },
  offset: {
    name: 'replication offset',
    text: 'How much a data server has of what was written. What a replica lacks when it is promoted is lost.',
  },
  highWatermark: {
    name: 'high watermark',
    text: 'Up to where a node knows the log to be committed. A leader shows it only once a record of its own epoch is on a majority’s disks.',
  },
  broker: {
    name: 'broker epoch',
    text: 'By which registration a broker is there: each of its lives gets another. A broker that is silent for a session is fenced, and neither leads nor is in sync until it is heard of again.',
  },
  isr: {
    name: 'ISR',
    text: 'The in-sync replicas: those that have everything, as the controller wrote it down. What all of them have is committed, and any of them may lead next.',
  },
  elr: {
    name: 'ELR',
    text: 'Eligible leader replicas: they left the ISR when it had become too small to commit anything without them. When nobody is in sync, one of them may lead, and nothing is lost.',
  },
  partitionWatermark: {
    name: 'high watermark',
    text: 'Up to where a partition is committed: everybody in sync has it. A follower learns it from its leader, and lags behind.',
  },
};
