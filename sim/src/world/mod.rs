//! The world: actors of different kinds under one physics, driven by true time and one seed.
//!
//! A world is a value: clone it and both go on alike (law W2). It moves only in [`World::run_until`], and only from one
//! thing that is due to the next; two calls to two instants are one call to the later.

#[cfg(feature = "peers")]
mod brokers;
pub(crate) mod env;
#[cfg(feature = "peers")]
mod env_brokers;
#[cfg(feature = "peers")]
mod env_sentinels;
mod fared;
mod faults;
mod flap;
#[cfg(test)]
mod flaws;
pub mod replication;
#[cfg(feature = "peers")]
mod sentinels;
#[cfg(test)]
mod servers;
pub mod view;
mod work;

pub use env::Counts;
pub use fared::FaultCounts;

use crate::app::{RESOURCES, Through};
#[cfg(feature = "peers")]
use crate::brokers::Customer;
#[cfg(feature = "peers")]
use crate::check::Acknowledged;
use crate::check::linearizable::{self, Linearizable, Use};
#[cfg(not(target_family = "wasm"))]
use crate::check::watch_complete::WatchComplete;
use crate::check::{Check, Fact, Judges, Promises, Verdict};
use crate::client::Client;
use crate::fault::Plan;
use crate::node::Node;
use crate::packet::{Done, Outcome, Packet};
use crate::physics::NOBODY;
use crate::physics::clock::{Clock, TRUE_PACE};
use crate::physics::disk::Takes;
use crate::physics::network::{Fate, Flight, Network};
use crate::physics::queue::Queue;
use crate::physics::trace::{Event, Kind, Loss, Trace};
use crate::physics::weather::Weather;
use crate::resource::{Resource, refusal_code};
use crate::scenario::Scenario;
use crate::scheme::{Machine, Setup};
use crate::server::Server;
use crate::stages::Stages;
#[cfg(not(target_family = "wasm"))]
use crate::store::Reader;
use crate::store::StoreClient;
#[cfg(not(target_family = "wasm"))]
use crate::store::{WATCHERS, Watcher};
use env::{Due, Env, message_event};
use fared::Fared;
use flap::Flaps;
use tenure::fence::Pass;
use tenure::random::Random;
use work::use_jobs;

/// Who is in the world, of whatever kind.
#[derive(Clone, Debug)]
pub(crate) enum Actor {
    Node(Box<Node<Machine>>),
    Server(Box<Server>),
    Client(Client),
    Resource(Resource),
    Store(StoreClient),
    /// Who produces and consumes.
    #[cfg(feature = "peers")]
    Customer(Box<Customer>),
    #[cfg(not(target_family = "wasm"))]
    Reader(Box<Reader>),
    #[cfg(not(target_family = "wasm"))]
    Watcher(Box<Watcher>),
}

/// A world and its present.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) actors: Vec<Actor>,
    pub(crate) env: Env,
    setup: Setup,
    base: Base,
    /// All actions in order of time, and how many of them are done. Clones of a world share it.
    plan: Plan,
    next: usize,
    flaps: Flaps,
    /// Whether the world is whole: everybody runs, every link carries, nothing is slower than at the start, and every
    /// clock keeps to the bound.
    whole: bool,
    duration: u64,
    ended: bool,
}

/// How the world is when nothing is wrong with it.
#[derive(Clone, Copy, Debug)]
struct Base {
    weather: Weather,
    disk: Takes,
}

