//! The rules of ZooKeeper's own servers.

use super::Mutant;
use crate::check::Check;
use crate::scenario::zab_rule_names;
use crate::schedule::Among;
use tenure::zab::{Invariant, Rule};

/// The mutant of a rule.
pub(super) fn mutant(rule: Rule) -> Mutant {
    let protects = rule.protects();
    let follows = (rule.follows().iter())
        .flat_map(|invariant| checks_of(*invariant))
        .chain(shows(rule));
    Mutant::of_peers(
        zab_rule_names()[rule as usize],
        Among::Zab(vec![rule]),
        (protects.name(), checks_of(protects)),
        follows.copied(),
        unreachable(rule),
    )
}

/// The checks that judge an invariant: the first by its name, and what shows it where it is broken elsewhere.
const fn checks_of(invariant: Invariant) -> &'static [Check] {
    match invariant {
        Invariant::EpochOrder => &[Check::EpochOrder],
        // Who gives its promise of an epoch twice makes two leaders of it.
        Invariant::Leadership1 | Invariant::Leadership2 => {
            &[Check::OneLeaderPerTerm, Check::OneVotePerTerm]
        }
        Invariant::PromiseBeforeAct => &[Check::PromiseBeforeAct],
        Invariant::Integrity | Invariant::LocalPrimaryOrder => &[Check::LocalPrimaryOrder],
        Invariant::Agreement | Invariant::TotalOrder => {
            &[Check::StateMachineAgreement, Check::LogMatching]
        }
        Invariant::GlobalPrimaryOrder => &[Check::GlobalPrimaryOrder],
        // What is delivered too early is on too few disks, which is seen before the next leader proposes without it.
        Invariant::PrimaryIntegrity => &[Check::PrimaryIntegrity, Check::CommittedIsDurable],
        Invariant::AckedSurvives => &[Check::AcknowledgedSurvives, Check::LeaderCompleteness],
        Invariant::AckMeansDurable => &[Check::AckMeansDurable, Check::CommittedIsDurable],
        Invariant::LogContinuity => &[Check::LogContinuity],
        Invariant::FreshSync => &[Check::LinearizableStore],
        // Who follows nobody shows what is old.
        Invariant::LeaderAgain => &[Check::LeaderAgain, Check::LocalReads],
        _ => &[],
    }
}

/// What a world shows besides.
const fn shows(rule: Rule) -> &'static [Check] {
    match rule.protects() {
        // Two that lead one epoch show one token, and a guard takes them for one.
        Invariant::Leadership1 => &[
            Check::TokenHolder,
            Check::LinearizableFenced,
            Check::LinearizableClient,
            Check::JobsConcurrent,
        ],
        _ => &[],
    }
}

/// Why no schedule of the simulator can break what a rule protects; nothing when one can.
const fn unreachable(rule: Rule) -> Option<&'static str> {
    match rule {
        Rule::EpochInOrder => Some(
            "needs epochs that differ over equal logs: scenarios/reports/zookeeper-1419 has them",
        ),
        Rule::OwnRound => {
            Some("no judge knows of rounds: who is made leader by an older one leads")
        }
        Rule::CheckLeader => Some("a connection tells all who follow a leader of its end at once"),
        Rule::EstablishedEpoch => Some("who cannot join is not missed while another leads"),
        Rule::RefuseOlderEpoch => Some(
            "needs a promise to one who leads nothing in the end, while an earlier leader leads on: not one schedule in some thousands",
        ),
        Rule::MostRecentLeads => Some(
            "whoever is elected has the more recent history, but for those that are deserted and joined late: not one schedule in some thousands",
        ),
        Rule::CutOrExit => {
            Some("needs the very write to fail that cuts a log: not one schedule in some thousands")
        }
        Rule::StepDownAtWrap => Some("needs four thousand million entries in one epoch"),
        Rule::Continuous | Rule::PacketsInOrder => {
            Some("a connection of the simulator loses nothing without both ends being told")
        }
        _ => None,
    }
}
