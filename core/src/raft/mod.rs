//! Raft's leader election (Ongaro & Ousterhout, "In Search of an Understandable Consensus Algorithm", §5.2 and §5.4.1;
//! pre-vote from Ongaro's thesis, §9.6), with CheckQuorum grown into a lease.
//!
//! **Invariants**, each checked by tests and simulator from outside:
//! - INV-E1 at most one node is ever elected in a term;
//! - INV-E2 a node grants at most one candidate a term, across restarts, and a grant leaves it only when durable;
//! - INV-E3 a node's durable term never falls, and it sends nothing of a term above it;
//! - INV-E6 a node's elections and depositions alternate, with rising tokens;
//! - INV-S1 two nodes never believe to lead at one instant of true time, while clock rates stay within ρ (safe mode);
//! - INV-R2 no read is answered below the newest commit that was acknowledged before it was asked.
//!
//! **Why INV-S1 holds.** A leader may act as long as a majority covers it: each voter of it answered a round sent at some
//! `s`, promising from the receipt on (not before `s`) neither to vote nor to stand for its own `E`, and covers the leader
//! until `s + L` with `L = E(1 − ρ)/(1 + ρ)` less two grains of the clock. Another leader of a later term needs votes of a
//! majority, hence of one that covers the first. That one votes only after `E` on its own clock, which in true time is
//! not before its cover ends on the leader's; or it had voted before it was asked, and then it is in the later term and
//! refuses the round. The leader's own vote is bound by its own promise; a restarted voter waits its promise out, also
//! one that was longer than its present ones. A promise may be cleared early by `Release(t)` only when the leader of `t`
//! has stopped; a promise to an earlier leader that was extended to the one of `t` goes with it, for a leader of `t` was
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
//! without adopting · RL-3 `Release(t)` clears only a promise to `t` · RL-8 pre-vote needs a named term above the own;
//! a term refusal is adopted, then the retry draw is waited for · RL-9 equal rivals: the lower id steps back once per
//! leader silence · RL-10 pre-votes are asked early, real votes start when the promises have run out · RL-11 before
//! establishment a leader has `L` from its election; votes are not promises.
//!
//! One file an idea: [`Config`], [`Timing`] and [`Priority`] (parameters), [`Record`] (what is durable), [`Message`],
//! [`Rule`] (switches), and inside: `durable` (law C1), `prevote`, `suffix`, `vote`, `heartbeat` (promise and lease), `read`,
//! `release`, `change` (who takes part), `transfer`, `refuse`, `explore` (law C10).

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
mod record;
mod refuse;
mod release;
mod replicate;
mod rules;
mod snapshot;
mod suffix;
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
pub use message::{Better, Entries, Message, Stamp};
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
    /// What each member said to the present attempt, round or question, by its place in the membership.
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
    refusals: Refusals,
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

impl Raft {
    /// A voter that keeps every rule.
    ///
    /// With a durable record it first waits out the longest promise it may have given (law C5); without one it never ran.
    ///
    /// # Errors
    /// An unsafe pair of parameters, or a record or log that cannot be this node's; each with its remedy.
    pub fn new(config: Config, boot: Boot, now: Instant) -> Result<Self, ConfigError> {
        Self::with_rules(config, boot, now, Faithful)
    }
}

