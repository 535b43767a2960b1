//! Three machines of [`tenure::zab`] as on one computer, and a client that wants to write.

use super::Takeover;
use super::queue::Queue;
use tenure::zab::{
    Boot, Config, Ensemble, Message, Packet, Phase, Request, Role, Stored, Timing, Zab,
};
use tenure::{Duration, Election, Event, Input, Instant, NodeId, Output, Ticket};

/// `tickTime` and the limits, as the real servers are given them; all else as it is in ZooKeeper's code.
pub(super) const TIMING: Timing = Timing {
    tick: Duration::from_millis(500),
    init_limit: 10,
    sync_limit: 4,
    ..Timing::zookeeper()
};

/// What a host adds, in microseconds: a packet passes from one thread to a thread of another process.
const PASS: (u64, u64) = (300, 3_000);
/// A small file or the end of the log is written and synced.
const WRITE: (u64, u64) = (500, 6_000);
/// The leader's connections are closed, and its followers told, which end what they had begun.
const CLOSED: (u64, u64) = (5_000, 12_000);
/// How much longer each takes to look for another. Who was started last, which is who takes over next, has never ended anything,
/// and loads the code first. It should be the slower one: who looks before its follower does says whom to elect in vain, and
/// says it again 200 ms later (FLE-2), or later still when it is told something meanwhile.
const SHUT_DOWN: [(u64, u64); 2] = [(0, 6_000), (1_000, 13_000)];
/// Who was elected has a database to look through and a port to open before learners can connect.
const LISTEN: (u64, u64) = (5_000, 15_000);
/// It takes a connection, and begins a thread for it.
const ACCEPT: (u64, u64) = (3_000, 20_000);
/// An established leader starts what serves clients.
const SERVE: (u64, u64) = (10_000, 30_000);
/// The first entry of an epoch begins a new file of the log.
const FIRST: (u64, u64) = (5_000, 30_000);
/// The client asks so often.
const ASK: u64 = 10_000;

enum Due {
    Arrive(usize, usize, Message),
    Ended(usize, usize),
    Written(usize, Ticket, Request),
    Wake(usize),
}

struct Node {
    machine: Option<Zab>,
    disk: Stored,
    written: u64,
    wakes: u64,
    /// Since when it leads, whether or not it may; and when it takes learners.
    leads: Option<u64>,
    listens: u64,
    /// When clients are served.
    serves: u64,
    /// What it did, and when.
    did: Vec<(&'static str, u64)>,
}

struct World {
    queue: Queue<Due>,
    nodes: Vec<Node>,
}

/// One takeover: three servers that are whole, and the leader is killed.
pub(super) fn take_over(seed: u64) -> Takeover {
    let mut world = World::new(seed);
    let whole = |world: &mut World| {
        let leads = world
            .nodes
            .iter()
            .position(|node| node.serves < world.queue.now);
        let up = world.nodes.iter().filter_map(|node| node.machine.as_ref());
        leads.filter(|_| up.filter(|one| one.follows_established()).count() == 2)
    };
    let leader = world.run_till(whole);
    let rest = world.queue.within((1_000_000, 4_000_000));
    let until = world.queue.now + rest;
    while let Some(due) = world.queue.next(until) {
        world.carry_out(due);
    }
    let killed = world.queue.now;
    world.kill(leader);
    let mut asked = killed;
    let mut wants = None;
    let (winner, wrote) = world.run_till(|world| {
        let now = world.queue.now;
        if wants.is_none() && now >= asked {
            asked = now + ASK;
            wants = world.propose();
        }
        let (place, index) = wants?;
        let machine = world.nodes[place as usize].machine.as_ref()?;
        (machine.committed() >= index).then_some((place as usize, now))
    });
    let follower = 3 - winner - leader;
    let since = |at: u64| at - killed;
    let stage = |name: &'static str, place: usize| {
        let node = &world.nodes[place];
        let did = node
            .did
            .iter()
            .find(|(what, at)| *what == name && *at >= killed);
        did.map(|(_, at)| (name, since(*at)))
    };
    let mut did: Vec<Vec<&str>> = [winner, follower]
        .map(|place| {
            let did = world.nodes[place].did.iter();
            did.filter(|(_, at)| *at >= killed && *at <= wrote)
                .map(|(what, _)| *what)
                .collect()
        })
        .to_vec();
    did[0].push("write");
    Takeover {
        took: since(wrote),
        stages: [
            "looking",
            "leading",
            "leading - synchronization",
            "leading - broadcast",
        ]
        .into_iter()
        .filter_map(|name| stage(name, winner))
        .collect(),
        order: super::zookeeper::order(&did[0], &did[1]),
    }
}