impl World {
    /// The world of a scenario, at its beginning. Nothing has happened yet, not even the start of the nodes.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        let nodes = scenario.nodes;
        let setup = scenario.setup();
        // Every part of the world has its own source: more draws in one shift none in another.
        let source = |part: u64| Random::new(scenario.seed, tenure::NodeId(part), 0);
        let mut origins = source(1);
        let mut actors: Vec<Actor> = (0..nodes)
            .map(|node| {
                let pace = scenario.clocks.get(node).copied().unwrap_or(TRUE_PACE);
                Actor::Node(Box::new(Node::new(
                    Clock::starting_at(origins.below(1 << 40), pace),
                    scenario.disk,
                )))
            })
            .collect();
        let servers = setup.servers();
        actors.extend(servers.into_iter().map(|kept| {
            let clock = Clock::starting_at(origins.below(1 << 40), TRUE_PACE);
            Actor::Server(Box::new(Server::new(kept, clock)))
        }));
        let members = actors.len();
        let client = |through| Client::new(nodes as u16, scenario.clients.every, through);
        #[cfg(feature = "peers")]
        let client = |through| match setup.sentinels() {
            Some(_) => client(through).knowing(members as u16),
            None => client(through),
        };
        actors.push(Actor::Client(client(scenario.clients.through)));
        actors.push(Actor::Resource(Resource::new(true)));
        actors.push(Actor::Resource(Resource::new(false)));
        // Where brokers are decided of on the log, nothing else is.
        if scenario.has_store() {
            let client = |place| {
                StoreClient::new(nodes as u16, scenario.clients.every, scenario.seed, place)
            };
            actors
                .extend((0..crate::store::CLIENTS as u64).map(|place| Actor::Store(client(place))));
        }
        // Beside the client that stays with the master it knows, one that asks a sentinel before each write.
        #[cfg(feature = "peers")]
        if scenario.has_sentinels() {
            actors.push(Actor::Client(client(Through::Anyone)));
        }
        #[cfg(feature = "peers")]
        if let Some(params) = setup.brokers() {
            let every = scenario.clients.every;
            let customer = |place| Box::new(Customer::new(params, nodes, place, every));
            actors.extend(
                (0..crate::brokers::CUSTOMERS).map(|place| Actor::Customer(customer(place))),
            );
        }
        #[cfg(not(target_family = "wasm"))]
        if scenario.clients.watches && scenario.has_store() {
            let every = scenario.clients.every;
            let watcher = |place| Watcher::new(nodes as u16, every, scenario.seed, place);
            let watchers = (0..WATCHERS as u64).map(|place| Box::new(watcher(place)));
            actors.extend(watchers.map(Actor::Watcher));
        }
        let promises = Promises {
            leases: scenario.has_leases(),
            fence_first: scenario.clients.takeover == crate::app::Takeover::FenceFirst,
            leader_within: scenario.leader_within,
            led: scenario.clients.through == Through::Leader,
            tokens: setup.has_tokens(),
            job_within: scenario.job_within(),
            logs: scenario.has_log(),
            watches: scenario.clients.watches && scenario.has_store(),
            voters: scenario.voters(),
            broadcast: setup.is_broadcast(),
            sentinels: scenario.has_sentinels(),
            #[cfg(feature = "peers")]
            wakes_late: (setup.sentinels()).is_some_and(crate::scheme::sentinel::Setup::wakes_late),
            #[cfg(not(feature = "peers"))]
            wakes_late: false,
            kraft: setup.stops_within(),
            #[cfg(feature = "peers")]
            brokers: setup.brokers().map(|brokers| match brokers.acks {
                tenure::isr::Acks::All => Acknowledged::ByAll,
                tenure::isr::Acks::Leader => Acknowledged::ByLeader,
            }),
            #[cfg(not(feature = "peers"))]
            brokers: None,
            controllers: setup.keeps_in_store(),
        };
        let believers = nodes.max(members - nodes);
        let judges = Judges::new(believers, RESOURCES, promises);
        #[cfg(feature = "peers")]
        let judges = (judges.of_sentinels(setup.sentinels())).of_brokers(setup.brokers());
        let env = Env {
            now: 0,
            queue: Queue::default(),
            net: Network::new(members, scenario.weather, source(2)),
            connected: setup.is_connected(),
            trace: Trace::default(),
            judges: Box::new(judges),
            stages: Box::default(),
            counts: Counts::default(),
            fared: Fared::default(),
            act: NOBODY,
            rough: NOBODY,
            disks: source(3),
            clients: scenario.clients,
            tokens: promises.tokens,
            jobs: scenario.jobs,
            #[cfg(feature = "peers")]
            brokers: setup.brokers(),
            #[cfg(feature = "peers")]
            went: false,
            nodes,
            servers: members - nodes,
            histories: None,
            #[cfg(not(target_family = "wasm"))]
            store: None,
            #[cfg(not(target_family = "wasm"))]
            watches: None,
            #[cfg(not(target_family = "wasm"))]
            marks: None,
            #[cfg(test)]
            flaw: None,
        };
        let mut world = Self {
            actors,
            env,
            setup,
            base: Base {
                weather: scenario.weather,
                disk: scenario.disk,
            },
            plan: Plan::new(scenario.faults.clone()),
            next: 0,
            flaps: Flaps::default(),
            whole: true,
            duration: scenario.duration,
            ended: false,
        };
        world.begin();
        world
    }

    /// Lets everything happen that is due at or before `to`, or before the end of the run.
    pub fn run_until(&mut self, to: u64) {
        let to = to.min(self.duration);
        while self.step(to) {}
        self.env.now = self.env.now.max(to);
        // What breaks by waiting was a step of its own: this only accounts for the time.
        self.env.judges.wait(self.env.now);
        if to == self.duration && !self.ended {
            self.ended = true;
            self.env.trace.cause = -1;
            self.env.emit(Event::new(Kind::End, 0));
        }
    }

    /// Runs to the end.
    pub fn run(&mut self) {
        self.run_until(self.duration);
    }

    /// Lets the next thing happen, if it is due at or before `to`.
    pub(crate) fn step(&mut self, to: u64) -> bool {
        let [queued, planned, patience] = self.due();
        if patience <= to && patience <= queued && patience <= planned {
            self.env.now = self.env.now.max(patience);
            self.env.trace.cause = -1;
            let broken = self.env.judges.wait(self.env.now);
            self.env.show(broken, Fact::Whole(true));
            return true;
        }
        // At one instant, actions come after everything else.
        if planned <= to && planned < queued {
            self.env.now = self.env.now.max(planned);
            self.apply_next();
            return true;
        }
        let Some((at, due)) = self.env.queue.pop_until(to) else {
            return false;
        };
        self.env.now = at;
        self.env.trace.cause = -1;
        #[cfg(feature = "peers")]
        let mut touched = due.member();
        match due {
            Due::Arrive(slot) => {
                if let Some(flight) = self.env.net.land(slot) {
                    #[cfg(feature = "peers")]
                    {
                        touched = Some(flight.to.into());
                    }
                    self.arrive(flight);
                }
            }
            Due::Start(member) => match self.actors.get_mut(member as usize) {
                Some(Actor::Node(raft)) => {
                    raft.start(&mut self.env, member as usize, &self.setup);
                }
                Some(Actor::Server(server)) => server.begin(&mut self.env, member as usize),
                _ => {}
            },
            Due::Wake(member) => match self.actors.get_mut(member as usize) {
                Some(Actor::Node(node)) => node.wake(&mut self.env, member as usize),
                Some(Actor::Server(server)) => server.wake(&mut self.env, member as usize),
                _ => {}
            },
            Due::Written(node, era) => {
                if let Some(Actor::Node(raft)) = self.actors.get_mut(node as usize) {
                    let damaged = raft.disk().is_damaged();
                    raft.written(&mut self.env, node as usize, era);
                    // A fault of one write is over with it.
                    if damaged {
                        self.note_wholeness();
                    }
                }
            }
            Due::Thought(node) => {
                if let Some(Actor::Node(raft)) = self.actors.get_mut(node as usize) {
                    raft.thought(&mut self.env, node as usize);
                }
            }
            Due::Tick(actor) => self.tick(actor as usize),
            Due::Served(node) => {
                if let Some(Actor::Node(raft)) = self.actors.get_mut(node as usize) {
                    raft.served(&mut self.env, node as usize);
                }
            }
            Due::Flap(from, to) => self.flap_turns(from, to),
            Due::Leases(node) => {
                if let Some(Actor::Node(raft)) = self.actors.get_mut(node as usize) {
                    raft.look_at_leases(&mut self.env, node as usize);
                }
            }
            Due::Connect(one, other) => {
                let (one, other) = (one as usize, other as usize);
                if self.env.net.is_back(at, one, other) {
                    self.env.emit(Event::new(Kind::Reconnect, one).with(other));
                    self.tell_ends(one, other);
                }
            }
            Due::Unconnected(node, peer) => {
                let (node, peer) = (node as usize, peer as usize);
                if self.env.net.breaker(at, node, peer).is_some() {
                    self.tell_end(node, peer, false);
                }
            }
            Due::Job(job) => self.job_due(job),
            Due::Work(node) => {
                if let Some(Actor::Node(raft)) = self.actors.get_mut(node as usize) {
                    raft.look_at_work(&mut self.env, node as usize);
                }
            }
        }
        #[cfg(feature = "peers")]
        if let Some(member) = touched {
            if matches!(due, Due::Written(..)) {
                self.look_at_file(member);
            }
            self.look_at_sentinels(member, false);
        }
        #[cfg(feature = "peers")]
        if std::mem::take(&mut self.env.went) {
            self.note_wholeness();
        }
        true
    }

    /// The present.
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.env.now
    }

    /// When the run ends.
    #[must_use]
    pub const fn duration(&self) -> u64 {
        self.duration
    }

    /// When the next thing is due, if the run goes on that long.
    #[must_use]
    pub fn next_at(&self) -> Option<u64> {
        let next = self.due().into_iter().min();
        next.filter(|at| *at <= self.duration)
    }

    /// When the next thing of each kind is due: what is queued, what is planned, and what breaks by waiting.
    fn due(&self) -> [u64; 3] {
        // A bound is broken just after it; what happens at the bound is still in time.
        let patience = self.env.judges.patience().map(|due| due.saturating_add(1));
        [
            self.env.queue.next_at(),
            self.plan.get(self.next).map(|fault| fault.at),
            patience,
        ]
        .map(|at| at.unwrap_or(u64::MAX))
    }

    /// About how much there is to clone, in units of 100 bytes. What the judges remember grows with what happened.
    pub(crate) fn weight(&self) -> usize {
        let nodes = self.env.nodes;
        let late: usize = self.rafts().map(|(_, raft)| raft.late()).sum();
        let replicas: usize = self
            .rafts()
            .filter_map(|(_, raft)| raft.replica())
            .map(crate::store::Replica::weight)
            .sum();
        // The judges of logs remember as much again.
        let share = if self.setup.has_log() { 32 } else { 64 };
        let remembered = self.env.trace.count() as usize / share;
        nodes * (nodes + 16) + self.env.queue.len() + late + replicas / 2 + remembered
    }

    /// The trace.
    #[must_use]
    pub const fn trace(&self) -> &Trace {
        &self.env.trace
    }

    /// The trace, to switch recording and to take away what was recorded.
    pub const fn trace_mut(&mut self) -> &mut Trace {
        &mut self.env.trace
    }

    /// What each judge has to say now, of those whose rule the workload is concerned with.
    #[must_use]
    pub fn verdicts(&self) -> Vec<Verdict> {
        Check::ALL
            .into_iter()
            .filter(|check| self.env.judges.concerns(*check))
            .map(|check| self.verdict(check))
            .collect()
    }

    /// What one judge has to say now. Histories are judged where they are [recorded](Self::record_histories): elsewhere
    /// theirs are not exercised.
    #[must_use]
    pub fn verdict(&self, check: Check) -> Verdict {
        let mut verdict = self.env.judges.verdict(check);
        if cfg!(not(target_family = "wasm"))
            && let (Some(history), Some(recorded)) = (check.history(), &self.env.histories)
        {
            let speaker = match history {
                linearizable::CLIENT => self.env.speaker(),
                resource => resource,
            };
            let holds = self.resource(speaker).map_or(0, Resource::value);
            let finding = recorded.finding(history, self.env.now, holds);
            self.env.judges.find(&mut verdict, finding);
        }
        #[cfg(not(target_family = "wasm"))]
        if let (Check::LinearizableStore, Some(store)) = (check, &self.env.store) {
            self.env.judges.find(&mut verdict, store.finding());
        }
        #[cfg(not(target_family = "wasm"))]
        if let (Check::WatchComplete, Some(watches)) = (check, &self.env.watches) {
            let finding = watches.finding(self.env.now);
            self.env.judges.find(&mut verdict, finding);
        }
        verdict
    }

    /// The judges.
    #[must_use]
    pub const fn judges(&self) -> &Judges {
        &self.env.judges
    }

    /// Records from now on what is done at the resources. To be called before anything happens: an operation whose
    /// beginning was missed makes no sense to the judge.
    pub fn record_histories(&mut self) {
        // Clients of sentinels write at data servers, and at no resource.
        #[cfg(feature = "peers")]
        if self.setup.sentinels().is_some() {
            return;
        }
        let clients = self.env.clients;
        let judge = Linearizable::new(self.env.speaker(), clients.every);
        self.env.histories = Some(Box::new(judge));
        #[cfg(not(target_family = "wasm"))]
        {
            self.env.store = Some(Box::default());
            let within = self.env.judges.watched_within(clients.every);
            self.env.watches = Some(Box::new(WatchComplete::new(within)));
        }
    }

    /// A resource by its place: the fenced one is the first.
    #[must_use]
    pub fn resource(&self, place: usize) -> Option<&Resource> {
        match self.actors.get(self.env.resource_actor(place))? {
            Actor::Resource(resource) => Some(resource),
            _ => None,
        }
    }

    /// Notes from now on which situations are met. To be called before anything happens.
    #[cfg(not(target_family = "wasm"))]
    pub fn note_marks(&mut self) {
        let timeout = self.setup.timeout().as_micros();
        let marks = crate::marks::Marks::new(self.env.nodes, timeout);
        self.env.marks = Some(Box::new(marks));
    }

    /// Which situations were met; none when that was not noted.
    #[cfg(not(target_family = "wasm"))]
    #[must_use]
    pub fn marks(&self) -> crate::marks::Met {
        self.env
            .marks
            .as_ref()
            .map_or_else(Default::default, |marks| marks.met())
    }

    /// Another client of the store, which begins at once.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn add_reader(&mut self, reader: Reader) {
        let actor = self.actors.len() as u16;
        self.actors.push(Actor::Reader(Box::new(reader)));
        self.env.queue.push(self.env.now, Due::Tick(actor));
    }

    /// From now on clients of resources that are sent to a leader that is gone ask a third, and do not wait until those that they
    /// asked have heard of the next.
    #[cfg(all(feature = "stores", feature = "peers", not(target_family = "wasm")))]
    pub fn ask_around(&mut self) {
        for actor in &mut self.actors {
            if let Actor::Client(client) = actor {
                client.asking_around();
            }
        }
    }

    /// Those that were added.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn readers(&self) -> impl Iterator<Item = &Reader> {
        self.actors.iter().filter_map(|actor| match actor {
            Actor::Reader(reader) => Some(&**reader),
            _ => None,
        })
    }

    /// The failovers so far.
    #[must_use]
    pub const fn stages(&self) -> &Stages {
        &self.env.stages
    }

    /// What was counted so far.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.env.counts
    }

    /// Starts everybody, and the client.
    fn begin(&mut self) {
        for node in 0..self.env.nodes {
            self.env.queue.push(0, Due::Start(node as u16));
        }
        for (member, actor) in self.actors.iter().enumerate() {
            if matches!(actor, Actor::Server(server) if server.begins()) {
                self.env.queue.push(0, Due::Start(member as u16));
            }
        }
        let client = self.env.client_actor();
        self.env
            .queue
            .push(self.env.clients.every, Due::Tick(client as u16));
        if let Some(jobs) = self.env.jobs {
            self.env.queue.push(jobs.every, Due::Job(1));
        }
        for actor in self.env.resource_actor(RESOURCES)..self.actors.len() {
            self.env
                .queue
                .push(self.env.clients.every, Due::Tick(actor as u16));
        }
    }

    /// The connection of two nodes stands again: what each knew of the one before is over, where they speak over it.
    fn tell_ends(&mut self, one: usize, other: usize) {
        if !self.env.connected {
            return;
        }
        for (member, peer) in [(one, other), (other, one)] {
            for stands in [false, true] {
                self.tell_end(member, peer, stands);
            }
        }
    }

    /// One end of a connection is told what became of it.
    fn tell_end(&mut self, member: usize, peer: usize, stands: bool) {
        match self.actors.get_mut(member) {
            Some(Actor::Node(node)) => node.connection(&mut self.env, member, peer, stands),
            #[cfg(feature = "peers")]
            Some(Actor::Server(server)) => {
                server.connection(&mut self.env, member, peer, stands);
            }
            _ => {}
        }
    }

    fn tick(&mut self, actor: usize) {
        #[cfg(not(target_family = "wasm"))]
        self.read_on(actor);
        if let Some(Actor::Client(client)) = self.actors.get_mut(actor) {
            let now = self.env.now;
            let (target, request) = client.tick(now);
            let next = client.next_at(now);
            self.env.queue.push(next, Due::Tick(actor as u16));
            self.env.used(linearizable::CLIENT, Use::Asked { request });
            self.env
                .send_outside(actor, target as usize, 0, Packet::Request { request });
        }
        if let Some(Actor::Store(client)) = self.actors.get_mut(actor) {
            let now = self.env.now;
            let next = client.next_at(now);
            self.env.queue.push(next, Due::Tick(actor as u16));
            if let Some((target, call, noted)) = client.tick(now, actor as u16) {
                self.env.used_store(actor, noted);
                self.env
                    .send_outside(actor, target as usize, 0, Packet::Call(call));
            }
        }
        #[cfg(feature = "peers")]
        if let Some(Actor::Customer(customer)) = self.actors.get_mut(actor) {
            let now = self.env.now;
            customer.tick(now);
            let next = customer.next_at(now);
            self.env.queue.push(next, Due::Tick(actor as u16));
            while let Some((to, said)) = customer.poll() {
                self.env.say_of_brokers(actor, to, said);
            }
        }
        #[cfg(not(target_family = "wasm"))]
        if let Some(Actor::Watcher(watcher)) = self.actors.get_mut(actor) {
            let now = self.env.now;
            let next = watcher.next_at(now);
            self.env.queue.push(next, Due::Tick(actor as u16));
            watcher.tick(now, actor as u16, |target, call| {
                self.env
                    .send_outside(actor, target as usize, 0, Packet::Call(call));
            });
        }
    }

    /// A reader asks for the next thing, if it waits for nothing.
    #[cfg(not(target_family = "wasm"))]
    fn read_on(&mut self, actor: usize) {
        if let Some(Actor::Reader(reader)) = self.actors.get_mut(actor)
            && !reader.waits()
        {
            let (target, call, noted) = reader.ask(self.env.now);
            self.env.used_store(actor, noted);
            self.env
                .send_outside(actor, target as usize, 0, Packet::Call(call));
        }
    }

    fn arrive(&mut self, flight: Flight<Packet>) {
        let (from, to) = (flight.from as usize, flight.to as usize);
        self.env.trace.cause = flight.cause;
        let lost = match flight.fate {
            Fate::Replayed if self.env.net.links.is_cut(from, to) => {
                self.env.fared.notice(self.env.net.links.cutter(from, to));
                Some(Loss::Cut)
            }
            Fate::Arrives | Fate::Replayed => None,
            Fate::Lost => Some(Loss::Network),
            Fate::Cut => Some(Loss::Cut),
            Fate::Broken => Some(Loss::Disconnected),
        };
        if let Some(why) = lost {
            self.env
                .emit(message_event(Kind::Lose, from, to, &flight.payload).b(why as u64));
            return;
        }
        match self.actors.get_mut(to) {
            Some(Actor::Node(raft)) => raft.arrive(&mut self.env, to, flight),
            Some(Actor::Server(server)) => server.arrive(&mut self.env, to, flight),
            Some(Actor::Client(client)) => {
                self.env.trace.cause = self
                    .env
                    .emit(message_event(Kind::Deliver, to, from, &flight.payload).b(flight.id));
                if let Packet::Reply { request, outcome } = flight.payload {
                    if matches!(outcome, Outcome::Acknowledged(_)) {
                        self.env
                            .emit(Event::new(Kind::Acknowledged, to).with(from).a(request));
                    }
                    if let Some(leader) =
                        client.answered(self.env.now, flight.from, request, outcome)
                    {
                        self.env
                            .send_outside(to, leader as usize, 0, Packet::Request { request });
                    } else {
                        let answered = Use::Answered { request, outcome };
                        self.env.used(linearizable::CLIENT, answered);
                    }
                }
            }
            Some(Actor::Store(client)) => {
                self.env.trace.cause = self
                    .env
                    .emit(message_event(Kind::Deliver, to, from, &flight.payload).b(flight.id));
                if let Packet::Said { number, said } = &flight.payload {
                    if said.tells_of_a_change() {
                        self.env.stages.acknowledged(self.env.now, from);
                    }
                    let (noted, instead) = client.said(*number, said);
                    self.env.used_store(to, noted);
                    if let Some((target, call)) = instead {
                        self.env
                            .send_outside(to, target as usize, 0, Packet::Call(call));
                    }
                }
            }
            #[cfg(feature = "peers")]
            Some(Actor::Customer(customer)) => {
                let event = message_event(Kind::Deliver, to, from, &flight.payload).b(flight.id);
                self.env.trace.cause = self.env.emit(event);
                if let Packet::Brokers(said) = &flight.payload {
                    if let Some(number) = customer.hear(self.env.now, flight.from, said) {
                        let event = Event::new(Kind::Acknowledged, to).with(from).a(number);
                        self.env.emit(event);
                    }
                    while let Some((target, said)) = customer.poll() {
                        self.env.say_of_brokers(to, target, said);
                    }
                }
            }
            #[cfg(not(target_family = "wasm"))]
            Some(Actor::Reader(reader)) => {
                self.env.trace.cause = self
                    .env
                    .emit(message_event(Kind::Deliver, to, from, &flight.payload).b(flight.id));
                if let Packet::Said { number, said } = &flight.payload {
                    let (noted, answered) = reader.said(self.env.now, *number, said);
                    self.env.used_store(to, noted);
                    if answered {
                        self.read_on(to);
                    } else {
                        let later = self.env.now + self.env.clients.every;
                        self.env.queue.push(later, Due::Tick(to as u16));
                    }
                }
            }
            #[cfg(not(target_family = "wasm"))]
            Some(Actor::Watcher(watcher)) => {
                self.env.trace.cause = self
                    .env
                    .emit(message_event(Kind::Deliver, to, from, &flight.payload).b(flight.id));
                if let Packet::Said { number, said } = &flight.payload {
                    let (taken, call) = watcher.said(self.env.now, *number, said);
                    if taken {
                        self.env.watched(to, from, watcher.range(), said);
                    }
                    if let Some((target, call)) = call {
                        self.env
                            .send_outside(to, target as usize, 0, Packet::Call(call));
                    }
                }
            }
            Some(Actor::Resource(resource)) => {
                self.env.trace.cause = self
                    .env
                    .emit(message_event(Kind::Deliver, to, from, &flight.payload).b(flight.id));
                if let Some((pass, done)) =
                    use_resource(&mut self.env, resource, to, flight.from, &flight.payload)
                {
                    self.env
                        .send_outside(to, from, 0, Packet::Answer { pass, done });
                }
            }
            None => {}
        }
    }
}

