//! Raft (Ongaro & Ousterhout, "In Search of an Understandable Consensus Algorithm"; Ongaro's thesis): leader election, with
//! pre-vote (thesis §9.6) and CheckQuorum grown into a lease; and, where [`Config::replication`] says so, the replicated log
//! with snapshots, reads, membership changes and leadership transfer.
//!
//! **Who leads, who takes over, what stops the old leader.** Who has the votes of a majority for its term, for as long as a majority
//! answers its rounds. A follower that heard nothing for an election timeout, once a majority would vote for it. Its own clock,
//! before anybody else can be elected (safe mode); the term is the token with which a resource refuses the rest.
//!
//! **What it costs.** A round to each follower at every heartbeat, and the answers; three or five nodes with disks, and no other
//! system. An election writes a vote on each disk that takes part.
//!
//! **When it suffices.** Where the nodes are few, know each other, and should depend on nothing else.
//!
//! **What breaks it.** A majority that is down or apart: nobody leads. A disk that loses what it confirmed, or clocks beyond the
//! bound of their rates: two may lead.
//!
//! **Invariants**, each checked by tests and simulator from outside:
//! - INV-E1 at most one node is ever elected in a term;
//! - INV-E2 a node grants at most one candidate a term, across restarts, and a grant leaves it only when durable;
//! - INV-E3 a node's durable term never falls, and it sends nothing of a term above it;
//! - INV-E5 a leader's log has every entry that was committed in an earlier term;
//! - INV-E6 a node's elections and depositions alternate, with rising tokens;
//! - INV-L1 to INV-L5 logs agree, what is committed is final and on a majority's disks: see `replicate` and `lead`;
//! - INV-L6 any two quorums that decide meet, also while the group changes: see `change`;
//! - INV-S1 two nodes never believe to lead at one instant of true time, while clock rates stay within ρ (safe mode);
//! - INV-R2 no read is answered below the newest commit that was acknowledged before it was asked.
//!
//! **Why INV-S1 holds.** A leader may act as long as a majority covers it: each voter of it answered a round sent at some
//! `s`, promising from the receipt on (not before `s`) neither to vote nor to stand for its own `E`. It reads a clock that
//! may be a grain `g` behind, so that a promise may begin, and end, that much too early: what it tells is `P = E − g`. It
//! covers the leader until `s + L` with `L = P(1 − ρ)/(1 + ρ) − h`, where `h` is the grain of the leader's clock, by which
//! a belief may end too late; `s` itself, read late, errs to the safe side. Neither needs to know the other's grain.
//! Another leader of a later term needs votes of a majority, hence of one that covers the first. That one votes only after
//! `P` on its own true clock, which in true time is not before its cover ends on the leader's; or it had voted before it
//! was asked, and then it is in the later term and refuses the round. The leader's own vote is bound by its own promise. A
//! restarted voter waits its promise out, also one that was longer than its present ones, and a grain more, for the clock
//! of the present life may be the coarser. A promise may be cleared early by `Release(t)` only when the leader of `t` has
//! stopped; a promise to an earlier leader that was extended to the one of `t` goes with it, for a leader of `t` was
//! elected only when every earlier cover was over.
//!
//! **While the group changes.** A rival is elected by the configuration that its log ends with. That is the last committed
//! one or the one that the leader has just begun. An older one wins nothing, for a quorum of the next holds the entry that
//! it lacks; nor does one that an earlier leader had begun, for before this leader began its own, a quorum held an entry of
//! its term. The lease is backed by a quorum of the leader's newest configuration or, until that is committed, of the one
//! before, which is. Any two quorums of these meet (INV-L6), so that the argument above finds its voter. It would not
//! across two changes; hence a leader counts its lease anew, by the present configuration, before it begins the next.
//!
//! **When leadership is handed over.** Whoever hands over has stopped, for good in its term, before it says so, and a
//! release that others relay says no more than that. The successor it names asks for votes without pre-votes; those decide
//! nothing, and each vote is bound by its voter's promise as always, but for the promise to the leader that stopped.
//!
//! Rules `RL-n` are the project's own, learned by breaking a prototype:
//! RL-1 an answer names the term it answers · RL-2 a promise outlives term adoption, and under it votes are refused
//! without adopting · RL-3 `Release(t)` clears only a promise to `t` · RL-4 to RL-7 what a candidate lacks it takes from the
//! best log of a quorum, with that node's term, in one write: see `suffix` · RL-8 pre-vote needs a named term above the own;
//! a term refusal is adopted, then the retry draw is waited for · RL-9 equal rivals: the lower id steps back once per
//! leader silence · RL-10 pre-votes are asked early, real votes start when the promises have run out · RL-11 before
//! establishment a leader has `L` from its election; votes are not promises · RL-12 after a refusal entries are sent without
//! optimism, and older refusals count for nothing.
//!
//! One file an idea: [`Config`], [`Timing`], [`Priority`] and [`Replication`] (parameters), [`Write`] and [`Stored`] (what is
//! durable), [`Message`], [`Rule`] (switches), and inside: `boot`, `receive` (which message goes where), `durable` (law C1);
//! `prevote`, `suffix`, `vote`, `heartbeat` (promise and lease), `release`, `transfer`; `replicate` (the follower), `lead` (the
//! leader), `snapshot`, `read`; `members` (the configurations in the log), `change` (who takes part); `refuse`, `explore`
//! (law C10).

