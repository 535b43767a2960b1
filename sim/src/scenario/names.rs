//! The names and limits of the file format that its table, its reader and its writer share.

#[cfg(feature = "peers")]
use super::brokers;
use super::by_store;
use super::reader::Part;
#[cfg(feature = "peers")]
use super::sentinel;
use super::{Elects, Scenario};
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

/// A scheme of peers other than Raft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peers {
    /// ZooKeeper's own election.
    #[cfg(feature = "peers")]
    Zab,
    /// Sentinels.
    #[cfg(feature = "peers")]
    Sentinel,
    /// The quorum of Kafka's controllers.
    #[cfg(feature = "peers")]
    Kraft,
}

impl Peers {
    /// All of them, by their names in files.
    const ALL: &'static [(Self, &'static str)] = &[
        #[cfg(feature = "peers")]
        (Self::Zab, "zab"),
        #[cfg(feature = "peers")]
        (Self::Sentinel, "sentinel"),
        #[cfg(feature = "peers")]
        (Self::Kraft, "kraft"),
    ];
}

/// What a file names as its scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// Raft.
    Raft,
    /// An election over a store.
    Store(lease::Kind),
    /// Another election among peers.
    Peers(Peers),
}

impl Named {
    /// By the place of its name.
    pub(super) fn at(place: u64) -> Self {
        let Some(place) = usize::try_from(place)
            .ok()
            .and_then(|place| place.checked_sub(1))
        else {
            return Self::Raft;
        };
        match lease::Kind::ALL.get(place) {
            Some(kind) => Self::Store(*kind),
            None => (Peers::ALL.get(place - lease::Kind::ALL.len()))
                .map_or(Self::Raft, |(scheme, _)| Self::Peers(*scheme)),
        }
    }

    /// The store by which they elect.
    pub(super) const fn store(self) -> Option<lease::Kind> {
        match self {
            Self::Store(kind) => Some(kind),
            _ => None,
        }
    }

    /// How many servers a file of it names, if it has any.
    pub(super) fn servers(self, file: Part<'_>) -> Option<u64> {
        match self {
            Self::Store(kind) => Some(by_store::servers(file, kind)),
            #[cfg(feature = "peers")]
            Self::Peers(Peers::Sentinel) => Some(sentinel::servers(file)),
            #[cfg(feature = "peers")]
            Self::Peers(Peers::Kraft) => brokers::servers(file),
            _ => None,
        }
    }

    /// The name of one among peers that has a rule of this name.
    pub(super) fn peers_with(rule: &str) -> Option<&'static str> {
        let has = |scheme: &Peers| Self::Peers(*scheme).rules().contains(&rule);
        let mut all = Peers::ALL.iter();
        all.find(|(scheme, _)| has(scheme)).map(|(_, name)| *name)
    }

    /// The letter before the number in the name of its servers: brokers are called `b1`, any other `s1`.
    pub(super) const fn server_letter(self) -> char {
        match self {
            #[cfg(feature = "peers")]
            Self::Peers(Peers::Kraft) => 'b',
            _ => 's',
        }
    }

    /// The names of its rules.
    pub(super) const fn rules(self) -> &'static [&'static str] {
        match self {
            Self::Raft => &RULES,
            Self::Store(_) => &LEASE_RULES,
            #[cfg(feature = "peers")]
            Self::Peers(Peers::Zab) => &ZAB_RULES,
            #[cfg(feature = "peers")]
            Self::Peers(Peers::Sentinel) => &SENTINEL_RULES,
            #[cfg(feature = "peers")]
            Self::Peers(Peers::Kraft) => &KAFKA_RULES,
        }
    }
}

impl Scenario {
    /// The letter before the number in the name of a server.
    pub(crate) const fn server_letter(&self) -> char {
        self.named().server_letter()
    }

    /// How its nodes elect, by name.
    pub(super) const fn named(&self) -> Named {
        match &self.elects {
            Elects::Raft => Named::Raft,
            Elects::ByStore(lease) => Named::Store(lease.kind),
            #[cfg(feature = "peers")]
            Elects::Zab(_) => Named::Peers(Peers::Zab),
            #[cfg(feature = "peers")]
            Elects::Sentinel(_) => Named::Peers(Peers::Sentinel),
            #[cfg(feature = "peers")]
            Elects::Kraft(_) => Named::Peers(Peers::Kraft),
        }
    }
}

