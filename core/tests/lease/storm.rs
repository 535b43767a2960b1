//! A store and the nodes that elect by it, under whatever can go wrong: requests and answers that are lost, late and out of
//! order, processes that freeze, die and come back, a store that cannot be reached, clocks at their bound. Who believes to
//! lead is judged in true time, from outside.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use tenure::lease::{Boot, Config};
use tenure::random::Random;
use tenure::rate::PPM;
use tenure::{Election, Event, Input, Instant, Output, Standing, Ticket, Token, Unknown};

/// A store of a scheme: asked, it answers now, later, often or never. Its times are on its own clock.
pub(crate) trait Store<M: Election> {
    /// Node `from` asks.
    fn ask(&mut self, now: u64, from: usize, ticket: Ticket, request: M::Request);

    /// The next thing to say, to whom, as the answer to which request.
    fn poll(&mut self) -> Option<(usize, Ticket, M::Reply)>;

    /// When something happens by itself.
    fn due(&self) -> Option<u64> {
        None
    }

    /// The time has come.
    fn wake(&mut self, now: u64) {
        let _ = now;
    }
}

/// What goes wrong, each in parts per thousand of the chances it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    /// A request or an answer is lost.
    pub(crate) loss: u64,
    /// A request or an answer takes up to two leases instead of the latency.
    pub(crate) late: u64,
    /// An answer says that the result is unknown, though the request was carried out.
    pub(crate) unknown: u64,
    /// How far clocks run from true pace, as a share of the bound in parts per thousand: 1,000 is the bound.
    pub(crate) rates: u64,
    /// Whether processes freeze, die, and lose the store.
    pub(crate) faults: bool,
}

impl Weather {
    /// Everything at once, clocks at the bound.
    pub(crate) const STORM: Self = Self {
        loss: 50,
        late: 30,
        unknown: 30,
        rates: 1000,
        faults: true,
    };
    /// Nothing.
    pub(crate) const CALM: Self = Self {
        loss: 0,
        late: 0,
        unknown: 0,
        rates: 0,
        faults: false,
    };
}

/// How a run went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    /// What was broken, by name and when.
    pub(crate) broken: Option<(&'static str, u64)>,
    /// How many tenures began.
    pub(crate) tenures: u64,
    /// How many ended by the clock.
    pub(crate) lapsed: u64,
    /// For how long nobody led, of all the time.
    pub(crate) vacant: u64,
    /// How often the store was asked.
    pub(crate) requests: u64,
    /// The longest time for which two believed at once.
    pub(crate) overlap: u64,
    /// When there was a leader again, counted from the end of all faults.
    pub(crate) led_after: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Wake(usize),
    Store,
    Arrive(usize),
    Fault,
    Calm,
}

enum Flight<M: Election> {
    Ask(usize, Ticket, M::Request),
    Answer(usize, Ticket, Result<M::Reply, Unknown>),
}

struct Node<M> {
    machine: Option<M>,
    /// Its clock: what it shows at true time 0, and its pace in parts per million.
    clock: (u64, u64),
    life: u64,
    frozen: bool,
    cut: bool,
    late: Vec<usize>,
    /// Whether it was elected and not deposed since, and the token.
    elected: Option<Token>,
}

/// One run of `nodes` nodes for `leases` lengths of the lease, and then as many again in calm weather.
pub(crate) struct Storm<M: Election, S> {
    nodes: Vec<Node<M>>,
    store: S,
    store_clock: (u64, u64),
    store_reachable: bool,
    now: u64,
    queue: BinaryHeap<Reverse<(u64, u64, Due)>>,
    pushed: u64,
    flights: BTreeMap<usize, Flight<M>>,
    random: Random,
    weather: Weather,
    config: Config,
    seed: u64,
    boot: Box<dyn Fn(Config, Boot, Instant) -> M>,
    run: Run,
    highest: Token,
    calm_since: Option<u64>,
    tokens: bool,
    excused: bool,
    two_since: Option<u64>,
}

impl<M: Election, S: Store<M>> Storm<M, S> {
    /// A store and nodes with these configurations, not started yet. `tokens`: whether the scheme has any.
    pub(crate) fn new(
        seed: u64,
        configs: &[Config],
        store: S,
        weather: Weather,
        tokens: bool,
        boot: impl Fn(Config, Boot, Instant) -> M + 'static,
    ) -> (Self, Vec<Config>) {
        let mut random = Random::from_seed(seed);
        let config = configs[0].clone();
        let bound = u64::from(config.timing.rate.0) * weather.rates / 1000;
        let clock = |random: &mut Random| {
            let pace = match random.below(3) {
                0 => u64::from(PPM) - bound,
                1 => u64::from(PPM) + bound,
                _ => u64::from(PPM) - bound + random.below(2 * bound + 1),
            };
            (random.below(1 << 40), pace)
        };
        let nodes = configs
            .iter()
            .map(|_| Node {
                machine: None,
                clock: clock(&mut random),
                life: 0,
                frozen: false,
                cut: false,
                late: Vec::new(),
                elected: None,
            })
            .collect();
        let storm = Self {
            nodes,
            store,
            store_clock: clock(&mut random),
            store_reachable: true,
            now: 0,
            queue: BinaryHeap::new(),
            pushed: 0,
            flights: BTreeMap::new(),
            random,
            weather,
            config,
            seed,
            boot: Box::new(boot),
            run: Run::default(),
            highest: Token::NONE,
            calm_since: None,
            tokens,
            excused: false,
            two_since: None,
        };
        (storm, configs.to_vec())
    }

