//! Learning: from the leader that was elected to a promise, and on to its log; `collect` and `follow` say how.

use super::message::{Link, Packet};
use super::record::Request;
use super::{Refusal, Role, Rule, Rules, Zab};
use crate::log::{Position, Shape};
use crate::{Instant, NodeId, Why};
use alloc::boxed::Box;

/// What the connection to the leader has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Stage {
    /// It was refused, and tries again soon.
    Waiting,
    /// It said who it is.
    Greeted,
    /// It was told the epoch, and writes it.
    Promising,
    /// It promised.
    Promised,
    /// It is told what it lacks.
    Collecting,
    /// It was told NEWLEADER, and writes what that ends.
    Recording,
    /// It acknowledged NEWLEADER.
    Acknowledged,
    /// It is up to date.
    Serving,
}

impl Stage {
    /// Whether what the leader proposes is kept beside the log.
    fn collects(self) -> bool {
        (Self::Collecting..=Self::Acknowledged).contains(&self)
    }
}

/// How its log becomes the leader's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Way {
    Diff,
    Trunc,
    Snap,
}

/// What a learner knows.
#[derive(Clone, Debug)]
pub(super) struct Learning {
    pub(super) leader: NodeId,
    pub(super) link: Link,
    /// The number of the next packet to the leader, and of the next from it.
    pub(super) sends: u64,
    pub(super) expects: u64,
    pub(super) stage: Stage,
    /// How often it may still try to connect.
    pub(super) tries: u32,
    /// When it tries again.
    pub(super) retry: Instant,
    /// When it must have heard more.
    pub(super) deadline: Instant,
    /// The leader's epoch, once it was told.
    pub(super) epoch: u64,
    /// Which request it waits for.
    pub(super) ticket: u64,
    /// What the leader takes for the end of its log.
    pub(super) end: Position,
    pub(super) way: Way,
    /// The log as the leader tells it, from [`Stage::Collecting`] until it is up to date.
    pub(super) staged: Shape,
    /// Up to where that is committed.
    pub(super) committed: u64,
    /// Up to where it acknowledged entries.
    pub(super) acked: u64,
}

impl<R: Rules> Zab<R> {
    /// Another was elected: connects to it (ZAB-D8).
    pub(super) fn begin_to_learn(&mut self, leader: NodeId) {
        self.role = if self.config.ensemble.votes(self.place) {
            Role::Following
        } else {
            Role::Observing
        };
        let timing = &self.config.timing;
        self.learning = Some(Box::new(Learning {
            leader,
            link: Link {
                learner: 0,
                leader: 0,
            },
            sends: 0,
            expects: 0,
            stage: Stage::Waiting,
            tries: timing.connect_tries,
            retry: self.now,
            deadline: self.now + timing.init(),
            epoch: 0,
            ticket: 0,
            end: Position::START,
            way: Way::Diff,
            staged: Shape::new(),
            committed: 0,
            acked: 0,
        }));
        self.connect();
    }

    fn connect(&mut self) {
        let (learner, accepted) = (self.nonce(), self.accepted);
        if let Some(learning) = &mut self.learning {
            (learning.sends, learning.expects) = (0, 0);
            learning.link = Link { learner, leader: 0 };
            learning.stage = Stage::Greeted;
            learning.tries = learning.tries.saturating_sub(1);
            self.say_to_leader(Packet::LearnerInfo { accepted });
        }
    }

    /// The connection was refused or is over.
    pub(super) fn link_ended(&mut self) {
        if let Some(learning) = &mut self.learning
            && learning.stage <= Stage::Greeted
            && learning.tries > 0
        {
            // The leader may not have decided yet.
            learning.stage = Stage::Waiting;
            learning.retry = self.now + self.config.timing.connect_delay;
        } else {
            self.look_again(Why::Lapsed);
        }
    }

    pub(super) fn learner_deadline(&self) -> Option<Instant> {
        let learning = self.learning.as_ref()?;
        Some(match learning.stage {
            Stage::Waiting => learning.retry.min(learning.deadline),
            _ => learning.deadline,
        })
    }

    pub(super) fn learner_is_due(&mut self) {
        let Some(learning) = &self.learning else {
            return;
        };
        if learning.deadline <= self.now {
            // ZAB-B5.
            self.look_again(Why::Lapsed);
        } else if learning.stage == Stage::Waiting && learning.retry <= self.now {
            self.connect();
        }
    }