mod boot;
mod change;
mod config;
mod durable;
mod explore;
mod heartbeat;
mod lead;
mod members;
mod message;
mod prevote;
mod read;
mod receive;
mod record;
mod refuse;
mod release;
mod replicate;
mod rules;
mod snapshot;
mod suffix;
mod ticked;
mod transfer;
mod vote;

pub use change::ChangeRefused;
pub use config::{
    Config, ConfigError, MAX_INDEX, MAX_LEAP, MAX_TERM, MAX_TIMEOUT, PPM, Priority, Replication,
    Timing,
};
pub use explore::View;
pub use heartbeat::{Lease, Promise};
pub use lead::{Pace, Progress, ProposeError};
pub use members::Members;
pub use message::{Better, Carries, Entries, Message, Stamp};
pub use read::{Leased, ReadError, Served};
pub use record::{Boot, LogWrite, Record, Stored, Write};
pub use refuse::{Refusal, Refusals};
pub use rules::{Faithful, Invariant, Rule, Rules, Switched};
pub use snapshot::CompactError;
pub use transfer::TransferError;

use crate::fence::Holder;
use crate::log::{Position, Shape};
use crate::membership::Membership;
use crate::random::Random;
use crate::{
    Duration, Election, Event, Input, Instant, Leader, NodeId, Output, Standing, Tenure, Token,
};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::hash::Hasher;
use durable::Durable;
use read::Reads;
use suffix::Lacking;
use transfer::Transfer;