    /// The same with a store that breaks its promises: that two believe then, and take office late, is measured and not
    /// judged.
    pub(crate) fn excused(self) -> Self {
        Self {
            excused: true,
            ..self
        }
    }

    /// Runs for so many leases in the weather, and then for as many in calm.
    pub(crate) fn run(mut self, configs: &[Config], leases: u64) -> Run {
        let ttl = self.config.timing.ttl.as_micros();
        let (storm, end) = (leases * ttl, 2 * leases * ttl);
        for me in 0..self.nodes.len() {
            self.start(configs, me);
        }
        self.push(storm, Due::Calm);
        if self.weather.faults {
            self.push(ttl / 4, Due::Fault);
        }
        while let Some(Reverse((at, _, due))) = self.queue.pop() {
            if at > end || self.run.broken.is_some() {
                break;
            }
            if self.leaders() == 0 {
                self.run.vacant += at - self.now;
            }
            self.now = at;
            self.happen(configs, due);
            self.judge();
        }
        self.run
    }

    fn push(&mut self, at: u64, due: Due) {
        self.pushed += 1;
        self.queue.push(Reverse((at, self.pushed, due)));
    }

    fn happen(&mut self, configs: &[Config], due: Due) {
        match due {
            Due::Wake(me) => self.wake(me),
            Due::Store => {
                let now = self.reads(self.store_clock);
                // When it is due later by now, whatever moved it has armed that.
                if self.store.due().is_some_and(|due| due <= now) {
                    self.store.wake(now);
                    self.listen();
                    self.arm_store();
                }
            }
            Due::Arrive(flight) => self.arrive(flight),
            Due::Fault => self.fault(configs),
            Due::Calm => {
                self.weather = Weather::CALM;
                self.calm_since = Some(self.now);
                self.store_reachable = true;
                for me in 0..self.nodes.len() {
                    self.nodes[me].cut = false;
                    self.thaw(me);
                    if self.nodes[me].machine.is_none() {
                        self.start(configs, me);
                    }
                }
            }
        }
    }

    fn reads(&self, (origin, pace): (u64, u64)) -> u64 {
        origin + (u128::from(self.now) * u128::from(pace) / u128::from(PPM)) as u64
    }

    /// The first true time at which a clock shows `at`.
    fn when(&self, (origin, pace): (u64, u64), at: u64) -> u64 {
        let passed = u128::from(at.saturating_sub(origin)) * u128::from(PPM);
        (passed.div_ceil(u128::from(pace)) as u64).max(self.now + 1)
    }

    fn start(&mut self, configs: &[Config], me: usize) {
        let now = Instant::from_micros(self.reads(self.nodes[me].clock));
        self.nodes[me].life += 1;
        let boot = Boot {
            incarnation: self.nodes[me].life,
            seed: self.seed + me as u64,
        };
        self.nodes[me].machine = Some((self.boot)(configs[me].clone(), boot, now));
        self.nodes[me].elected = None;
        self.drain(me);
    }

    fn feed(&mut self, me: usize, input: Input<M::Peer, M::Reply>) {
        let now = Instant::from_micros(self.reads(self.nodes[me].clock));
        if let Some(machine) = &mut self.nodes[me].machine {
            machine.handle(now, input);
            self.drain(me);
        }
    }

    fn wake(&mut self, me: usize) {
        let now = Instant::from_micros(self.reads(self.nodes[me].clock));
        let node = &self.nodes[me];
        let due = node.machine.as_ref().and_then(M::deadline);
        if !node.frozen && due.is_some_and(|due| due <= now) {
            self.feed(me, Input::Timeout);
        }
    }

    fn drain(&mut self, me: usize) {
        while let Some(output) = self.nodes[me].machine.as_mut().and_then(M::poll) {
            match output {
                Output::Send(..) => unreachable!("they have no peers"),
                Output::Request(ticket, request) => {
                    self.run.requests += 1;
                    self.send(Flight::Ask(me, ticket, request));
                }
                Output::Event(event) => self.news(me, event),
            }
        }
        let clock = self.nodes[me].clock;
        let Some(due) = self.nodes[me].machine.as_ref().and_then(M::deadline) else {
            return;
        };
        // C2: what is due at this instant was done.
        if due.as_micros() <= self.reads(clock) {
            self.run.broken.get_or_insert(("C2", self.now));
        }
        self.push(self.when(clock, due.as_micros()), Due::Wake(me));
    }