impl World {
    fn new(seed: u64) -> Self {
        let node = || Node {
            machine: None,
            disk: Stored::default(),
            written: 0,
            wakes: u64::MAX,
            leads: None,
            listens: 0,
            serves: u64::MAX,
            did: Vec::new(),
        };
        let mut world = Self {
            queue: Queue::new(seed),
            nodes: (0..3).map(|_| node()).collect(),
        };
        let ensemble = Ensemble::majority((0..3).map(NodeId)).expect("three of them");
        for place in 0..3 {
            let config = Config {
                timing: TIMING,
                ..Config::new(NodeId(place as u64), ensemble.clone())
            };
            let boot = Boot {
                stored: None,
                incarnation: 1,
                seed: world.queue.bits(),
            };
            let machine = Zab::new(config, boot, world.clock()).expect("it starts");
            world.nodes[place].machine = Some(machine);
        }
        for place in 0..3 {
            world.settle(place);
        }
        world
    }

    fn clock(&self) -> Instant {
        Instant::from_micros(self.queue.now)
    }

    /// Runs until it is so.
    fn run_till<T>(&mut self, mut so: impl FnMut(&mut Self) -> Option<T>) -> T {
        loop {
            if let Some(answer) = so(self) {
                return answer;
            }
            let until = self.queue.now + 1_000;
            match self.queue.next(until) {
                Some(due) => self.carry_out(due),
                None => self.queue.now = until,
            }
        }
    }

    fn kill(&mut self, place: usize) {
        self.nodes[place].machine = None;
        let closed = self.queue.within(CLOSED);
        // The highest of equals leads: 2 does, and 1 will.
        for other in (0..3).filter(|other| *other != place) {
            let takes = closed + self.queue.within(SHUT_DOWN[other]);
            self.queue.after(
                takes,
                (place as u64, other as u64),
                Due::Ended(other, place),
            );
        }
    }

    /// A client that finds a leader that serves writes there.
    fn propose(&mut self) -> Option<(u64, u64)> {
        let now = self.clock();
        let serves = |node: &Node| node.machine.is_some() && node.serves <= now.as_micros();
        let place = self.nodes.iter().position(serves)?;
        let first = self.nodes[place].machine.as_mut()?.propose(now, 1).ok()?;
        self.settle(place);
        Some((place as u64, first.index))
    }

    fn carry_out(&mut self, due: Due) {
        let now = self.clock();
        match due {
            Due::Arrive(from, to, message) => {
                let opens = matches!(message.packet(), Some(Packet::LearnerInfo { .. }));
                let deaf =
                    self.nodes[to].leads.is_some() && now.as_micros() < self.nodes[to].listens;
                if message.packet().is_some() && (self.nodes[to].machine.is_none() || opens && deaf)
                {
                    let takes = self.queue.within(PASS);
                    return self
                        .queue
                        .after(takes, (to as u64, from as u64), Due::Ended(from, to));
                }
                self.input(to, Input::Peer(NodeId(from as u64), message));
            }
            Due::Ended(at, of) => {
                if let Some(machine) = &mut self.nodes[at].machine {
                    machine.disconnected(now, NodeId(of as u64));
                }
                self.settle(at);
            }
            Due::Written(place, ticket, request) => {
                self.nodes[place]
                    .disk
                    .apply(&request)
                    .expect("a log without a gap");
                self.input(place, Input::Reply(ticket, Ok(())));
            }
            Due::Wake(place) => {
                if self.nodes[place].wakes <= now.as_micros() {
                    self.nodes[place].wakes = u64::MAX;
                    self.input(place, Input::Timeout);
                }
            }
        }
    }

