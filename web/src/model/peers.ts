import { parseDuration, writeDuration } from './time';

/** Schemes whose nodes elect among themselves and are no Raft, by the name of their part of a scenario. */
export const PEERS = ['zab', 'sentinel', 'kraft'] as const;
export type PeerScheme = (typeof PEERS)[number];

/** What a field of such a part holds: a length of time, in milliseconds here; a number of things; yes or no; one of some words. */
export type Unit = 'span' | 'count' | 'flag' | 'choice';
export type PeerValue = number | boolean | string;

export interface PeerField {
  name: string;
  unit: Unit;
  /** It may be left out, which says something. */
  optional?: boolean;
  /** The words, of a choice. */
  options?: readonly string[];
  /** Where it stands, when not in the part of the scheme: there need not be such a part. */
  part?: 'brokers';
}

/** What the setting panel shows of each part, in order. */
export const PEER_FIELDS: Record<PeerScheme, readonly PeerField[]> = {
  zab: [
    { name: 'observers', unit: 'count' },
    { name: 'tick', unit: 'span' },
    { name: 'initLimit', unit: 'count' },
    { name: 'syncLimit', unit: 'count' },
    { name: 'finalizeWait', unit: 'span' },
  ],
  sentinel: [
    { name: 'masters', unit: 'count' },
    { name: 'replicas', unit: 'count' },
    { name: 'quorum', unit: 'count', optional: true },
    { name: 'downAfter', unit: 'span' },
    { name: 'failoverTimeout', unit: 'span' },
    { name: 'parallelSyncs', unit: 'count' },
    { name: 'minReplicasToWrite', unit: 'count' },
    { name: 'maxLag', unit: 'span' },
    { name: 'fullSync', unit: 'span' },
    { name: 'persistent', unit: 'flag' },
  ],
  kraft: [
    { name: 'observers', unit: 'count' },
    { name: 'electionTimeout', unit: 'span' },
    { name: 'fetchTimeout', unit: 'span' },
    { name: 'electionBackoffMax', unit: 'span' },
    { name: 'requestTimeout', unit: 'span' },
    { name: 'fetchMaxWait', unit: 'span' },
    { name: 'count', unit: 'count', part: 'brokers' },
    { name: 'replicationFactor', unit: 'count', part: 'brokers' },
    { name: 'minInsyncReplicas', unit: 'count', part: 'brokers' },
    { name: 'acks', unit: 'choice', options: ['all', '1'], part: 'brokers' },
    { name: 'uncleanLeaderElection', unit: 'flag', part: 'brokers' },
  ],
};

/**
 * With what a scheme begins in the Lab, where its own defaults are made for another pace: a sentinel waits for half a minute
 * before it holds anybody to be down.
 */
export const LIVELY: Partial<Record<PeerScheme, object>> = {
  sentinel: { downAfter: '3s', failoverTimeout: '10s' },
};

type Part = Record<string, unknown>;

export function isPeerScheme(scheme: string): scheme is PeerScheme {
  return (PEERS as readonly string[]).includes(scheme);
}

/** The value of a field: a number, NaN where it is left out or cannot be read; yes or no; or a word. */
export function readField(part: Part, { name, unit }: PeerField): PeerValue {
  const value = part[name];
  if (unit === 'flag') return value === true;
  if (unit === 'choice') return String(value);
  if (unit === 'span') return (parseDuration(String(value)) ?? Number.NaN) / 1000;
  return value === undefined ? Number.NaN : Number(value);
}

/** The part with this value of a field; it is left out for NaN. */
export function withField(part: Part, { name, unit }: PeerField, value: PeerValue): Part {
  if (typeof value === 'number' && Number.isNaN(value)) return { ...part, [name]: undefined };
  return { ...part, [name]: unit === 'span' ? writeDuration(Math.round(Number(value) * 1000)) : value };
}

/** How many nodes, the last ones, have no vote. */
export function observersOf(scenario: Record<string, unknown>): number {
  const part = PEERS.map((scheme) => scenario[scheme] as Part | undefined).find((part) => part);
  return Number(part?.observers ?? 0);
}