/// One voter's Raft election. `Raft` is `Raft<Faithful>`; other rule sets are for learning and testing.
#[derive(Clone, Debug)]
pub struct Raft<R: Rules = Faithful> {
    config: Config,
    rules: R,
    random: Random,
    /// The latest `now` seen. **Invariant:** never falls.
    now: Instant,
    /// What a whole promise of this node's length is worth as a lease.
    lease: Duration,
    /// Term, vote and promise, as last decided. **Invariant:** `durable` knows how much of it the disk holds.
    record: Record,
    durable: Durable,
    log: Shape,
    /// The configurations in the log.
    members: Members,
    /// Who takes part. **Invariant:** the newest of `members`, or the configured voters when there is none.
    membership: Arc<Membership>,
    /// Up to where the log is committed. **Invariant:** never falls, and never passes the end of the log.
    commit: u64,
    /// Follower: up to where the log agrees with that of the leader of `record.term`.
    matched: u64,
    /// Follower: when the newest entries were sent that the leader waits to see acknowledged.
    owed: Option<Instant>,
    /// Follower: up to where the leader was told that the log is durable.
    acknowledged: u64,
    role: Role,
    /// Who leads `record.term`, as far as known. **Invariant:** this node itself while its role is leader.
    leader: Option<NodeId>,
    /// Until when this node neither votes nor stands. `None` once cleared; may lie in the past.
    promise: Option<Promise>,
    /// What each member said to the present attempt, round or question, by its place in the membership; empty for a
    /// follower.
    heard: Box<[Heard]>,
    /// Leader: what each member's log is known to have, by its place; empty without a log.
    progress: Vec<Progress>,
    /// Leader: whether anything may be due to be said to the followers, and to whom first.
    unsent: bool,
    cursor: usize,
    /// Leader: the number of the newest round.
    round: u64,
    /// The reads that wait; `None` until the first is asked.
    reads: Option<Box<Reads>>,
    /// Leader: when it last sent anything that is answered with a promise.
    spoke: Instant,
    /// Pre-candidate: the better logs it heard of, and what it asked of the best; `None` while there is none.
    lacking: Option<Box<Lacking>>,
    /// How many grants the present attempt has.
    grants: u32,
    /// When the present attempt was asked, the last round sent, or the timer armed.
    armed_at: Instant,
    /// When something is due. `None` while a candidate waits for its disk.
    due: Option<Instant>,
    /// Pre-candidate: when the first attempt of this candidacy was asked. Leader: when it was elected.
    began: Instant,
    /// Leader: when it must stop, renewed by majority rounds.
    until: Instant,
    /// Leader: whether a majority has answered in this term, so that `until` is a lease.
    covered: bool,
    /// Leader: whether it may act.
    established: bool,
    /// Leader: to whom it hands over, once that one has its whole log. **Invariant:** `None` for everybody else.
    transfer: Option<Transfer>,
    /// The index as of which a voter said that this node is no member; 0 for none. Cleared when a leader speaks to it.
    excluded: u64,
    /// The highest term whose leader said that it stopped leading.
    released: u64,
    /// Whether this node has stepped back from a rival since it last heard a leader (RL-9).
    yielded: bool,
    /// Candidacies that failed since a leader was last known, the own ones and those that were voted for.
    failed: u8,
    halted: bool,
    refusals: refuse::Counter,
    outbox: VecDeque<Output<Message, Write>>,
}

/// What a node is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Follows, or waits for somebody to follow.
    Follower,
    /// Asks whether it would be voted for.
    PreCandidate,
    /// Asks for votes in a term of its own.
    Candidate,
    /// Was elected in its term; acts once established.
    Leader,
}

/// What one voter said. Its meaning goes with the role; cleared when the role changes.
#[derive(Clone, Copy, Debug)]
struct Heard {
    /// Pre-candidate: when the voter will be free to vote. Leader: until when its promise covers the leader.
    at: Instant,
    granted: bool,
}

impl Heard {
    const NOTHING: Self = Self {
        at: Instant::ZERO,
        granted: false,
    };
}

impl<R: Rules> Raft<R> {
    /// This node.
    #[must_use]
    pub fn id(&self) -> NodeId {
        self.config.id
    }

    /// Its parameters.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What it is doing.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// Whether it leads, a majority has answered in its term, and, where there is a log, an entry of its term is
    /// committed. Authorises nothing: see [`Election::standing`].
    #[must_use]
    pub fn established(&self) -> bool {
        self.role == Role::Leader && self.established
    }

    /// Whether a durable write ended unknown, so that this incarnation acts no more.
    #[must_use]
    pub fn halted(&self) -> bool {
        self.halted
    }

    /// Its term; rises only, and may be ahead of the disk by the records that are [`pending`](Self::pending).
    #[must_use]
    pub fn term(&self) -> u64 {
        self.record.term
    }

    /// Whom it voted for in its term.
    #[must_use]
    pub fn vote(&self) -> Option<NodeId> {
        self.record.vote
    }

