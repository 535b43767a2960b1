//! The quorum of Kafka's controllers in files.

use super::brokers;
use super::names::KRAFT_RULES;
use super::reader::{Part, Slip, items, word};
use super::zab::place;
use crate::json::Node;
use crate::scheme::kraft::Params;
use tenure::Duration;
use tenure::kraft::{ConfigError, Rule, Switched, Timing};

/// What is said of it.
#[inline(never)]
pub(super) fn read(file: Part<'_>) -> Params {
    let part = file.inner("kraft");
    let span = |name| Duration::from_micros(part.get(name));
    let named = file.node("rulesOff").map_or(&[][..], items);
    let off: Vec<Rule> = (Rule::ALL.into_iter().zip(KRAFT_RULES))
        .filter(|(_, name)| named.iter().any(|node| word(node) == *name))
        .map(|(rule, _)| rule)
        .collect();
    Params {
        brokers: file.node("brokers").map(|_| brokers::read(file)),
        timing: Timing {
            election_timeout: span("electionTimeout"),
            fetch_timeout: span("fetchTimeout"),
            election_backoff_max: span("electionBackoffMax"),
            request_timeout: span("requestTimeout"),
            retry_backoff: span("retryBackoff"),
            append_linger: span("appendLinger"),
            fetch_max_wait: span("fetchMaxWait"),
        },
        observers: part.get("observers") as usize,
        rules: Switched::without(&off),
    }
}

/// What the core refuses, in the words of the file.
#[cold]
#[inline(never)]
pub(super) fn unfit(file: Part<'_>, root: &Node, error: &ConfigError) -> Box<Slip> {
    let (field, remedy) = match error {
        ConfigError::FetchTimeout { .. } => (
            "fetchTimeout",
            "raise kraft.fetchTimeout above kraft.fetchMaxWait",
        ),
        ConfigError::RequestTimeout { .. } => (
            "requestTimeout",
            "raise kraft.requestTimeout above kraft.fetchMaxWait",
        ),
        _ => ("electionTimeout", error.remedy()),
    };
    let at = place(file.node("kraft"), root, &[field]);
    Slip::new(at, error.code(), &error.reason().to_string(), remedy)
}
