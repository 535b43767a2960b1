//! Every schedule of a vote among three nodes, to a bound: deliveries in any order or never, timers at any moment, disks that
//! answer at any moment, crashes that keep what was not confirmed or lose it.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::hash::{Hash, Hasher};
use tenure::kraft::{
    Body, Boot, Config, DirectoryId, Invariant, Kraft, Message, QuorumState, ReplicaKey, Rule,
    Stored, Switched, View, VoterSet, Write,
};
use tenure::log::{Position, Shape};
use tenure::{Election, Event, Input, Instant, NodeId, Output, Ticket};

type Machine = Kraft<Switched>;

/// How much may happen in one schedule.
#[derive(Clone, Copy, Debug, Hash)]
struct Bound {
    timeouts: u8,
    crashes: u8,
}

#[derive(Clone)]
struct Node {
    machine: Machine,
    stored: Stored,
    pending: VecDeque<(Ticket, Write)>,
    now: Instant,
    life: u64,
}

/// The group, and what its history has promised.
#[derive(Clone)]
struct State {
    nodes: [Node; 3],
    flights: Vec<(usize, usize, Message)>,
    left: Bound,
    votes: BTreeMap<(usize, u64), NodeId>,
    leaders: BTreeMap<u64, usize>,
    broken: Option<Invariant>,
}

/// What two of three have of the log: committed, for all that anybody knows.
const COMMITTED: Position = Position::new(1, 2);

fn boot(id: usize, stored: Stored, life: u64, now: Instant, rules: Switched) -> Machine {
    let key = |id| ReplicaKey::new(NodeId(id), DirectoryId(id));
    let voters = VoterSet::new((0..3).map(key)).unwrap();
    let boot = Boot {
        stored: Some(stored),
        directory: DirectoryId(id as u64),
        incarnation: life,
        seed: 1,
    };
    Machine::with_rules(Config::new(NodeId(id as u64), voters), boot, now, rules).unwrap()
}

impl State {
    fn new(left: Bound, rules: Switched) -> Self {
        let node = |id: usize| {
            let stored = Stored {
                state: QuorumState {
                    epoch: 1,
                    ..QuorumState::default()
                },
                log: Shape::from_runs([(1, if id == 2 { 1 } else { 2 })]).unwrap(),
            };
            Node {
                machine: boot(id, stored.clone(), 1, Instant::ZERO, rules),
                stored,
                pending: VecDeque::new(),
                now: Instant::ZERO,
                life: 1,
            }
        };
        let mut state = Self {
            nodes: [node(0), node(1), node(2)],
            flights: Vec::new(),
            left,
            votes: BTreeMap::new(),
            leaders: BTreeMap::new(),
            broken: None,
        };
        for id in 0..3 {
            state.drain(id);
        }
        state
    }

    fn drain(&mut self, id: usize) {
        while let Some(output) = self.nodes[id].machine.poll() {
            match output {
                Output::Request(ticket, write) => self.nodes[id].pending.push_back((ticket, write)),
                Output::Event(Event::Elected(token)) => self.elected(id, token.counter),
                Output::Event(_) => {}
                Output::Send(to, message) => {
                    self.judge(id, to, &message);
                    // The search is about votes: what is fetched is lost.
                    let about_votes = matches!(
                        message.body,
                        Body::Vote { .. } | Body::VoteReply { .. } | Body::BeginQuorumEpoch { .. }
                    );
                    if about_votes {
                        self.flights.push((id, to.0 as usize, message));
                    }
                }
            }
        }
        self.settle();
    }

    /// What can do nothing any more is forgotten; and a disk answers at once where no crash can come before its answer, for
    /// that is no more than a message that takes longer.
    fn settle(&mut self) {
        let nodes = &self.nodes;
        self.flights.retain(|(from, to, message)| {
            let (asker, asked, answerer) = match message.body.is_request() {
                true => (*from, *to, *to),
                false => (*to, *from, *to),
            };
            let awaited = nodes[asker]
                .machine
                .awaits(NodeId(asked as u64), message.correlation);
            // Nor does a question nobody waits for the answer of, to one whose disk is in that epoch already.
            let known = nodes[answerer].stored.state.epoch;
            awaited
                || match message.body {
                    Body::Vote {
                        epoch, pre_vote, ..
                    } => epoch > known || (epoch == known && !pre_vote),
                    Body::BeginQuorumEpoch { epoch, .. } => epoch >= known,
                    _ => false,
                }
        });
        if self.left.crashes == 0
            && let Some(id) = (0..3).find(|id| !self.nodes[*id].pending.is_empty())
        {
            self.written(id);
        }
    }

    /// A disk has done the first thing it was asked for.
    fn written(&mut self, id: usize) {
        if let Some((ticket, write)) = self.nodes[id].pending.pop_front() {
            self.nodes[id].stored.apply(&write).unwrap();
            self.input(id, Input::Reply(ticket, Ok(())));
        }
    }

    fn elected(&mut self, id: usize, epoch: u64) {
        if *self.leaders.entry(epoch).or_insert(id) != id {
            self.broken.get_or_insert(Invariant::ElectionSafety);
        }
        let log = self.nodes[id].machine.log();
        if !log.contains(COMMITTED) {
            self.broken.get_or_insert(Invariant::LeaderCompleteness);
        }
    }

