//! The transition system that is explored, plainly: states, what can happen in each, and what comes of it.
//!
//! This is the meaning of an exploration. The search ([`super::explore`]) walks the same graph by tables; tests compare
//! the two state by state count. It replays counterexamples, and other explorers can be run on it.
//!
//! What it leaves out, and why nothing is lost: a node that is down does what a node does that restarted at once and hears
//! nothing, but waits less; a host that is paused is one whose timers fire late and whose messages arrive late; a draw
//! other than the least is a timer that fires late; a write that is never answered is one that is answered late.
//!
//! What it leaves out, and something is lost: requests for votes do not pass on which leader has stopped. A release that
//! reaches nobody by itself frees nobody here. With it, hardly a message could ever do nothing any more, for a crash
//! forgets what was heard of releases.

use super::hash::Mix;
use super::heal::Healer;
use super::judge::judge;
use super::law::Law;
use super::node::{BASE, Group, Node, Stir, Stirred};
use super::setting::{Bounds, Cut, Network, Setting, Unexplorable};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use tenure::raft::{Message, Role, Stamp};

/// A message in flight, its instant as an age.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mail {
    /// The place of the sender.
    pub from: u8,
    /// The place of the receiver.
    pub to: u8,
    /// What is said; the instant in it is not one of any clock but tells its age.
    pub message: Message,
}

/// Something that can happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Time passes: one microsecond of true time.
    Tick,
    /// A node's timer fires.
    Timeout(usize),
    /// A message arrives.
    Deliver(Mail),
    /// A node's disk does the oldest write and says so.
    Written(usize),
    /// A node crashes when that many of its writes are done, and starts again at once.
    Crash(usize, usize),
    /// A node's host campaigns.
    Campaign(usize),
    /// A node's host resigns.
    Resign(usize),
}

impl Action {
    /// The node it happens to; every node's, when time passes.
    #[must_use]
    pub fn place(&self) -> Option<usize> {
        match *self {
            Self::Tick => None,
            Self::Deliver(ref mail) => Some(usize::from(mail.to)),
            Self::Timeout(place)
            | Self::Written(place)
            | Self::Crash(place, _)
            | Self::Campaign(place)
            | Self::Resign(place) => Some(place),
        }
    }

    /// What it is to that node.
    pub(super) fn stir(&self) -> Option<Stir<'_>> {
        Some(match *self {
            Self::Tick => return None,
            Self::Timeout(_) => Stir::Timeout,
            Self::Deliver(ref mail) => Stir::Mail(usize::from(mail.from), &mail.message),
            Self::Written(_) => Stir::Written,
            Self::Crash(_, done) => Stir::Crash(done),
            Self::Campaign(_) => Stir::Campaign,
            Self::Resign(_) => Stir::Resign,
        })
    }
}

/// How much of the bounds was used, and where the clocks stand within a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Spent {
    pub(super) crashes: u8,
    pub(super) rounds: u8,
    pub(super) whims: u8,
    /// Counted only under a bound, for it tells states apart.
    pub(super) ticks: u8,
    pub(super) phase: u8,
}

/// A group at one moment. Equal states are those that differ in nothing but absolute time.
#[derive(Clone, Debug)]
pub struct State {
    nodes: Vec<Arc<Printed>>,
    mails: Vec<(u64, Mail)>,
    spent: Spent,
    broken: Option<Law>,
}

#[derive(Debug)]
struct Printed {
    node: Node,
    print: u64,
}

/// The transition system of a setting.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) group: Group,
    pub(super) bounds: Bounds,
    pub(super) persistent: bool,
    pub(super) without_inert: bool,
    rates: Vec<u64>,
    unit: u64,
    order: Vec<usize>,
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        for node in &self.nodes {
            node.print.hash(hasher);
        }
        for (print, _) in &self.mails {
            print.hash(hasher);
        }
        self.spent.hash(hasher);
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        let nodes = self.nodes.iter().zip(&other.nodes);
        let mails = self.mails.iter().zip(&other.mails);
        self.spent == other.spent
            && (self.nodes.len(), self.mails.len()) == (other.nodes.len(), other.mails.len())
            && nodes.into_iter().all(|(one, two)| one.print == two.print)
            && mails.into_iter().all(|(one, two)| one.0 == two.0)
    }
}

