//! Who votes, and with which disk.

use crate::NodeId;
use crate::membership::Membership;
use crate::quorum::{Voters, VotersError};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// The name of a disk, given when it was formatted and never to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectoryId(pub u64);

impl fmt::Display for DirectoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A node with one of the disks it had. A replaced disk under the same id is another replica (KR-V3), for it has forgotten
/// what the first one voted and acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplicaKey {
    /// The node.
    pub id: NodeId,
    /// Its disk; `None` where that is not recorded: then any disk of the node will do.
    pub directory: Option<DirectoryId>,
}

impl ReplicaKey {
    /// A node with this disk.
    #[must_use]
    pub const fn new(id: NodeId, directory: DirectoryId) -> Self {
        Self {
            id,
            directory: Some(directory),
        }
    }

    /// Whether `replica` is meant by this key.
    #[must_use]
    pub fn names(&self, replica: ReplicaKey) -> bool {
        self.id == replica.id
            && self
                .directory
                .is_none_or(|directory| replica.directory == Some(directory))
    }
}

/// Those who vote, in rising order of id, each with the disk it was admitted with.
///
/// Without directories, as in Kafka's static quorums, a replaced disk is taken for the one it replaced, and may vote a
/// second time in an epoch: [`From<Voters>`] makes such a set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VoterSet {
    voters: Voters,
    /// By place in `voters`.
    directories: Arc<[Option<DirectoryId>]>,
}

impl VoterSet {
    /// The set of these, in any order.
    ///
    /// # Errors
    /// When none is given, one is given twice, or there are too many.
    pub fn new(keys: impl IntoIterator<Item = ReplicaKey>) -> Result<Self, VotersError> {
        // One too many tells of all that are.
        let limit = crate::quorum::MAX_VOTERS + 1;
        let mut keys: Vec<ReplicaKey> = keys.into_iter().take(limit).collect();
        keys.sort_unstable();
        let voters = Voters::new(keys.iter().map(|key| key.id))?;
        Ok(Self {
            voters,
            directories: keys.iter().map(|key| key.directory).collect(),
        })
    }

    /// The ids, rising.
    #[must_use]
    pub fn ids(&self) -> &[NodeId] {
        self.voters.ids()
    }

    /// The place of a node in [`ids`](Self::ids), whatever its disk.
    #[must_use]
    pub fn place(&self, id: NodeId) -> Option<usize> {
        self.voters.place(id)
    }

    /// The voter at `place`.
    #[must_use]
    pub fn key(&self, place: usize) -> Option<ReplicaKey> {
        let id = *self.ids().get(place)?;
        let directory = self.directories.get(place).copied().flatten();
        Some(ReplicaKey { id, directory })
    }

    pub(super) fn membership(&self) -> &Membership {
        self.voters.membership()
    }
}

impl From<Voters> for VoterSet {
    fn from(voters: Voters) -> Self {
        let directories = voters.ids().iter().map(|_| None).collect();
        Self {
            voters,
            directories,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_disk_is_another_replica() {
        let (old, new) = (DirectoryId(1), DirectoryId(2));
        let admitted = ReplicaKey::new(NodeId(7), old);
        assert!(admitted.names(ReplicaKey::new(NodeId(7), old)));
        assert!(!admitted.names(ReplicaKey::new(NodeId(7), new)));
        assert!(!admitted.names(ReplicaKey::new(NodeId(8), old)));
        let any = ReplicaKey {
            id: NodeId(7),
            directory: None,
        };
        assert!(any.names(ReplicaKey::new(NodeId(7), new)));
        assert!(!admitted.names(any));
    }

    #[test]
    fn voters_keep_their_disks_when_they_are_sorted() {
        let key = |id| ReplicaKey::new(NodeId(id), DirectoryId(100 + id));
        let set = VoterSet::new([key(3), key(1), key(2)]).unwrap();
        assert_eq!(set.ids(), [NodeId(1), NodeId(2), NodeId(3)]);
        for place in 0..3 {
            assert_eq!(set.key(place), Some(key(place as u64 + 1)));
        }
        assert_eq!((set.key(3), set.place(NodeId(4))), (None, None));
        let twice = VoterSet::new([key(1), ReplicaKey::new(NodeId(1), DirectoryId(9))]);
        assert_eq!(twice, Err(VotersError::Repeated(NodeId(1))));
        assert_eq!(VoterSet::new([]), Err(VotersError::Empty));
    }
}
