//! KRaft: the quorum of Kafka's controllers, which is Raft told by who asks; and the controller that stands on it.
//!
//! Epochs, votes, an up-to-date log, a majority, pre-votes: as in Raft. What differs is who speaks. Followers *fetch*, and
//! the offset they fetch from is their acknowledgement; a leader hears from them or it does not, and has nothing to send
//! but BeginQuorumEpoch, once when it is elected and then now and then, and EndQuorumEpoch when it goes. Everything is a
//! request and its answer, at most one at a time between two nodes.
//!
//! # The three questions
//! **Who leads.** Whom a majority of the voters voted for in an epoch, each with the disk it was admitted with
//! ([`VoterSet`]). It is *elected* when its disk says that it leads, and *established* when a record of its own epoch is on a
//! majority's disks and its state machine has consumed the log up to there (KC-1): then a controller is active.
//!
//! **Who takes over.** Whose fetch timeout ends first and whom a majority would vote for. A leader that resigns names its
//! successors, the most up-to-date first (KR-S8).
//!
//! **What stops the old leader.** Nothing at once: it stops when no majority has fetched for one and a half fetch timeouts
//! (KR-S6), by itself, which [`Tenure::until`] tells. Followers wait for less than that, so that for a while two may believe:
//! this bounds a belief and is no lease. What fences is the epoch, the token: voters refuse it, and so must every resource.
//!
//! # Invariants
//! Each is checked from outside by the tests of the crate (`tests/kraft`): KR-ElectionSafety, KR-OneVote, KR-LogMatching,
//! KR-LeaderCompleteness, KR-HWMonotone, KR-HWOwnEpoch, KR-PreVoteQuiet, KR-ResignedNoReuse, KC-ClaimAfterCatchup,
//! KC-NoStaleCommand, and of liveness KR-LeaderAgain, KR-LeaderStays, KR-StaleLeaderStops ([`Invariant`]).
//!
//! # What it keeps of the real system, and what not
//! A log is a shape (law C9): an offset is the number of records before it, an *end* the position of the last one. Kafka's
//! event loop waits for its disk; this machine answers when its disk has, which is the same seen from outside. Left out:
//! voters that come and go (KIP-853; a directory is the incarnation of a disk and no more), listeners and endpoints (a node
//! that is a voter can be reached), the cluster id (a host connects no two groups), snapshots in pieces (a snapshot is the
//! whole state and comes in one answer), mixed versions, quotas. Where KIPs differ, the newest is taken.
//!
//! # At a glance
//! **What it costs.** At rest a follower fetches twice a second, and a leader says once a second to each voter that it leads.
//! A record is committed one way later than where a leader pushes: the fetch after the one that brought it acknowledges it.
//! The quorum-state is written when it changes; a dead leader costs a fetch timeout and an election.
//!
//! **When it suffices.** Where many observe and few vote, for whoever fetches costs the leader no state that must be kept; and
//! where a leader must be able to tell by itself that it is cut off. With a guard at the resource, for whatever must not be
//! done by an old leader.
//!
//! **What breaks it.** A disk that loses what it confirmed, or one that was replaced where the voters are named without their
//! directories. A host that says it applied what it did not. Over datagrams an EndQuorumEpoch that overtakes a
//! BeginQuorumEpoch is undone by it, and the hand-over takes a fetch timeout: KRaft was made for connections that keep the
//! order ([`Kraft::disconnected`]).
//!
//! One file an idea: [`Config`], [`Timing`], [`VoterSet`] (parameters), [`Write`] and [`Stored`] (what is durable),
//! [`Message`], [`Rule`]; inside `boot`, `durable` (law C1), `receive` (KR-0), `states` (transitions), `ask` (one question at
//! a time, to each), `stand` and `vote` (the election from either side), `lead`, `fetch` and `follow` (replication from
//! either side), `resign`, `snapshot`, `controller`, `explore` ([`View`], law C10).

mod ask;
mod boot;
mod config;
mod controller;
mod durable;
mod explore;
mod fetch;
mod follow;
mod lead;
mod message;
mod receive;
mod record;
mod refuse;
mod resign;
mod rules;
mod snapshot;
mod stand;
mod states;
mod vote;
mod voters;

pub use config::{
    Applying, Config, ConfigError, MAX_EPOCH, MAX_LEAP, MAX_OFFSET, MAX_TIMEOUT, Timing,
};
pub use controller::ProposeError;
pub use explore::View;
pub use message::{Body, Code, Correlation, Fetched, Head, Message, own};
pub use record::{Boot, LogWrite, QuorumState, Stored, Write};
pub use refuse::{Refusal, Refusals};
pub use rules::{Faithful, Invariant, Rule, Rules, Switched};
pub use snapshot::CompactError;
pub use voters::{DirectoryId, ReplicaKey, VoterSet};