impl Eq for State {}

impl State {
    /// The invariant that broke on the way here.
    #[must_use]
    pub fn broken(&self) -> Option<Law> {
        self.broken
    }

    /// The nodes that believe to lead, with their terms.
    pub(super) fn believers(&self) -> impl Iterator<Item = (usize, u64)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.filter_map(|(place, printed)| Some((place, printed.node.believes()?)))
    }

    /// How many inputs it takes to heal, as by [`Healer::heal`].
    pub(super) fn heal(&self, model: &Model) -> Option<u32> {
        let nodes = self.nodes.iter().map(|printed| printed.node.clone());
        let phase = self.spent.phase;
        Healer::default().heal(model, phase, nodes.collect(), self.mails().cloned())
    }

    pub(super) fn node(&self, place: usize) -> &Node {
        &self.nodes[place].node
    }

    /// The messages in flight.
    pub(super) fn mails(&self) -> impl Iterator<Item = &Mail> {
        self.mails.iter().map(|(_, mail)| mail)
    }
}

impl Mail {
    /// Its fingerprint under the names of `order`.
    pub(super) fn print(&self, order: &[usize]) -> u64 {
        let name = |place: usize| order.iter().position(|named| *named == place);
        let named = |id: tenure::NodeId| {
            let place = usize::try_from(id.0).ok().and_then(name);
            place.map_or(id, |place| tenure::NodeId(place as u64))
        };
        let mut mix = Mix::new(3);
        let ends = (name(usize::from(self.from)), name(usize::from(self.to)));
        (ends, self.message.clone().renamed(named)).hash(&mut mix);
        mix.finish()
    }

    /// The place of the node whose clock its instant is of.
    pub(super) fn clock(&self) -> Option<usize> {
        match self.message.stamp()?.1 {
            Stamp::Sender => Some(usize::from(self.from)),
            Stamp::Receiver => Some(usize::from(self.to)),
        }
    }
}

impl Spent {
    /// How many words it takes in a packed state.
    pub(super) const WORDS: usize = 2;

    pub(super) fn packed(self) -> [u32; Self::WORDS] {
        let low = [self.crashes, self.rounds, self.whims, self.ticks];
        [u32::from_le_bytes(low), u32::from(self.phase)]
    }

    pub(super) fn unpacked(packed: [u32; Self::WORDS]) -> Self {
        let [crashes, rounds, whims, ticks] = packed[0].to_le_bytes();
        Self {
            crashes,
            rounds,
            whims,
            ticks,
            phase: packed[1] as u8,
        }
    }
}

/// What a step that is no tick needs beyond the node: which bound it spends, given whether it was a round of heartbeats.
pub(super) fn spend(
    bounds: &Bounds,
    mut spent: Spent,
    stir: Stir<'_>,
    round: bool,
) -> Result<Spent, Cut> {
    let (used, most, cut) = match stir {
        Stir::Timeout if round => (&mut spent.rounds, bounds.rounds, Cut::Rounds),
        Stir::Crash(_) => (&mut spent.crashes, bounds.crashes, Cut::Crashes),
        Stir::Campaign | Stir::Resign => (&mut spent.whims, bounds.whims, Cut::Whims),
        _ => return Ok(spent),
    };
    if *used >= most {
        return Err(cut);
    }
    *used += 1;
    Ok(spent)
}

/// Whether a timeout sent a round of heartbeats beyond the first of its leader.
pub(super) fn is_round(before: &Node, after: &Node) -> bool {
    before.machine.role() == Role::Leader && after.machine.role() == Role::Leader
}

