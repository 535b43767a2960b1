//! The failover, from the attempt to the new configuration. Up to the promotion it can be given up; from then on the new master
//! is there, and is told to everybody.

use super::master::{Failover, Reconf, Stage};
use super::message::Message;
use super::names::MasterName;
use super::news::News;
use super::{MAX_EPOCH, Rule, Rules, Sentinel, timing};
use crate::{Duration, Event, Instant, NodeId, Output, Tenure, Why};
use core::fmt;

/// Why no failover begins that an operator asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailoverRefused {
    /// No master of this name is watched. Check the name.
    UnknownMaster(MasterName),
    /// `INPROG`: there is one already. Wait for its end.
    InProgress,
    /// `NOGOODSLAVE`: no replica could be promoted. Wait until one follows and is in touch.
    NoGoodReplica,
    /// No epochs are left, which takes longer than the universe lasts, or a damaged file.
    NoEpochLeft,
    /// A write failed: this life of it acts no more. Restart it from its file.
    Halted,
}

impl fmt::Display for FailoverRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownMaster(name) => {
                write!(f, "{name} is not watched here; check the name")
            }
            Self::InProgress => f.write_str("a failover is in progress; wait for its end"),
            Self::NoGoodReplica => f.write_str(
                "no replica could be promoted; wait until one follows the master and is in touch",
            ),
            Self::NoEpochLeft => f.write_str("no epoch is left; the file is damaged: restore it"),
            Self::Halted => {
                f.write_str("a write of the file failed; restart from what the disk holds")
            }
        }
    }
}

impl core::error::Error for FailoverRefused {}

impl<R: Rules> Sentinel<R> {
    /// An operator's `SENTINEL FAILOVER` (SEN-F9): the master is replaced although nobody holds it to be down, and without a
    /// vote. It takes an epoch of its own as always; but no majority has authorised it, so that two that are ordered at
    /// once can take the same one.
    ///
    /// # Errors
    /// When none can begin.
    pub fn failover(&mut self, now: Instant, name: MasterName) -> Result<(), FailoverRefused> {
        self.now = self.now.max(now);
        if self.halted {
            return Err(FailoverRefused::Halted);
        }
        let place = (self.place(name)).ok_or(FailoverRefused::UnknownMaster(name))?;
        if self.masters[place].failover.is_some() {
            return Err(FailoverRefused::InProgress);
        }
        if self.select(place).is_none() {
            return Err(FailoverRefused::NoGoodReplica);
        }
        if self.current_epoch >= MAX_EPOCH {
            return Err(FailoverRefused::NoEpochLeft);
        }
        self.begin(place, true);
        self.settle();
        Ok(())
    }

    /// SEN-F1. True when one has begun.
    pub(super) fn begin_if_due(&mut self, place: usize) -> bool {
        let master = &self.masters[place];
        let pause = master.monitor.failover_timeout.scaled_up(2, 1);
        let waits = (master.started).is_some_and(|since| self.now.since(since) < pause);
        let due = master.odown && master.failover.is_none() && !waits;
        if due && self.current_epoch < MAX_EPOCH {
            self.begin(place, false);
            return true;
        }
        false
    }

    fn begin(&mut self, place: usize, forced: bool) {
        self.current_epoch += 1;
        let (epoch, written) = (self.current_epoch, self.change());
        let name = self.masters[place].monitor.name;
        self.masters[place].failover = Some(Failover {
            epoch,
            stage: Stage::WaitStart,
            since: self.now,
            promoted: None,
            forced,
            written,
            established: false,
        });
        self.wait_from_now(place);
        self.news.post(News::NewEpoch(epoch));
        self.news.post(News::TryFailover(name, epoch));
    }

    /// The next step, if it is time for it.
    pub(super) fn take_step(&mut self, place: usize) {
        let Some(failover) = self.masters[place].failover else {
            return;
        };
        match failover.stage {
            Stage::WaitStart => self.wait_start(place, failover),
            Stage::SelectReplica => self.select_replica(place),
            Stage::SendReplicaOfNoOne => self.send_no_one(place, failover),
            Stage::WaitPromotion => self.wait_promotion(place, failover),
            Stage::ReconfReplicas => self.reconf_replicas(place, failover),
            Stage::UpdateConfig => {}
        }
    }

