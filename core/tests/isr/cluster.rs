//! Controllers over a log, brokers with replicas, and a network between them, on one clock.

use crate::judge::Judge;
use crate::ledger::Ledger;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::hash::{Hash, Hasher};
use tenure::isr::{
    Acks, Answer, Broker, BrokerBoot, BrokerConfig, BrokerEvent, BrokerOutput, Controller,
    ControllerConfig, ControllerOutput, Fate, Message, PartitionId, Record, Replica, ReplicaBoot,
    ReplicaConfig, ReplicaEvent, ReplicaOutput, Request, Switched,
};
use tenure::log::{Position, Shape};
use tenure::random::Random;
use tenure::{Duration, Instant, NodeId, Ticket};

pub(crate) const MS: u64 = 1_000;

/// Times a tenth of the usual.
pub(crate) const CONTROLLER: ControllerConfig = ControllerConfig {
    session: Duration::from_millis(900),
    check: Duration::from_millis(112),
    balance: Some(Duration::from_millis(5_000)),
    imbalance: 10,
    unclean: Duration::from_millis(5_000),
    elr: true,
};
pub(crate) const BROKER: BrokerConfig = BrokerConfig {
    heartbeat: Duration::from_millis(200),
    retry: Duration::from_millis(20),
    patience: Duration::from_millis(300),
};
pub(crate) const REPLICA: ReplicaConfig = ReplicaConfig {
    lag: Duration::from_millis(600),
    wait: Duration::from_millis(50),
    backoff: Duration::from_millis(40),
    patience: Duration::from_millis(200),
    batch: 7,
    elr: true,
};

/// What goes wrong on the way, in parts per thousand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    pub(crate) loss: u64,
    pub(crate) twice: u64,
    /// As much later as this many times the usual.
    pub(crate) late: u64,
    pub(crate) faults: bool,
}

pub(crate) const CALM: Weather = Weather {
    loss: 0,
    twice: 0,
    late: 0,
    faults: false,
};

/// A broker, and which of its lives.
pub(crate) type LifeId = (usize, u64);

/// Who asks the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    Broker,
    Replica(PartitionId),
    /// A client, who does not listen.
    Client,
}

#[derive(Clone, Debug)]
pub(crate) enum Event {
    Broker(usize, u64),
    Replica(usize, u64, PartitionId),
    Controller(usize),
    Message(usize, usize, PartitionId, Message),
    /// To the controller of this number, from a life of a broker.
    Ask(usize, LifeId, Asker, Ticket, Request),
    Answer(LifeId, Asker, Ticket, Answer),
    Append(usize, u64, u64, Vec<Record>),
    Commit(u64, u64),
    /// A broker reads the log.
    Feed(usize),
    /// A controller does.
    FeedController(usize),
    Renounce(usize, u64),
    Work,
    Fault,
    Calm,
}

/// One life of a broker, with its replicas.
pub(crate) struct Life {
    pub(crate) broker: Broker<Switched>,
    pub(crate) replicas: BTreeMap<PartitionId, Replica<Switched>>,
    /// Up to where it has read the log, of which cut.
    pub(crate) fed: (u64, u64),
    high_watermarks: BTreeMap<PartitionId, u64>,
    /// For when each was called last.
    armed: BTreeMap<PartitionId, Instant>,
    /// Which replicas were given something.
    touched: Vec<PartitionId>,
    broker_armed: Option<Instant>,
    /// What producers wait for.
    waiting: Vec<(PartitionId, Position)>,
}

/// What a broker's disk has while the broker is down.
pub(crate) type Disk = BTreeMap<PartitionId, (Shape, u64)>;

pub(crate) struct Host {
    pub(crate) life: Option<Life>,
    pub(crate) lives: u64,
    pub(crate) disk: Disk,
    /// The proof that it went in good order.
    pub(crate) proof: Option<u64>,
    pub(crate) paused: bool,
    late: Vec<Event>,
    /// Whether it reaches nobody else, and no controller.
    pub(crate) cut: (bool, bool),
}

