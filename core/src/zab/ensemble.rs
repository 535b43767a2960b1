//! Who takes part, and which sets of voters decide: the quorum verifier.
//!
//! Everything in the protocol that says "a quorum" asks [`Ensemble::is_quorum`]. Any two quorums of one ensemble share a voter,
//! for either kind of verifier: of two majorities of the counted groups one group is in both, and of two majorities of its
//! weight one voter is.

use crate::NodeId;
use crate::quorum::{self, MAX_VOTERS, VotersError};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// One member of an ensemble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// Who.
    pub id: NodeId,
    /// How it counts.
    pub part: Part,
}

/// How a member counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// It votes, in this group and with this weight. Of weight 0 it never leads: no vote for it beats another (FLE-O).
    Voter {
        /// The number of its group.
        group: u16,
        /// Its weight in it.
        weight: u32,
    },
    /// It learns what is committed and is counted nowhere (Z-2959).
    Observer,
}

/// Which sets of voters are quorums.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Verifier {
    /// More than half of the voters.
    Majority,
    /// More than half of the groups that have weight at all, each with more than half of its weight.
    Hierarchical,
}

/// The members of an ensemble in rising order of id, and how their votes are counted. The same on every node; clones share one
/// copy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ensemble {
    members: Arc<[Member]>,
    verifier: Verifier,
    voters: usize,
    /// The total weight of each group that has any, by its number.
    groups: Arc<[(u16, u64)]>,
}

/// Why an ensemble was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EnsembleError {
    /// The members cannot be a group: nobody, the same one twice, or too many.
    Members(VotersError),
    /// No voter has weight, so that no set is a quorum. Give at least one voter weight.
    Weightless,
}

impl fmt::Display for EnsembleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Members(error) => error.fmt(f),
            Self::Weightless => {
                f.write_str("no voter has weight: no set is a quorum; give at least one weight")
            }
        }
    }
}

impl core::error::Error for EnsembleError {}

impl Ensemble {
    /// Voters who decide by majority, in any order.
    ///
    /// # Errors
    /// When none is given, one is given twice, or there are too many.
    pub fn majority(voters: impl IntoIterator<Item = NodeId>) -> Result<Self, EnsembleError> {
        Self::build(Verifier::Majority, voters.into_iter().map(|id| (id, 0, 1)))
    }

    /// Voters who decide by groups, each as (id, number of its group, weight), in any order.
    ///
    /// # Errors
    /// As [`majority`](Self::majority), and when nobody has weight.
    pub fn hierarchical(
        voters: impl IntoIterator<Item = (NodeId, u16, u32)>,
    ) -> Result<Self, EnsembleError> {
        Self::build(Verifier::Hierarchical, voters)
    }

    fn build(
        verifier: Verifier,
        voters: impl IntoIterator<Item = (NodeId, u16, u32)>,
    ) -> Result<Self, EnsembleError> {
        let mut members: Vec<Member> = Vec::new();
        for (id, group, weight) in voters {
            insert(&mut members, id, Part::Voter { group, weight })?;
        }
        if members.is_empty() {
            return Err(EnsembleError::Members(VotersError::Empty));
        }
        let mut groups: Vec<(u16, u64)> = Vec::new();
        for member in &members {
            if let Part::Voter { group, weight } = member.part
                && weight > 0
            {
                match groups.iter_mut().find(|(number, _)| *number == group) {
                    Some((_, total)) => *total += u64::from(weight),
                    None => groups.push((group, u64::from(weight))),
                }
            }
        }
        if groups.is_empty() {
            return Err(EnsembleError::Weightless);
        }
        Ok(Self {
            voters: members.len(),
            members: members.into(),
            verifier,
            groups: groups.into(),
        })
    }

