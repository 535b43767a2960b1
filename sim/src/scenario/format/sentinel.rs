//! The parts of Redis Sentinel: what the sentinels watch, and how.

use super::Usual::{Absent, Is};
use super::{Entry, Kind, SHORT, entry};
use crate::scenario::names::{MAX_DURATION, MAX_NODES};

/// As long as the longest time between two looks of a sentinel, at the least.
const STEP: Kind = Kind::Span(100_000, MAX_DURATION);
/// Longer than a replica is silent between two signs of life.
const LAG: Kind = Kind::Span(1_001_000, MAX_DURATION);
/// How many servers of a kind there are at the most.
const MOST: u64 = 16;

pub(super) static SENTINEL: &[Entry] = &[
    entry(
        "masters",
        "How many masters the sentinels watch; clients use the first. Servers are called s1, s2 and so on: a master and its replicas, then the next.",
        Kind::Count(1, MOST),
        Is("1"),
    ),
    entry(
        "replicas",
        "How many replicas each master has.",
        Kind::Count(1, MOST),
        Is("2"),
    ),
    entry(
        "quorum",
        "How many sentinels must hold a master to be down before one of them tries to replace it; a majority when left out.",
        Kind::Count(1, MAX_NODES),
        Absent,
    ),
    entry(
        "downAfter",
        "down-after-milliseconds: how long somebody may be silent before it is held to be down.",
        STEP,
        Is("30s"),
    ),
    entry(
        "failoverTimeout",
        "failover-timeout: how long a step of a failover may take; between two attempts pass two of these.",
        STEP,
        Is("3min"),
    ),
    entry(
        "parallelSyncs",
        "parallel-syncs: how many replicas at a time are made to follow the new master.",
        Kind::Count(1, MOST),
        Is("1"),
    ),
    entry(
        "minReplicasToWrite",
        "min-replicas-to-write: a master takes writes while so many replicas kept up; 0 turns it off.",
        Kind::Count(0, MOST),
        Is("0"),
    ),
    entry(
        "maxLag",
        "min-replicas-max-lag: how long ago a replica may have been heard that keeps up.",
        LAG,
        Is("10s"),
    ),
    entry(
        "fullSync",
        "How long a copy of everything takes.",
        SHORT,
        Is("1s"),
    ),
    entry(
        "persistent",
        "Whether a data server has its data still after a restart.",
        Kind::Flag,
        Is("true"),
    ),
];
