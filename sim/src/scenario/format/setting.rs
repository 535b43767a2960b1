//! The parts of a setting: the election, the world around it, and what is worked in it.

use super::Usual::{Absent, Are, Is, Needed};
use super::{Entry, Kind, LATENCY, PERIOD, SHORT, entry};
use crate::scenario::names::{MAX_DURATION, MAX_NODES, ORDERS, TAKEOVERS, THROUGH};

pub(super) static TWO_LANGUAGES: [Entry; 2] = [
    entry("en", "In English.", Kind::Text, Is("")),
    entry("zh", "In Chinese.", Kind::Text, Is("")),
];

pub(super) static RAFT: &[Entry] = &[
    entry(
        "electionTimeout",
        "Shortest and longest.",
        Kind::Range(0, MAX_DURATION),
        Are("150ms", "300ms"),
    ),
    entry(
        "heartbeat",
        "Between two rounds of a leader.",
        PERIOD,
        Is("50ms"),
    ),
    entry(
        "rateBound",
        "By how much clocks may run fast or slow.",
        Kind::Share,
        Is("1%"),
    ),
    entry(
        "safeMode",
        "Whether PreVote and CheckQuorum are on.",
        Kind::Flag,
        Is("true"),
    ),
    entry(
        "log",
        "Whether the nodes replicate a log, and keep a store on it that clients use.",
        Kind::Flag,
        Is("false"),
    ),
    entry(
        "outside",
        "How many nodes, the last ones, take no part until a change says so; with a log.",
        Kind::Count(0, MAX_NODES),
        Is("0"),
    ),
];

pub(super) static NETWORK: [Entry; 6] = [
    entry(
        "latency",
        "Shortest and longest; each message draws its own.",
        LATENCY,
        Are("5ms", "10ms"),
    ),
    entry(
        "loss",
        "How often a message is lost.",
        Kind::Share,
        Is("0%"),
    ),
    entry(
        "duplicate",
        "How often a message arrives twice.",
        Kind::Share,
        Is("0%"),
    ),
    entry(
        "order",
        "Datagrams overtake each other; connections keep the order, and break when a message is lost or a link is cut. Datagrams when left out, but where the scheme speaks over connections.",
        Kind::Name(&ORDERS),
        Absent,
    ),
    entry(
        "replay",
        "How often a datagram arrives once more, much later.",
        Kind::Share,
        Is("0%"),
    ),
    entry(
        "replayAfter",
        "How long after it was sent, at the least and at the most.",
        LATENCY,
        Are("100ms", "2s"),
    ),
];

pub(super) static DISK: [Entry; 2] = [
    entry("write", "How long a write takes.", SHORT, Is("1ms")),
    entry(
        "rename",
        "How long the file then takes to have its name: the name is taken half-way, then the directory is synced.",
        SHORT,
        Is("0ms"),
    ),
];

pub(super) static CLIENT: [Entry; 6] = [
    entry(
        "every",
        "Between two writes of the client.",
        PERIOD,
        Is("25ms"),
    ),
    entry(
        "think",
        "Between a leader's look at its standing and the write.",
        SHORT,
        Is("0ms"),
    ),
    entry(
        "writeDelay",
        "How much later than by its latency alone a write arrives.",
        SHORT,
        Is("0ms"),
    ),
    entry(
        "takeover",
        "How a new leader takes over.",
        Kind::Name(&TAKEOVERS),
        Is("fence-first"),
    ),
    entry(
        "through",
        "Whom clients ask to write: who leads, or every node in turn, which then writes without a token.",
        Kind::Name(&THROUGH),
        Is("leader"),
    ),
    entry(
        "watches",
        "Whether there are clients that watch the store too; with a log.",
        Kind::Flag,
        Is("false"),
    ),
];

pub(super) static JOBS: [Entry; 2] = [
    entry(
        "every",
        "Between two jobs, of true time.",
        PERIOD,
        Needed("\"500ms\""),
    ),
    entry(
        "takes",
        "How long a leader works at one.",
        SHORT,
        Needed("\"100ms\""),
    ),
];
