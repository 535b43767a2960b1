//! The bully algorithm (Garcia-Molina, 1982). Teaching only: unsafe under partitions and slow nodes.
//!
//! Every node has a number and knows all others. Whoever takes the leader for dead asks all that are higher; if one of them
//! answers, it goes on from there in the same way; if none does within `T`, the asking node tells all lower ones that it
//! leads. So the highest that lives leads: it *bullies* the others.
//!
//! The three questions. *Who leads:* the highest number. *Who takes over:* the next highest, after `T` of silence. *What
//! stops the old leader:* nothing but a message from a higher one, if it arrives.
//!
//! What it lacks. Silence is taken for death, which only holds where messages and nodes are never slow: cut the group in
//! two, and the highest of each side leads; pause the leader, and two lead when it wakes. There is no epoch, hence no token by
//! which a resource could refuse the older of them. A healthy leader is thrown out by any higher node that comes back. And a
//! node that reaches only some of the others calls elections without end.
//!
//! [`Setup::guard`] adds what was missing: before it leads, a node asks everybody for an *epoch*, which a node grants once
//! and has on its disk before it says so; a majority has to grant it, and has to answer a leader's beats for as long as it
//! leads. That makes one leader an epoch, a token, and nobody on the smaller side of a cut. (Who then asks which of
//! several nodes should be granted it, and how not to raise the epoch in vain, is on the way to Raft.)
//!
//! Messages of an undisturbed election that the `k`-th highest of `n` begins: `k(k−1)` to ask and answer and `n−1` to
//! announce. From `n−1` when the highest begins it, to `n²−1`.
//!
//! Left out: the original's way to agree on what was done under the former leader.

use super::{Classic, Input, Mark, Output, Rule, Seat, Standing, Switched, Timing};
use tenure::Instant;
use tenure::rules::Rules;

/// What nodes say.
#[derive(Clone, Copy, Debug)]
pub enum Message {
    /// Is anybody higher there?
    Election,
    /// I am, and see to it.
    Answer,
    /// I lead, in this epoch.
    Coordinator(u64),
    /// I lead still. Sent at that time, on the sender's clock.
    Beat(u64, Instant),
    /// The guard: grant me this epoch.
    Claim(u64),
    /// The guard: it is yours.
    Grant(u64),
    /// The guard: I heard the beat of that time.
    Heard(u64, Instant),
    /// The guard: there is a later epoch.
    Behind(u64),
}

/// What all nodes are built from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setup {
    /// How long they wait.
    pub timing: Timing,
    /// Whether leading takes an epoch and a majority.
    pub guard: bool,
    /// The rules that are on.
    pub rules: Switched,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// No election of its own is running.
    Settled,
    /// It asked the higher ones.
    Asking,
    /// One of them answered.
    Waiting,
    /// The guard: it asked for an epoch.
    Claiming,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Bully {
    seat: Seat,
    setup: Setup,
    stage: Stage,
    /// When the stage ends; for who is settled and follows, when it takes the leader for dead.
    ends: Instant,
    leader: Option<usize>,
    /// The next beat, while it leads.
    beat_at: Instant,
    /// The guard: the highest epoch it granted or heard of. Durable.
    epoch: u64,
    /// The guard: who granted the epoch.
    grants: Vec<bool>,
    /// The guard: by node, when the newest beat was sent that it heard.
    heard: Vec<Instant>,
    /// The guard: when the newest beat was sent that a majority heard.
    confirmed: Instant,
}

type Outputs = Vec<Output<Message, u64>>;

impl Bully {
    const fn leads(&self) -> bool {
        matches!(self.leader, Some(leader) if leader == self.seat.node)
    }

    /// When a guarded leader stops for want of answers.
    fn lapses(&self) -> Instant {
        if self.setup.guard && self.leads() {
            self.confirmed + self.setup.timing.suspect
        } else {
            Instant::FOREVER
        }
    }

