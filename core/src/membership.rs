//! Who takes part in a group that may change while it decides: voters, learners, and on the way between two sets of voters
//! both of them at once (joint consensus, Raft §6).
//!
//! A change of one voter at a time needs no joint phase: any two majorities of neighbouring groups have a node in common. That
//! holds of neighbours and no further. A leader therefore begins a change only after an entry of its own term is committed:
//! until then a change that an earlier leader left uncommitted may come back, and the two changes together are more than one
//! voter (Ongaro's correction of single-server changes, raft-dev 2015).

use crate::NodeId;
use crate::quorum::{self, MAX_VOTERS, Voters};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

/// The most members one group may have, of all parts together. Lengths read from outside are checked against it before
/// anything is allocated.
pub const MAX_MEMBERS: usize = MAX_VOTERS;

/// One who takes part, and how it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// Its name.
    pub id: NodeId,
    /// How it counts.
    pub part: Part,
}

/// How a member counts. In a joint membership, where decisions take a quorum of the old half and one of the new, the last
/// three exist beside the first two, and make it one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Part {
    /// Gets the log and does not vote.
    Learner = 0b000,
    /// Votes; in both halves when joint.
    Voter = 0b011,
    /// Votes in the new half only. A voter afterwards.
    Incoming = 0b001,
    /// Votes in the old half only. Takes no part afterwards.
    Outgoing = 0b010,
    /// Votes in the old half only. A learner afterwards, for it may not be a learner while its vote still counts (etcd's
    /// "learners next").
    OutgoingLearner = 0b110,
}

/// The halves of a joint membership, as bits of a part: to test one takes no branch.
const NEW: u8 = 0b001;
const OLD: u8 = 0b010;

impl Part {
    /// Whether it votes in the half that remains.
    const fn in_new(self) -> bool {
        self as u8 & NEW != 0
    }

    /// Whether it votes in the half that goes; asked of a joint membership alone.
    const fn in_old(self) -> bool {
        self as u8 & OLD != 0
    }

    /// Whether it votes in one half and not in the other.
    const fn in_one_half(self) -> bool {
        self.in_new() != self.in_old()
    }

    /// What remains of it when the old half is left.
    const fn after(self) -> Option<Self> {
        match self {
            Self::Voter | Self::Incoming => Some(Self::Voter),
            Self::Learner | Self::OutgoingLearner => Some(Self::Learner),
            Self::Outgoing => None,
        }
    }
}

impl Member {
    fn in_new(&self) -> bool {
        self.part.in_new()
    }

    fn in_old(&self) -> bool {
        self.part.in_old()
    }
}

/// Who takes part. Majority quorums, of both halves when joint: any two have a node in common, and so have one of this
/// membership and one of the next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Membership {
    /// **Invariant:** in rising order of id, at most [`MAX_MEMBERS`].
    members: Box<[Member]>,
    /// How many vote in the half that remains. **Invariant:** at least one.
    new: u32,
    /// How many vote in the half that goes. **Invariant:** 0 when not joint, at least one otherwise.
    old: u32,
}

/// What a change of membership is to end in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Who votes.
    pub voters: Voters,
    /// Who gets the log without a vote, in any order.
    pub learners: Vec<NodeId>,
}

/// Why a membership was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MembershipError {
    /// A half without voters can never decide. Name at least one voter, in each half of a joint membership.
    NoVoters,
    /// The same node was named twice: it would count twice. Keep one of the two.
    Repeated(NodeId),
    /// More than [`MAX_MEMBERS`].
    TooMany,
}

impl fmt::Display for MembershipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoVoters => f.write_str(
                "no voters: a group needs at least one, and a joint one needs one in its old half and one in its new",
            ),
            Self::Repeated(id) => write!(
                f,
                "node {id} is named twice among the members: it would count twice; keep one of the two"
            ),
            Self::TooMany => write!(
                f,
                "more than {MAX_MEMBERS} members: use fewer, or several groups"
            ),
        }
    }
}

impl core::error::Error for MembershipError {}

