//! The rules of Kafka's controllers.

use super::Mutant;
use crate::check::Check;
use crate::scenario::kraft_rule_names;
use crate::schedule::Among;
use tenure::kraft::{Invariant, Rule};

/// The mutant of a rule.
pub(super) fn mutant(rule: Rule) -> Mutant {
    let protects = rule.protects();
    let follows = (rule.follows().iter())
        .flat_map(|invariant| checks_of(*invariant))
        .chain(shows(rule));
    Mutant::of_peers(
        kraft_rule_names()[rule as usize],
        Among::Kraft(vec![rule]),
        (protects.name(), checks_of(protects)),
        follows.copied(),
        unreachable(rule),
    )
}

/// The checks that judge an invariant: the first by its name, and what shows it where it is broken elsewhere.
const fn checks_of(invariant: Invariant) -> &'static [Check] {
    match invariant {
        Invariant::ElectionSafety => &[Check::OneLeaderPerTerm],
        Invariant::OneVote => &[Check::OneVotePerTerm],
        Invariant::LogMatching => &[Check::LogMatching],
        Invariant::LeaderCompleteness => &[Check::LeaderCompleteness, Check::CommittedIsDurable],
        // What is shown as committed and is not, was applied.
        Invariant::HighWatermarkMonotone => &[Check::CommitRises, Check::StateMachineAgreement],
        Invariant::HighWatermarkOwnEpoch => &[Check::CommitRises],
        Invariant::PreVoteQuiet => &[Check::PreVoteQuiet],
        Invariant::ResignedNoReuse => &[Check::ResignedNoReuse],
        Invariant::ClaimAfterCatchup => &[Check::ClaimAfterCatchUp],
        Invariant::NoStaleCommand => &[Check::StateMachineAgreement],
        Invariant::LeaderAgain => &[Check::LeaderAgain],
        Invariant::StaleLeaderStops => &[Check::StaleLeaderStops],
        _ => &[],
    }
}

/// What a world shows besides.
const fn shows(rule: Rule) -> &'static [Check] {
    match rule {
        // A question that is recorded is a vote, and the next one another.
        Rule::PreVoteNotPersisted => &[Check::OneVotePerTerm],
        // Who led in a former life believes so again, by the same token (KAFKA-17333).
        Rule::ClaimAfterCatchup => &[
            Check::NeverRevives,
            Check::LinearizableFenced,
            Check::LinearizableClient,
            Check::JobsLost,
            Check::JobsTwiceFenced,
            Check::JobsConcurrent,
        ],
        _ => &[],
    }
}

/// Why no schedule of the simulator can break what a rule protects; nothing when one can.
const fn unreachable(rule: Rule) -> Option<&'static str> {
    match rule {
        Rule::DirectoryInVotes => Some("voters are named without their disks here"),
        Rule::HighWatermarkNeverFalls => {
            Some("on a connection that keeps the order no fetch comes after a later one")
        }
        Rule::SpreadBackoff => Some(
            "where latencies differ, who lost together parts within the bound: core/tests/kraft/timelines.rs::who_lost_together_does_not_stand_together",
        ),
        Rule::RenounceResignsRaft => Some(
            "no schedule was found that breaks it: core/tests/kraft/reports.rs::kafka_13104_a_controller_renounces_and_raft_does_not",
        ),
        _ => None,
    }
}
