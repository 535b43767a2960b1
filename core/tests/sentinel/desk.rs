//! A small world of sentinels and data servers: a network of datagrams that are late, lost and repeated, disks whose answers take
//! time and whose unanswered writes a crash may take back, processes that freeze, die and come back.

use super::judge::Judge;
use super::plan::{MS, Plan, SEC, group_of, server};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use tenure::random::Random;
use tenure::sentinel::data::{self, Data, Mark, Saved};
use tenure::sentinel::{Config, File, MasterName, Message, News, Sentinel, Switched};
use tenure::{Election, Input, Instant, NodeId, Output, Ticket, Unknown};

pub(crate) type Machine = Sentinel<Switched>;

/// One sentinel: its process and its disk.
pub(crate) struct Seat {
    pub(crate) config: Config,
    pub(crate) machine: Option<Machine>,
    pub(crate) disk: Option<File>,
    /// What the disk was asked for and has not answered.
    pub(super) asked: VecDeque<(Ticket, File)>,
    pub(crate) life: u64,
    pub(crate) frozen: bool,
    pub(super) late: Vec<Flight>,
    pub(super) wake_at: u64,
    /// How far its clock is ahead.
    pub(super) ahead: u64,
    /// The next so many writes fail.
    pub(crate) bad_writes: u64,
}

/// One data server.
pub(crate) struct Server {
    pub(crate) machine: Option<Data>,
    pub(crate) saved: Saved,
    pub(super) config: data::Config,
    pub(super) life: u64,
    pub(crate) frozen: bool,
    pub(crate) busy: bool,
    pub(super) late: Vec<Flight>,
    pub(super) wake_at: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Flight {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) message: Message,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Arrive(u64),
    Wake(NodeId),
    Disk(NodeId, u64),
}

/// Which messages pass: at what time, and which.
pub(crate) type Gate = Box<dyn Fn(u64, &Flight) -> bool>;

pub(crate) struct Desk {
    pub(crate) plan: Plan,
    pub(crate) now: u64,
    pub(crate) seats: BTreeMap<NodeId, Seat>,
    pub(crate) servers: BTreeMap<NodeId, Server>,
    pub(crate) cuts: BTreeSet<(NodeId, NodeId)>,
    pub(crate) gate: Option<Gate>,
    pub(crate) judge: Judge,
    /// What sentinels told, and when.
    pub(crate) news: Vec<(u64, NodeId, News)>,
    pub(crate) events: Vec<(u64, NodeId, tenure::Event)>,
    /// Writes that were acknowledged.
    pub(crate) acked: Vec<Mark>,
    pub(crate) random: Random,
    queue: BinaryHeap<Reverse<(u64, u64, Due)>>,
    pushed: u64,
    flights: BTreeMap<u64, Flight>,
    /// A hash of all that happened.
    pub(crate) trace: u64,
    pub(super) lives: u64,
}

impl Desk {
    pub(crate) fn new(plan: Plan) -> Self {
        let mut desk = Self {
            random: Random::from_seed(plan.seed),
            judge: Judge::new(&plan),
            now: SEC,
            seats: BTreeMap::new(),
            servers: BTreeMap::new(),
            cuts: BTreeSet::new(),
            gate: None,
            news: Vec::new(),
            events: Vec::new(),
            acked: Vec::new(),
            queue: BinaryHeap::new(),
            pushed: 0,
            flights: BTreeMap::new(),
            trace: 0,
            lives: 0,
            plan,
        };
        for group in 0..desk.plan.groups {
            for place in 0..=desk.plan.replicas {
                let master = (place > 0).then(|| server(group, 0));
                desk.add_server(server(group, place), master);
            }
        }
        for id in (1..=desk.plan.sentinels).map(NodeId) {
            let file = desk.plan.acquainted.then(|| desk.plan.file(id));
            desk.add_seat(id, file);
        }
        desk
    }

    /// One whose sentinels have been told all there is.
    pub(crate) fn calm() -> Self {
        let mut desk = Self::new(Plan::default());
        desk.run_for(12 * SEC);
        desk
    }

    pub(crate) fn machine(&self, id: NodeId) -> &Machine {
        self.seats[&id].machine.as_ref().unwrap()
    }

    pub(crate) fn data(&self, id: NodeId) -> &Data {
        self.servers[&id].machine.as_ref().unwrap()
    }

    pub(crate) fn all(&self) -> Vec<NodeId> {
        self.seats
            .keys()
            .chain(self.servers.keys())
            .copied()
            .collect()
    }

