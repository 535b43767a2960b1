//! An ensemble on a desk: machines, their disks step by step, links, and true time; and a judge that sees all of it.
//!
//! Between each two nodes there are two links, as in ZooKeeper: one for notifications, with a slot in which a newer one takes the
//! place of one that was not sent yet; and one for packets, which keeps their order. When a link breaks, both ends are told, or
//! find out. Where a schedule says so, links are worse: packets are lost, repeated and overtake each other, and old ones return.

use super::judge::Judge;
use std::collections::{BTreeMap, VecDeque};
use tenure::log::Position;
use tenure::random::Random;
use tenure::zab::{
    Boot, Config, Ensemble, Message, Phase, Request, Role, Rule, Rules, Served, Stored, Timing, Zab,
};
use tenure::{Duration, Election, Event, Input, Instant, NodeId, Output, Ticket, Unknown};

/// Where the desk stops a disk: before the first request of which this is true.
pub(crate) type StopBefore = fn(&Request) -> bool;

pub(crate) struct Node<R: Rules> {
    pub(crate) machine: Option<Zab<R>>,
    pub(crate) disk: Stored,
    /// Whether it ever had a disk.
    pub(crate) formatted: bool,
    writes: VecDeque<(u64, Ticket, Request)>,
    pub(crate) lives: u64,
    pub(crate) paused_until: u64,
    inbox: Vec<(NodeId, Message)>,
    pub(crate) restart_at: u64,
    pub(crate) stuck_until: u64,
    pub(crate) stop_before: Option<StopBefore>,
    /// Its disk cannot cut a log.
    pub(crate) cannot_cut: bool,
    /// Its disk fails the next request.
    pub(crate) fails: bool,
    /// The syncs it asked for: what had been acknowledged by then.
    pub(crate) asked: BTreeMap<u64, u64>,
    pub(crate) events: Vec<Event>,
}

#[derive(Clone)]
pub(super) struct Flight {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) message: Message,
}

/// How bad the links are.
#[derive(Clone, Copy)]
pub(crate) struct Weather {
    pub(crate) latency: (u64, u64),
    pub(crate) write: (u64, u64),
    /// In a thousand: packets lost by themselves, repeated, overtaken; old ones that return.
    pub(crate) loss: u64,
    pub(crate) repeat: u64,
    pub(crate) overtake: u64,
    pub(crate) old: u64,
}

pub(crate) const CALM: Weather = Weather {
    latency: (1_000, 1_000),
    write: (500, 500),
    loss: 0,
    repeat: 0,
    overtake: 0,
    old: 0,
};

pub(crate) struct Desk<R: Rules> {
    pub(crate) nodes: Vec<Node<R>>,
    pub(crate) ensemble: Ensemble,
    pub(crate) timing: Timing,
    pub(crate) autocreate: bool,
    pub(crate) batch: u64,
    rules: R,
    pub(crate) random: Random,
    pub(crate) weather: Weather,
    pub(super) flights: BTreeMap<(u64, u64), Flight>,
    pub(super) launched: u64,
    /// When the newest packet and notification from one to another arrive.
    pub(super) arrival: Vec<Vec<[u64; 2]>>,
    /// Notifications that were not sent yet, and when they will be.
    pub(super) slots: Vec<Vec<Option<(u64, Message)>>>,
    /// How long a notification waits in its slot.
    pub(crate) slot: u64,
    /// Until when nothing passes from one to another.
    pub(crate) cuts: Vec<Vec<u64>>,
    /// What is held back from one to another, in order.
    pub(super) holds: Vec<Vec<Option<Vec<Message>>>>,
    pub(super) old: Vec<Flight>,
    /// Ends of links to be told of.
    pub(super) ends: Vec<(u64, usize, usize)>,
    pub(crate) now: u64,
    pub(crate) judge: Judge,
}

