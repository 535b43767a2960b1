//! The parts of Kafka's brokers: what they keep, and how.

use super::Usual::{Absent, Is};
use super::{Entry, Kind, entry};
use crate::scenario::names::MAX_DURATION;

/// How many there are of a kind at the most.
const MOST: u64 = 16;
/// No finer than the check of sessions, which is an eighth of one.
const STEP: Kind = Kind::Span(10_000, MAX_DURATION);
const ACKS: [&str; 2] = ["all", "1"];

pub(super) static BROKERS: &[Entry] = &[
    entry(
        "count",
        "How many brokers. They are servers, and called b1, b2 and so on.",
        Kind::Count(1, MOST),
        Is("3"),
    ),
    entry(
        "topics",
        "How many topics a client has made at the start.",
        Kind::Count(1, MOST),
        Is("1"),
    ),
    entry(
        "partitions",
        "num.partitions: of how many partitions a topic is.",
        Kind::Count(1, MOST),
        Is("1"),
    ),
    entry(
        "replicationFactor",
        "On how many brokers each partition is.",
        Kind::Count(1, MOST),
        Is("3"),
    ),
    entry(
        "minInsyncReplicas",
        "min.insync.replicas: a record with acks=all is taken while so many replicas are in sync.",
        Kind::Count(1, MOST),
        Is("2"),
    ),
    entry(
        "acks",
        "What producers wait for: all that are in sync, or with \"1\" the leader alone.",
        Kind::Name(&ACKS),
        Is("all"),
    ),
    entry(
        "uncleanLeaderElection",
        "unclean.leader.election.enable: whether a partition may be led by who lacks what was committed, rather than by nobody.",
        Kind::Flag,
        Is("false"),
    ),
    entry(
        "eligibleLeaderReplicas",
        "eligible.leader.replicas.version: whether it is kept who has all that was committed, though it is not in sync (KIP-966).",
        Kind::Flag,
        Is("true"),
    ),
    entry(
        "sessionTimeout",
        "broker.session.timeout.ms: a broker that is silent for so long is fenced.",
        STEP,
        Is("9s"),
    ),
    entry(
        "heartbeatInterval",
        "broker.heartbeat.interval.ms: how often a broker is heard of.",
        STEP,
        Is("2s"),
    ),
    entry(
        "replicaLagTimeMax",
        "replica.lag.time.max.ms: a follower that was not caught up for so long leaves the ISR.",
        STEP,
        Is("30s"),
    ),
    entry(
        "replicaFetchWaitMax",
        "replica.fetch.wait.max.ms: how long a leader keeps a question to which it has nothing to say.",
        STEP,
        Is("500ms"),
    ),
    entry(
        "recreateTopics",
        "How often a client has the oldest topic deleted and another one made; never when left out.",
        STEP,
        Absent,
    ),
];
