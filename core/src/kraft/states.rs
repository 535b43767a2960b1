//! Transitions between the states (§5.2). Each forgets what was asked in the one before: answers to that come late.

use super::{Kraft, Refusal, Role, Rules};
use crate::{Event, Leader, NodeId, Why};

impl<R: Rules> Kraft<R> {
    /// KR-0: what a message tells of the present epoch. False when it is of an epoch that is over, or cannot be.
    pub(super) fn heed(&mut self, epoch: u64, leader: Option<NodeId>) -> bool {
        // Who is told that it leads, and knows nothing of it, lost its disk or its leadership.
        let leader = leader.filter(|leader| *leader != self.config.id);
        if leader.is_some_and(|leader| self.config.voters.place(leader).is_none()) {
            self.refusals.add(Refusal::UnknownLeader);
            return false;
        }
        if epoch < self.state.epoch {
            return false;
        }
        if epoch > self.state.epoch {
            self.enter(epoch, leader);
            return true;
        }
        match (self.state.leader, leader) {
            (Some(known), Some(told)) if known != told => {
                self.refusals.add(Refusal::SecondLeader);
                return false;
            }
            (None, Some(told)) => self.become_follower(told),
            _ => {}
        }
        true
    }

    /// Enters a higher epoch: as a follower when its leader is known, else unattached.
    pub(super) fn enter(&mut self, epoch: u64, leader: Option<NodeId>) {
        debug_assert!(epoch > self.state.epoch);
        self.end_reign(Why::HigherTerm);
        self.follow(None);
        self.raise_epoch(epoch);
        let Some(leader) = leader else {
            // A timer that runs, runs on: else a candidate whom nobody can vote for, epoch after epoch, would keep everybody
            // else from standing.
            let (armed_at, running) = (
                self.armed_at,
                self.due.filter(|_| self.role != Role::Leader),
            );
            self.become_unattached();
            if running.is_some() {
                (self.armed_at, self.due) = (armed_at, running);
            }
            return;
        };
        self.become_follower(leader);
    }

    /// The quorum-state of a new epoch: nobody leads it, and the vote is free.
    pub(super) fn raise_epoch(&mut self, epoch: u64) {
        self.state.epoch = epoch;
        self.state.leader = None;
        self.state.voted = None;
        self.durable.changed = true;
        // What waits for the disk speaks of an epoch that is over.
        self.forget_held();
    }

    pub(super) fn switch(&mut self, role: Role) {
        self.role = role;
        self.fetched = false;
        self.backing_off = false;
        self.armed_at = self.now;
        self.due = None;
        for peer in &mut self.peers {
            peer.forget(self.now);
        }
    }

    /// KR-S1. Keeps the vote, and a leader that cannot be reached.
    pub(super) fn become_unattached(&mut self) {
        self.switch(Role::Unattached);
        self.follow(None);
        if self.is_voter() {
            self.arm_election();
        }
    }

    /// KR-S2. Keeps the vote.
    pub(super) fn become_follower(&mut self, leader: NodeId) {
        self.switch(Role::Follower);
        self.retries = 0;
        if self.state.leader != Some(leader) {
            self.state.leader = Some(leader);
            self.durable.changed = true;
        }
        self.follow(Some(leader));
        self.await_fetch();
    }

    /// The leader has a fetch timeout to answer a fetch, or to say that it leads.
    pub(super) fn await_fetch(&mut self) {
        if self.is_voter() {
            self.arm(self.config.timing.fetch_timeout);
        }
    }

    /// Learns who leads the present epoch, or that nobody known does.
    pub(super) fn follow(&mut self, leader: Option<NodeId>) {
        if self.leader == leader {
            return;
        }
        let reported = self.leader.is_some_and(|node| node != self.config.id);
        self.leader = leader;
        match leader {
            Some(node) if node != self.config.id => {
                let token = self.token();
                self.event(Event::Following(Some(Leader { node, token })));
            }
            None if reported => self.event(Event::Following(None)),
            _ => {}
        }
    }
}
