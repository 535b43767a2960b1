//! What a sentinel tells about its work, under the names of the real one's log.

use super::names::{MasterName, RunId};
use crate::NodeId;
use alloc::collections::VecDeque;

/// Something that happened to one watched master, or to the sentinel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum News {
    /// It holds a node to be down.
    SdownSet(MasterName, NodeId),
    /// It does not any more.
    SdownCleared(MasterName, NodeId),
    /// A quorum holds the master to be down.
    OdownSet(MasterName),
    /// It does not any more.
    OdownCleared(MasterName),
    /// It has entered an epoch.
    NewEpoch(u64),
    /// It tries to replace the master, in this epoch.
    TryFailover(MasterName, u64),
    /// It gave its vote.
    VoteForLeader(MasterName, RunId, u64),
    /// It was elected, or told by an operator, to replace the master.
    ElectedLeader(MasterName, u64),
    /// It has chosen a replica.
    SelectedSlave(MasterName, NodeId),
    /// It has ordered that one to follow nobody.
    SlaveofNooneSent(MasterName, NodeId),
    /// That one says that it is a master.
    PromotedSlave(MasterName, NodeId),
    /// It has ordered another replica to follow the new master.
    SlaveReconfSent(MasterName, NodeId),
    /// That one says that it does.
    SlaveReconfInprog(MasterName, NodeId),
    /// And has what the new master has.
    SlaveReconfDone(MasterName, NodeId),
    /// The time is over in which the replicas had to follow.
    FailoverEndForTimeout(MasterName),
    /// All replicas follow, or the time is over.
    FailoverEnd(MasterName),
    /// It was not elected in time.
    AbortNotElected(MasterName),
    /// There is no replica to promote.
    AbortNoGoodSlave(MasterName),
    /// The chosen one was not reached or did not become a master in time.
    AbortSlaveTimeout(MasterName),
    /// A later failover was heard of, or the operator wished it: this one is given up.
    AbortOvertaken(MasterName),
    /// The master is at another address from now on: from, to.
    SwitchMaster(MasterName, NodeId, NodeId),
    /// It heard of a configuration of a later epoch.
    ConfigUpdate(MasterName, u64),
    /// It has learnt of a replica.
    Slave(MasterName, NodeId),
    /// It has learnt of a sentinel.
    Sentinel(MasterName, NodeId),
    /// It forgot an entry of a sentinel that moved, or whose address another one has now.
    DupSentinel(MasterName, NodeId),
    /// It orders a server that calls itself a master to follow the master (SEN-R1).
    ConvertToSlave(MasterName, NodeId),
    /// It orders a replica that follows somebody else to follow the master (SEN-R2).
    FixSlaveConfig(MasterName, NodeId),
    /// The master was restarted.
    Reboot(MasterName),
    /// An operator had it forget all it knew of the master's replicas and sentinels.
    ResetMaster(MasterName),
    /// Its own time is not to be trusted: it only watches (SEN-R3).
    TiltEntered,
    /// It trusts it again.
    TiltLeft,
}

impl News {
    /// The name of the event in the real one's log.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::SdownSet(..) => "+sdown",
            Self::SdownCleared(..) => "-sdown",
            Self::OdownSet(_) => "+odown",
            Self::OdownCleared(_) => "-odown",
            Self::NewEpoch(_) => "+new-epoch",
            Self::TryFailover(..) => "+try-failover",
            Self::VoteForLeader(..) => "+vote-for-leader",
            Self::ElectedLeader(..) => "+elected-leader",
            Self::SelectedSlave(..) => "+selected-slave",
            Self::SlaveofNooneSent(..) => "+failover-state-wait-promotion",
            Self::PromotedSlave(..) => "+promoted-slave",
            Self::SlaveReconfSent(..) => "+slave-reconf-sent",
            Self::SlaveReconfInprog(..) => "+slave-reconf-inprog",
            Self::SlaveReconfDone(..) => "+slave-reconf-done",
            Self::FailoverEndForTimeout(_) => "+failover-end-for-timeout",
            Self::FailoverEnd(_) => "+failover-end",
            Self::AbortNotElected(_) => "-failover-abort-not-elected",
            Self::AbortNoGoodSlave(_) => "-failover-abort-no-good-slave",
            Self::AbortSlaveTimeout(_) => "-failover-abort-slave-timeout",
            Self::AbortOvertaken(_) => "-failover-abort-overtaken",
            Self::SwitchMaster(..) => "+switch-master",
            Self::ConfigUpdate(..) => "+config-update-from",
            Self::Slave(..) => "+slave",
            Self::Sentinel(..) => "+sentinel",
            Self::DupSentinel(..) => "-dup-sentinel",
            Self::ConvertToSlave(..) => "+convert-to-slave",
            Self::FixSlaveConfig(..) => "+fix-slave-config",
            Self::Reboot(_) => "+reboot",
            Self::ResetMaster(_) => "+reset-master",
            Self::TiltEntered => "+tilt",
            Self::TiltLeft => "-tilt",
        }
    }
}

/// How many news are kept for a host that does not ask: the oldest are forgotten.
const KEPT: usize = 256;

/// News that were not asked for yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Board(VecDeque<News>);

impl Board {
    pub(super) fn post(&mut self, news: News) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(news);
    }

    pub(super) fn take(&mut self) -> Option<News> {
        self.0.pop_front()
    }
}