    /// Who leads its term, as far as it knows; itself when it does.
    #[must_use]
    pub fn leader(&self) -> Option<NodeId> {
        self.leader
    }

    /// How many votes or pre-votes the present attempt has, its own included; 0 when it does not stand.
    #[must_use]
    pub fn grants(&self) -> usize {
        self.grants as usize
    }

    /// When the running timer was armed: with [`Election::deadline`] it tells how much of it has passed.
    #[must_use]
    pub fn armed_at(&self) -> Instant {
        self.armed_at
    }

    /// The end of its log.
    #[must_use]
    pub fn last(&self) -> Position {
        self.log.last()
    }

    /// The durable record as last decided; the newest request to the disk carries it.
    #[must_use]
    pub fn record(&self) -> Record {
        self.record
    }

    /// How many writes the disk has not answered yet.
    #[must_use]
    pub fn pending(&self) -> u64 {
        self.durable.pending()
    }

    /// Who this life of this node is to a guarded resource.
    #[must_use]
    pub fn holder(&self) -> Holder {
        Holder {
            node: self.config.id,
            incarnation: self.incarnation(),
        }
    }

    /// What was refused so far, by reason.
    #[must_use]
    pub fn refusals(&self) -> &Refusals {
        self.refusals.counts()
    }

    #[inline(always)]
    fn keeps(&self, rule: Rule) -> bool {
        self.rules.keeps(rule)
    }

    /// The token of a term.
    fn token(&self, term: u64) -> Token {
        Token::new(self.config.generation, term)
    }

    fn event(&mut self, event: Event) {
        self.outbox.push_back(Output::Event(event));
    }

    /// A draw in `low..=high`, never zero: a deadline must lie after the call that set it (law C2).
    fn draw(&mut self, (low, high): (Duration, Duration)) -> Duration {
        let drawn = if self.keeps(Rule::RedrawPerAttempt) {
            self.random.duration(low, high)
        } else {
            low
        };
        drawn.max(Duration::from_micros(1))
    }

    /// Arms the timer, once, for `span` from now.
    fn arm(&mut self, span: Duration) {
        self.armed_at = self.now;
        self.due = Some(self.now + span);
    }

    /// Learns who leads the present term, or that nobody known does.
    fn follow(&mut self, leader: Option<NodeId>) {
        if self.leader == leader {
            return;
        }
        let reported = self.leader.is_some_and(|node| node != self.config.id);
        self.leader = leader;
        self.fail_reads();
        match leader {
            Some(node) => self.event(Event::Following(Some(Leader {
                node,
                token: self.token(self.record.term),
            }))),
            None if reported => self.event(Event::Following(None)),
            None => {}
        }
    }

    /// Enters a higher term as a follower (Raft §5.1). The caller arms the timer.
    fn adopt(&mut self, term: u64) {
        debug_assert!(term > self.record.term && term <= MAX_TERM);
        if self.role == Role::Leader {
            self.depose(crate::Why::HigherTerm, None);
        }
        self.follow(None);
        self.step_back();
        self.record.term = term;
        self.durable.changed = true;
        (self.matched, self.owed, self.acknowledged) = (0, None, 0);
        if self.keeps(Rule::NewTermNewVote) {
            // A vote of an older term never blocks one in a newer term.
            self.record.vote = None;
        }
        if !self.keeps(Rule::PromiseOutlivesTerm) {
            self.promise = None;
        }
        // What waits for the disk speaks of a term that is over.
        self.durable.forget_held();
    }

    /// Becomes a follower of the present term. The caller arms the timer.
    fn step_back(&mut self) {
        self.role = Role::Follower;
        self.progress.clear();
        self.heard.fill(Heard::NOTHING);
        self.grants = 0;
        self.unsent = false;
        // A transfer dies with the leadership (hashicorp/raft#696).
        self.transfer = None;
    }

