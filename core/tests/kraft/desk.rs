//! A small cluster: nodes with their disks, a network with or without connections, a state machine that lags, and what can
//! go wrong with all of them. It hands every step to the [`Judge`].

mod faults;

pub(crate) use faults::Weather;

use crate::judge::Judge;
use std::cmp::Reverse;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::hash::{Hash, Hasher};
use tenure::kraft::{
    Applying, Boot, Config, DirectoryId, Kraft, LogWrite, Message, ReplicaKey, Role, Rule, Stored,
    Switched, VoterSet, Write,
};
use tenure::log::Position;
use tenure::random::Random;
use tenure::{Election, Event, Input, Instant, NodeId, Output, Standing, Ticket, Unknown};

/// The machine on the desk.
pub(crate) type Machine = Kraft<Switched>;

/// Milliseconds in the microseconds of the desk.
pub(crate) const MS: u64 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Wake(usize),
    Written(usize, u64),
    Arrive(u64),
    Apply(usize, u64),
    Disconnect(usize, usize, u64),
    Fault,
    Propose,
}

/// A disk: what it holds for good, and the writes that it has not confirmed.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    pub(crate) directory: DirectoryId,
    pub(crate) stored: Option<Stored>,
    pending: VecDeque<(Ticket, Write)>,
}

impl Disk {
    fn new(directory: u64) -> Self {
        Self {
            directory: DirectoryId(directory),
            stored: None,
            pending: VecDeque::new(),
        }
    }

    fn apply(&mut self, write: &Write) {
        let stored = self.stored.get_or_insert_default();
        stored.apply(write).expect("a write that fits");
    }
}

pub(crate) struct Node {
    pub(crate) machine: Option<Machine>,
    pub(crate) disk: Disk,
    pub(crate) life: u64,
    /// Up to where its state machine has applied, in this life.
    pub(crate) applied: u64,
    frozen: bool,
    inbox: Vec<Input<Message, ()>>,
    free_at: u64,
    applying: Applying,
}

/// The cluster.
pub(crate) struct Desk {
    pub(crate) now: u64,
    pub(crate) nodes: Vec<Node>,
    pub(crate) voters: usize,
    pub(crate) judge: Judge,
    pub(crate) weather: Weather,
    /// How long a message takes: from, to.
    pub(crate) latency: (u64, u64),
    /// How long a write takes: from, to.
    pub(crate) disk: (u64, u64),
    /// Connections, which keep the order and are lost as a whole; else datagrams.
    pub(crate) connected: bool,
    /// How long a pause between two proposals is at most; 0 for none.
    pub(crate) proposes: u64,
    /// How far a state machine that tells lags at most; 0 for until [`Desk::apply`].
    pub(crate) lag: u64,
    /// What changes in every configuration.
    pub(crate) tune: fn(&mut Config),
    random: Random,
    rules: Switched,
    queue: BinaryHeap<Reverse<(u64, u64, Due)>>,
    pushed: u64,
    flights: BTreeMap<u64, (usize, usize, Message)>,
    last_arrival: BTreeMap<(usize, usize), u64>,
    cuts: BTreeSet<(usize, usize)>,
    replaced: usize,
    trace: DefaultHasher,
    seed: u64,
    /// How many messages were sent.
    pub(crate) sent: u64,
}

impl Desk {
    /// A cluster of so many voters and observers, none of them started.
    pub(crate) fn new(seed: u64, voters: usize, observers: usize, off: &[Rule]) -> Self {
        let nodes = (0..voters + observers).map(|id| Node {
            machine: None,
            disk: Disk::new(100 + id as u64),
            life: 0,
            applied: 0,
            frozen: false,
            inbox: Vec::new(),
            free_at: 0,
            applying: Applying::AtOnce,
        });
        Self {
            now: 1_000_000,
            nodes: nodes.collect(),
            voters,
            judge: Judge::new(voters),
            weather: Weather::CALM,
            latency: (MS / 2, 2 * MS),
            disk: (MS / 10, MS),
            connected: false,
            proposes: 0,
            lag: 0,
            tune: |_| {},
            random: Random::from_seed(seed),
            rules: Switched::without(off),
            queue: BinaryHeap::new(),
            pushed: 0,
            flights: BTreeMap::new(),
            last_arrival: BTreeMap::new(),
            cuts: BTreeSet::new(),
            replaced: 0,
            trace: DefaultHasher::new(),
            seed,
            sent: 0,
        }
    }

