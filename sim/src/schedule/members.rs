//! Who takes part, in worlds with a log: changes by one node and by many, learners that come to vote, voters and leaders that
//! go and come back as learners, and leadership that is handed over.
//!
//! These draw from a source of their own: what the other moves of a seed are does not depend on them.

use super::draw::Draw;
use crate::fault::{Action, Who};
use crate::world::World;
use tenure::membership::Membership;

/// At one instant of so many, somebody is asked for something.
const SELDOM: u64 = 6;

/// Asks for changes in the worlds of a seed.
pub(super) struct Members {
    draw: Draw,
}

impl Members {
    /// How many nodes are outside at first, and whether anything is asked for at all: in two of three seeds.
    pub(super) fn drawn(seed: u64, nodes: usize) -> Option<(usize, Self)> {
        let mut draw = Draw::new(seed, 0x3e3b_e125);
        let asks = !draw.one_in(3);
        let outside = draw.between(0, nodes as u64 - 2) as usize;
        asks.then_some((outside, Self { draw }))
    }

    /// What is asked for at this instant, if anything.
    pub(super) fn ask(&mut self, world: &World) -> Option<Action> {
        if !self.draw.one_in(SELDOM) {
            return None;
        }
        let leader = world.acting_leader()?;
        let machine = world.node(leader)?.machine()?.raft()?;
        let now = Now::of(machine.membership(), world.nodes());
        let leader = leader as u16;
        let Now {
            mut voters,
            mut learners,
            outside,
        } = now;
        match self.draw.between(0, 7) {
            0 | 1 => learners.push(self.draw.one_of(&outside)?),
            2 | 3 => {
                let learner = self.draw.one_of(&learners)?;
                learners.retain(|node| *node != learner);
                voters.push(learner);
            }
            4 => {
                let gone = self.draw.one_of(&voters)?;
                voters.retain(|node| *node != gone);
                if self.draw.one_in(2) {
                    learners.push(gone);
                }
            }
            5 => voters.retain(|node| *node != leader),
            6 => {
                // Any of those that have the log may vote or not: mostly a joint change.
                let all = [voters, learners].concat();
                (voters, learners) = (Vec::new(), Vec::new());
                for node in all {
                    match self.draw.one_in(3) {
                        true => learners.push(node),
                        false => voters.push(node),
                    }
                }
            }
            _ => {
                voters.retain(|node| *node != leader);
                let heir = self.draw.one_of(&voters)?;
                return Some(Action::Transfer(Who::Node(heir)));
            }
        }
        (!voters.is_empty()).then_some(Action::Change(voters, learners))
    }
}

/// Who takes part now, as far as whoever leads knows.
struct Now {
    voters: Vec<u16>,
    learners: Vec<u16>,
    outside: Vec<u16>,
}

impl Now {
    fn of(membership: &Membership, nodes: usize) -> Self {
        let place = |id: tenure::NodeId| id.0 as u16;
        let voters: Vec<u16> = membership.voters().map(place).collect();
        let learners: Vec<u16> = membership.learners().map(place).collect();
        let inside = |node: &u16| voters.contains(node) || learners.contains(node);
        Self {
            outside: (0..nodes as u16).filter(|node| !inside(node)).collect(),
            voters,
            learners,
        }
    }
}
