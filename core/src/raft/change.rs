//! Changes of who takes part (Raft §6; Ongaro's thesis, §4).
//!
//! A configuration is an entry of the log, and counts from when it is there. One voter more or less is one entry; anything
//! else goes through a joint configuration, which the leader leaves by itself.
//!
//! **Invariants**
//! - INV-L6 votes and commits use intersecting configurations: of those that a log may hold beyond what is committed there
//!   is one, and it neighbours the last that is committed. Three rules keep it: one change at a time, not before an entry
//!   of the own term is committed (Ongaro's correction, raft-dev 2015), and both halves decide while it is joint.
//!
//! Whoever is out is told, or it would ask for ever: a node that was removed is sent nothing any more, also not the entry
//! that removes it (hashicorp/raft#524, #476).

use super::{MAX_INDEX, Message, ProposeError, Raft, Refusal, Role, Rule, Rules};
use crate::log::Position;
use crate::membership::{self, Membership, Target};
use crate::{Instant, NodeId, Why};
use alloc::sync::Arc;
use core::fmt;

/// Why a change of who takes part was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeRefused {
    /// Nothing can be proposed here now.
    Propose(ProposeError),
    /// The configuration entry at this index is not committed yet. Wait until [`Raft::commit`] has reached it.
    Uncommitted(u64),
    /// No entry of the leader's own term is committed yet: an uncommitted change of an earlier leader may come back. Wait
    /// until this node is [established](Raft::established).
    NewLeader,
    /// The target cannot be reached from the present membership.
    Target(membership::ChangeError),
    /// The node is to vote and lacks more than one message of entries: until it has them the group may decide nothing,
    /// and for ever when it is not there at all. Add it as a learner, and make it a voter once its
    /// [`progress`](Raft::progress) is near the end of the log.
    Behind(NodeId),
}

impl fmt::Display for ChangeRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Propose(error) => error.fmt(f),
            Self::Uncommitted(index) => write!(
                f,
                "the configuration at index {index} is not committed yet: wait until it is"
            ),
            Self::NewLeader => f.write_str(
                "no entry of this leader's term is committed yet: wait until it is established",
            ),
            Self::Target(error) => error.fmt(f),
            Self::Behind(id) => write!(
                f,
                "node {id} is to vote and has not caught up: add it as a learner first, and wait until it has"
            ),
        }
    }
}

impl core::error::Error for ChangeRefused {}

/// What counts when `newest` is the newest configuration in the log.
pub(super) fn in_force<R: Rules>(rules: &R, newest: Arc<Membership>) -> Arc<Membership> {
    if newest.is_joint() && !rules.keeps(Rule::JointNeedsBoth) {
        return Arc::new(newest.leave());
    }
    newest
}

impl<R: Rules> Raft<R> {
    /// Begins a change of who takes part and answers the position of its entry. When the change needs a joint
    /// configuration, the leader appends a second entry, which leaves it, once the first is committed. The change is over
    /// when [`membership`](Self::membership) is the target and [`commit`](Self::commit) has reached its entry; a later
    /// leader brings it to its end, or takes it back when it was not committed.
    ///
    /// A leader that is to have no vote leads until the change is committed, and then hands over.
    ///
    /// # Errors
    /// When this node may not propose, another change is under way or may come back, or the target cannot be reached;
    /// nothing is appended then.
    pub fn change(&mut self, now: Instant, target: &Target) -> Result<Position, ChangeRefused> {
        self.proposable(now).map_err(ChangeRefused::Propose)?;
        let newest = self.members.newest_index();
        if newest > self.commit && self.keeps(Rule::OneChangeAtATime) {
            return Err(ChangeRefused::Uncommitted(newest));
        }
        if !self.own_term_committed() && self.keeps(Rule::ChangeAfterOwnTerm) {
            return Err(ChangeRefused::NewLeader);
        }
        let next = self.newest_configuration().change_to(target);
        let next = next.map_err(ChangeRefused::Target)?;
        if let Some(id) = next.voters().find(|id| !self.may_become_voter(*id)) {
            return Err(ChangeRefused::Behind(id));
        }
        self.enter(next)
            .ok_or(ChangeRefused::Propose(ProposeError::TooLong))
    }

