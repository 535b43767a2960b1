//! The end of a leadership, and freeing those who had promised to it.
//!
//! A leader that lost its majority still reaches some followers, and their promises to it would keep them from voting for
//! anybody else: in a partition where only one of them is connected to a majority, nobody would ever be elected
//! (quorum-loss star; openraft#2080). So whoever stops leading says so. The same message makes a graceful resignation
//! quick: without it the followers refuse the successor until their promises run out (KAFKA-20895).

use super::{Message, Raft, Refusal, Role, Rule, Rules};
use crate::{Event, NodeId, Why};

impl<R: Rules> Raft<R> {
    /// Stops leading, says so, and waits a full election timeout for somebody else.
    pub(super) fn depose(&mut self, why: Why, to: Option<NodeId>) {
        let term = self.record.term;
        self.event(Event::Deposed(self.token(term), why));
        self.leader = None;
        self.fail_reads();
        self.established = false;
        self.step_back();
        // Its own promise was to itself.
        if self.promise.is_some_and(|promise| promise.to == Some(term)) {
            self.promise = None;
        }
        self.await_leader();
        let orderly = why != Why::Lapsed && why != Why::HigherTerm;
        self.broadcast(&Message::Release { term, to, orderly });
    }

    /// The host's wish to stop leading. Any follower may succeed, or the one named, at once, if it can. A transfer that is
    /// under way is over: the host decides anew.
    pub(super) fn resign(&mut self, to: Option<NodeId>) {
        if self.role == Role::Leader {
            let to = to.filter(|to| self.may_succeed(*to));
            self.depose(Why::Resigned, to);
        }
    }

    pub(super) fn on_release(
        &mut self,
        from: NodeId,
        term: u64,
        to: Option<NodeId>,
        orderly: bool,
    ) {
        if term > self.record.term {
            // This node never followed that leader; its promises are to others.
            return;
        }
        let own_term = term == self.record.term;
        if own_term && self.leader.is_some_and(|leader| leader != from) {
            return self.refusals.add(Refusal::SecondLeader);
        }
        let followed = own_term && self.leader.is_some();
        let freed = self.hear_released(term);
        if !own_term || self.role != Role::Follower {
            return;
        }
        if to == Some(self.config.id) {
            // The one that was named does not step back from others.
            self.yielded = true;
            if orderly {
                self.succeed();
            } else {
                self.stand();
            }
        } else if freed || followed {
            // Nobody leads: a retry draw is wait enough, unless the timer would have fired sooner. The one that was
            // named may be gone.
            let (armed_at, due) = (self.armed_at, self.due);
            self.retry_later();
            if due.is_some_and(|due| self.due.is_some_and(|retry| due < retry)) {
                (self.armed_at, self.due) = (armed_at, due);
            }
        }
    }

    /// The leader of `term` has stopped, whoever says so. Whether that freed this node from a promise.
    ///
    /// RL-3: only a promise to that term. The wait after a restart ends too when the term is the own one: a leader of it
    /// existed, so every lease of an earlier term was over when it was elected.
    pub(super) fn hear_released(&mut self, term: u64) -> bool {
        let own_term = term == self.record.term;
        if term == 0 || term > self.record.term || (own_term && self.role == Role::Leader) {
            // This node never followed that leader, or is it.
            return false;
        }
        self.released = self.released.max(term);
        if own_term {
            self.follow(None);
        }
        let running = self.promise.filter(|promise| promise.until > self.now);
        let freed = match running.map(|promise| promise.to) {
            Some(Some(promised)) => promised == term || !self.keeps(Rule::ReleaseOwnTerm),
            Some(None) => own_term || !self.keeps(Rule::ReleaseOwnTerm),
            None => false,
        };
        if freed {
            self.promise = None;
        }
        freed
    }
}