    /// A hash of everything that was said.
    pub(crate) fn trace(&self) -> u64 {
        self.trace.finish()
    }

    pub(crate) fn machine(&self, id: usize) -> &Machine {
        self.nodes[id].machine.as_ref().expect("a node that runs")
    }

    /// A node whose state machine tells how far it is, by [`Desk::apply`].
    pub(crate) fn tells(&mut self, id: usize) {
        self.nodes[id].applying = Applying::Told;
    }

    fn config(&self, id: usize) -> Config {
        let keys =
            (0..self.voters as u64).map(|id| ReplicaKey::new(NodeId(id), DirectoryId(100 + id)));
        let mut config = Config::new(NodeId(id as u64), VoterSet::new(keys).expect("voters"));
        config.applying = self.nodes[id].applying;
        (self.tune)(&mut config);
        config
    }

    pub(crate) fn boot_all(&mut self) {
        for id in 0..self.nodes.len() {
            self.boot(id);
        }
    }

    /// Starts a node that does not run.
    pub(crate) fn boot(&mut self, id: usize) {
        let config = self.config(id);
        let node = &mut self.nodes[id];
        if node.machine.is_some() {
            return;
        }
        node.life += 1;
        let stored = node.disk.stored.clone();
        node.applied = stored.as_ref().map_or(0, |stored| stored.log.base().index);
        let boot = Boot {
            stored,
            directory: node.disk.directory,
            incarnation: node.life,
            seed: self.seed,
        };
        let now = Instant::from_micros(self.now);
        let machine = Machine::with_rules(config, boot, now, self.rules).expect("a machine");
        self.nodes[id].machine = Some(machine);
        self.judge.booted(id, &self.nodes[id]);
        self.drain(id);
    }

    /// The process dies. Of the writes that were not confirmed a first part is on the disk.
    pub(crate) fn crash(&mut self, id: usize) {
        let pending = self.nodes[id].disk.pending.len() as u64;
        let kept = self.random.below(pending + 1);
        self.crash_keeping(id, kept);
    }

    /// The process dies, and of the writes that were not confirmed so many are on the disk.
    pub(crate) fn crash_keeping(&mut self, id: usize, kept: u64) {
        let node = &mut self.nodes[id];
        node.machine = None;
        node.frozen = false;
        node.inbox.clear();
        for _ in 0..kept {
            if let Some((_, write)) = node.disk.pending.pop_front() {
                node.disk.apply(&write);
            }
        }
        node.disk.pending.clear();
        for other in 0..self.nodes.len() {
            self.break_connection(other, id);
        }
    }

    /// Another, empty disk takes the place of the one there was; the node does not run.
    pub(crate) fn replace_disk(&mut self, id: usize) {
        self.replaced += 1;
        self.nodes[id].disk = Disk::new(1_000 + self.replaced as u64);
    }

    fn break_connection(&mut self, of: usize, with: usize) {
        if self.connected && of != with {
            // What is on its way is lost with it.
            self.flights.retain(|_, (from, to, _)| {
                !(*from == of && *to == with || *from == with && *to == of)
            });
            let life = self.nodes[of].life;
            self.push(MS, Due::Disconnect(of, with, life));
        }
    }

    pub(crate) fn freeze(&mut self, id: usize) {
        self.nodes[id].frozen = self.nodes[id].machine.is_some();
    }

    pub(crate) fn thaw(&mut self, id: usize) {
        if std::mem::take(&mut self.nodes[id].frozen) {
            self.input(id, Input::Timeout);
            for input in std::mem::take(&mut self.nodes[id].inbox) {
                match input {
                    Input::Peer(from, message) => self.deliver(from.0 as usize, id, message),
                    other => self.input(id, other),
                }
            }
        }
    }

    /// Nothing goes from one to the other any more.
    pub(crate) fn cut_one_way(&mut self, from: usize, to: usize) {
        self.cuts.insert((from, to));
        self.break_connection(from, to);
        self.break_connection(to, from);
    }

    pub(crate) fn cut(&mut self, a: usize, b: usize) {
        self.cut_one_way(a, b);
        self.cut_one_way(b, a);
    }

    pub(crate) fn isolate(&mut self, id: usize) {
        for other in (0..self.nodes.len()).filter(|other| *other != id) {
            self.cut(id, other);
        }
    }

    pub(crate) fn heal(&mut self) {
        self.cuts.clear();
    }