/// Short times, in the proportions of the sample.
pub(crate) const QUICK: Timing = Timing {
    tick: Duration::from_millis(100),
    init_limit: 10,
    sync_limit: 5,
    finalize_wait: Duration::from_millis(10),
    min_notification: Duration::from_millis(10),
    max_notification: Duration::from_millis(3_000),
    connect_tries: 5,
    connect_delay: Duration::from_millis(5),
    observer_delay: Duration::from_millis(10),
    epoch_patience: None,
};

impl<R: Rules> Desk<R> {
    pub(crate) fn new(ensemble: Ensemble, timing: Timing, rules: R, seed: u64) -> Self {
        let n = ensemble.members().len();
        let node = || Node {
            machine: None,
            disk: Stored::default(),
            formatted: false,
            writes: VecDeque::new(),
            lives: 0,
            paused_until: 0,
            inbox: Vec::new(),
            restart_at: u64::MAX,
            stuck_until: 0,
            stop_before: None,
            cannot_cut: false,
            fails: false,
            asked: BTreeMap::new(),
            events: Vec::new(),
        };
        Self {
            nodes: (0..n).map(|_| node()).collect(),
            judge: Judge::new(n),
            ensemble,
            timing,
            autocreate: true,
            batch: 256,
            rules,
            random: Random::from_seed(seed),
            weather: CALM,
            flights: BTreeMap::new(),
            launched: 0,
            arrival: vec![vec![[0; 2]; n]; n],
            slots: (0..n).map(|_| (0..n).map(|_| None).collect()).collect(),
            slot: 0,
            cuts: vec![vec![0; n]; n],
            holds: (0..n).map(|_| (0..n).map(|_| None).collect()).collect(),
            old: Vec::new(),
            ends: Vec::new(),
            now: 1_000_000,
        }
    }

    /// Voters 0 to `n - 1`, with short times and calm links.
    pub(crate) fn voters(n: u64, rules: R) -> Self {
        let ensemble = Ensemble::majority((0..n).map(NodeId)).unwrap();
        Self::new(ensemble, QUICK, rules, 7)
    }

    pub(crate) fn clock(&self) -> Instant {
        Instant::from_micros(self.now)
    }

    pub(crate) fn machine(&self, place: usize) -> &Zab<R> {
        self.nodes[place].machine.as_ref().expect("it runs")
    }

    pub(super) fn within(&mut self, (low, high): (u64, u64)) -> u64 {
        low + self.random.below(high - low + 1)
    }

    pub(crate) fn chance(&mut self, in_a_thousand: u64) -> bool {
        self.random.below(1_000) < in_a_thousand
    }

    /// Gives a node a disk, before it starts: epochs, and the runs of its log.
    pub(crate) fn give(&mut self, place: usize, accepted: u64, current: u64, runs: &[(u64, u64)]) {
        let log = tenure::log::Shape::from_runs(runs.iter().copied()).unwrap();
        self.judge.knows(&log);
        let node = &mut self.nodes[place];
        node.formatted = true;
        node.disk = Stored {
            accepted,
            current,
            synced: log.last().index,
            log,
            beside: None,
            blank: false,
        };
    }

    pub(crate) fn start(&mut self, place: usize) {
        let (now, seed) = (self.clock(), self.random.bits());
        let config = Config {
            timing: self.timing,
            autocreate: self.autocreate,
            batch: self.batch,
            ..Config::new(self.ensemble.members()[place].id, self.ensemble.clone())
        };
        let node = &mut self.nodes[place];
        node.lives += 1;
        node.restart_at = u64::MAX;
        let boot = Boot {
            stored: node.formatted.then(|| node.disk.clone()),
            incarnation: node.lives,
            seed,
        };
        match Zab::with_rules(config, boot, now, self.rules.clone()) {
            Ok(machine) => node.machine = Some(machine),
            Err(error) => self
                .judge
                .fail("start", format!("{place} does not start: {error}")),
        }
        self.judge
            .started(place, self.nodes[place].lives, &self.nodes[place].disk);
        for other in 0..self.nodes.len() {
            self.link_up(place, other);
        }
        self.settled(place);
    }

