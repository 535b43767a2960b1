//! Broadcast, the learner's side: up to date, and kept so (ZAB-S11, ZAB-B2).

use super::learn::Stage;
use super::message::{Entries, Packet};
use super::{Refusal, Role, Rule, Rules, Zab};
use crate::Event;

impl<R: Rules> Zab<R> {
    /// UPTODATE (ZAB-S11): the epoch is established. What came since NEWLEADER is logged, and what is committed delivered.
    pub(super) fn serve(&mut self) {
        let Some(learning) = &mut self.learning else {
            return;
        };
        learning.stage = Stage::Serving;
        let (committed, epoch) = (learning.committed, learning.epoch);
        self.log = core::mem::take(&mut learning.staged);
        if !self.keeps(Rule::KeepBuffered) {
            // Z-4785: what is committed already passes for logged.
            self.durable.appended = self.durable.appended.max(committed);
        }
        self.blank = false;
        self.commit = self.commit.max(committed.min(self.log.last().index));
        self.answer_with(epoch);
        self.event(Event::Following(self.followed()));
        self.acknowledge(self.durable.synced());
    }

    /// A proposal (ZAB-B2). Whether it was taken.
    pub(super) fn take(&mut self, entries: Entries) -> bool {
        let end = match &self.learning {
            Some(learning) => learning.end,
            None => return false,
        };
        if !self.follows(&entries, end) {
            return false;
        }
        if self.log.append(entries.epoch, entries.count).is_err() {
            self.abandon(Refusal::ImpossibleLog);
            return false;
        }
        if let Some(learning) = &mut self.learning {
            learning.end = entries.last();
        }
        if !self.keeps(Rule::AckDurable) {
            self.acknowledge(self.log.last().index);
        }
        true
    }

    pub(super) fn take_commit(&mut self, upto: u64) {
        if upto > self.log.last().index {
            return self.abandon(Refusal::ContradictsCommitted);
        }
        self.commit = self.commit.max(upto);
    }

    /// Acknowledges entries up to `upto`, once. Observers are not asked to.
    pub(super) fn acknowledge(&mut self, upto: u64) {
        if let Some(learning) = &mut self.learning
            && upto > learning.acked.max(learning.committed)
            && self.role == Role::Following
        {
            learning.acked = upto;
            self.say_to_leader(Packet::Ack { upto });
        }
    }
}
