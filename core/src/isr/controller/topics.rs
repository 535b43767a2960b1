//! Topics: created over the brokers that are active, and deleted.

use super::Controller;
use crate::NodeId;
use crate::isr::image::Registration;
use crate::isr::places::{MAX_REPLICAS, Places};
use crate::isr::record::{PartitionId, Record, TopicId};
use crate::isr::rules::Rules;
use crate::isr::words::{Answer, Fault, MAX_PARTITIONS};
use alloc::vec;
use alloc::vec::Vec;

impl<R: Rules> Controller<R> {
    pub(super) fn create_topic(
        &mut self,
        topic: TopicId,
        (partitions, replication): (u32, u8),
        (min_isr, unclean): (u8, bool),
    ) -> Result<Answer, Fault> {
        let active = self.active.as_ref().ok_or(Fault::NotController)?;
        if active.image.topic(topic).is_some() {
            return Err(Fault::TopicExists);
        }
        if !(1..=MAX_PARTITIONS).contains(&partitions) {
            return Err(Fault::InvalidPartitions);
        }
        let brokers = active.image.brokers().iter();
        let serving = brokers.filter(|broker| Registration::is_active(broker));
        let serving: Vec<NodeId> = serving.map(|registration| registration.broker).collect();
        let count = usize::from(replication);
        if !(1..=serving.len().min(MAX_REPLICAS)).contains(&count) {
            return Err(Fault::InvalidReplication);
        }
        if min_isr == 0 {
            return Err(Fault::InvalidRequest);
        }
        let mut records = vec![Record::CreateTopic {
            topic,
            min_isr,
            unclean,
        }];
        // Round and round, so that each is preferred about as often; where a topic begins depends on its number.
        let first = (topic.0 % serving.len() as u64) as usize;
        for index in 0..partitions {
            let from = first + index as usize;
            let replicas = (from..from + count).map(|place| serving[place % serving.len()]);
            records.push(Record::CreatePartition {
                at: PartitionId { topic, index },
                replicas: replicas.collect(),
                isr: Places::first(count),
            });
        }
        self.decide(records);
        Ok(Answer::Done)
    }

    pub(super) fn delete_topic(&mut self, topic: TopicId) -> Result<Answer, Fault> {
        let active = self.active.as_ref().ok_or(Fault::NotController)?;
        active.image.topic(topic).ok_or(Fault::UnknownPartition)?;
        self.decide(vec![Record::RemoveTopic { topic }]);
        Ok(Answer::Done)
    }
}