    pub(crate) fn start_all(&mut self) {
        for place in 0..self.nodes.len() {
            self.start(place);
        }
    }

    /// The process dies; of what its log had and was not synced, entries up to `kept` are on the disk by luck.
    pub(crate) fn crash(&mut self, place: usize, kept: u64) {
        let node = &mut self.nodes[place];
        node.machine = None;
        node.writes.clear();
        node.inbox.clear();
        node.asked.clear();
        node.disk.crash(kept);
        (node.paused_until, node.stuck_until, node.restart_at) = (0, 0, u64::MAX);
        node.stop_before = None;
        self.judge.crashed(place, &self.nodes[place].disk);
        for other in 0..self.nodes.len() {
            self.break_link(place, other, true);
        }
    }

    /// Something happens to a node, whose host then drains.
    pub(crate) fn act<T>(&mut self, place: usize, act: impl FnOnce(&mut Zab<R>) -> T) -> Option<T> {
        let done = act(self.nodes[place].machine.as_mut()?);
        self.settled(place);
        Some(done)
    }

    pub(crate) fn input(&mut self, place: usize, input: Input<Message, ()>) {
        let now = self.clock();
        let timeout = input == Input::Timeout;
        self.act(place, |machine| machine.handle(now, input));
        // Law C2.
        if timeout
            && let Some(machine) = &self.nodes[place].machine
            && machine.deadline().is_some_and(|deadline| deadline <= now)
        {
            self.judge
                .fail("C2", format!("{place} is due again at once"));
        }
    }

    fn settled(&mut self, place: usize) {
        self.look(place);
        while let Some(output) = self.nodes[place].machine.as_mut().and_then(Election::poll) {
            self.carry_out(place, output);
        }
        self.look(place);
        while let Some(served) = self.nodes[place].machine.as_mut().and_then(Zab::poll_sync) {
            let asked = std::mem::take(&mut self.nodes[place].asked);
            let (upto, index) = match served {
                Served::Ready { upto, index } => (upto, Some(index)),
                Served::LeaderLost { upto } => (upto, None),
            };
            for (number, acked) in asked {
                if number > upto {
                    self.nodes[place].asked.insert(number, acked);
                } else if let Some(index) = index {
                    self.judge.synced(place, acked, index);
                }
            }
        }
        if self.nodes[place].machine.as_ref().is_some_and(Zab::halted) {
            self.judge.mark("halted");
            let kept = self.nodes[place].disk.synced;
            self.crash(place, kept);
            self.nodes[place].restart_at = self.now + 20_000;
        }
    }

    fn look(&mut self, place: usize) {
        if let Some(machine) = &self.nodes[place].machine {
            let disk = |of: usize| &self.nodes[of].disk;
            self.judge.look(place, machine, disk);
        }
    }

    fn carry_out(&mut self, place: usize, output: Output<Message, Request>) {
        self.judge.trace(self.now, place, &output);
        match output {
            Output::Event(event) => {
                self.nodes[place].events.push(event);
                if let Some(machine) = &self.nodes[place].machine {
                    self.judge.event(place, event, machine);
                }
            }
            Output::Request(ticket, request) => {
                let takes = self.within(self.weather.write);
                let node = &mut self.nodes[place];
                let last = node.writes.back().map_or(0, |write| write.0);
                let at = last.max(self.now).max(node.stuck_until) + takes;
                node.writes.push_back((at, ticket, request));
            }
            Output::Send(to, message) => {
                let to = self.ensemble.place(to).expect("a member");
                if let Some(machine) = &self.nodes[place].machine {
                    self.judge
                        .said(place, machine, &message, &self.nodes[place].disk);
                }
                match &mut self.holds[place][to] {
                    Some(held) => {
                        // The slot: a notification that was not sent yet is replaced.
                        if matches!(message, Message::Notification(_)) {
                            held.retain(|other| !matches!(other, Message::Notification(_)));
                        }
                        held.push(message);
                    }
                    None => self.launch(place, to, message),
                }
            }
        }
    }

