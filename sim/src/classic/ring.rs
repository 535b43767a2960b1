//! The ring of Chang and Roberts (1979), with repair and a timer. Teaching only: unsafe under partitions and slow nodes.
//!
//! The nodes stand in a ring, in any order, and each talks to the next one only. Whoever misses the leader sends its number
//! round. A node passes higher numbers on and replaces lower ones by its own, or swallows them if its own is under way.
//! So only the highest comes back to its owner, which then sends round that it leads.
//!
//! The three questions. *Who leads:* the highest number that takes part. *Who takes over:* the next highest, after a round
//! of the ring. *What stops the old leader:* that its sign of life meets a higher one, where both are on one ring.
//!
//! The algorithm itself stands on a ring that never breaks. Real ones do, so three things are added, each with its rule:
//! a token that the next node does not take is given to the one after it, and that node is left out for a while
//! ([`Rule::RingRepair`]); an election that does not end is begun again, for its token died with a node
//! ([`Rule::RestartTimer`]); and no token goes further than round, for its owner may be dead.
//!
//! What it lacks. Repair takes silence for death: cut the group in two, and each side closes a ring of its own and elects.
//! There is no epoch, hence no token for a resource; no majority; and one message that is lost between two rings leaves
//! nodes with different opinions until the next sign of life comes round.
//!
//! Messages where all begin at once: the number of the `k`-th highest of `n` goes at most `k` steps, so that from `2n−1` to
//! `n(n+1)/2` are needed to elect, `n·Hₙ ≈ n ln n` on average over the orders of the ring; and `n` to announce. Where only
//! one begins, at most `2n−1` to elect.

use super::{Classic, Input, Output, Rule, Seat, Standing, Switched, Timing};
use tenure::rules::Rules;
use tenure::{Duration, Instant};

/// How long a node that did not take a token is left out.
const LEFT_OUT: Duration = Duration::from_millis(200);

/// What goes round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// This is the highest so far.
    Election(usize),
    /// This one leads.
    Elected(usize),
    /// This one leads still.
    Beat(usize),
}

/// What a node says to the next, and what that says back.
#[derive(Clone, Copy, Debug)]
pub enum Message {
    /// Pass it on. It was passed on so often.
    Token {
        /// Its number among the sender's.
        serial: u64,
        /// What it says.
        word: Word,
        /// How far it came.
        hops: usize,
    },
    /// I have the one of that number.
    Taken(u64),
}

/// What all nodes are built from.
#[derive(Clone, Debug)]
pub struct Setup {
    /// How long they wait.
    pub timing: Timing,
    /// The nodes in the order in which they stand.
    pub order: Vec<usize>,
    /// The rules that are on.
    pub rules: Switched,
}

/// A token that the next node has not taken yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    serial: u64,
    to: usize,
    until: Instant,
    word: Word,
    hops: usize,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Ring {
    seat: Seat,
    timing: Timing,
    rules: Switched,
    /// The others, from the next one on.
    after: Vec<usize>,
    /// By place in that: until when it is left out.
    out_until: Vec<Instant>,
    pending: Vec<Pending>,
    serial: u64,
    participant: bool,
    leader: Option<usize>,
    /// When a participant begins again; when anybody else takes the leader for dead.
    ends: Instant,
    /// The next sign of life, while it leads.
    beat_at: Instant,
}

type Outputs = Vec<Output<Message, ()>>;

impl Ring {
    const fn leads(&self) -> bool {
        matches!(self.leader, Some(leader) if leader == self.seat.node)
    }

    fn elect(&mut self, now: Instant, out: &mut Outputs) {
        self.leader = None;
        self.participate(now);
        self.pass(now, Word::Election(self.seat.node), 0, out);
    }

    fn participate(&mut self, now: Instant) {
        self.participant = true;
        self.ends = if self.rules.keeps(Rule::RestartTimer) {
            now + self.timing.suspect
        } else {
            Instant::FOREVER
        };
    }

    fn follow(&mut self, now: Instant, leader: usize) {
        self.participant = false;
        self.leader = Some(leader);
        self.ends = now + self.timing.suspect;
    }

    fn lead(&mut self, now: Instant, out: &mut Outputs) {
        self.participant = false;
        self.leader = Some(self.seat.node);
        self.beat_at = now + self.timing.beat;
        self.pass(now, Word::Elected(self.seat.node), 0, out);
    }