pub(crate) struct Cluster {
    pub(crate) now: u64,
    pub(crate) hosts: Vec<Host>,
    pub(crate) controllers: Vec<Controller<Switched>>,
    /// Up to where each controller has read the log.
    pub(crate) read: Vec<u64>,
    /// The one that leads the log.
    pub(crate) leader: usize,
    pub(crate) ledger: Ledger,
    pub(crate) judge: Judge,
    pub(crate) random: Random,
    pub(crate) weather: Weather,
    pub(crate) rules: Switched,
    pub(crate) config: (ControllerConfig, ReplicaConfig),
    calls: BTreeMap<(usize, u64), (LifeId, Asker, Ticket)>,
    called: u64,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    events: BTreeMap<u64, Event>,
    pushed: u64,
    /// Whether clients go on.
    pub(crate) works: bool,
    /// How many topics there ever were.
    pub(crate) topics: u64,
    /// How long a message takes at most.
    pub(crate) latency: u64,
    /// Everything that was said, for a comparison of two runs.
    pub(crate) hash: u64,
    /// Whether a message from one to another comes through.
    pub(crate) passes: fn(&Message, usize, usize) -> bool,
}

impl Cluster {
    pub(crate) fn new(seed: u64, brokers: usize, rules: Switched, elr: bool) -> Self {
        let config = (
            ControllerConfig { elr, ..CONTROLLER },
            ReplicaConfig { elr, ..REPLICA },
        );
        let controller = || Controller::with_rules(config.0, rules).unwrap();
        let host = || Host {
            life: None,
            lives: 0,
            disk: BTreeMap::new(),
            proof: None,
            paused: false,
            late: Vec::new(),
            cut: (false, false),
        };
        let mut cluster = Self {
            now: 0,
            hosts: (0..brokers).map(|_| host()).collect(),
            controllers: (0..3).map(|_| controller()).collect(),
            read: vec![0; 3],
            leader: 0,
            ledger: Ledger::default(),
            judge: Judge::new(config.0, rules),
            random: Random::from_seed(seed),
            weather: CALM,
            rules,
            config,
            calls: BTreeMap::new(),
            called: 0,
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            pushed: 0,
            works: true,
            topics: 0,
            latency: 5 * MS,
            hash: 0,
            passes: |_, _, _| true,
        };
        cluster.elect(0, true);
        for me in 0..brokers {
            cluster.start(me);
        }
        cluster
    }

    pub(crate) fn at(&self) -> Instant {
        Instant::from_micros(self.now)
    }

    pub(crate) fn push(&mut self, after: u64, event: Event) {
        self.pushed += 1;
        self.queue.push(Reverse((self.now + after, self.pushed)));
        self.events.insert(self.pushed, event);
    }

    /// Whatever happens until then.
    pub(crate) fn run_until(&mut self, end: u64) {
        while let Some(Reverse((at, number))) = self.queue.peek().copied() {
            if at > end {
                break;
            }
            self.queue.pop();
            self.now = at;
            if let Some(event) = self.events.remove(&number) {
                self.happen(event);
            }
        }
        self.now = end;
    }

    pub(crate) fn run(&mut self, millis: u64) {
        self.run_until(self.now + millis * MS);
    }

