//! Linearizable reads (Raft §8, Ongaro's thesis §6.4): what may be answered from the state of one node, and when.
//!
//! The machine keeps no state to read (law C9). It says up to which index the host's state must have come for an answer to
//! be new enough: INV-R2, no read is answered below the newest commit that was acknowledged before it was asked.
//!
//! - **Confirmed** ([`read`](Raft::read)), on any member, with no trust in a clock. The leader notes its commit index and
//!   sends a round of heartbeats; once a quorum has answered that round, or a later one, nobody else led when the index
//!   was noted. Before an entry of its own term is committed a leader does not know what is, so reads wait for that
//!   (etcd#7331, tikv#6340, tikv#9239) and are never dropped in silence (restate#2950). A follower or learner asks its
//!   leader for the index and answers from its own state.
//! - **Leased** ([`read_leased`](Raft::read_leased)), on the leader, at once and without a message, as long as its lease is
//!   valid; rests on the clocks keeping to [`Timing::rate_bound`](super::Timing::rate_bound) (tikv#964, sofa-jraft#26,
//!   consul#54).
//! - **Local**: whatever the state of a node is. Needs no method, and is stale: by as much as this node was cut off, or
//!   has lain on its disk, and with no bound that it could know of. Even while it follows a leader, what it heard last
//!   may have travelled for long. In etcd's client this is the *serializable* option, which is the one that does **not**
//!   go through the leader; the linearizable read is the default there.
//!
//! Reads of one kind need no names: they are counted, and "all up to number *n*, once the state has applied index *i*"
//! answers any number of them. All that were asked before the host drains share one round.
//!
//! **Why rounds are counted.** The lease goes by the instant at which a round was sent, but a round is not known by it:
//! two can be sent within one microsecond, and a host that counts ticks sends many in one instant. An answer to the one
//! before the read would then pass for an answer to the one after it.

use super::{Message, Raft, Refusal, Role, Rule, Rules};
pub use crate::served::Served;
use crate::served::Untold;
use crate::{Duration, Election, Instant, Leader, NodeId, Standing, Tenure};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::fmt;
use core::hash::{Hash, Hasher};

/// How many rounds for its own reads a leader has on the way at most. Reads beyond wait for one of them to be answered;
/// every heartbeat's answer confirms all that were sent before it.
const MAX_ROUNDS: usize = 8;

/// A read that the lease allows, as of the instant it was asked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Leased {
    /// Up to where the state must have come.
    pub index: u64,
    /// The tenure that must not have ended once the state was read.
    pub tenure: Tenure,
}

/// Why a read was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// The machine was configured without a log: there is nothing to read.
    NoLog,
    /// Nobody is known to lead. Ask again later, or another node.
    NoLeader,
    /// Only the leader holds a lease. Ask it, or use a confirmed read here.
    NotLeader(Leader),
    /// This node was elected and holds no lease yet. Ask again once it is established, or use a confirmed read.
    NotEstablished,
    /// Outside safe mode there is no lease. Use a confirmed read.
    NoLeases,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLog => f.write_str("the machine has no log; configure replication"),
            Self::NoLeader => {
                f.write_str("nobody is known to lead; ask again later, or another node")
            }
            Self::NotLeader(leader) => write!(
                f,
                "only the leader holds a lease; ask node {}, or use a confirmed read",
                leader.node
            ),
            Self::NotEstablished => f.write_str(
                "this node was elected and holds no lease yet; ask again once it is established, or use a confirmed read",
            ),
            Self::NoLeases => {
                f.write_str("outside safe mode there is no lease; use a confirmed read")
            }
        }
    }
}

impl core::error::Error for ReadError {}

/// The reads of this node, and, on a leader, whether others have asked. Built with the first read, and kept.
#[derive(Clone, Debug)]
pub(super) struct Reads {
    /// On the wire, the number of read `n` is `base + n`: drawn for each life of the machine, so that an answer to a
    /// former one is none to this.
    base: u64,
    /// The number of the newest read.
    asked: u64,
    /// The newest read that a round or a question was sent for.
    posed: u64,
    /// The newest read that is answered. **Invariant:** `done <= posed <= asked`, and all three are equal while nobody is
    /// known to lead.
    done: u64,
    /// Follower: when it asked last.
    posed_at: Instant,
    /// Leader: its own reads on the way, in rising order. **Invariant:** at most [`MAX_ROUNDS`]; none while it does not
    /// lead.
    rounds: VecDeque<(u64, Posed)>,
    /// Leader: whether a member's question waits for a round to be sent.
    unposed: bool,
    /// Leader: the newest round that was sent for members' questions, until it is answered. While one is on the way, further
    /// questions wait for it and share the next, however many members ask and however often.
    awaited: Option<u64>,
    served: Untold,
}

/// A round that was sent for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Posed {
    /// Its number.
    round: u64,
    /// The commit index as noted before it.
    index: u64,
}

/// What a member asked its leader: at most one question of each is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Question {
    number: u64,
    /// The round that was sent for it, once it was.
    posed: Option<Posed>,
}