    /// Gives a token to the next one that is there.
    fn pass(&mut self, now: Instant, word: Word, hops: usize, out: &mut Outputs) {
        // Its owner may be dead: then nobody else takes it off the ring.
        if hops > self.seat.nodes {
            return;
        }
        let next = (0..self.after.len()).find(|place| self.out_until[*place] <= now);
        let Some(to) = next.map(|place| self.after[place]) else {
            // A ring of one: what is sent comes back at once.
            if word == Word::Election(self.seat.node) {
                self.participant = false;
                self.leader = Some(self.seat.node);
                self.beat_at = now + self.timing.beat;
            }
            return;
        };
        self.serial += 1;
        let serial = self.serial;
        out.push(Output::Send(to, Message::Token { serial, word, hops }));
        self.pending.push(Pending {
            serial,
            to,
            until: now + self.timing.answer,
            word,
            hops,
        });
    }

    /// What was not taken in time goes to the one after.
    fn repair(&mut self, now: Instant, out: &mut Outputs) {
        let (late, kept) = (self.pending.iter()).partition(|pending| pending.until <= now);
        self.pending = kept;
        let late: Vec<Pending> = late;
        if !self.rules.keeps(Rule::RingRepair) {
            return;
        }
        for pending in &late {
            self.set_out(pending.to, now + LEFT_OUT);
        }
        for pending in late {
            self.pass(now, pending.word, pending.hops, out);
        }
    }

    fn set_out(&mut self, node: usize, until: Instant) {
        if let Some(place) = self.after.iter().position(|other| *other == node) {
            self.out_until[place] = until;
        }
    }

    fn hear(&mut self, now: Instant, word: Word, hops: usize, out: &mut Outputs) {
        let me = self.seat.node;
        match word {
            Word::Election(who) if who == me => {
                // One that it gave up meanwhile proves nothing any more.
                if self.participant {
                    self.lead(now, out);
                }
            }
            Word::Election(who) if who > me => {
                self.participate(now);
                self.pass(now, word, hops, out);
            }
            Word::Election(_) if !self.participant => {
                self.participate(now);
                self.pass(now, Word::Election(me), 0, out);
            }
            Word::Election(_) => {
                if !self.rules.keeps(Rule::SwallowLower) {
                    self.pass(now, word, hops, out);
                }
            }
            Word::Elected(who) | Word::Beat(who) if who == me => {}
            Word::Elected(who) => {
                self.follow(now, who);
                self.pass(now, word, hops, out);
            }
            Word::Beat(who) if self.leads() && who < me => self.elect(now, out),
            Word::Beat(who) => {
                self.follow(now, who);
                self.pass(now, word, hops, out);
            }
        }
    }
}

impl Classic for Ring {
    type Message = Message;
    type Record = ();
    type Setup = Setup;

    fn boot(setup: &Setup, seat: Seat, _: Option<()>) -> Self {
        let order = &setup.order;
        let place = order.iter().position(|node| *node == seat.node);
        let from = place.map_or(0, |place| place + 1);
        let round = order.iter().cycle().skip(from);
        let others = seat.nodes.saturating_sub(1);
        Self {
            seat,
            timing: setup.timing,
            rules: setup.rules,
            after: round.take(others).copied().collect(),
            out_until: vec![Instant::ZERO; others],
            pending: Vec::new(),
            // A former life's may still be answered.
            serial: seat.life << 32,
            participant: false,
            leader: None,
            ends: Instant::FOREVER,
            beat_at: Instant::FOREVER,
        }
    }

    fn handle(&mut self, now: Instant, input: Input<Message>, out: &mut Outputs) {
        match input {
            Input::Begin if self.seat.life == 1 => self.elect(now, out),
            // Who starts again listens first: there may be a leader.
            Input::Begin => self.ends = now + self.timing.suspect,
            Input::Hear(from, message) => {
                self.set_out(from, Instant::ZERO);
                match message {
                    Message::Token { serial, word, hops } => {
                        out.push(Output::Send(from, Message::Taken(serial)));
                        self.hear(now, word, hops + 1, out);
                    }
                    Message::Taken(serial) => {
                        self.pending.retain(|pending| pending.serial != serial);
                    }
                }
            }
            Input::Timeout => {
                self.repair(now, out);
                if self.leads() {
                    if self.beat_at <= now {
                        self.beat_at = now + self.timing.beat;
                        self.pass(now, Word::Beat(self.seat.node), 0, out);
                    }
                } else if self.ends <= now {
                    self.elect(now, out);
                }
            }
        }
    }

    fn deadline(&self) -> Instant {
        let own = if self.leads() {
            self.beat_at
        } else {
            self.ends
        };
        let late = self.pending.iter().map(|pending| pending.until).min();
        late.map_or(own, |late| late.min(own))
    }

    fn standing(&self, _: Instant) -> Standing {
        match self.leader {
            Some(leader) if leader == self.seat.node => Standing::Leading(None, Instant::FOREVER),
            Some(leader) => Standing::Following(leader, None),
            None => Standing::Unknown,
        }
    }

    fn elects(message: &Message) -> bool {
        let Message::Token { word, .. } = message else {
            return false;
        };
        !matches!(word, Word::Beat(_))
    }
}
