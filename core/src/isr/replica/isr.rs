//! Who is in sync: the leader's wish, which the controller grants.

use super::lead::Leading;
use super::{Replica, ReplicaOutput, Role};
use crate::isr::places::Places;
use crate::isr::refuse::Refusal;
use crate::isr::rules::{Rule, Rules};
use crate::isr::view::View;
use crate::isr::words::{AlterPartition, Answer, Fault, Member};
use crate::{Instant, Ticket};
use core::hash::{Hash, Hasher};

/// What a leader wants of the ISR: one thing at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    asked: Option<Asked>,
    /// Who was to be in sync by what may have been granted, or may still be, of the present state of the partition.
    doubtful: Places,
    /// No wish before this.
    not_before: Instant,
}

/// What the controller was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Asked {
    isr: Places,
    /// The latest of the questions; the only one whose answer counts.
    ticket: Ticket,
    /// When to ask again; never where the state that was asked about is not there any more, and a newer one will be told.
    again_at: Instant,
}

impl Wish {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            asked: None,
            doubtful: Places::NONE,
            not_before: now,
        }
    }

    pub(super) fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        let asked = self
            .asked
            .map(|asked| (asked.isr, asked.again_at.ahead_of(now)));
        (asked, self.doubtful, self.not_before.ahead_of(now)).hash(hasher);
    }
}

impl<R: Rules> Replica<R> {
    /// Everybody who may be in sync, as far as the leader knows: those who are, and those who may have become so.
    pub(super) fn maximal(&self, leading: &Leading, view: &View) -> Places {
        let asked = leading.wish.asked.map(|asked| asked.isr);
        if self.keeps(Rule::MaximalIsr) {
            let proposed = asked.unwrap_or(Places::NONE);
            view.isr.or(proposed).or(leading.wish.doubtful)
        } else {
            asked.unwrap_or(view.isr)
        }
    }

    /// The partition is in another state: what was asked about the former is settled.
    pub(super) fn isr_is(&mut self, now: Instant) {
        if let Role::Leading(leading) = &mut self.role {
            leading.wish = Wish::new(now);
        }
        self.advance();
    }

    /// A follower may enter the ISR, by what it has.
    pub(super) fn expand(&mut self, now: Instant, place: usize) {
        let (Role::Leading(leading), Some(view)) = (&self.role, &self.view) else {
            return;
        };
        let idle = leading.wish.asked.is_none() && leading.wish.not_before <= now;
        let active = view.active.has(place) || !self.keeps(Rule::EligibleForIsr);
        if view.isr.has(place) || !idle || !active {
            return;
        }
        // KAFKA-7128: the high watermark that it knows may lag behind what the last leader committed.
        let start = if self.keeps(Rule::ReachesEpochStart) {
            leading.epoch_start
        } else {
            0
        };
        let least = self.high_watermark.max(start);
        let end = leading.peers.get(place).and_then(|peer| peer.end);
        if end.is_some_and(|end| end >= least) {
            self.propose(now, view.isr.or(Places::of(place)));
        }
    }

    /// What is due of the ISR.
    pub(super) fn see_to_isr(&mut self, now: Instant) {
        let (Role::Leading(leading), Some(view)) = (&self.role, &self.view) else {
            return;
        };
        match leading.wish.asked {
            Some(asked) if asked.again_at <= now => self.propose(now, asked.isr),
            Some(_) => {}
            None if leading.wish.not_before > now => {}
            // What it may lack is lacking for good: it leads with what it has. Or: whatever may still be granted of this
            // state of the partition is not, once there is another.
            None if view.recovering || !leading.wish.doubtful.is_empty() => {
                self.propose(now, view.isr);
            }
            None => {
                let behind = self.behind(leading, view, now);
                if !behind.is_empty() {
                    self.propose(now, view.isr.but(behind));
                }
            }
        }
    }

    /// Who is in sync and was not caught up for too long.
    fn behind(&self, leading: &Leading, view: &View, now: Instant) -> Places {
        let lagging = self.lagging(leading, view);
        let late = lagging.filter(|(_, at)| *at <= now);
        late.fold(Places::NONE, |all, (place, _)| all.or(Places::of(place)))
    }

