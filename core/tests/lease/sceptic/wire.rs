//! A store and nodes in true time, where a test decides for each request how long it is under way, there and back, and what
//! each clock shows. Who believes beside another is judged from outside, and how long things took is told.

use crate::storm::Store;
use std::collections::BTreeMap;
use std::convert::Infallible;
use tenure::lease::{Boot, Config};
use tenure::rate::PPM;
use tenure::{Election, Event, Input, Instant, Output, Standing, Ticket};

/// How long a request is under way and its answer, in true time; `None`: for ever.
pub(crate) type Way = (Option<u64>, Option<u64>);

/// A clock: its pace in parts per million of true time, and its grain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) pace: u64,
    pub(crate) grain: u64,
}

impl Clock {
    pub(crate) const TRUE: Self = Self {
        pace: PPM as u64,
        grain: 1,
    };

    fn reads(self, now: u64) -> u64 {
        now * self.pace / u64::from(PPM) / self.grain * self.grain
    }

    /// The first true time at which it shows `at`.
    pub(crate) fn when(self, at: u64) -> u64 {
        (at.div_ceil(self.grain) * self.grain * u64::from(PPM)).div_ceil(self.pace)
    }
}

enum Due<M: Election> {
    Ask(usize, Ticket, M::Request, Option<u64>),
    Answer(usize, Ticket, M::Reply),
}

struct Node<M> {
    machine: M,
    clock: Clock,
    crashed: bool,
    /// Until when it may believe, in true time, as of the last look.
    until: u64,
}

/// What a request is like: from whom, the how manyeth of all, when.
pub(crate) type Fate<Q> = Box<dyn FnMut(usize, u64, &Q) -> Way>;

pub(crate) struct Wire<M: Election, S> {
    pub(crate) store: S,
    pub(crate) now: u64,
    /// Who was elected, and when.
    pub(crate) elected: Vec<(u64, usize)>,
    /// Whose tenures ended, and when.
    pub(crate) deposed: Vec<(u64, usize)>,
    /// The shortest true time from the end of one's belief to the election of another.
    pub(crate) slack: u64,
    /// When two believed at once.
    pub(crate) two: Option<u64>,
    pub(crate) fate: Fate<M::Request>,
    nodes: Vec<Node<M>>,
    store_clock: Clock,
    /// How long the answer to each request is under way.
    back: BTreeMap<(usize, u64), Option<u64>>,
    queue: BTreeMap<(u64, u64), Due<M>>,
    pushed: u64,
}

impl<M: Election<Peer = Infallible>, S: Store<M>> Wire<M, S> {
    pub(crate) fn new(store: S, store_clock: Clock, fate: Fate<M::Request>) -> Self {
        Self {
            store,
            now: 0,
            elected: Vec::new(),
            deposed: Vec::new(),
            slack: u64::MAX,
            two: None,
            fate,
            nodes: Vec::new(),
            store_clock,
            back: BTreeMap::new(),
            queue: BTreeMap::new(),
            pushed: 0,
        }
    }

    pub(crate) fn join(&mut self, seed: u64, clock: Clock, boot: impl FnOnce(Boot, Instant) -> M) {
        let now = Instant::from_micros(clock.reads(self.now));
        let incarnation = 1 + self.nodes.len() as u64;
        self.nodes.push(Node {
            machine: boot(Boot { incarnation, seed }, now),
            clock,
            crashed: false,
            until: 0,
        });
        self.drain(self.nodes.len() - 1);
    }

    pub(crate) fn crash(&mut self, me: usize) {
        self.nodes[me].crashed = true;
    }

    pub(crate) fn feed(&mut self, me: usize, input: Input<Infallible, M::Reply>) {
        let node = &mut self.nodes[me];
        if !node.crashed {
            let now = Instant::from_micros(node.clock.reads(self.now));
            node.machine.handle(now, input);
            self.drain(me);
        }
    }

    pub(crate) fn leads(&self, me: usize) -> bool {
        let node = &self.nodes[me];
        let now = Instant::from_micros(node.clock.reads(self.now));
        !node.crashed && matches!(node.machine.standing(now), Standing::Leading(_))
    }