impl Reads {
    fn new(base: u64) -> Self {
        Self {
            base,
            asked: 0,
            posed: 0,
            done: 0,
            posed_at: Instant::ZERO,
            rounds: VecDeque::with_capacity(MAX_ROUNDS),
            unposed: false,
            awaited: None,
            served: Untold::new(),
        }
    }

    /// The name of read `number` to the leader.
    fn wire(&self, number: u64) -> u64 {
        self.base.wrapping_add(number)
    }

    /// The reads up to `upto` may be answered from `index` on.
    fn ready(&mut self, upto: u64, index: u64) {
        self.done = upto;
        self.served.ready(upto, index);
    }

    /// Nobody leads any more: what waits fails, and what others asked is void.
    fn fail(&mut self) {
        if self.done < self.asked {
            self.served.lost(self.asked);
        }
        (self.posed, self.done) = (self.asked, self.asked);
        self.rounds.clear();
        (self.unposed, self.awaited) = (false, None);
    }
}

impl<R: Rules> Raft<R> {
    /// Asks for a read that is confirmed by a quorum, on the leader or any node that follows one. Answers its number:
    /// counted from 1 in each life of the machine. What becomes of it comes out of [`poll_read`](Self::poll_read), once for
    /// each read, in the order of numbers. Nothing is sent before the host drains, and reads asked until then share one
    /// round, which puts off the next heartbeat. A message that is lost costs time alone.
    ///
    /// # Errors
    /// When there is no log, or no leader that could confirm it.
    pub fn read(&mut self, now: Instant) -> Result<u64, ReadError> {
        self.readable(now)?;
        let reads = self.reads_mut();
        reads.asked += 1;
        Ok(reads.asked)
    }

    /// Asks for a read that the leader answers from its lease, at once.
    ///
    /// The order matters (INV-R3): ask, wait until the state has applied [`Leased::index`], read the state, and *then* see
    /// whether [`standing`](Election::standing) with a fresh `now` still shows a tenure with the same token. If so,
    /// no other leader had committed anything when the state was read, provided that the clocks of the group keep to
    /// [`Timing::rate_bound`](super::Timing::rate_bound) and this one to [`Timing::grain`](super::Timing::grain); if not,
    /// drop what was read. A pause after that check does no harm to a read: it tells the state as it was while the question
    /// was open. To an *effect* it does, for that lands later: what is done as a leader goes through the
    /// [`fence`](crate::fence).
    ///
    /// # Errors
    /// When this node holds no lease: it does not lead, is not established, or is not in safe mode.
    pub fn read_leased(&mut self, now: Instant) -> Result<Leased, ReadError> {
        self.readable(now)?;
        if !self.config.safe_mode {
            return Err(ReadError::NoLeases);
        }
        match self.standing(self.now) {
            Standing::Leading(tenure) => Ok(Leased {
                index: self.commit,
                tenure,
            }),
            Standing::Following(leader) => Err(ReadError::NotLeader(leader)),
            Standing::Unknown => Err(ReadError::NotEstablished),
        }
    }

    /// What became of reads, until `None`. To be asked after each drain.
    #[must_use]
    pub fn poll_read(&mut self) -> Option<Served> {
        self.reads.as_mut()?.served.poll()
    }

    /// Whether a read can be taken at `now`.
    fn readable(&mut self, now: Instant) -> Result<(), ReadError> {
        self.at(now);
        if self.config.replication.is_none() {
            return Err(ReadError::NoLog);
        }
        if self.leader.is_none() {
            return Err(ReadError::NoLeader);
        }
        Ok(())
    }

    fn reads_mut(&mut self) -> &mut Reads {
        let random = &mut self.random;
        self.reads
            .get_or_insert_with(|| Box::new(Reads::new(random.bits())))
    }

    /// The host drains: sends the round or the question that waiting reads call for. Whether there is more to drain.
    pub(super) fn pose_reads(&mut self) -> bool {
        match (self.role, self.leader) {
            (Role::Leader, _) => self.pose_to_quorum(),
            (Role::Follower, Some(leader)) => self.pose_to_leader(leader),
            _ => return false,
        }
        !self.outbox.is_empty()
    }

    fn pose_to_quorum(&mut self) {
        let Some(reads) = self.reads.as_deref() else {
            return;
        };
        let own = reads.asked > reads.posed && reads.rounds.len() < MAX_ROUNDS;
        let others = reads.unposed && reads.awaited.is_none();
        let known = self.own_term_committed() || !self.keeps(Rule::ReadOwnTerm);
        if !(own || others) || !known {
            return;
        }
        let index = self.commit;
        let round = if self.keeps(Rule::ReadConfirmed) {
            self.send_round();
            self.round
        } else {
            0
        };
        let posed = Posed { round, index };
        let Some(reads) = self.reads.as_deref_mut() else {
            return;
        };
        if own {
            reads.posed = reads.asked;
            reads.rounds.push_back((reads.asked, posed));
        }
        if reads.unposed {
            for progress in &mut self.progress {
                if let Some(question) = &mut progress.question {
                    question.posed.get_or_insert(posed);
                }
            }
            (reads.unposed, reads.awaited) = (false, Some(round));
        }
        self.serve_confirmed();
    }

