//! What data servers say of themselves, and what is done where that does not fit: whoever is a master by mistake is made a
//! replica (SEN-R1), and whoever follows the wrong one is told the right one (SEN-R2).

use super::master::{Reconf, Replica, Seen, Stage};
use super::message::{Report, Role};
use super::news::News;
use super::refuse::Refusal;
use super::{MAX_REPLICAS, Master, Rules, Sentinel, timing};
use crate::{Duration, Instant, NodeId, Ticket};

impl<R: Rules> Sentinel<R> {
    /// An answer to INFO. Whoever is watched as a master and as a replica is told of in both.
    pub(super) fn on_told(
        &mut self,
        from: NodeId,
        query: Ticket,
        report: Report,
        replicas: &[NodeId],
    ) {
        if !self.is_own(query) {
            return self.refusals.add(Refusal::Unasked);
        }
        let mut known = false;
        for place in 0..self.masters.len() {
            if self.masters[place].at.node == from {
                known = true;
                self.on_masters_report(place, query.number, report, replicas);
            }
            if self.masters[place].replica(from).is_some() {
                known = true;
                self.on_replicas_report(place, from, query.number, report);
            }
        }
        if !known {
            self.refusals.add(Refusal::UnknownSender);
        }
    }

    fn on_masters_report(
        &mut self,
        place: usize,
        number: u64,
        report: Report,
        replicas: &[NodeId],
    ) {
        let now = self.now;
        let master = &mut self.masters[place];
        if !master.at.takes_info(number) {
            return;
        }
        let name = master.monitor.name;
        if master.at.on_report(now, report) && master.monitor.reboot_down_after.is_some() {
            master.at.rebooted(now);
            self.news.post(News::Reboot(name));
        }
        if report.role == Role::Master {
            for node in replicas.iter().take(MAX_REPLICAS) {
                self.learn_replica(place, *node);
            }
        }
    }

    /// A replica that the master named.
    fn learn_replica(&mut self, place: usize, node: NodeId) {
        let now = self.now;
        let master = &mut self.masters[place];
        if master.at.node == node || master.replica(node).is_some() {
            return;
        }
        if node == self.config.id || master.sentry(node).is_some() {
            return self.refusals.add(Refusal::ImpossibleAddress);
        }
        if master.replicas.len() >= MAX_REPLICAS {
            return self.refusals.add(Refusal::TooMany);
        }
        let at = master.replicas.partition_point(|one| one.at.node < node);
        master.replicas.insert(at, Replica::new(node, now));
        let name = master.monitor.name;
        self.news.post(News::Slave(name, node));
        self.change();
    }

    fn on_replicas_report(&mut self, place: usize, node: NodeId, number: u64, report: Report) {
        let (now, watched) = (self.now, self.masters[place].at.node);
        let Some(replica) = self.masters[place].replica(node) else {
            return;
        };
        if !replica.at.takes_info(number) {
            return;
        }
        replica.at.on_report(now, report);
        replica.seen = match (report.role, report.link_down) {
            // One that an attempt promoted which came to nothing has the master's data still.
            (Role::Master, _) => replica.seen,
            _ if report.master != Some(watched) => Seen::Astray,
            (Role::Replica, None) => Seen::InTouch,
            (Role::Replica, Some(_)) => replica.seen.max(Seen::Following),
        };
        // In tilt nothing follows from it (SEN-R3).
        if self.tilt.is_some() {
            return;
        }
        match report.role {
            Role::Master => self.on_replica_is_master(place, node),
            Role::Replica => self.on_replica_follows(place, node, report),
        }
    }

    fn on_replica_is_master(&mut self, place: usize, node: NodeId) {
        let chosen = self.masters[place]
            .failover
            .filter(|failover| failover.promoted == Some(node));
        match chosen {
            Some(failover) if failover.stage == Stage::WaitPromotion => {
                self.promoted(place, failover.epoch, node);
            }
            Some(_) => {}
            // SEN-R1.
            None => {
                if self.may_repair(place, node, timing::SETTLED, |one| one.at.role_since) {
                    let name = self.masters[place].monitor.name;
                    self.news.post(News::ConvertToSlave(name, node));
                    self.order_to_follow(place, node);
                }
            }
        }
    }

    fn on_replica_follows(&mut self, place: usize, node: NodeId, report: Report) {
        let master = &self.masters[place];
        let (watched, name) = (master.at.node, master.monitor.name);
        let patience = master.monitor.failover_timeout;
        // SEN-R2.
        let wrong = report.master != Some(watched);
        if wrong && self.may_repair(place, node, patience, |one| one.at.follows_since) {
            self.news.post(News::FixSlaveConfig(name, node));
            return self.order_to_follow(place, node);
        }
        let promoted = self.masters[place].promoted();
        let Some(replica) = self.masters[place].replica(node) else {
            return;
        };
        if replica.reconf == Reconf::Sent && promoted.is_some() && report.master == promoted {
            replica.reconf = Reconf::InProgress;
            self.news.post(News::SlaveReconfInprog(name, node));
        }
        let Some(replica) = self.masters[place].replica(node) else {
            return;
        };
        if replica.reconf == Reconf::InProgress && report.link_down.is_none() {
            replica.reconf = Reconf::Done;
            self.news.post(News::SlaveReconfDone(name, node));
        }
    }

    /// Whether an order would set right what has been wrong for `span`, and not disturb what is on its way: the master looks sane
    /// from here, and the node has been up for that long.
    fn may_repair(
        &self,
        place: usize,
        node: NodeId,
        span: Duration,
        since: fn(&Replica) -> Instant,
    ) -> bool {
        let (now, master) = (self.now, &self.masters[place]);
        let Some(replica) = master.replicas.iter().find(|one| one.at.node == node) else {
            return false;
        };
        looks_sane(master, now)
            && replica.at.is_up_for(now, span)
            && now.since(since(replica)) > span
    }

    fn order_to_follow(&mut self, place: usize, node: NodeId) {
        let watched = self.masters[place].at.node;
        self.order(place, node, Some(watched));
    }
}

fn looks_sane(master: &Master, now: Instant) -> bool {
    let fresh = master.at.is_fresh(now, timing::INFO.scaled_up(2, 1));
    !master.at.down && !master.odown && master.at.role == Role::Master && fresh
}
