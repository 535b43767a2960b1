//! One node of an exploration: the real machine, its disk, its clock, and what the outside remembers of it.

use super::hash::Mix;
use super::law::Law;
use super::outline::Outline;
use super::setting::{MAX_TERMS, Setting, Unexplorable};
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use tenure::log::{Position, Shape};
use tenure::quorum::Voters;
use tenure::raft::{
    Boot, Config, Message, Raft, Record, Role, Rule, Stamp, Stored, Switched, Timing, View,
};
use tenure::{Duration, Election, Instant, NodeId, Output, Standing, Ticket};

/// Where every clock starts, and what "now on its owner's clock" is in a message in flight: such a message carries its age
/// as this less the age, so that an exploration has no absolute time.
pub(super) const BASE: Instant = Instant::from_micros(1 << 40);

/// How the nodes of a setting are made and judged.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) voters: Voters,
    timings: Vec<Timing>,
    logs: Vec<Shape>,
    rules: Switched,
    /// Whether time counts; safe mode goes with it.
    pub(super) timed: bool,
    /// Whether nodes are to be alike but for their names: then every hint that depends on a name is tried.
    pub(super) nameless: bool,
    /// Older than this counts as this old: no promise lasts so long.
    horizon: Duration,
    /// The highest term a node may enter.
    terms: u64,
    pub(super) unjudged: Vec<Law>,
    /// Whether timers are drawn anew each time. The machines always draw the least: what they draw is when they fire.
    pub(super) redraws: bool,
}

/// A machine with its surroundings.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) machine: Raft<Switched>,
    pub(super) now: Instant,
    pub(super) disk: Option<Record>,
    pub(super) writes: VecDeque<(Ticket, Record)>,
    life: u64,
    /// The rate of its clock.
    pub(super) rate: u64,
    /// The last vote that left it.
    pub(super) granted: Option<(u64, NodeId)>,
    /// The terms it was ever elected in, as bits.
    pub(super) led: u32,
    /// The highest term it was ever established in.
    pub(super) highest: u64,
}