/// Why a change of membership was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeError {
    /// The last change is still under way. Wait until the membership is no longer joint.
    Joint,
    /// The target is what the membership is already. Nothing needs to be done.
    Unchanged,
    /// A node is to be voter and learner at once. Name it as one of them.
    VoterAndLearner(NodeId),
    /// A learner was named twice. Remove one.
    Repeated(NodeId),
    /// More than [`MAX_MEMBERS`] would take part, those that are to go included until they are gone. Change fewer at a time.
    TooMany,
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Joint => f.write_str(
                "the last change is still under way: wait until the membership is no longer joint",
            ),
            Self::Unchanged => {
                f.write_str("the membership is what it is to become: nothing needs to be done")
            }
            Self::VoterAndLearner(id) => write!(
                f,
                "node {id} is to be voter and learner at once: name it as one of them"
            ),
            Self::Repeated(id) => {
                write!(f, "node {id} is named twice among the learners: remove one")
            }
            Self::TooMany => write!(
                f,
                "more than {MAX_MEMBERS} members during the change: change fewer at a time"
            ),
        }
    }
}

impl core::error::Error for ChangeError {}

impl Membership {
    /// The group of these voters, without learners.
    #[must_use]
    pub fn new(voters: &Voters) -> Self {
        (**voters.membership()).clone()
    }

    /// The group of these, in rising order.
    pub(crate) fn of_voters(ids: &[NodeId]) -> Self {
        let voter = |id: &NodeId| Member {
            id: *id,
            part: Part::Voter,
        };
        Self::counted(ids.iter().map(voter).collect())
    }

    /// The group of these members, in any order: what [`members`](Self::members) tells of one.
    ///
    /// # Errors
    /// When nobody votes in a half, a node is given twice, or there are too many.
    pub fn from_members(
        members: impl IntoIterator<Item = Member>,
    ) -> Result<Self, MembershipError> {
        // One too many tells of all that are.
        let mut members: Vec<Member> = members.into_iter().take(MAX_MEMBERS + 1).collect();
        if members.len() > MAX_MEMBERS {
            return Err(MembershipError::TooMany);
        }
        members.sort_unstable_by_key(|member| member.id);
        if let Some(id) = repeated(&members) {
            return Err(MembershipError::Repeated(id));
        }
        let joint = members.iter().any(|member| member.part.in_one_half());
        let membership = Self::counted(members.into_boxed_slice());
        if membership.new == 0 || (joint && membership.old == 0) {
            return Err(MembershipError::NoVoters);
        }
        Ok(membership)
    }

    /// Counts the halves of members that keep the invariants.
    fn counted(members: Box<[Member]>) -> Self {
        let (mut new, mut old, mut joint) = (0, 0, false);
        for Member { part, .. } in &members {
            new += u32::from(part.in_new());
            old += u32::from(part.in_old());
            joint |= part.in_one_half();
        }
        Self {
            members,
            new,
            old: if joint { old } else { 0 },
        }
    }