    /// Who is in sync and has less than there is, and from when on that is too long.
    fn lagging(&self, leading: &Leading, view: &View) -> impl Iterator<Item = (usize, Instant)> {
        let mine = view.place(self.me).map_or(Places::NONE, Places::of);
        view.isr.but(mine).iter().filter_map(move |place| {
            let peer = leading.peers.get(place)?;
            (peer.end != Some(self.end())).then_some((place, peer.caught_up + self.config.lag))
        })
    }

    pub(super) fn isr_due(&self, leading: &Leading) -> Instant {
        let Some(view) = &self.view else {
            return Instant::FOREVER;
        };
        let wish = &leading.wish;
        match wish.asked {
            Some(asked) => asked.again_at,
            None if view.recovering || !wish.doubtful.is_empty() => wish.not_before,
            None => {
                let lagging = self.lagging(leading, view).map(|(_, at)| at);
                lagging
                    .min()
                    .map_or(Instant::FOREVER, |at| at.max(wish.not_before))
            }
        }
    }

    /// Asks the controller.
    fn propose(&mut self, now: Instant, isr: Places) {
        let ticket = self.ticket();
        let again_at = now + self.config.patience;
        let (Role::Leading(leading), Some(view)) = (&mut self.role, &self.view) else {
            return;
        };
        let asked = Asked {
            isr,
            ticket,
            again_at,
        };
        if leading.wish.asked.replace(asked).is_none() {
            // What is asked again is meant for the lives that it was found out of.
            for peer in &mut leading.peers {
                peer.named = peer.broker_epoch;
            }
        }
        let member = |place: usize| {
            let broker = *view.replicas.get(place)?;
            let epoch = if broker == self.me {
                Some(view.broker_epoch)
            } else {
                leading.peers.get(place)?.named
            };
            Some(Member { broker, epoch })
        };
        let asked = AlterPartition {
            at: self.at,
            broker: self.me,
            broker_epoch: view.broker_epoch,
            leader_epoch: view.leader_epoch,
            partition_epoch: view.partition_epoch,
            isr: isr.iter().filter_map(member).collect(),
            recovering: false,
        };
        self.out.push_back(ReplicaOutput::Alter(ticket, asked));
        if !self.rules.keeps(Rule::MaximalIsr) {
            self.advance();
        }
    }

    /// The controller answered.
    pub fn answer(&mut self, now: Instant, ticket: Ticket, answer: Answer) {
        let now = self.look_at_the_clock(now);
        let backoff = now + self.config.backoff;
        let (Role::Leading(leading), Some(view)) = (&mut self.role, &mut self.view) else {
            return self.refusals.add(Refusal::UnknownTicket);
        };
        let wish = &mut leading.wish;
        let Some(asked) = wish.asked.as_mut().filter(|asked| asked.ticket == ticket) else {
            return self.refusals.add(Refusal::UnknownTicket);
        };
        match answer {
            Answer::Altered {
                leader_epoch,
                partition_epoch,
                isr,
                recovering,
            } => {
                // What the log tells of it later is no news. Of another epoch the log alone tells.
                let all = Places::first(view.replicas.len());
                if leader_epoch == view.leader_epoch
                    && partition_epoch > view.partition_epoch
                    && isr.within(all)
                {
                    (view.partition_epoch, view.isr) = (partition_epoch, isr);
                    view.recovering = recovering;
                    self.isr_is(now);
                } else {
                    asked.again_at = Instant::FOREVER;
                }
            }
            // Another state of the partition is there, and will be told; what was asked for may be it.
            Answer::Fault(Fault::FencedLeaderEpoch | Fault::InvalidUpdateVersion) => {
                asked.again_at = Instant::FOREVER;
            }
            // Not granted; unless it comes once more, as it was asked before or as the network repeats it.
            Answer::Fault(Fault::IneligibleReplica) => {
                wish.doubtful = wish.doubtful.or(asked.isr);
                wish.asked = None;
                wish.not_before = backoff;
            }
            Answer::Fault(_) => asked.again_at = backoff,
            _ => {
                self.refusals.add(Refusal::WrongAnswer);
                asked.again_at = backoff;
            }
        }
        self.advance();
        self.act(now);
    }
}
