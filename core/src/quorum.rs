//! Who votes, and how quorums of them are counted.
//!
//! Every rule of the protocols that says "a majority" asks [`Membership`], which counts each of its halves here.

use crate::NodeId;
use crate::membership::Membership;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;

/// The most voters one group may have. A message count rises with the square of it; lengths read from outside are
/// checked against it before anything is allocated.
pub const MAX_VOTERS: usize = 1 << 12;

/// The nodes that vote, in rising order of id. What a majority of them is, also while the group changes, says
/// [`Membership`].
///
/// Clones share one copy, and so do the machines that are built of them: a host of many groups among the same nodes holds
/// their voters once, and finds them in its caches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Voters {
    ids: Arc<[NodeId]>,
    /// The group of them.
    membership: Arc<Membership>,
}

/// Why a set of voters was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VotersError {
    /// A group without voters can never decide. Name at least one node.
    Empty,
    /// The same node was named twice: it would count twice. Remove one.
    Repeated(NodeId),
    /// More than [`MAX_VOTERS`].
    TooMany,
}

impl fmt::Display for VotersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no voters: a group needs at least one node"),
            Self::Repeated(id) => write!(
                f,
                "node {id} is named twice among the voters: it would count twice; remove one"
            ),
            Self::TooMany => write!(
                f,
                "more than {MAX_VOTERS} voters: use fewer, or several groups"
            ),
        }
    }
}

impl core::error::Error for VotersError {}

impl Voters {
    /// The group of the given nodes, in any order.
    ///
    /// # Errors
    /// When none is given, one is given twice, or there are too many.
    pub fn new(ids: impl IntoIterator<Item = NodeId>) -> Result<Self, VotersError> {
        let mut sorted: Vec<NodeId> = Vec::new();
        for id in ids {
            if sorted.len() == MAX_VOTERS {
                return Err(VotersError::TooMany);
            }
            match sorted.binary_search(&id) {
                Ok(_) => return Err(VotersError::Repeated(id)),
                Err(place) => sorted.insert(place, id),
            }
        }
        if sorted.is_empty() {
            return Err(VotersError::Empty);
        }
        Ok(Self {
            membership: Arc::new(Membership::of_voters(&sorted)),
            ids: sorted.into(),
        })
    }

    /// The voters in rising order.
    #[must_use]
    pub fn ids(&self) -> &[NodeId] {
        &self.ids
    }

    /// The group of them, without learners.
    pub(crate) fn membership(&self) -> &Arc<Membership> {
        &self.membership
    }

    /// The place of a voter in [`ids`](Self::ids).
    #[must_use]
    pub fn place(&self, id: NodeId) -> Option<usize> {
        place(&self.ids, id, |voter| *voter)
    }
}

/// How many of the members that have a vote said so, asked by place.
pub(crate) fn count<M>(
    members: &[M],
    votes: impl Fn(&M) -> bool,
    said: impl Fn(usize) -> bool,
) -> usize {
    // Asking everybody and counting those who vote takes no branch.
    let members = members.iter().enumerate();
    members
        .map(|(place, member)| usize::from(votes(member) & said(place)))
        .sum()
}

/// The highest value above `floor` that `needed` of the members with a vote, at least one, are at or above; `floor` when there
/// is none.
pub(crate) fn reached<M, T: Ord + Copy>(
    members: &[M],
    needed: usize,
    floor: T,
    votes: impl Fn(&M) -> bool,
    at: impl Fn(usize) -> T,
) -> T {
    // The answer is one of the values. Step by step rather than sorted: it allocates nothing, and there are few steps, for
    // the answers to one round are worth the same, and one more answer moves the result by one step.
    let mut reached = floor;
    // Three voters, as most groups have: the middle one.
    if let [a, b, c] = members
        && needed == 2
        && votes(a)
        && votes(b)
        && votes(c)
    {
        let (x, y, z) = (at(0), at(1), at(2));
        return floor.max(x.min(y).max(x.max(y).min(z)));
    }
    while count(members, &votes, |place| at(place) > reached) >= needed {
        let voters = (0..members.len()).filter(|place| votes(&members[*place]));
        let Some(next) = voters.map(&at).filter(|at| *at > reached).min() else {
            break;
        };
        reached = next;
    }
    reached
}

/// The lowest value below `ceiling` that `needed` of the members with a vote, at least one, are at or below; `ceiling` when
/// there is none.
pub(crate) fn freed<M, T: Ord + Copy>(
    members: &[M],
    needed: usize,
    ceiling: T,
    votes: impl Fn(&M) -> bool,
    at: impl Fn(usize) -> T,
) -> T {
    let at = |place| Reverse(at(place));
    reached(members, needed, Reverse(ceiling), votes, at).0
}

/// The place of the member with this id, when members are in rising order of it.
pub(crate) fn place<M>(members: &[M], id: NodeId, id_of: impl Fn(&M) -> NodeId) -> Option<usize> {
    // Ids mostly follow one another. And in a large group a search costs more than it seems: every step of it is far from
    // the last in memory.
    let ahead = usize::try_from(id.0.wrapping_sub(id_of(members.first()?).0));
    if let Ok(place) = ahead
        && members.get(place).map(&id_of) == Some(id)
    {
        return Some(place);
    }
    // A scan beats a binary search up to a few dozen.
    if members.len() <= 16 {
        members.iter().position(|member| id_of(member) == id)
    } else {
        members.binary_search_by_key(&id, id_of).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    fn voters(n: u64) -> Voters {
        Voters::new((0..n).map(NodeId)).unwrap()
    }

    #[test]
    fn bad_groups_are_refused_by_name() {
        assert_eq!(Voters::new([]), Err(VotersError::Empty));
        assert_eq!(
            Voters::new([NodeId(2), NodeId(1), NodeId(2)]),
            Err(VotersError::Repeated(NodeId(2)))
        );
        assert_eq!(Voters::new((0..).map(NodeId)), Err(VotersError::TooMany));
        for (error, told) in [
            (VotersError::Empty, "at least one node"),
            (VotersError::Repeated(NodeId(2)), "node 2 is named twice"),
            (VotersError::TooMany, "more than 4096 voters"),
        ] {
            assert!(error.to_string().contains(told), "{error}");
        }
    }

    #[test]
    fn places_are_found_in_small_and_large_groups() {
        for n in [1, 5, 16, 17, 200] {
            let group = voters(n);
            assert_eq!(
                group.place(NodeId(n - 1)),
                Some(usize::try_from(n - 1).unwrap())
            );
            assert_eq!(group.place(NodeId(n)), None);
            let spread = Voters::new((0..n).map(|id| NodeId(7 + id * id))).unwrap();
            for (place, id) in spread.ids().iter().enumerate() {
                assert_eq!(spread.place(*id), Some(place));
            }
            assert_eq!(
                (spread.place(NodeId(6)), spread.place(NodeId(9))),
                (None, None)
            );
            assert_eq!(group.ids().len(), usize::try_from(n).unwrap());
        }
    }
}
