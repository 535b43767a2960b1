//! ZooKeeper's way to have a leader: fast leader election and ZAB 1.0 (Junqueira, Reed, Serafini, "Zab: High-performance
//! broadcast for primary-backup systems"), as its servers do it.
//!
//! - **Who leads?** The node that a quorum *promised* a new epoch to. The election before it, by volatile votes, picks a node with
//!   the most recent history; it is fast and not safe, and two nodes may both decide to lead. Only one of them collects the
//!   promises of a quorum, which are durable ([`Event::Elected`]), and it may act once a quorum holds its history as that of the
//!   new epoch ([`Event::Established`]).
//! - **Who takes over?** When a connection ends or is silent for [`Timing::sync_limit`] ticks, whoever notices elects; the one
//!   with the best (epoch, end of log, id) of a quorum is decided for after 200 ms without anything better.
//! - **What stops the old leader?** A quorum that promised the next epoch acknowledges nothing of it, so that nothing more is
//!   committed there. It steps down when too few learners were heard for `sync_limit` ticks ([`Tenure::until`]). Until then it
//!   *believes* to lead, also while another does: it has no lease, and may answer reads from an old state. Resources must compare
//!   the token, which is (generation, epoch); so must whoever uses an entry's name, for [`Position`]s order by epoch first.
//!
//! Reads of a node's own state may be stale; a [`sync`](Zab::sync) before it bounds that, and here, other than in ZooKeeper, in
//! every case ([`Rule::SyncByQuorum`]).
//!
//! **What it costs.** Two pings a tick to each follower, and their answers; three or five servers with disks. An entry goes to
//! every follower and waits for a quorum's disks. An epoch writes two small records, and its learners are brought up to date.
//!
//! **When it suffices.** Where a small state is kept that all may read and watch, and reads may be a little old.
//!
//! **What breaks it.** A quorum that is down or apart: nobody leads. A disk that loses what it confirmed, and what is listed under
//! the weaknesses below. A resource that does not compare the token, while two believe.
//!
//! **Left out**: sessions, REVALIDATE and digests; reconfiguration, with its two quorums and configurations in notifications;
//! observers that feed observers; legacy notifications; the size limit of a DIFF from disk; the oracle for two nodes; which
//! of two nodes dials. **Different**: votes are compared by leader and epoch on both paths (FLE-E); learners are compared
//! with the whole log rather than with what is committed, and a snapshot is the one the log begins with (see `feed`); an
//! observer answers nobody; a leader's current epoch is durable before it synchronises learners; a log of a later epoch than
//! the current one, which a crash in the middle of ZAB-S10 leaves, is started from as it is; a node elects once its disk is
//! at rest.
//!
//! **Weaknesses that stay**, for they are ZooKeeper's: the wait of 200 ms is a heuristic, and a leader may be deserted right
//! after it (Z-3109, [`Timing::epoch_patience`]); partial partitions repeat elections, for nobody asks before it begins one;
//! a node that promised a later epoch than the leader's, because it was elected and deserted, is refused (ZAB-D9) until
//! epochs have passed it, and resigning the leader raises them; a disk that was lost breaks the intersection of quorums
//! ([`Config::autocreate`] helps where it is empty).
//!
//! **What a host gives.** Links between each two nodes that keep the order of messages, each once, until they break. See
//! [`Zab::disconnected`] and [`Zab::connected`] for how to tell of that, and `link` for what happens where a host gives less.
//! A notification may take the place of an older one to the same node that was not sent yet. Disk requests are done in ticket
//! order ([`Request`]). Payloads that came with a [`Packet::Proposal`] before the node is up to date are asked to be written
//! later, under the same names, with NEWLEADER or UPTODATE, or never.
//!
//! **Invariants** ([`Invariant`]) are checked from outside by the tests and the simulator, by disks, messages and what is
//! delivered. One file an idea: [`Ensemble`] (members, weights, quorums), [`Vote`] (order and equality), [`Zxid`],
//! [`Message`], [`Request`] and [`Stored`]; inside `look` (the election), `discover` (the epoch), `lead`, `propose`, `feed`
//! (what learners are told), `learn`, `collect` and `follow` (the learner), `reads`, `compact`, `link`, `durable` (law C1),
//! `boot`, `explore` (law C10). Rule ids (FLE-, ZAB-) are of the specification the project was built from; Z-n is ZooKeeper's
//! issue n.