    /// A packet of the leader, in its turn.
    pub(super) fn on_leader_packet(&mut self, packet: Packet) {
        let timing = &self.config.timing;
        let (init, sync) = (timing.init(), timing.sync());
        let Some(learning) = &mut self.learning else {
            return;
        };
        let patience = if learning.stage < Stage::Acknowledged {
            init
        } else {
            sync
        };
        learning.deadline = self.now + patience;
        match (packet, learning.stage) {
            (Packet::LeaderInfo { epoch }, Stage::Greeted) => self.on_epoch(epoch),
            (Packet::Diff | Packet::Trunc { .. } | Packet::Snap { .. }, Stage::Promised) => {
                self.begin_to_collect(packet);
            }
            (Packet::Proposal(entries), stage) if stage.collects() => {
                self.collect(entries);
            }
            (Packet::Inform(entries), stage) if stage.collects() => {
                if self.collect(entries) {
                    self.collect_commit(entries.last().index);
                }
            }
            (Packet::Commit { upto }, stage) if stage.collects() => {
                self.collect_commit(upto);
            }
            (Packet::NewLeader { epoch }, Stage::Collecting) if epoch == learning.epoch => {
                self.record_history(epoch);
            }
            (Packet::UpToDate, Stage::Acknowledged) => self.serve(),
            (Packet::Proposal(entries), Stage::Serving) => {
                self.take(entries);
            }
            (Packet::Inform(entries), Stage::Serving) => {
                if self.take(entries) {
                    self.take_commit(entries.last().index);
                }
            }
            (Packet::Commit { upto }, Stage::Serving) => self.take_commit(upto),
            (Packet::Sync { number }, Stage::Serving) => self.on_synced(number),
            (Packet::Ping { round }, stage) if stage >= Stage::Promising => {
                self.say_to_leader(Packet::Ping { round });
            }
            // ZAB-B5.
            _ => self.abandon(Refusal::Unexpected),
        }
    }

    /// What the leader says cannot be followed.
    pub(super) fn abandon(&mut self, why: Refusal) {
        self.refusals.add(why);
        self.look_again(Why::Lapsed);
    }

    /// LEADERINFO (ZAB-D9): a promise, written before it is given.
    fn on_epoch(&mut self, epoch: u64) {
        if !self.epoch_is_near(epoch) {
            return self.abandon(Refusal::EpochLeap);
        }
        let old = epoch < self.accepted;
        if old && self.keeps(Rule::RefuseOlderEpoch) {
            return self.abandon(Refusal::OlderEpoch);
        }
        let Some(learning) = &mut self.learning else {
            return;
        };
        learning.epoch = epoch;
        if epoch > self.accepted {
            self.accepted = epoch;
            let ticket = self.request(Request::Accepted(epoch));
            if let Some(learning) = &mut self.learning {
                (learning.stage, learning.ticket) = (Stage::Promising, ticket);
            }
            if !self.keeps(Rule::AcceptedDurable) {
                self.promise(true);
            }
        } else {
            // It promised this one before, to whomever: not to be counted.
            self.promise(old || !self.keeps(Rule::PromiseOnce));
        }
    }

    fn promise(&mut self, counts: bool) {
        let current = counts.then_some(self.current);
        let last = self.told_end();
        if let Some(learning) = &mut self.learning {
            learning.stage = Stage::Promised;
            self.say_to_leader(Packet::AckEpoch { current, last });
        }
    }

    /// The disk answered.
    pub(super) fn learner_is_durable(&mut self) {
        let sync = self.now + self.config.timing.sync();
        let Some(learning) = &mut self.learning else {
            return;
        };
        let done = self.durable.requests.is_done(learning.ticket);
        match learning.stage {
            Stage::Promising if done => self.promise(true),
            Stage::Recording if done => {
                learning.stage = Stage::Acknowledged;
                learning.deadline = sync;
                self.say_to_leader(Packet::AckNewLeader);
            }
            Stage::Serving => self.acknowledge(self.durable.synced()),
            _ => {}
        }
    }
}

impl Learning {
    /// What of it is protocol state (law C10).
    pub(super) fn view<H: core::hash::Hasher>(
        &self,
        now: Instant,
        durable: &super::durable::Durable,
        hasher: &mut H,
    ) {
        use core::hash::Hash as _;
        (self.tries, self.retry.ahead_of(now)).hash(hasher);
        (durable.requests.pending_to(self.ticket), self.end, self.way).hash(hasher);
        (&self.staged, self.committed, self.acked).hash(hasher);
    }
}