/// What can happen to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stir<'a> {
    /// Time passes: by how much on each node's clock.
    Tick(&'a [u64]),
    /// Its timer fires.
    Timeout,
    /// A message arrives.
    Mail(usize, &'a Message),
    /// The disk did the oldest write.
    Written,
    /// It crashes when that many of its writes are done, and starts again.
    Crash(usize),
    /// The host campaigns.
    Campaign,
    /// The host resigns.
    Resign,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Stirred {
    pub(super) node: Node,
    /// To whom, and what.
    pub(super) sent: Vec<(usize, Message)>,
    /// The term in which it was elected.
    pub(super) elected: Option<u64>,
    /// The term in which it was established.
    pub(super) established: Option<u64>,
    pub(super) broken: Option<Law>,
}

impl Group {
    pub(super) fn new(setting: &Setting) -> Result<Self, Unexplorable> {
        let count = setting.voters;
        if count == 0 || count > super::setting::MAX_VOTERS {
            return Err(Unexplorable::Voters(count));
        }
        if setting.bounds.terms == 0 || setting.bounds.terms > MAX_TERMS {
            return Err(Unexplorable::Terms(setting.bounds.terms));
        }
        if setting.symmetry && !setting.nameless() {
            return Err(Unexplorable::Names);
        }
        let spread = |given: usize, one: bool| {
            if given == count || (one && given == 1) {
                Ok(())
            } else {
                Err(Unexplorable::Count {
                    given,
                    voters: count,
                })
            }
        };
        let mut timings = match &setting.clocks {
            Some(clocks) => clocks.timings.clone(),
            None => vec![Timing::default()],
        };
        spread(timings.len(), true)?;
        timings.resize(count, timings[0]);
        if let Some(clocks) = &setting.clocks {
            let fits = clocks.rates.iter().all(|rate| *rate <= 2 * clocks.unit);
            if clocks.unit == 0 || clocks.rates.is_empty() || !fits {
                return Err(Unexplorable::Rates);
            }
        }
        let mut logs = setting.logs.clone();
        if logs.is_empty() {
            logs.resize(count, Shape::new());
        }
        spread(logs.len(), false)?;
        let voters =
            Voters::new((0..count as u64).map(NodeId)).map_err(|_| Unexplorable::Voters(count))?;
        // The least draw, for a timer that fires at its deadline or any time later stands for every larger one.
        let off: Vec<Rule> = setting
            .off
            .iter()
            .copied()
            .chain([Rule::RedrawPerAttempt])
            .collect();
        let longest = timings.iter().map(|timing| timing.election_min).max();
        let group = Self {
            voters,
            horizon: longest.unwrap_or_default() + Duration::from_micros(1),
            timings,
            logs,
            rules: Switched::without(&off),
            timed: setting.clocks.is_some(),
            nameless: setting.nameless(),
            terms: setting.bounds.terms,
            unjudged: setting.unjudged.clone(),
            redraws: !setting.off.contains(&Rule::RedrawPerAttempt),
        };
        for place in 0..count {
            group
                .boot(place, None, 1, BASE)
                .map_err(Unexplorable::Config)?;
        }
        Ok(group)
    }

    pub(super) fn voters(&self) -> usize {
        self.voters.ids().len()
    }

    fn config(&self, place: usize) -> Config {
        Config {
            timing: self.timings[place],
            safe_mode: self.timed,
            ..Config::new(NodeId(place as u64), self.voters.clone())
        }
    }

    fn boot(
        &self,
        place: usize,
        disk: Option<Record>,
        life: u64,
        now: Instant,
    ) -> Result<Raft<Switched>, tenure::raft::ConfigError> {
        let record = disk.or_else(|| self.first_record(place));
        let boot = Boot {
            stored: record.map(|record| Stored {
                record,
                log: self.logs[place].clone(),
                ..Stored::default()
            }),
            incarnation: life,
            seed: 0,
        };
        Raft::with_rules(self.config(place), boot, now, self.rules)
    }

    /// A node with a log has been in its term.
    fn first_record(&self, place: usize) -> Option<Record> {
        let term = self.logs[place].last().term;
        (term > 0).then_some(Record {
            term,
            ..Record::default()
        })
    }

    /// The node before anything happened; `None` when its parameters are refused, which `new` has ruled out.
    pub(super) fn first(&self, place: usize, rate: u64) -> Option<Node> {
        Some(Node {
            machine: self.boot(place, None, 1, BASE).ok()?,
            now: BASE,
            disk: self.first_record(place),
            writes: VecDeque::new(),
            life: 1,
            rate,
            granted: None,
            led: 0,
            highest: 0,
        })
    }

    /// The end of a node's log.
    pub(super) fn log_end(&self, place: usize) -> Position {
        self.logs[place].last()
    }

    /// The least instant in a message in flight.
    fn oldest(&self) -> Instant {
        BASE - self.horizon
    }

    /// A message in flight after the clock of its stamp's owner moved on by `by`.
    pub(super) fn aged(&self, message: &Message, by: u64) -> Message {
        let message = message.clone();
        match message.stamp() {
            Some((at, _)) => message.stamped((at - Duration::from_micros(by)).max(self.oldest())),
            None => message,
        }
    }

    /// A message in flight as `node` would read it.
    pub(super) fn read(&self, node: &Node, message: &Message) -> Message {
        let message = message.clone();
        match message.stamp() {
            Some((_, Stamp::Receiver)) if !self.timed => message.stamped(node.machine.armed_at()),
            Some((at, Stamp::Receiver)) => message.stamped(node.now - BASE.since(at)),
            _ => message,
        }
    }

    /// Whether `message` can do nothing any more, not even to what the outside remembers.
    pub(super) fn inert(&self, to: &Node, from: &Node, message: &Message) -> bool {
        let message = self.read(to, message);
        if let Message::RequestVote { term, .. } = message {
            // A vote that is durable and never left, because of a crash, would be remembered when it leaves.
            let candidate = from.machine.id();
            let votes = to.machine.term() == term && to.machine.vote() == Some(candidate);
            if votes && to.granted != Some((term, candidate)) {
                return false;
            }
        }
        to.machine
            .inert(to.now, &from.machine, &message, self.timed)
    }

    /// A message that `node` says, as it is in flight.
    pub(super) fn posted(&self, node: &Node, mut message: Message) -> Message {
        match &mut message {
            // Only reads are told by the number of a round, and nobody reads here.
            Message::Heartbeat { round, .. } => *round = 0,
            Message::RequestPreVote { released, .. } | Message::RequestVote { released, .. } => {
                *released = 0;
            }
            _ => {}
        }
        match message.stamp() {
            Some(_) if !self.timed => message.stamped(BASE),
            Some((at, Stamp::Sender)) => {
                message.stamped(BASE - node.now.since(at).min(self.horizon))
            }
            _ => message,
        }
    }

    /// Whether its timer may fire.
    pub(super) fn may_time_out(&self, node: &Node) -> bool {
        let due = node.machine.deadline();
        if self.timed {
            due.is_some_and(|due| due <= node.now)
        } else {
            // Another round of heartbeats would be the same message again.
            due.is_some() && node.machine.role() != Role::Leader
        }
    }

    /// Whether it went beyond the bound of terms.
    pub(super) fn beyond(&self, node: &Node) -> bool {
        node.machine.term() > self.terms
    }

    /// Lets something happen to a node.
    pub(super) fn stir(&self, place: usize, node: &Node, stir: Stir<'_>) -> Stirred {
        use tenure::Input;
        let mut stirred = Stirred {
            node: node.clone(),
            sent: Vec::new(),
            elected: None,
            established: None,
            broken: None,
        };
        let after = &mut stirred.node;
        let mut must_move = false;
        match stir {
            Stir::Tick(moved) => {
                after.now = after.now + Duration::from_micros(moved[place]);
                for (other, by) in moved.iter().enumerate() {
                    let (of, by) = (NodeId(other as u64), Duration::from_micros(*by));
                    after.machine.age_echoes(of, by, self.oldest());
                }
                return stirred;
            }
            Stir::Crash(done) => {
                for _ in 0..done {
                    after.disk = after.writes.pop_front().map(|(_, record)| record);
                }
                after.writes.clear();
                after.life += 1;
                if let Ok(machine) = self.boot(place, after.disk, after.life, after.now) {
                    after.machine = machine;
                }
                return stirred;
            }
            Stir::Timeout => {
                if let Some(due) = after.machine.deadline() {
                    after.now = after.now.max(due);
                }
                must_move = true;
                after.machine.handle(after.now, Input::Timeout);
            }
            Stir::Mail(from, message) => {
                let message = self.read(after, message);
                after
                    .machine
                    .handle(after.now, Input::Peer(NodeId(from as u64), message));
            }
            Stir::Written => {
                if let Some((ticket, record)) = after.writes.pop_front() {
                    after.disk = Some(record);
                    after
                        .machine
                        .handle(after.now, Input::Reply(ticket, Ok(())));
                }
            }
            Stir::Campaign => after.machine.handle(after.now, Input::Campaign),
            Stir::Resign => after.machine.handle(after.now, Input::Resign { to: None }),
        }
        let mut office = (node.machine.role() == Role::Leader).then(|| node.machine.term());
        while let Some(output) = stirred.node.machine.poll() {
            match output {
                Output::Request(ticket, write) => self.asked(&mut stirred, ticket, write.record),
                Output::Send(to, message) => self.said(&mut stirred, to, message),
                Output::Event(event) => self.heard_of(&mut stirred, &mut office, event),
            }
        }
        let after = &stirred.node;
        let believes = after.believes();
        let revived =
            believes.is_some() && believes != node.believes() && believes != stirred.established;
        let stuck = must_move && after.machine.deadline().is_some_and(|due| due <= after.now);
        if revived {
            self.note(&mut stirred, Law::Expired);
        } else if stuck {
            self.note(&mut stirred, Law::Deadline);
        }
        stirred
    }
}

impl Node {
    /// The term of which it believes to be the leader that may act.
    pub(super) fn believes(&self) -> Option<u64> {
        match self.machine.standing(self.now) {
            Standing::Leading(tenure) => Some(tenure.token.counter),
            _ => None,
        }
    }

    /// What of it a simulator can be held against.
    pub(super) fn outline(&self) -> Outline {
        let writes = !self.writes.is_empty();
        Outline::of(&self.machine, self.disk.as_ref(), writes, self.now)
    }

    /// How many writes the disk has not done.
    pub(super) fn writes(&self) -> usize {
        self.writes.len()
    }

    /// Its fingerprint under the names of `order`: `order[k]` is the place of the node named `k`.
    pub(super) fn print(&self, place: usize, order: &[usize], timed: bool) -> u64 {
        let view = View {
            order: Some(order),
            held: true,
            timed,
        };
        self.print_as(place, order, view)
    }

    /// The same without the messages that wait for its disk.
    pub(super) fn print_bare(&self, place: usize, order: &[usize], timed: bool) -> u64 {
        let view = View {
            order: Some(order),
            held: false,
            timed,
        };
        self.print_as(place, order, view)
    }

    fn print_as(&self, place: usize, order: &[usize], view: View<'_>) -> u64 {
        let name = |place: usize| order.iter().position(|named| *named == place);
        let known = |id: NodeId| usize::try_from(id.0).ok().and_then(name);
        let mut mix = Mix::new(1);
        name(place).hash(&mut mix);
        self.machine.view(self.now, view, &mut mix);
        let records = self
            .disk
            .iter()
            .chain(self.writes.iter().map(|(_, record)| record));
        for record in records {
            (record.term, record.vote.map(known), record.promise).hash(&mut mix);
        }
        (self.disk.is_some(), self.writes.len()).hash(&mut mix);
        self.granted
            .map(|(term, to)| (term, known(to)))
            .hash(&mut mix);
        (self.rate, self.led, self.highest).hash(&mut mix);
        let timing = self.machine.config().timing;
        (timing.election_min, timing.heartbeat).hash(&mut mix);
        (timing.rate_bound, timing.grain).hash(&mut mix);
        mix.finish()
    }

    /// What of it does not change with the names: nodes are put in this order before names are tried.
    pub(super) fn key(&self, place: usize) -> u64 {
        let own = |id: NodeId| id.0 == place as u64;
        let machine = &self.machine;
        let mut mix = Mix::new(2);
        (
            machine.term(),
            machine.role(),
            machine.grants(),
            machine.established(),
            machine.vote().map(own),
            machine.leader().map(own),
            machine.last(),
            self.writes.len(),
            self.disk.map(|disk| (disk.term, disk.vote.map(own))),
            (self.rate, self.led, self.highest),
        )
            .hash(&mut mix);
        mix.finish()
    }
}
