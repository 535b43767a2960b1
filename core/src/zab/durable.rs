//! Law C1: what depends on the disk waits for it.
//!
//! Each step of the protocol that rests on a durable one keeps the number of that request and goes on once it is answered. The
//! log is written from where it was asked to be last to its end, when the host drains; what was proposed until then is one
//! request.

use super::message::Entries;
use super::record::Request;
use super::{Refusal, Role, Rule, Rules, Zab};
use crate::disk::{LogOnDisk, Requests};
use crate::log::Position;
use crate::{Event, Output, Ticket, Unknown, Why};

/// How far the disk is.
#[derive(Clone, Debug)]
pub(super) struct Durable {
    pub(super) requests: Requests,
    /// Up to where the log was asked to be appended.
    pub(super) appended: u64,
    /// Up to where it is synced.
    log: LogOnDisk,
    /// The number of the newest request to cut the log.
    cut: u64,
}

impl Durable {
    /// Starts from a disk whose log ends at `end`.
    pub(super) fn new(incarnation: u64, end: u64) -> Self {
        Self {
            requests: Requests::new(incarnation),
            appended: end,
            log: LogOnDisk::new(end),
            cut: 0,
        }
    }

    /// Up to where the log is synced.
    pub(super) fn synced(&self) -> u64 {
        self.log.end()
    }

    /// Whether a sync of the log is open. What is to be logged meanwhile shares the next, so that a slow disk does not fall behind
    /// by more than that.
    pub(super) fn is_syncing(&self) -> bool {
        self.log.open().len() > 0
    }

    /// Open syncs, by how many requests are open up to each (law C10).
    pub(super) fn open_syncs(&self) -> impl Iterator<Item = (u64, u64)> {
        let open = |number| self.requests.pending_to(number);
        self.log
            .open()
            .map(move |(number, end)| (open(number), end))
    }

    /// The log ends at `index` at most; what was asked for beyond counts for nothing.
    pub(super) fn cut_to(&mut self, index: u64) {
        self.appended = self.appended.min(index);
        self.log.cut(index);
    }

    /// Another log begins after `index`.
    pub(super) fn replaced(&mut self, index: u64) {
        self.cut_to(0);
        self.appended = index;
    }
}

impl<R: Rules> Zab<R> {
    /// Asks for one step of the disk. Answers its number.
    pub(super) fn request(&mut self, request: Request) -> u64 {
        let ticket = self.durable.requests.issue();
        if let Request::Truncate { .. } = request {
            self.durable.cut = ticket.number;
        }
        self.outbox.push_back(Output::Request(ticket, request));
        ticket.number
    }

    /// The entry at `index`, or the position before the first.
    pub(super) fn position(&self, index: u64) -> Position {
        Position::new(self.log.term_at(index).unwrap_or(0), index)
    }

    /// Entries after `index`: of one epoch, at most `most`. `None` at the end of the log, and below its base.
    pub(super) fn entries_after(&self, index: u64, most: u64) -> Option<Entries> {
        let (epoch, count) = self.log.run_after(index)?;
        Some(Entries {
            after: self.position(index),
            epoch,
            count: count.min(most),
        })
    }

    /// Asks for what the log has beyond what was asked to be appended.
    pub(super) fn append_log(&mut self) {
        while let Some(entries) = self.entries_after(self.durable.appended, u64::MAX) {
            self.durable.appended += entries.count;
            self.request(Request::Append(entries));
        }
    }

    /// Asks for the log to be synced. Answers the number of the request.
    pub(super) fn sync_log(&mut self) -> u64 {
        let number = self.request(Request::Sync);
        self.durable.log.asked(number, self.durable.appended);
        number
    }

    pub(super) fn on_reply(&mut self, ticket: Ticket, result: Result<(), Unknown>) {
        if !self.durable.requests.knows(ticket) {
            return self.refusals.add(Refusal::UnknownTicket);
        }
        let may_fail = ticket.number == self.durable.cut && !self.keeps(Rule::CutOrExit);
        if result == Err(Unknown) && !may_fail {
            return self.halt();
        }
        if !self.durable.requests.settle(ticket.number) {
            return;
        }
        self.durable.log.settle(ticket.number);
        match self.role {
            Role::Looking => self.settle(),
            Role::Leading => self.leader_is_durable(),
            Role::Following | Role::Observing => self.learner_is_durable(),
        }
    }

    /// A step that may or may not have happened: what the disk holds is unknown, so nothing more may be said. Also how ZooKeeper
    /// ends when it cannot cut its log (Z-3701): its process exits.
    fn halt(&mut self) {
        self.leave(Why::DiskFailed);
        self.outbox
            .retain(|output| matches!(output, Output::Event(_)));
        self.event(Event::Halted);
        self.halted = true;
    }
}
