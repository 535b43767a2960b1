//! The parts of the quorum of Kafka's controllers.

use super::Usual::Is;
use super::{Entry, Kind, entry};
use crate::scenario::names::{MAX_NODES, MIN_PERIOD};

/// What the core takes.
const LONGEST: u64 = tenure::kraft::MAX_TIMEOUT.as_micros();
const PERIOD: Kind = Kind::Span(MIN_PERIOD, LONGEST);
const SHORT: Kind = Kind::Span(0, LONGEST);

pub(super) static KRAFT: &[Entry] = &[
    entry(
        "electionTimeout",
        "controller.quorum.election.timeout.ms: election timeouts are drawn from once to twice this.",
        PERIOD,
        Is("1s"),
    ),
    entry(
        "fetchTimeout",
        "controller.quorum.fetch.timeout.ms: without a successful fetch for so long a follower doubts its leader, and a leader that no majority fetches from for one and a half times as long resigns.",
        PERIOD,
        Is("2s"),
    ),
    entry(
        "electionBackoffMax",
        "controller.quorum.election.backoff.max.ms: the longest wait of a candidate that lost, and of a follower whose leader resigned.",
        PERIOD,
        Is("1s"),
    ),
    entry(
        "requestTimeout",
        "controller.quorum.request.timeout.ms: what was asked and not answered for so long is lost.",
        PERIOD,
        Is("2s"),
    ),
    entry(
        "retryBackoff",
        "controller.quorum.retry.backoff.ms: after a failure the same node is asked again no sooner than that.",
        PERIOD,
        Is("20ms"),
    ),
    entry(
        "appendLinger",
        "controller.quorum.append.linger.ms: how long a proposal waits for others to be appended with it.",
        SHORT,
        Is("25ms"),
    ),
    entry(
        "fetchMaxWait",
        "How long a leader keeps a fetch for which it has nothing new.",
        SHORT,
        Is("500ms"),
    ),
    entry(
        "observers",
        "How many nodes, the last ones, fetch without a vote.",
        Kind::Count(0, MAX_NODES),
        Is("0"),
    ),
];