    fn happen(&mut self, event: Event) {
        let now = self.at();
        let concerned = match &event {
            Event::Broker(me, _) | Event::Replica(me, ..) | Event::Feed(me) => Some(*me),
            Event::Message(to, ..) | Event::Answer((to, _), ..) => Some(*to),
            _ => None,
        };
        if let Some(me) = concerned.filter(|me| self.hosts[*me].paused) {
            return self.hosts[me].late.push(event);
        }
        match event {
            Event::Broker(me, life) => {
                let due = |life: &mut Life| {
                    life.broker_armed = None;
                    life.broker.timeout(now);
                    assert!(life.broker.deadline().is_none_or(|due| due > now), "C2");
                };
                self.with(me, life, due);
            }
            Event::Replica(me, life, at) => {
                let due = |life: &mut Life| {
                    life.armed.remove(&at);
                    life.touched.push(at);
                    if let Some(replica) = life.replicas.get_mut(&at) {
                        replica.timeout(now);
                        assert!(replica.deadline().is_none_or(|due| due > now), "C2");
                    }
                };
                self.with(me, life, due);
            }
            Event::Controller(which) => {
                self.controllers[which].timeout(now);
                self.drain_controller(which);
            }
            Event::Message(to, from, at, message) => {
                if self.hosts[to].cut.0 || self.hosts[from].cut.0 {
                    return;
                }
                let life = self.hosts[to].lives;
                let from = NodeId(from as u64);
                self.with(to, life, |life| {
                    life.touched.push(at);
                    if let Some(replica) = life.replicas.get_mut(&at) {
                        replica.message(now, from, &message);
                    }
                });
            }
            Event::Ask(which, from, asker, ticket, request) => {
                if asker != Asker::Client && self.hosts[from.0].cut.1 {
                    return;
                }
                self.called += 1;
                self.calls
                    .insert((which, self.called), (from, asker, ticket));
                self.controllers[which].request(now, self.called, &request);
                self.drain_controller(which);
            }
            Event::Answer((me, life), asker, ticket, answer) => {
                if self.hosts[me].cut.1 {
                    return;
                }
                self.with(me, life, |life| match asker {
                    Asker::Broker => life.broker.answer(now, ticket, answer),
                    Asker::Replica(at) => {
                        life.touched.push(at);
                        if let Some(replica) = life.replicas.get_mut(&at) {
                            replica.answer(now, ticket, answer);
                        }
                    }
                    Asker::Client => {}
                });
            }
            Event::Append(which, epoch, offset, records) => {
                let end = offset + records.len() as u64;
                if self.ledger.append(epoch, offset, records) {
                    // All at once, or some of them first.
                    let some = offset + 1 + self.random.below(end - offset);
                    for (up_to, longest) in [(some, self.latency), (end, 2 * self.latency)] {
                        let after = 1 + self.random.below(longest);
                        self.push(after, Event::Commit(epoch, up_to));
                    }
                } else if self.controllers[which].epoch() == Some(epoch) {
                    self.controllers[which].renounce();
                    self.drain_controller(which);
                }
            }
            Event::Commit(epoch, end) => {
                if epoch == self.ledger.epoch && end > self.ledger.committed {
                    self.commit(end);
                }
            }
            Event::Feed(me) => self.feed(me),
            Event::FeedController(which) => self.feed_controller(which),
            Event::Renounce(which, epoch) => {
                if self.controllers[which].epoch() == Some(epoch) {
                    self.controllers[which].renounce();
                    self.drain_controller(which);
                }
            }
            Event::Work => self.work(),
            Event::Fault => self.mischief(),
            Event::Calm => self.calm(),
        }
    }

    /// Does something with a life of a broker, if that is the present one.
    pub(crate) fn with(&mut self, me: usize, life: u64, act: impl FnOnce(&mut Life)) {
        let host = &mut self.hosts[me];
        if host.lives == life
            && let Some(life) = &mut host.life
        {
            act(life);
            self.drain(me);
        }
    }

    /// Another controller leads the log; the former one may not know.
    pub(crate) fn elect(&mut self, which: usize, stays: bool) {
        let from = self.ledger.committed;
        let begins = self.ledger.lead(stays);
        self.judged(from, begins);
        self.leader = which;
        self.controllers[which].renounce();
        self.feed_controller(which);
        let (now, epoch) = (self.at(), self.ledger.epoch);
        self.controllers[which]
            .claim(now, epoch, begins)
            .expect("it has read everything");
        self.drain_controller(which);
        self.tell_all();
    }

    fn commit(&mut self, end: u64) {
        let from = self.ledger.committed;
        self.ledger.committed = end;
        self.judged(from, end);
        self.feed_controller(self.leader);
        self.tell_all();
    }

    /// The judge sees what is committed, record by record: every prefix of what is decided at once is to hold.
    fn judged(&mut self, from: u64, to: u64) {
        for offset in from..to {
            let entry = &self.ledger.entries[offset as usize];
            if let Some(record) = &entry.record {
                self.judge.committed(self.now, entry.epoch, offset, record);
            }
        }
    }

    fn tell_all(&mut self) {
        for me in 0..self.hosts.len() {
            let after = self.takes();
            self.push(after, Event::Feed(me));
        }
        for which in 0..self.controllers.len() {
            let after = self.takes();
            self.push(after, Event::FeedController(which));
        }
    }

