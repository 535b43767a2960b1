//! Liveness as a question about one state: from here on nothing fails any more. Is there soon one leader whom all name
//! (INV-V1)?
//!
//! The healed schedule is fair, and the same every time: what is in flight arrives in order and at once, disks are done at
//! once, timers fire in order of time. A draw is what it is everywhere in an exploration, a timer that fires late: each
//! time it is armed by another span, unless `redraw-per-attempt` is off. So a state from which nobody is elected is
//! stuck, and the rest is arithmetic: no state that was met is.

use super::hash::{Mix, Table};
use super::model::{Mail, Model};
use super::node::{Node, Stir};
use std::collections::VecDeque;
use std::hash::Hasher;
use tenure::raft::Role;
use tenure::random::Random;
use tenure::{Election, Instant};

/// How many inputs of machines a healed schedule may take: more than ten times the most that was ever seen.
pub(super) const STEPS: u32 = 1_000;

/// What healed schedules lead to. Many states are one when all that was in flight has arrived: each of those runs once.
#[derive(Debug, Default)]
pub(super) struct Healer {
    settled: Table<Option<u32>>,
}

/// A healed schedule under way.
struct Healing<'a> {
    model: &'a Model,
    nodes: Vec<Node>,
    flying: VecDeque<Mail>,
    /// By node: its deadline, and by how much later than that its timer fires.
    timers: Vec<(Option<Instant>, u64)>,
    draws: Random,
    phase: u8,
    steps: u32,
}

impl Healer {
    /// How many inputs it takes until one leads whom all name; `None` when it takes more than [`STEPS`].
    pub(super) fn heal(
        &mut self,
        model: &Model,
        phase: u8,
        nodes: Vec<Node>,
        mails: impl Iterator<Item = Mail>,
    ) -> Option<u32> {
        let mut healing = Healing {
            model,
            timers: vec![(None, 0); nodes.len()],
            nodes,
            flying: mails.collect(),
            draws: Random::from_seed(0),
            phase,
            steps: 0,
        };
        healing.settle();
        let first = healing.steps;
        let print = healing.print();
        let rest = match self.settled.get(&print) {
            Some(known) => *known,
            None => {
                healing.steps = 0;
                let steps = healing.run();
                self.settled.insert(print, steps);
                steps
            }
        };
        rest.map(|rest| first + rest)
    }
}

impl Healing<'_> {
    fn run(mut self) -> Option<u32> {
        while !self.agree() {
            if self.steps > STEPS {
                return None;
            }
            self.pass();
            self.fire();
            self.settle();
        }
        Some(self.steps)
    }

    /// Whether one leads that may act, and the others name it.
    fn agree(&self) -> bool {
        let mut leaders = self.nodes.iter().filter(|node| node.believes().is_some());
        let Some(leader) = leaders.next().map(|leader| &leader.machine) else {
            return false;
        };
        let names = |node: &Node| node.machine.leader() == Some(leader.id());
        let agrees = |node: &Node| node.machine.id() == leader.id() || names(node);
        leaders.next().is_none() && self.nodes.iter().all(agrees)
    }

    fn stir(&mut self, place: usize, stir: Stir<'_>) {
        self.steps += 1;
        let stirred = self.model.group.stir(place, &self.nodes[place], stir);
        self.nodes[place] = stirred.node;
        let from = place as u8;
        let mails = stirred.sent.into_iter().map(|(to, message)| Mail {
            from,
            to: to as u8,
            message,
        });
        self.flying.extend(mails);
    }

    /// Everything arrives, and every disk is done.
    fn settle(&mut self) {
        while self.steps <= STEPS {
            if let Some(mail) = self.flying.pop_front() {
                let stir = Stir::Mail(usize::from(mail.from), &mail.message);
                self.stir(usize::from(mail.to), stir);
            } else if let Some(place) = self.nodes.iter().position(|node| node.writes() > 0) {
                self.stir(place, Stir::Written);
            } else {
                break;
            }
        }
        for (node, timer) in self.nodes.iter().zip(&mut self.timers) {
            let due = node.machine.deadline();
            if timer.0 == due {
                continue;
            }
            // A leader's rounds are not drawn.
            let drawn = node.machine.role() != Role::Leader && self.model.group.redraws;
            let spread = node.machine.config().timing.election_min.as_micros();
            let late = if drawn {
                self.draws.below(spread + 1)
            } else {
                0
            };
            *timer = (due, late);
        }
    }

    /// How long until the timer of a node fires, on its clock.
    fn waits(&self, place: usize) -> Option<u64> {
        let (due, late) = self.timers[place];
        let due = due? + tenure::Duration::from_micros(late);
        Some(due.since(self.nodes[place].now).as_micros())
    }

    /// Time passes until the next timer fires.
    fn pass(&mut self) {
        let nodes = 0..self.nodes.len();
        let Some(next) = nodes.clone().filter_map(|place| self.waits(place)).min() else {
            // No machine without a timer is left alone with it: the bound on steps ends the run.
            self.steps = STEPS + 1;
            return;
        };
        if self.model.exact() {
            return self.tick(&vec![next; self.nodes.len()]);
        }
        while nodes.clone().all(|place| self.waits(place) != Some(0)) {
            let moved: Vec<u64> = self
                .nodes
                .iter()
                .map(|node| self.model.moves(self.phase, node.rate))
                .collect();
            self.phase = self.model.next_phase(self.phase);
            self.tick(&moved);
        }
    }

    fn tick(&mut self, moved: &[u64]) {
        for (place, node) in self.nodes.iter_mut().enumerate() {
            *node = self.model.group.stir(place, node, Stir::Tick(moved)).node;
        }
    }

    /// All timers that are due fire, before anybody hears of it.
    fn fire(&mut self) {
        let due: Vec<usize> = (0..self.nodes.len())
            .filter(|place| self.waits(*place) == Some(0))
            .collect();
        for place in due {
            self.stir(place, Stir::Timeout);
        }
    }

    fn print(&self) -> u64 {
        let order: Vec<usize> = (0..self.nodes.len()).collect();
        let mut mix = Mix::new(5);
        for (place, node) in self.nodes.iter().enumerate() {
            mix.write_u64(node.print(place, &order, true));
        }
        mix.write_u8(self.phase);
        mix.finish()
    }
}
