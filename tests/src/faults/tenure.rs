//! This library. A tick is a microsecond, its finest time, so that it draws whole ticks as its peers do: an election timeout is
//! 10 to 20, the early pre-vote 2, the retry draw 4 to 8. Its clocks read the tick they are in, exactly, or are as coarse as
//! a tick: then a lease of 10 ends after 8 (see `Timing::lease`).

use super::network::{Links, Network};
use super::system::System;
use tenure::quorum::Voters;
use tenure::raft::{Boot, Config, Message, Raft, Replication, Role, Timing};
use tenure::{Duration, Election, Input, Instant, NodeId, Output, Standing, Ticket};

/// What can differ from one group to the other.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// How many ticks a record takes.
    pub disk: u64,
    /// How many ticks a clock may be behind.
    pub grain: u64,
    /// Whether a log is replicated. Then whoever leads is given an entry in each tick; without one, a commit is a round of
    /// heartbeats that a majority answered, which takes as many hops.
    pub log: bool,
}

/// A group of this library's machines.
pub struct Tenure {
    nodes: Vec<Raft>,
    network: Network<Message>,
    host: Host,
    /// The writes under way: when done, whose, which.
    writes: Vec<(u64, usize, Ticket)>,
    /// The last tick in which each asked to be elected, and in how many it did.
    last_asked: Vec<u64>,
    asked: Vec<u64>,
    /// The latest majority round: its term, and until when it covers. Each that is later is a step forward.
    covered: (u64, Instant),
    /// How many steps that were.
    rounds: u64,
}

impl Tenure {
    /// Newly built machines that draw from `seed`.
    #[must_use]
    pub fn new(count: usize, hop: (u64, u64), host: Host, seed: u64) -> Self {
        let ticks = Duration::from_micros;
        let voters = Voters::new((0..count as u64).map(NodeId))
            .unwrap_or_else(|error| panic!("{count} voters: {error}"));
        let node = |id: &NodeId| {
            let mut config = Config::new(*id, voters.clone());
            config.replication = host.log.then(Replication::default);
            config.timing = Timing {
                election_min: ticks(10),
                election_max: ticks(20),
                heartbeat: ticks(1),
                rate_bound: 0,
                grain: ticks(host.grain),
            };
            let boot = Boot {
                stored: None,
                incarnation: 1,
                seed,
            };
            Raft::new(config, boot, Instant::ZERO)
                .unwrap_or_else(|error| panic!("node {id}: {error}"))
        };
        Self {
            nodes: voters.ids().iter().map(node).collect(),
            network: Network::new(hop, seed),
            host,
            writes: Vec::new(),
            last_asked: vec![0; count],
            asked: vec![0; count],
            covered: (0, Instant::ZERO),
            rounds: 0,
        }
    }

    fn now(&self) -> Instant {
        Instant::from_micros(self.network.now())
    }

    /// One input, and what comes of it.
    fn input(&mut self, at: usize, input: Input<Message, ()>) {
        let now = self.now();
        self.nodes[at].handle(now, input);
        self.drain(at);
    }

    fn drain(&mut self, at: usize) {
        let (tick, now, disk) = (self.network.now(), self.now(), self.host.disk);
        while let Some(output) = self.nodes[at].poll() {
            match output {
                Output::Event(_) => {}
                Output::Request(ticket, _) if disk == 0 => {
                    self.nodes[at].handle(now, Input::Reply(ticket, Ok(())));
                }
                Output::Request(ticket, _) => self.writes.push((tick + disk, at, ticket)),
                Output::Send(to, message) => {
                    let asks = matches!(message, Message::RequestPreVote { .. });
                    if asks && self.last_asked[at] < tick {
                        self.last_asked[at] = tick;
                        self.asked[at] += 1;
                    }
                    self.network.send(at, to.0 as usize, message);
                }
            }
        }
    }

    /// One entry to each that was elected, established or not, as the peers are given.
    fn propose(&mut self) {
        let now = self.now();
        for at in 0..self.nodes.len() {
            let node = &mut self.nodes[at];
            if node.role() == Role::Leader && node.propose(now, 1).is_ok() {
                self.drain(at);
            }
        }
    }

    /// The tenures that are believed in: of which term, by whom, until when.
    fn tenures(&self) -> impl Iterator<Item = (u64, usize, Instant)> {
        let leading = |(at, node): (usize, &Raft)| match node.standing(self.now()) {
            Standing::Leading(tenure) => Some((node.term(), at, tenure.until)),
            _ => None,
        };
        self.nodes.iter().enumerate().filter_map(leading)
    }
}

impl System for Tenure {
    /// As `drive` has it: what is due passes before what arrives.
    fn tick(&mut self, links: &Links) {
        let arrived = self.network.tick(links);
        let (tick, now) = (self.network.now(), self.now());
        for at in 0..self.nodes.len() {
            if self.nodes[at].deadline().is_some_and(|due| due <= now) {
                self.input(at, Input::Timeout);
            }
        }
        let done = self.writes.extract_if(.., |(done, _, _)| *done <= tick);
        for (_, at, ticket) in done.collect::<Vec<_>>() {
            self.input(at, Input::Reply(ticket, Ok(())));
        }
        for (from, to, message) in arrived {
            self.input(to, Input::Peer(NodeId(from as u64), message));
        }
        let covered = self.tenures().map(|(term, _, until)| (term, until)).max();
        if let Some(covered) = covered.filter(|covered| *covered > self.covered) {
            self.covered = covered;
            self.rounds += 1;
        }
        if self.host.log {
            self.propose();
        }
    }

    fn leaders(&self) -> Vec<(u64, usize)> {
        self.tenures().map(|(term, at, _)| (term, at)).collect()
    }

    fn committed(&self) -> u64 {
        if !self.host.log {
            return self.rounds;
        }
        let all = self.nodes.iter().map(Raft::commit);
        all.max().unwrap_or_default()
    }

    fn term(&self) -> u64 {
        let terms = self.nodes.iter().map(Raft::term);
        terms.max().unwrap_or_default()
    }

    fn asked(&self) -> &[u64] {
        &self.asked
    }
}