    /// The same voters, and these observers beside them.
    ///
    /// # Errors
    /// When one is a member already, or there are too many.
    pub fn observed_by(
        &self,
        observers: impl IntoIterator<Item = NodeId>,
    ) -> Result<Self, EnsembleError> {
        let mut members = self.members.to_vec();
        for id in observers {
            insert(&mut members, id, Part::Observer)?;
        }
        Ok(Self {
            members: members.into(),
            ..self.clone()
        })
    }

    /// The members in rising order of id.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// How votes are counted.
    #[must_use]
    pub fn verifier(&self) -> &Verifier {
        &self.verifier
    }

    /// The place of a member in [`members`](Self::members).
    #[must_use]
    pub fn place(&self, id: NodeId) -> Option<usize> {
        quorum::place(&self.members, id, |member| member.id)
    }

    /// Whether the member at `place` votes.
    #[must_use]
    pub fn votes(&self, place: usize) -> bool {
        self.members
            .get(place)
            .is_some_and(|member| matches!(member.part, Part::Voter { .. }))
    }

    /// Whether `id` votes.
    #[must_use]
    pub fn is_voter(&self, id: NodeId) -> bool {
        self.place(id).is_some_and(|place| self.votes(place))
    }

    /// The weight of a node; 0 for one that has no vote.
    #[must_use]
    pub fn weight(&self, id: NodeId) -> u32 {
        match self.place(id).map(|place| self.members[place].part) {
            Some(Part::Voter { weight, .. }) => weight,
            _ => 0,
        }
    }

    /// Whether the voters of whom `said` is true are a quorum. Observers are not asked.
    #[must_use]
    pub fn is_quorum(&self, said: impl Fn(usize) -> bool) -> bool {
        let voters = || (self.members.iter().enumerate()).filter(|(place, _)| self.votes(*place));
        match self.verifier {
            Verifier::Majority => {
                2 * voters().filter(|(place, _)| said(*place)).count() > self.voters
            }
            Verifier::Hierarchical => {
                let holds = |number: u16, total: u64| {
                    let weights = voters().map(|(place, member)| match member.part {
                        Part::Voter { group, weight } if group == number && said(place) => {
                            u64::from(weight)
                        }
                        _ => 0,
                    });
                    2 * weights.sum::<u64>() > total
                };
                let held = self.groups.iter();
                let held = held.filter(|(number, total)| holds(*number, *total));
                2 * held.count() > self.groups.len()
            }
        }
    }

    /// The highest value above `floor` that a quorum is at or above; `floor` when there is none. It allocates nothing.
    pub(super) fn reached<T: Ord + Copy>(&self, floor: T, at: impl Fn(usize) -> T) -> T {
        let mut reached = floor;
        for place in 0..self.members.len() {
            let value = at(place);
            if self.votes(place) && value > reached && self.is_quorum(|other| at(other) >= value) {
                reached = value;
            }
        }
        reached
    }

    /// How many vote.
    #[must_use]
    pub fn voters(&self) -> usize {
        self.voters
    }
}

