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
  'job',
  'linearizable',
  'safeMode',
  'seed',
  'disk',
  'log',
  'committed',
  'applied',
  'snapshot',
  'progress',
  'readIndex',
  'leaseRead',
  'scheme',
  'ttl',
  'store',
  'zxid',
  'round',
  'promised',
  'observer',
  'opinion',
  'offset',
  'highWatermark',
  'broker',
  'isr',
  'elr',
  'partitionWatermark',
] as const;

export type Word = (typeof WORDS)[number];

export interface Entry {
  name: string;
  text: string;
}

export type Glossary = Record<Word, Entry>;
