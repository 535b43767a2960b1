//! The rules of Kafka's brokers and partitions.

use super::Mutant;
use crate::check::Check;
use crate::scenario::broker_rule_names;
use crate::schedule::{Among, Setting};
use tenure::isr::{Invariant, Rule};

/// The mutant of a rule.
pub(super) fn mutant(rule: Rule) -> Mutant {
    let protects = rule.protects();
    let named = checks_of(protects).to_vec();
    Mutant {
        name: broker_rule_names()[rule as usize],
        rule: None,
        setting: Setting::among(Among::Kafka(vec![rule])),
        breaks: named.first().map_or(protects.name(), |check| check.name()),
        follows: (rule.follows().iter())
            .flat_map(|invariant| checks_of(*invariant))
            .copied()
            .collect(),
        named,
        unreachable: unreachable(rule),
    }
}

/// The checks that judge an invariant: the first by its name, and what shows it where it is broken elsewhere.
const fn checks_of(invariant: Invariant) -> &'static [Check] {
    match invariant {
        Invariant::FencedNeverLeads => &[Check::KafkaFencedNeverLeads],
        Invariant::LeaderInIsr => &[Check::KafkaLeaderInIsr],
        Invariant::CleanNoLoss => &[Check::KafkaCleanNoLoss],
        Invariant::EpochMonotone => &[Check::KafkaEpochMonotone, Check::KafkaOneLeader],
        Invariant::ElrDisjoint => &[Check::KafkaElrDisjoint],
        Invariant::NoStaleCommand => &[Check::KafkaNoStaleCommand],
        Invariant::HighWatermarkMonotone => &[Check::KafkaHighWatermark],
        Invariant::LogMatching => &[Check::KafkaLogMatching],
        Invariant::InSyncAgain => &[Check::KafkaInSyncAgain],
        _ => &[],
    }
}

/// Why no schedule of the simulator can break what a rule protects; nothing when one can.
const fn unreachable(_: Rule) -> Option<&'static str> {
    None
}