    /// Whatever a quorum has answered the round of may be answered.
    pub(super) fn serve_confirmed(&mut self) {
        let Some(reads) = self.reads.as_deref_mut() else {
            return;
        };
        if reads.rounds.is_empty() && reads.awaited.is_none() {
            return;
        }
        let answered = |place: usize| self.progress[place].round;
        let confirmed = self.membership.reached_by_quorum(0, answered);
        while let Some((upto, posed)) = reads.rounds.front().copied()
            && posed.round <= confirmed
        {
            reads.ready(upto, posed.index);
            reads.rounds.pop_front();
        }
        let Some(newest) = reads.awaited else {
            return;
        };
        if newest <= confirmed {
            reads.awaited = None;
        }
        let term = self.record.term;
        for place in 0..self.progress.len() {
            let Some(Question {
                number,
                posed: Some(Posed { round, index }),
            }) = self.progress[place].question
            else {
                continue;
            };
            if round > confirmed {
                continue;
            }
            self.progress[place].question = None;
            let to = self.membership.members()[place].id;
            self.send(
                to,
                Message::ReadIndexAck {
                    term,
                    number,
                    index,
                },
            );
        }
    }

    /// A member asks. Its question waits like a read of this node; what it had asked before is given up, unless this is
    /// the same again.
    pub(super) fn on_read_index(&mut self, place: usize, term: u64, number: u64) {
        if term > self.record.term {
            return self.refusals.add(Refusal::Unasked);
        }
        if self.role != Role::Leader || term < self.record.term {
            // It learns from whoever leads, or from silence.
            return;
        }
        let Some(progress) = self.progress.get_mut(place) else {
            return;
        };
        let open = progress.question.map(|question| question.number);
        if open != Some(number) {
            let posed = None;
            progress.question = Some(Question { number, posed });
            self.reads_mut().unposed = true;
        }
    }

    /// One question at a time: reads that are asked until it is answered share the next one.
    fn pose_to_leader(&mut self, leader: NodeId) {
        let now = self.now;
        if let Some(reads) = self.reads.as_deref_mut()
            && reads.posed == reads.done
            && reads.posed < reads.asked
        {
            (reads.posed, reads.posed_at) = (reads.asked, now);
            self.ask(leader);
        }
    }

    /// The leader lives: a question that is open for a heartbeat or longer was lost, or its answer was. It keeps its
    /// number, so that a leader that knows it does not begin anew.
    pub(super) fn ask_again(&mut self, leader: NodeId) {
        let (now, patience) = (self.now, self.config.timing.heartbeat);
        if let Some(reads) = self.reads.as_deref_mut()
            && reads.posed > reads.done
            && now.since(reads.posed_at) >= patience
        {
            reads.posed_at = now;
            self.ask(leader);
        }
    }

    fn ask(&mut self, leader: NodeId) {
        if let Some(reads) = self.reads.as_deref() {
            let (term, number) = (self.record.term, reads.wire(reads.posed));
            self.send(leader, Message::ReadIndex { term, number });
        }
    }

    /// RL-1: only the answer to the open question, by the leader it was asked, counts.
    pub(super) fn on_read_index_ack(&mut self, from: NodeId, term: u64, number: u64, index: u64) {
        if term > self.record.term {
            return self.refusals.add(Refusal::Unasked);
        }
        if term < self.record.term || self.leader.is_none() {
            return;
        }
        if self.leader != Some(from) {
            return self.refusals.add(Refusal::SecondLeader);
        }
        match self.reads.as_deref_mut() {
            Some(reads) if reads.posed > reads.done && reads.wire(reads.posed) == number => {
                reads.ready(reads.posed, index);
            }
            // A repeated answer.
            Some(reads) if number.wrapping_sub(reads.base) <= reads.done => {}
            _ => self.refusals.add(Refusal::Unasked),
        }
    }

    /// The leadership that reads were asked in is over.
    pub(super) fn fail_reads(&mut self) {
        if let Some(reads) = self.reads.as_deref_mut() {
            reads.fail();
        }
    }

    /// Whether an answer to `round` may confirm a read, now or later.
    pub(super) fn confirms(&self, place: usize, round: u64) -> bool {
        self.progress
            .get(place)
            .is_some_and(|progress| progress.round < round)
    }

    /// What waits: how many, for what, and under which names. Nothing of it counts once it is over.
    pub(super) fn view_reads<H: Hasher>(&self, ago: impl Fn(Instant) -> Duration, hasher: &mut H) {
        let Some(reads) = self.reads.as_deref() else {
            return;
        };
        let waits = reads.done < reads.asked;
        if waits {
            let (asked, posed) = (reads.asked - reads.done, reads.posed - reads.done);
            (asked, posed, reads.wire(reads.done)).hash(hasher);
            if self.role == Role::Follower {
                ago(reads.posed_at).hash(hasher);
            }
            for (upto, posed) in &reads.rounds {
                (upto - reads.done, posed).hash(hasher);
            }
        }
        if waits || reads.unposed || reads.awaited.is_some() {
            // Which answers will count.
            (self.round, reads.unposed, reads.awaited).hash(hasher);
        }
    }
}