    /// The disk of a node does its next request.
    fn write(&mut self, place: usize) {
        let Some((_, ticket, request)) = self.nodes[place].writes.pop_front() else {
            return;
        };
        let node = &mut self.nodes[place];
        let cut = matches!(request, Request::Truncate { .. });
        if std::mem::take(&mut node.fails) || cut && node.cannot_cut {
            self.judge.mark("failed write");
            return self.input(place, Input::Reply(ticket, Err(Unknown)));
        }
        let before = node.disk.clone();
        node.formatted = true;
        if node.disk.apply(&request).is_err() {
            // What files do: entries go to the end, whatever they should follow.
            if let Request::Append(entries) = request {
                let hole = entries.after.index > node.disk.log.last().index;
                let _ = node.disk.log.append(entries.epoch, entries.count);
                if hole {
                    let what = format!("{place} appends after {:?}", entries.after);
                    self.judge.fail("ZK-LogContinuity", what);
                }
            }
        }
        self.judge
            .wrote(place, &request, &before, &self.nodes[place].disk);
        self.input(place, Input::Reply(ticket, Ok(())));
    }

    /// What happens until `end`; stops early when something broke.
    pub(crate) fn run_until(&mut self, end: u64) {
        while self.judge.broken.is_none() && self.step(end) {}
        self.now = self.now.max(end);
    }

    pub(crate) fn run(&mut self, millis: u64) {
        self.run_until(self.now + millis * 1_000);
    }

    /// Runs until something is so, or `millis` passed. Whether it is.
    pub(crate) fn run_till(&mut self, millis: u64, so: impl Fn(&Self) -> bool) -> bool {
        let end = self.now + millis * 1_000;
        while self.judge.broken.is_none() {
            if so(self) {
                return true;
            }
            if !self.step(end) {
                self.now = self.now.max(end);
                break;
            }
        }
        so(self)
    }

    fn step(&mut self, end: u64) -> bool {
        #[derive(Clone, Copy)]
        enum Due {
            Flight,
            Slot(usize, usize),
            End,
            Write(usize),
            Timer(usize),
            Thaw(usize),
            Start(usize),
        }
        let mut next = (end, None);
        let mut offer = |at: u64, due: Due| {
            if at < next.0 {
                next = (at, Some(due));
            }
        };
        if let Some(((at, _), _)) = self.flights.first_key_value() {
            offer(*at, Due::Flight);
        }
        if let Some(at) = self.ends.iter().map(|end| end.0).min() {
            offer(at, Due::End);
        }
        for (from, slots) in self.slots.iter().enumerate() {
            for (to, slot) in slots.iter().enumerate() {
                if let Some((at, _)) = slot {
                    offer(*at, Due::Slot(from, to));
                }
            }
        }
        for (place, node) in self.nodes.iter().enumerate() {
            let Some(machine) = &node.machine else {
                offer(node.restart_at, Due::Start(place));
                continue;
            };
            if let Some((at, _, request)) = node.writes.front()
                && !node.stop_before.is_some_and(|stops| stops(request))
            {
                offer(
                    (*at).max(node.stuck_until).max(node.paused_until),
                    Due::Write(place),
                );
            }
            if node.paused_until > self.now {
                offer(node.paused_until, Due::Thaw(place));
            } else if let Some(deadline) = machine.deadline() {
                offer(deadline.as_micros(), Due::Timer(place));
            }
        }
        let (at, Some(due)) = next else {
            return false;
        };
        self.now = self.now.max(at);
        match due {
            Due::Flight => {
                if let Some((_, flight)) = self.flights.pop_first() {
                    self.arrive(flight);
                }
            }
            Due::Slot(from, to) => {
                if let Some((_, message)) = self.slots[from][to].take() {
                    self.transmit(from, to, message);
                }
            }
            Due::End => {
                let due = self.ends.iter().position(|end| end.0 <= self.now);
                if let Some(due) = due {
                    let (_, at, of) = self.ends.remove(due);
                    let (now, peer) = (self.clock(), self.ensemble.members()[of].id);
                    self.act(at, |machine| machine.disconnected(now, peer));
                }
            }
            Due::Write(place) => self.write(place),
            Due::Timer(place) => self.input(place, Input::Timeout),
            Due::Thaw(place) => {
                self.nodes[place].paused_until = 0;
                for (from, message) in std::mem::take(&mut self.nodes[place].inbox) {
                    self.input(place, Input::Peer(from, message));
                }
            }
            Due::Start(place) => self.start(place),
        }
        true
    }

