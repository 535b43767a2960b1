//! What must survive a crash: the sentinel's own configuration file.

use super::config::{ConfigError, MAX_EPOCH, MAX_REPLICAS, MAX_SENTINELS};
use super::names::{MasterName, RunId};
use crate::NodeId;
use alloc::vec::Vec;

/// The file of a sentinel. Written whole, atomically, before anything that depends on it is said (law C1).
///
/// *Whom* it voted for is not in it, only in which epoch: a restarted sentinel votes in no epoch twice, and cannot repeat
/// its vote either.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct File {
    /// Who the sentinel is: drawn when it first starts.
    pub id: RunId,
    /// The generation of its tokens. Never falls.
    pub generation: u32,
    /// The highest epoch it has entered; all masters share it. Never falls.
    pub current_epoch: u64,
    /// What it holds of each master.
    pub masters: Vec<Kept>,
}

/// What the file says of one master.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kept {
    /// Its name.
    pub name: MasterName,
    /// Where it is. From the promotion of a replica on it is that one.
    pub address: NodeId,
    /// The epoch of the failover that put it there. Never falls.
    pub config_epoch: u64,
    /// The epoch of the last vote. Never falls.
    pub leader_epoch: u64,
    /// The other data servers. **Invariant:** `address` is not among them (redis@821a98664).
    pub replicas: Vec<NodeId>,
    /// All other sentinels that were ever seen, where and who, until an operator resets.
    pub sentinels: Vec<(NodeId, RunId)>,
}

impl File {
    /// Whether it can have been written by a sentinel of this generation.
    pub(super) fn check(&self, generation: u32) -> Result<(), ConfigError> {
        let current = self.current_epoch;
        if current > MAX_EPOCH {
            return Err(ConfigError::FileEpoch(current));
        }
        if self.generation > generation {
            return Err(ConfigError::GenerationFell {
                recorded: self.generation,
                configured: generation,
            });
        }
        for kept in &self.masters {
            let epoch = kept.config_epoch.max(kept.leader_epoch);
            if epoch > current {
                return Err(ConfigError::FileEpoch(epoch));
            }
            if kept.replicas.len() > MAX_REPLICAS || kept.sentinels.len() > MAX_SENTINELS {
                return Err(ConfigError::FileTooLong(kept.name));
            }
        }
        Ok(())
    }
}

/// How a life of a sentinel begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boot {
    /// What its disk holds; `None` when it never ran. One whose file was lost must come back under another address: under its
    /// own it would vote twice in one epoch.
    pub stored: Option<File>,
    /// A fresh nonce for each life, not 0.
    pub incarnation: u64,
    /// Anything; the address is mixed in.
    pub seed: u64,
}