/// What a resource does with a message, shown and judged.
fn use_resource(
    env: &mut Env,
    resource: &mut Resource,
    actor: usize,
    from: u16,
    packet: &Packet,
) -> Option<(Pass, Done)> {
    let place = actor - env.resource_actor(0);
    let node = from as usize;
    match *packet {
        Packet::Fence { pass } => match resource.fence(&pass) {
            Ok(()) => {
                env.emit(
                    Event::new(Kind::Fenced, actor)
                        .with(node)
                        .term(pass.token.counter),
                );
                env.hear(Fact::Touched {
                    resource: place,
                    node,
                    token: pass.token,
                });
                Some((pass, Done::Fenced))
            }
            Err(refused) => {
                let reason = refusal_code(refused);
                env.emit(
                    Event::new(Kind::WriteRefused, actor)
                        .with(node)
                        .term(pass.token.counter)
                        .a(reason),
                );
                Some((pass, Done::Refused { request: 0, reason }))
            }
        },
        Packet::Read { pass } => {
            env.emit(
                Event::new(Kind::Read, actor)
                    .with(node)
                    .term(pass.token.counter),
            );
            env.hear(Fact::Touched {
                resource: place,
                node,
                token: pass.token,
            });
            let value = resource.read();
            env.used(place, Use::Read { node: from, value });
            Some((pass, Done::Read(value)))
        }
        Packet::Write {
            pass,
            request,
            value,
        } => {
            let outcome = resource.write(&pass, from, value);
            let fact = Fact::Wrote {
                resource: place,
                node,
                token: pass.token,
                accepted: outcome.is_ok(),
            };
            let broken = env.judges.hear(env.now, fact);
            let mut event = Event::new(Kind::WriteAccepted, actor).with(node);
            if let Some(term) = packet.term() {
                event = event.term(term);
            }
            let done = match outcome {
                Ok(()) => {
                    env.emit(event.a(u64::from(!broken.is_empty())).b(value));
                    if resource.fenced() || !env.tokens {
                        env.stages.wrote(env.now, pass.token);
                    }
                    env.used(place, Use::Shown { value });
                    Done::Written { request, value }
                }
                Err(refused) => {
                    let reason = refusal_code(refused);
                    env.emit(
                        Event {
                            kind: Kind::WriteRefused,
                            ..event
                        }
                        .a(reason),
                    );
                    Done::Refused { request, reason }
                }
            };
            env.show(broken, fact);
            Some((pass, done))
        }
        Packet::Look { pass, request } => {
            env.emit(Event::new(Kind::Read, actor).with(node));
            let value = resource.read();
            env.used(place, Use::Read { node: from, value });
            Some((pass, Done::Seen { request, value }))
        }
        _ => use_jobs(env, resource, actor, from, packet),
    }
}