    /// Who may act now, of the highest epoch.
    pub(crate) fn leader(&self) -> Option<usize> {
        let token = |id: &usize| {
            let machine = self.nodes[*id].machine.as_ref()?;
            match machine.standing(Instant::from_micros(self.now)) {
                Standing::Leading(tenure) if !self.nodes[*id].frozen => Some(tenure.token),
                _ => None,
            }
        };
        let leading = (0..self.nodes.len()).filter(|id| token(id).is_some());
        leading.max_by_key(|id| token(id))
    }

    pub(crate) fn input(&mut self, id: usize, input: Input<Message, ()>) {
        let now = Instant::from_micros(self.now);
        if let Some(machine) = &mut self.nodes[id].machine {
            machine.handle(now, input);
            self.drain(id);
        }
    }

    /// Calls the machine of a node that runs, and carries out what it says.
    pub(crate) fn call<T>(
        &mut self,
        id: usize,
        call: impl FnOnce(&mut Machine, Instant) -> T,
    ) -> Option<T> {
        let now = Instant::from_micros(self.now);
        let answer = self.nodes[id]
            .machine
            .as_mut()
            .map(|machine| call(machine, now));
        self.drain(id);
        answer
    }

    pub(crate) fn propose(&mut self, id: usize) -> Option<Position> {
        self.call(id, |machine, now| machine.propose(now, 1).ok())
            .flatten()
    }

    /// The state machine of a node applies what is committed.
    pub(crate) fn apply(&mut self, id: usize) {
        if let Some(machine) = &self.nodes[id].machine {
            let upto = machine.high_watermark();
            self.nodes[id].applied = self.nodes[id].applied.max(upto);
            self.call(id, |machine, now| machine.applied(now, upto));
        }
    }

    fn push(&mut self, after: u64, due: Due) {
        self.pushed += 1;
        self.queue
            .push(Reverse((self.now + after, self.pushed, due)));
    }

    fn drain(&mut self, id: usize) {
        while let Some(output) = self.nodes[id].machine.as_mut().and_then(Machine::poll) {
            (self.now, id, format!("{output:?}")).hash(&mut self.trace);
            match output {
                Output::Event(event) => self.news(id, event),
                Output::Request(ticket, write) => self.write(id, ticket, write),
                Output::Send(to, message) => {
                    self.judge
                        .said(id, &self.nodes[id], to.0 as usize, &message);
                    self.send(id, to.0 as usize, message);
                }
            }
        }
        let node = &mut self.nodes[id];
        let Some(machine) = &node.machine else { return };
        match node.applying {
            Applying::AtOnce => node.applied = node.applied.max(machine.high_watermark()),
            Applying::Told if machine.high_watermark() > node.applied && self.lag > 0 => {
                let (lag, life) = (self.random.below(self.lag), node.life);
                self.push(lag, Due::Apply(id, life));
            }
            Applying::Told => {}
        }
        self.judge.look(self.now, id, &self.nodes);
        let due = self.nodes[id].machine.as_ref().and_then(Machine::deadline);
        if let Some(due) = due {
            let at = due.as_micros().max(self.now);
            self.push(at - self.now, Due::Wake(id));
        }
    }

    fn news(&mut self, id: usize, event: Event) {
        self.judge.news(self.now, id, &self.nodes[id], event);
    }

    fn write(&mut self, id: usize, ticket: Ticket, write: Write) {
        self.judge.wrote(id, &self.nodes[id], &write);
        if let LogWrite::Install { last } = write.log {
            let node = &mut self.nodes[id];
            node.applied = node.applied.max(last.index);
        }
        let mut takes = self.disk.0 + self.random.below(self.disk.1 - self.disk.0 + 1);
        if self.random.below(1000) < self.weather.slow_disk {
            takes *= 10;
        }
        let node = &mut self.nodes[id];
        node.disk.pending.push_back((ticket, write));
        // One after another.
        node.free_at = node.free_at.max(self.now) + takes;
        let (after, life) = (node.free_at - self.now, node.life);
        self.push(after, Due::Written(id, life));
    }

