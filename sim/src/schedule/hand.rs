//! What a move is made with: what there is to see, draws, and what comes of it.

use super::draw::Draw;
use super::sight::Sight;
use crate::fault::{Action, Who};
use crate::node::Status;
use crate::physics::disk::Takes;
use crate::physics::weather::Weather;

/// What a move is made with.
pub(super) struct Hand<'a> {
    pub(super) draw: &'a mut Draw,
    pub(super) sight: &'a Sight,
    /// Whose instant it is, if anybody's.
    pub(super) subject: Option<usize>,
    /// How the network is when nothing is wrong with it.
    pub(super) base: Weather,
    /// How long a disk takes then.
    pub(super) disk: Takes,
    /// By how much clocks may run fast or slow; 0 where they run true.
    pub(super) rate_bound: u32,
    /// What is done now, in order.
    pub(super) now: Vec<Action>,
    /// What is done later, and how much.
    pub(super) later: Vec<(u64, Action)>,
}

impl Hand<'_> {
    pub(super) fn act(&mut self, action: Action) {
        self.now.push(action);
    }

    /// What a node is called: by its role when that is why it was chosen.
    pub(super) fn name(&self, node: usize) -> Who {
        if self.sight.leader == Some(node) {
            Who::Leader
        } else {
            Who::Node(node as u16)
        }
    }

    /// A running node to strike: whose instant it is, or the leader, more often than their share.
    pub(super) fn victim(&mut self) -> Option<usize> {
        let running = self.sight.with(Status::Up);
        let favourite = match self.draw.between(0, 3) {
            0 => self.sight.leader,
            1 | 2 => self.subject,
            _ => None,
        };
        favourite
            .filter(|node| running.contains(node))
            .or_else(|| self.draw.one_of(&running))
    }

    /// A running node that does not lead.
    pub(super) fn other(&mut self) -> Option<usize> {
        let others = self.sight.others();
        self.subject
            .filter(|node| others.contains(node))
            .filter(|_| self.draw.one_in(2))
            .or_else(|| self.draw.one_of(&others))
    }

    /// How long something lasts: nothing, a moment, until around the end of somebody's belief or promise, or long.
    pub(super) fn while_it_lasts(&mut self) -> u64 {
        let ends: Vec<u64> = (self.sight.nodes.iter())
            .flat_map(|seen| [seen.believes_until, seen.promised_until])
            .filter(|at| *at > self.sight.now)
            .collect();
        match self.draw.between(0, 5) {
            0 => 0,
            1 => self.draw.between(1, 60_000),
            2 => self.draw.between(60_000, 900_000),
            _ => match self.draw.one_of(&ends) {
                Some(end) => {
                    let near = end + self.draw.between(0, 30_000);
                    near.saturating_sub(self.sight.now + self.draw.between(0, 15_000))
                }
                None => self.draw.between(1, 300_000),
            },
        }
    }

    /// No time, or hardly any.
    pub(super) fn moment(&mut self) -> u64 {
        if self.draw.one_in(2) {
            self.draw.between(1, 1_000)
        } else {
            self.draw.between(1_000, 25_000)
        }
    }

    /// Slow messages, of so many milliseconds at least and at most.
    pub(super) fn late(&mut self, least: u64, most: u64) -> Weather {
        let latency_min = self.draw.between(least, most) * 1_000;
        Weather {
            latency_min,
            latency_max: latency_min + self.draw.between(0, 60) * 1_000,
            ..self.base
        }
    }

    /// Messages that come once more, much later; on connections some of them are slow instead.
    pub(super) fn again(&mut self) -> Weather {
        let later = self.draw.between(20, 80) * 1_000;
        let latest = later + self.draw.between(0, 100) * 1_000;
        if self.base.fifo {
            return Weather {
                latency_max: latest,
                ..self.base
            };
        }
        Weather {
            replay: 1_000_000,
            replay_min: later,
            replay_max: latest,
            ..self.base
        }
    }

    /// Messages that come twice, the second time late; on connections they are only late.
    pub(super) fn twice(&mut self) -> Weather {
        Weather {
            latency_max: self.base.latency_max + self.draw.between(0, 90) * 1_000,
            duplicate: if self.base.fifo { 0 } else { 1_000_000 },
            ..self.base
        }
    }

    /// The network is like this for so long.
    pub(super) fn burst(&mut self, weather: Weather, lasts: u64) {
        self.act(Action::Network(weather));
        let base = self.base;
        self.after(lasts, Action::Network(base));
    }

    pub(super) fn after(&mut self, delay: u64, action: Action) {
        if delay == 0 {
            self.act(action);
        } else {
            self.later.push((delay, action));
        }
    }
}