    fn input(&mut self, place: usize, input: Input<Message, ()>) {
        let now = self.clock();
        if let Some(machine) = &mut self.nodes[place].machine {
            machine.handle(now, input);
        }
        self.settle(place);
    }

    fn settle(&mut self, place: usize) {
        let now = self.queue.now;
        self.look(place);
        while let Some(output) = self.nodes[place].machine.as_mut().and_then(Election::poll) {
            match output {
                Output::Send(to, message) => self.send(place, to.0 as usize, message),
                Output::Request(ticket, request) => {
                    let first = matches!(request, Request::Append(entries) if entries.count > 0)
                        && self.nodes[place].disk.log.last().term
                            < self.nodes[place]
                                .machine
                                .as_ref()
                                .map_or(0, Zab::current_epoch);
                    let takes = match (&request, first) {
                        (_, true) => self.queue.within(FIRST),
                        (Request::Append(_), false) => 0,
                        _ => self.queue.within(WRITE),
                    };
                    let at = self.nodes[place].written.max(now) + takes;
                    self.nodes[place].written = at;
                    self.queue.at(at, Due::Written(place, ticket, request));
                }
                Output::Event(Event::Established(_)) => {
                    self.nodes[place].serves = now + self.queue.within(SERVE);
                    self.did(place, "leading - broadcast");
                }
                Output::Event(Event::Elected(_)) => self.did(place, "leading - synchronization"),
                Output::Event(Event::Following(Some(_))) => {
                    self.did(place, "following - broadcast")
                }
                Output::Event(_) => {}
            }
        }
        let node = &mut self.nodes[place];
        if let Some(at) = node.machine.as_ref().and_then(Election::deadline)
            && at.as_micros().max(now) < node.wakes
        {
            node.wakes = at.as_micros().max(now);
            let at = node.wakes;
            self.queue.at(at, Due::Wake(place));
        }
    }

    /// What it does now, if that is something else than before.
    fn look(&mut self, place: usize) {
        let Some(machine) = &self.nodes[place].machine else {
            return;
        };
        let (role, leads) = (machine.role(), machine.phase() >= Some(Phase::Connecting));
        let does = match role {
            Role::Looking => "looking",
            Role::Leading => "leading",
            Role::Following | Role::Observing => "following",
        };
        let node = &self.nodes[place];
        if !node
            .did
            .last()
            .is_some_and(|(what, _)| what.starts_with(does))
        {
            self.did(place, does);
        }
        if leads && self.nodes[place].leads.is_none() {
            let opens = self.queue.within(LISTEN);
            let node = &mut self.nodes[place];
            (node.leads, node.listens) = (Some(self.queue.now), self.queue.now + opens);
        } else if !leads {
            let node = &mut self.nodes[place];
            (node.leads, node.serves) = (None, u64::MAX);
        }
    }

    fn did(&mut self, place: usize, what: &'static str) {
        let now = self.queue.now;
        self.nodes[place].did.push((what, now));
    }

    fn send(&mut self, from: usize, to: usize, message: Message) {
        let packet = message.packet();
        if matches!(packet, Some(Packet::AckEpoch { .. })) {
            self.did(from, "following - synchronization");
        }
        let mut takes = self.queue.within(PASS);
        if matches!(packet, Some(Packet::LearnerInfo { .. })) && self.listens(to) {
            takes += self.queue.within(ACCEPT);
        }
        self.queue.after(
            takes,
            (from as u64, to as u64),
            Due::Arrive(from, to, message),
        );
    }

    fn listens(&self, place: usize) -> bool {
        let node = &self.nodes[place];
        node.leads.is_some() && node.listens <= self.queue.now
    }
}