    fn send(&mut self, from: usize, to: usize, message: Message) {
        self.sent += 1;
        let copies = match self.random.below(1000) {
            lost if lost < self.weather.loss => {
                if self.connected && self.random.below(4) == 0 {
                    self.break_connection(from, to);
                    self.break_connection(to, from);
                }
                return;
            }
            _ if self.connected => 1,
            chance => 1 + u64::from(chance < self.weather.loss + self.weather.repeat),
        };
        for _ in 0..copies {
            let mut takes = self.latency.0 + self.random.below(self.latency.1 - self.latency.0 + 1);
            if self.random.below(1000) < self.weather.late {
                takes += self.random.below(Weather::LATE);
            }
            let mut at = self.now + takes;
            if self.connected {
                let last = self.last_arrival.entry((from, to)).or_default();
                at = at.max(*last + 1);
                *last = at;
            }
            self.flights
                .insert(self.pushed, (from, to, message.clone()));
            self.push(at - self.now, Due::Arrive(self.pushed));
        }
    }

    /// A message arrives, whatever the network thinks of it.
    pub(crate) fn deliver(&mut self, from: usize, to: usize, message: Message) {
        if self.nodes[to].frozen {
            let from = NodeId(from as u64);
            return self.nodes[to].inbox.push(Input::Peer(from, message));
        }
        if self.nodes[to].machine.is_none() {
            return;
        }
        self.judge.before(to, &self.nodes[to], &message);
        self.input(to, Input::Peer(NodeId(from as u64), message));
        self.judge.after(to, &self.nodes[to]);
    }

    /// Runs for so many microseconds, or until something broke that is looked for.
    pub(crate) fn run(&mut self, span: u64) {
        let end = self.now + span;
        self.run_until(end, |_| false);
        self.now = self.now.max(end);
    }

    /// Runs until that holds, and tells how long it took; `None` when it did not in that time.
    pub(crate) fn run_until(&mut self, end: u64, done: impl Fn(&Self) -> bool) -> Option<u64> {
        let began = self.now;
        if done(self) {
            return Some(0);
        }
        while let Some(Reverse((at, _, due))) = self.queue.peek().copied() {
            if at > end {
                break;
            }
            self.queue.pop();
            self.now = self.now.max(at);
            self.happen(due);
            if done(self) {
                return Some(self.now - began);
            }
        }
        None
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Wake(id) => {
                let node = &self.nodes[id];
                let at = node.machine.as_ref().and_then(Machine::deadline);
                if !node.frozen && at.is_some_and(|at| at.as_micros() <= self.now) {
                    self.input(id, Input::Timeout);
                    let machine = self.nodes[id].machine.as_ref();
                    let next = machine.and_then(Machine::deadline);
                    assert!(
                        next.is_none_or(|next| next.as_micros() > self.now),
                        "C2: node {id} is due again at {next:?}, now {}: {machine:?}",
                        self.now
                    );
                }
            }
            Due::Written(id, life) => self.written(id, life),
            Due::Arrive(flight) => {
                if let Some((from, to, message)) = self.flights.remove(&flight)
                    && !self.cuts.contains(&(from, to))
                {
                    self.deliver(from, to, message);
                }
            }
            Due::Apply(id, life) => {
                if self.nodes[id].life == life && !self.nodes[id].frozen {
                    self.apply(id);
                }
            }
            Due::Disconnect(of, with, life) => {
                if self.nodes[of].life == life && !self.nodes[of].frozen {
                    let peer = NodeId(with as u64);
                    self.call(of, |machine, now| machine.disconnected(now, peer));
                }
            }
            Due::Fault => self.fault(),
            Due::Propose => {
                let id = self.random.below(self.nodes.len() as u64) as usize;
                if !self.nodes[id].frozen {
                    let leader = self.leader().unwrap_or(id);
                    self.propose(leader);
                }
                let pause = 1 + self.random.below(self.proposes);
                self.push(pause, Due::Propose);
            }
        }
    }

    fn written(&mut self, id: usize, life: u64) {
        let node = &mut self.nodes[id];
        if node.life != life || node.machine.is_none() {
            return;
        }
        let Some((ticket, write)) = node.disk.pending.pop_front() else {
            return;
        };
        let unknown = self.random.below(1000) < self.weather.unknown;
        if unknown {
            // Nor is anything written after it.
            node.disk.pending.clear();
        } else {
            node.disk.apply(&write);
        }
        let reply = if unknown { Err(Unknown) } else { Ok(()) };
        let input = Input::Reply(ticket, reply);
        if node.frozen {
            return node.inbox.push(input);
        }
        self.input(id, input);
    }

    /// Whether any node is in that role.
    pub(crate) fn any(&self, role: Role) -> bool {
        let machines = self.nodes.iter().filter_map(|node| node.machine.as_ref());
        machines.into_iter().any(|machine| machine.role() == role)
    }
}
