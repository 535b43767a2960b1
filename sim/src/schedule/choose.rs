//! Makes a schedule while the world runs: stops at an instant, looks, and chooses among what can be done now.
//!
//! Everything that is done is an action of the world at its present, and so exactly an action of a scenario: what the
//! world has done in the end is the record, and it replays to the same trace.

use super::STORM;
use super::draw::Draw;
use super::hand::Hand;
use super::members::Members;
use super::moment;
use super::moves::{Control, Move};
use super::sight::Sight;
use super::temper::Temper;
use crate::fault::Action;
use crate::physics::disk::Takes;
use crate::physics::weather::Weather;
use crate::world::World;
use std::collections::VecDeque;

/// A schedule has no more actions than this, those of the healing not counted.
const MOST: usize = 500;
/// After so long without a leader, repairs go first.
const PATIENCE: u64 = 250_000;

/// What a seed does.
pub(super) struct Chooser {
    pub(super) draw: Draw,
    /// Who asks for changes of who takes part, where somebody does.
    pub(super) members: Option<Members>,
    /// What can be done.
    pub(super) moves: Vec<&'static Move>,
    pub(super) temper: Temper,
    pub(super) control: Option<Control>,
    pub(super) base: Weather,
    pub(super) disk: Takes,
    pub(super) rate_bound: u32,
    /// When everything heals.
    pub(super) healed: u64,
    /// How many times as long things take as in an election of Raft.
    pub(super) scale: u64,
}

impl Chooser {
    /// Acts upon the world until everything heals.
    pub(super) fn act(mut self, world: &mut World) {
        let weights = self.weights();
        let moments = self.temper.moments();
        let (low, high) = self.temper.gap();
        let gap = self.draw.between(low, high) * self.scale;
        let mut agenda = Agenda::default();
        let mut led_at = STORM;
        world.run_until(STORM);
        while world.plan().len() < MOST {
            let sight = Sight::of(world);
            let (at, subject) = moment::next(&mut self.draw, world, &sight, &moments, gap);
            while let Some((due, action)) = agenda.due(at.min(self.healed - 1)) {
                act(world, due, action);
            }
            if at >= self.healed {
                break;
            }
            world.run_until(at);
            if let Some(asked) = (self.members.as_mut()).and_then(|members| members.ask(world)) {
                act(world, at, asked);
            }
            // Now and then two moves at one instant.
            loop {
                let sight = Sight::of(world);
                if sight.leader.is_some() {
                    led_at = at;
                }
                let repairs = at - led_at > PATIENCE * self.scale && self.draw.one_in(2);
                let (now, later) = self.choose(&sight, subject, &weights, repairs);
                for action in now {
                    act(world, at, action);
                }
                for (delay, action) in later {
                    agenda.add(at + delay, action);
                }
                if !self.draw.one_in(4) {
                    break;
                }
            }
        }
    }

    /// What is done now, and what later.
    fn choose(
        &mut self,
        sight: &Sight,
        subject: Option<usize>,
        weights: &[u32],
        repairs: bool,
    ) -> (Vec<Action>, Vec<(u64, Action)>) {
        let mut able = weights.to_vec();
        for (weight, of) in able.iter_mut().zip(&self.moves) {
            if (repairs && !of.repairs) || !(of.enabled)(sight) {
                *weight = 0;
            }
        }
        let play = match self.control {
            Some(control) if self.draw.one_in(6) => Some(control.play()),
            _ => (self.draw.weighted(&able)).map(|place| self.moves[place].play),
        };
        let mut hand = Hand {
            draw: &mut self.draw,
            sight,
            subject,
            base: self.base,
            disk: self.disk,
            rate_bound: self.rate_bound,
            now: Vec::new(),
            later: Vec::new(),
        };
        if let Some(play) = play {
            play(&mut hand);
        }
        (hand.now, hand.later)
    }

    /// How often each move is made by this seed: as its temperament has it, with some switched off.
    fn weights(&mut self) -> Vec<u32> {
        let draw = &mut self.draw;
        (self.moves.iter())
            .map(|of| {
                let weight = of.weights[self.temper as usize];
                if of.repairs || !draw.one_in(3) {
                    weight
                } else {
                    0
                }
            })
            .collect()
    }
}

/// What was begun and is to end.
#[derive(Default)]
struct Agenda(VecDeque<(u64, Action)>);

impl Agenda {
    fn add(&mut self, at: u64, action: Action) {
        let place = self.0.partition_point(|(other, _)| *other <= at);
        self.0.insert(place, (at, action));
    }

    /// The next that is due by then.
    fn due(&mut self, by: u64) -> Option<(u64, Action)> {
        let (at, _) = self.0.front()?;
        if *at > by {
            return None;
        }
        self.0.pop_front()
    }
}

fn act(world: &mut World, at: u64, action: Action) {
    world.run_until(at);
    // A plan is full only far beyond the most actions of a schedule.
    let _ = world.act(action);
}
