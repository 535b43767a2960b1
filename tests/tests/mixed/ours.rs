//! A machine of this library and its host: a disk whose newest writes a crash takes back, and the payloads of the entries.

use crate::judge::Named;
use crate::words::Payload;
use std::collections::{BTreeMap, VecDeque};
use tenure::quorum::Voters;
use tenure::raft::{Boot, Config, LogWrite, Message, Raft, Replication, Stored, Timing, Write};
use tenure::{Duration, Election, Event, Input, Instant, NodeId, Output, Standing, Ticket};

pub(crate) struct Ours {
    pub(crate) machine: Raft,
    stored: Stored,
    writes: VecDeque<(u64, Ticket, Write)>,
    /// What each entry stands for, by its term and index. What a crash takes back stays here and is never asked for.
    payloads: BTreeMap<(u64, u64), Payload>,
    lives: u64,
    pub(crate) elected: Vec<u64>,
    config: Config,
}

impl Ours {
    pub(crate) fn new(place: usize, nodes: usize, tick: Duration, now: Instant, seed: u64) -> Self {
        let ticks = |count: u64| Duration::from_micros(tick.as_micros() * count);
        let voters = Voters::new((0..nodes as u64).map(NodeId)).unwrap();
        let config = Config {
            timing: Timing {
                election_min: ticks(10),
                election_max: ticks(20),
                heartbeat: ticks(2),
                ..Timing::default()
            },
            replication: Some(Replication::default()),
            ..Config::new(NodeId(place as u64), voters)
        };
        Self {
            machine: Self::life(&config, None, 1, seed, now),
            stored: Stored::default(),
            writes: VecDeque::new(),
            payloads: BTreeMap::new(),
            lives: 1,
            elected: Vec::new(),
            config,
        }
    }

    fn life(config: &Config, stored: Option<Stored>, life: u64, seed: u64, now: Instant) -> Raft {
        let boot = Boot {
            stored,
            incarnation: life,
            seed,
        };
        Raft::new(config.clone(), boot, now).unwrap()
    }

    /// The power goes, and comes back: what was not answered is lost.
    pub(crate) fn restart(&mut self, seed: u64, now: Instant) {
        self.writes.clear();
        self.lives += 1;
        let stored = Some(self.stored.clone());
        self.machine = Self::life(&self.config, stored, self.lives, seed, now);
    }

    /// Takes a message with the payloads of its entries.
    pub(crate) fn hear(
        &mut self,
        from: usize,
        message: Message,
        payloads: &[Payload],
        now: Instant,
    ) {
        if let Message::Append { prev, entries, .. } | Message::Suffix { prev, entries, .. } =
            &message
        {
            let term = entries.term();
            for (index, payload) in (prev.index + 1..).zip(payloads) {
                // The same name is the same entry, whoever brings it.
                let first = *self.payloads.entry((term, index)).or_insert(*payload);
                assert_eq!(first, *payload, "two entries of term {term} at {index}");
            }
        }
        self.machine
            .handle(now, Input::Peer(NodeId(from as u64), message));
    }

    pub(crate) fn propose(&mut self, payload: Payload, now: Instant) -> bool {
        match self.machine.propose(now, 1) {
            Ok(at) => {
                self.payloads.insert((at.term, at.index), payload);
                true
            }
            Err(_) => false,
        }
    }

    /// What it says; writes are under way for `disk` microseconds.
    pub(crate) fn carry_out(&mut self, now: u64, disk: u64) -> Vec<(usize, Message)> {
        let mut said = Vec::new();
        while let Some(output) = self.machine.poll() {
            match output {
                Output::Send(to, message) => said.push((to.0 as usize, message)),
                Output::Request(ticket, write) => {
                    self.writes.push_back((now + disk, ticket, write))
                }
                Output::Event(Event::Elected(token)) => self.elected.push(token.counter),
                Output::Event(_) => {}
            }
        }
        said
    }

    /// Answers what is written by now, and looks at the clock.
    pub(crate) fn attend(&mut self, true_now: u64, now: Instant) {
        while self
            .writes
            .front()
            .is_some_and(|(at, _, _)| *at <= true_now)
        {
            let Some((_, ticket, write)) = self.writes.pop_front() else {
                break;
            };
            self.stored.apply(&write).unwrap();
            debug_assert!(!matches!(write.log, LogWrite::Install { .. }));
            self.machine.handle(now, Input::Reply(ticket, Ok(())));
        }
        if self
            .machine
            .deadline()
            .is_some_and(|deadline| deadline <= now)
        {
            self.machine.handle(now, Input::Timeout);
        }
    }

    pub(crate) fn believes(&self, now: Instant) -> Option<u64> {
        match self.machine.standing(now) {
            Standing::Leading(tenure) => Some(tenure.token.counter),
            _ => None,
        }
    }

    /// What the entry at `index` of its log stands for. A leader's own first entry is nobody's.
    pub(crate) fn payload(&self, index: u64) -> Option<Payload> {
        let term = self.machine.log().term_at(index)?;
        Some(self.payloads.get(&(term, index)).copied().unwrap_or(0))
    }

    /// Its log after index `from`, up to `end`.
    pub(crate) fn log(&self, from: u64, end: u64) -> Vec<Named> {
        let log = self.machine.log();
        (from + 1..=end.min(log.last().index))
            .filter_map(|index| Some((log.term_at(index)?, self.payload(index)?)))
            .collect()
    }
}
