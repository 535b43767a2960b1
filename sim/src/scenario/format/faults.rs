//! What can be done to a run, and what each fault is told with.

use super::Usual::{Absent, Needed};
use super::{ANY, Entry, Kind, LATENCY, MEMBER, PERIOD, SHORT, entry};
use crate::scenario::names::{MAX_NODES, ORDERS};

const UP: &[&str] = &["leader", "follower"];
const RUNNING: Kind = Kind::Node(UP);

/// What is done, and when.
pub(in crate::scenario) static FAULT: &[Entry] = &[
    entry("at", "When.", Kind::Moment, Needed("\"2s\"")),
    entry(
        "crash",
        "The process dies.",
        Kind::Member(&["leader", "follower", "paused"]),
        Absent,
    ),
    entry(
        "restart",
        "A crashed process starts again.",
        Kind::Member(&["crashed"]),
        Absent,
    ),
    entry("pause", "The process freezes.", Kind::Member(UP), Absent),
    entry(
        "resume",
        "A frozen process goes on.",
        Kind::Member(&["paused"]),
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
        "The node is asked to stop leading, or a broker to go in good order.",
        Kind::Member(UP),
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
        "The process dies, and its disk is empty, as another that took its place.",
        Kind::Member(ANY),
        Absent,
    ),
    entry(
        "lie",
        "The disk answers before it has written; a crash takes that, and of a broker a power cut.",
        Kind::Member(ANY),
        Absent,
    ),
    entry(
        "fail",
        "The next write of the disk fails; a broker ends with it.",
        Kind::Member(ANY),
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
    entry(
        "failover",
        "The primary is lost, and its asynchronous replica takes its place, with what has reached it.",
        Kind::Server,
        Absent,
    ),
    entry(
        "evict",
        "The store loses the record of the election, which nobody who takes part deleted.",
        Kind::Server,
        Absent,
    ),
    entry(
        "back-up",
        "What a server keeps is copied.",
        Kind::Server,
        Absent,
    ),
    entry(
        "restore",
        "What was copied last takes the place of all that a server keeps.",
        Kind::Server,
        Absent,
    ),
    entry(
        "power-cut",
        "A server dies, and what it had written and not synced is gone.",
        Kind::Server,
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
    entry("node", "Whose.", Kind::Member(ANY), Needed("\"n1\"")),
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