mod boot;
mod collect;
mod compact;
mod config;
mod discover;
mod durable;
mod ensemble;
mod explore;
mod feed;
mod follow;
mod lead;
mod learn;
mod link;
mod look;
mod message;
mod propose;
mod reads;
mod record;
mod refuse;
mod rules;
mod vote;
mod zxid;

pub use compact::CompactError;
pub use config::{Config, ConfigError, MAX_EPOCH, MAX_INDEX, MAX_LEAP, MAX_WAIT, Timing};
pub use ensemble::{Ensemble, EnsembleError, Member, Part, Verifier};
pub use lead::Phase;
pub use message::{Entries, Link, Message, Notification, Packet};
pub use propose::ProposeError;
pub use reads::{Served, SyncError};
pub use record::{Boot, Request, Stored};
pub use refuse::{Refusal, Refusals};
pub use rules::{Faithful, Invariant, Rule, Rules, Switched};
pub use vote::{State, Vote};
pub use zxid::{MAX_COUNTER, Zxid};

use crate::fence::Holder;
use crate::log::{Position, Shape};
use crate::random::Random;
use crate::{Duration, Election, Event, Input, Instant, NodeId, Output, Standing, Tenure, Why};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::hash::Hasher;
use durable::Durable;
use lead::Leading;
use learn::Learning;
use look::Looking;
use reads::Reads;
use vote::Told;

/// One member of an ensemble. `Zab` is `Zab<Faithful>`; other rule sets are for learning and testing.
#[derive(Clone, Debug)]
pub struct Zab<R: Rules = Faithful> {
    config: Config,
    rules: R,
    random: Random,
    /// The latest `now` seen. **Invariant:** never falls.
    now: Instant,
    /// The place of this node among the members.
    place: usize,
    /// Whether it neither counts nor is counted in an election (Z-261).
    blank: bool,
    /// The highest epoch it promised, as last decided. **Invariant:** never falls.
    accepted: u64,
    /// The epoch whose history it holds, as last decided.
    current: u64,
    durable: Durable,
    /// The log, as far as it was asked to be written or is about to be.
    log: Shape,
    /// Where the log ended when this life began.
    replayed: u64,
    /// Up to where the log is delivered. **Invariant:** never falls.
    commit: u64,
    /// The round of the election it is in or was decided in.
    round: u64,
    /// What it answers with when it does not look.
    vote: Told,
    role: Role,
    looking: Looking,
    /// **Invariant:** there while its role is to lead.
    leading: Option<Box<Leading>>,
    /// **Invariant:** there while its role is to follow or observe.
    learning: Option<Box<Learning>>,
    reads: Reads,
    halted: bool,
    refusals: refuse::Counter,
    outbox: VecDeque<Output<Message, Request>>,
}

/// What a node is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// It elects.
    Looking,
    /// It learns from a leader, with a vote.
    Following,
    /// It was elected by votes; see [`Zab::phase`] for how far it came.
    Leading,
    /// It learns from a leader, without a vote.
    Observing,
}

impl<R: Rules> Zab<R> {
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

    /// Whether it leads and a quorum holds its history. Authorises nothing: see [`Election::standing`].
    #[must_use]
    pub fn established(&self) -> bool {
        self.phase() == Some(Phase::Broadcasting)
    }

    /// Whether a step of the disk ended unknown, so that this incarnation acts no more.
    #[must_use]
    pub fn halted(&self) -> bool {
        self.halted
    }