/// The names of schemes: Raft, those that elect by a store, in the order of [`lease::Kind::ALL`], and other peers.
pub(super) const SCHEMES: [&str; 1 + lease::Kind::ALL.len() + Peers::ALL.len()] = {
    let mut names = ["raft"; 1 + lease::Kind::ALL.len() + Peers::ALL.len()];
    let mut place = 0;
    while place < lease::Kind::ALL.len() {
        names[place + 1] = lease::Kind::ALL[place].name();
        place += 1;
    }
    let mut place = 0;
    while place < Peers::ALL.len() {
        names[place + 1 + lease::Kind::ALL.len()] = Peers::ALL[place].1;
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
pub(super) const OUTCOMES: [&str; 5] = [
    Outcome::ALL[0].name(),
    Outcome::ALL[1].name(),
    Outcome::ALL[2].name(),
    Outcome::ALL[3].name(),
    Outcome::ALL[4].name(),
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

/// The names of the rules of ZooKeeper's own election, as [`RULES`] are Raft's.
#[cfg(feature = "peers")]
pub(super) const ZAB_RULES: [&str; tenure::zab::Rule::ALL.len()] = [
    "epoch-in-order",
    "check-leader",
    "own-round",
    "established-epoch",
    "voters-only",
    "accepted-durable",
    "refuse-older-epoch",
    "promise-once",
    "most-recent-leads",
    "epoch-after-history",
    "history-synced",
    "ack-durable",
    "own-copy-durable",
    "own-acks",
    "history-before-new-leader",
    "snap-across-epochs",
    "reload-after-sync",
    "cut-or-exit",
    "whole-log-elects",
    "keep-buffered",
    "continuous",
    "packets-in-order",
    "step-down-at-wrap",
    "deliver-established",
    "quorum-or-step-down",
    "sync-by-quorum",
];

/// The names of the rules of sentinels, as [`RULES`] are Raft's.
#[cfg(feature = "peers")]
pub(super) const SENTINEL_RULES: [&str; tenure::sentinel::Rule::ALL.len()] = [
    "vote-durable",
    "one-vote-an-epoch",
    "failover-epoch",
    "own-masters-epoch",
    "all-known-voters",
    "majority-besides-quorum",
    "wait-after-vote",
    "wait-after-attempt",
    "config-epoch-rises",
    "overtaken-gives-up",
    "rewrite-names-promoted",
    "seed-mixed-with-node",
    "rank-by-offset",
    "candidate-follows",
    "tilt-only-watches",
    "last-sign-of-life",
];

/// The names of the rules of Kafka's controllers, as [`RULES`] are Raft's.
#[cfg(feature = "peers")]
pub(super) const KRAFT_RULES: [&str; tenure::kraft::Rule::ALL.len()] = [
    "durable-before-reply",
    "durable-before-leading",
    "one-vote-an-epoch",
    "up-to-date-log",
    "majority-of-voters",
    "directory-in-votes",
    "pre-vote",
    "fetched-follower-refuses",
    "unfetched-follower-grants",
    "pre-vote-not-persisted",
    "spread-backoff",
    "own-epoch-high-watermark",
    "high-watermark-never-falls",
    "truncate-first",
    "divergence-checked",
    "flush-before-fetch",
    "flush-before-own-ack",
    "check-quorum",
    "restarted-leader-resigns",
    "claim-after-catchup",
    "renounce-resigns-raft",
];

/// The same of [`tenure::isr::Rule`].
#[cfg(feature = "peers")]
pub(super) const BROKER_RULES: [&str; tenure::isr::Rule::ALL.len()] = [
    "eligible-for-isr",
    "last-known-is-active",
    "clean-election",
    "unclean-leaves",
    "broker-epoch-checked",
    "later-epoch-is-not-controller",
    "leader-epoch-rises",
    "applies-committed",
    "leader-epoch-fences",
    "truncates-by-epoch",
    "divergence-moves-nothing",
    "reaches-epoch-start",
    "maximal-isr",
    "min-isr-for-high-watermark",
];

/// The rules of controllers, and then those of brokers.
#[cfg(feature = "peers")]
const KAFKA_RULES: [&str; KRAFT_RULES.len() + BROKER_RULES.len()] = {
    let mut names = [""; KRAFT_RULES.len() + BROKER_RULES.len()];
    let mut place = 0;
    while place < names.len() {
        names[place] = if place < KRAFT_RULES.len() {
            KRAFT_RULES[place]
        } else {
            BROKER_RULES[place - KRAFT_RULES.len()]
        };
        place += 1;
    }
    names
};

/// The names of all rules that are none of Raft's.
#[cfg(not(target_family = "wasm"))]
pub(super) const OTHER_RULES: &[&[&str]] = &[
    &LEASE_RULES,
    #[cfg(feature = "peers")]
    &ZAB_RULES,
    #[cfg(feature = "peers")]
    &SENTINEL_RULES,
    #[cfg(feature = "peers")]
    &KAFKA_RULES,
];

/// What a node is called, by its place: `n1`, `n2` and so on.
pub(crate) fn node_name(node: u16) -> String {
    let mut name = String::from("n");
    name.push_str(&(u32::from(node) + 1).to_string());
    name
}

/// What a server is called, by the letter of its kind and its number: `s1`, `s2` and so on.
pub(crate) fn server_name(letter: char, server: u16) -> String {
    let mut name = String::from(letter);
    name.push_str(&(u32::from(server) + 1).to_string());
    name
}

/// What a node or server is called by in a file: its name, or what it is. Servers by the letter of their kind.
#[inline(never)]
pub(crate) fn who_name(letter: char, who: Who) -> String {
    match who {
        Who::Node(node) => node_name(node),
        Who::Server(server) => server_name(letter, server),
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
        for (rule, name) in tenure::zab::Rule::ALL.into_iter().zip(ZAB_RULES) {
            assert_eq!(format!("{rule:?}"), camel(name));
        }
        for (rule, name) in tenure::sentinel::Rule::ALL.into_iter().zip(SENTINEL_RULES) {
            assert_eq!(format!("{rule:?}"), camel(name));
        }
        for (rule, name) in tenure::kraft::Rule::ALL.into_iter().zip(KRAFT_RULES) {
            assert_eq!(format!("{rule:?}"), camel(name));
        }
    }
}
