//! Law C1: what depends on the file waits inside until the disk holds it.
//!
//! The real sentinel stops and waits for its `fsync`; and where a write fails, goes on. Here whatever speaks of epochs, of a vote
//! or of a configuration is held back until the reply to the newest write that was asked for, and a failed or doubtful write
//! ends the life of the machine.

use super::file::{File, Kept};
use super::message::Message;
use super::refuse::Refusal;
use super::{Rule, Rules, Sentinel};
use crate::disk::Requests;
use crate::{Event, NodeId, Output, Ticket, Unknown, Why};
use alloc::vec::Vec;
use core::mem::discriminant;

/// For how many nodes answers wait at most that are not watched here.
const STRANGERS: usize = 8;

/// How much of the file the disk holds, and what waits for it.
#[derive(Clone, Debug)]
pub(super) struct Durable {
    pub(super) requests: Requests,
    /// Whether the file differs from that of the newest request.
    changed: bool,
    /// **Invariant:** at most one of a kind about one master to one node, so that a disk that never answers cannot make it grow.
    held: Vec<Held>,
}

#[derive(Clone, Debug)]
struct Held {
    after: u64,
    to: NodeId,
    message: Message,
}

impl Durable {
    pub(super) const fn new(incarnation: u64) -> Self {
        Self {
            requests: Requests::new(incarnation),
            changed: false,
            held: Vec::new(),
        }
    }

    /// What waits: for how many writes fewer than are open, for whom, and what.
    pub(super) fn held(&self) -> impl Iterator<Item = (u64, NodeId, &Message)> {
        let fewer = |held: &Held| (self.requests.newest() + 1).saturating_sub(held.after);
        (self.held.iter()).map(move |held| (fewer(held), held.to, &held.message))
    }
}

/// Whether two messages to one node are of one kind about one master: the later one takes the place of the earlier.
fn alike(a: &Message, b: &Message) -> bool {
    let about = |message: &Message| match message {
        Message::Ask { master, .. } | Message::Answer { master, .. } => Some(master.0),
        Message::Hello(hello) => Some(hello.name.0.into()),
        _ => None,
    };
    discriminant(a) == discriminant(b) && about(a) == about(b)
}

impl<R: Rules> Sentinel<R> {
    /// The file is another one now; the number of the write that will hold this.
    pub(super) fn change(&mut self) -> u64 {
        self.durable.changed = true;
        self.durable.requests.newest() + 1
    }

    /// Whether the disk holds what this write held. Without the rule everything goes on as if it did.
    pub(super) fn is_written(&self, number: u64) -> bool {
        self.durable.requests.is_done(number) || !self.rules.keeps(Rule::VoteDurable)
    }

    /// The number of the write that holds, or will hold, the file as it is now.
    fn newest(&self) -> u64 {
        self.durable.requests.newest() + u64::from(self.durable.changed)
    }

    /// What clients may be told: a configuration counts once the disk holds it.
    pub(super) fn note_written(&mut self) {
        if self.is_written(self.newest()) {
            for master in &mut self.masters {
                master.written = (master.address(), master.config_epoch);
            }
        }
    }

    /// Says something that speaks of what the file holds: at once when the disk holds it.
    pub(super) fn say(&mut self, to: NodeId, message: Message) {
        let after = self.newest();
        if self.is_written(after) {
            return self.send(to, message);
        }
        let same = |held: &&mut Held| held.to == to && alike(&held.message, &message);
        if let Some(held) = self.durable.held.iter_mut().find(same) {
            *held = Held { after, to, message };
            return;
        }
        if !self.is_known(to) {
            let strangers = (self.durable.held.iter()).filter(|held| !self.is_known(held.to));
            if strangers.count() >= STRANGERS {
                return self.refusals.add(Refusal::NoRoom);
            }
        }
        self.durable.held.push(Held { after, to, message });
    }

    /// Asks the disk for what changed.
    pub(super) fn persist(&mut self) {
        if !core::mem::take(&mut self.durable.changed) {
            return;
        }
        let ticket = self.durable.requests.issue();
        let file = self.file();
        self.outbox.push_back(Output::Request(ticket, file));
    }

    /// The file as it is to be.
    pub(super) fn file(&self) -> File {
        let masters = self.masters.iter().map(|master| {
            let address = master.address();
            let mut replicas: Vec<NodeId> = (master.replicas.iter())
                .map(|replica| replica.at.node)
                .collect();
            // redis@821a98664: from the promotion on the promoted is the master, and the old master a replica like others.
            if address != master.at.node && self.rules.keeps(Rule::RewriteNamesPromoted) {
                replicas.retain(|node| *node != address);
                replicas.push(master.at.node);
                replicas.sort_unstable();
            }
            Kept {
                name: master.monitor.name,
                address,
                config_epoch: master.config_epoch,
                leader_epoch: master.leader_epoch,
                replicas,
                sentinels: (master.sentinels.iter())
                    .map(|sentry| (sentry.at.node, sentry.id))
                    .collect(),
            }
        });
        File {
            id: self.id,
            generation: self.config.generation,
            current_epoch: self.current_epoch,
            masters: masters.collect(),
        }
    }

    pub(super) fn on_reply(&mut self, ticket: Ticket, reply: Result<(), Unknown>) {
        let requests = &self.durable.requests;
        if !requests.knows(ticket) || requests.is_done(ticket.number) {
            return self.refusals.add(Refusal::UnknownTicket);
        }
        if reply.is_err() {
            return self.halt();
        }
        self.durable.requests.settle(ticket.number);
        let mut held = core::mem::take(&mut self.durable.held);
        held.retain(|one| {
            let waits = one.after > ticket.number;
            if !waits {
                self.send(one.to, one.message.clone());
            }
            waits
        });
        self.durable.held = held;
        self.tell_established();
    }

    /// The machine acts no more.
    fn halt(&mut self) {
        self.halted = true;
        self.durable.held.clear();
        for place in 0..self.masters.len() {
            self.leave_office(place, Why::DiskFailed);
        }
        self.outbox.push_back(Output::Event(Event::Halted));
    }

    pub(super) fn is_known(&self, node: NodeId) -> bool {
        self.masters.iter().any(|master| {
            master.at.node == node
                || master.replicas.iter().any(|one| one.at.node == node)
                || master.sentinels.iter().any(|one| one.at.node == node)
        })
    }
}