impl Model {
    /// The transition system of a setting.
    ///
    /// # Errors
    /// When the setting cannot be explored.
    pub fn new(setting: &Setting) -> Result<Self, Unexplorable> {
        let group = Group::new(setting)?;
        let (rates, unit) = match &setting.clocks {
            Some(clocks) => (clocks.rates.clone(), clocks.unit),
            None => (vec![1], 1),
        };
        if unit > u64::from(u8::MAX) {
            return Err(Unexplorable::Rates);
        }
        Ok(Self {
            order: (0..group.voters()).collect(),
            group,
            bounds: setting.bounds,
            persistent: setting.network == Network::Persistent,
            without_inert: setting.without_inert,
            rates,
            unit,
        })
    }

    /// The same without the removal of inert messages.
    pub(super) fn keeping_inert(&self) -> Self {
        Self {
            without_inert: false,
            ..self.clone()
        }
    }

    /// The states before anything happened: one for each choice of clock rates.
    #[must_use]
    pub fn initial(&self) -> Vec<State> {
        let firsts = self.first_nodes();
        let state = |nodes: Vec<Node>| State {
            nodes: nodes
                .into_iter()
                .enumerate()
                .map(|(place, node)| self.printed(place, node))
                .collect(),
            mails: Vec::new(),
            spent: Spent::default(),
            broken: None,
        };
        firsts.into_iter().map(state).collect()
    }

    pub(super) fn first_nodes(&self) -> Vec<Vec<Node>> {
        let voters = self.group.voters();
        let combinations = self.rates.len().pow(voters as u32);
        (0..combinations)
            .filter_map(|mut choice| {
                (0..voters)
                    .map(|place| {
                        let rate = self.rates[choice % self.rates.len()];
                        choice /= self.rates.len();
                        self.group.first(place, rate)
                    })
                    .collect()
            })
            .collect()
    }

    fn printed(&self, place: usize, node: Node) -> Arc<Printed> {
        let print = node.print(place, &self.order, self.group.timed);
        Arc::new(Printed { node, print })
    }

    /// Whether all clocks count what passes.
    pub(super) fn exact(&self) -> bool {
        self.unit == 1 && self.rates == [1]
    }

    /// Where the clocks stand within a unit a microsecond later.
    pub(super) fn next_phase(&self, phase: u8) -> u8 {
        ((u64::from(phase) + 1) % self.unit) as u8
    }

    /// By how much a clock of this rate moves in the next microsecond of true time.
    pub(super) fn moves(&self, phase: u8, rate: u64) -> u64 {
        let at = u64::from(phase);
        (at + 1) * rate / self.unit - at * rate / self.unit
    }

    /// What the next microsecond of true time spends.
    pub(super) fn spend_tick(&self, mut spent: Spent) -> Result<Spent, Cut> {
        spent.phase = self.next_phase(spent.phase);
        if self.bounds.ticks < u8::MAX {
            if spent.ticks >= self.bounds.ticks {
                return Err(Cut::Ticks);
            }
            spent.ticks += 1;
        }
        Ok(spent)
    }

