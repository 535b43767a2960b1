//! What a sentinel knows of one watched master, its replicas, and the sentinels that watch it, too.

use super::config::Monitor;
use super::instance::Instance;
use super::message::{Report, Role};
use super::names::{MasterName, RunId};
use crate::{Instant, NodeId};
use alloc::vec::Vec;

/// A watched master, as one sentinel sees it.
#[derive(Clone, Debug)]
pub struct Master {
    pub(super) monitor: Monitor,
    pub(super) at: Instance,
    pub(super) config_epoch: u64,
    /// Address and config epoch as the disk holds them, which is what clients are told.
    pub(super) written: (NodeId, u64),
    pub(super) leader_epoch: u64,
    pub(super) leader: Option<RunId>,
    /// The number of the write that holds the vote.
    pub(super) voted: u64,
    pub(super) odown: bool,
    /// When the last attempt began, or a vote was given to another: what comes next has to wait from then on (SEN-F1).
    pub(super) started: Option<Instant>,
    pub(super) failover: Option<Failover>,
    /// In rising order of address.
    pub(super) replicas: Vec<Replica>,
    /// In rising order of address. **Invariant:** no address and no id is there twice.
    pub(super) sentinels: Vec<Sentry>,
}

/// A failover that this sentinel tries or carries out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Failover {
    pub(super) epoch: u64,
    pub(super) stage: Stage,
    /// Since when it has been in this stage.
    pub(super) since: Instant,
    pub(super) promoted: Option<NodeId>,
    /// Whether an operator wished it.
    pub(super) forced: bool,
    /// The number of the write that its next step waits for.
    pub(super) written: u64,
    /// Whether it was told that the promotion is in the file.
    pub(super) established: bool,
}

/// How far a failover has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Votes are counted (SEN-F2).
    WaitStart,
    /// A replica is to be chosen (SEN-F3).
    SelectReplica,
    /// It is to be ordered to follow nobody (SEN-F4).
    SendReplicaOfNoOne,
    /// It is to say that it is a master (SEN-F5).
    WaitPromotion,
    /// The other replicas are to follow it (SEN-F6).
    ReconfReplicas,
    /// The configuration is to name it (SEN-F7).
    UpdateConfig,
}

/// A replica, as one sentinel sees it.
#[derive(Clone, Debug)]
pub struct Replica {
    pub(super) at: Instance,
    pub(super) reconf: Reconf,
    pub(super) ordered: Instant,
    pub(super) seen: Seen,
}

/// Whose data a replica has, as far as it was seen since its master has been the master.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seen {
    /// It follows somebody else, or was never heard to follow this one: what it has may be of another master.
    Astray,
    /// It says that it follows the master.
    Following,
    /// It was in touch with it, too, and has followed nobody else since: what it has is of the master.
    InTouch,
}

/// How far a replica has come in following the promoted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reconf {
    /// It was not ordered to.
    None,
    /// It was ordered to.
    Sent,
    /// It says that it does.
    InProgress,
    /// And that it has what the promoted one has.
    Done,
}

/// Another sentinel that watches the same master.
#[derive(Clone, Debug)]
pub struct Sentry {
    pub(super) at: Instance,
    pub(super) id: RunId,
    /// Whether it holds the master to be down.
    pub(super) down: bool,
    /// When it last said whether.
    pub(super) heard: Option<Instant>,
    pub(super) asked: u64,
    pub(super) answered: u64,
    pub(super) asked_at: Option<Instant>,
    /// Whom it said it voted for, and in which epoch.
    pub(super) vote: Option<(RunId, u64)>,
}

impl Sentry {
    pub(super) const fn new(node: NodeId, id: RunId, now: Instant) -> Self {
        Self {
            // What role a sentinel has is never asked.
            at: Instance::new(node, Role::Replica, now),
            id,
            down: false,
            heard: None,
            asked: 0,
            answered: 0,
            asked_at: None,
            vote: None,
        }
    }

    /// Where it is.
    #[must_use]
    pub const fn node(&self) -> NodeId {
        self.at.node
    }

    /// Who it is.
    #[must_use]
    pub const fn id(&self) -> RunId {
        self.id
    }

    /// Whether it is held to be down itself.
    #[must_use]
    pub const fn is_down(&self) -> bool {
        self.at.down
    }

    /// Whether it said lately that it holds the master to be down.
    #[must_use]
    pub const fn holds_master_down(&self) -> bool {
        self.down
    }

    /// Whom it said lately that it voted for, and in which epoch.
    #[must_use]
    pub const fn vote(&self) -> Option<(RunId, u64)> {
        self.vote
    }
}

