//! Synchronisation, the learner's side (ZAB-S8 to ZAB-S10).
//!
//! What a leader sends before this node is up to date is kept beside the log, `staged`. With NEWLEADER the history goes to the
//! disk, then the epoch, and only then is it acknowledged (ZAB-S10). What is broken off before leaves log and disk as they were
//! (Z-3642), but for a TRUNC, which is done at once.

use super::learn::{Learning, Stage, Way};
use super::message::{Entries, Packet};
use super::record::Request;
use super::{Refusal, Rule, Rules, Zab};
use crate::log::{Position, Shape};

impl<R: Rules> Zab<R> {
    /// DIFF, TRUNC or SNAP (ZAB-S8).
    pub(super) fn begin_to_collect(&mut self, packet: Packet) {
        let (base, end) = (self.log.base(), self.told_end());
        let (way, staged, end) = match packet {
            Packet::Trunc { to } => {
                let known = self.log.contains(to) || !self.keeps(Rule::SnapAcrossEpochs);
                if !known || to.index < self.commit || to.index > self.log.last().index {
                    return self.abandon(Refusal::ContradictsCommitted);
                }
                let mut staged = self.log.clone();
                staged.truncate(to.index);
                self.request(Request::Truncate { to });
                self.durable.cut_to(to.index);
                if self.keeps(Rule::ReloadAfterSync) {
                    self.log.truncate(to.index);
                } else {
                    // Z-5094: memory stays as it was until the synchronisation ends.
                    self.durable.appended = self.log.last().index;
                }
                (Way::Trunc, staged, to)
            }
            Packet::Snap { last } => {
                if !self.is_possible(last) {
                    return self.abandon(Refusal::ImpossibleLog);
                }
                // What this log begins with is committed: the leader has it too.
                let begins = if last.index > base.index { last } else { base };
                (Way::Snap, Shape::after(begins), last)
            }
            _ => (Way::Diff, self.log.clone(), end),
        };
        if let Some(learning) = &mut self.learning {
            learning.stage = Stage::Collecting;
            (learning.way, learning.staged, learning.end) = (way, staged, end);
            learning.committed = 0;
        }
    }

    /// Whether `entries` follow what the leader told before; looks for another one when they do not (ZAB-S9, Z-4925).
    pub(super) fn follows(&mut self, entries: &Entries, end: Position) -> bool {
        let rises = entries.epoch >= entries.after.term.max(1) && entries.count > 0;
        let known = self.is_possible(entries.after)
            && self.is_possible(entries.last())
            && self.epoch_is_near(entries.epoch);
        if !rises || !known {
            self.abandon(Refusal::ImpossibleLog);
            return false;
        }
        if entries.after != end && self.keeps(Rule::Continuous) {
            self.abandon(Refusal::NotContinuous);
            return false;
        }
        true
    }

    /// A proposal before this node is up to date. Whether it was taken.
    pub(super) fn collect(&mut self, entries: Entries) -> bool {
        let Some(learning) = &self.learning else {
            return false;
        };
        let end = learning.end;
        if !self.follows(&entries, end) {
            return false;
        }
        let Some(learning) = &mut self.learning else {
            return false;
        };
        learning.end = entries.last();
        // Below what this log begins with there is nothing to keep; at it, both must agree.
        let base = learning.staged.base();
        let hidden = base.index.saturating_sub(entries.after.index);
        let covers = hidden > 0 && entries.last().index >= base.index;
        if covers && entries.epoch != base.term {
            self.abandon(Refusal::ContradictsCommitted);
            return false;
        }
        let count = entries.count.saturating_sub(hidden);
        if count > 0 && learning.staged.append(entries.epoch, count).is_err() {
            self.abandon(Refusal::ImpossibleLog);
            return false;
        }
        true
    }

    pub(super) fn collect_commit(&mut self, upto: u64) {
        let Some(learning) = &mut self.learning else {
            return;
        };
        if upto > learning.end.index {
            return self.abandon(Refusal::ContradictsCommitted);
        }
        learning.committed = learning.committed.max(upto);
    }

    /// NEWLEADER (ZAB-S10): the history, synced; then the epoch; then the acknowledgement.
    pub(super) fn record_history(&mut self, epoch: u64) {
        let Some(learning) = &mut self.learning else {
            return;
        };
        let begins = learning.staged.base();
        if learning.end.index < begins.index {
            return self.abandon(Refusal::ContradictsCommitted);
        }
        learning.stage = Stage::Recording;
        // What is not known to be committed is logged later (ZAB-S11), unless it is there already.
        let from = match learning.way {
            Way::Snap => begins.index,
            Way::Diff => self.log.last().index,
            Way::Trunc => self.log.last().index.min(learning.staged.last().index),
        };
        let mut log = learning.staged.clone();
        log.truncate(learning.committed.max(from));
        let snap = learning.way == Way::Snap;
        let early = (!self.keeps(Rule::EpochAfterHistory)).then(|| self.write_current(epoch));
        self.log = log;
        if snap {
            self.durable.replaced(begins.index);
            self.request(Request::Install { last: begins });
        } else {
            self.durable.appended = from;
        }
        self.append_log();
        let ticket = match early {
            Some(_) => self.sync_log(),
            None if self.keeps(Rule::HistorySynced) => {
                self.sync_log();
                self.write_current(epoch)
            }
            None => {
                let ticket = self.write_current(epoch);
                self.sync_log();
                ticket
            }
        };
        if !self.keeps(Rule::DeliverEstablished) {
            let committed = self
                .learning
                .as_ref()
                .map_or(0, |learning| learning.committed);
            self.commit = self.commit.max(committed.min(self.log.last().index));
        }
        if let Some(learning) = &mut self.learning {
            learning.ticket = ticket;
        }
    }

    fn write_current(&mut self, epoch: u64) -> u64 {
        self.current = epoch;
        self.request(Request::Current(epoch))
    }

    /// What an interrupted synchronisation leaves: the log as it is on the disk (Z-3642, Z-5094).
    pub(super) fn reload(&mut self, learning: &Learning) {
        if learning.stage == Stage::Collecting && !self.keeps(Rule::ReloadAfterSync) {
            if learning.way == Way::Snap {
                self.log = learning.staged.clone();
            }
            // Memory passes for what the disk holds.
            self.durable.appended = self.log.last().index;
        }
    }
}
