import type { Lang } from './translate';

/** The words of the subject that explain themselves on the page. */
export const WORDS = [
  'leader',
  'follower',
  'candidate',
  'preCandidate',
  'term',
  'token',
  'tenure',
  'lease',
  'promise',
  'electionTimeout',
  'heartbeat',
  'preVote',
  'quorum',
  'established',
  'fence',
  'staleWrite',
  'splitBrain',
  'zombie',
  'partition',
  'takeover',
  'safeMode',
  'seed',
  'disk',
] as const;

export type Word = (typeof WORDS)[number];

export interface Entry {
  name: string;
  text: string;
}

export const GLOSSARY: Record<Lang, Record<Word, Entry>> = {
  en: {
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
  },
  zh: {
    leader: {
      name: '领导者',
      text: '唯一可以代表全体行动的节点。安全性要求绝不同时有两个，活性要求不会长久没有。',
    },
    follower: { name: '跟随者', text: '听从领导者并等待的节点。计时器走完仍没有听到心跳，它就去拉票。' },
    candidate: { name: '候选者', text: '已提升任期、投票给自己并请求其他节点投票的节点。' },
    preCandidate: { name: '预候选者', text: '在提升任期之前，先询问能否得到选票的节点。参见预投票。' },
    term: {
      name: '任期',
      text: '一段领导时期，编号递增。听到更高任期的节点会采用它，旧任期的消息会被拒绝。',
    },
    token: {
      name: '隔离令牌',
      text: '每个新领导者都更大的编号，随每次写入一起发送，资源凭它分辨新旧领导者。',
    },
    tenure: { name: '在任', text: '领导者所持有的：令牌，以及可以行动到何时。一旦过期，永不恢复。' },
    lease: {
      name: '租约',
      text: '领导者无需再询问就可以行动的时间。从心跳发出的时刻算起，绝不从收到答复算起。',
    },
    promise: { name: '承诺', text: '听到心跳的投票者承诺在一段时间内不选别人。多数派的承诺使租约安全。' },
    electionTimeout: {
      name: '选举超时',
      text: '跟随者等待心跳的时间，超过后自己参选。每次随机抽取，所以很少有两个节点同时参选。',
    },
    heartbeat: {
      name: '心跳',
      text: '领导者表明自己还在的消息，在一个选举超时内会发送多次。多数派的答复会延长租约。',
    },
    preVote: {
      name: '预投票',
      text: '选举之前先问：你会投票给我吗？这样，曾被隔开的节点无法用更高的任期打扰正常的领导者。',
    },
    quorum: {
      name: '多数派',
      text: '超过半数的节点。任何两个多数派都有共同的节点，所以同一任期不可能选出两个领导者。',
    },
    established: { name: '就任', text: '当选只是有了结果，就任才可以行动：多数派已经答复了新任期的心跳。' },
    fence: { name: '隔离', text: '资源自己的守卫：记住见过的最高令牌，拒绝令牌更低的写入。' },
    staleWrite: { name: '过期写入', text: '已被取代的领导者的写入。发出时并无恶意，只是到得太晚。' },
    splitBrain: { name: '双主', text: '即脑裂：两个节点在同一时刻都认为自己可以作为领导者行动。' },
    zombie: {
      name: '僵尸领导者',
      text: '被冻结期间已被取代、自己却不知道的领导者。醒来时可能仍按旧的认识行动。',
    },
    partition: { name: '网络分区', text: '网络分裂成互相听不到的几组。只有拥有多数派的一组才能有领导者。' },
    takeover: {
      name: '接任',
      text: '新领导者开始工作之前要做的事。先隔离，就不会有旧领导者迟到的写入在读取之后混进来。',
    },
    safeMode: {
      name: '安全模式',
      text: '预投票与领导者对自身多数派的检查，合为一个开关。默认开启，也应当保持开启。',
    },
    seed: {
      name: '种子',
      text: '运行中的一切随机都来自这个数。同一场景加同一种子，在任何机器上都是同一次运行。',
    },
    disk: {
      name: '磁盘',
      text: '任期和选票必须先落盘，才能发出答复。会在崩溃中遗忘的选票，可能被投出两次。',
    },
  },
};
