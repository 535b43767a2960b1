//! Both kinds on one network, in steps of a tenth of a tick.

use crate::judge::{Judge, Named};
use crate::ours::Ours;
use crate::theirs::Theirs;
use crate::words::{self, Asked, Payload};
use raft::eraftpb;
use tenure::raft::Message;
use tenure::random::Random;
use tenure::{Duration, Instant};

/// A tick of the other kind, in microseconds; this library's timing is of as many.
const TICK: u64 = 10_000;
/// The grain of the network.
const STEP: u64 = TICK / 10;
/// The other kind counts ten ticks after its leader spoke, of which the first may be over at once.
const PROMISE: Duration = Duration::from_micros(9 * TICK);

enum Node {
    Ours(Box<Ours>),
    Theirs(Box<Theirs>),
}

impl Node {
    /// Its log after index `from`, up to `end`.
    fn log(&self, from: u64, end: u64) -> Vec<Named> {
        match self {
            Self::Ours(node) => node.log(from, end),
            Self::Theirs(node) => node.log(from, end),
        }
    }
}

enum Word {
    Ours(Message, Vec<Payload>),
    Theirs(eraftpb::Message),
}

struct Flight {
    at: u64,
    from: usize,
    to: usize,
    word: Word,
}

pub(crate) struct Cluster {
    nodes: Vec<Node>,
    /// When a crashed node starts again; 0 while it runs.
    down_until: Vec<u64>,
    /// Up to where the judge saw what each holds to be final.
    judged: Vec<u64>,
    /// What each was asked by each.
    asked: Vec<Vec<Asked>>,
    cuts: Vec<Vec<u64>>,
    flights: Vec<Flight>,
    now: u64,
    random: Random,
    faults: bool,
    proposed: Payload,
    /// Whether a voter of the other kind restarted: it keeps no promise across that.
    forgot: bool,
    /// The highest commit index that anybody showed.
    committed: u64,
    pub(crate) judge: Judge,
}

