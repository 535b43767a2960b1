//! Learning: from the leader that was elected to a log that is its (page 2.4, 2.6 and 2.7).
//!
//! What a leader sends before it is established is kept beside the log, `staged`. With NEWLEADER the history goes to the disk,
//! then the epoch, and only then is it acknowledged (ZAB-S10). What is broken off before leaves log and disk as they were
//! (Z-3642), but for a TRUNC, which is done at once.

use super::message::{Entries, Link, Packet};
use super::record::Request;
use super::{Refusal, Role, Rule, Rules, Zab};
use crate::log::{Position, Shape};
use crate::{Event, Instant, NodeId, Why};
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
enum Way {
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
    tries: u32,
    /// When it tries again.
    retry: Instant,
    /// When it must have heard more.
    pub(super) deadline: Instant,
    /// The leader's epoch, once it was told.
    pub(super) epoch: u64,
    /// Which request it waits for.
    ticket: u64,
    /// What the leader takes for the end of its log.
    end: Position,
    way: Way,
    /// The log as the leader tells it, from [`Stage::Collecting`] until it is up to date.
    staged: Shape,
    /// Up to where that is committed.
    committed: u64,
    /// Up to where it acknowledged entries.
    acked: u64,
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
    fn abandon(&mut self, why: Refusal) {
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
        let done = self.durable.has(learning.ticket);
        match learning.stage {
            Stage::Promising if done => self.promise(true),
            Stage::Recording if done => {
                learning.stage = Stage::Acknowledged;
                learning.deadline = sync;
                self.say_to_leader(Packet::AckNewLeader);
            }
            Stage::Serving => self.acknowledge(self.durable.synced),
            _ => {}
        }
    }

    /// DIFF, TRUNC or SNAP (ZAB-S8).
    fn begin_to_collect(&mut self, packet: Packet) {
        let (base, end) = (self.log.base(), self.told_end());
        let (way, staged, end) = match packet {
            Packet::Trunc { to } => {
                let known = self.log.contains(to) || !self.keeps(Rule::SnapAcrossEpochs);
                if !known || to.index < self.commit || to.index > self.log.last().index {
                    return self.abandon(Refusal::ContradictsCommitted);
                }
                let mut staged = self.log.clone();
                staged.truncate(to.index);
                self.request(Request::Truncate { to });
                self.durable.cut_to(to.index);
                if self.keeps(Rule::ReloadAfterSync) {
                    self.log.truncate(to.index);
                } else {
                    // Z-5094: memory stays as it was until the synchronisation ends.
                    self.durable.appended = self.log.last().index;
                }
                (Way::Trunc, staged, to)
            }
            Packet::Snap { last } => {
                if !self.is_possible(last) {
                    return self.abandon(Refusal::ImpossibleLog);
                }
                // What this log begins with is committed: the leader has it too.
                let begins = if last.index > base.index { last } else { base };
                (Way::Snap, Shape::after(begins), last)
            }
            _ => (Way::Diff, self.log.clone(), end),
        };
        if let Some(learning) = &mut self.learning {
            learning.stage = Stage::Collecting;
            (learning.way, learning.staged, learning.end) = (way, staged, end);
            learning.committed = 0;
        }
    }

    /// Whether `entries` follow what the leader told before; looks for another one when they do not (ZAB-S9, Z-4925).
    fn follows(&mut self, entries: &Entries, end: Position) -> bool {
        let rises = entries.epoch >= entries.after.term.max(1) && entries.count > 0;
        let known = self.is_possible(entries.after)
            && self.is_possible(entries.last())
            && self.epoch_is_near(entries.epoch);
        if !rises || !known {
            self.abandon(Refusal::ImpossibleLog);
            return false;
        }
        if entries.after != end && self.keeps(Rule::Continuous) {
            self.abandon(Refusal::NotContinuous);
            return false;
        }
        true
    }

    /// A proposal before this node is up to date. Whether it was taken.
    fn collect(&mut self, entries: Entries) -> bool {
        let Some(learning) = &self.learning else {
            return false;
        };
        let end = learning.end;
        if !self.follows(&entries, end) {
            return false;
        }
        let Some(learning) = &mut self.learning else {
            return false;
        };
        learning.end = entries.last();
        // Below what this log begins with there is nothing to keep; at it, both must agree.
        let base = learning.staged.base();
        let hidden = base.index.saturating_sub(entries.after.index);
        let covers = hidden > 0 && entries.last().index >= base.index;
        if covers && entries.epoch != base.term {
            self.abandon(Refusal::ContradictsCommitted);
            return false;
        }
        let count = entries.count.saturating_sub(hidden);
        if count > 0 && learning.staged.append(entries.epoch, count).is_err() {
            self.abandon(Refusal::ImpossibleLog);
            return false;
        }
        true
    }

