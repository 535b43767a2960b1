//! KB-FencedNeverLeads, KP-LeaderInIsr, KP-ElrDisjoint, KP-EpochMonotone: every state of a partition that the metadata log
//! commits, and every step from one to the next.

use crate::check::{Broken, Check, Tally};
use tenure::isr::{Image, Partition, Places};

#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) fenced: Tally,
    pub(super) leader_in_isr: Tally,
    pub(super) disjoint: Tally,
    pub(super) epochs: Tally,
}

impl State {
    /// A partition is so, and was so before, if it was there.
    pub(super) fn is(
        &mut self,
        now: u64,
        image: &Image,
        partition: &Partition,
        was: Option<&Partition>,
        broken: &mut Broken,
    ) {
        let leader = partition.leader;
        let outside = leader.is_some_and(|leader| !partition.among(leader, partition.isr));
        broken.add(
            Check::KafkaLeaderInIsr,
            self.leader_in_isr.note(now, outside),
        );
        let apart = partition.isr.and(partition.elr).is_empty()
            && partition.isr.or(partition.elr).within(partition.all());
        broken.add(Check::KafkaElrDisjoint, self.disjoint.note(now, !apart));
        // Who is fenced stays where it is alone in sync, and enters nothing.
        let entered = partition.isr.but(was.map_or(Places::NONE, |was| was.isr));
        let may = |place: usize| {
            let broker = partition.replicas.get(place);
            broker.is_some_and(|broker| image.is_active(*broker))
        };
        let active = entered.iter().all(may) && leader.is_none_or(|leader| image.is_active(leader));
        broken.add(Check::KafkaFencedNeverLeads, self.fenced.note(now, !active));
        let Some(was) = was.filter(|was| *was != partition) else {
            return;
        };
        let rises = partition.partition_epoch > was.partition_epoch
            && partition.leader_epoch >= was.leader_epoch
            && (was.leader == leader || partition.leader_epoch > was.leader_epoch);
        broken.add(Check::KafkaEpochMonotone, self.epochs.note(now, !rises));
    }
}
