//! What may stand in a scenario file, version 1: one table of fields, which the reader walks and the JSON Schema is
//! made from.
//!
//! Here is what a field is, and the file; its parts are in `setting`, `faults` and `expect`.

#[cfg(feature = "peers")]
mod brokers;
mod expect;
mod faults;
#[cfg(feature = "peers")]
mod kraft;
mod lease;
#[cfg(feature = "peers")]
mod sentinel;
mod setting;
#[cfg(feature = "peers")]
mod zab;

pub(super) use faults::FAULT;

use super::names::{MAX_DURATION, MAX_NODES, MIN_PERIOD, RULES, SCHEMES};
use crate::fault::MAX_FAULTS;
use expect::EXPECT;
use lease::LEASE;
use setting::{CLIENT, DISK, JOBS, NETWORK, RAFT, TWO_LANGUAGES};

/// A field of an object.
pub(super) struct Entry {
    pub(super) name: &'static str,
    /// What it is, in a line; empty where nobody reads it.
    #[cfg_attr(
        target_family = "wasm",
        allow(dead_code, reason = "told by the JSON Schema alone")
    )]
    pub(super) about: &'static str,
    pub(super) kind: Kind,
    pub(super) usual: Usual,
}

/// What a field holds.
pub(super) enum Kind {
    Text,
    Flag,
    /// A whole number of 64 bits: as text, for a JSON number does not hold it everywhere.
    Seed,
    /// A whole number from the first to the second.
    Count(u64, u64),
    /// A duration with a unit, in microseconds from the first to the second.
    Span(u64, u64),
    /// The shortest and the longest of some durations, with bounds as of a [`Span`](Self::Span).
    Range(u64, u64),
    /// A time of the run.
    Moment,
    /// A percentage, in parts per million.
    Share,
    /// By how much a clock runs fast or slow: a percentage with a sign.
    Rate,
    /// By how much a clock jumps: a duration with a sign.
    Jump,
    /// One of these names.
    Name(&'static [&'static str]),
    /// A rule of the scheme.
    Rule,
    /// A node by its name, or by one of these roles.
    Node(&'static [&'static str]),
    /// The same, or a server of the store.
    Member(&'static [&'static str]),
    /// A server of the store.
    Server,
    /// The two ends of a link.
    Link,
    /// The name, or the two ends of a link.
    NameOrLink(&'static str),
    /// At most so many of a kind.
    List(&'static Self, usize),
    Object(&'static [Entry]),
    /// An object of its first field and exactly one of the others.
    Choice(&'static [Entry]),
}

impl Kind {
    /// What is left of a kind with a sign without it; any other kind.
    pub(super) const fn size(&self) -> &Self {
        match self {
            Self::Rate => &Self::Share,
            Self::Jump => &SHORT,
            _ => self,
        }
    }
}

/// What stands for a field that is left out.
pub(super) enum Usual {
    /// It must be there; as this, for example.
    Needed(&'static str),
    /// Nothing.
    Absent,
    /// This, as it would be written.
    Is(&'static str),
    /// These two.
    Are(&'static str, &'static str),
}

use Usual::{Absent, Is, Needed};

const ANY: &[&str] = &["leader", "follower", "paused", "crashed"];
const SHORT: Kind = Kind::Span(0, MAX_DURATION);
const PERIOD: Kind = Kind::Span(MIN_PERIOD, MAX_DURATION);
// At latency zero, cause and effect would share an instant.
const LATENCY: Kind = Kind::Range(1, MAX_DURATION);

/// A file.
pub(super) static FILE: &[Entry] = &[
    entry(
        "$schema",
        "Where the JSON Schema of this format lies: for editors.",
        Kind::Text,
        Absent,
    ),
    entry(
        "tenure",
        "The version of this format.",
        Kind::Count(1, 1),
        Needed("1"),
    ),
    entry(
        "title",
        "What the run shows, in a line.",
        Kind::Object(&TWO_LANGUAGES),
        Absent,
    ),
    entry(
        "lesson",
        "What to look at, and what follows from it.",
        Kind::Object(&TWO_LANGUAGES),
        Absent,
    ),
    entry(
        "scheme",
        "How a leader is elected.",
        Kind::Name(&SCHEMES),
        Needed("\"raft\""),
    ),
    entry("seed", "The seed of every draw.", Kind::Seed, Is("1")),
    entry(
        "nodes",
        "How many nodes; they are called n1, n2 and so on.",
        Kind::Count(1, MAX_NODES),
        Is("5"),
    ),
    entry(
        "rulesOff",
        "Rules of the scheme that are switched off.",
        Kind::List(&Kind::Rule, RULES.len()),
        Absent,
    ),
    entry("raft", "The timing of Raft.", Kind::Object(RAFT), Absent),
    entry(
        "lease",
        "The timing of an election over a store.",
        Kind::Object(LEASE),
        Absent,
    ),
    #[cfg(feature = "peers")]
    entry(
        "zab",
        "The timing and the members of ZooKeeper's own election.",
        Kind::Object(zab::ZAB),
        Absent,
    ),
    #[cfg(feature = "peers")]
    entry(
        "sentinel",
        "What sentinels watch, and how.",
        Kind::Object(sentinel::SENTINEL),
        Absent,
    ),
    #[cfg(feature = "peers")]
    entry(
        "kraft",
        "The timing and the members of the quorum of Kafka's controllers.",
        Kind::Object(kraft::KRAFT),
        Absent,
    ),
    #[cfg(feature = "peers")]
    entry(
        "brokers",
        "Kafka's brokers beside its controllers, with what they keep and how; none when left out.",
        Kind::Object(brokers::BROKERS),
        Absent,
    ),
    entry(
        "network",
        "How messages between nodes travel.",
        Kind::Object(&NETWORK),
        Absent,
    ),
    entry(
        "clocks",
        "By how much each node's clock runs fast or slow, in order; the others run true.",
        Kind::List(&Kind::Rate, MAX_NODES as usize),
        Absent,
    ),
    entry(
        "disk",
        "The disk of every node, where the scheme writes to one.",
        Kind::Object(&DISK),
        Absent,
    ),
    entry(
        "client",
        "What clients do, and leaders for them.",
        Kind::Object(&CLIENT),
        Absent,
    ),
    entry(
        "jobs",
        "Periodic jobs, which whoever leads does; none when left out.",
        Kind::Object(&JOBS),
        Absent,
    ),
    entry(
        "leaderWithin",
        "The bound for a leader once all faults are healed; when left out, 3s, or twice the ttl of an election over a store, or what the limits of ZooKeeper's own election allow, or those of sentinels.",
        SHORT,
        Absent,
    ),
    entry(
        "duration",
        "When the run ends.",
        Kind::Span(1, MAX_DURATION),
        Is("60s"),
    ),
    entry(
        "faults",
        "What is done, and when.",
        Kind::List(&Kind::Choice(FAULT), MAX_FAULTS),
        Absent,
    ),
    entry(
        "expect",
        "What the checks must say.",
        Kind::Object(EXPECT),
        Absent,
    ),
];

/// What may name a member of a group.
pub(super) static MEMBER: Kind = Kind::Member(&["leader", "follower", "rest"]);

/// What may name an end of a link.
pub(super) static END: Kind = Kind::Member(ANY);

const fn entry(name: &'static str, about: &'static str, kind: Kind, usual: Usual) -> Entry {
    // The module for browsers does not carry what only the JSON Schema tells.
    let about = if cfg!(target_family = "wasm") {
        ""
    } else {
        about
    };
    Entry {
        name,
        about,
        kind,
        usual,
    }
}

#[cfg(test)]
mod tests {
    use super::super::names::ROLES;
    use super::*;

    #[test]
    fn every_role_is_known() {
        fn walk(kind: &Kind) {
            match kind {
                Kind::Node(roles) | Kind::Member(roles) => assert!(
                    roles
                        .iter()
                        .all(|role| ROLES.iter().any(|(known, _)| known == role))
                ),
                Kind::List(kind, _) => walk(kind),
                Kind::Object(entries) | Kind::Choice(entries) => {
                    entries.iter().for_each(|entry| walk(&entry.kind))
                }
                _ => {}
            }
        }
        FILE.iter().for_each(|entry| walk(&entry.kind));
        walk(&END);
    }

    #[test]
    fn every_field_says_what_it_is() {
        fn walk(entries: &[Entry]) {
            for entry in entries {
                assert!(entry.about.ends_with('.'), "{}", entry.name);
                if let Kind::Object(entries)
                | Kind::Choice(entries)
                | Kind::List(&Kind::Choice(entries), _) = entry.kind
                {
                    walk(entries);
                }
            }
        }
        walk(FILE);
    }
}