    /// The highest epoch it promised; may be ahead of the disk by what is [`pending`](Self::pending).
    #[must_use]
    pub fn accepted_epoch(&self) -> u64 {
        self.accepted
    }

    /// The epoch of the last leader whose history it holds; may be ahead of the disk by what is [`pending`](Self::pending).
    #[must_use]
    pub fn current_epoch(&self) -> u64 {
        self.current
    }

    /// The epoch it leads or was told by the leader it learns from; `None` while there is none.
    #[must_use]
    pub fn epoch(&self) -> Option<u64> {
        let leads = self.leading.as_ref().map(|leading| leading.epoch);
        let learns = self.learning.as_ref().map(|learning| learning.epoch);
        leads.or(learns).filter(|epoch| *epoch > 0)
    }

    /// The round of its election.
    #[must_use]
    pub fn round(&self) -> u64 {
        self.round
    }

    /// Its vote: whom it proposes while it looks, and then the one it was decided for.
    #[must_use]
    pub fn vote(&self) -> Vote {
        if self.role == Role::Looking {
            self.looking.proposal
        } else {
            self.vote.vote
        }
    }

    /// The leader it learns from or connects to; itself when it leads.
    #[must_use]
    pub fn leader(&self) -> Option<NodeId> {
        let leads = (self.role == Role::Leading).then_some(self.config.id);
        leads.or(self.learning.as_ref().map(|learning| learning.leader))
    }

    /// Whether it follows a leader and is up to date with it.
    #[must_use]
    pub fn follows_established(&self) -> bool {
        self.followed().is_some()
    }

    /// How many agree with its vote while it looks, and have promised its epoch or hold its history while it leads, itself
    /// included.
    #[must_use]
    pub fn grants(&self) -> usize {
        if let Some(leading) = &self.leading {
            let synced = leading.phase >= Phase::Synchronising;
            let sets = leading.sets.iter();
            let said = sets.filter(|set| if synced { set.synced } else { set.promised });
            return said.count();
        }
        let votes = self.looking.received.iter().flatten();
        let agree = votes.filter(|told| told.vote == self.looking.proposal);
        if self.looking.begun { agree.count() } else { 0 }
    }

    /// Its log.
    #[must_use]
    pub fn log(&self) -> &Shape {
        &self.log
    }

    /// The end of its log.
    #[must_use]
    pub fn last(&self) -> Position {
        self.log.last()
    }

    /// The name of an entry of its log as ZooKeeper writes it.
    #[must_use]
    pub fn zxid(&self, at: Position) -> Option<Zxid> {
        Zxid::of(&self.log, at)
    }

    /// Up to where its log is committed and may be delivered. Rises only within one life, and begins at what was compacted.
    #[must_use]
    pub fn committed(&self) -> u64 {
        self.commit
    }

    /// How many requests the disk has not answered yet.
    #[must_use]
    pub fn pending(&self) -> u64 {
        self.durable.requests.pending()
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
        self.refusals.counts()
    }

    #[inline(always)]
    fn keeps(&self, rule: Rule) -> bool {
        self.rules.keeps(rule)
    }

    fn event(&mut self, event: Event) {
        self.outbox.push_back(Output::Event(event));
    }

    /// Takes note of the time.
    fn at(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.lapse();
    }

    /// The end of its log as it tells others: all of it (Z-2845).
    fn told_end(&self) -> Position {
        if self.keeps(Rule::WholeLogElects) {
            self.log.last()
        } else {
            // What was in the log when it was last read counts, and what came since when it was delivered.
            let end = self.replayed.max(self.commit).min(self.log.last().index);
            self.position(end)
        }
    }

    /// Whether a node of this ensemble can have come to that epoch.
    fn epoch_is_near(&self, epoch: u64) -> bool {
        epoch <= MAX_EPOCH && epoch <= self.accepted.saturating_add(MAX_LEAP)
    }

    /// Whether a log can end there.
    fn is_possible(&self, end: Position) -> bool {
        (end.term == 0) == (end.index == 0)
            && end.index <= MAX_INDEX
            && self.epoch_is_near(end.term)
    }