impl Cluster {
    /// Three or five nodes, at least one of each kind.
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::from_seed(seed);
        let size = if random.below(2) == 0 { 3 } else { 5 };
        let mut kinds: Vec<bool> = (0..size).map(|_| random.below(2) == 0).collect();
        let one = random.below(size as u64) as usize;
        (kinds[one], kinds[(one + 1) % size]) = (true, false);
        let tick = Duration::from_micros(TICK);
        let now = Instant::from_micros(1_000_000);
        let nodes = kinds.iter().enumerate().map(|(place, ours)| match ours {
            true => Node::Ours(Box::new(Ours::new(place, size, tick, now, random.bits()))),
            false => Node::Theirs(Box::new(Theirs::new(place, size))),
        });
        Self {
            nodes: nodes.collect(),
            down_until: vec![0; size],
            judged: vec![0; size],
            asked: vec![vec![Asked::default(); size]; size],
            cuts: vec![vec![0; size]; size],
            flights: Vec::new(),
            now: 1_000_000,
            random,
            faults: false,
            proposed: 0,
            forgot: false,
            committed: 0,
            judge: Judge::default(),
        }
    }

    /// `millis` milliseconds with faults.
    pub(crate) fn trouble(&mut self, millis: u64) {
        self.faults = true;
        self.run(millis);
    }

    pub(crate) fn heal(&mut self) {
        self.faults = false;
        self.cuts.iter_mut().flatten().for_each(|until| *until = 0);
        self.down_until
            .iter_mut()
            .for_each(|until| *until = (*until).min(self.now));
    }

    /// `millis` milliseconds without faults, at the end of which everybody has committed what was proposed in their middle.
    pub(crate) fn settle(&mut self, millis: u64) {
        self.run(millis / 2);
        let so_far = self.commits().into_iter().max().unwrap_or(0);
        self.run(millis / 2);
        if self.commits().iter().any(|commit| *commit <= so_far) {
            let state: Vec<_> = (0..self.nodes.len())
                .map(|place| self.told(place))
                .collect();
            self.judge.fail(format!(
                "INV-V1: nothing was committed after {so_far}: {state:?}"
            ));
        }
    }

    fn told(&self, place: usize) -> String {
        match &self.nodes[place] {
            Node::Ours(node) => format!(
                "ours {:?} term {} last {:?} commit {}",
                node.machine.role(),
                node.machine.term(),
                node.machine.last(),
                node.machine.commit()
            ),
            Node::Theirs(node) => format!(
                "theirs leads {:?} term {} commit {}",
                node.leads(),
                node.term(),
                node.commit()
            ),
        }
    }

    fn run(&mut self, millis: u64) {
        let end = self.now + millis * 1_000;
        while self.now < end && self.judge.broken().is_none() {
            self.now += STEP;
            self.step();
        }
    }

    fn clock(&self) -> Instant {
        Instant::from_micros(self.now)
    }

    fn chance(&mut self, per_mille: u64) -> bool {
        self.faults && self.random.below(1_000) < per_mille
    }

    fn up(&self, place: usize) -> bool {
        self.down_until[place] == 0
    }

    fn step(&mut self) {
        if self.chance(4) {
            self.make_trouble();
        }
        for place in 0..self.nodes.len() {
            if !self.up(place) && self.down_until[place] <= self.now {
                self.down_until[place] = 0;
                self.restart(place);
            }
        }
        let due: Vec<Flight> = self
            .flights
            .extract_if(.., |flight| flight.at <= self.now)
            .collect();
        for flight in due {
            if self.up(flight.to) && self.cuts[flight.from][flight.to] <= self.now {
                self.deliver(flight);
            }
        }
        for place in 0..self.nodes.len() {
            if !self.up(place) {
                continue;
            }
            let clock = self.clock();
            match &mut self.nodes[place] {
                Node::Ours(node) => node.attend(self.now, clock),
                // Each in its own phase of the tick.
                Node::Theirs(node) if (self.now / STEP + place as u64 * 3).is_multiple_of(10) => {
                    node.tick()
                }
                Node::Theirs(_) => {}
            }
            self.carry_out(place);
        }
        if self.random.below(20) == 0 {
            self.propose();
        }
        self.look();
    }

    fn make_trouble(&mut self) {
        let size = self.nodes.len();
        let place = self.random.below(size as u64) as usize;
        let until = self.now + 1_000 * (20 + self.random.below(600));
        match self.random.below(4) {
            0 => self.down_until[place] = until,
            1 => {
                let other = self.random.below(size as u64) as usize;
                self.cuts[place][other] = until;
            }
            _ => {
                for other in 0..size {
                    self.cuts[place][other] = until;
                    self.cuts[other][place] = until;
                }
            }
        }
    }

    fn restart(&mut self, place: usize) {
        let clock = self.clock();
        match &mut self.nodes[place] {
            Node::Ours(node) => {
                node.restart(self.random.bits(), clock);
                self.judge.counts.restarts_of_ours += 1;
            }
            Node::Theirs(node) => {
                node.restart();
                self.forgot = true;
                self.judge.counts.restarts_of_theirs += 1;
            }
        }
    }

    fn deliver(&mut self, flight: Flight) {
        let Flight { from, to, word, .. } = flight;
        let clock = self.clock();
        match (&mut self.nodes[to], word) {
            (Node::Ours(node), Word::Ours(message, payloads)) => {
                self.judge.counts.refused_for_the_log +=
                    u64::from(matches!(message, Message::AppendRefused { .. }));
                node.hear(from, message, &payloads, clock);
            }
            (Node::Ours(node), Word::Theirs(message)) => {
                let asked = &mut self.asked[from][to];
                for (message, payloads) in words::to_ours(&message, clock, PROMISE, asked) {
                    node.hear(from, message, &payloads, clock);
                }
            }
            (Node::Theirs(node), Word::Theirs(message)) => node.hear(message),
            (Node::Theirs(node), Word::Ours(message, payloads)) => {
                let first = match &message {
                    Message::Append { prev, .. } => prev.index + 1,
                    _ => 0,
                };
                // The answers to what is heard now name it.
                let payload = |index: u64| payloads.get((index - first) as usize).copied();
                let asked = &mut self.asked[to][from];
                let known = match &message {
                    Message::Heartbeat { .. } | Message::Commit { .. } => {
                        payloads.first().copied().unwrap_or(0)
                    }
                    _ => 0,
                };
                if let Some(message) = words::to_theirs((from, to), &message, known, payload, asked)
                {
                    node.hear(message);
                }
            }
        }
        self.carry_out(to);
    }

    fn carry_out(&mut self, place: usize) {
        let disk = STEP * self.random.below(8);
        let said: Vec<(usize, Word)> = match &mut self.nodes[place] {
            Node::Ours(node) => {
                let said = node.carry_out(self.now, disk);
                said.into_iter()
                    .map(|(to, message)| {
                        (
                            to,
                            Word::Ours(message.clone(), attached(node, to, &message)),
                        )
                    })
                    .collect()
            }
            Node::Theirs(node) => node
                .carry_out()
                .into_iter()
                .map(|message| ((message.to - 1) as usize, Word::Theirs(message)))
                .collect(),
        };
        for (to, word) in said {
            if !self.chance(50) {
                let at = self.now + STEP * (1 + self.random.below(25));
                self.flights.push(Flight {
                    at,
                    from: place,
                    to,
                    word,
                });
            }
        }
        self.hear_of_elections(place);
    }

    fn hear_of_elections(&mut self, place: usize) {
        let (terms, ours) = match &mut self.nodes[place] {
            Node::Ours(node) => (std::mem::take(&mut node.elected), true),
            Node::Theirs(node) => (std::mem::take(&mut node.elected), false),
        };
        for term in terms {
            let log = self.nodes[place].log(0, u64::MAX);
            self.judge.elected(place, term, &log);
            let counts = &mut self.judge.counts;
            *(if ours {
                &mut counts.ours_led
            } else {
                &mut counts.theirs_led
            }) += 1;
        }
    }

    fn propose(&mut self) {
        let clock = self.clock();
        for place in 0..self.nodes.len() {
            if !self.up(place) {
                continue;
            }
            let payload = self.proposed + 1;
            let taken = match &mut self.nodes[place] {
                Node::Ours(node) => node.propose(payload, clock),
                Node::Theirs(node) => node.propose(payload),
            };
            if taken {
                self.proposed = payload;
                self.carry_out(place);
            }
        }
    }

    fn commits(&self) -> Vec<u64> {
        let commit = |node: &Node| match node {
            Node::Ours(node) => node.machine.commit(),
            Node::Theirs(node) => node.commit(),
        };
        self.nodes.iter().map(commit).collect()
    }

    /// Looks at everybody who runs.
    fn look(&mut self) {
        let clock = self.clock();
        let mut believers = Vec::new();
        let mut leaders = Vec::new();
        for place in 0..self.nodes.len() {
            if !self.up(place) {
                continue;
            }
            let seen = self.judged[place];
            let (term, commit, fresh) = match &self.nodes[place] {
                Node::Ours(node) => {
                    if let Some(term) = node.believes(clock) {
                        believers.push((place, term));
                    }
                    let commit = node.machine.commit();
                    (node.machine.term(), commit, node.log(seen, commit))
                }
                Node::Theirs(node) => {
                    if let Some(term) = node.leads() {
                        leaders.push((place, term));
                    }
                    (node.term(), node.commit(), node.log(seen, node.commit()))
                }
            };
            self.judge.final_after(place, term, seen, &fresh);
            // After a restart it knows of less.
            self.judged[place] = commit;
        }
        // Every so often, for it costs the most.
        if self.now.is_multiple_of(TICK * 10) {
            let logs: Vec<_> = self
                .nodes
                .iter()
                .map(|node| node.log(0, u64::MAX))
                .collect();
            for (one, log) in logs.iter().enumerate() {
                for other in &logs[..one] {
                    self.judge.logs(log, other);
                }
            }
        }
        for (place, term) in &believers {
            self.judge.counts.believed += 1;
            let later = |(_, other): &&(usize, u64)| other > term;
            let rival = believers.iter().find(|other| other.0 != *place);
            if let Some(rival) = rival
                .or(leaders.iter().find(later))
                .filter(|_| !self.forgot)
            {
                self.judge.fail(format!(
                    "INV-S1: {place} believes to lead term {term} beside {rival:?} at {}",
                    self.now
                ));
            }
        }
        let committed = self.commits().into_iter().max().unwrap_or(0);
        let more = committed - self.committed.min(committed);
        self.committed += more;
        if leaders.is_empty() {
            self.judge.counts.committed_by_ours += more;
        } else if believers.is_empty() {
            self.judge.counts.committed_by_theirs += more;
        }
    }
}

/// What goes with a message: the payloads of its entries; or, with news of what is committed, up to where the receiver is
/// known to have it.
fn attached(node: &Ours, to: usize, message: &Message) -> Vec<Payload> {
    match message {
        Message::Append { prev, entries, .. } | Message::Suffix { prev, entries, .. } => {
            (prev.index + 1..=prev.index + entries.count())
                .filter_map(|index| node.payload(index))
                .collect()
        }
        Message::Heartbeat { .. } | Message::Commit { .. } => node
            .machine
            .progress(tenure::NodeId(to as u64))
            .map(|progress| vec![progress.matched])
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}