    /// SEN-F2.
    fn wait_start(&mut self, place: usize, failover: Failover) {
        let elected = !failover.forced && self.tally(place, failover.epoch) == Some(self.id);
        // The own epoch is in the file before anything is done in its name.
        let written = self.is_written(failover.written);
        if (elected || failover.forced) && written {
            let name = self.masters[place].monitor.name;
            self.news.post(News::ElectedLeader(name, failover.epoch));
            if place == 0 {
                let token = self.token(failover.epoch);
                self.office = Some(token);
                self.outbox.push_back(Output::Event(Event::Elected(token)));
            }
            return self.go_to(place, Stage::SelectReplica);
        }
        let master = &self.masters[place];
        let waited = master.started.map(|since| self.now.since(since));
        if !failover.forced && waited > Some(master.monitor.election_timeout()) {
            self.abort(place, News::AbortNotElected);
        }
    }

    /// SEN-F3.
    fn select_replica(&mut self, place: usize) {
        let Some(chosen) = self.select(place) else {
            return self.abort(place, News::AbortNoGoodSlave);
        };
        let name = self.masters[place].monitor.name;
        if let Some(failover) = &mut self.masters[place].failover {
            failover.promoted = Some(chosen);
        }
        self.news.post(News::SelectedSlave(name, chosen));
        self.go_to(place, Stage::SendReplicaOfNoOne);
    }

    /// SEN-F4.
    fn send_no_one(&mut self, place: usize, failover: Failover) {
        let Some(node) = failover.promoted else {
            return;
        };
        if !self.is_linked(place, node) {
            return self.abort_if_late(place, failover);
        }
        let name = self.masters[place].monitor.name;
        self.order(place, node, None);
        self.news.post(News::SlaveofNooneSent(name, node));
        self.go_to(place, Stage::WaitPromotion);
    }

    /// SEN-F5: what the replica says of itself ends this, see `repair`. A connection would carry the order or break; here it
    /// may be lost, and is repeated.
    fn wait_promotion(&mut self, place: usize, failover: Failover) {
        let Some(node) = failover.promoted else {
            return;
        };
        let now = self.now;
        let again = (self.masters[place].replica(node))
            .is_some_and(|one| now.since(one.ordered) >= timing::INFO_SOON);
        if again {
            self.order(place, node, None);
        }
        self.abort_if_late(place, failover);
    }

    /// SEN-F5: the chosen one says that it is a master. There is no way back from here.
    pub(super) fn promoted(&mut self, place: usize, epoch: u64, node: NodeId) {
        let written = self.change();
        let name = self.masters[place].monitor.name;
        self.masters[place].config_epoch = epoch;
        if let Some(failover) = &mut self.masters[place].failover {
            failover.written = written;
        }
        self.news.post(News::PromotedSlave(name, node));
        self.go_to(place, Stage::ReconfReplicas);
        self.hurry_hellos(place);
    }

    /// The promotion is in the file: the host is told.
    pub(super) fn tell_established(&mut self) {
        let Some(master) = self.masters.first() else {
            return;
        };
        let Some(failover) = master.failover else {
            return;
        };
        let done = failover.stage >= Stage::ReconfReplicas && self.is_written(failover.written);
        if let Some(token) = self.office
            && done
            && !failover.established
        {
            if let Some(failover) = &mut self.masters[0].failover {
                failover.established = true;
            }
            let until = Instant::FOREVER;
            let event = Event::Established(Tenure { token, until });
            self.outbox.push_back(Output::Event(event));
        }
    }

    /// SEN-F6.
    fn reconf_replicas(&mut self, place: usize, failover: Failover) {
        self.tell_established();
        let Some(promoted) = failover.promoted else {
            return;
        };
        let (now, name) = (self.now, self.masters[place].monitor.name);
        let parallel = self.masters[place].monitor.parallel_syncs;
        let busy = |one: &&super::Replica| matches!(one.reconf, Reconf::Sent | Reconf::InProgress);
        let mut underway = self.masters[place].replicas.iter().filter(busy).count();
        for one in 0..self.masters[place].replicas.len() {
            let replica = &mut self.masters[place].replicas[one];
            let node = replica.at.node;
            let overdue = now.since(replica.ordered) > timing::RECONFIGURATION;
            if replica.reconf == Reconf::Sent && overdue {
                replica.reconf = Reconf::Done;
                underway = underway.saturating_sub(1);
            }
            let waits = replica.reconf == Reconf::None && node != promoted;
            if !waits || underway >= parallel || !self.is_linked(place, node) {
                continue;
            }
            self.order(place, node, Some(promoted));
            self.masters[place].replicas[one].reconf = Reconf::Sent;
            self.news.post(News::SlaveReconfSent(name, node));
            underway += 1;
        }
        self.look_for_end(place, failover, promoted);
    }

