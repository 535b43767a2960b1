//! The parts of ZooKeeper's own election.

use super::Usual::{Absent, Are, Is};
use super::{Entry, Kind, PERIOD, entry};
use crate::scenario::names::{MAX_DURATION, MAX_NODES, MIN_PERIOD};

/// The most ticks of a limit.
const MAX_TICKS: u64 = 1_000_000;

pub(super) static ZAB: &[Entry] = &[
    entry(
        "tick",
        "ZooKeeper's tickTime: a leader looks at its followers once a tick, and pings twice.",
        PERIOD,
        Is("2s"),
    ),
    entry(
        "initLimit",
        "In how many ticks each step from an election to an established epoch is to be done.",
        Kind::Count(1, MAX_TICKS),
        Is("10"),
    ),
    entry(
        "syncLimit",
        "For how many ticks a leader and a learner may hear nothing from each other.",
        Kind::Count(1, MAX_TICKS),
        Is("5"),
    ),
    entry(
        "finalizeWait",
        "How long nothing better must be heard before an election is decided.",
        PERIOD,
        Is("200ms"),
    ),
    entry(
        "notification",
        "How long notifications are waited for before they are sent again: at first, and at the most.",
        Kind::Range(MIN_PERIOD, MAX_DURATION),
        Are("200ms", "60s"),
    ),
    entry(
        "epochPatience",
        "ZooKeeper's maxTimeToWaitForEpoch: after how long a leader gives up when a voter has deserted it; never when left out.",
        PERIOD,
        Absent,
    ),
    entry(
        "observers",
        "How many nodes, the last ones, learn without a vote.",
        Kind::Count(0, MAX_NODES),
        Is("0"),
    ),
];
