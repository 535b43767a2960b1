//! Who is down: by the own opinion (SDOWN), by that of a quorum (ODOWN), and how the others are asked for theirs.
//!
//! ODOWN is no agreement: opinions of the last seconds are added up. It is only a reason to try a failover; whether that one
//! may act is decided by votes.

use super::message::{Life, Message};
use super::names::RunId;
use super::news::News;
use super::refuse::Refusal;
use super::tick::Which;
use super::{Master, Rule, Rules, Sentinel, timing};
use crate::{NodeId, Ticket};

impl<R: Rules> Sentinel<R> {
    pub(super) fn on_pong(&mut self, from: NodeId, query: Ticket, life: Life) {
        if !self.is_own(query) {
            return self.refusals.add(Refusal::Unasked);
        }
        let (now, mut taken) = (self.now, false);
        for master in &mut self.masters {
            for one in master.instances().filter(|one| one.node == from) {
                taken |= one.on_pong(now, query.number, life);
            }
        }
        if !taken && !self.is_known(from) {
            self.refusals.add(Refusal::UnknownSender);
        }
    }

    /// The process of a node is gone, as far as its machine says.
    pub(super) fn on_closed(&mut self, from: NodeId) {
        for master in &mut self.masters {
            for one in master.instances().filter(|one| one.node == from) {
                one.closed();
            }
        }
    }

    /// Whether this life asked this question.
    pub(super) fn is_own(&self, query: Ticket) -> bool {
        query.incarnation == self.durable.requests.incarnation()
            && query.number > 0
            && query.number <= self.asked
    }

    /// SEN-D1.
    pub(super) fn look_for_sdown(&mut self, place: usize, which: Which) {
        let now = self.now;
        let monitor = &self.masters[place].monitor;
        let (name, down_after, reboot) =
            (monitor.name, monitor.down_after, monitor.reboot_down_after);
        let as_master = matches!(which, Which::Master);
        let one = self.instance(place, which);
        let (node, down) = (one.node, one.is_silent(now, down_after, as_master, reboot));
        if one.set_down(now, down) {
            self.news.post(if down {
                News::SdownSet(name, node)
            } else {
                News::SdownCleared(name, node)
            });
        }
    }

    /// SEN-D5.
    pub(super) fn look_for_odown(&mut self, place: usize) {
        let master = &mut self.masters[place];
        let others = master.sentinels.iter().filter(|one| one.down).count();
        let odown = master.at.down && others + 1 >= master.monitor.quorum;
        if master.odown != odown {
            master.odown = odown;
            let name = master.monitor.name;
            self.news.post(if odown {
                News::OdownSet(name)
            } else {
                News::OdownCleared(name)
            });
        }
    }

    /// SEN-D3. `forced`: at once, for a failover has just begun.
    pub(super) fn ask_the_others(&mut self, place: usize, forced: bool) {
        let now = self.now;
        for one in 0..self.masters[place].sentinels.len() {
            let sentry = &mut self.masters[place].sentinels[one];
            let old = |at: crate::Instant| now.since(at) > timing::BELIEVED;
            if sentry.heard.is_some_and(old) {
                sentry.down = false;
                sentry.vote = None;
            }
            let due = (sentry.asked_at).is_none_or(|at| now.since(at) >= timing::ASK);
            if !self.masters[place].at.down || !(forced || due) {
                continue;
            }
            let query = self.question();
            let (candidate, epoch) = self.candidacy(place);
            let master = self.masters[place].at.node;
            let sentry = &mut self.masters[place].sentinels[one];
            sentry.asked = query.number;
            sentry.asked_at = Some(now);
            let node = sentry.at.node;
            let ask = Message::Ask {
                query,
                master,
                epoch,
                candidate,
            };
            self.say(node, ask);
        }
    }

    /// Whether a vote is asked for, and in which epoch.
    fn candidacy(&self, place: usize) -> (Option<RunId>, u64) {
        match &self.masters[place].failover {
            Some(failover) if self.rules.keeps(Rule::FailoverEpoch) => {
                (Some(self.id), failover.epoch)
            }
            // redis#2230: as shipped, the epoch that all masters share.
            Some(_) => (Some(self.id), self.current_epoch),
            None => (None, self.current_epoch),
        }
    }

    /// SEN-D4, SEN-V3: always an answer, in tilt, too.
    pub(super) fn on_ask(
        &mut self,
        from: NodeId,
        query: Ticket,
        address: NodeId,
        epoch: u64,
        candidate: Option<RunId>,
    ) {
        if let Some(refusal) = self.impossible(epoch, candidate.is_some()) {
            return self.refusals.add(refusal);
        }
        let watches = |master: &Master| master.at.node == address;
        let place = self.masters.iter().position(watches);
        let down = place.is_some_and(|place| self.masters[place].at.down) && self.tilt.is_none();
        let vote = match (place, candidate) {
            (Some(place), Some(candidate)) => self.vote(place, epoch, candidate),
            _ => None,
        };
        let (leader, epoch) = vote.unzip();
        let answer = Message::Answer {
            query,
            master: address,
            down,
            leader,
            epoch: epoch.unwrap_or_default(),
        };
        self.say(from, answer);
    }

    pub(super) fn on_answer(
        &mut self,
        from: NodeId,
        query: Ticket,
        address: NodeId,
        down: bool,
        vote: Option<(RunId, u64)>,
    ) {
        if let Some((_, epoch)) = vote
            && let Some(refusal) = self.impossible(epoch, true)
        {
            return self.refusals.add(refusal);
        }
        let now = self.now;
        let own = self.is_own(query);
        let master = (self.masters.iter_mut()).find(|master| master.at.node == address);
        let Some(master) = master else {
            // It may have been the master when it was asked for.
            return self.refusals.add(Refusal::UnknownMaster);
        };
        let Some(sentry) = master.sentry(from) else {
            return self.refusals.add(Refusal::UnknownSender);
        };
        if !own || query.number <= sentry.answered || query.number > sentry.asked {
            return self.refusals.add(Refusal::Unasked);
        }
        sentry.answered = query.number;
        sentry.heard = Some(now);
        sentry.down = down;
        if vote.is_some() {
            sentry.vote = vote;
        }
    }

    /// What is wrong with an epoch, whatever else the state; `None` when nothing is.
    pub(super) fn impossible(&self, epoch: u64, vote: bool) -> Option<Refusal> {
        if epoch > super::MAX_EPOCH {
            Some(Refusal::EpochTooHigh)
        } else if epoch > self.current_epoch.saturating_add(super::MAX_LEAP) {
            Some(Refusal::EpochLeap)
        } else if vote && epoch == 0 {
            Some(Refusal::ImpossibleEpoch)
        } else {
            None
        }
    }
}