    /// Since which index a committed configuration, in the own log or in that of a voter that said so, has this node no
    /// more; `None` while it takes part, and for one that never did. A node that was removed does not stand, and its host
    /// may stop it for good; it becomes a member again when a leader adds it.
    #[must_use]
    pub fn removed(&self) -> Option<u64> {
        if self.excluded > 0 {
            return Some(self.excluded);
        }
        let (index, known) = self.committed_configuration()?;
        known.place(self.config.id).is_none().then_some(index)
    }

    /// Whether a node votes already, or lacks no more than one message of entries.
    fn may_become_voter(&self, id: NodeId) -> bool {
        let batch = self.config.replication.map_or(0, |flow| flow.batch);
        let near = |matched: u64| matched.saturating_add(batch) >= self.log.last().index;
        self.is_voter(id) || self.progress(id).is_some_and(|known| near(known.matched))
    }

    /// Appends a configuration, which counts at once. `None` when the log is full.
    fn enter(&mut self, next: Membership) -> Option<Position> {
        let last = self.log.last().index;
        if last >= MAX_INDEX || self.log.append(self.record.term, 1).is_err() {
            return None;
        }
        self.count_lease_anew();
        self.members.push(last + 1, Arc::new(next));
        self.reconfigure();
        self.persist();
        Some(self.log.last())
    }

    /// More is committed. A joint configuration is left, and a leader without a vote has done its last duty.
    pub(super) fn settle_configuration(&mut self) {
        if self.role != Role::Leader || self.members.newest_index() > self.commit {
            return;
        }
        let Some(newest) = self.members.newest() else {
            return;
        };
        if newest.is_joint() {
            // A full log stays joint: nothing can be decided beyond it anyway.
            let end = newest.leave();
            self.enter(end);
        } else if !self.votes() {
            let to = self.freshest();
            self.depose(Why::Removed, to);
        }
    }

    /// The voter whose log is known to reach furthest.
    fn freshest(&self) -> Option<NodeId> {
        let members = self.membership.members();
        (0..members.len())
            .filter(|place| self.membership.votes(*place) && members[*place].id != self.config.id)
            .max_by_key(|place| self.progress[*place].matched)
            .map(|place| members[place].id)
    }

    /// The newest configuration in the log, or the machine's own when there is none.
    pub(super) fn newest_configuration(&self) -> Arc<Membership> {
        self.as_of(self.log.last().index)
    }

    /// The newest configuration entry that is known to be committed, and its index or, when it is compacted away, a later
    /// one; `None` when there is none.
    fn committed_configuration(&self) -> Option<(u64, &Membership)> {
        let index = self.members.index_as_of(self.commit);
        let known = self.members.as_of(self.commit)?;
        Some((index.max(self.log.base().index), known))
    }

    /// Whether this node may ask for votes: it has one in the newest configuration of its log or, when that may still be
    /// taken back, in the one before. It must ask there too: a leader that had only just begun to remove itself may be the
    /// only one that can win, and is then without a vote of its own. What comes before the newest is committed, for there
    /// is one change at a time.
    pub(super) fn may_stand(&self) -> bool {
        let newest = self.members.newest_index();
        let votes = |known: &Membership| {
            let place = known.place(self.config.id);
            place.is_some_and(|place| known.votes(place))
        };
        self.excluded == 0
            && (votes(&self.membership) || (newest > self.commit && votes(&self.as_of(newest - 1))))
    }

    /// Tells a node that asks to be elected that it is out, beside the answer to what it asked: it may have been added
    /// again since, and then the answer counts.
    pub(super) fn tell_if_removed(&mut self, whom: NodeId, asked: u64) {
        if let Some((index, known)) = self.committed_configuration()
            && known.place(whom).is_none()
        {
            self.send(whom, Message::NotMember { asked, index });
        }
    }

    /// A voter says that this node is out. It stops asking until a leader speaks to it, unless its own log knows better.
    pub(super) fn on_not_member(&mut self, asked: u64, index: u64) {
        let asking = match self.role {
            Role::PreCandidate => self.record.term + 1,
            Role::Candidate => self.record.term,
            // It asks no more.
            Role::Follower | Role::Leader => return,
        };
        if asked > asking {
            return self.refusals.add(Refusal::Unasked);
        }
        // An entry of the own log at that very index is not the committed one, or says the same.
        let news = index > self.log.base().index && index >= self.members.newest_index();
        if asked == asking && news {
            self.excluded = index;
            self.step_back();
            self.await_leader();
        }
    }
}