use crate::fence::Holder;
use crate::log::{Position, Shape};
use crate::random::Random;
use crate::{
    Duration, Election, Event, Input, Instant, Leader, NodeId, Output, Standing, Tenure, Token, Why,
};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use ask::Peer;
use core::hash::Hasher;
use durable::Durable;
use fetch::Parked;
use lead::Reign;

/// One node of a KRaft quorum, and the controller on it. `Kraft` is `Kraft<Faithful>`; other rule sets are for learning and
/// testing.
#[derive(Clone, Debug)]
pub struct Kraft<R: Rules = Faithful> {
    config: Config,
    rules: R,
    /// This node, with its disk.
    key: ReplicaKey,
    random: Random,
    /// The latest `now` seen. **Invariant:** never falls.
    now: Instant,
    /// The quorum-state, as last decided. **Invariant:** `durable` knows how much of it the disk holds.
    state: QuorumState,
    durable: Durable,
    log: Shape,
    /// Up to where the log is known to be committed. **Invariant:** never falls, and never passes the end of the log.
    high_watermark: u64,
    /// Up to where the host's state machine has consumed it. **Invariant:** never passes the high watermark.
    applied: u64,
    role: Role,
    /// Who leads the epoch, as far as known: a node that resigned knows of nobody, whatever its disk says (KAFKA-18379).
    leader: Option<NodeId>,
    /// When the state ends by itself: a timeout, or the check of the quorum. `None` while a candidate waits for its disk, and
    /// for an observer.
    due: Option<Instant>,
    armed_at: Instant,
    /// Follower: whether it has fetched from this leader since it began to follow it (KR-V5).
    fetched: bool,
    /// Candidacies since it last knew a leader.
    retries: u8,
    /// Candidate: whether it lost for certain and waits before it asks again (KR-S4).
    backing_off: bool,
    /// The other voters and this one, by place in the voters.
    peers: Box<[Peer]>,
    /// The number of the newest request.
    correlation: u64,
    /// Leader: what it knows of its epoch. **Invariant:** `Some` exactly in that role.
    reign: Option<Reign>,
    /// Leader: fetches that wait for something new.
    parked: Vec<Parked>,
    /// Resigned: who should succeed, the most up-to-date first.
    successors: Arc<[NodeId]>,
    halted: bool,
    refusals: Refusals,
    outbox: VecDeque<Output<Message, Write>>,
}

/// What a node is doing (§5.2). Observers are unattached or follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Knows its epoch, and looks for a leader.
    Unattached,
    /// Asks whether it would be voted for.
    Prospective,
    /// Asks for votes in an epoch of its own.
    Candidate,
    /// Leads its epoch; acts once its controller is active.
    Leader,
    /// Fetches from a leader.
    Follower,
    /// Led its epoch, in this life or a former one, and does so no more.
    Resigned,
}

impl<R: Rules> Kraft<R> {
    /// This node.
    #[must_use]
    pub fn id(&self) -> NodeId {
        self.config.id
    }

    /// This node, with its disk.
    #[must_use]
    pub fn key(&self) -> ReplicaKey {
        self.key
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

    /// Whether it votes: an observer does not.
    #[must_use]
    pub fn is_voter(&self) -> bool {
        self.voter(self.key).is_some()
    }

    /// Whether a durable write ended unknown, so that this incarnation acts no more.
    #[must_use]
    pub fn halted(&self) -> bool {
        self.halted
    }

    /// Its epoch; rises only, and may be ahead of the disk by the writes that are [`pending`](Self::pending).
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.state.epoch
    }

    /// Whom it voted for in its epoch.
    #[must_use]
    pub fn voted(&self) -> Option<ReplicaKey> {
        self.state.voted
    }

    /// Who leads its epoch, as far as it knows; itself when it does.
    #[must_use]
    pub fn leader(&self) -> Option<NodeId> {
        self.leader
    }

    /// The quorum-state as last decided; the newest request to the disk carries it.
    #[must_use]
    pub fn quorum_state(&self) -> QuorumState {
        self.state
    }

    /// The shape of the log.
    #[must_use]
    pub fn log(&self) -> &Shape {
        &self.log
    }

    /// The end of the log.
    #[must_use]
    pub fn last(&self) -> Position {
        self.log.last()
    }

