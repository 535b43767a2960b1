//! The read barrier: `sync`.
//!
//! A read of a node's own state may be stale: by as much as the node is behind its leader, and with no bound once it was cut
//! off. After a [`sync`](Zab::sync) it misses nothing that was acknowledged before the sync was asked: the leader answers it on
//! the same connection as commits, once everything it had proposed before is committed.
//!
//! **Where this is more than ZooKeeper does.** There the leader answers by itself. One that was replaced and does not know yet
//! then answers to a follower that does not know either, and the read after it is stale. Here it answers once a quorum has
//! answered a round of pings that was sent after the question: none of them followed another leader then, and an epoch that was
//! established meanwhile was so after the question. [`Rule::SyncByQuorum`] switches to what is shipped.
//!
//! Syncs need no names: they are counted, and "all up to number *n*, once the state has applied index *i*" answers any number of
//! them. One question at a time is open; what is asked meanwhile shares the next.

use super::lead::{Phase, Stage};
use super::message::Packet;
use super::{Refusal, Rule, Rules, Zab};
use crate::Instant;
pub use crate::served::Served;
use crate::served::Untold;
use core::fmt;

/// Why a sync was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyncError {
    /// This node neither leads an established epoch nor follows one. Ask again later, or another node.
    NoLeader,
}

impl fmt::Display for SyncError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody is known to lead; ask again later, or another node")
    }
}

impl core::error::Error for SyncError {}

/// The syncs of this node.
#[derive(Clone, Debug)]
pub(super) struct Reads {
    /// The number of the newest.
    pub(super) asked: u64,
    /// The newest that the open question covers; `done` when none is open. **Invariant:** `done <= posed <= asked`.
    pub(super) posed: u64,
    /// The newest that is answered.
    pub(super) done: u64,
    served: Untold,
}

impl Reads {
    pub(super) fn new() -> Self {
        Self {
            asked: 0,
            posed: 0,
            done: 0,
            served: Untold::new(),
        }
    }

    fn ready(&mut self, upto: u64, index: u64) {
        self.done = upto;
        self.served.ready(upto, index);
    }

    /// Nobody leads any more.
    pub(super) fn fail(&mut self) {
        if self.done < self.asked {
            self.served.lost(self.asked);
        }
        (self.posed, self.done) = (self.asked, self.asked);
    }
}

/// A question to the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Question {
    number: u64,
    /// What must be committed.
    upto: u64,
    /// The round of pings that was sent after it, once one was.
    pub(super) round: Option<u64>,
}

impl Question {
    pub(super) const fn new(number: u64, upto: u64) -> Self {
        Self {
            number,
            upto,
            round: None,
        }
    }
}

impl<R: Rules> Zab<R> {
    /// Asks for a barrier: what a read after it sees is at least as new as now. Answers its number, counted from 1 in each life of
    /// the machine; what becomes of it comes out of [`poll_sync`](Self::poll_sync), once.
    ///
    /// # Errors
    /// When this node neither leads an established epoch nor follows one.
    pub fn sync(&mut self, now: Instant) -> Result<u64, SyncError> {
        self.at(now);
        let leads = self.leads_established();
        if self.halted || !(leads || self.followed().is_some()) {
            return Err(SyncError::NoLeader);
        }
        self.reads.asked += 1;
        Ok(self.reads.asked)
    }

    /// What became of syncs; `None` when there is nothing new. Ask once outputs are drained.
    pub fn poll_sync(&mut self) -> Option<Served> {
        self.reads.served.poll()
    }

    fn leads_established(&self) -> bool {
        self.phase() == Some(Phase::Broadcasting)
    }

    /// Asks what waits to be asked. Whether that made something to say.
    pub(super) fn pose(&mut self) -> bool {
        let open = self.reads.posed > self.reads.done;
        if self.reads.asked > self.reads.posed && !open {
            let number = self.reads.asked;
            if let Some(leading) = &mut self.leading {
                leading.question = Some(Question::new(number, self.log.last().index));
                self.reads.posed = number;
            } else if self.followed().is_some() {
                self.reads.posed = number;
                self.say_to_leader(Packet::Sync { number });
                return true;
            }
        }
        self.pose_as_leader()
    }

    /// Leader: a round for the questions that wait for one. While one is on the way, further questions share the next.
    fn pose_as_leader(&mut self) -> bool {
        let Some(leading) = &mut self.leading else {
            return false;
        };
        if leading.phase != Phase::Broadcasting {
            return false;
        }
        let by_quorum = self.rules.keeps(Rule::SyncByQuorum);
        if by_quorum && leading.awaited.is_some() {
            return false;
        }
        let round = if by_quorum { leading.round + 1 } else { 0 };
        let handlers = leading.handlers.iter_mut().flatten();
        let questions = handlers.filter_map(|handler| handler.question.as_mut());
        let mut posed = false;
        for question in questions.chain(leading.question.as_mut()) {
            if question.round.is_none() {
                (question.round, posed) = (Some(round), true);
            }
        }
        if !posed {
            return false;
        }
        leading.unsent = true;
        if by_quorum {
            leading.awaited = Some(round);
            self.send_round();
        } else {
            self.answer_itself();
        }
        true
    }

    /// The newest round that a quorum answered.
    fn answered_round(&self) -> u64 {
        let Some(leading) = &self.leading else {
            return 0;
        };
        let answered = |place: usize| match &leading.handlers[place] {
            _ if place == self.place => leading.round,
            Some(handler) if handler.stage >= Stage::Acknowledged => handler.round,
            _ => 0,
        };
        self.config.ensemble.reached(0, answered)
    }

    /// A round of pings was answered by one more.
    pub(super) fn rounds_answered(&mut self) {
        let Some(awaited) = self.leading.as_ref().and_then(|leading| leading.awaited) else {
            return;
        };
        if self.answered_round() >= awaited {
            if let Some(leading) = &mut self.leading {
                (leading.awaited, leading.unsent) = (None, true);
            }
            self.answer_itself();
        }
    }

    fn is_answered(&self, question: &Question) -> bool {
        let heard = |round| round <= self.answered_round() || !self.keeps(Rule::SyncByQuorum);
        question.upto <= self.commit && question.round.is_some_and(heard)
    }

    /// Leader: what it asked itself.
    pub(super) fn answer_itself(&mut self) {
        if let Some(leading) = &self.leading
            && let Some(question) = leading.question
            && self.is_answered(&question)
        {
            if let Some(leading) = &mut self.leading {
                leading.question = None;
            }
            self.reads.ready(question.number, self.commit);
        }
    }

    /// Leader: the answer to a learner, once it was told everything that it asked for.
    pub(super) fn answer_to(&mut self, place: usize) -> Option<Packet> {
        let handler = self.leading.as_ref()?.handlers[place].as_ref()?;
        let question = handler.question?;
        if !self.is_answered(&question) || handler.told < question.upto {
            return None;
        }
        self.leading.as_mut()?.handlers[place].as_mut()?.question = None;
        let number = question.number;
        Some(Packet::Sync { number })
    }

    /// Learner: the answer. Commits before it came on the same connection.
    pub(super) fn on_synced(&mut self, number: u64) {
        if number <= self.reads.done || number != self.reads.posed {
            return self.refusals.add(Refusal::Unexpected);
        }
        self.reads.ready(number, self.commit);
    }
}