    fn feed_controller(&mut self, which: usize) {
        let now = self.at();
        for offset in self.read[which]..self.ledger.committed {
            let entry = self.ledger.entries[offset as usize].clone();
            match entry.record {
                Some(record) => {
                    self.controllers[which].committed(now, entry.epoch, offset, &record)
                }
                None => self.controllers[which].committed_to(now, entry.epoch, offset + 1),
            }
        }
        self.read[which] = self.ledger.committed;
        self.drain_controller(which);
    }

    /// A broker reads what the log has, committed or not.
    fn feed(&mut self, me: usize) {
        let now = self.at();
        let host = &mut self.hosts[me];
        let Some(life) = &mut host.life else {
            return;
        };
        if host.cut.1 {
            return;
        }
        let (mut fed, cuts) = life.fed;
        if cuts != self.ledger.cuts {
            // What was cut off since is not known: all that may have been.
            fed = fed.min(life.broker.next().min(self.ledger.committed));
            life.broker.truncated(now, fed);
        }
        for offset in fed..self.ledger.end() {
            if let Some(record) = &self.ledger.entries[offset as usize].record {
                life.broker.metadata(now, offset, record);
            }
        }
        life.fed = (self.ledger.end(), self.ledger.cuts);
        life.broker.high_watermark(now, self.ledger.committed);
        let (next, committed) = (life.broker.next(), self.ledger.committed);
        self.judge.check(
            self.now,
            tenure::isr::Invariant::NoStaleCommand,
            next <= committed,
            || format!("broker {me} applied up to {next}, and {committed} is committed"),
        );
        self.drain(me);
    }

    pub(crate) fn takes(&mut self) -> u64 {
        let takes = 1 + self.random.below(self.latency);
        if self.random.below(1000) < self.weather.late {
            takes + self.random.below(200 * self.latency)
        } else {
            takes
        }
    }

    /// Sends something: lost, late, or more than once.
    fn send(&mut self, event: Event) {
        if self.random.below(1000) < self.weather.loss {
            return;
        }
        if self.random.below(1000) < self.weather.twice {
            let after = self.takes();
            self.push(after, event.clone());
        }
        let after = self.takes();
        self.push(after, event);
    }

    pub(crate) fn start(&mut self, me: usize) {
        let now = self.at();
        let host = &mut self.hosts[me];
        host.lives += 1;
        let boot = BrokerBoot {
            broker: NodeId(me as u64),
            incarnation: me as u64 * 1_000_000 + host.lives,
            clean: host.proof.take(),
        };
        let mut broker = Broker::with_rules(BROKER, boot, now, self.rules).unwrap();
        broker.ready(now);
        host.life = Some(Life {
            broker,
            replicas: BTreeMap::new(),
            fed: (0, self.ledger.cuts),
            high_watermarks: BTreeMap::new(),
            armed: BTreeMap::new(),
            touched: Vec::new(),
            broker_armed: None,
            waiting: Vec::new(),
        });
        self.drain(me);
        let after = self.takes();
        self.push(after, Event::Feed(me));
    }

    /// The process dies. Where `loses`, its disk loses what was written last, or all.
    pub(crate) fn crash(&mut self, me: usize, loses: bool) {
        let host = &mut self.hosts[me];
        let Some(life) = host.life.take() else {
            return;
        };
        host.paused = false;
        host.late.clear();
        for (at, replica) in life.replicas {
            let (mut log, mut high_watermark) = (replica.log().clone(), replica.high_watermark());
            high_watermark = self.random.below(high_watermark + 1);
            if loses {
                let end = log.last().index;
                let keeps = self.random.below(end + 1);
                log.truncate(keeps);
                if keeps < end {
                    self.judge.lost(NodeId(me as u64), at);
                }
            }
            let kept = high_watermark.min(log.last().index);
            host.disk.insert(at, (log, kept));
        }
    }