    /// All who take part, in rising order of id.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The ids of all who take part, rising.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = NodeId> {
        self.members.iter().map(|member| member.id)
    }

    /// The ids of those whose votes count in either half, rising.
    pub fn voters(&self) -> impl Iterator<Item = NodeId> {
        self.ids_of(|part| part != Part::Learner)
    }

    /// The ids of those who get the log and have no vote at present, rising.
    pub fn learners(&self) -> impl Iterator<Item = NodeId> {
        self.ids_of(|part| part == Part::Learner)
    }

    fn ids_of(&self, part: impl Fn(Part) -> bool) -> impl Iterator<Item = NodeId> {
        self.members
            .iter()
            .filter(move |member| part(member.part))
            .map(|member| member.id)
    }

    /// The place of a member in [`members`](Self::members).
    #[must_use]
    pub fn place(&self, id: NodeId) -> Option<usize> {
        quorum::place(&self.members, id, |member| member.id)
    }

    /// Whether the vote of the member at `place` counts, in either half.
    #[must_use]
    pub fn votes(&self, place: usize) -> bool {
        self.members
            .get(place)
            .is_some_and(|member| member.part != Part::Learner)
    }

    /// Whether decisions take a quorum of an old half and one of a new, until the old one is [left](Self::leave).
    #[must_use]
    pub fn is_joint(&self) -> bool {
        self.old > 0
    }

    /// Whether those for which `said` holds (asked by place) are a quorum, of both halves when joint.
    #[must_use]
    pub fn is_quorum(&self, said: impl Fn(usize) -> bool) -> bool {
        quorum::count(&self.members, Member::in_new, &said) >= majority(self.new)
            && (!self.is_joint()
                || quorum::count(&self.members, Member::in_old, &said) >= majority(self.old))
    }

    /// The latest instant, index or the like that a quorum has reached, of both halves when joint, when each member reached
    /// `at(place)`; `floor` when that is not after it. The nearer the floor is, the faster: members are looked at once, and
    /// again for each step above it.
    #[must_use]
    pub fn reached_by_quorum<T: Ord + Copy>(&self, floor: T, at: impl Fn(usize) -> T) -> T {
        let (members, new, old) = (&self.members, majority(self.new), majority(self.old));
        let reached = quorum::reached(members, new, floor, Member::in_new, &at);
        if !self.is_joint() {
            return reached;
        }
        reached.min(quorum::reached(members, old, floor, Member::in_old, &at))
    }

    /// The first instant at which a quorum is free, of both halves when joint, when each member is free from `at(place)` on;
    /// `ceiling` when that is not before it. As fast as [`reached_by_quorum`](Self::reached_by_quorum).
    #[must_use]
    pub fn freed_by_quorum<T: Ord + Copy>(&self, ceiling: T, at: impl Fn(usize) -> T) -> T {
        let (members, new, old) = (&self.members, majority(self.new), majority(self.old));
        let freed = quorum::freed(members, new, ceiling, Member::in_new, &at);
        if !self.is_joint() {
            return freed;
        }
        freed.max(quorum::freed(members, old, ceiling, Member::in_old, &at))
    }

    /// The next membership on the way to `target`: the target itself when it differs by one voter at most, and otherwise a
    /// joint one, which is [left](Self::leave) for the target. Learners come and go with either, for they decide nothing.
    ///
    /// # Errors
    /// When the last change is under way, nothing would change, a node is named twice, or there are too many.
    pub fn change_to(&self, target: &Target) -> Result<Self, ChangeError> {
        if self.is_joint() {
            return Err(ChangeError::Joint);
        }
        let voted = |id: NodeId| self.place(id).is_some_and(|place| self.votes(place));
        let voter = |id: NodeId| match voted(id) {
            true => Part::Voter,
            false => Part::Incoming,
        };
        let learner = |id: NodeId| match voted(id) {
            true => Part::OutgoingLearner,
            false => Part::Learner,
        };
        let voters = target.voters.ids().iter().map(|id| (*id, voter(*id)));
        let learners = target.learners.iter().map(|id| (*id, learner(*id)));
        let mut members: Vec<Member> = voters
            .chain(learners)
            .map(|(id, part)| Member { id, part })
            .collect();
        members.sort_unstable_by_key(|member| member.id);
        if let Some(id) = repeated(&members) {
            return Err(match target.voters.place(id) {
                Some(_) => ChangeError::VoterAndLearner(id),
                None => ChangeError::Repeated(id),
            });
        }
        let named = members.len();
        for id in self.voters() {
            if quorum::place(&members[..named], id, |member| member.id).is_none() {
                members.push(Member {
                    id,
                    part: Part::Outgoing,
                });
            }
        }
        if members.len() > MAX_MEMBERS {
            return Err(ChangeError::TooMany);
        }
        members.sort_unstable_by_key(|member| member.id);
        let moved = members.iter().filter(|member| member.part.in_one_half());
        let alone = moved.count() <= 1;
        let joint = Self::counted(members.into_boxed_slice());
        let next = if alone { joint.leave() } else { joint };
        if next == *self {
            return Err(ChangeError::Unchanged);
        }
        Ok(next)
    }

    /// The new half alone: what a joint membership ends in. One that is not joint stays as it is.
    #[must_use]
    pub fn leave(&self) -> Self {
        let after = |member: &Member| {
            let part = member.part.after()?;
            Some(Member { part, ..*member })
        };
        Self::counted(self.members.iter().filter_map(after).collect())
    }
}

/// How many of so many are a majority.
const fn majority(of: u32) -> usize {
    of as usize / 2 + 1
}

/// An id that two of these members, in order of it, share.
fn repeated(members: &[Member]) -> Option<NodeId> {
    let mut pairs = members.windows(2);
    pairs
        .find(|pair| pair[0].id == pair[1].id)
        .map(|pair| pair[0].id)
}
