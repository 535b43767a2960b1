//! How a world of sentinels and data servers is made, and who is where in it.

use tenure::sentinel::{Config, File, Kept, MasterName, Monitor, RunId, Switched};
use tenure::{Duration, NodeId};

pub(crate) const MS: u64 = 1_000;
pub(crate) const SEC: u64 = 1_000_000;

/// The first master of a group, its replicas follow; groups are a hundred apart.
pub(crate) const fn server(group: u16, place: u64) -> NodeId {
    NodeId(100 * (group as u64 + 1) + place)
}

/// To which group a data server belongs.
pub(crate) fn group_of(node: NodeId) -> Option<MasterName> {
    let group = (node.0 / 100).checked_sub(1)?;
    Some(MasterName(group as u16))
}

/// How a world is made.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) sentinels: u64,
    pub(crate) groups: u16,
    /// Replicas of each master.
    pub(crate) replicas: u64,
    pub(crate) quorum: usize,
    pub(crate) down_after: u64,
    pub(crate) failover_timeout: u64,
    pub(crate) parallel_syncs: usize,
    pub(crate) min_replicas: usize,
    pub(crate) current_epoch: u64,
    /// The least and the most time a message takes.
    pub(crate) latency: (u64, u64),
    /// And a write.
    pub(crate) disk: (u64, u64),
    /// Parts per thousand.
    pub(crate) loss: u64,
    pub(crate) repeated: u64,
    pub(crate) rules: Switched,
    pub(crate) seed: u64,
    /// Whether all sentinels are given one seed and one nonce.
    pub(crate) identical: bool,
    /// Whether sentinels know each other from the start, from their files.
    pub(crate) acquainted: bool,
    /// Whether a machine whose process is gone says so.
    pub(crate) refuses: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            sentinels: 3,
            groups: 1,
            replicas: 2,
            quorum: 2,
            down_after: 3 * SEC,
            failover_timeout: 10 * SEC,
            parallel_syncs: 1,
            min_replicas: 0,
            current_epoch: 0,
            latency: (MS, 5 * MS),
            disk: (MS, 5 * MS),
            loss: 0,
            repeated: 0,
            rules: Switched::default(),
            seed: 1,
            identical: false,
            acquainted: true,
            refuses: false,
        }
    }
}

impl Plan {
    pub(crate) fn monitor(&self, group: u16) -> Monitor {
        Monitor {
            down_after: Duration::from_micros(self.down_after),
            failover_timeout: Duration::from_micros(self.failover_timeout),
            parallel_syncs: self.parallel_syncs,
            ..Monitor::new(MasterName(group), server(group, 0), self.quorum)
        }
    }

    pub(crate) fn config(&self, id: NodeId) -> Config {
        Config {
            id,
            generation: 0,
            masters: (0..self.groups).map(|group| self.monitor(group)).collect(),
        }
    }

    pub(crate) fn file(&self, id: NodeId) -> File {
        let others = (1..=self.sentinels)
            .map(NodeId)
            .filter(|other| *other != id);
        let sentinels: Vec<_> = others.map(|other| (other, RunId(other.0))).collect();
        File {
            id: RunId(id.0),
            generation: 0,
            current_epoch: self.current_epoch,
            masters: (0..self.groups)
                .map(|group| Kept {
                    name: MasterName(group),
                    address: server(group, 0),
                    config_epoch: 0,
                    leader_epoch: 0,
                    replicas: (1..=self.replicas)
                        .map(|place| server(group, place))
                        .collect(),
                    sentinels: sentinels.clone(),
                })
                .collect(),
        }
    }
}