    fn judge(&mut self, id: usize, to: NodeId, message: &Message) {
        let vote = match message.body {
            Body::Vote {
                epoch,
                pre_vote: false,
                ..
            } => Some((epoch, NodeId(id as u64))),
            // Whoever is granted a real vote has recorded it.
            Body::VoteReply {
                head,
                granted: true,
            } => {
                let voted = self.nodes[id].machine.voted();
                voted.filter(|it| it.id == to).map(|it| (head.epoch, it.id))
            }
            _ => None,
        };
        if let Some((epoch, whom)) = vote
            && *self.votes.entry((id, epoch)).or_insert(whom) != whom
        {
            self.broken.get_or_insert(Invariant::OneVote);
        }
    }

    fn input(&mut self, id: usize, input: Input<Message, ()>) {
        let node = &mut self.nodes[id];
        node.machine.handle(node.now, input);
        self.drain(id);
    }

    /// All that can happen next.
    fn next(&self, rules: Switched) -> Vec<Self> {
        let mut next = Vec::new();
        for at in 0..self.flights.len() {
            let mut state = self.clone();
            let (from, to, message) = state.flights.swap_remove(at);
            state.input(to, Input::Peer(NodeId(from as u64), message));
            next.push(state);
        }
        for id in 0..3 {
            if !self.nodes[id].pending.is_empty() {
                let mut state = self.clone();
                state.written(id);
                next.push(state);
            }
            if self.left.timeouts > 0
                && let Some(due) = self.nodes[id].machine.deadline()
            {
                let mut state = self.clone();
                state.left.timeouts -= 1;
                state.nodes[id].now = due;
                state.input(id, Input::Timeout);
                next.push(state);
            }
            if self.left.crashes > 0 {
                let pending = self.nodes[id].pending.len();
                for kept in [0, pending].into_iter().take(1 + usize::from(pending > 0)) {
                    let mut state = self.clone();
                    state.left.crashes -= 1;
                    let node = &mut state.nodes[id];
                    for (_, write) in node.pending.drain(..).take(kept) {
                        node.stored.apply(&write).unwrap();
                    }
                    node.life += 1;
                    node.machine = boot(id, node.stored.clone(), node.life, node.now, rules);
                    state.drain(id);
                    next.push(state);
                }
            }
        }
        next
    }

    fn fingerprint(&self) -> u64 {
        let hashed = |hash: &dyn Fn(&mut DefaultHasher)| {
            let mut hasher = DefaultHasher::new();
            hash(&mut hasher);
            hasher.finish()
        };
        let mut flights: Vec<u64> = (self.flights.iter())
            .map(|(from, to, message)| {
                let (asker, asked) = match message.body.is_request() {
                    true => (*from, *to),
                    false => (*to, *from),
                };
                let asked = NodeId(asked as u64);
                let awaited = self.nodes[asker].machine.awaits(asked, message.correlation);
                hashed(&|hasher| (from, to, &message.body, awaited).hash(hasher))
            })
            .collect();
        flights.sort_unstable();
        hashed(&|hasher| {
            (&flights, self.left, &self.votes, &self.leaders).hash(hasher);
            for node in &self.nodes {
                node.machine.view(node.now, View { timed: false }, hasher);
                node.stored.hash(hasher);
                for (_, write) in &node.pending {
                    write.hash(hasher);
                }
            }
        })
    }
}

/// How many states there are within the bound, and whether anything breaks. States that differ in draws and instants alone are
/// taken for one, of which the first that is met is followed: which of a node's timers ends first is its draw's choice there.
fn search(left: Bound, off: &[Rule]) -> (usize, Option<Invariant>) {
    let rules = Switched::without(off);
    let mut seen = HashSet::new();
    // Depth first: what is open is then no more than what branches off one schedule.
    let mut open = vec![State::new(left, rules)];
    while let Some(state) = open.pop() {
        for next in state.next(rules) {
            if next.broken.is_some() {
                return (seen.len(), next.broken);
            }
            if seen.insert(next.fingerprint()) {
                open.push(next);
            }
        }
    }
    (seen.len(), None)
}

fn nothing_breaks_within(bounds: &[(u8, u8)]) {
    for (timeouts, crashes) in bounds.iter().copied() {
        let (states, broken) = search(Bound { timeouts, crashes }, &[]);
        println!("{timeouts} timeouts, {crashes} crashes: {states} states");
        assert_eq!(broken, None);
        assert!(states > 1_000);
    }
}

#[test]
fn no_schedule_of_a_vote_breaks_anything() {
    nothing_breaks_within(&[(2, 1), (3, 0)]);
}

#[test]
#[ignore = "minutes: millions of states"]
fn no_longer_schedule_of_a_vote_breaks_anything() {
    nothing_breaks_within(&[(3, 1), (4, 0)]);
}

/// The same search finds what breaks without a rule.
#[test]
fn the_search_finds_what_breaks() {
    for (rule, timeouts, crashes) in [
        (Rule::OneVoteAnEpoch, 2, 0),
        (Rule::UpToDateLog, 2, 0),
        (Rule::DurableBeforeReply, 2, 1),
    ] {
        let (states, broken) = search(Bound { timeouts, crashes }, &[rule]);
        println!("{rule:?} off: {broken:?} after {states} states");
        assert_eq!(broken, Some(rule.protects()), "{rule:?}");
    }
}
