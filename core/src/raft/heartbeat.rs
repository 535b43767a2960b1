//! Heartbeats, the promise they ask for, and the lease that a majority of promises is (law C5).
//!
//! CheckQuorum is the lease: a majority round establishes and extends it, and its lapse deposes. Validity counts from
//! the send of a round, not from its answers (etcd#166, sofa-jraft#34: counted from the answer, two leaders can both
//! believe for more than a second).

use super::{Heard, Message, Raft, Refusal, Role, Rule, Rules};
use crate::{Duration, Event, Instant, NodeId, Tenure, Why};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A voter's promise: neither to vote nor to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Promise {
    /// When it was last confirmed, on this node's clock.
    pub since: Instant,
    /// When it ends, on this node's clock. What leaders are told is a grain shorter.
    pub until: Instant,
    /// The term of the leader it was given to; `None` for the wait after a restart, which stands for any.
    pub to: Option<u64>,
}

/// The time in which a leader may act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    /// The latest send it can count from: `until` less a whole lease of this node. The send of the last round that a
    /// majority answered, where all promise alike.
    pub from: Instant,
    /// The first instant at which it may no longer act; [`Instant::FOREVER`] outside safe mode.
    pub until: Instant,
}

/// How much of a promise is left at `now`.
pub(super) fn remaining(promise: Option<Promise>, now: Instant) -> Duration {
    promise.map_or(Duration::ZERO, |promise| promise.until.since(now))
}

impl<R: Rules> Raft<R> {
    /// The promise it is bound by or was last bound by; `None` when it gave none or was released.
    #[must_use]
    pub fn promise(&self) -> Option<Promise> {
        self.promise
    }

    /// The lease of an established leader, lapsed or not; `None` for everybody else.
    #[must_use]
    pub fn lease(&self) -> Option<Lease> {
        let from = if self.until == Instant::FOREVER {
            self.began
        } else {
            self.until - self.lease
        };
        self.established().then_some(Lease {
            from,
            until: self.until,
        })
    }

    /// Until when it is bound; the past when it is not.
    pub(super) fn promised_until(&self) -> Instant {
        self.promise.map_or(Instant::ZERO, |promise| promise.until)
    }

    /// What a promise is worth to a leader that sent its round at `sent`.
    pub(super) fn covered_until(&self, sent: Instant, promise: Duration) -> Instant {
        if !self.config.safe_mode {
            Instant::FOREVER
        } else if promise == self.config.timing.promise() {
            sent + self.lease
        } else {
            sent + self.config.timing.lease(promise)
        }
    }

    /// How long this node keeps a promise, on the clock it reads; not at all outside safe mode.
    fn own_promise(&self) -> Duration {
        if self.config.safe_mode {
            self.config.timing.election_min
        } else {
            Duration::ZERO
        }
    }

    /// How long a promise it tells of.
    pub(super) fn told_promise(&self) -> Duration {
        if self.config.safe_mode {
            self.config.timing.promise()
        } else {
            Duration::ZERO
        }
    }

    /// Promises from now on, to the leader of the present term. A longer promise that still runs is not cut short: after
    /// a restart with a shorter configuration, the leader may count on it.
    fn give_promise(&mut self) {
        if self.config.safe_mode {
            let until = self.promised_until().max(self.now + self.own_promise());
            self.promise = Some(Promise {
                since: self.now,
                until,
                to: Some(self.record.term),
            });
        }
    }

    /// A node that ran before may have promised just before it stopped: it waits out the longest promise it recorded, and
    /// a grain of its present clock, which may show that much too little now.
    pub(super) fn wait_out_promises(&mut self) {
        let longest = self.record.promise;
        if longest > Duration::ZERO {
            self.promise = Some(Promise {
                since: self.now,
                until: self.now + longest + self.config.timing.grain,
                to: None,
            });
        }
    }

    /// The promise length to write with the next record. A longer one of a former configuration stays on the disk while
    /// a wait of the present length would end before it.
    pub(super) fn promise_to_record(&self) -> Duration {
        let own = self.own_promise();
        let longer_runs = self.promised_until() > self.now + own;
        if longer_runs {
            own.max(self.record.promise)
        } else {
            own
        }
    }

    /// RL-11: between election and the first majority round a leader has the length of a lease, counted from its election.
    pub(super) fn await_establishment(&mut self) {
        self.until = self.covered_until(self.now, self.config.timing.promise());
    }

    /// Sends a round of heartbeats.
    pub(super) fn send_round(&mut self) {
        self.begin_round();
        let term = self.record.term;
        self.broadcast(&Message::Heartbeat {
            term,
            sent: self.now,
            round: self.round,
            commit: self.commit,
        });
        self.serve_confirmed();
        self.extend();
    }

    /// A round begins: the leader's own promise, which covers it like any other.
    pub(super) fn begin_round(&mut self) {
        self.give_promise();
        self.arm(self.config.timing.heartbeat);
        self.round += 1;
        self.spoke = self.now;
        let until = self.covered_until(self.now, self.config.timing.promise());
        if let Some(own) = self.own_place() {
            self.heard[own] = Heard {
                at: until,
                granted: true,
            };
            if let Some(progress) = self.progress.get_mut(own) {
                progress.round = self.round;
            }
        }
    }

