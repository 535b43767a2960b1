//! Law C1: the machine keeps the order between the disk and the network, not the host.
//!
//! Kafka's own code waits for its disk before it does anything else. Here the answers that depend on the quorum-state wait
//! inside; nothing is asked of others meanwhile, and what a transition leads to (counting the own vote, leading) comes when
//! the disk has answered. What of the log is durable is known by its offset.

use super::message::{Body, Message};
use super::{Kraft, LogWrite, Refusal, Role, Rule, Rules, Write};
use crate::disk::{LogOnDisk, Requests};
use crate::{Event, NodeId, Output, Ticket, Unknown, Why};
use alloc::vec::Vec;
use core::mem::discriminant;

/// How many answers wait at most for nodes that are no voters. Whoever finds no room asks again.
const STRANGERS: usize = 32;

/// How much of quorum-state and log the disk holds, and what waits for it.
#[derive(Clone, Debug)]
pub(super) struct Durable {
    pub(super) requests: Requests,
    /// Whether the quorum-state differs from that of the newest request.
    pub(super) changed: bool,
    /// The number of the newest request that changed the quorum-state.
    recorded: u64,
    log: LogOnDisk,
    /// Answers that wait for the quorum-state. **Invariant:** at most one of a kind to a voter, and [`STRANGERS`] beside.
    held: Vec<(NodeId, Message)>,
}

impl Durable {
    pub(super) fn new(incarnation: u64, log: u64) -> Self {
        Self {
            requests: Requests::new(incarnation),
            changed: false,
            recorded: 0,
            log: LogOnDisk::new(log),
            held: Vec::new(),
        }
    }

    pub(super) fn pending(&self) -> u64 {
        self.requests.pending()
    }

    /// Up to where the present log is on the disk.
    pub(super) fn log(&self) -> u64 {
        self.log.end()
    }

    /// Whether the disk holds the quorum-state as it was last asked for.
    pub(super) fn state_is_settled(&self) -> bool {
        !self.changed && self.requests.is_done(self.recorded)
    }

    /// How far the disk is behind, without the numbers of tickets, which are no protocol state (law C10).
    pub(super) fn open(&self) -> (u64, u64, bool) {
        let recorded = self.requests.pending_to(self.recorded);
        (self.pending(), recorded, self.changed)
    }

    pub(super) fn writes(&self) -> impl Iterator<Item = (u64, u64)> {
        let newest = self.requests.newest();
        self.log
            .open()
            .map(move |(number, end)| (newest - number, end))
    }

    pub(super) fn held(&self) -> &[(NodeId, Message)] {
        &self.held
    }
}

impl<R: Rules> Kraft<R> {
    /// Asks the disk for the quorum-state, if it changed.
    pub(super) fn persist(&mut self) {
        if self.durable.changed && !self.halted {
            self.durable.changed = false;
            self.request(LogWrite::Keep);
            self.durable.recorded = self.durable.requests.newest();
        }
    }

    /// Asks the disk for one change of the log, after the quorum-state it comes of.
    pub(super) fn write_log(&mut self, log: LogWrite) {
        self.persist();
        match log {
            LogWrite::Truncate { to } => self.durable.log.cut(to.index),
            LogWrite::Install { .. } => self.durable.log.cut(0),
            LogWrite::Keep | LogWrite::Append { .. } | LogWrite::Compact { .. } => {}
        }
        self.request(log);
        let end = match log {
            LogWrite::Append { after, count, .. } => after.index + count,
            LogWrite::Install { last } => last.index,
            LogWrite::Keep | LogWrite::Truncate { .. } | LogWrite::Compact { .. } => return,
        };
        let number = self.durable.requests.newest();
        self.durable.log.asked(number, end);
    }

    fn request(&mut self, log: LogWrite) {
        let ticket = self.durable.requests.issue();
        let write = Write {
            state: self.state,
            log,
        };
        self.outbox.push_back(Output::Request(ticket, write));
    }

    /// Whether the quorum-state is as it was last decided, on the disk.
    pub(super) fn settled(&self) -> bool {
        self.durable.state_is_settled() || !self.keeps(Rule::DurableBeforeReply)
    }

    /// Answers, as soon as the disk holds the quorum-state that the answer speaks of.
    pub(super) fn send(&mut self, to: NodeId, message: Message) {
        self.persist();
        if self.settled() {
            self.outbox.push_back(Output::Send(to, message));
        } else if !self.hold(to, message) {
            self.refusals.add(Refusal::TooManyStrangers);
        }
    }

    /// Keeps an answer for later. False when there is no room for it.
    fn hold(&mut self, to: NodeId, message: Message) -> bool {
        let kind = discriminant::<Body>(&message.body);
        let held = &mut self.durable.held;
        let same =
            |(whom, held): &&mut (NodeId, Message)| *whom == to && discriminant(&held.body) == kind;
        // Who asks again has given up the first question.
        if let Some((_, held)) = held.iter_mut().find(same) {
            *held = message;
            return true;
        }
        let voters = &self.config.voters;
        let stranger = |id: NodeId| voters.place(id).is_none();
        let strangers = || held.iter().filter(|(to, _)| stranger(*to)).count();
        if stranger(to) && strangers() >= STRANGERS {
            return false;
        }
        held.push((to, message));
        true
    }

    /// What waits for the disk speaks of an epoch that is over.
    pub(super) fn forget_held(&mut self) {
        self.durable.held.clear();
    }

    pub(super) fn on_reply(&mut self, ticket: Ticket, result: Result<(), Unknown>) {
        if !self.durable.requests.knows(ticket) {
            return self.refusals.add(Refusal::UnknownTicket);
        }
        if result == Err(Unknown) {
            return self.halt();
        }
        if !self.durable.requests.settle(ticket.number) {
            return;
        }
        self.durable.log.settle(ticket.number);
        if !self.durable.state_is_settled() {
            return;
        }
        for (to, message) in self.durable.held.drain(..) {
            self.outbox.push_back(Output::Send(to, message));
        }
        match self.role {
            Role::Candidate => self.candidacy_is_durable(),
            Role::Leader => self.advance_high_watermark(),
            Role::Unattached | Role::Prospective | Role::Follower | Role::Resigned => {}
        }
    }

    /// A write that may or may not have happened: what the disk holds is unknown, so nothing more may be said.
    fn halt(&mut self) {
        self.end_reign(Why::DiskFailed);
        self.follow(None);
        self.due = None;
        self.forget_held();
        self.parked.clear();
        for peer in &mut self.peers {
            peer.open = None;
        }
        self.outbox
            .retain(|output| matches!(output, Output::Event(_)));
        self.event(Event::Halted);
        self.halted = true;
    }
}
