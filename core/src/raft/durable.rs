//! Law C1: the machine keeps the order between the disk and the network, not the host.
//!
//! Every message that speaks of this node's term, vote or promise waits inside until the disk holds them. Term and vote
//! answered before they were durable are a double vote after a crash (NodeDB#161, hashicorp/raft#661). Entries count, the
//! leader's own copy included, from the disk's answer on; what speaks of the record alone does not wait for them.

use super::{Entries, LogWrite, Message, Raft, Refusal, Role, Rule, Rules, Write};
use crate::disk::{LogOnDisk, Requests};
use crate::membership::Membership;
use crate::{Event, NodeId, Output, Ticket, Unknown, Why};
use alloc::vec::Vec;
use core::mem::discriminant;

/// How many answers wait at most for nodes that are in no configuration known here: they may be in a newer one, and
/// anybody may claim to be. Whoever finds no room asks again.
const STRANGERS: usize = 8;

/// How much of record and log the disk holds, and what waits for it.
#[derive(Clone, Debug)]
pub(super) struct Durable {
    requests: Requests,
    /// Whether the record differs from that of the newest request.
    pub(super) changed: bool,
    /// The number of the newest request that changed the record.
    recorded: u64,
    /// Up to where the present log was asked to be written. **Invariant:** `log.end() <= log_asked <= ` the end of the log.
    log_asked: u64,
    log: LogOnDisk,
    /// Messages that wait for all changes of the record that were asked for when they were said. **Invariant:** at most
    /// one of a kind to a member, and [`STRANGERS`] beside, so that a disk that never answers cannot make it grow.
    held: Vec<Held>,
}

#[derive(Clone, Debug)]
struct Held {
    after: u64,
    to: NodeId,
    message: Message,
}

impl Durable {
    /// Starts from what was read from the disk.
    pub(super) fn new(incarnation: u64, log: u64) -> Self {
        Self {
            requests: Requests::new(incarnation),
            changed: false,
            recorded: 0,
            log_asked: log,
            log: LogOnDisk::new(log),
            held: Vec::new(),
        }
    }

    pub(super) fn pending(&self) -> u64 {
        self.requests.pending()
    }

    /// Whether the disk holds the record as it was last asked for.
    #[inline]
    pub(super) fn record_is_settled(&self) -> bool {
        self.requests.is_done(self.recorded)
    }

    /// Up to where the present log is on the disk.
    #[inline]
    pub(super) fn log(&self) -> u64 {
        self.log.end()
    }

    pub(super) fn incarnation(&self) -> u64 {
        self.requests.incarnation()
    }

    pub(super) fn forget_held(&mut self) {
        self.held.clear();
    }

    /// How far the disk is behind: how many requests are open, and how many of them up to the newest that changed the
    /// record. The ticket numbers themselves are no protocol state (law C10).
    pub(super) fn open(&self) -> (u64, u64) {
        (self.pending(), self.requests.pending_to(self.recorded))
    }

    /// How far each open request takes the log, by how many requests fewer than are open.
    pub(super) fn writes(&self) -> impl Iterator<Item = (u64, u64)> {
        let newest = self.requests.newest();
        self.log
            .open()
            .map(move |(number, end)| (newest - number, end))
    }

    /// What waits for the disk: for how many requests fewer than are open, for whom, and what.
    pub(super) fn held(&self) -> impl Iterator<Item = (u64, NodeId, &Message)> {
        let newest = self.requests.newest();
        self.held
            .iter()
            .map(move |held| (newest - held.after, held.to, &held.message))
    }

    /// Changes what waits for the disk to be said to `to`.
    pub(super) fn change_held(&mut self, to: NodeId, change: impl Fn(Message) -> Message) {
        for held in self.held.iter_mut().filter(|held| held.to == to) {
            held.message = change(held.message.clone());
        }
    }

    /// Keeps a message for later. False when there is no room for it.
    fn hold(&mut self, to: NodeId, message: Message, members: &Membership) -> bool {
        let after = self.recorded;
        let same = |held: &&mut Held| {
            held.to == to && discriminant(&held.message) == discriminant(&message)
        };
        match self.held.iter_mut().find(same) {
            Some(held) => *held = Held { after, to, message },
            None => {
                let stranger = |id: NodeId| members.place(id).is_none();
                if stranger(to) {
                    let strangers = self.held.iter().filter(|held| stranger(held.to));
                    if strangers.count() >= STRANGERS {
                        return false;
                    }
                }
                // Mostly one answer waits; a machine at rest keeps room for no more than it needed.
                if self.held.capacity() == 0 {
                    self.held.reserve_exact(1);
                }
                self.held.push(Held { after, to, message });
            }
        }
        true
    }

