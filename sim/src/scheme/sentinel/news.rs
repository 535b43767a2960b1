//! What a sentinel tells of its work, in the events of the trace.

use tenure::NodeId;
use tenure::sentinel::News;

/// What they are called in the real one's log, in order of code.
#[cfg(not(target_family = "wasm"))]
pub(crate) const NAMES: [&str; 32] = [
    "news",
    "+sdown",
    "-sdown",
    "+odown",
    "-odown",
    "+new-epoch",
    "+try-failover",
    "+vote-for-leader",
    "+elected-leader",
    "+selected-slave",
    "+failover-state-wait-promotion",
    "+promoted-slave",
    "+slave-reconf-sent",
    "+slave-reconf-inprog",
    "+slave-reconf-done",
    "+failover-end-for-timeout",
    "+failover-end",
    "-failover-abort-not-elected",
    "-failover-abort-no-good-slave",
    "-failover-abort-slave-timeout",
    "-failover-abort-overtaken",
    "+switch-master",
    "+config-update-from",
    "+slave",
    "+sentinel",
    "-dup-sentinel",
    "+convert-to-slave",
    "+fix-slave-config",
    "+reboot",
    "+reset-master",
    "+tilt",
    "-tilt",
];

/// The code of a piece of news, whom it is about, and which epoch.
pub(crate) fn told(news: &News) -> (u64, Option<NodeId>, Option<u64>) {
    let voted = |leader: tenure::sentinel::RunId| super::sentinel(leader);
    match *news {
        News::SdownSet(_, node) => (1, Some(node), None),
        News::SdownCleared(_, node) => (2, Some(node), None),
        News::OdownSet(_) => (3, None, None),
        News::OdownCleared(_) => (4, None, None),
        News::NewEpoch(epoch) => (5, None, Some(epoch)),
        News::TryFailover(_, epoch) => (6, None, Some(epoch)),
        News::VoteForLeader(_, leader, epoch) => {
            let leader = voted(leader).map(|node| NodeId(node as u64));
            (7, leader, Some(epoch))
        }
        News::ElectedLeader(_, epoch) => (8, None, Some(epoch)),
        News::SelectedSlave(_, node) => (9, Some(node), None),
        News::SlaveofNooneSent(_, node) => (10, Some(node), None),
        News::PromotedSlave(_, node) => (11, Some(node), None),
        News::SlaveReconfSent(_, node) => (12, Some(node), None),
        News::SlaveReconfInprog(_, node) => (13, Some(node), None),
        News::SlaveReconfDone(_, node) => (14, Some(node), None),
        News::FailoverEndForTimeout(_) => (15, None, None),
        News::FailoverEnd(_) => (16, None, None),
        News::AbortNotElected(_) => (17, None, None),
        News::AbortNoGoodSlave(_) => (18, None, None),
        News::AbortSlaveTimeout(_) => (19, None, None),
        News::AbortOvertaken(_) => (20, None, None),
        News::SwitchMaster(_, _, to) => (21, Some(to), None),
        News::ConfigUpdate(_, epoch) => (22, None, Some(epoch)),
        News::Slave(_, node) => (23, Some(node), None),
        News::Sentinel(_, node) => (24, Some(node), None),
        News::DupSentinel(_, node) => (25, Some(node), None),
        News::ConvertToSlave(_, node) => (26, Some(node), None),
        News::FixSlaveConfig(_, node) => (27, Some(node), None),
        News::Reboot(_) => (28, None, None),
        News::ResetMaster(_) => (29, None, None),
        News::TiltEntered => (30, None, None),
        News::TiltLeft => (31, None, None),
        _ => (0, None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenure::sentinel::MasterName;

    #[test]
    fn codes_are_the_places_of_the_names() {
        let name = MasterName(0);
        for news in [
            News::SdownSet(name, NodeId(4)),
            News::TryFailover(name, 5),
            News::AbortNotElected(name),
            News::SwitchMaster(name, NodeId(4), NodeId(5)),
            News::FixSlaveConfig(name, NodeId(4)),
            News::TiltLeft,
        ] {
            assert_eq!(NAMES[told(&news).0 as usize], news.name());
        }
    }
}