    /// Up to where the log is on this node's disk.
    #[must_use]
    pub fn durable_index(&self) -> u64 {
        self.durable.log()
    }

    /// Up to where the log is committed, as far as this node knows: the same records, for ever, on every node. Rises only. A
    /// host applies up to here.
    #[must_use]
    pub fn high_watermark(&self) -> u64 {
        self.high_watermark
    }

    /// Follower: whether it has fetched from its leader since it began to follow it; until then it grants pre-votes (KR-V5).
    #[must_use]
    pub fn has_fetched(&self) -> bool {
        self.role == Role::Follower && self.fetched
    }

    /// When the running timer was armed: with [`Election::deadline`] it tells how much of it has passed.
    #[must_use]
    pub fn armed_at(&self) -> Instant {
        self.armed_at
    }

    /// How many writes the disk has not answered yet.
    #[must_use]
    pub fn pending(&self) -> u64 {
        self.durable.pending()
    }

    /// The nonce of this life.
    #[must_use]
    pub fn incarnation(&self) -> u64 {
        self.durable.requests.incarnation()
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

    /// The place of a replica among the voters: a replaced disk has none.
    fn voter(&self, replica: ReplicaKey) -> Option<usize> {
        let place = self.config.voters.place(replica.id)?;
        let key = self.config.voters.key(place)?;
        (key.names(replica) || !self.keeps(Rule::DirectoryInVotes)).then_some(place)
    }

    /// The token of the present epoch.
    fn token(&self) -> Token {
        Token::new(self.config.generation, self.state.epoch)
    }

    fn event(&mut self, event: Event) {
        self.outbox.push_back(Output::Event(event));
    }

    /// Arms the timer of the state.
    fn arm(&mut self, span: Duration) {
        self.armed_at = self.now;
        self.due = Some(self.now + span);
    }

    fn arm_election(&mut self) {
        let low = self.config.timing.election_timeout;
        let span = self.random.duration(low, low + low);
        self.arm(span);
    }

    /// Takes note of the time. Law C4: a leader that no majority fetched from is none before anything else is looked at.
    fn at(&mut self, now: Instant) {
        self.now = self.now.max(now);
        let over = self.due.is_some_and(|due| due <= self.now);
        if self.role == Role::Leader && over {
            self.resign(None, Why::Lapsed);
        }
    }

    /// What a call that changed something ends with.
    fn settle(&mut self) {
        self.persist();
        self.ask();
        self.persist();
    }
}

impl<R: Rules> Election for Kraft<R> {
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
            Input::Resign { to } if self.role == Role::Leader => self.resign(to, Why::Resigned),
            Input::Resign { .. } => {}
            Input::Timeout => self.wake(),
        }
        self.settle();
    }

    fn poll(&mut self) -> Option<Output<Message, Write>> {
        self.outbox.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        if self.halted {
            return None;
        }
        let soonest = [
            self.due,
            self.asks_at(),
            self.answers_at(),
            self.appends_at(),
        ];
        soonest.into_iter().flatten().min()
    }

    /// No promise rests on the clock: a coarse one only stretches timeouts, from the shortest on.
    fn grain(&self) -> Duration {
        self.config.timing.retry_backoff
    }

    fn standing(&self, now: Instant) -> Standing {
        let now = self.now.max(now);
        if self.halted {
            return Standing::Unknown;
        }
        let token = self.token();
        if let Some(until) = self.active_until() {
            return match now < until {
                true => Standing::Leading(Tenure { token, until }),
                false => Standing::Unknown,
            };
        }
        match self.leader {
            Some(node) if node != self.config.id => Standing::Following(Leader { node, token }),
            _ => Standing::Unknown,
        }
    }

    fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        self.view(now, View::PLAIN, hasher);
    }
}

impl<R: Rules> Kraft<R> {
    /// Whatever is due is done, each kind once.
    fn wake(&mut self) {
        self.give_up_late_requests();
        self.answer_late_fetches();
        if self
            .reign
            .as_ref()
            .is_some_and(|reign| reign.lingers_until(self.now))
        {
            self.append_lingering();
        }
        if self.due.is_some_and(|due| due <= self.now) {
            self.on_timeout();
        }
    }

    fn on_timeout(&mut self) {
        match self.role {
            Role::Unattached | Role::Follower | Role::Candidate | Role::Resigned => self.stand(),
            Role::Prospective => self.lose_pre_vote(),
            // It resigned when the time was taken note of, or never does.
            Role::Leader => {}
        }
    }
}
