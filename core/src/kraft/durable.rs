//! Law C1: the machine keeps the order between the disk and the network, not the host.
//!
//! Kafka's own code waits for its disk before it does anything else. Here the answers that depend on the quorum-state wait
//! inside; nothing is asked of others meanwhile, and what a transition leads to (counting the own vote, leading) comes when
//! the disk has answered. What of the log is durable is known by its offset.

use super::message::{Body, Message};
use super::{Kraft, LogWrite, Refusal, Role, Rule, Rules, Write};
use crate::{Event, NodeId, Output, Ticket, Unknown, Why};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem::discriminant;

/// How many answers wait at most for nodes that are no voters. Whoever finds no room asks again.
const STRANGERS: usize = 32;

/// How much of quorum-state and log the disk holds, and what waits for it.
#[derive(Clone, Debug)]
pub(super) struct Durable {
    pub(super) incarnation: u64,
    /// Whether the quorum-state differs from that of the newest request.
    pub(super) changed: bool,
    /// The number of the newest request.
    issued: u64,
    /// The number of the newest request that was answered. **Invariant:** `answered <= issued`.
    answered: u64,
    /// The number of the newest request that changed the quorum-state.
    recorded: u64,
    /// Up to where the present log is on the disk.
    log: u64,
    /// Open requests that let the log grow, and up to where the present log is on the disk once each is answered.
    writes: VecDeque<(u64, u64)>,
    /// Answers that wait for the quorum-state. **Invariant:** at most one of a kind to a voter, and [`STRANGERS`] beside.
    held: Vec<(NodeId, Message)>,
}

impl Durable {
    pub(super) fn new(incarnation: u64, log: u64) -> Self {
        Self {
            incarnation,
            changed: false,
            issued: 0,
            answered: 0,
            recorded: 0,
            log,
            writes: VecDeque::new(),
            held: Vec::new(),
        }
    }

    pub(super) fn pending(&self) -> u64 {
        self.issued - self.answered
    }

    /// Up to where the present log is on the disk.
    pub(super) fn log(&self) -> u64 {
        self.log
    }

    /// Whether the disk holds the quorum-state as it was last asked for.
    pub(super) fn state_is_settled(&self) -> bool {
        !self.changed && self.recorded <= self.answered
    }

    /// How far the disk is behind, without the numbers of tickets, which are no protocol state (law C10).
    pub(super) fn open(&self) -> (u64, u64, bool) {
        let recorded = self.recorded.saturating_sub(self.answered);
        (self.pending(), recorded, self.changed)
    }

    pub(super) fn writes(&self) -> impl Iterator<Item = (u64, u64)> {
        let name = |(number, end): &(u64, u64)| (self.issued - number, *end);
        self.writes.iter().map(name)
    }

    pub(super) fn held(&self) -> &[(NodeId, Message)] {
        &self.held
    }

    /// The log ends at `index` from now on, and agrees with what was asked for up to there.
    fn cut(&mut self, index: u64) {
        self.log = self.log.min(index);
        for (_, end) in &mut self.writes {
            *end = (*end).min(index);
        }
    }

    fn issue(&mut self) -> Ticket {
        self.issued += 1;
        Ticket {
            incarnation: self.incarnation,
            number: self.issued,
        }
    }
}

impl<R: Rules> Kraft<R> {
    /// Asks the disk for the quorum-state, if it changed.
    pub(super) fn persist(&mut self) {
        if self.durable.changed && !self.halted {
            self.durable.changed = false;
            self.request(LogWrite::Keep);
            self.durable.recorded = self.durable.issued;
        }
    }

    /// Asks the disk for one change of the log, after the quorum-state it comes of.
    pub(super) fn write_log(&mut self, log: LogWrite) {
        self.persist();
        match log {
            LogWrite::Truncate { to } => self.durable.cut(to.index),
            LogWrite::Install { .. } => self.durable.cut(0),
            LogWrite::Keep | LogWrite::Append { .. } | LogWrite::Compact { .. } => {}
        }
        self.request(log);
        let end = match log {
            LogWrite::Append { after, count, .. } => after.index + count,
            LogWrite::Install { last } => last.index,
            LogWrite::Keep | LogWrite::Truncate { .. } | LogWrite::Compact { .. } => return,
        };
        self.durable.writes.push_back((self.durable.issued, end));
    }

    fn request(&mut self, log: LogWrite) {
        let ticket = self.durable.issue();
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
        // Writes are done in ticket order: this reply covers all before it.
        self.durable.answered = ticket.number;
        while let Some((number, end)) = self.durable.writes.front().copied()
            && number <= ticket.number
        {
            self.durable.log = end;
            self.durable.writes.pop_front();
        }
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