impl Replica {
    pub(super) const fn new(node: NodeId, now: Instant) -> Self {
        Self {
            at: Instance::new(node, Role::Replica, now),
            reconf: Reconf::None,
            ordered: now,
            seen: Seen::Astray,
        }
    }

    /// Where it is.
    #[must_use]
    pub const fn node(&self) -> NodeId {
        self.at.node
    }

    /// Whether it is held to be down.
    #[must_use]
    pub const fn is_down(&self) -> bool {
        self.at.down
    }

    /// What it last said of itself.
    #[must_use]
    pub fn report(&self) -> Option<Report> {
        self.at.report.map(|(report, _)| report)
    }

    /// Whose data it has, as far as was seen.
    #[must_use]
    pub const fn seen(&self) -> Seen {
        self.seen
    }

    /// How far it has come in following the promoted one.
    #[must_use]
    pub const fn reconf(&self) -> Reconf {
        self.reconf
    }
}

impl Master {
    pub(super) fn new(monitor: Monitor, address: NodeId, now: Instant) -> Self {
        Self {
            monitor,
            at: Instance::new(address, Role::Master, now),
            config_epoch: 0,
            written: (address, 0),
            leader_epoch: 0,
            leader: None,
            voted: 0,
            odown: false,
            started: None,
            failover: None,
            replicas: Vec::new(),
            sentinels: Vec::new(),
        }
    }

    /// By what name it is watched.
    #[must_use]
    pub const fn name(&self) -> MasterName {
        self.monitor.name
    }

    /// Where the master is: from its promotion on, the promoted replica. What clients are told, once the disk holds it, says
    /// [`Sentinel::leader_of`](super::Sentinel::leader_of).
    #[must_use]
    pub fn address(&self) -> NodeId {
        let promoted = |failover: &Failover| {
            (failover.promoted).filter(|_| failover.stage >= Stage::ReconfReplicas)
        };
        (self.failover.as_ref().and_then(promoted)).unwrap_or(self.at.node)
    }

    /// Where the master is that is watched: it is the former one until a failover is over.
    #[must_use]
    pub const fn watched(&self) -> NodeId {
        self.at.node
    }

    /// The epoch of the failover that made it the master; 0 where there was none.
    #[must_use]
    pub const fn config_epoch(&self) -> u64 {
        self.config_epoch
    }

    /// The epoch of this sentinel's last vote.
    #[must_use]
    pub const fn leader_epoch(&self) -> u64 {
        self.leader_epoch
    }

    /// Whom it voted for then, while it remembers.
    #[must_use]
    pub const fn leader(&self) -> Option<RunId> {
        self.leader
    }

    /// SDOWN: whether this sentinel holds it to be down.
    #[must_use]
    pub const fn is_down(&self) -> bool {
        self.at.down
    }

    /// ODOWN: whether a quorum does.
    #[must_use]
    pub const fn is_objectively_down(&self) -> bool {
        self.odown
    }

    /// What it last said of itself.
    #[must_use]
    pub fn report(&self) -> Option<Report> {
        self.at.report.map(|(report, _)| report)
    }

    /// How far this sentinel's failover has come, and its epoch, if it tries one.
    #[must_use]
    pub fn failover(&self) -> Option<(Stage, u64)> {
        (self.failover.as_ref()).map(|failover| (failover.stage, failover.epoch))
    }

    /// Which replica that one promotes, once it is chosen.
    #[must_use]
    pub fn promoted(&self) -> Option<NodeId> {
        self.failover
            .as_ref()
            .and_then(|failover| failover.promoted)
    }

    /// Its replicas, in rising order of address.
    #[must_use]
    pub fn replicas(&self) -> &[Replica] {
        &self.replicas
    }

    /// The other sentinels, in rising order of address: all that were ever seen and not reset.
    #[must_use]
    pub fn sentinels(&self) -> &[Sentry] {
        &self.sentinels
    }

    /// How many sentinels there are, this one included: a majority is one of these.
    #[must_use]
    pub fn voters(&self) -> usize {
        self.sentinels.len() + 1
    }

    pub(super) fn replica(&mut self, node: NodeId) -> Option<&mut Replica> {
        self.replicas.iter_mut().find(|one| one.at.node == node)
    }

    pub(super) fn sentry(&mut self, node: NodeId) -> Option<&mut Sentry> {
        self.sentinels.iter_mut().find(|one| one.at.node == node)
    }

    /// All data servers and sentinels of it.
    pub(super) fn instances(&mut self) -> impl Iterator<Item = &mut Instance> {
        let replicas = self.replicas.iter_mut().map(|one| &mut one.at);
        let sentinels = self.sentinels.iter_mut().map(|one| &mut one.at);
        core::iter::once(&mut self.at)
            .chain(replicas)
            .chain(sentinels)
    }
}
