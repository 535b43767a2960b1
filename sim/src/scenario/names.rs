//! The names and limits of the file format that its table, its reader and its writer share.

use crate::app::{Takeover, Through};
use crate::check::Outcome;
use crate::fault::Who;
use crate::scheme::lease;
use tenure::raft::Rule;

/// The most nodes a scenario may have. A network of them has a million links.
pub(super) const MAX_NODES: u64 = 1_001;
/// The longest run: one day.
pub(super) const MAX_DURATION: u64 = 86_400_000_000;
/// The finest rhythm of heartbeats and clients: a finer one would drown a run in events.
pub(super) const MIN_PERIOD: u64 = 1_000;

/// The names of schemes: Raft, and those that elect by a store, in the order of [`lease::Kind::ALL`].
pub(super) const SCHEMES: [&str; 1 + lease::Kind::ALL.len()] = {
    let mut names = ["raft"; 1 + lease::Kind::ALL.len()];
    let mut place = 0;
    while place < lease::Kind::ALL.len() {
        names[place + 1] = lease::Kind::ALL[place].name();
        place += 1;
    }
    names
};

/// The names of the systems that elect over a store.
pub(super) const PRESETS: &[&str] = &lease::PRESETS;

/// The names of [`TAKEOVER_OF`].
pub(super) const TAKEOVERS: [&str; 2] = ["fence-first", "read-first"];
pub(super) const TAKEOVER_OF: [Takeover; 2] = [Takeover::FenceFirst, Takeover::ReadFirst];

/// How messages between nodes are ordered: not at all, or on each connection as they were sent.
pub(super) const ORDERS: [&str; 2] = ["datagrams", "fifo"];

/// The names of [`THROUGH_OF`].
pub(super) const THROUGH: [&str; 2] = ["leader", "anyone"];
pub(super) const THROUGH_OF: [Through; 2] = [Through::Leader, Through::Anyone];

/// The names of [`Outcome::ALL`].
pub(super) const OUTCOMES: [&str; 4] = [
    Outcome::ALL[0].name(),
    Outcome::ALL[1].name(),
    Outcome::ALL[2].name(),
    Outcome::ALL[3].name(),
];

/// What a node can be called by instead of its name.
pub(super) const ROLES: [(&str, Who); 5] = [
    ("leader", Who::Leader),
    ("follower", Who::Follower),
    ("paused", Who::Paused),
    ("crashed", Who::Crashed),
    ("rest", Who::Rest),
];

/// The names of [`Rule::ALL`]: those in the core, in kebab case.
pub(super) const RULES: [&str; Rule::ALL.len()] = [
    "durable-before-reply",
    "one-vote-a-term",
    "new-term-new-vote",
    "up-to-date-log",
    "majority-of-voters",
    "count-once",
    "own-term-grants",
    "validity-from-send",
    "own-term-acks",
    "promise-binds-voter",
    "promise-binds-candidate",
    "promise-outlives-restart",
    "promise-outlives-term",
    "refuse-without-adopting",
    "release-own-term",
    "lapse-deposes",
    "pre-vote",
    "redraw-per-attempt",
    "promise-from-answer",
    "log-matching",
    "commit-matched",
    "ack-durable",
    "own-copy-durable",
    "commit-own-term",
    "read-confirmed",
    "read-own-term",
    "suffix-from-best",
    "suffix-adopts-term",
    "suffix-rechecked",
    "one-change-at-a-time",
    "joint-needs-both",
    "change-after-own-term",
    "transfer-when-caught-up",
];

/// The names of the rules of elections over a store, as [`RULES`] are Raft's.
pub(super) const LEASE_RULES: [&str; tenure::lease::Rule::ALL.len()] = [
    "validity-from-send",
    "demote-by-timer",
    "nonce",
    "compare-and-delete",
    "recheck-own-record",
    "own-clock-only",
    "majority-of-configured",
    "outwait-former",
    "proven-at-leader",
    "guarded-writes",
    "own-session",
];

/// The names of the rules of a scheme.
pub(super) const fn rules_of(by_store: bool) -> &'static [&'static str] {
    if by_store { &LEASE_RULES } else { &RULES }
}

/// What a node is called, by its place: `n1`, `n2` and so on.
pub(crate) fn node_name(node: u16) -> String {
    let mut name = String::from("n");
    name.push_str(&(u32::from(node) + 1).to_string());
    name
}

/// What a server of the store is called, by its number: `s1`, `s2` and so on.
pub(crate) fn server_name(server: u16) -> String {
    let mut name = String::from("s");
    name.push_str(&(u32::from(server) + 1).to_string());
    name
}

/// What a node or server is called by in a file: its name, or what it is.
#[inline(never)]
pub(crate) fn who_name(who: Who) -> String {
    match who {
        Who::Node(node) => node_name(node),
        Who::Server(server) => server_name(server),
        _ => ROLES
            .iter()
            .find(|(_, role)| *role == who)
            .map_or("", |(name, _)| name)
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_the_names_of_the_core_in_kebab_case() {
        let camel = |name: &str| -> String {
            let words = name.split('-');
            words
                .flat_map(|word| [word[..1].to_uppercase(), word[1..].to_owned()])
                .collect()
        };
        for (rule, name) in Rule::ALL.into_iter().zip(RULES) {
            assert_eq!(format!("{rule:?}"), camel(name));
        }
        for (rule, name) in tenure::lease::Rule::ALL.into_iter().zip(LEASE_RULES) {
            assert_eq!(format!("{rule:?}"), camel(name));
        }
    }
}