    fn arrive(&mut self, flight: Flight) {
        let Flight { from, to, message } = flight;
        let sender = self.ensemble.members()[from].id;
        let node = &mut self.nodes[to];
        if node.machine.is_none() {
            return self.bounce(from, to, &message);
        }
        if node.paused_until > self.now {
            node.inbox.push((sender, message));
            return;
        }
        self.input(to, Input::Peer(sender, message));
    }

    /// A client writes: an entry, at a node that leads. Whether it was taken.
    pub(crate) fn propose(&mut self, place: usize, count: u32) -> Option<Position> {
        let now = self.clock();
        let machine = self.nodes[place].machine.as_mut()?;
        let first = machine.propose(now, count).ok();
        if let Some(machine) = &self.nodes[place].machine
            && first.is_some()
        {
            self.judge.proposed(place, machine);
        }
        self.settled(place);
        first
    }

    /// A client asks for a barrier.
    pub(crate) fn sync(&mut self, place: usize) -> Option<u64> {
        let now = self.clock();
        let number = self.nodes[place].machine.as_mut()?.sync(now).ok()?;
        let acked = self.judge.acked().index;
        self.nodes[place].asked.insert(number, acked);
        self.settled(place);
        Some(number)
    }

    /// Who leads an established epoch, the highest if there are two.
    pub(crate) fn leader(&self) -> Option<usize> {
        let leads = (0..self.nodes.len()).filter_map(|place| {
            let machine = self.nodes[place].machine.as_ref()?;
            (machine.phase() == Some(Phase::Broadcasting)).then(|| (machine.epoch(), place))
        });
        leads.max().map(|(_, place)| place)
    }

    /// Whether one leads and all others that run are up to date with it.
    pub(crate) fn is_whole(&self) -> bool {
        let Some(leader) = self.leader() else {
            return false;
        };
        let id = Some(self.ensemble.members()[leader].id);
        self.nodes.iter().enumerate().all(|(place, node)| {
            let Some(machine) = &node.machine else {
                return true;
            };
            place == leader || machine.follows_established() && machine.leader() == id
        })
    }

    /// As [`is_whole`](Self::is_whole), and all have delivered what the leader has.
    pub(crate) fn is_even(&self) -> bool {
        let Some(leader) = self.leader().filter(|_| self.is_whole()) else {
            return false;
        };
        let (log, commit) = (self.machine(leader).log(), self.machine(leader).committed());
        commit == log.last().index
            && (self.nodes.iter().filter_map(|node| node.machine.as_ref()))
                .all(|machine| machine.committed() == commit && machine.last() == log.last())
    }

    pub(crate) fn role(&self, place: usize) -> Option<Role> {
        self.nodes[place].machine.as_ref().map(Zab::role)
    }

    /// Runs until the ensemble is whole, and says how long that took, in milliseconds.
    pub(crate) fn run_whole(&mut self, millis: u64) -> Option<u64> {
        let began = self.now;
        let whole = self.run_till(millis, Self::is_whole);
        whole.then(|| (self.now - began) / 1_000)
    }
}

/// A machine without one rule.
pub(crate) fn without(rule: Rule) -> tenure::zab::Switched {
    tenure::zab::Switched::without(&[rule])
}