    /// Follows the leader of `term` that `from` claims to be, and promises to it. False when it is not that.
    pub(super) fn hear_leader(&mut self, from: NodeId, term: u64) -> bool {
        if term < self.record.term {
            self.send(
                from,
                Message::HeartbeatRefused {
                    asked: term,
                    term: self.record.term,
                },
            );
            return false;
        }
        if term <= self.released {
            // Its leader has said that it stopped: this message was overtaken on the way.
            return false;
        }
        let other_leads = self.leader.is_some_and(|leader| leader != from);
        if term == self.record.term && other_leads {
            self.refusals.add(Refusal::SecondLeader);
            return false;
        }
        if term > self.record.term {
            self.adopt(term);
        }
        if self.role != Role::Follower {
            self.step_back();
        }
        if !self.heard.is_empty() {
            // A follower at rest keeps nothing of what only a candidate or a leader needs.
            (self.progress, self.heard) = (Vec::new(), Box::default());
        }
        self.follow(Some(from));
        self.yielded = false;
        self.failed = 0;
        self.excluded = 0;
        self.give_promise();
        // The promise must be able to outlive a restart before it is given.
        let promise = self.own_promise();
        if promise > self.record.promise {
            self.record.promise = promise;
            self.durable.changed = true;
        }
        self.await_leader();
        self.ask_again(from);
        true
    }

    pub(super) fn on_heartbeat(
        &mut self,
        from: NodeId,
        term: u64,
        sent: Instant,
        round: u64,
        commit: u64,
    ) {
        if !self.hear_leader(from, term) {
            return;
        }
        self.commit_up_to(commit);
        self.send(
            from,
            Message::HeartbeatAck {
                term,
                sent,
                round,
                promise: self.told_promise(),
                matched: self.matched,
            },
        );
    }

    pub(super) fn on_heartbeat_ack(
        &mut self,
        place: usize,
        term: u64,
        sent: Instant,
        round: u64,
        promise: Duration,
        matched: u64,
    ) {
        if !self.takes_answer(term, sent) {
            return;
        }
        if round > self.round || matched > self.log.last().index {
            return self.refusals.add(Refusal::Unasked);
        }
        self.cover(place, sent, promise);
        self.resend_what_was_lost(place, sent, round, matched);
        self.serve_confirmed();
        self.extend();
    }

    /// Whether an answer to what was sent at `sent` in `term` is one to this leader: RL-1.
    pub(super) fn takes_answer(&mut self, term: u64, sent: Instant) -> bool {
        if term > self.record.term {
            self.refusals.add(Refusal::Unasked);
            return false;
        }
        if self.role != Role::Leader {
            return false;
        }
        if self.keeps(Rule::OwnTermAcks) {
            // An answer to a round of an earlier term of this very node is not a promise to this one.
            if term != self.record.term {
                return false;
            }
            if sent > self.spoke || sent < self.began {
                self.refusals.add(Refusal::Unasked);
                return false;
            }
        }
        true
    }

    /// A voter's promise covers this leader, from the send of what it answered on (C5).
    pub(super) fn cover(&mut self, place: usize, sent: Instant, promise: Duration) {
        let own = self.config.timing.promise();
        // A longer promise than the own is not used; a shorter one shortens the lease.
        let promise = if self.keeps(Rule::PromiseFromAnswer) {
            promise.min(own)
        } else {
            own
        };
        let since = if self.keeps(Rule::ValidityFromSend) {
            sent
        } else {
            self.now
        };
        let until = self.covered_until(since, promise);
        let heard = &mut self.heard[place];
        *heard = Heard {
            at: heard.at.max(until),
            granted: true,
        };
    }

    /// The lease reaches as far as a majority of promises. The leader is established when that is ahead of now for the
    /// first time and, where there is a log, an entry of its term is committed.
    pub(super) fn extend(&mut self) {
        let floor = if self.covered { self.until } else { self.now };
        let reached = self
            .membership
            .reached_by_quorum(floor, |place| self.heard[place].at);
        if reached > self.now {
            // The time allowed for establishment was no lease: it is replaced, not extended.
            self.covered = true;
            self.until = reached;
        }
        if self.covered && !self.established && self.until > self.now && self.own_term_committed() {
            self.established = true;
            let tenure = Tenure {
                token: self.token(self.record.term),
                until: self.until,
            };
            self.event(Event::Established(tenure));
        }
    }

    /// Another configuration is to count: the lease is what the present one backs, and nothing that an earlier one did. A
    /// rival may be elected by a neighbour of the present configuration, which need not share a node with those that
    /// promised before. Only promises of unequal length make a difference, for the change before this one was committed by
    /// answers as fresh as any.
    pub(super) fn count_lease_anew(&mut self) {
        if self.covered {
            let backed = |place: usize| self.heard[place].at;
            let backed = self.membership.reached_by_quorum(Instant::ZERO, backed);
            self.until = self.until.min(backed);
        }
    }

    /// Law C4: before anything is read, what has lapsed is over, for good.
    ///
    /// Whoever answered last is still reached, and is asked to stand: in a quorum-loss star that is the one node connected
    /// to a majority.
    pub(super) fn lapse(&mut self) {
        if self.role == Role::Leader && self.until <= self.now && self.keeps(Rule::LapseDeposes) {
            let members = self.membership.members();
            let reached = |place: &usize| {
                members[*place].id != self.config.id
                    && self.membership.votes(*place)
                    && self.heard[*place].at > self.now
            };
            let latest = (0..self.heard.len())
                .filter(reached)
                .max_by_key(|place| self.heard[*place].at);
            let to = latest.map(|place| members[place].id);
            let to = to.filter(|to| self.may_succeed(*to));
            self.depose(Why::Lapsed, to);
        }
    }
}