    fn enter(&mut self, now: Instant, stage: Stage) {
        let timing = &self.setup.timing;
        self.stage = stage;
        self.ends = now
            + match stage {
                Stage::Settled => timing.suspect,
                Stage::Asking => timing.answer,
                Stage::Waiting | Stage::Claiming => timing.outcome,
            };
    }

    fn elect(&mut self, now: Instant, out: &mut Outputs) {
        let higher = self.seat.node + 1..self.seat.nodes;
        if higher.is_empty() {
            return self.won(now, out);
        }
        out.extend(higher.map(|to| Output::Send(to, Message::Election)));
        if !self.leads() {
            self.leader = None;
        }
        self.enter(now, Stage::Asking);
    }

    /// A lower one looks for a leader, or leads: an election of its own settles that, and if it leads already, a word.
    fn bully(&mut self, now: Instant, lower: usize, out: &mut Outputs) {
        match self.stage {
            Stage::Settled if self.leads() => {
                out.push(Output::Send(lower, Message::Coordinator(self.epoch)));
            }
            Stage::Settled => self.elect(now, out),
            Stage::Asking | Stage::Waiting | Stage::Claiming => {}
        }
    }

    /// Nobody higher is there.
    fn won(&mut self, now: Instant, out: &mut Outputs) {
        if !self.setup.guard || self.leads() {
            return self.lead(now, out);
        }
        self.adopt(self.epoch + 1, out);
        self.grants.fill(false);
        self.grants[self.seat.node] = true;
        self.leader = None;
        self.enter(now, Stage::Claiming);
        let claim = Message::Claim(self.epoch);
        out.extend(self.seat.others().map(|to| Output::Send(to, claim)));
        self.count(now, out);
    }

    fn count(&mut self, now: Instant, out: &mut Outputs) {
        let needed = if self.setup.rules.keeps(Rule::MajorityGrants) {
            self.seat.majority()
        } else {
            1
        };
        if self.grants.iter().filter(|granted| **granted).count() >= needed {
            self.heard.fill(now);
            self.confirmed = now;
            self.lead(now, out);
        }
    }

    fn lead(&mut self, now: Instant, out: &mut Outputs) {
        self.leader = Some(self.seat.node);
        self.enter(now, Stage::Settled);
        self.beat_at = now + self.setup.timing.beat;
        let word = Message::Coordinator(self.epoch);
        out.extend((0..self.seat.node).map(|to| Output::Send(to, word)));
    }

    /// Follows one, or nobody for a while.
    fn follow(&mut self, now: Instant, leader: Option<usize>) {
        self.leader = leader;
        self.enter(now, Stage::Settled);
    }

    /// An epoch is granted, or heard of.
    fn adopt(&mut self, epoch: u64, out: &mut Outputs) {
        if epoch > self.epoch {
            self.epoch = epoch;
            if self.setup.rules.keeps(Rule::EpochKept) {
                out.push(Output::Keep(epoch));
            }
        }
    }

    /// Whether what a leader says may count: always without the guard, and else unless a later epoch is known.
    fn admits(&mut self, from: usize, epoch: u64, out: &mut Outputs) -> bool {
        if epoch < self.epoch {
            out.push(Output::Send(from, Message::Behind(self.epoch)));
            return false;
        }
        self.adopt(epoch, out);
        true
    }