    /// Until then, or until that is so.
    pub(crate) fn run_until(&mut self, end: u64, enough: impl Fn(&Self) -> bool) {
        while !enough(self) {
            let due = |node: &Node<M>| {
                let due = node.machine.deadline().filter(|_| !node.crashed)?;
                Some(node.clock.when(due.as_micros()))
            };
            let nodes = self.nodes.iter().filter_map(due).min();
            let store = self.store.due().map(|due| self.store_clock.when(due));
            let flight = self.queue.keys().next().map(|(at, _)| *at);
            let next = [nodes, store, flight].into_iter().flatten().min();
            let next = next.unwrap_or(end).max(self.now);
            if next >= end {
                self.now = end;
                return;
            }
            self.now = next;
            self.happen();
            let leaders = (0..self.nodes.len()).filter(|me| self.leads(*me)).count();
            if leaders > 1 {
                self.two.get_or_insert(self.now);
            }
        }
    }

    pub(crate) fn run(&mut self, end: u64) {
        self.run_until(end, |_| false);
    }

    fn happen(&mut self) {
        let shown = self.store_clock.reads(self.now);
        if self.store.due().is_some_and(|due| due <= shown) {
            self.store.wake(shown);
            self.listen();
        }
        let first = self.queue.keys().next().copied();
        if let Some(place) = first.filter(|(at, _)| *at <= self.now) {
            match self.queue.remove(&place) {
                Some(Due::Ask(me, ticket, request, back)) => {
                    self.back.insert((me, ticket.number), back);
                    self.store.wake(shown);
                    self.store.ask(shown, me, ticket, request);
                    self.listen();
                }
                Some(Due::Answer(me, ticket, reply)) => {
                    self.feed(me, Input::Reply(ticket, Ok(reply)));
                }
                None => {}
            }
            return;
        }
        for me in 0..self.nodes.len() {
            let node = &self.nodes[me];
            let shown = Instant::from_micros(node.clock.reads(self.now));
            if node.machine.deadline().is_some_and(|due| due <= shown) {
                self.feed(me, Input::Timeout);
            }
        }
    }

    fn push(&mut self, after: u64, due: Due<M>) {
        self.pushed += 1;
        self.queue.insert((self.now + after, self.pushed), due);
    }

    fn listen(&mut self) {
        while let Some((to, ticket, reply)) = self.store.poll() {
            let back = self.back.get(&(to, ticket.number)).copied().flatten();
            if let Some(back) = back {
                self.push(back, Due::Answer(to, ticket, reply));
            }
        }
    }

    fn drain(&mut self, me: usize) {
        while let Some(output) = self.nodes[me].machine.poll() {
            match output {
                Output::Request(ticket, request) => {
                    let (there, back) = (self.fate)(me, self.now, &request);
                    if let Some(there) = there {
                        self.push(there, Due::Ask(me, ticket, request, back));
                    }
                }
                Output::Event(Event::Elected(_)) => {
                    self.elected.push((self.now, me));
                    let others = self.nodes.iter().enumerate();
                    for (_, other) in others.filter(|(other, node)| *other != me && node.until > 0)
                    {
                        self.slack = self.slack.min(self.now.saturating_sub(other.until));
                    }
                }
                Output::Event(Event::Deposed(..)) => self.deposed.push((self.now, me)),
                Output::Event(_) => {}
                Output::Send(_, never) => match never {},
            }
        }
        let node = &mut self.nodes[me];
        let now = Instant::from_micros(node.clock.reads(self.now));
        if let Standing::Leading(tenure) = node.machine.standing(now) {
            node.until = node.clock.when(tenure.until.as_micros());
        }
    }
}

/// The slowest and the fastest clock that a configuration bears, as grainy as it says.
pub(crate) fn clocks(config: &Config) -> [Clock; 2] {
    let (rate, grain) = (u64::from(config.timing.rate.0), config.timing.grain);
    let clock = |pace| Clock {
        pace,
        grain: grain.as_micros().max(1),
    };
    [clock(u64::from(PPM) - rate), clock(u64::from(PPM) + rate)]
}
