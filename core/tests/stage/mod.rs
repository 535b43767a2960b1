//! A group of machines moved by a script, which writes down what happens.
//!
//! Nothing moves by itself: a message arrives, a disk answers and a timer fires when a command says so. A message takes
//! 5 ms and a disk 1 ms, or as much longer as the script leaves them. All clocks are exact and alike; draws are those of
//! seed 1.

mod lanes;
mod script;
mod words;

use lanes::{Lanes, Mark};
use tenure::quorum::Voters;
use tenure::raft::{
    Boot, Config, LogWrite, Message, Raft, Refusal, Replication, Role, Stored, Write,
};
use tenure::{Duration, Election, Input, Instant, NodeId, Output, Standing, Ticket, Unknown};
use words::{said, shape, time, words};

pub(crate) use script::replay;

const FLIGHT: Duration = Duration::from_millis(5);
const WRITE: Duration = Duration::from_millis(1);

struct Node {
    config: Config,
    machine: Option<Raft>,
    /// What a restart finds.
    disk: Option<Stored>,
    writes: Vec<Asked>,
    life: u64,
}

/// What a disk was asked, and has not answered.
struct Asked {
    at: Instant,
    ticket: Ticket,
    write: Write,
}

struct Flight {
    at: Instant,
    from: NodeId,
    to: usize,
    message: Message,
}

/// What can happen next, and when.
#[derive(Clone, Copy)]
enum Due {
    Written(usize),
    Arrived(usize),
    Timeout(usize),
}

pub(crate) struct Stage {
    now: Instant,
    nodes: Vec<Node>,
    flights: Vec<Flight>,
    /// Links that lose what is sent on them, by sender and receiver.
    cuts: Vec<(usize, usize)>,
    /// Whether the group has a log.
    log: bool,
    lanes: Lanes,
}

/// What a trace tells of a node when it changes.
fn role(machine: &Raft) -> String {
    let role = match machine.role() {
        Role::Follower => "follower",
        Role::PreCandidate => "pre-candidate",
        Role::Candidate => "candidate",
        Role::Leader => "leader",
    };
    format!("{role}, term {}", machine.term())
}

impl Node {
    /// What a write changes: the record when that is another one, and what happens to the log.
    fn news(&self, write: &Write) -> String {
        let asked = self.writes.last().map(|asked| asked.write.record);
        let known = asked.or(self.disk.as_ref().map(|disk| disk.record));
        match &write.log {
            LogWrite::Keep => words(&write.record),
            log if known == Some(write.record) => words(log),
            log => format!("{}; {}", words(&write.record), words(log)),
        }
    }
}

impl Stage {
    fn new(nodes: u64, replication: Option<Replication>) -> Self {
        let voters = Voters::new((1..=nodes).map(NodeId)).expect("a group");
        let node = |id| Node {
            config: Config {
                replication,
                ..Config::new(NodeId(id), voters.clone())
            },
            machine: None,
            disk: None,
            writes: Vec::new(),
            life: 0,
        };
        let mut stage = Self {
            now: Instant::ZERO,
            nodes: (1..=nodes).map(node).collect(),
            flights: Vec::new(),
            cuts: Vec::new(),
            log: replication.is_some(),
            lanes: Lanes::default(),
        };
        stage.lanes.head(stage.nodes.len());
        stage
    }

    fn tell(&mut self, mark: &Mark, text: &str) {
        let up: Vec<bool> = self.nodes.iter().map(|n| n.machine.is_some()).collect();
        self.lanes.line(self.now.as_micros(), &up, mark, text);
    }

    fn boot(&mut self, place: usize) -> Result<(), String> {
        let node = &mut self.nodes[place];
        node.life += 1;
        let boot = Boot {
            stored: node.disk.clone(),
            incarnation: node.life,
            seed: 1,
        };
        let machine = Raft::new(node.config.clone(), boot, self.now);
        node.machine = Some(machine.map_err(|error| error.to_string())?);
        Ok(())
    }

    fn crash(&mut self, place: usize) {
        self.nodes[place].machine = None;
        self.nodes[place].writes.clear();
        self.tell(&Mark::At(place, '┆'), "crashes");
    }

    /// Hands an input to a node, and tells what becomes of it.
    fn input(&mut self, place: usize, input: Input<Message, ()>) {
        self.moved(place, |machine, now| machine.handle(now, input));
    }

    /// Moves a node, unless it is down, and tells what becomes of it.
    fn moved(&mut self, place: usize, by: impl FnOnce(&mut Raft, Instant)) {
        let now = self.now;
        let Some(machine) = self.nodes[place].machine.as_mut() else {
            return;
        };
        let before = (role(machine), *machine.refusals(), machine.commit());
        by(machine, now);
        let outputs: Vec<_> = std::iter::from_fn(|| machine.poll()).collect();
        let refused =
            |reason: &&Refusal| machine.refusals().count(**reason) > before.1.count(**reason);
        let mut news: Vec<String> = Refusal::ALL
            .iter()
            .filter(refused)
            .map(|reason| format!("refuses it: {reason:?}"))
            .collect();
        let after = role(machine);
        if after != before.0 {
            news.push(after);
        }
        if machine.commit() != before.2 {
            news.push(format!("commit {}", machine.commit()));
        }
        for text in news {
            self.tell(&Mark::At(place, '●'), &text);
        }
        for output in outputs {
            self.carry_out(place, output);
        }
        self.judge();
    }