impl<R: Rules> Raft<R> {
    /// A voter with some rules switched off.
    ///
    /// # Errors
    /// As [`Raft::new`].
    pub fn with_rules(
        config: Config,
        boot: Boot,
        now: Instant,
        rules: R,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        let Boot {
            stored,
            incarnation,
            seed,
        } = boot;
        if incarnation == 0 {
            return Err(ConfigError::IncarnationZero);
        }
        let Stored {
            mut record,
            log,
            members,
        } = stored.unwrap_or_default();
        if record.term > MAX_TERM {
            return Err(ConfigError::RecordTerm(record.term));
        }
        if let Some(id) = record.vote.filter(|_| record.term == 0) {
            return Err(ConfigError::RecordVote(id));
        }
        if record.promise > MAX_TIMEOUT {
            return Err(ConfigError::RecordPromise(record.promise));
        }
        if record.generation > config.generation {
            let (recorded, configured) = (record.generation, config.generation);
            return Err(ConfigError::GenerationFell {
                recorded,
                configured,
            });
        }
        if log.last().term > record.term {
            return Err(ConfigError::LogBeyondRecord {
                log: log.last().term,
                record: record.term,
            });
        }
        if log.last().index > MAX_INDEX {
            return Err(ConfigError::LogTooLong(log.last().index));
        }
        let (change, end) = (members.newest_index(), log.last().index);
        if change > end {
            return Err(ConfigError::MembersBeyondLog { change, log: end });
        }
        let membership = members.newest().cloned();
        let membership = membership.unwrap_or_else(|| Arc::new(Membership::new(&config.voters)));
        let membership = change::in_force(&rules, membership);
        let mut durable = Durable::new(incarnation, log.last().index);
        // A raised generation is written with the first record of this life, before anything is said in it.
        durable.changed = record.generation != config.generation;
        record.generation = config.generation;
        let mut raft = Self {
            random: Random::new(seed, config.id, incarnation),
            now,
            lease: config.timing.lease(config.timing.election_min),
            record,
            durable,
            commit: log.base().index,
            log,
            members,
            matched: 0,
            owed: None,
            acknowledged: 0,
            role: Role::Follower,
            leader: None,
            promise: None,
            heard: membership
                .members()
                .iter()
                .map(|_| Heard::NOTHING)
                .collect(),
            membership,
            progress: Vec::new(),
            unsent: false,
            cursor: 0,
            round: 0,
            reads: None,
            spoke: now,
            lacking: None,
            grants: 0,
            armed_at: now,
            due: None,
            began: now,
            until: Instant::ZERO,
            covered: false,
            established: false,
            transfer: None,
            excluded: 0,
            released: 0,
            yielded: false,
            failed: 0,
            halted: false,
            refusals: Refusals::default(),
            // A follower at rest queues one answer and at most one record.
            outbox: VecDeque::with_capacity(2),
            config,
            rules,
        };
        if raft.keeps(Rule::PromiseOutlivesRestart) {
            raft.wait_out_promises();
        }
        raft.await_leader();
        Ok(raft)
    }

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
        &self.refusals
    }

    #[inline(always)]
    fn keeps(&self, rule: Rule) -> bool {
        self.rules.keeps(rule)
    }

    /// Who takes part, as far as this node knows: the newest configuration in its log, committed or not.
    #[must_use]
    pub fn membership(&self) -> &Membership {
        &self.membership
    }

    /// The own place in the membership; `None` when it is no member.
    fn own_place(&self) -> Option<usize> {
        self.membership.place(self.config.id)
    }

    /// Whether this node votes for itself: a voter of either half does (scylladb#10618).
    fn votes(&self) -> bool {
        self.is_voter(self.config.id)
    }

    /// The own place in the membership when it votes; also one that stands may have no vote.
    fn own_vote(&self) -> Option<usize> {
        self.own_place().filter(|own| self.membership.votes(*own))
    }

    fn is_voter(&self, id: NodeId) -> bool {
        self.membership
            .place(id)
            .is_some_and(|place| self.membership.votes(place))
    }

    /// The configuration that counted as of `index`.
    fn as_of(&self, index: u64) -> Arc<Membership> {
        match self.members.as_of(index) {
            Some(membership) => membership.clone(),
            None => Arc::new(Membership::new(&self.config.voters)),
        }
    }

    /// The newest configuration in the log counts from now on. What members said stays theirs, at their new places.
    fn reconfigure(&mut self) {
        let next = change::in_force(&self.rules, self.newest_configuration());
        let before = core::mem::replace(&mut self.membership, next);
        let (last, now) = (self.log.last().index, self.now);
        let places: Vec<Option<usize>> = self
            .membership
            .members()
            .iter()
            .map(|member| before.place(member.id))
            .collect();
        let heard = |place: &Option<usize>| place.map_or(Heard::NOTHING, |old| self.heard[old]);
        self.heard = places.iter().map(heard).collect();
        if !self.progress.is_empty() {
            let known = |place: &Option<usize>| match place {
                Some(old) => self.progress[*old],
                None => Progress::unknown(last, now),
            };
            self.progress = places.iter().map(known).collect();
            (self.unsent, self.cursor) = (true, 0);
        }
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
        self.unsent = false;
        // A transfer dies with the leadership (hashicorp/raft#696).
        self.transfer = None;
        self.clear_heard();
    }

    fn clear_heard(&mut self) {
        self.heard.fill(Heard::NOTHING);
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

    fn receive(&mut self, from: NodeId, message: Message) {
        let place = self.membership.place(from);
        // A configuration may be news to this node. Without a log it never changes.
        let stranger = place.is_none() && self.config.replication.is_none();
        if from == self.config.id || stranger {
            return self.refusals.add(Refusal::UnknownSender);
        }
        if let Some(reason) = refuse::impossible(&message, self.record.term) {
            return self.refusals.add(reason);
        }
        match message {
            Message::Append {
                term,
                sent,
                prev,
                entries,
                commit,
            } => self.on_append(from, term, sent, prev, entries, commit),
            Message::Commit { term, index } => self.on_commit(from, term, index),
            Message::InstallSnapshot {
                term,
                sent,
                last,
                membership,
            } => self.on_install_snapshot(from, term, sent, last, membership),
            Message::Heartbeat {
                term,
                sent,
                round,
                commit,
            } => self.on_heartbeat(from, term, sent, round, commit),
            Message::RequestPreVote {
                term,
                last,
                sent,
                released,
            } => {
                self.on_request_pre_vote(from, term, last, sent, released);
                self.tell_if_removed(from, term);
            }
            Message::RequestVote {
                term,
                last,
                released,
            } => {
                self.on_request_vote(from, term, last, released);
                self.tell_if_removed(from, term);
            }
            Message::Release { term, to, orderly } => self.on_release(from, term, to, orderly),
            Message::ReadIndexAck {
                term,
                number,
                index,
            } => self.on_read_index_ack(from, term, number, index),
            answer => match place {
                Some(place) => self.receive_answer(place, answer),
                None => self.refusals.add(Refusal::UnknownSender),
            },
        }
    }

    /// What counts for something, or asks for entries, and so only from a member.
    fn receive_answer(&mut self, place: usize, message: Message) {
        match message {
            Message::HeartbeatAck {
                term,
                sent,
                round,
                promise,
                matched,
            } => self.on_heartbeat_ack(place, term, sent, round, promise, matched),
            Message::AppendAck {
                term,
                sent,
                promise,
                matched,
            } => self.on_append_ack(place, term, sent, promise, matched),
            Message::AppendRefused {
                term,
                sent,
                promise,
                prev,
                hint,
            } => self.on_append_refused(place, term, sent, promise, prev, hint),
            Message::PreVoteGranted {
                term,
                remainder,
                sent,
            } => self.on_pre_vote_granted(place, term, remainder, sent),
            Message::VoteGranted { term } => self.on_vote_granted(place, term),
            // Only members are asked: whoever left meanwhile deposes nobody.
            Message::HeartbeatRefused { asked, term } => self.on_refused(Role::Leader, asked, term),
            Message::VoteRefused { asked, term } => self.on_refused(Role::Candidate, asked, term),
            Message::PreVoteRefused {
                asked,
                term,
                better,
            } => {
                self.on_refused(Role::PreCandidate, asked, term);
                if let Some(better) = better {
                    self.on_better_log(place, asked, better);
                }
            }
            Message::NotMember { asked, index } => self.on_not_member(asked, index),
            Message::ReadIndex { term, number } => self.on_read_index(place, term, number),
            Message::Fetch { sent, after, .. } => {
                let from = self.membership.members()[place].id;
                self.on_fetch(from, sent, after);
            }
            Message::Suffix {
                term,
                sent,
                prev,
                entries,
                last,
            } => self.on_suffix(place, term, sent, prev, entries, last),
            Message::SuffixSnapshot {
                term,
                sent,
                base,
                membership,
                last,
            } => self.on_suffix_snapshot(place, term, sent, base, membership, last),
            _ => {}
        }
    }

    /// A refusal of what a node in `role` asked. Only the present question counts (RL-1); a higher term is adopted, and
    /// the retry draw waited for (RL-8).
    fn on_refused(&mut self, role: Role, asked: u64, term: u64) {
        let asking = if role == Role::PreCandidate {
            self.record.term.saturating_add(1)
        } else {
            self.record.term
        };
        if asked > asking {
            return self.refusals.add(Refusal::Unasked);
        }
        if self.role == role && asked == asking && term > self.record.term {
            self.adopt(term);
            self.retry_later();
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
        let append = self.next_append();
        if append.is_none() && self.reads.is_some() && self.pose_reads() {
            return self.outbox.pop_front();
        }
        append
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