    fn drain_controller(&mut self, which: usize) {
        while let Some(output) = self.controllers[which].poll() {
            self.mix(&output);
            match output {
                ControllerOutput::Append {
                    epoch,
                    offset,
                    records,
                } => {
                    // In order: what comes second would not be taken before the first.
                    self.push(1, Event::Append(which, epoch, offset, records));
                }
                ControllerOutput::Answer(call, answer) => {
                    if let Some((to, asker, ticket)) = self.calls.remove(&(which, call))
                        && asker != Asker::Client
                    {
                        self.send(Event::Answer(to, asker, ticket, answer));
                    }
                }
            }
        }
        if let Some(due) = self.controllers[which].deadline() {
            assert!(due > self.at(), "C2");
            self.push(due.as_micros() - self.now, Event::Controller(which));
        }
    }

    /// Which controller a broker takes for the active one.
    fn active(&mut self) -> usize {
        let others = self.weather.faults && self.random.below(8) == 0;
        if others {
            self.random.below(3) as usize
        } else {
            self.leader
        }
    }

    pub(crate) fn drain(&mut self, me: usize) {
        let number = self.hosts[me].lives;
        let Some(mut life) = self.hosts[me].life.take() else {
            return;
        };
        let mut over = None;
        loop {
            let mut quiet = true;
            while let Some(output) = life.broker.poll() {
                quiet = false;
                self.mix(&output);
                match output {
                    BrokerOutput::Ask(ticket, request) => {
                        let to = self.active();
                        self.send(Event::Ask(to, (me, number), Asker::Broker, ticket, request));
                    }
                    BrokerOutput::Assign(at, view) => {
                        let disk = self.hosts[me].disk.remove(&at);
                        let (now, rules, config) = (self.at(), self.rules, self.config.1);
                        let id = life.broker.id();
                        let replica = life.replicas.entry(at).or_insert_with(|| {
                            let (log, high_watermark) = disk.unwrap_or_default();
                            let boot = ReplicaBoot {
                                broker: id,
                                incarnation: me as u64 * 1_000_000 + number,
                                log,
                                high_watermark,
                            };
                            Replica::with_rules(config, at, boot, now, rules).unwrap()
                        });
                        replica.assign(now, &view);
                        life.touched.push(at);
                    }
                    BrokerOutput::Remove(at) => {
                        life.replicas.remove(&at);
                        self.hosts[me].disk.remove(&at);
                    }
                    BrokerOutput::Event(event) => over = over.or(ends(event)),
                }
            }
            for at in std::mem::take(&mut life.touched) {
                quiet &= !self.drain_replica(me, number, &mut life, at);
            }
            if quiet {
                break;
            }
        }
        let now = self.now;
        if let Some(due) = life.broker.deadline()
            && life.broker_armed.replace(due) != Some(due)
        {
            self.push(
                due.as_micros().saturating_sub(now),
                Event::Broker(me, number),
            );
        }
        self.hosts[me].life = Some(life);
        match over {
            Some(Over::Stopped(epoch)) => {
                let host = &mut self.hosts[me];
                host.proof = Some(epoch);
                let life = host.life.take().expect("it was there");
                for (at, replica) in life.replicas {
                    let kept = (replica.log().clone(), replica.high_watermark());
                    host.disk.insert(at, kept);
                }
            }
            Some(Over::Replaced) => self.crash(me, false),
            None => {}
        }
    }

    fn drain_replica(&mut self, me: usize, number: u64, life: &mut Life, at: PartitionId) -> bool {
        let mut said = false;
        let Some(replica) = life.replicas.get_mut(&at) else {
            return false;
        };
        while let Some(output) = replica.poll() {
            said = true;
            self.mix(&output);
            match output {
                ReplicaOutput::Send(to, message) => {
                    let to = to.0 as usize;
                    if (self.passes)(&message, me, to) {
                        self.send(Event::Message(to, me, at, message));
                    }
                }
                ReplicaOutput::Alter(ticket, asked) => {
                    let to = self.active();
                    let request = Request::AlterPartition(asked);
                    self.send(Event::Ask(
                        to,
                        (me, number),
                        Asker::Replica(at),
                        ticket,
                        request,
                    ));
                }
                ReplicaOutput::Event(event) => {
                    let before = life.high_watermarks.get(&at).copied().unwrap_or(0);
                    self.news(NodeId(me as u64), at, (replica, before), event);
                }
            }
        }
        let before = life
            .high_watermarks
            .insert(at, replica.high_watermark())
            .unwrap_or(0);
        if !self.judge.is_excused(at) {
            let high_watermark = replica.high_watermark();
            let invariant = tenure::isr::Invariant::HighWatermarkMonotone;
            self.judge
                .check(self.now, invariant, high_watermark >= before, || {
                    format!("{at:?} at {me}: {before} and then {high_watermark}")
                });
        }
        life.waiting.retain(|(of, position)| {
            if *of != at {
                return true;
            }
            match replica.fate(*position) {
                Fate::Waiting => true,
                Fate::Acknowledged => {
                    self.judge.acknowledged(at, *position, true);
                    false
                }
                Fate::NotEnoughReplicas | Fate::Unknown => false,
            }
        });
        if let Some(due) = replica.deadline()
            && life.armed.insert(at, due) != Some(due)
        {
            let after = due.as_micros().saturating_sub(self.now);
            self.push(after, Event::Replica(me, number, at));
        }
        said
    }

