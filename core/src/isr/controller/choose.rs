//! Elections that nobody's coming or going made: asked for, back to who is preferred, and of whoever there is.

use super::Controller;
use crate::isr::elect::Plan;
use crate::isr::image::{Image, Partition, Topic};
use crate::isr::record::{PartitionId, Record};
use crate::isr::rules::Rules;
use crate::isr::words::{Answer, Election, Fault};
use crate::{Instant, NodeId};
use alloc::vec::Vec;

impl<R: Rules> Controller<R> {
    /// What is to become of a partition.
    pub(super) fn plan<'a, A: Fn(NodeId) -> bool>(
        &self,
        topic: &Topic,
        partition: &'a Partition,
        active: A,
    ) -> Plan<'a, A> {
        Plan::new(topic, partition, self.config.elr, active)
    }

    pub(super) fn elect_leader(
        &mut self,
        at: PartitionId,
        election: Election,
    ) -> Result<Answer, Fault> {
        let active = self.active.as_ref().ok_or(Fault::NotController)?;
        let image = &active.image;
        let topic = image.topic(at.topic).ok_or(Fault::UnknownPartition)?;
        let partition = image.partition(at).ok_or(Fault::UnknownPartition)?;
        let (before, preferred) = (partition.leader, partition.replicas.first().copied());
        let needed = match election {
            Election::Preferred => before != preferred,
            Election::Any | Election::Unclean => before.is_none(),
        };
        if !needed {
            return Err(Fault::ElectionNotNeeded);
        }
        let mut plan = self.plan(topic, partition, |who| image.is_active(who));
        plan.election = election;
        let change = plan.change(&self.rules);
        let leader = change.and_then(|change| change.leader).unwrap_or(before);
        match (election, leader) {
            (Election::Preferred, leader) if leader != preferred => {
                Err(Fault::PreferredNotAvailable)
            }
            (_, None) => Err(Fault::NobodyEligible),
            (_, Some(leader)) => {
                let record = change.map(|change| Record::ChangePartition { at, change });
                self.decide(record.into_iter().collect());
                Ok(Answer::Elected { leader })
            }
        }
    }

    /// Leadership goes back to who is preferred, where too much of a broker's is elsewhere.
    pub(super) fn balance(&mut self, now: Instant) {
        let mut records = Vec::new();
        if let Some(active) = &mut self.active {
            active.balance_at = self
                .config
                .balance
                .map_or(Instant::FOREVER, |every| now + every);
        }
        if let Some(active) = &self.active {
            for broker in active
                .image
                .brokers()
                .iter()
                .filter(|broker| broker.is_active())
            {
                if self.is_unbalanced(&active.image, broker.broker) {
                    self.prefer(&active.image, broker.broker, &mut records);
                }
            }
        }
        self.decide(records);
    }

    /// Whether more is led by others, of what prefers a broker, than is let be.
    fn is_unbalanced(&self, image: &Image, broker: NodeId) -> bool {
        let (mut prefer, mut elsewhere) = (0u64, 0u64);
        for (_, _, partition) in image.partitions() {
            let prefers = partition.replicas.first() == Some(&broker);
            prefer += u64::from(prefers);
            elsewhere += u64::from(prefers && partition.leader != Some(broker));
        }
        elsewhere * 100 > prefer * u64::from(self.config.imbalance)
    }

    fn prefer(&self, image: &Image, broker: NodeId, records: &mut Vec<Record>) {
        for (at, topic, partition) in image.partitions() {
            let prefers = partition.replicas.first() == Some(&broker);
            if !prefers || partition.leader == Some(broker) {
                continue;
            }
            let mut plan = self.plan(topic, partition, |who| image.is_active(who));
            plan.election = Election::Preferred;
            let change = plan.change(&self.rules);
            records.extend(change.map(|change| Record::ChangePartition { at, change }));
        }
    }

    /// Partitions that nobody leads, and that may have anybody, get somebody.
    pub(super) fn recover(&mut self, now: Instant) {
        let mut records = Vec::new();
        if let Some(active) = &mut self.active {
            active.unclean_at = now + self.config.unclean;
        }
        if let Some(active) = &self.active {
            let image = &active.image;
            for (at, topic, partition) in image.partitions() {
                if partition.leader.is_some() || !topic.unclean {
                    continue;
                }
                let mut plan = self.plan(topic, partition, |who| image.is_active(who));
                plan.election = Election::Unclean;
                let change = plan.change(&self.rules);
                records.extend(change.map(|change| Record::ChangePartition { at, change }));
            }
        }
        self.decide(records);
    }
}
