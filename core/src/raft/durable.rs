//! Law C1: the machine keeps the order between the disk and the network, not the host.
//!
//! Every message that speaks of this node's term, vote or promise waits inside until the disk holds them. Term and vote
//! answered before they were durable are a double vote after a crash (NodeDB#161, hashicorp/raft#661).

use super::{Message, Raft, Record, Refusal, Role, Rule, Rules};
use crate::{Event, NodeId, Output, Ticket, Unknown, Why};
use alloc::vec::Vec;
use core::mem::discriminant;

/// How much of the record the disk holds, and what waits for it.
#[derive(Clone, Debug)]
pub(super) struct Durable {
    incarnation: u64,
    /// The record of the newest request.
    asked: Record,
    /// The number of the newest request.
    issued: u64,
    /// The number of the newest request that was answered. **Invariant:** `answered <= issued`.
    answered: u64,
    /// Messages that wait for all requests issued when they were said. **Invariant:** at most one of a kind to a peer,
    /// so that a disk that never answers cannot make it grow.
    held: Vec<Held>,
}

#[derive(Clone, Debug)]
struct Held {
    after: u64,
    to: NodeId,
    message: Message,
}

impl Durable {
    /// Starts from the record that was read from the disk.
    pub(super) fn new(incarnation: u64, record: Record) -> Self {
        Self {
            incarnation,
            asked: record,
            issued: 0,
            answered: 0,
            held: Vec::new(),
        }
    }

    pub(super) fn pending(&self) -> u64 {
        self.issued - self.answered
    }

    pub(super) fn incarnation(&self) -> u64 {
        self.incarnation
    }

    pub(super) fn forget_held(&mut self) {
        self.held.clear();
    }

    /// How far the disk is behind: the record that was last asked for, and how many requests are open. The ticket
    /// numbers themselves are no protocol state (law C10).
    pub(super) fn asked(&self) -> (u64, Record) {
        (self.pending(), self.asked)
    }

    /// What waits for the disk: for how many requests fewer than are open, for whom, and what.
    pub(super) fn held(&self) -> impl Iterator<Item = (u64, NodeId, Message)> {
        self.held
            .iter()
            .map(|held| (self.issued - held.after, held.to, held.message))
    }

    /// Changes what waits for the disk to be said to `to`.
    pub(super) fn change_held(&mut self, to: NodeId, change: impl Fn(Message) -> Message) {
        for held in self.held.iter_mut().filter(|held| held.to == to) {
            held.message = change(held.message);
        }
    }

    fn hold(&mut self, to: NodeId, message: Message) {
        let after = self.issued;
        let same = |held: &&mut Held| {
            held.to == to && discriminant(&held.message) == discriminant(&message)
        };
        match self.held.iter_mut().find(same) {
            Some(held) => *held = Held { after, to, message },
            None => self.held.push(Held { after, to, message }),
        }
    }
}

impl<R: Rules> Raft<R> {
    /// The nonce of this life.
    #[must_use]
    pub fn incarnation(&self) -> u64 {
        self.durable.incarnation()
    }

    /// Asks the disk for the record when it changed. One request carries term, vote and promise together.
    pub(super) fn persist(&mut self) {
        if self.record == self.durable.asked || self.halted {
            return;
        }
        self.record.promise = self.promise_to_record();
        if self.record == self.durable.asked {
            return;
        }
        self.durable.asked = self.record;
        self.durable.issued += 1;
        let ticket = Ticket {
            incarnation: self.durable.incarnation,
            number: self.durable.issued,
        };
        self.outbox.push_back(Output::Request(ticket, self.record));
    }

    /// Says `message`, as soon as the disk holds what it speaks of.
    pub(super) fn send(&mut self, to: NodeId, message: Message) {
        self.persist();
        if self.durable.pending() == 0 || !self.keeps(Rule::DurableBeforeReply) {
            self.outbox.push_back(Output::Send(to, message));
        } else {
            self.durable.hold(to, message);
        }
    }

    pub(super) fn on_reply(&mut self, ticket: Ticket, result: Result<(), Unknown>) {
        if ticket.incarnation != self.durable.incarnation
            || ticket.number == 0
            || ticket.number > self.durable.issued
        {
            return self.refusals.add(Refusal::UnknownTicket);
        }
        if result == Err(Unknown) {
            return self.halt();
        }
        if ticket.number <= self.durable.answered {
            return;
        }
        // Records are written in ticket order: this reply covers all before it.
        self.durable.answered = ticket.number;
        let mut at = 0;
        while at < self.durable.held.len() {
            if self.durable.held[at].after <= ticket.number {
                let held = self.durable.held.remove(at);
                self.outbox.push_back(Output::Send(held.to, held.message));
            } else {
                at += 1;
            }
        }
        if self.durable.pending() > 0 {
            return;
        }
        match self.role {
            Role::Candidate => self.own_vote_is_durable(),
            // Its vote for another leaves only now: the wait for that one begins.
            Role::Follower if self.leader.is_none() && self.voted_for_another() => {
                self.await_elected()
            }
            _ => {}
        }
    }

    /// A write that may or may not have happened: what the disk holds is unknown, so nothing more may be said
    /// (fsync that failed once is not to be retried).
    fn halt(&mut self) {
        if self.role == Role::Leader {
            self.event(Event::Deposed(
                self.token(self.record.term),
                Why::DiskFailed,
            ));
        }
        self.follow(None);
        self.step_back();
        self.due = None;
        self.durable.forget_held();
        self.outbox
            .retain(|output| matches!(output, Output::Event(_)));
        self.event(Event::Halted);
        self.halted = true;
    }
}