fn insert(members: &mut Vec<Member>, id: NodeId, part: Part) -> Result<(), EnsembleError> {
    if members.len() == MAX_VOTERS {
        return Err(EnsembleError::Members(VotersError::TooMany));
    }
    match members.binary_search_by_key(&id, |member| member.id) {
        Ok(_) => Err(EnsembleError::Members(VotersError::Repeated(id))),
        Err(place) => {
            members.insert(place, Member { id, part });
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    fn of(said: &[u64]) -> impl Fn(&Ensemble) -> bool {
        move |ensemble| ensemble.is_quorum(|place| said.contains(&ensemble.members()[place].id.0))
    }

    /// Of an even number of groups half is not enough, or either half would be a quorum; nor is half of a group's weight.
    #[test]
    fn half_is_no_quorum() {
        let voters = [(0, 1, 1), (1, 1, 1), (2, 2, 1), (3, 2, 1), (4, 3, 0)];
        let voters = voters.map(|(id, group, weight)| (NodeId(id), group, weight));
        let two = Ensemble::hierarchical(voters).unwrap();
        for (said, quorum) in [
            ([true, true, false, false, true], false),
            ([false, false, true, true, true], false),
            ([true, true, true, false, true], false),
            ([true, true, true, true, false], true),
        ] {
            assert_eq!(two.is_quorum(|place| said[place]), quorum, "{said:?}");
        }
    }

    #[test]
    fn a_majority_is_more_than_half_of_the_voters() {
        let four = Ensemble::majority((0..4).map(NodeId)).unwrap();
        let four = four.observed_by([NodeId(8), NodeId(9)]).unwrap();
        assert!(!of(&[0, 1])(&four));
        assert!(of(&[0, 1, 3])(&four));
        // Z-2959.
        assert!(!of(&[0, 1, 8, 9])(&four));
        assert_eq!((four.voters(), four.members().len()), (4, 6));
        assert_eq!((four.weight(NodeId(0)), four.weight(NodeId(8))), (1, 0));
    }

    /// Three groups of three, as ZooKeeper's documentation has it: two of a group in two groups are enough.
    #[test]
    fn groups_count_by_weight_and_then_by_group() {
        let nine = (0..9).map(|id| (NodeId(id), (id / 3) as u16, 1));
        let nine = Ensemble::hierarchical(nine).unwrap();
        assert!(of(&[0, 1, 3, 4])(&nine));
        assert!(!of(&[0, 1, 2, 3, 6])(&nine));
        let heavy = [(NodeId(0), 0, 3), (NodeId(1), 0, 1), (NodeId(2), 1, 0)];
        let heavy = Ensemble::hierarchical(heavy).unwrap();
        // A group without weight is discounted.
        assert!(of(&[0])(&heavy));
        assert!(!of(&[1, 2])(&heavy));
    }

    #[test]
    fn any_two_quorums_meet() {
        let weighted = [3, 1, 2, 0, 5, 1, 1];
        let weighted = (weighted.into_iter().zip(0..)).map(|(weight, id)| {
            let group = [0, 0, 1, 1, 1, 2, 2][id as usize];
            (NodeId(id), group, weight)
        });
        for ensemble in [
            Ensemble::hierarchical(weighted).unwrap(),
            Ensemble::majority((0..6).map(NodeId)).unwrap(),
        ] {
            let n = ensemble.members().len();
            let is = |set: u32| ensemble.is_quorum(|place| set >> place & 1 == 1);
            let quorums: Vec<u32> = (0..1 << n).filter(|set| is(*set)).collect();
            assert!(quorums.iter().all(|a| quorums.iter().all(|b| a & b != 0)));
            assert!(!quorums.is_empty());
        }
    }

    #[test]
    fn what_a_quorum_reached_is_the_highest_such_value() {
        let five = Ensemble::majority((0..5).map(NodeId)).unwrap();
        let at = [4, 9, 2, 7, 4];
        assert_eq!(five.reached(0, |place| at[place]), 4);
        assert_eq!(five.reached(5, |place| at[place]), 5);
    }

    #[test]
    fn bad_ensembles_are_refused_by_name() {
        let twice = Ensemble::majority([NodeId(1), NodeId(1)]);
        let repeated = EnsembleError::Members(VotersError::Repeated(NodeId(1)));
        assert_eq!(twice, Err(repeated));
        assert!(repeated.to_string().contains("named twice"));
        let none = Ensemble::majority([]);
        assert_eq!(none, Err(EnsembleError::Members(VotersError::Empty)));
        let light = Ensemble::hierarchical([(NodeId(1), 0, 0)]);
        assert_eq!(light, Err(EnsembleError::Weightless));
        assert!(EnsembleError::Weightless.to_string().contains("weight"));
        let one = Ensemble::majority([NodeId(1)]).unwrap();
        assert_eq!(one.observed_by([NodeId(1)]), Err(repeated));
    }
}
