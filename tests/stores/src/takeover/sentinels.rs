//! Three machines of [`tenure::sentinel`] and three data servers as on one computer, and a client that wants to write.

use super::Takeover;
use super::queue::Queue;
use super::sentinel::{CLIENT, DOWN_AFTER, FAILOVER_TIMEOUT, QUORUM, STAGES};
use tenure::sentinel::data::{self, Data, Saved};
use tenure::sentinel::{
    Boot, Config, File, Kept, MasterName, Message, Monitor, News, RunId, Sentinel,
};
use tenure::{Duration, Election, Input, Instant, NodeId, Output, Ticket};

/// What a host adds, in microseconds: a message passes from one process to another.
const PASS: (u64, u64) = (50, 1_000);
/// A sentinel's file is written and synced.
const WRITE: (u64, u64) = (1_000, 15_000);
/// The client asks so often.
const ASK: u64 = 10_000;

/// Data servers are 0 to 2, and the first of them is the master; sentinels follow.
const SENTINELS: [u64; 3] = [3, 4, 5];
const NAME: MasterName = MasterName(0);

enum Due {
    Arrive(u64, u64, Message),
    Written(u64, Ticket),
    Wake(u64),
}

struct World {
    queue: Queue<Due>,
    servers: Vec<Option<Data>>,
    sentinels: Vec<Sentinel>,
    /// What each process is to be woken at.
    wakes: [u64; 6],
    /// What sentinels told.
    told: Vec<(u64, u64, &'static str)>,
    written: [u64; 6],
}

/// One takeover: all know each other and have for a while, and the master is killed.
pub(super) fn take_over(seed: u64) -> Takeover {
    let mut world = World::new(seed);
    let rest = world.queue.within((12_000_000, 24_000_000));
    world.run(world.queue.now + rest);
    let killed = world.queue.now;
    world.servers[0] = None;
    world.told.clear();
    for other in 1..6 {
        world.send(0, other, Message::Closed);
    }
    let wrote = loop {
        world.run(world.queue.now + ASK);
        let now = world.clock();
        let mut alive = world.servers.iter_mut().flatten();
        if alive.any(|server| server.write(now).is_ok()) {
            break world.queue.now;
        }
    };
    // Until all sentinels know.
    while SENTINELS
        .iter()
        .any(|of| !world.has_told(*of, "+switch-master"))
    {
        world.run(world.queue.now + ASK);
    }
    let mut told: Vec<(u64, u64, &'static str)> = world.told.clone();
    // In one millisecond a log is read before a client asks.
    let place = told.iter().position(|(at, ..)| at / 1_000 > wrote / 1_000);
    told.insert(place.unwrap_or(told.len()), (wrote, CLIENT, "write"));
    let first = |stage: &&'static str| {
        let of = told.iter().find(|(_, _, what)| what == stage);
        of.map(|(at, ..)| (*stage, at - killed))
    };
    Takeover {
        took: wrote - killed,
        stages: STAGES.iter().filter_map(first).collect(),
        order: super::sentinel::order(told.iter().map(|(_, by, what)| (*by, *what))),
    }
}

impl World {
    fn new(seed: u64) -> Self {
        let mut world = Self {
            queue: Queue::new(seed),
            servers: Vec::new(),
            sentinels: Vec::new(),
            wakes: [u64::MAX; 6],
            told: Vec::new(),
            written: [0; 6],
        };
        let now = world.clock();
        for place in 0..3 {
            let saved = Saved {
                replica_of: (place > 0).then_some(NodeId(0)),
                ..Saved::default()
            };
            let config = data::Config::new(NodeId(place));
            let server = Data::new(config, saved, 1, now).expect("it starts");
            world.servers.push(Some(server));
        }
        for id in SENTINELS {
            let monitor = Monitor {
                down_after: Duration::from_millis(DOWN_AFTER),
                failover_timeout: Duration::from_millis(FAILOVER_TIMEOUT),
                ..Monitor::new(NAME, NodeId(0), QUORUM)
            };
            let others = SENTINELS.iter().filter(|other| **other != id);
            let file = File {
                id: RunId(id),
                generation: 0,
                current_epoch: 0,
                masters: vec![Kept {
                    name: NAME,
                    address: NodeId(0),
                    config_epoch: 0,
                    leader_epoch: 0,
                    replicas: vec![NodeId(1), NodeId(2)],
                    sentinels: others
                        .map(|other| (NodeId(*other), RunId(*other)))
                        .collect(),
                }],
            };
            let boot = Boot {
                stored: Some(file),
                incarnation: 1,
                seed: world.queue.bits(),
            };
            let config = Config::new(NodeId(id), monitor);
            world
                .sentinels
                .push(Sentinel::new(config, boot, now).expect("it starts"));
        }
        for id in 0..6 {
            world.settle(id);
        }
        world
    }

