//! Who takes part in a group that may change while it decides: voters, learners, and on the way between two sets of voters
//! both of them at once (joint consensus, Raft §6).
//!
//! A change of one voter at a time needs no joint phase: any two majorities of neighbouring groups have a node in common. That
//! holds between two neighbours and no further. A leader therefore begins a change only after an entry of its own term is
//! committed, for an uncommitted change of an earlier leader could make the two groups neighbours of a third (Ongaro's
//! correction of single-server changes, raft-dev 2015).

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
pub enum Part {
    /// Gets the log and does not vote.
    Learner,
    /// Votes; in both halves when joint.
    Voter,
    /// Votes in the new half only. A voter afterwards.
    Incoming,
    /// Votes in the old half only. Takes no part afterwards.
    Outgoing,
    /// Votes in the old half only. A learner afterwards, for it may not be a learner while its vote still counts (etcd's
    /// "learners next").
    OutgoingLearner,
}

impl Part {
    /// Whether it votes in the half that remains.
    const fn in_new(self) -> bool {
        matches!(self, Self::Voter | Self::Incoming)
    }

    /// Whether it votes in the half that goes; asked of a joint membership alone.
    const fn in_old(self) -> bool {
        matches!(self, Self::Voter | Self::Outgoing | Self::OutgoingLearner)
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

/// Who takes part. Majority quorums, of both halves when joint: any two intersect, and so does each with those of the
/// membership before and after it.
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
        let voter = |id: &NodeId| Member {
            id: *id,
            part: Part::Voter,
        };
        Self::counted(voters.ids().iter().map(voter).collect())
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

    /// Whether those for which `said` holds (asked by place, of voters alone) are a quorum, of both halves when joint.
    #[must_use]
    pub fn is_quorum(&self, said: impl Fn(usize) -> bool) -> bool {
        let enough = |said: usize, of: u32| said >= majority(of);
        enough(
            self.new_half().filter(|place| said(*place)).count(),
            self.new,
        ) && (!self.is_joint()
            || enough(
                self.old_half().filter(|place| said(*place)).count(),
                self.old,
            ))
    }

    /// The latest instant, index or the like that a quorum has reached, of both halves when joint, when each member reached
    /// `at(place)`; `floor` when that is not after it. The nearer the floor is, the faster: members are looked at once, and
    /// once more for each step above it.
    #[must_use]
    pub fn reached_by_quorum<T: Ord + Copy>(&self, floor: T, at: impl Fn(usize) -> T) -> T {
        let new = quorum::reached(majority(self.new), floor, self.new_half().map(&at));
        if !self.is_joint() {
            return new;
        }
        new.min(quorum::reached(
            majority(self.old),
            floor,
            self.old_half().map(&at),
        ))
    }

    /// The first instant at which a quorum is free, of both halves when joint, when each member is free from `at(place)` on;
    /// `ceiling` when that is not before it. As fast as [`reached_by_quorum`](Self::reached_by_quorum).
    #[must_use]
    pub fn freed_by_quorum<T: Ord + Copy>(&self, ceiling: T, at: impl Fn(usize) -> T) -> T {
        let new = quorum::freed(majority(self.new), ceiling, self.new_half().map(&at));
        if !self.is_joint() {
            return new;
        }
        new.max(quorum::freed(
            majority(self.old),
            ceiling,
            self.old_half().map(&at),
        ))
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
        if target.voters.ids().len() + target.learners.len() > MAX_MEMBERS {
            return Err(ChangeError::TooMany);
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

    /// The places of those who vote in the half that remains.
    fn new_half(&self) -> impl Iterator<Item = usize> + Clone {
        self.places(Part::in_new)
    }

    /// The places of those who vote in the half that goes, of a joint membership.
    fn old_half(&self) -> impl Iterator<Item = usize> + Clone {
        self.places(Part::in_old)
    }

    fn places(&self, votes: impl Fn(Part) -> bool + Clone) -> impl Iterator<Item = usize> + Clone {
        let members = self.members.iter().enumerate();
        members.filter_map(move |(place, member)| votes(member.part).then_some(place))
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;
    use std::string::ToString;

    /// `1v 2l 3i 4o 5d`: node 1 is a voter, 2 a learner, 3 incoming, 4 outgoing, 5 demoted (outgoing, then a learner). What
    /// stands behind the part is what the member said or reached.
    fn read(text: &str) -> (Membership, Vec<&str>) {
        let row = text.split_whitespace().map(|word| {
            let (id, said) = word.split_once(|c: char| c.is_alphabetic()).unwrap();
            let part = match &word[id.len()..=id.len()] {
                "v" => Part::Voter,
                "l" => Part::Learner,
                "i" => Part::Incoming,
                "o" => Part::Outgoing,
                "d" => Part::OutgoingLearner,
                other => panic!("{other} is no part"),
            };
            let id = NodeId(id.parse().unwrap());
            (Member { id, part }, said)
        });
        let (members, said): (Vec<_>, Vec<_>) = row.unzip();
        (Membership::from_members(members).unwrap(), said)
    }

    fn group(text: &str) -> Membership {
        read(text).0
    }

    fn target(voters: &[u64], learners: &[u64]) -> Target {
        Target {
            voters: Voters::new(voters.iter().copied().map(NodeId)).unwrap(),
            learners: learners.iter().copied().map(NodeId).collect(),
        }
    }

    #[test]
    fn votes_that_decide() {
        for (members, decided) in [
            ("1v+", true),
            ("1v-", false),
            ("1v+ 2v-", false),
            ("1v+ 2v+ 3v-", true),
            ("1v+ 2v- 3v-", false),
            ("1v+ 2v+ 3v- 4v-", false),
            // Learners do not count, however many they are.
            ("1v+ 2v- 3v- 4l+ 5l+", false),
            ("1v+ 2v+ 3v- 4l-", true),
            // Both halves of {1, 2, 3} → {3, 4, 5}.
            ("1o+ 2o+ 3v- 4i+ 5i+", true),
            ("1o+ 2o+ 3v+ 4i- 5i-", false),
            ("1o- 2o- 3v+ 4i+ 5i+", false),
            ("1o+ 2o- 3v+ 4i+ 5i-", true),
            // {1, 2} → {1}: the one that remains cannot decide alone yet, whatever becomes of the other.
            ("1v+ 2o-", false),
            ("1v+ 2d-", false),
            ("1v- 2d+", false),
            ("1v+ 2d+", true),
            // {1} → {1, 2, 3}: the first has the old half to itself and still needs one more of the new.
            ("1v+ 2i- 3i-", false),
            ("1v+ 2i+ 3i-", true),
            ("1v- 2i+ 3i+", false),
            // Nobody in common.
            ("1o+ 2i-", false),
            ("1o+ 2i+ 3l-", true),
        ] {
            let (group, said) = read(members);
            assert_eq!(
                group.is_quorum(|place| said[place] == "+"),
                decided,
                "{members}"
            );
        }
    }

    #[test]
    fn what_a_quorum_has_reached_and_is_free_from() {
        for (members, reached, freed) in [
            ("1v5", 5, 5),
            ("1v5 2v9", 5, 9),
            ("1v5 2v9 3v7", 7, 7),
            ("1v5 2v9 3v7 4v6", 6, 7),
            ("1v5 2v9 3v7 4l1 5l99", 7, 7),
            // The slower half decides, and the one that is free later.
            ("1o1 2o2 3v3 4i8 5i9", 2, 8),
            ("1o8 2o9 3v3 4i1 5i2", 2, 8),
            ("1v9 2d4", 4, 9),
            ("1v9 2i4 3i5 4l1", 5, 9),
            ("1o6 2i4", 4, 6),
        ] {
            let (group, at) = read(members);
            let at = |place: usize| at[place].parse::<u64>().unwrap();
            assert_eq!(group.reached_by_quorum(0, at), reached, "{members}");
            assert_eq!(
                group.reached_by_quorum(reached + 1, at),
                reached + 1,
                "{members}"
            );
            assert_eq!(group.freed_by_quorum(u64::MAX, at), freed, "{members}");
            assert_eq!(group.freed_by_quorum(freed - 1, at), freed - 1, "{members}");
        }
    }

    #[test]
    fn bad_memberships_are_refused_by_name() {
        let member = |id, part| Member {
            id: NodeId(id),
            part,
        };
        for members in [
            vec![],
            vec![member(1, Part::Learner)],
            vec![member(1, Part::Outgoing), member(2, Part::Learner)],
            vec![member(1, Part::OutgoingLearner)],
            vec![member(1, Part::Incoming)],
        ] {
            assert_eq!(
                Membership::from_members(members),
                Err(MembershipError::NoVoters)
            );
        }
        assert_eq!(
            Membership::from_members([
                member(2, Part::Learner),
                member(1, Part::Voter),
                member(2, Part::Voter),
            ]),
            Err(MembershipError::Repeated(NodeId(2)))
        );
        let many = |count: usize| (0..count as u64).map(|id| member(id, Part::Voter));
        assert_eq!(
            Membership::from_members((0..).map(|id| member(id, Part::Voter))),
            Err(MembershipError::TooMany)
        );
        assert!(Membership::from_members(many(MAX_MEMBERS)).is_ok());
        for (error, told) in [
            (
                MembershipError::NoVoters,
                "one in its old half and one in its new",
            ),
            (
                MembershipError::Repeated(NodeId(2)),
                "node 2 is named twice",
            ),
            (MembershipError::TooMany, "more than 4096 members"),
        ] {
            assert!(error.to_string().contains(told), "{error}");
        }
    }

    #[test]
    fn bad_changes_are_refused_by_name() {
        let now = group("1v 2v 3v 4l");
        for (target, error) in [
            (target(&[3, 2, 1], &[4]), ChangeError::Unchanged),
            (
                target(&[1, 2, 3], &[4, 3]),
                ChangeError::VoterAndLearner(NodeId(3)),
            ),
            (target(&[1], &[5, 4, 5]), ChangeError::Repeated(NodeId(5))),
        ] {
            assert_eq!(now.change_to(&target), Err(error));
        }
        let joint = now.change_to(&target(&[1, 4, 5], &[])).unwrap();
        for next in [target(&[1, 4, 5], &[]), target(&[1, 2, 3], &[4])] {
            assert_eq!(joint.change_to(&next), Err(ChangeError::Joint));
        }
        // All that take part during the change are counted.
        let full: Vec<u64> = (10..10 + MAX_MEMBERS as u64).collect();
        assert_eq!(
            now.change_to(&target(&[1], &full)),
            Err(ChangeError::TooMany)
        );
        assert_eq!(
            now.change_to(&target(&full, &[])),
            Err(ChangeError::TooMany)
        );
        assert!(now.change_to(&target(&full[3..], &[])).is_ok());
        assert!(now.change_to(&target(&[1], &full[3..])).is_ok());
        for (error, told) in [
            (ChangeError::Joint, "wait until"),
            (ChangeError::Unchanged, "nothing needs to be done"),
            (
                ChangeError::VoterAndLearner(NodeId(3)),
                "node 3 is to be voter and learner at once",
            ),
            (ChangeError::Repeated(NodeId(5)), "node 5 is named twice"),
            (ChangeError::TooMany, "change fewer at a time"),
        ] {
            assert!(error.to_string().contains(told), "{error}");
        }
    }

    #[test]
    fn changes_go_by_one_voter_or_jointly() {
        for (now, voters, learners, next, left) in [
            // One voter more, one less, one promoted, one demoted; learners at will.
            ("1v 2v", &[1, 2, 3][..], &[][..], "1v 2v 3v", "1v 2v 3v"),
            ("1v 2v 3v", &[1, 3], &[], "1v 3v", "1v 3v"),
            ("1v 2l", &[1, 2], &[], "1v 2v", "1v 2v"),
            ("1v 2v", &[1], &[2], "1v 2l", "1v 2l"),
            (
                "1v 2l 3l",
                &[1, 4],
                &[9, 5, 3],
                "1v 3l 4v 5l 9l",
                "1v 3l 4v 5l 9l",
            ),
            // A replacement is two.
            ("1v", &[2], &[], "1o 2i", "2v"),
            ("1v 2v 3l", &[1, 3], &[2], "1v 2d 3i", "1v 2l 3v"),
            ("1v", &[1, 2, 3], &[], "1v 2i 3i", "1v 2v 3v"),
            ("1v 2v 3v 7l", &[2], &[3, 4], "1o 2v 3d 4l", "2v 3l 4l"),
        ] {
            let change = group(now).change_to(&target(voters, learners));
            assert_eq!(change, Ok(group(next)), "{now}");
            assert_eq!(group(next).leave(), group(left), "{now}");
            assert_eq!(group(next).is_joint(), next != left, "{now}");
        }
    }

    #[test]
    fn members_are_told_apart() {
        let group = group("1o 3v 4i 7l 9d");
        let ids = |ids: Vec<NodeId>| ids.into_iter().map(|id| id.0).collect::<Vec<_>>();
        assert_eq!(ids(group.ids().collect()), [1, 3, 4, 7, 9]);
        assert_eq!(ids(group.voters().collect()), [1, 3, 4, 9]);
        assert_eq!(ids(group.learners().collect()), [7]);
        for (place, member) in group.members().iter().enumerate() {
            assert_eq!(group.place(member.id), Some(place));
            assert_eq!(group.votes(place), member.id != NodeId(7));
        }
        assert_eq!(group.place(NodeId(2)), None);
        assert!(!group.votes(5));
        assert_eq!(
            Membership::new(&target(&[2, 1], &[]).voters),
            super::tests::group("1v 2v")
        );
    }

    #[test]
    fn takes_little_memory() {
        assert!(size_of::<Membership>() <= 24);
        assert!(size_of::<Member>() <= 16);
    }

    /// Every set of nodes, as bits by id, that is a quorum.
    fn quorums(group: &Membership, nodes: u64) -> Vec<u32> {
        let has = |set: u32| group.is_quorum(|place| set >> group.members()[place].id.0 & 1 == 1);
        (0..1 << nodes).filter(|set| has(*set)).collect()
    }

    /// Whatever a group becomes, no two quorums decide apart: within it, across the step to the next, and across the leave.
    #[test]
    fn quorums_of_neighbours_intersect() {
        const NODES: u64 = 5;
        let meet = |a: &[u32], b: &[u32]| a.iter().all(|a| b.iter().all(|b| a & b != 0));
        // Each node is a voter, a learner or not there.
        let targets: Vec<Target> = (0..3u64.pow(5))
            .filter_map(|code| {
                let of =
                    |kind| (0..NODES).filter(move |id| code / 3u64.pow(*id as u32) % 3 == kind);
                Some(Target {
                    voters: Voters::new(of(1).map(NodeId)).ok()?,
                    learners: of(2).map(NodeId).collect(),
                })
            })
            .collect();
        let (mut single, mut joint) = (0, 0);
        for from in &targets {
            let now = Membership::new(&from.voters);
            let now = now.change_to(from).unwrap_or(now);
            let before = quorums(&now, NODES);
            assert!(meet(&before, &before));
            for to in &targets {
                let Ok(next) = now.change_to(to) else {
                    assert_eq!(from, to);
                    continue;
                };
                let during = quorums(&next, NODES);
                assert!(meet(&before, &during), "{now:?} → {next:?}");
                assert!(meet(&during, &during), "{next:?}");
                let end = next.leave();
                assert!(meet(&during, &quorums(&end, NODES)), "{next:?} → {end:?}");
                assert!(end.voters().eq(to.voters.ids().iter().copied()));
                assert!(end.learners().eq(to.learners.iter().copied()));
                *(if next.is_joint() {
                    &mut joint
                } else {
                    &mut single
                }) += 1;
            }
        }
        assert!(single > 1_000 && joint > 10_000, "{single} {joint}");
    }

    fn parts() -> impl Strategy<Value = Vec<Part>> {
        let part = prop_oneof![
            Just(Part::Learner),
            Just(Part::Voter),
            Just(Part::Incoming),
            Just(Part::Outgoing),
            Just(Part::OutgoingLearner),
        ];
        // One voter more, so that no half is empty; and as often as not a group that is not joint.
        let joint = prop::collection::vec(part, 0..20);
        let settled =
            prop::collection::vec(prop_oneof![Just(Part::Learner), Just(Part::Voter)], 0..20);
        prop_oneof![joint, settled].prop_map(|mut parts| {
            parts.push(Part::Voter);
            parts
        })
    }

    proptest! {
        /// Votes and values of a quorum are what counting and sorting each half would give.
        #[test]
        fn agrees_with_sorting_each_half(
            parts in parts(),
            bound in 0u64..20,
            at in prop::collection::vec(prop_oneof![4 => 0u64..20, 1 => any::<u64>()], 21),
        ) {
            let members = parts.iter().zip(1..).map(|(part, id)| Member { id: NodeId(id * id), part: *part });
            let group = Membership::from_members(members).unwrap();
            let half = |goes: &[Part]| {
                let votes = |place: &usize| parts[*place] == Part::Voter || goes.contains(&parts[*place]);
                let mut half: Vec<u64> = (0..parts.len()).filter(votes).map(|place| at[place]).collect();
                half.sort_unstable();
                half
            };
            let halves = [half(&[Part::Incoming]), half(&[Part::Outgoing, Part::OutgoingLearner])];
            let need = |half: &Vec<u64>| half.len() / 2 + 1;

            let reached = halves.iter().map(|half| half[half.len() - need(half)]).min().unwrap();
            let freed = halves.iter().map(|half| half[need(half) - 1]).max().unwrap();
            prop_assert_eq!(group.reached_by_quorum(0, |place| at[place]), reached);
            prop_assert_eq!(group.reached_by_quorum(bound, |place| at[place]), reached.max(bound));
            prop_assert_eq!(group.freed_by_quorum(u64::MAX, |place| at[place]), freed);
            prop_assert_eq!(group.freed_by_quorum(bound, |place| at[place]), freed.min(bound));

            let said = halves.iter().all(|half| half.iter().filter(|at| **at < bound).count() >= need(half));
            prop_assert_eq!(group.is_quorum(|place| at[place] < bound), said);
            let settled = parts.iter().all(|part| matches!(part, Part::Voter | Part::Learner));
            prop_assert_eq!(group.is_joint(), !settled);
        }
    }
}