    fn carry_out(&mut self, place: usize, output: Output<Message, Write>) {
        match output {
            Output::Event(event) => self.tell(&Mark::At(place, '●'), &words(&event)),
            Output::Request(ticket, write) => {
                let text = format!("#{} {}", ticket.number, self.nodes[place].news(&write));
                self.tell(&Mark::At(place, '□'), &text);
                let at = self.now + WRITE;
                self.nodes[place].writes.push(Asked { at, ticket, write });
            }
            Output::Send(to, message) => self.flights.push(Flight {
                at: self.now + FLIGHT,
                from: self.nodes[place].config.id,
                to: (to.0 - 1) as usize,
                message,
            }),
        }
    }

    /// A script that leads to two leaders has found a fault, not a trace.
    fn judge(&self) {
        let leads = |node: &&Node| {
            let standing = node.machine.as_ref().map(|m| m.standing(self.now));
            node.config.safe_mode && matches!(standing, Some(Standing::Leading(_)))
        };
        let leading: Vec<NodeId> = self
            .nodes
            .iter()
            .filter(leads)
            .map(|n| n.config.id)
            .collect();
        assert!(leading.len() < 2, "{leading:?} lead at {}", self.now);
    }

    fn place(&self, id: NodeId) -> Option<usize> {
        let place = id.0.checked_sub(1)? as usize;
        (place < self.nodes.len()).then_some(place)
    }

    fn deliver(&mut self, index: usize) {
        let flight = self.flights.remove(index);
        let from = self.place(flight.from);
        let lost = from.is_some_and(|from| self.cuts.contains(&(from, flight.to)))
            || self.nodes[flight.to].machine.is_none();
        self.arrive(flight, lost);
    }

    fn arrive(&mut self, flight: Flight, lost: bool) {
        // A node that hears from itself hears from outside.
        let to = flight.to;
        let from = self.place(flight.from).filter(|from| *from != to);
        let who = if from.is_none() {
            format!("{}: ", words(&flight.from))
        } else {
            String::new()
        };
        let text = format!("{who}{}", said(&flight.message, self.log));
        self.tell(&Mark::Arrow { from, to, lost }, &text);
        if !lost {
            self.input(to, Input::Peer(flight.from, flight.message));
        }
    }

    /// The disk of a node answers its oldest request.
    fn write(&mut self, place: usize, result: Result<(), Unknown>) {
        let node = &mut self.nodes[place];
        let Asked { ticket, write, .. } = node.writes.remove(0);
        let text = match result {
            Ok(()) => {
                let disk = node.disk.get_or_insert_default();
                disk.apply(&write).expect("a write that fits the disk");
                format!("#{} is written", ticket.number)
            }
            Err(Unknown) => format!("#{} is in doubt", ticket.number),
        };
        self.tell(&Mark::At(place, '■'), &text);
        self.input(place, Input::Reply(ticket, result));
    }

    /// What comes next: disks before messages, messages before timers, and each in order.
    fn next(&self) -> Option<(Instant, Due)> {
        let written = self.nodes.iter().enumerate().filter_map(|(place, node)| {
            let write = node.writes.first()?;
            Some((write.at, Due::Written(place)))
        });
        let arrived = self
            .flights
            .iter()
            .enumerate()
            .map(|(index, flight)| (flight.at, Due::Arrived(index)));
        written
            .chain(arrived)
            .chain(self.timers())
            .min_by_key(|(at, _)| *at)
    }

    fn timers(&self) -> impl Iterator<Item = (Instant, Due)> + '_ {
        self.nodes.iter().enumerate().filter_map(|(place, node)| {
            let deadline = node.machine.as_ref()?.deadline()?;
            Some((deadline, Due::Timeout(place)))
        })
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Written(place) => self.write(place, Ok(())),
            Due::Arrived(index) => self.deliver(index),
            Due::Timeout(place) => self.fire(place),
        }
    }

    fn fire(&mut self, place: usize) {
        // A leader's round is told by its heartbeats.
        let leads = |node: &Node| node.machine.as_ref().map(Raft::role) == Some(Role::Leader);
        if !leads(&self.nodes[place]) {
            self.tell(&Mark::At(place, '●'), "its timer fires");
        }
        self.input(place, Input::Timeout);
    }

    /// Timers fire until `until`; messages and disks stay as they are.
    fn advance(&mut self, until: Instant) {
        while let Some((at, due)) = self.timers().min_by_key(|(at, _)| *at) {
            if at > until {
                break;
            }
            self.now = self.now.max(at);
            self.happen(due);
        }
        self.now = until;
    }

    /// Everything takes its time until `until`.
    fn run(&mut self, until: Instant) {
        while let Some((at, due)) = self.next() {
            if at > until {
                break;
            }
            self.now = self.now.max(at);
            self.happen(due);
        }
        self.now = until;
    }

    /// Messages arrive and disks answer until none is left, in no time.
    fn settle(&mut self) {
        loop {
            if let Some(place) = self.nodes.iter().position(|n| !n.writes.is_empty()) {
                self.write(place, Ok(()));
            } else if self.flights.is_empty() {
                return;
            } else {
                self.deliver(0);
            }
        }
    }

    /// What each node is and may believe.
    fn show(&mut self) {
        for place in 0..self.nodes.len() {
            let Some(machine) = &self.nodes[place].machine else {
                continue;
            };
            let promise = machine.promise().map(|promise| promise.until);
            let bound = promise
                .filter(|until| *until > self.now)
                .map(|until| format!("; bound until {}", time(until.as_micros())));
            let (is, believes) = (role(machine), words(&machine.standing(self.now)));
            let has = match self.log {
                true => format!(
                    "; log {}, commit {}",
                    shape(machine.log()),
                    machine.commit()
                ),
                false => String::new(),
            };
            let text = format!("{is}: {believes}{}{has}", bound.unwrap_or_default());
            self.tell(&Mark::At(place, '●'), &text);
        }
    }
}
