//! The rules of Redis Sentinel.

use super::Mutant;
use crate::check::Check;
use crate::scenario::sentinel_rule_names;
use crate::schedule::Among;
use tenure::sentinel::{Invariant, Rule};

/// The mutant of a rule.
pub(super) fn mutant(rule: Rule) -> Mutant {
    let protects = rule.protects();
    let follows = (rule.follows().iter()).flat_map(|invariant| checks_of(*invariant));
    Mutant::of_peers(
        sentinel_rule_names()[rule as usize],
        Among::Sentinel(vec![rule]),
        (protects.name(), checks_of(protects)),
        follows.copied(),
        unreachable(rule),
    )
}

/// The checks that judge an invariant: the first by its name, and what shows it where it is broken elsewhere.
const fn checks_of(invariant: Invariant) -> &'static [Check] {
    match invariant {
        Invariant::OneVote => &[Check::SentinelOneVote],
        Invariant::EpochMonotone => &[Check::SentinelEpochMonotone],
        Invariant::OneLeader => &[Check::SentinelOneLeader],
        Invariant::ConfigUnique => &[Check::SentinelConfigUnique],
        // Who takes up an epoch and not its address holds another than others do in it.
        Invariant::ConfigMonotone => &[Check::SentinelConfigMonotone, Check::SentinelConfigUnique],
        Invariant::MajorityAuthorised => &[Check::SentinelMajority],
        Invariant::ConvergesToMax => &[Check::SentinelConverges],
        Invariant::NoMinorityFailover => &[Check::SentinelNoMinority],
        Invariant::NoSelfReplication => &[Check::SentinelNoSelfReplication],
        Invariant::RateLimited => &[Check::SentinelRateLimited],
        Invariant::BestReplica => &[Check::SentinelBestReplica],
        Invariant::MasterStays => &[Check::SentinelMasterStays],
        Invariant::FailoverCompletes => &[Check::LeaderAgain, Check::SentinelFailoverCompletes],
        _ => &[],
    }
}

/// Why no schedule of the simulator can break what a rule protects; nothing when one can.
const fn unreachable(rule: Rule) -> Option<&'static str> {
    match rule {
        Rule::OwnMastersEpoch => {
            Some("needs several masters that fail in step, and sentinels that try each of them")
        }
        Rule::LastSignOfLife => Some(
            "in every schedule the master is back in the end: scenarios/sentinel-woke-late has none",
        ),
        Rule::SeedMixedWithNode => Some(
            "messages that take different times part them within the bound: scenarios/reports/redis-10197 has none",
        ),
        _ => None,
    }
}
