//! A single machine moved by hand.
#![allow(dead_code)] // each test file uses its part

use std::hash::{DefaultHasher, Hasher};
use tenure::log::Shape;
use tenure::quorum::Voters;
use tenure::raft::{
    Boot, Config, Faithful, Message, Raft, Record, Replication, Role, Rules, Stored, Switched,
    View, Write,
};
use tenure::{Duration, Election, Event, Input, Instant, NodeId, Output, Ticket};

/// A machine, its clock in milliseconds, and a disk that is written at once unless told otherwise.
pub(crate) struct Bench<R: Rules> {
    pub(crate) machine: Raft<R>,
    /// What it began with, and all that was written since.
    pub(crate) disk: Option<Stored>,
    pub(crate) disk_works: bool,
    /// What was asked of a disk that does not work, in order.
    pub(crate) waiting: Vec<Ticket>,
    unwritten: Vec<(Ticket, Write)>,
    pub(crate) sent: Vec<(u64, Message)>,
    pub(crate) events: Vec<Event>,
}

pub(crate) fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

impl<R: Rules> Bench<R> {
    pub(crate) fn booted(
        voters: u64,
        id: u64,
        record: Option<Record>,
        log: Shape,
        rules: R,
    ) -> Self {
        let voters = Voters::new((0..voters).map(NodeId)).unwrap();
        let stored = record.map(|record| Stored {
            log,
            ..Stored::from(record)
        });
        let boot = Boot {
            stored: stored.clone(),
            incarnation: 1,
            seed: 1,
        };
        let machine = Raft::with_rules(Config::new(NodeId(id), voters), boot, ms(0), rules);
        Self {
            disk: stored,
            ..Self::of(machine.unwrap())
        }
    }

    /// A machine with a log.
    pub(crate) fn with_log(
        voters: u64,
        id: u64,
        stored: Option<Stored>,
        flow: Replication,
        rules: R,
    ) -> Self {
        let voters = Voters::new((0..voters).map(NodeId)).unwrap();
        let config = Config {
            replication: Some(flow),
            ..Config::new(NodeId(id), voters)
        };
        let boot = Boot {
            stored: stored.clone(),
            incarnation: 1,
            seed: 1,
        };
        Self {
            disk: stored,
            ..Self::of(Raft::with_rules(config, boot, ms(0), rules).unwrap())
        }
    }

    /// A machine that has just been built.
    pub(crate) fn of(machine: Raft<R>) -> Self {
        Self {
            machine,
            disk: None,
            disk_works: true,
            waiting: Vec::new(),
            unwritten: Vec::new(),
            sent: Vec::new(),
            events: Vec::new(),
        }
    }

    pub(crate) fn input(&mut self, at: u64, input: Input<Message, ()>) {
        if let Input::Reply(ticket, Ok(())) = &input {
            self.write_up_to(*ticket);
        }
        self.machine.handle(ms(at), input);
        while let Some(output) = self.machine.poll() {
            match output {
                Output::Event(event) => self.events.push(event),
                Output::Request(ticket, write) => {
                    self.unwritten.push((ticket, write));
                    if self.disk_works {
                        self.write_up_to(ticket);
                        self.machine.handle(ms(at), Input::Reply(ticket, Ok(())));
                    } else {
                        self.waiting.push(ticket);
                    }
                }
                Output::Send(to, message) => self.sent.push((to.0, message)),
            }
        }
    }

    /// Writes are done in order: what was asked for up to `ticket` is on the disk now.
    fn write_up_to(&mut self, ticket: Ticket) {
        let done = self.unwritten.partition_point(|(open, _)| *open <= ticket);
        for (_, write) in self.unwritten.drain(..done) {
            let disk = self.disk.get_or_insert_default();
            disk.apply(&write).expect("a write that fits the disk");
        }
    }

    /// The record on the disk.
    pub(crate) fn recorded(&self) -> Option<Record> {
        self.disk.as_ref().map(|stored| stored.record)
    }

    pub(crate) fn hear(&mut self, at: u64, from: u64, message: Message) {
        self.input(at, Input::Peer(NodeId(from), message));
    }

    /// Appends `count` entries, a leader's, and carries out what that asks for.
    pub(crate) fn propose(&mut self, at: u64, count: u32) {
        self.machine.propose(ms(at), count).unwrap();
        self.input(at, Input::Timeout);
    }

    /// The disk answers the oldest of what it was asked for and did not do.
    pub(crate) fn write_next(&mut self, at: u64) {
        let ticket = self.waiting.remove(0);
        self.input(at, Input::Reply(ticket, Ok(())));
    }

    /// What was said since the last look.
    pub(crate) fn said(&mut self) -> Vec<(u64, Message)> {
        std::mem::take(&mut self.sent)
    }

    pub(crate) fn heartbeat(&mut self, at: u64, from: u64, term: u64) {
        self.hear(
            at,
            from,
            Message::Heartbeat {
                term,
                sent: ms(at),
                round: 1,
                commit: 0,
            },
        );
    }

    /// Makes it the leader of its next term at `at`, with the votes of `voter`; its promises must be over.
    pub(crate) fn elect(&mut self, at: u64, voter: u64) -> u64 {
        let term = self.machine.term() + 1;
        self.input(at, Input::Campaign);
        self.hear(
            at,
            voter,
            Message::PreVoteGranted {
                term,
                remainder: Duration::ZERO,
                sent: ms(at),
            },
        );
        self.hear(at, voter, Message::VoteGranted { term });
        assert_eq!(self.machine.role(), Role::Leader);
        term
    }

    pub(crate) fn acked(&mut self, at: u64, from: u64, term: u64, sent: u64) {
        let promise = Duration::from_millis(150);
        self.hear(
            at,
            from,
            Message::HeartbeatAck {
                term,
                sent: ms(sent),
                promise,
                round: 1,
                matched: 0,
            },
        );
    }
}

pub(crate) fn follower() -> Bench<Switched> {
    Bench::booted(3, 0, None, Shape::new(), Switched::default())
}

/// The same outside safe mode.
pub(crate) fn plain() -> Bench<Faithful> {
    let voters = Voters::new((0..3).map(NodeId)).unwrap();
    let config = Config {
        safe_mode: false,
        ..Config::new(NodeId(0), voters)
    };
    let boot = Boot {
        stored: None,
        incarnation: 1,
        seed: 1,
    };
    Bench::of(Raft::new(config, boot, ms(0)).unwrap())
}

/// What a view shows of a machine.
pub(crate) fn look<R: Rules>(machine: &Raft<R>, now: Instant, view: View<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    machine.view(now, view, &mut hasher);
    hasher.finish()
}

/// What a machine asks of its host for an input.
pub(crate) fn handled<R: Rules>(
    machine: &mut Raft<R>,
    now: Instant,
    input: Input<Message, ()>,
) -> Vec<Output<Message, Write>> {
    machine.handle(now, input);
    std::iter::from_fn(|| machine.poll()).collect()
}
