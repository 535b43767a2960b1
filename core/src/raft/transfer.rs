//! Leadership is handed over on purpose (Ongaro's thesis, §3.10).
//!
//! The leader takes no more proposals, waits until the successor's disk has the whole log, stops leading for good, and only
//! then names it: a successor that is one entry short is refused by everybody, with nobody left to lead (redpanda#2606,
//! hashicorp/raft#487, #581). The release that names it frees it from its promise, and its requests for votes carry that
//! on to whoever has not heard it yet, so that one round elects it (KAFKA-20895).

use super::lead::not_leader;
use super::{Raft, Role, Rule, Rules};
use crate::membership::Part;
use crate::{Event, Instant, Leader, NodeId, Why};
use core::fmt;

/// A transfer under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) to: NodeId,
    /// When it is given up.
    pub(super) until: Instant,
}

/// Why leadership is not handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransferError {
    /// This node does not lead. Ask the one that does, if it is known.
    NotLeader(Option<Leader>),
    /// This node leads already.
    ToItself,
    /// The node has no vote, or is about to lose it: it cannot be elected (etcd#11326, openraft#1805, tikv#4045). Make it
    /// a voter first.
    NotAVoter(NodeId),
    /// A transfer to this node is under way. Wait until it is over: an election timeout at most.
    UnderWay(NodeId),
}

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLeader(leader) => not_leader(f, *leader),
            Self::ToItself => f.write_str("this node leads already: nothing needs to be done"),
            Self::NotAVoter(id) => write!(
                f,
                "node {id} has no vote that lasts and cannot be elected: make it a voter first"
            ),
            Self::UnderWay(id) => write!(
                f,
                "a transfer to node {id} is under way: wait until it is over, an election timeout at most"
            ),
        }
    }
}

impl core::error::Error for TransferError {}

impl<R: Rules> Raft<R> {
    /// Hands leadership over to a voter. Until it has the whole log, at most one election timeout, this node leads on and
    /// takes no proposals. Then it stops leading, for good in this term, and the other stands for votes at once; otherwise
    /// it reports [`Event::TransferDropped`] and takes proposals again.
    ///
    /// # Errors
    /// When this node does not lead, the other cannot be elected, or a transfer is under way; nothing changes then.
    pub fn transfer(&mut self, now: Instant, to: NodeId) -> Result<(), TransferError> {
        self.at(now);
        if self.halted || self.role != Role::Leader {
            return Err(TransferError::NotLeader(self.known_leader()));
        }
        if to == self.config.id {
            return Err(TransferError::ToItself);
        }
        if !self.keeps_vote(to) {
            return Err(TransferError::NotAVoter(to));
        }
        if let Some(transfer) = self.transfer {
            return Err(TransferError::UnderWay(transfer.to));
        }
        let until = self.now + self.config.timing.election_max;
        self.transfer = Some(Transfer { to, until });
        self.hand_over_when_caught_up();
        Ok(())
    }

    /// To whom leadership is being handed over.
    #[must_use]
    pub fn transferring(&self) -> Option<NodeId> {
        self.transfer.map(|transfer| transfer.to)
    }

    /// Whether a node votes, and will when a joint configuration is left.
    fn keeps_vote(&self, id: NodeId) -> bool {
        let place = self.membership.place(id);
        place.is_some_and(|place| {
            matches!(
                self.membership.members()[place].part,
                Part::Voter | Part::Incoming
            )
        })
    }

    /// Whether a node could win against a quorum, as far as is known of their logs: one that could not would burn a term,
    /// and the others would wait for it.
    pub(super) fn may_succeed(&self, id: NodeId) -> bool {
        let reached = |place: usize| match self.membership.members()[place].id {
            id if id == self.config.id => self.log.last().index,
            _ => self.progress.get(place).map_or(0, |known| known.matched),
        };
        let has = self.membership.place(id).map_or(0, reached);
        let behind = |place| reached(place) <= has;
        let wins = self.progress.is_empty() || self.membership.is_quorum(behind);
        id != self.config.id && self.keeps_vote(id) && wins
    }

    /// Stops leading as soon as the successor's disk has the whole log.
    pub(super) fn hand_over_when_caught_up(&mut self) {
        let Some(Transfer { to, .. }) = self.transfer else {
            return;
        };
        // Without a log there is nothing to catch up with.
        let last = self.log.last().index;
        let has_all = self.progress(to).is_none_or(|known| known.matched == last);
        if has_all || !self.keeps(Rule::TransferWhenCaughtUp) {
            self.depose(Why::Transferred, Some(to));
        }
    }

    /// A transfer that took an election timeout is given up: leadership goes on.
    pub(super) fn drop_late_transfer(&mut self) {
        if let Some(Transfer { to, until }) = self.transfer
            && until <= self.now
        {
            self.transfer = None;
            self.event(Event::TransferDropped(to));
        }
    }

    /// The leader that stopped named this node, which can win as far as it knew: pre-votes would only cost a round.
    pub(super) fn succeed(&mut self) {
        if self.begin_candidacy() {
            self.stand_for_vote();
        }
    }
}
