//! What may stand in a scenario file, version 1: one table of fields, which the reader walks and the JSON Schema is
//! made from.

use super::names::{
    MAX_DURATION, MAX_NODES, MIN_PERIOD, ORDERS, OUTCOMES, RULES, TAKEOVERS, THROUGH,
};
use crate::fault::MAX_FAULTS;

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
    /// A node by its name, or by one of these roles.
    Node(&'static [&'static str]),
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

use Usual::{Absent, Are, Is, Needed};

const ANY: &[&str] = &["leader", "follower", "paused", "crashed"];
const RUNNING: Kind = Kind::Node(&["leader", "follower"]);
const SHORT: Kind = Kind::Span(0, MAX_DURATION);
const PERIOD: Kind = Kind::Span(MIN_PERIOD, MAX_DURATION);
// At latency zero, cause and effect would share an instant.
const LATENCY: Kind = Kind::Range(1, MAX_DURATION);
const EXPECTED: Kind = Kind::Name(&OUTCOMES);

/// A file.
pub(super) static FILE: [Entry; 18] = [
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
        Kind::Name(&["raft"]),
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
        Kind::List(&Kind::Name(&RULES), RULES.len()),
        Absent,
    ),
    entry(
        "raft",
        "The timing of the election.",
        Kind::Object(RAFT),
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
        "The disk of every node.",
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
        "The bound for a leader once all faults are healed.",
        SHORT,
        Is("3s"),
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

static TWO_LANGUAGES: [Entry; 2] = [
    entry("en", "In English.", Kind::Text, Is("")),
    entry("zh", "In Chinese.", Kind::Text, Is("")),
];

static RAFT: &[Entry] = &[
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

static NETWORK: [Entry; 6] = [
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
        "Datagrams overtake each other; connections keep the order, and break when a message is lost or a link is cut.",
        Kind::Name(&ORDERS),
        Is("datagrams"),
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

static DISK: [Entry; 2] = [
    entry("write", "How long a write takes.", SHORT, Is("1ms")),
    entry(
        "rename",
        "How long the file then takes to have its name: the name is taken half-way, then the directory is synced.",
        SHORT,
        Is("0ms"),
    ),
];

static CLIENT: [Entry; 6] = [
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

static JOBS: [Entry; 2] = [
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

/// What is done, and when.
pub(super) static FAULT: &[Entry] = &[
    entry("at", "When.", Kind::Moment, Needed("\"2s\"")),
    entry(
        "crash",
        "The process dies.",
        Kind::Node(&["leader", "follower", "paused"]),
        Absent,
    ),
    entry(
        "restart",
        "A crashed process starts again.",
        Kind::Node(&["crashed"]),
        Absent,
    ),
    entry("pause", "The process freezes.", RUNNING, Absent),
    entry(
        "resume",
        "A frozen process goes on.",
        Kind::Node(&["paused"]),
        Absent,
    ),
    entry(
        "cut",
        "The link from the first to the second carries nothing.",
        Kind::Link,
        Absent,
    ),
    entry(
        "heal",
        "The link carries again, or all of them do.",
        Kind::NameOrLink("all"),
        Absent,
    ),
    entry(
        "partition",
        "Links between groups are cut, links within carry.",
        Kind::List(&GROUP, MAX_NODES as usize),
        Absent,
    ),
    entry(
        "resign",
        "The node is asked to stop leading.",
        RUNNING,
        Absent,
    ),
    entry(
        "campaign",
        "The node is asked to campaign.",
        RUNNING,
        Absent,
    ),
    entry(
        "network",
        "Messages travel like this from now on.",
        Kind::Object(&NETWORK_CHANGE),
        Absent,
    ),
    entry(
        "disk",
        "A disk is like this from now on.",
        Kind::Object(&DISK_CHANGE),
        Absent,
    ),
    entry(
        "clock",
        "A clock runs at this rate from now on, or jumps.",
        Kind::Object(&CLOCK_CHANGE),
        Absent,
    ),
    entry(
        "wipe",
        "The process dies, and its disk is empty.",
        Kind::Node(ANY),
        Absent,
    ),
    entry(
        "lie",
        "The disk answers before it has written; a crash takes that.",
        Kind::Node(ANY),
        Absent,
    ),
    entry(
        "fail",
        "The next write of the disk fails.",
        Kind::Node(ANY),
        Absent,
    ),
    entry(
        "drop",
        "The next write of the disk is answered and never done.",
        Kind::Node(ANY),
        Absent,
    ),
    entry(
        "flap",
        "A link is cut and heals by turns, until it is healed.",
        Kind::Object(&FLAP),
        Absent,
    ),
    entry(
        "disconnect",
        "The connection between the two breaks.",
        Kind::Link,
        Absent,
    ),
    entry(
        "slow",
        "A process takes long for all that comes, from now on.",
        Kind::Object(&SLOW),
        Absent,
    ),
    entry(
        "delay",
        "What is sent on a link takes longer from now on.",
        Kind::Object(&DELAY),
        Absent,
    ),
    entry(
        "change",
        "Who leads is asked to change who takes part.",
        Kind::Object(&MEMBERS),
        Absent,
    ),
    entry(
        "transfer",
        "Who leads is asked to hand over to this node.",
        Kind::Node(&["follower"]),
        Absent,
    ),
];

static MEMBERS: [Entry; 2] = [
    entry(
        "voters",
        "Who votes.",
        Kind::List(&Kind::Node(&[]), MAX_NODES as usize),
        Needed("[\"n1\", \"n2\"]"),
    ),
    entry(
        "learners",
        "Who gets the log and does not vote.",
        Kind::List(&Kind::Node(&[]), MAX_NODES as usize),
        Absent,
    ),
];

static FLAP: [Entry; 3] = [
    entry(
        "between",
        "The ends; both directions flap.",
        Kind::Link,
        Needed("[\"n1\", \"n2\"]"),
    ),
    entry(
        "down",
        "How long it is cut at a time.",
        PERIOD,
        Needed("\"100ms\""),
    ),
    entry(
        "up",
        "How long it carries at a time.",
        PERIOD,
        Needed("\"200ms\""),
    ),
];

static SLOW: [Entry; 2] = [
    entry("node", "Which.", Kind::Node(ANY), Needed("\"n1\"")),
    entry(
        "by",
        "How long it takes for each message, reply and deadline; 0ms ends it.",
        SHORT,
        Needed("\"20ms\""),
    ),
];

static GROUP: Kind = Kind::List(&MEMBER, MAX_NODES as usize + 1);

// What a change leaves out is as at the start of the run.
static NETWORK_CHANGE: [Entry; 6] = [
    entry("latency", "Shortest and longest.", LATENCY, Absent),
    entry("loss", "How often a message is lost.", Kind::Share, Absent),
    entry(
        "duplicate",
        "How often a message arrives twice.",
        Kind::Share,
        Absent,
    ),
    entry(
        "order",
        "Whether connections keep the order.",
        Kind::Name(&ORDERS),
        Absent,
    ),
    entry(
        "replay",
        "How often a datagram arrives once more.",
        Kind::Share,
        Absent,
    ),
    entry(
        "replayAfter",
        "How long after it was sent.",
        LATENCY,
        Absent,
    ),
];

static DISK_CHANGE: [Entry; 3] = [
    entry("node", "Whose.", Kind::Node(ANY), Needed("\"n1\"")),
    entry("write", "How long a write takes.", SHORT, Absent),
    entry(
        "rename",
        "How long the file then takes to have its name.",
        SHORT,
        Absent,
    ),
];

static CLOCK_CHANGE: [Entry; 3] = [
    entry("node", "Whose.", Kind::Node(ANY), Needed("\"n1\"")),
    entry("rate", "How fast or slow.", Kind::Rate, Absent),
    entry("jump", "Forward, or back.", Kind::Jump, Absent),
];

static DELAY: [Entry; 2] = [
    entry(
        "link",
        "From the first to the second.",
        Kind::Link,
        Needed("[\"n1\", \"n2\"]"),
    ),
    entry("by", "By how much.", SHORT, Needed("\"30ms\"")),
];

static EXPECT: &[Entry] = &[
    entry(
        "one-leader-per-term",
        "At most one node acts as leader of a term.",
        EXPECTED,
        Absent,
    ),
    entry(
        "one-vote-per-term",
        "A node votes for at most one candidate a term.",
        EXPECTED,
        Absent,
    ),
    entry(
        "token-rises",
        "Tokens rise from each tenure to the next.",
        EXPECTED,
        Absent,
    ),
    entry(
        "believed-leaders",
        "Two nodes never believe to lead at once.",
        EXPECTED,
        Absent,
    ),
    entry(
        "stale-write-fenced",
        "The fenced resource takes no stale write.",
        EXPECTED,
        Absent,
    ),
    entry(
        "stale-write-unfenced",
        "The unfenced resource takes no stale write.",
        EXPECTED,
        Absent,
    ),
    entry(
        "leader-again",
        "A leader again once faults are healed.",
        EXPECTED,
        Absent,
    ),
    entry(
        "never-revives",
        "A token that expired or was given up never becomes valid again.",
        EXPECTED,
        Absent,
    ),
    entry(
        "token-holder",
        "Only who was established with a token shows it.",
        EXPECTED,
        Absent,
    ),
    entry(
        "linearizable-fenced",
        "One order explains every answer of the fenced resource.",
        EXPECTED,
        Absent,
    ),
    entry(
        "linearizable-unfenced",
        "One order explains every answer of the unfenced resource.",
        EXPECTED,
        Absent,
    ),
    entry(
        "linearizable-client",
        "One order explains every answer the client got.",
        EXPECTED,
        Absent,
    ),
    entry(
        "jobs-lost",
        "Every job that falls due is done.",
        EXPECTED,
        Absent,
    ),
    entry(
        "jobs-run-twice-fenced",
        "The fenced resource takes the effect of a job once.",
        EXPECTED,
        Absent,
    ),
    entry(
        "jobs-run-twice-unfenced",
        "The unfenced resource takes the effect of a job once.",
        EXPECTED,
        Absent,
    ),
    entry(
        "jobs-concurrent",
        "Two nodes never work at one job at the same instant.",
        EXPECTED,
        Absent,
    ),
    entry(
        "log-matching",
        "Two logs that have an entry of one index and term agree up to it.",
        EXPECTED,
        Absent,
    ),
    entry(
        "leader-completeness",
        "What was committed in an earlier term is in the log of every leader.",
        EXPECTED,
        Absent,
    ),
    entry(
        "state-machine-agreement",
        "All nodes apply the same entries in the same order.",
        EXPECTED,
        Absent,
    ),
    entry(
        "committed-is-durable",
        "What is committed is on the disks of a majority.",
        EXPECTED,
        Absent,
    ),
    entry(
        "acknowledged-survives",
        "What a client of the store was told is done stays done.",
        EXPECTED,
        Absent,
    ),
    entry(
        "terms-burnt",
        "Hardly any term is begun by a node that cannot win it.",
        EXPECTED,
        Absent,
    ),
    entry(
        "linearizable-store",
        "What clients of the store were answered has an order that explains it.",
        EXPECTED,
        Absent,
    ),
    entry(
        "commit-rises",
        "A commit index never falls, and a leader moves it only over an entry of its own term.",
        EXPECTED,
        Absent,
    ),
    entry(
        "local-reads",
        "What is read locally is no older than the bound, while nothing is wrong.",
        EXPECTED,
        Absent,
    ),
    entry(
        "intersecting-quorums",
        "Votes and commits use configurations whose quorums intersect.",
        EXPECTED,
        Absent,
    ),
    entry(
        "watch-complete",
        "Watchers of the store are told every change of their keys, in order, once, and no other.",
        EXPECTED,
        Absent,
    ),
];

/// What may name a member of a group.
pub(super) static MEMBER: Kind = Kind::Node(&["leader", "follower", "rest"]);

/// What may name an end of a link.
pub(super) static END: Kind = Kind::Node(ANY);

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
    use crate::check::Check;

    #[test]
    fn every_check_can_be_expected() {
        assert!(
            EXPECT
                .iter()
                .map(|entry| entry.name)
                .eq(Check::ALL.map(Check::name))
        );
    }

    #[test]
    fn every_role_is_known() {
        fn walk(kind: &Kind) {
            match kind {
                Kind::Node(roles) => assert!(
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
        walk(&FILE);
    }
}