    fn news(
        &mut self,
        me: NodeId,
        at: PartitionId,
        (replica, before): (&Replica<Switched>, u64),
        event: ReplicaEvent,
    ) {
        match event {
            ReplicaEvent::Leads(epoch) => {
                self.judge.leads(self.now, me, at, epoch, replica.log());
                let others = self.logs(at);
                for log in others {
                    self.judge.logs(self.now, at, replica.log(), &log);
                }
            }
            ReplicaEvent::HighWatermark(high_watermark) => {
                let Some(epoch) = replica.leads() else {
                    return;
                };
                self.judge
                    .exposes(self.now, at, epoch, replica.log(), (before, high_watermark));
                if let Some((latest, who)) = self.judge.latest(at)
                    && latest > epoch
                    && let Some(life) = &self.hosts[who.0 as usize].life
                    && let Some(log) = life
                        .replicas
                        .get(&at)
                        .filter(|other| other.leads() == Some(latest))
                {
                    self.judge.shown_late(self.now, at, log.log());
                }
            }
            _ => {}
        }
    }

    fn logs(&self, at: PartitionId) -> Vec<Shape> {
        let lives = self.hosts.iter().filter_map(|host| host.life.as_ref());
        let replicas = lives.filter_map(|life| life.replicas.get(&at));
        replicas.map(|replica| replica.log().clone()).collect()
    }

    /// A broker goes on after a pause: it reads what came before it looks at the time.
    pub(crate) fn resume(&mut self, me: usize) {
        if std::mem::take(&mut self.hosts[me].paused) {
            for event in std::mem::take(&mut self.hosts[me].late) {
                self.push(0, event);
            }
        }
    }

    /// A producer writes at a broker, if that leads.
    pub(crate) fn produce(
        &mut self,
        me: usize,
        at: PartitionId,
        acks: Acks,
        count: u64,
    ) -> Option<Position> {
        let now = self.at();
        if self.hosts[me].paused {
            return None;
        }
        let life = self.hosts[me].life.as_mut()?;
        let last = life.replicas.get_mut(&at)?.produce(now, acks, count).ok()?;
        self.judge.written(self.now, at, last, count);
        match acks {
            Acks::All => life.waiting.push((at, last)),
            Acks::Leader => self.judge.acknowledged(at, last, false),
        }
        life.touched.push(at);
        self.drain(me);
        Some(last)
    }

    pub(crate) fn ask(&mut self, request: Request) {
        let ticket = Ticket {
            incarnation: 0,
            number: 0,
        };
        let to = self.leader;
        self.push(1, Event::Ask(to, (0, 0), Asker::Client, ticket, request));
    }

    fn mix(&mut self, what: &impl std::hash::Hash) {
        let mut hasher = std::hash::DefaultHasher::new();
        (self.hash, self.now).hash(&mut hasher);
        what.hash(&mut hasher);
        self.hash = hasher.finish();
    }
}

enum Over {
    Stopped(u64),
    Replaced,
}

fn ends(event: BrokerEvent) -> Option<Over> {
    match event {
        BrokerEvent::Stopped(epoch) => Some(Over::Stopped(epoch)),
        BrokerEvent::Replaced => Some(Over::Replaced),
        _ => None,
    }
}
