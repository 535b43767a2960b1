//! Pre-vote: ask before raising a term (Raft thesis §9.6), so that a node that cannot win burns no term and a node that
//! returns deposes nobody.
//!
//! It is never weaker than the vote: the log is checked here too (ClickHouse/NuRaft#134); what follows when that alone
//! is why a quorum does not grant is in `suffix`. A refusal carries the voter's term, which the asker adopts when it is
//! not below the one it named; without that, a node with a lower term and the better log waits for ever (etcd#8243,
//! etcd#8501).

use super::heartbeat::remaining;
use super::{Better, Heard, MAX_TERM, Message, Raft, Refusal, Role, Rule, Rules};
use crate::log::Position;
use crate::{Duration, Instant, NodeId};

impl<R: Rules> Raft<R> {
    /// Whether this node asks before it raises its term.
    fn asks_first(&self) -> bool {
        self.config.safe_mode && self.keeps(Rule::PreVote)
    }

    /// How long before its promise is over this node may stand: pre-votes are asked early (RL-10), votes are not.
    fn early(&self) -> Duration {
        if self.asks_first() {
            self.config.timing.early()
        } else {
            Duration::ZERO
        }
    }

    /// Nobody is heard: wait for an election timeout, drawn once now, less the time that pre-votes are asked early. A
    /// candidacy that its own promise forbids is not begun.
    pub(super) fn await_leader(&mut self) {
        let early = self.early();
        let drawn = self.draw(self.config.election());
        self.arm(drawn.saturating_sub(early));
        let allowed = self.promised_until() - early;
        self.due = self.due.map(|due| due.max(allowed));
    }

    /// Bounds of the time given to an attempt. Plain Raft draws an election timeout (Raft §5.2).
    pub(super) fn attempt(&self) -> (Duration, Duration) {
        if self.config.safe_mode {
            self.config.timing.retry()
        } else {
            self.config.timing.election()
        }
    }

    /// An attempt failed or was put off: try again after the retry draw.
    pub(super) fn retry_later(&mut self) {
        let span = self.draw(self.attempt());
        self.arm(span);
    }

    /// The host wants no gap: begin now, unless a promise forbids it.
    pub(super) fn campaign(&mut self) {
        let bound = self.keeps(Rule::PromiseBindsCandidate) && self.promised_for() > self.early();
        if self.role == Role::Follower && !bound {
            self.stand();
        }
    }

    /// Nobody leads any more, as far as this node is concerned. Whether it may ask to be elected.
    pub(super) fn begin_candidacy(&mut self) -> bool {
        self.follow(None);
        let exhausted = self.record.term >= MAX_TERM;
        if exhausted {
            self.refusals.add(Refusal::TermsExhausted);
        }
        let may = !exhausted && self.may_stand();
        if !may {
            self.step_back();
            self.await_leader();
        }
        may
    }

    /// Begins an attempt to be elected.
    pub(super) fn stand(&mut self) {
        if !self.begin_candidacy() {
            return;
        }
        if !self.asks_first() {
            return self.stand_for_vote();
        }
        self.began = self.now;
        self.role = Role::PreCandidate;
        self.ask_pre_votes();
    }

    pub(super) fn ask_pre_votes(&mut self) {
        self.clear_heard();
        if let Some(own) = self.own_vote() {
            self.heard[own] = Heard {
                at: self.promised_until(),
                granted: true,
            };
            self.grants = 1;
        }
        self.retry_later();
        let (term, last) = (self.record.term + 1, self.log.last());
        self.broadcast_to_voters(&Message::RequestPreVote {
            term,
            last,
            sent: self.now,
            released: self.released,
        });
        self.weigh_pre_votes(Instant::FOREVER);
    }

    /// The pre-candidate's timer: either the promises of a quorum have run out, or the attempt brought none.
    pub(super) fn pre_vote_due(&mut self) {
        // With a quorum, the timer was set to when that is free.
        if self.has_quorum_of_grants() {
            self.stand_for_vote();
        } else if !self.ask_for_suffix() {
            self.ask_pre_votes();
        }
    }

    /// When a quorum that would vote for this node is free of its promises, this node included; `None` without a quorum.
    /// It is known not to be after `ceiling`: with a quorum, `due` is what this answered last.
    fn free_at(&self, ceiling: Instant) -> Option<Instant> {
        if !self.has_quorum_of_grants() {
            return None;
        }
        let at = self.membership.freed_by_quorum(ceiling, |place| {
            if self.heard[place].granted {
                self.heard[place].at
            } else {
                Instant::FOREVER
            }
        });
        Some(at.max(self.promised_until()))
    }