    /// The log is another one, which ends at `index` and is not on the disk; the request for it is next.
    pub(super) fn replace(&mut self, index: u64) {
        self.cut(0);
        self.log_asked = index;
    }

    /// The present log agrees with what was asked for up to `index` alone.
    fn cut(&mut self, index: u64) {
        self.log_asked = self.log_asked.min(index);
        self.log.cut(index);
    }
}

impl<R: Rules> Raft<R> {
    /// The nonce of this life.
    #[must_use]
    pub fn incarnation(&self) -> u64 {
        self.durable.incarnation()
    }

    /// Asks the disk for what changed. One request carries term, vote, promise and the first of the new entries
    /// together; one that the host has not taken yet grows.
    #[inline]
    pub(super) fn persist(&mut self) {
        if self.durable.changed || self.durable.log_asked < self.log.last().index {
            self.persist_changes();
        }
    }

    fn persist_changes(&mut self) {
        if self.halted {
            return;
        }
        if self.durable.changed {
            self.record.promise = self.promise_to_record();
        }
        let end = self.log.last().index;
        if self.durable.changed && self.durable.log_asked == end {
            self.request(LogWrite::Keep);
        }
        while self.durable.log_asked < end {
            let from = self.durable.log_asked;
            let entries = self.entries_after(from, u64::MAX);
            let after = self.position(from);
            self.durable.log_asked += entries.count();
            self.request(LogWrite::Append { after, entries });
        }
    }

    /// Asks for one write with what happens to the log.
    pub(super) fn request(&mut self, log: LogWrite) {
        let record = self.record;
        // The newest request may still lie here: then it grows instead, if it can.
        let grown = match self.outbox.back_mut() {
            Some(Output::Request(_, open)) => {
                let grown = extend(&mut open.log, &log);
                if grown {
                    open.record = record;
                }
                grown
            }
            _ => false,
        };
        if !grown {
            let ticket = self.durable.requests.issue();
            self.outbox
                .push_back(Output::Request(ticket, Write { record, log }));
        }
        let number = self.durable.requests.newest();
        if core::mem::take(&mut self.durable.changed) {
            self.durable.recorded = number;
        }
        let end = self.durable.log_asked;
        if !self.durable.log.grown(number, end) && end > self.durable.log() {
            self.durable.log.asked(number, end);
        }
    }

    /// Forgets the entries after `index`. What takes their place is asked for with the next request.
    pub(super) fn cut_log(&mut self, index: u64) {
        self.log.truncate(index);
        self.durable.cut(index);
        self.matched = self.matched.min(index);
        self.acknowledged = self.acknowledged.min(index);
    }

    /// Says `message`, as soon as the disk holds the record it speaks of.
    pub(super) fn send(&mut self, to: NodeId, message: Message) {
        self.persist();
        if self.durable.record_is_settled() || !self.keeps(Rule::DurableBeforeReply) {
            self.outbox.push_back(Output::Send(to, message));
        } else {
            self.hold_back(to, message);
        }
    }

    #[cold]
    fn hold_back(&mut self, to: NodeId, message: Message) {
        if !self.durable.hold(to, message, &self.membership) {
            self.refusals.add(Refusal::TooManyStrangers);
        }
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
        let mut at = 0;
        while at < self.durable.held.len() {
            if self.durable.held[at].after <= ticket.number {
                let held = self.durable.held.remove(at);
                self.outbox.push_back(Output::Send(held.to, held.message));
            } else {
                at += 1;
            }
        }
        if self.durable.held.is_empty() {
            // Mostly the record changes when leaders do. In between no room is kept for what waits for it.
            self.durable.held = Vec::new();
        }
        if !self.durable.record_is_settled() {
            return;
        }
        match self.role {
            Role::Candidate => self.own_vote_is_durable(),
            Role::Leader => self.own_copy_is_durable(),
            // Its vote for another leaves only now: the wait for that one begins.
            Role::Follower if self.leader.is_none() && self.voted_for_another() => {
                self.await_elected()
            }
            Role::Follower | Role::PreCandidate => self.acknowledge_what_is_durable(),
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

/// Adds what happens to the log next to what happens to it in a request that was not taken yet. Whether it fits.
fn extend(open: &mut LogWrite, next: &LogWrite) -> bool {
    match (open, next) {
        (_, LogWrite::Keep) => true,
        (open @ LogWrite::Keep, next) => {
            *open = next.clone();
            true
        }
        (
            LogWrite::Append {
                after,
                entries: Entries::Run { term, count },
            },
            LogWrite::Append {
                after: end,
                entries:
                    Entries::Run {
                        term: same,
                        count: more,
                    },
            },
        ) if term == same && end.index == after.index + *count => {
            *count += more;
            true
        }
        _ => false,
    }
}
