//! What sentinels learn from each other: that they exist, the epoch, and the configuration. The highest config epoch wins.

use super::master::{Master, Replica, Sentry};
use super::message::Hello;
use super::news::News;
use super::refuse::Refusal;
use super::{MAX_REPLICAS, MAX_SENTINELS, Rule, Rules, Sentinel, Stage};
use crate::{NodeId, Why};

impl<R: Rules> Sentinel<R> {
    pub(super) fn on_hello(&mut self, hello: Hello) {
        // Its own comes back, from data servers that know an earlier life of it, or that everybody hears.
        if hello.id == self.id {
            return;
        }
        if let Some(refusal) = self.impossible(hello.current_epoch, false) {
            return self.refusals.add(refusal);
        }
        if hello.config_epoch > hello.current_epoch {
            return self.refusals.add(Refusal::ImpossibleEpoch);
        }
        if hello.sentinel == self.config.id
            || hello.master == self.config.id
            || hello.master == hello.sentinel
        {
            return self.refusals.add(Refusal::ImpossibleAddress);
        }
        let Some(place) = self.place(hello.name) else {
            return self.refusals.add(Refusal::UnknownMaster);
        };
        if !self.meet(place, &hello) {
            return;
        }
        self.enter(hello.current_epoch);
        self.adopt(place, &hello);
    }

    /// A sentinel is known by its id: at another address than before it has moved, and at the address of another one it has
    /// taken that one's place (redis#9240). False when there is no room for it.
    fn meet(&mut self, place: usize, hello: &Hello) -> bool {
        let master = &mut self.masters[place];
        let same = |one: &Sentry| one.id == hello.id && one.at.node == hello.sentinel;
        if master.sentinels.iter().any(same) {
            return true;
        }
        let name = master.monitor.name;
        let is_data = |node: NodeId| {
            master.at.node == node || master.replicas.iter().any(|one| one.at.node == node)
        };
        if is_data(hello.sentinel) {
            self.refusals.add(Refusal::ImpossibleAddress);
            return false;
        }
        let before = master.sentinels.len();
        (master.sentinels).retain(|one| one.id != hello.id && one.at.node != hello.sentinel);
        let forgot = before != master.sentinels.len();
        if master.sentinels.len() >= MAX_SENTINELS {
            self.refusals.add(Refusal::TooMany);
            return false;
        }
        let sentry = Sentry::new(hello.sentinel, hello.id, self.now);
        let at = (master.sentinels).partition_point(|one| one.at.node < hello.sentinel);
        master.sentinels.insert(at, sentry);
        if forgot {
            self.news.post(News::DupSentinel(name, hello.sentinel));
        }
        self.news.post(News::Sentinel(name, hello.sentinel));
        self.change();
        true
    }

    /// SEN-V6.
    fn adopt(&mut self, place: usize, hello: &Hello) {
        let master = &self.masters[place];
        let (name, own) = (master.monitor.name, master.config_epoch);
        let moves = |address: NodeId| address != hello.master;
        let rises = hello.config_epoch > own;
        let anyhow = !self.rules.keeps(Rule::ConfigEpochRises) && moves(master.address());
        if !rises && !anyhow {
            return;
        }
        let (watched, told) = (master.at.node, master.address());
        // As shipped, the address is compared with that of the master that is watched still, and only another one ends the
        // own failover.
        let overtaken = self.rules.keeps(Rule::OvertakenGivesUp);
        let compared = if overtaken { told } else { watched };
        self.masters[place].config_epoch = hello.config_epoch;
        self.change();
        self.news.post(News::ConfigUpdate(name, hello.config_epoch));
        if moves(compared) {
            self.leave_office(place, Why::HigherTerm);
            return self.switch(place, hello.master);
        }
        let in_vain = |failover: &super::master::Failover| failover.epoch <= hello.config_epoch;
        if overtaken && self.masters[place].failover.as_ref().is_some_and(in_vain) {
            self.leave_office(place, Why::HigherTerm);
            self.news.post(News::AbortOvertaken(name));
            if moves(watched) {
                self.switch(place, hello.master);
            } else {
                self.masters[place].failover = None;
            }
        }
    }

    /// The master is at this address from now on, and the former one is a replica like the others (SEN-V6, SEN-F7). What was
    /// known of a failover is forgotten, but for the epoch of the last vote; and what others said, for it was about another.
    pub(super) fn switch(&mut self, place: usize, address: NodeId) {
        let now = self.now;
        let master = &mut self.masters[place];
        let (name, former) = (master.monitor.name, master.at.node);
        let replicas = (master.replicas.iter().map(|one| one.at.node))
            .chain((former != address).then_some(former))
            .filter(|node| *node != address);
        let mut replicas: alloc::vec::Vec<NodeId> = replicas.collect();
        replicas.sort_unstable();
        replicas.dedup();
        replicas.truncate(MAX_REPLICAS);
        let mut sentinels = core::mem::take(&mut master.sentinels);
        sentinels.retain(|one| one.at.node != address);
        for one in &mut sentinels {
            (one.down, one.heard, one.vote) = (false, None, None);
        }
        *master = Master {
            config_epoch: master.config_epoch,
            leader_epoch: master.leader_epoch,
            written: master.written,
            replicas: (replicas.into_iter())
                .map(|node| Replica::new(node, now))
                .collect(),
            sentinels,
            ..Master::new(master.monitor.clone(), address, now)
        };
        self.news.post(News::SwitchMaster(name, former, address));
        self.change();
    }

    /// A failover has come to its end (SEN-F7).
    pub(super) fn switch_to_promoted(&mut self, place: usize) {
        let master = &self.masters[place];
        let promoted = (master.failover.as_ref())
            .filter(|failover| failover.stage == Stage::UpdateConfig)
            .and_then(|failover| failover.promoted);
        if let Some(address) = promoted {
            self.leave_office(place, Why::Resigned);
            self.switch(place, address);
        }
    }
}
