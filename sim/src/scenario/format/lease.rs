//! The parts of an election over a store.

use super::Usual::{Absent, Is};
use super::{Entry, Kind, PERIOD, SHORT, entry};
use crate::scenario::names::{MAX_DURATION, MIN_PERIOD, PRESETS};
use tenure::lease::redlock::MAX_SERVERS;

/// What is left out is the preset's, if one is named, and else goes by the ttl, as [`Timing::of`](tenure::lease::Timing::of) has it.
pub(super) static LEASE: &[Entry] = &[
    entry(
        "preset",
        "The system whose parameters stand for those that are left out; one that elects by this scheme.",
        Kind::Name(PRESETS),
        Absent,
    ),
    entry(
        "ttl",
        "How long the store keeps a record that is not renewed, or a waiter lets it stand; 9s when left out, or what is usual for the scheme.",
        Kind::Span(MIN_PERIOD, MAX_DURATION),
        Absent,
    ),
    entry(
        "renew",
        "Between two renewals, at the most; a third of the ttl when left out.",
        PERIOD,
        Absent,
    ),
    entry(
        "retry",
        "Before what failed is tried again, and between two looks of a waiter, at the most; a ninth of the ttl when left out.",
        PERIOD,
        Absent,
    ),
    entry(
        "patience",
        "How long an answer of the store is waited for before it is asked again; a ninth of the ttl when left out.",
        PERIOD,
        Absent,
    ),
    entry(
        "margin",
        "How long before the end of the lease its holder stops; a tenth of the ttl when left out.",
        SHORT,
        Absent,
    ),
    entry(
        "renewDeadline",
        "How long a holder goes on at the most without a renewal, with kubernetes; two thirds of the ttl when left out.",
        PERIOD,
        Absent,
    ),
    entry(
        "rateBound",
        "By how much clocks may run fast or slow.",
        Kind::Share,
        Is("1%"),
    ),
    entry(
        "latency",
        "How long a request or its answer is under way at the most, as the budget counts.",
        SHORT,
        Is("50ms"),
    ),
    entry(
        "servers",
        "How many servers there are. With redlock they know nothing of each other, 5 when left out; with etcd and zookeeper they are one cluster of 1, 3 or 5, 1 when left out.",
        Kind::Count(1, MAX_SERVERS as u64),
        Absent,
    ),
];