    fn news(&mut self, me: usize, event: Event) {
        let elected = &mut self.nodes[me].elected;
        match event {
            Event::Elected(token) => {
                self.run.tenures += 1;
                // C7: reported once, and above what was granted before to anybody (INV-F1).
                if elected.replace(token).is_some() {
                    self.run.broken.get_or_insert(("C7", self.now));
                }
                if self.tokens && token <= self.highest && !self.excused {
                    self.run.broken.get_or_insert(("INV-E6", self.now));
                }
                self.highest = self.highest.max(token);
            }
            Event::Deposed(token, why) => {
                if elected.take() != Some(token) {
                    self.run.broken.get_or_insert(("C7", self.now));
                }
                self.run.lapsed += u64::from(why == tenure::Why::Lapsed);
            }
            _ => {}
        }
    }

    fn send(&mut self, flight: Flight<M>) {
        if self.random.below(1000) < self.weather.loss {
            return;
        }
        let mut takes = 1 + self.random.below(self.config.latency.as_micros());
        if self.random.below(1000) < self.weather.late {
            takes += self.random.below(2 * self.config.timing.ttl.as_micros());
        }
        let place = self.pushed as usize;
        self.flights.insert(place, flight);
        self.push(self.now + takes, Due::Arrive(place));
    }

    fn arrive(&mut self, place: usize) {
        let me = match self.flights.get(&place) {
            Some(Flight::Ask(me, ..) | Flight::Answer(me, ..)) => *me,
            None => return,
        };
        if let Some(Flight::Answer(..)) = self.flights.get(&place)
            && self.nodes[me].frozen
        {
            self.nodes[me].late.push(place);
            return;
        }
        let flight = self.flights.remove(&place);
        if self.nodes[me].cut || !self.store_reachable {
            return;
        }
        match flight {
            Some(Flight::Ask(me, ticket, request)) => {
                let now = self.reads(self.store_clock);
                self.store.wake(now);
                self.store.ask(now, me, ticket, request);
                self.listen();
                self.arm_store();
            }
            Some(Flight::Answer(me, ticket, reply)) => self.feed(me, Input::Reply(ticket, reply)),
            None => {}
        }
    }

    fn listen(&mut self) {
        while let Some((to, ticket, reply)) = self.store.poll() {
            let unknown = self.random.below(1000) < self.weather.unknown;
            let reply = if unknown { Err(Unknown) } else { Ok(reply) };
            self.send(Flight::Answer(to, ticket, reply));
        }
    }

    fn arm_store(&mut self) {
        if let Some(due) = self.store.due() {
            self.push(self.when(self.store_clock, due), Due::Store);
        }
    }

    fn fault(&mut self, configs: &[Config]) {
        if self.calm_since.is_some() {
            return;
        }
        let me = self.random.below(self.nodes.len() as u64) as usize;
        match self.random.below(10) {
            0..3 if self.nodes[me].frozen => self.thaw(me),
            0..3 => self.nodes[me].frozen = self.nodes[me].machine.is_some(),
            3..5 if self.nodes[me].machine.is_none() => self.start(configs, me),
            3..5 => {
                self.nodes[me].machine = None;
                self.nodes[me].frozen = false;
                self.nodes[me].late.clear();
            }
            5 => self.feed_unless_frozen(me, Input::Resign { to: None }),
            6 => self.feed_unless_frozen(me, Input::Campaign),
            7 | 8 => self.nodes[me].cut = !self.nodes[me].cut,
            _ => self.store_reachable = !self.store_reachable,
        }
        let pause = 1 + self.random.below(self.config.timing.ttl.as_micros());
        self.push(self.now + pause, Due::Fault);
    }

    fn feed_unless_frozen(&mut self, me: usize, input: Input<M::Peer, M::Reply>) {
        if !self.nodes[me].frozen {
            self.feed(me, input);
        }
    }

    /// The process goes on: it reads what came before it looks at the time.
    fn thaw(&mut self, me: usize) {
        if std::mem::take(&mut self.nodes[me].frozen) {
            for place in std::mem::take(&mut self.nodes[me].late) {
                self.arrive(place);
            }
            self.feed(me, Input::Timeout);
        }
    }

    /// How many believe to lead now, the frozen ones included.
    fn leaders(&self) -> usize {
        let leads = |node: &&Node<M>| {
            let now = Instant::from_micros(self.reads(node.clock));
            let standing = node.machine.as_ref().map(|machine| machine.standing(now));
            matches!(standing, Some(Standing::Leading(_)))
        };
        self.nodes.iter().filter(leads).count()
    }

    fn judge(&mut self) {
        let leaders = self.leaders();
        if leaders > 1 {
            self.two_since.get_or_insert(self.now);
        } else if let Some(since) = self.two_since.take() {
            self.run.overlap = self.run.overlap.max(self.now - since);
        }
        if leaders > 1 && !self.excused {
            self.run.broken.get_or_insert(("INV-S1", self.now));
        }
        if let (Some(since), None, 1) = (self.calm_since, self.run.led_after, leaders) {
            self.run.led_after = Some(self.now - since);
        }
    }
}