    fn collect_commit(&mut self, upto: u64) {
        let Some(learning) = &mut self.learning else {
            return;
        };
        if upto > learning.end.index {
            return self.abandon(Refusal::ContradictsCommitted);
        }
        learning.committed = learning.committed.max(upto);
    }

    /// NEWLEADER (ZAB-S10): the history, synced; then the epoch; then the acknowledgement.
    fn record_history(&mut self, epoch: u64) {
        let Some(learning) = &mut self.learning else {
            return;
        };
        let begins = learning.staged.base();
        if learning.end.index < begins.index {
            return self.abandon(Refusal::ContradictsCommitted);
        }
        learning.stage = Stage::Recording;
        // What is not known to be committed is logged later (ZAB-S11), unless it is there already.
        let from = match learning.way {
            Way::Snap => begins.index,
            Way::Diff => self.log.last().index,
            Way::Trunc => self.log.last().index.min(learning.staged.last().index),
        };
        let mut log = learning.staged.clone();
        log.truncate(learning.committed.max(from));
        let snap = learning.way == Way::Snap;
        let early = (!self.keeps(Rule::EpochAfterHistory)).then(|| self.write_current(epoch));
        self.log = log;
        if snap {
            self.durable.replaced(begins.index);
            self.request(Request::Install { last: begins });
        } else {
            self.durable.appended = from;
        }
        self.append_log();
        let ticket = match early {
            Some(_) => self.sync_log(),
            None if self.keeps(Rule::HistorySynced) => {
                self.sync_log();
                self.write_current(epoch)
            }
            None => {
                let ticket = self.write_current(epoch);
                self.sync_log();
                ticket
            }
        };
        if !self.keeps(Rule::DeliverEstablished) {
            let committed = self
                .learning
                .as_ref()
                .map_or(0, |learning| learning.committed);
            self.commit = self.commit.max(committed.min(self.log.last().index));
        }
        if let Some(learning) = &mut self.learning {
            learning.ticket = ticket;
        }
    }

    fn write_current(&mut self, epoch: u64) -> u64 {
        self.current = epoch;
        self.request(Request::Current(epoch))
    }

    /// UPTODATE (ZAB-S11): the epoch is established. What came since NEWLEADER is logged, and what is committed delivered.
    fn serve(&mut self) {
        let Some(learning) = &mut self.learning else {
            return;
        };
        learning.stage = Stage::Serving;
        let (committed, epoch) = (learning.committed, learning.epoch);
        self.log = core::mem::take(&mut learning.staged);
        if !self.keeps(Rule::KeepBuffered) {
            // Z-4785: what is committed already passes for logged.
            self.durable.appended = self.durable.appended.max(committed);
        }
        self.blank = false;
        self.commit = self.commit.max(committed.min(self.log.last().index));
        self.answer_with(epoch);
        self.event(Event::Following(self.followed()));
        self.acknowledge(self.durable.synced);
    }

    /// A proposal (ZAB-B2). Whether it was taken.
    fn take(&mut self, entries: Entries) -> bool {
        let end = match &self.learning {
            Some(learning) => learning.end,
            None => return false,
        };
        if !self.follows(&entries, end) {
            return false;
        }
        if self.log.append(entries.epoch, entries.count).is_err() {
            self.abandon(Refusal::ImpossibleLog);
            return false;
        }
        if let Some(learning) = &mut self.learning {
            learning.end = entries.last();
        }
        if !self.keeps(Rule::AckDurable) {
            self.acknowledge(self.log.last().index);
        }
        true
    }

    fn take_commit(&mut self, upto: u64) {
        if upto > self.log.last().index {
            return self.abandon(Refusal::ContradictsCommitted);
        }
        self.commit = self.commit.max(upto);
    }

    /// Acknowledges entries up to `upto`, once. Observers are not asked to.
    fn acknowledge(&mut self, upto: u64) {
        if let Some(learning) = &mut self.learning
            && upto > learning.acked.max(learning.committed)
            && self.role == Role::Following
        {
            learning.acked = upto;
            self.say_to_leader(Packet::Ack { upto });
        }
    }

    /// What an interrupted synchronisation leaves: the log as it is on the disk (Z-3642, Z-5094).
    pub(super) fn reload(&mut self, learning: &Learning) {
        if learning.stage == Stage::Collecting && !self.keeps(Rule::ReloadAfterSync) {
            if learning.way == Way::Snap {
                self.log = learning.staged.clone();
            }
            // Memory passes for what the disk holds.
            self.durable.appended = self.log.last().index;
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
        (durable.until(self.ticket), self.end, self.way).hash(hasher);
        (&self.staged, self.committed, self.acked).hash(hasher);
    }
}
