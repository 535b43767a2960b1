//! Replication, the follower's side: entries are taken over from the leader (Raft §5.3) and acknowledged when the disk
//! holds them.
//!
//! **Invariants**
//! - INV-L1 two logs that have an entry of one index and term agree up to it;
//! - INV-L3 what is committed is never taken back: entries at or below the commit index are not replaced;
//! - INV-L4 what is acknowledged is on the disk;
//! - INV-L5 the commit index never falls, and a follower's never passes what it knows to agree with its leader.

use super::{Entries, Message, Raft, Refusal, Rule, Rules};
use crate::log::Position;
use crate::{Instant, NodeId};

impl<R: Rules> Raft<R> {
    /// Up to where the log is committed: the same entries, for ever, on every member. Rises only.
    #[must_use]
    pub fn commit(&self) -> u64 {
        self.commit
    }

    /// Up to where the log is on this node's disk.
    #[must_use]
    pub fn durable_index(&self) -> u64 {
        self.durable.log()
    }

    /// The shape of the log.
    #[must_use]
    pub fn log(&self) -> &crate::log::Shape {
        &self.log
    }

    /// The position of the entry at `index`, which is in the log or the last one compacted away.
    pub(super) fn position(&self, index: u64) -> Position {
        Position::new(self.log.term_at(index).unwrap_or(0), index)
    }

    /// The entries after `index` that fit one message or write: of one term, without a configuration entry or nothing
    /// but one, and at most `limit`.
    pub(super) fn entries_after(&self, index: u64, limit: u64) -> Entries {
        let Some((term, count)) = self.log.run_after(index).filter(|_| limit > 0) else {
            return Entries::NONE;
        };
        let count = count.min(limit);
        match self.members.after(index) {
            Some((at, to)) if at == index + 1 => Entries::Change {
                term,
                to: to.clone(),
            },
            Some((at, _)) => Entries::Run {
                term,
                count: count.min(at - index - 1),
            },
            None => Entries::Run { term, count },
        }
    }

    pub(super) fn on_append(
        &mut self,
        from: NodeId,
        term: u64,
        sent: Instant,
        prev: Position,
        entries: Entries,
        commit: u64,
    ) {
        if !self.hear_leader(from, term) {
            return;
        }
        if self.config.replication.is_none() {
            return self.refusals.add(Refusal::NoLog);
        }
        let agrees = self.log.contains(prev) || !self.keeps(Rule::LogMatching);
        // What is committed agrees, also where it is compacted away and cannot be compared any more.
        if !agrees && prev.index > self.commit {
            let hint = self.log.hint(prev);
            let promise = self.told_promise();
            return self.send(
                from,
                Message::AppendRefused {
                    term,
                    sent,
                    promise,
                    prev: prev.index,
                    hint,
                },
            );
        }
        if !agrees && prev.index >= self.log.base().index {
            return self.refusals.add(Refusal::ContradictsCommitted);
        }
        let end = prev.index + entries.count();
        if !self.take_over(prev.index, entries) {
            return self.refusals.add(Refusal::ContradictsCommitted);
        }
        self.matched = self.matched.max(end);
        self.owed = self.owed.max(Some(sent));
        self.commit_up_to(commit);
        self.persist();
        self.acknowledge_what_is_durable();
    }

    /// Makes the log agree with `entries` after `index`. False when they contradict what is committed.
    pub(super) fn take_over(&mut self, index: u64, entries: Entries) -> bool {
        let term = entries.term();
        let mut at = index.max(self.log.base().index);
        let end = index + entries.count();
        // Entries of the same index and term are the same entries: only what is not there yet is taken.
        while at < end
            && let Some((known, count)) = self.log.run_after(at)
        {
            if known != term {
                if at < self.commit {
                    return false;
                }
                self.cut_log(at);
                if self.members.truncate(at) {
                    self.reconfigure();
                }
                break;
            }
            at = end.min(at + count);
        }
        if at >= end {
            return true;
        }
        // Refused before when the terms do not rise or the end is no index.
        if self.log.append(term, end - at).is_err() {
            return false;
        }
        if let Entries::Change { to, .. } = entries {
            self.members.push(self.log.last().index, to);
            self.reconfigure();
        }
        true
    }

    /// The leader says that its log is committed up to `index`.
    pub(super) fn commit_up_to(&mut self, index: u64) {
        let known = if self.keeps(Rule::CommitMatched) {
            index.min(self.matched)
        } else {
            index.min(self.log.last().index)
        };
        self.commit = self.commit.max(known);
    }

    pub(super) fn on_commit(&mut self, from: NodeId, term: u64, index: u64) {
        if term == self.record.term && self.leader == Some(from) {
            self.commit_up_to(index);
        }
    }

    /// Tells the leader how much of what it sent is on the disk, when it waits to hear that.
    pub(super) fn acknowledge_what_is_durable(&mut self) {
        let (Some(sent), Some(leader)) = (self.owed, self.leader) else {
            return;
        };
        let durable = if self.keeps(Rule::AckDurable) {
            self.durable.log()
        } else {
            self.log.last().index
        };
        let settled = self.durable.record_is_settled() || !self.keeps(Rule::DurableBeforeReply);
        // Said once for each step of the disk: what it holds already, and the rest later.
        if !settled || (durable < self.matched && durable <= self.acknowledged) {
            return;
        }
        let matched = self.matched.min(durable);
        self.acknowledged = matched;
        if matched == self.matched {
            self.owed = None;
        }
        let promise = self.told_promise();
        self.send(
            leader,
            Message::AppendAck {
                term: self.record.term,
                sent,
                promise,
                matched,
            },
        );
    }
}