    fn push(&mut self, at: u64, due: Due) {
        self.pushed += 1;
        self.queue.push(Reverse((at, self.pushed, due)));
    }

    /// Everything that is due until then.
    pub(crate) fn run_until(&mut self, until: u64) {
        while let Some(Reverse((at, _, due))) = self.queue.peek().copied() {
            if at > until {
                break;
            }
            self.queue.pop();
            self.now = self.now.max(at);
            match due {
                Due::Arrive(id) => {
                    if let Some(flight) = self.flights.remove(&id) {
                        self.arrive(flight);
                    }
                }
                Due::Wake(id) => self.wake_if(id, at),
                Due::Disk(id, life) => self.written(id, life),
            }
        }
        self.now = until;
    }

    pub(crate) fn run_for(&mut self, span: u64) {
        self.run_until(self.now + span);
    }

    /// Runs until it is so; false when it is not by then.
    pub(crate) fn run_till(&mut self, patience: u64, so: impl Fn(&Self) -> bool) -> bool {
        let until = self.now + patience;
        while self.now < until {
            if so(self) {
                return true;
            }
            self.run_for(20 * MS);
        }
        so(self)
    }

    pub(super) fn arrive(&mut self, flight: Flight) {
        let to = flight.to;
        if self.cuts.contains(&(flight.from, to)) {
            return;
        }
        let now = self.now;
        let dead = match (self.seats.get(&to), self.servers.get(&to)) {
            (Some(seat), _) => seat.machine.is_none(),
            (_, Some(server)) => server.machine.is_none(),
            _ => false,
        };
        // The machine is there: it refuses the connection.
        if dead && self.plan.refuses && flight.message != Message::Closed {
            let (from, message) = (to, Message::Closed);
            return self.fly(Flight {
                from,
                to: flight.from,
                message,
            });
        }
        if let Some(seat) = self.seats.get_mut(&to) {
            if seat.frozen {
                return seat.late.push(flight);
            }
            if let Some(machine) = &mut seat.machine {
                self.judge.heard(now, to, &flight);
                let input = Input::Peer(flight.from, flight.message);
                machine.handle(Instant::from_micros(now + seat.ahead), input);
                self.drain(to);
            }
        } else if let Some(server) = self.servers.get_mut(&to) {
            if server.frozen {
                return server.late.push(flight);
            }
            if let Some(machine) = &mut server.machine {
                let input = data::Input::Peer(flight.from, flight.message);
                machine.handle(Instant::from_micros(now), input);
                self.drain(to);
            }
        }
    }

    fn wake_if(&mut self, id: NodeId, at: u64) {
        let wake_at = match (self.seats.get_mut(&id), self.servers.get_mut(&id)) {
            (Some(seat), _) => &mut seat.wake_at,
            (_, Some(server)) => &mut server.wake_at,
            _ => return,
        };
        if *wake_at == at {
            *wake_at = u64::MAX;
            self.wake(id);
        }
    }

    pub(super) fn wake(&mut self, id: NodeId) {
        let now = self.now;
        if let Some(seat) = self.seats.get_mut(&id) {
            if !seat.frozen
                && let Some(machine) = &mut seat.machine
            {
                machine.handle(Instant::from_micros(now + seat.ahead), Input::Timeout);
            }
        } else if let Some(server) = self.servers.get_mut(&id)
            && !server.frozen
            && let Some(machine) = &mut server.machine
        {
            machine.handle(Instant::from_micros(now), data::Input::Timeout);
        }
        self.drain(id);
    }

    fn written(&mut self, id: NodeId, life: u64) {
        let now = self.now;
        let Some(seat) = self.seats.get_mut(&id) else {
            return;
        };
        if seat.life != life || seat.machine.is_none() {
            return;
        }
        let Some((ticket, file)) = seat.asked.pop_front() else {
            return;
        };
        let fails = seat.bad_writes > 0;
        if fails {
            seat.bad_writes -= 1;
        } else {
            seat.disk = Some(file.clone());
            self.judge.written(id, &file);
        }
        let reply = if fails { Err(Unknown) } else { Ok(()) };
        let seat = self.seats.get_mut(&id).unwrap();
        if let Some(machine) = &mut seat.machine {
            machine.handle(
                Instant::from_micros(now + seat.ahead),
                Input::Reply(ticket, reply),
            );
        }
        self.drain(id);
    }