    fn clock(&self) -> Instant {
        Instant::from_micros(self.queue.now)
    }

    fn has_told(&self, of: u64, what: &str) -> bool {
        self.told
            .iter()
            .any(|(_, by, told)| *by == of && *told == what)
    }

    fn run(&mut self, until: u64) {
        while let Some(due) = self.queue.next(until) {
            let now = self.clock();
            match due {
                Due::Arrive(from, to, message) => {
                    let from = NodeId(from);
                    match self.servers.get_mut(to as usize) {
                        // Nobody listens there any more.
                        Some(None) if message != Message::Closed => {
                            self.send(to, from.0, Message::Closed);
                        }
                        Some(None) => {}
                        Some(Some(server)) => server.handle(now, data::Input::Peer(from, message)),
                        None => self.sentinel(to).handle(now, Input::Peer(from, message)),
                    }
                    self.settle(to);
                }
                Due::Written(id, ticket) => {
                    self.sentinel(id).handle(now, Input::Reply(ticket, Ok(())));
                    self.settle(id);
                }
                Due::Wake(id) => {
                    if self.wakes[id as usize] <= now.as_micros() {
                        self.wakes[id as usize] = u64::MAX;
                        match self.servers.get_mut(id as usize) {
                            Some(server) => {
                                if let Some(server) = server {
                                    server.handle(now, data::Input::Timeout);
                                }
                            }
                            None => self.sentinel(id).handle(now, Input::Timeout),
                        }
                        self.settle(id);
                    }
                }
            }
        }
        self.queue.now = until;
    }

    fn sentinel(&mut self, id: u64) -> &mut Sentinel {
        &mut self.sentinels[id as usize - 3]
    }

    fn settle(&mut self, id: u64) {
        let now = self.queue.now;
        let deadline = if let Some(server) = self.servers.get_mut(id as usize) {
            let Some(server) = server else { return };
            let said: Vec<_> = std::iter::from_fn(|| server.poll()).collect();
            let deadline = server.deadline();
            for (to, message) in said {
                self.send(id, to.0, message);
            }
            deadline
        } else {
            while let Some(output) = self.sentinel(id).poll() {
                match output {
                    Output::Send(to, message) => self.send(id, to.0, message),
                    Output::Request(ticket, _) => {
                        let at = self.written[id as usize].max(now) + self.queue.within(WRITE);
                        self.written[id as usize] = at;
                        self.queue.at(at, Due::Written(id, ticket));
                    }
                    Output::Event(_) => {}
                }
            }
            while let Some(news) = self.sentinel(id).poll_news() {
                // Of others than the master, the real log has this under the same name.
                let of_master = !matches!(news, News::SdownSet(_, node) if node != NodeId(0));
                if of_master {
                    self.told.push((now, id, news.name()));
                }
            }
            self.sentinel(id).deadline()
        };
        if let Some(at) = deadline.map(|at| at.as_micros().max(now + 1))
            && at < self.wakes[id as usize]
        {
            self.wakes[id as usize] = at;
            self.queue.at(at, Due::Wake(id));
        }
    }

    fn send(&mut self, from: u64, to: u64, message: Message) {
        let takes = self.queue.within(PASS);
        self.queue
            .after(takes, (from, to), Due::Arrive(from, to, message));
    }
}