    fn look_for_end(&mut self, place: usize, failover: Failover, promoted: NodeId) {
        let (now, master) = (self.now, &self.masters[place]);
        let name = master.monitor.name;
        let of = |node: NodeId| master.replicas.iter().find(|one| one.at.node == node);
        if !self.is_written(failover.written) {
            return;
        }
        let late = now.since(failover.since) > master.monitor.failover_timeout;
        // A promoted one that is down serves nobody. The shipped sentinel waits for it for ever, and until then neither hears
        // that others hold the new master to be down nor votes for its successor.
        let gone = of(promoted).is_none_or(|one| one.at.down);
        let open = |one: &super::Replica| {
            one.at.node != promoted && one.reconf != Reconf::Done && !one.at.down
        };
        if !late && (gone || master.replicas.iter().any(open)) {
            return;
        }
        if late {
            self.news.post(News::FailoverEndForTimeout(name));
            for one in 0..self.masters[place].replicas.len() {
                let replica = &self.masters[place].replicas[one];
                let node = replica.at.node;
                let left_out = !matches!(replica.reconf, Reconf::Sent | Reconf::Done);
                if node != promoted && left_out && self.is_linked(place, node) {
                    self.order(place, node, Some(promoted));
                }
            }
        }
        self.news.post(News::FailoverEnd(name));
        self.go_to(place, Stage::UpdateConfig);
    }

    /// Orders a data server to follow another one, or nobody.
    pub(super) fn order(&mut self, place: usize, node: NodeId, follow: Option<NodeId>) {
        let now = self.now;
        if let Some(replica) = self.masters[place].replica(node) {
            replica.ordered = now;
        }
        self.say(node, Message::ReplicaOf(follow));
    }

    pub(super) fn is_linked(&self, place: usize, node: NodeId) -> bool {
        let master = &self.masters[place];
        let replica = master.replicas.iter().find(|one| one.at.node == node);
        replica.is_some_and(|one| one.at.is_linked(self.now, master.monitor.down_after))
    }

    fn go_to(&mut self, place: usize, stage: Stage) {
        let now = self.now;
        if let Some(failover) = &mut self.masters[place].failover {
            failover.stage = stage;
            failover.since = now;
        }
    }

    fn abort_if_late(&mut self, place: usize, failover: Failover) {
        let patience: Duration = self.masters[place].monitor.failover_timeout;
        if self.now.since(failover.since) > patience {
            self.abort(place, News::AbortSlaveTimeout);
        }
    }

    /// SEN-F8: it is given up. When it began is remembered, so that the next one waits.
    fn abort(&mut self, place: usize, why: fn(MasterName) -> News) {
        let name = self.masters[place].monitor.name;
        self.news.post(why(name));
        self.leave_office(place, Why::Lapsed);
        let master = &mut self.masters[place];
        master.failover = None;
        if !self.rules.keeps(Rule::WaitAfterAttempt) {
            master.started = None;
        }
    }

    /// The host gives up what it began and has not brought to a promotion.
    pub(super) fn resign(&mut self) {
        for place in 0..self.masters.len() {
            let early = |failover: &Failover| failover.stage < Stage::ReconfReplicas;
            if self.masters[place].failover.as_ref().is_some_and(early) {
                self.leave_office(place, Why::Resigned);
                self.abort(place, News::AbortOvertaken);
            }
        }
    }

    /// What it was elected for is over: the host is told, once.
    pub(super) fn leave_office(&mut self, place: usize, why: Why) {
        if place == 0
            && let Some(token) = self.office.take()
        {
            let event = Event::Deposed(token, why);
            self.outbox.push_back(Output::Event(event));
        }
    }
}