    /// Stops to lead or to learn, and says so.
    fn leave(&mut self, why: Why) {
        if self.leading.is_some() {
            self.close_all();
            let token = self.token_of_own_epoch();
            let elected = self.phase() >= Some(Phase::Synchronising);
            if elected {
                self.event(Event::Deposed(token, why));
            }
        }
        let followed = self.followed().is_some();
        if self.learning.is_some() {
            self.say_to_leader(Packet::Closed);
        }
        (self.leading, self.role) = (None, Role::Looking);
        if let Some(learning) = self.learning.take() {
            self.reload(&learning);
        }
        if followed {
            self.event(Event::Following(None));
        }
        self.reads.fail();
    }

    /// Stops to lead or to learn, and elects (FLE-8).
    fn look_again(&mut self, why: Why) {
        let waits = self.role == Role::Observing;
        self.leave(why);
        self.looking.begun = false;
        self.looking.hold = waits.then(|| {
            let longest = self.config.timing.observer_delay;
            self.now + self.random.duration(Duration::from_micros(1), longest)
        });
        self.settle();
    }

    fn receive(&mut self, from: NodeId, message: Message) {
        let Some(place) = self
            .config
            .ensemble
            .place(from)
            .filter(|at| *at != self.place)
        else {
            return self.refusals.add(Refusal::UnknownSender);
        };
        match message {
            Message::Notification(notification) => self.on_notification(place, notification),
            Message::Packet {
                link,
                number,
                packet,
            } => self.on_packet(place, link, number, packet),
        }
    }
}

impl<R: Rules> Election for Zab<R> {
    type Peer = Message;
    type Request = Request;
    type Reply = ();

    fn handle(&mut self, now: Instant, input: Input<Message, ()>) {
        if self.halted {
            return;
        }
        self.at(now);
        match input {
            Input::Campaign => self.propose_again(),
            Input::Peer(from, message) => self.receive(from, message),
            Input::Reply(ticket, result) => self.on_reply(ticket, result),
            // ZooKeeper hands over to nobody by name: whoever has the most recent history is elected.
            Input::Resign { to: _ } => {
                if self.role == Role::Leading {
                    self.look_again(Why::Resigned);
                }
            }
            Input::Timeout => match self.role {
                Role::Looking => self.looking_is_due(),
                Role::Leading => self.leader_is_due(),
                Role::Following | Role::Observing => self.learner_is_due(),
            },
        }
    }

    fn poll(&mut self) -> Option<Output<Message, Request>> {
        if let Some(output) = self.outbox.pop_front() {
            return Some(output);
        }
        if self.halted {
            return None;
        }
        // What is made only now: what the log has gained since, what learners lack, and what reads call for.
        if self.durable.appended < self.log.last().index && !self.durable.is_syncing() {
            self.append_log();
            self.sync_log();
            return self.outbox.pop_front();
        }
        if let Some(output) = self.next_to_learners() {
            return Some(output);
        }
        if self.pose() {
            return self.poll();
        }
        None
    }

    fn deadline(&self) -> Option<Instant> {
        if self.halted {
            return None;
        }
        match self.role {
            Role::Looking => self.looking.deadline(),
            Role::Leading => self.leader_deadline(),
            Role::Following | Role::Observing => self.learner_deadline(),
        }
    }

    fn grain(&self) -> Duration {
        Duration::ZERO
    }

    fn standing(&self, now: Instant) -> Standing {
        let now = self.now.max(now);
        if self.halted {
            return Standing::Unknown;
        }
        if self.established() {
            let until = self.lapses_at();
            return match now < until {
                true => Standing::Leading(Tenure {
                    token: self.token_of_own_epoch(),
                    until,
                }),
                false => Standing::Unknown,
            };
        }
        self.followed()
            .map_or(Standing::Unknown, Standing::Following)
    }

    fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        self.view(now, hasher);
    }
}