    /// Whether a quorum grants, this node included where it votes.
    pub(super) fn has_quorum_of_grants(&self) -> bool {
        self.membership.is_quorum(|place| self.heard[place].granted)
    }

    /// With a quorum of pre-votes, the vote begins when their promises are over (RL-10).
    pub(super) fn weigh_pre_votes(&mut self, ceiling: Instant) {
        match self.free_at(ceiling) {
            Some(at) if at <= self.now => self.stand_for_vote(),
            Some(at) => self.due = Some(at),
            None => {}
        }
    }

    pub(super) fn on_request_pre_vote(
        &mut self,
        from: NodeId,
        term: u64,
        last: Position,
        sent: Instant,
        released: u64,
    ) {
        self.hear_released(released);
        let remainder = self.promised_for();
        // RL-8: the named term must be above the own one.
        let free = term > self.record.term
            && remainder <= self.config.timing.early()
            && self.role != Role::Leader;
        let up_to_date = self.up_to_date(last);
        if !free || !up_to_date {
            // Without replication nobody can be given what it lacks.
            let fetches = self.config.replication.is_some();
            let better = (free && !up_to_date && fetches).then(|| Better {
                last: self.log.last(),
                remainder,
                sent,
            });
            return self.send(
                from,
                Message::PreVoteRefused {
                    asked: term,
                    term: self.record.term,
                    better,
                },
            );
        }
        self.send(
            from,
            Message::PreVoteGranted {
                term,
                remainder,
                sent,
            },
        );
        // RL-9: of two that ask at once with equal logs, the lower id steps back; once per leader silence, or a third
        // node whom only one of them can reach waits for ever.
        if self.role == Role::PreCandidate
            && !self.yielded
            && last == self.log.last()
            && self.config.id < from
        {
            self.yielded = true;
            self.step_back();
            let span = self.draw(self.config.timing.yielding());
            self.arm(span);
        }
    }

    pub(super) fn on_pre_vote_granted(
        &mut self,
        place: usize,
        term: u64,
        remainder: Duration,
        sent: Instant,
    ) {
        if term > self.record.term.saturating_add(1) {
            return self.refusals.add(Refusal::Unasked);
        }
        if self.role != Role::PreCandidate || term != self.record.term + 1 {
            return;
        }
        if !self.takes_pre_vote_answer(sent, remainder) {
            return;
        }
        // One voter more can free a quorum earlier, not later.
        let one_more = !self.heard[place].granted;
        let freed = self.due.filter(|_| one_more && self.has_quorum_of_grants());
        self.count_pre_vote(place, self.now + self.config.timing.outlast(remainder));
        self.weigh_pre_votes(freed.unwrap_or(Instant::FOREVER));
        self.ask_for_suffix();
    }

    /// Whether the answer of a voter that is bound for `remainder` still, to what was asked at `sent`, counts.
    pub(super) fn takes_pre_vote_answer(&mut self, sent: Instant, remainder: Duration) -> bool {
        if sent > self.armed_at {
            self.refusals.add(Refusal::Unasked);
            return false;
        }
        if remainder > self.config.timing.election_min {
            self.refusals.add(Refusal::ImpossiblePromise);
            return false;
        }
        self.counts_still(sent)
    }

    /// Whether an answer to what was asked at `sent` counts yet. One to an earlier attempt of this candidacy does, or a
    /// round trip longer than the retry draw would never elect anybody; but not one so old that the voter may have heard
    /// a leader for a whole timeout.
    pub(super) fn counts_still(&self, sent: Instant) -> bool {
        sent >= self.began && self.now.since(sent) <= self.config.timing.election_min
    }

    /// The voter at `place` would vote for this node from `at` on.
    pub(super) fn count_pre_vote(&mut self, place: usize, at: Instant) {
        self.grants += u32::from(!self.heard[place].granted);
        self.heard[place] = Heard { at, granted: true };
    }

    /// Whether a log that ends at `last` has all that this one may have committed (Raft §5.4.1).
    pub(super) fn up_to_date(&self, last: Position) -> bool {
        last >= self.log.last() || !self.keeps(Rule::UpToDateLog)
    }

    /// How much of the promise is left.
    pub(super) fn promised_for(&self) -> Duration {
        remaining(self.promise, self.now)
    }
}