    /// What can happen; some of it may turn out to change nothing, or to lie beyond a bound.
    pub fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if self.group.timed {
            actions.push(Action::Tick);
        }
        for (place, printed) in state.nodes.iter().enumerate() {
            let node = &printed.node;
            if self.group.may_time_out(node) {
                actions.push(Action::Timeout(place));
            }
            if node.writes() > 0 {
                actions.push(Action::Written(place));
            }
            if self.bounds.crashes > 0 {
                actions.extend((0..=node.writes()).map(|done| Action::Crash(place, done)));
            }
            if self.bounds.whims > 0 && node.machine.role() == Role::Leader {
                actions.push(Action::Resign(place));
            } else if self.bounds.whims > 0 {
                actions.push(Action::Campaign(place));
            }
        }
        let mut last = None;
        for (print, mail) in &state.mails {
            if last.replace(*print) != Some(*print) {
                actions.push(Action::Deliver(mail.clone()));
            }
        }
    }

    /// The state after an action; `None` when nothing changes or a bound forbids it.
    #[must_use]
    pub fn next(&self, state: &State, action: Action) -> Option<State> {
        self.step(state, &action).ok().filter(|next| next != state)
    }

    pub(super) fn step(&self, state: &State, action: &Action) -> Result<State, Cut> {
        let (Some(place), Some(stir)) = (action.place(), action.stir()) else {
            return self.tick(state);
        };
        let before = &state.nodes[place].node;
        let stirred = self.group.stir(place, before, stir);
        if self.group.beyond(&stirred.node) {
            return Err(Cut::Terms);
        }
        let spent = spend(
            &self.bounds,
            state.spent,
            stir,
            is_round(before, &stirred.node),
        )?;
        let mut next = state.clone();
        next.spent = spent;
        if let (Action::Deliver(mail), false) = (action, self.persistent) {
            let gone = next.mails.iter().position(|(_, other)| other == mail);
            gone.map(|at| next.mails.remove(at));
        }
        next.broken = self.put(&mut next, place, stirred);
        if next.mails.len() > self.bounds.messages {
            return Err(Cut::Messages);
        }
        Ok(next)
    }

    /// Puts the node that moved and what it said into the state.
    fn put(&self, next: &mut State, place: usize, stirred: Stirred) -> Option<Law> {
        let Stirred {
            node,
            sent,
            elected,
            established,
            broken,
        } = stirred;
        let others = next.nodes.iter().enumerate().filter(|(at, _)| *at != place);
        let others = others.map(|(at, printed)| (at, &printed.node));
        let judged = judge(&self.group, place, &node, elected, established, others);
        next.nodes[place] = self.printed(place, node);
        for (to, message) in sent {
            self.post(
                next,
                Mail {
                    from: place as u8,
                    to: to as u8,
                    message,
                },
            );
        }
        self.drop_inert(next);
        broken.or(judged)
    }

    fn post(&self, state: &mut State, mail: Mail) {
        let print = mail.print(&self.order);
        let at = state.mails.partition_point(|(other, _)| *other < print);
        let there = state
            .mails
            .get(at)
            .is_some_and(|(other, _)| *other == print);
        if !(there && self.persistent) {
            state.mails.insert(at, (print, mail));
        }
    }

    fn drop_inert(&self, state: &mut State) {
        if self.without_inert {
            let nodes = &state.nodes;
            let node = |place: u8| &nodes[usize::from(place)].node;
            state.mails.retain(|(_, mail)| {
                !self
                    .group
                    .inert(node(mail.to), node(mail.from), &mail.message)
            });
        }
    }

    fn tick(&self, state: &State) -> Result<State, Cut> {
        let phase = state.spent.phase;
        let moved: Vec<u64> = state
            .nodes
            .iter()
            .map(|printed| self.moves(phase, printed.node.rate))
            .collect();
        let mut next = State {
            nodes: Vec::with_capacity(state.nodes.len()),
            mails: Vec::with_capacity(state.mails.len()),
            spent: self.spend_tick(state.spent)?,
            broken: None,
        };
        for (place, printed) in state.nodes.iter().enumerate() {
            let stirred = self.group.stir(place, &printed.node, Stir::Tick(&moved));
            next.nodes.push(self.printed(place, stirred.node));
        }
        for (_, mail) in &state.mails {
            let by = mail.clock().map_or(0, |place| moved[place]);
            let message = self.group.aged(&mail.message, by);
            let Mail { from, to, .. } = *mail;
            self.post(&mut next, Mail { from, to, message });
        }
        self.drop_inert(&mut next);
        if next.believers().count() > 1 && self.group.judges(Law::OneBelieved) {
            next.broken = Some(Law::OneBelieved);
        }
        Ok(next)
    }
}

impl Mail {
    /// How old the instant in it is on its owner's clock.
    pub(super) fn age(&self) -> Option<u64> {
        let (at, _) = self.message.stamp()?;
        Some(BASE.since(at).as_micros())
    }
}