    /// Who of a group takes writes.
    pub(crate) fn writable(&self, group: u16) -> Vec<NodeId> {
        let now = Instant::from_micros(self.now);
        let takes = |(id, server): &(&NodeId, &Server)| {
            group_of(**id) == Some(MasterName(group))
                && !server.frozen
                && server
                    .machine
                    .as_ref()
                    .is_some_and(|machine| machine.is_writable(now))
        };
        (self.servers.iter())
            .filter(takes)
            .map(|(id, _)| *id)
            .collect()
    }

    /// How many acknowledged writes of a group this server does not have.
    pub(crate) fn lost_at(&self, id: NodeId) -> usize {
        let history = self.data(id).history();
        let of_group = |mark: &&Mark| group_of(mark.origin.node) == group_of(id);
        let lost = |mark: &&Mark| !history.contains(**mark);
        self.acked.iter().filter(of_group).filter(lost).count()
    }

    /// What was told of this kind, by whom.
    pub(crate) fn told(&self, name: &str) -> Vec<(u64, NodeId, News)> {
        (self.news.iter())
            .filter(|(_, _, news)| news.name() == name)
            .copied()
            .collect()
    }

    pub(super) fn drain(&mut self, id: NodeId) {
        let now = self.now;
        let mut sent = Vec::new();
        if let Some(seat) = self.seats.get_mut(&id) {
            let Some(machine) = &mut seat.machine else {
                return;
            };
            let mut disk = 0;
            let mut events = Vec::new();
            while let Some(output) = machine.poll() {
                match output {
                    Output::Send(to, message) => sent.push(Flight {
                        from: id,
                        to,
                        message,
                    }),
                    Output::Request(ticket, file) => {
                        seat.asked.push_back((ticket, file));
                        disk += 1;
                    }
                    Output::Event(event) => events.push(event),
                }
            }
            let life = seat.life;
            let halted = machine.is_halted();
            let mut fresh = Vec::new();
            while let Some(news) = machine.poll_news() {
                fresh.push(news);
            }
            let deadline = machine.deadline().map(|at| at.as_micros() - seat.ahead);
            // Who votes and asks is judged before what it leads to.
            for flight in &sent {
                self.judge.said(now, flight);
            }
            let machine = self.seats[&id].machine.as_ref().unwrap();
            for news in fresh {
                self.judge.told(now, id, machine, news);
                self.news.push((now, id, news));
            }
            if !halted {
                self.judge.seen(now, id, machine);
            }
            for event in events {
                self.judge.event(now, id, &event);
                self.events.push((now, id, event));
            }
            for _ in 0..disk {
                let (low, high) = self.plan.disk;
                // In order, as a file is written.
                let at = now + low + self.random.below(high - low + 1);
                self.push(at, Due::Disk(id, life));
            }
            let seat = self.seats.get_mut(&id).unwrap();
            if let Some(at) = deadline.map(|at| at.max(now + 1))
                && !seat.frozen
                && at < seat.wake_at
            {
                seat.wake_at = at;
                self.push(at, Due::Wake(id));
            }
            if halted {
                self.crash(id);
                self.start(id);
            }
        } else {
            let server = self.servers.get_mut(&id).unwrap();
            let Some(machine) = &mut server.machine else {
                return;
            };
            while let Some((to, message)) = machine.poll() {
                sent.push(Flight {
                    from: id,
                    to,
                    message,
                });
            }
            let deadline = machine.deadline().map(Instant::as_micros);
            if let Some(at) = deadline.map(|at| at.max(now + 1))
                && !server.frozen
                && at < server.wake_at
            {
                server.wake_at = at;
                self.push(at, Due::Wake(id));
            }
        }
        for flight in sent {
            self.fly(flight);
        }
    }

    pub(super) fn fly(&mut self, flight: Flight) {
        let (now, plan) = (self.now, &self.plan);
        self.trace =
            (self.trace.rotate_left(5) ^ now ^ (flight.from.0 << 20) ^ (flight.to.0 << 40))
                .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if (self.gate.as_ref()).is_some_and(|gate| !gate(now, &flight)) {
            return;
        }
        let (low, high) = plan.latency;
        let (loss, repeated) = (plan.loss, plan.repeated);
        let times = 1 + u64::from(self.random.below(1000) < repeated);
        for _ in 0..times {
            if self.random.below(1000) < loss {
                continue;
            }
            let at = now + low + self.random.below(high - low + 1);
            let id = self.pushed;
            self.flights.insert(id, flight.clone());
            self.push(at, Due::Arrive(id));
        }
    }
}
