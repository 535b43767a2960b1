//! `AlterPartition`: the leader of a partition wants another ISR.

use super::Controller;
use crate::isr::image::Image;
use crate::isr::places::Places;
use crate::isr::record::Record;
use crate::isr::rules::{Rule, Rules};
use crate::isr::words::{AlterPartition, Answer, Fault, Member};
use alloc::vec;

impl<R: Rules> Controller<R> {
    pub(super) fn alter(&mut self, asked: &AlterPartition) -> Result<Answer, Fault> {
        let active = self.active.as_ref().ok_or(Fault::NotController)?;
        let image = &active.image;
        // In this order: each says more than the next.
        self.check_sender(image, asked)?;
        let topic = image.topic(asked.at.topic).ok_or(Fault::UnknownPartition)?;
        let partition = image.partition(asked.at).ok_or(Fault::UnknownPartition)?;
        if asked.leader_epoch > partition.leader_epoch
            || asked.partition_epoch > partition.partition_epoch
        {
            // KAFKA-14154: it knows what this one does not.
            return Err(if self.rules.keeps(Rule::LaterEpochIsNotController) {
                Fault::NotController
            } else {
                Fault::FencedLeaderEpoch
            });
        }
        if asked.leader_epoch < partition.leader_epoch {
            return Err(Fault::FencedLeaderEpoch);
        }
        if partition.leader != Some(asked.broker) {
            return Err(Fault::InvalidRequest);
        }
        if asked.partition_epoch < partition.partition_epoch {
            return Err(Fault::InvalidUpdateVersion);
        }
        let mut isr = Places::NONE;
        for member in &asked.isr {
            let only = partition.only(member.broker);
            if only.within(isr) {
                // No replica, or one that is named twice.
                return Err(Fault::InvalidRequest);
            }
            isr = isr.or(only);
        }
        let begins_to = asked.recovering && !partition.recovering;
        if !partition.among(asked.broker, isr) || begins_to || (asked.recovering && isr.count() > 1)
        {
            return Err(Fault::InvalidRequest);
        }
        if !asked
            .isr
            .iter()
            .all(|member| self.is_eligible(image, member))
        {
            return Err(Fault::IneligibleReplica);
        }
        let mut plan = self.plan(topic, partition, |who| image.is_active(who));
        plan.isr = isr;
        plan.recovering = asked.recovering;
        // Written even if nothing is different: what was asked before of the former state is settled by it.
        let change = plan.change(&self.rules).unwrap_or_default();
        let at = asked.at;
        self.decide(vec![Record::ChangePartition { at, change }]);
        let image = self.expected().ok_or(Fault::NotController)?;
        let after = image.partition(at).ok_or(Fault::UnknownPartition)?;
        Ok(Answer::Altered {
            leader_epoch: after.leader_epoch,
            partition_epoch: after.partition_epoch,
            isr: after.isr,
            recovering: after.recovering,
        })
    }

    fn check_sender(&self, image: &Image, asked: &AlterPartition) -> Result<(), Fault> {
        let sender = image.broker(asked.broker).ok_or(Fault::StaleBrokerEpoch)?;
        if sender.epoch != asked.broker_epoch && self.rules.keeps(Rule::BrokerEpochChecked) {
            return Err(Fault::StaleBrokerEpoch);
        }
        Ok(())
    }

    /// KIP-841, KIP-903: registered, neither fenced nor about to go, and in the life that the leader means.
    fn is_eligible(&self, image: &Image, member: &Member) -> bool {
        let Some(registration) = image.broker(member.broker) else {
            return false;
        };
        let active = registration.is_active() || !self.rules.keeps(Rule::EligibleForIsr);
        let epoch = member
            .epoch
            .filter(|_| self.rules.keeps(Rule::BrokerEpochChecked));
        active && epoch.is_none_or(|epoch| epoch == registration.epoch)
    }
}
