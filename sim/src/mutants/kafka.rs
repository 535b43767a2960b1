//! The rules of Kafka's brokers and partitions.

use super::Mutant;
use crate::check::Check;
use crate::scenario::broker_rule_names;
use crate::schedule::Among;
use tenure::isr::{Invariant, Rule};

/// The mutant of a rule.
pub(super) fn mutant(rule: Rule) -> Mutant {
    let protects = rule.protects();
    let follows = (rule.follows().iter()).flat_map(|invariant| checks_of(*invariant));
    Mutant::of_peers(
        broker_rule_names()[rule as usize],
        Among::Kafka(vec![rule]),
        (protects.name(), checks_of(protects)),
        follows.copied(),
        unreachable(rule),
    )
}

/// The checks that judge an invariant: the first by its name, and what shows it where it is broken elsewhere.
const fn checks_of(invariant: Invariant) -> &'static [Check] {
    match invariant {
        Invariant::FencedNeverLeads => &[Check::KafkaFencedNeverLeads],
        Invariant::LeaderInIsr => &[Check::KafkaLeaderInIsr],
        // What is shown as committed with acks=all is acknowledged.
        Invariant::CleanNoLoss => &[Check::KafkaCleanNoLoss, Check::KafkaNoAckLoss],
        Invariant::EpochMonotone => &[Check::KafkaEpochMonotone, Check::KafkaOneLeader],
        Invariant::ElrDisjoint => &[Check::KafkaElrDisjoint],
        Invariant::NoStaleCommand => &[Check::KafkaNoStaleCommand],
        Invariant::HighWatermarkMonotone => &[Check::KafkaHighWatermark],
        Invariant::LogMatching => &[Check::KafkaLogMatching],
        Invariant::InSyncAgain => &[Check::KafkaInSyncAgain],
        _ => &[],
    }
}

/// Why no schedule of the simulator breaks what a rule protects, and which test of the core shows that it does; nothing when
/// one does.
const fn unreachable(rule: Rule) -> Option<&'static str> {
    match rule {
        Rule::BrokerEpochChecked => Some(
            "by hand: a_member_of_a_former_life_is_not_taken_for_the_present_one in core/tests/isr",
        ),
        Rule::LaterEpochIsNotController => {
            Some("by hand: who_knows_a_later_epoch_looks_for_another_controller in core/tests/isr")
        }
        Rule::LeaderEpochFences => {
            Some("by hand: what_was_said_in_another_epoch_does_not_count in core/tests/isr")
        }
        Rule::DivergenceMovesNothing => {
            Some("by hand: an_answer_that_diverges_moves_no_high_watermark in core/tests/isr")
        }
        Rule::ReachesEpochStart => Some(
            "by hand: a_follower_enters_the_isr_when_it_has_what_was_there_before_the_epoch in core/tests/isr",
        ),
        _ => None,
    }
}
