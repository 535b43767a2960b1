//! The rules of Redis Sentinel.

use super::Mutant;
use crate::check::Check;
use crate::scenario::sentinel_rule_names;
use crate::schedule::{Among, Setting};
use tenure::sentinel::{Invariant, Rule};

/// The mutant of a rule.
pub(super) fn mutant(rule: Rule) -> Mutant {
    let protects = rule.protects();
    let named = checks_of(protects).to_vec();
    let unjudged = named
        .is_empty()
        .then_some("no judge of the simulator looks at what it protects");
    Mutant {
        name: sentinel_rule_names()[rule as usize],
        rule: None,
        setting: Setting::among(Among::Sentinel(vec![rule])),
        breaks: named.first().map_or(protects.name(), |check| check.name()),
        follows: (rule.follows().iter())
            .flat_map(|invariant| checks_of(*invariant))
            .copied()
            .collect(),
        named,
        unreachable: unreachable(rule).or(unjudged),
    }
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