    /// What the member at `place` said.
    fn heard_of(&self, place: usize) -> Heard {
        self.heard.get(place).copied().unwrap_or(Heard::NOTHING)
    }

    fn clear_heard(&mut self) {
        let members = self.membership.members().len();
        if self.heard.len() == members {
            self.heard.fill(Heard::NOTHING);
        } else {
            self.heard = vec![Heard::NOTHING; members].into_boxed_slice();
        }
        self.lacking = None;
        self.grants = 0;
    }

    /// Takes note of the time. Law C4: what has lapsed is over before anything else is looked at.
    fn at(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.lapse();
        self.drop_late_transfer();
    }

    /// Says `message` to every other member.
    fn broadcast(&mut self, message: &Message) {
        self.say_to(message, |_, _| true);
    }

    /// Says `message` to every other voter.
    fn broadcast_to_voters(&mut self, message: &Message) {
        self.say_to(message, Membership::votes);
    }

    fn say_to(&mut self, message: &Message, whom: impl Fn(&Membership, usize) -> bool) {
        for place in 0..self.membership.members().len() {
            let to = self.membership.members()[place].id;
            if to != self.config.id && whom(&self.membership, place) {
                self.send(to, message.clone());
            }
        }
    }
}

impl<R: Rules> Election for Raft<R> {
    type Peer = Message;
    type Request = Write;
    type Reply = ();

    fn handle(&mut self, now: Instant, input: Input<Message, ()>) {
        if self.halted {
            return;
        }
        self.at(now);
        match input {
            Input::Campaign => self.campaign(),
            Input::Peer(from, message) => self.receive(from, message),
            Input::Reply(ticket, result) => self.on_reply(ticket, result),
            Input::Resign { to } => self.resign(to),
            Input::Timeout => {
                if self.deadline().is_some_and(|deadline| deadline <= self.now) {
                    self.on_timeout();
                }
            }
        }
        self.persist();
    }

    fn poll(&mut self) -> Option<Output<Message, Write>> {
        if let Some(output) = self.outbox.pop_front() {
            return Some(output);
        }
        // What is made only now: entries, and after them what reads call for.
        if self.unsent
            && let Some(append) = self.next_append()
        {
            return Some(append);
        }
        if self.reads.is_some() && self.pose_reads() {
            return self.outbox.pop_front();
        }
        None
    }

    fn deadline(&self) -> Option<Instant> {
        if self.halted {
            None
        } else if self.role == Role::Leader {
            // `until` is `FOREVER` outside safe mode.
            self.due.map(|due| {
                let due = self
                    .transfer
                    .map_or(due, |transfer| due.min(transfer.until));
                if self.keeps(Rule::LapseDeposes) {
                    due.min(self.until)
                } else {
                    due
                }
            })
        } else {
            self.due
        }
    }

    fn grain(&self) -> Duration {
        self.config.timing.grain
    }

    fn standing(&self, now: Instant) -> Standing {
        let now = self.now.max(now);
        if self.halted {
            return Standing::Unknown;
        }
        match (self.role, self.leader) {
            (Role::Leader, _) if self.established && now < self.until => {
                Standing::Leading(Tenure {
                    token: self.token(self.record.term),
                    until: self.until,
                })
            }
            (Role::Follower, Some(node)) => Standing::Following(Leader {
                node,
                token: self.token(self.record.term),
            }),
            _ => Standing::Unknown,
        }
    }

    fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        self.view(now, View::PLAIN, hasher);
    }
}

impl<R: Rules> Raft<R> {
    fn on_timeout(&mut self) {
        match self.role {
            Role::Leader => self.send_round(),
            // Its own vote may be on the way to somebody: it waits for the disk, and lets it leave.
            Role::Follower if self.pending() > 0 => self.retry_later(),
            Role::Follower => self.stand(),
            Role::PreCandidate => self.pre_vote_due(),
            Role::Candidate => {
                self.failed = self.failed.saturating_add(1);
                self.stand();
            }
        }
    }
}