    fn hear(&mut self, now: Instant, from: usize, message: Message, out: &mut Outputs) {
        let lower = from < self.seat.node;
        match message {
            Message::Election if lower => {
                if !(self.leads() && self.stage == Stage::Settled) {
                    out.push(Output::Send(from, Message::Answer));
                }
                self.bully(now, from, out);
            }
            Message::Answer if self.stage == Stage::Asking => {
                if self.setup.rules.keeps(Rule::AnswerStops) {
                    self.leader = None;
                    self.enter(now, Stage::Waiting);
                }
            }
            Message::Coordinator(epoch) => {
                if !self.admits(from, epoch, out) {
                } else if lower {
                    self.bully(now, from, out);
                } else {
                    self.follow(now, Some(from));
                }
            }
            Message::Beat(epoch, sent) => {
                if !self.admits(from, epoch, out) {
                    return;
                }
                if self.setup.guard {
                    out.push(Output::Send(from, Message::Heard(epoch, sent)));
                }
                if lower {
                    self.bully(now, from, out);
                } else if self.leader.is_none_or(|leader| leader <= from) {
                    self.follow(now, Some(from));
                }
            }
            Message::Claim(epoch) => {
                if epoch > self.epoch {
                    self.adopt(epoch, out);
                    self.follow(now, None);
                    out.push(Output::Send(from, Message::Grant(epoch)));
                } else {
                    out.push(Output::Send(from, Message::Behind(self.epoch)));
                }
            }
            Message::Grant(epoch) if self.stage == Stage::Claiming && epoch == self.epoch => {
                self.grants[from] = true;
                self.count(now, out);
            }
            Message::Heard(epoch, sent) if self.leads() && epoch == self.epoch => {
                self.heard[from] = self.heard[from].max(sent);
                self.heard[self.seat.node] = now;
                let mut sorted = self.heard.clone();
                sorted.sort_unstable();
                let reached = sorted[self.seat.nodes - self.seat.majority()];
                if reached > self.confirmed {
                    self.confirmed = reached;
                    out.push(Output::Acted(self.mark(), reached));
                }
            }
            Message::Behind(epoch) if epoch > self.epoch => {
                self.adopt(epoch, out);
                self.follow(now, None);
            }
            Message::Election
            | Message::Answer
            | Message::Grant(_)
            | Message::Heard(..)
            | Message::Behind(_) => {}
        }
    }

    const fn mark(&self) -> Mark {
        Mark {
            number: self.epoch,
            node: 0,
        }
    }

    fn timeout(&mut self, now: Instant, out: &mut Outputs) {
        if self.lapses() <= now {
            self.follow(now, None);
        }
        if self.leads() && self.beat_at <= now {
            let beat = Message::Beat(self.epoch, now);
            out.extend(self.seat.others().map(|to| Output::Send(to, beat)));
            self.beat_at = now + self.setup.timing.beat;
        }
        if self.ends > now || self.leads() && self.stage == Stage::Settled {
            return;
        }
        match self.stage {
            Stage::Asking => self.won(now, out),
            Stage::Waiting if !self.setup.rules.keeps(Rule::AskAgain) => {
                self.ends = Instant::FOREVER;
            }
            Stage::Settled | Stage::Waiting | Stage::Claiming => self.elect(now, out),
        }
    }
}

impl Classic for Bully {
    type Message = Message;
    type Record = u64;
    type Setup = Setup;

    fn boot(setup: &Setup, seat: Seat, stored: Option<u64>) -> Self {
        Self {
            seat,
            setup: *setup,
            stage: Stage::Settled,
            ends: seat.now,
            leader: None,
            beat_at: Instant::FOREVER,
            epoch: stored.unwrap_or(0),
            grants: vec![false; seat.nodes],
            heard: vec![Instant::ZERO; seat.nodes],
            confirmed: Instant::ZERO,
        }
    }

    fn handle(&mut self, now: Instant, input: Input<Message>, out: &mut Outputs) {
        match input {
            Input::Begin => self.elect(now, out),
            Input::Hear(from, message) => self.hear(now, from, message, out),
            Input::Timeout => self.timeout(now, out),
        }
    }

    fn deadline(&self) -> Instant {
        let settled = self.leads() && self.stage == Stage::Settled;
        let ends = if settled { Instant::FOREVER } else { self.ends };
        let beat = if self.leads() {
            self.beat_at
        } else {
            Instant::FOREVER
        };
        ends.min(beat).min(self.lapses())
    }

    fn standing(&self, now: Instant) -> Standing {
        let mark = self.setup.guard.then(|| self.mark());
        match self.leader {
            Some(leader) if leader != self.seat.node => Standing::Following(leader, mark),
            Some(_) if self.lapses() > now => Standing::Leading(mark, self.lapses()),
            _ => Standing::Unknown,
        }
    }

    fn elects(message: &Message) -> bool {
        !matches!(message, Message::Beat(..) | Message::Heard(..))
    }
}
