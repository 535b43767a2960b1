//! Three levels of jitter: how the network and the processes behave while nothing is broken.
//!
//! Whatever comes by chance comes in any second, or minute, with the same chance, whatever came before: its gaps are
//! geometric. How long a process freezes has a heavy tail, as pauses of collectors and of machines that are moved have: a
//! Pareto distribution, by integers alone, so that a seed draws the same everywhere.

use crate::fault::{Action, Fault, Who};
use crate::physics::weather::Weather;
use std::ops::Range;
use tenure::NodeId;
use tenure::random::Random;

/// How much jitter there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A quiet network in one building.
    Calm,
    /// Now and then the way to the store takes hundreds of milliseconds longer.
    Spikes,
    /// That, and processes that freeze as by their collectors; rarely, for seconds.
    Stalls,
}

const SECOND: u64 = 1_000_000;
const MINUTE: u64 = 60 * SECOND;

/// A spike comes in any second with a chance of one in so many, for each node.
const SPIKE: u64 = 30;
/// The shortest and the longest time that messages take longer in it.
const LATER: (u64, u64) = (100_000, 900_000);
/// The shortest and the longest time that it lasts.
const LASTS: (u64, u64) = (200_000, 1_000_000);

/// A process pauses in any second with a chance of one in so many: for a Pareto time of shape 2 from so long on.
const PAUSE: (u64, u64) = (20, 50_000);
/// A process stalls in any minute with a chance of one in so many: for a Pareto time of shape 1 from so long on.
const STALL: (u64, u64) = (240, SECOND);
/// No process freezes for longer.
const LONGEST: u64 = 30 * SECOND;

impl Level {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Calm, Self::Spikes, Self::Stalls];

    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Calm => "calm",
            Self::Spikes => "spikes",
            Self::Stalls => "stalls",
        }
    }

    /// What there is of it, in a line.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Calm => "latency uniform in 0.5 to 2 ms, and nothing else",
            Self::Spikes => {
                "latency uniform in 1 to 10 ms; for each node, in any second with a chance of 1 in 30, the way to the store \
                 and back takes 100 to 900 ms longer each way for 0.2 to 1 s"
            }
            Self::Stalls => {
                "as spikes; each node freezes in any second with a chance of 1 in 20, Pareto of shape 2 from 50 ms; each node \
                 and the store freeze in any minute with a chance of 1 in 240, Pareto of shape 1 from 1 s; 30 s at most"
            }
        }
    }

    pub(super) const fn weather(self) -> Weather {
        match self {
            Self::Calm => Weather::calm(500, 2_000),
            Self::Spikes | Self::Stalls => Weather::calm(1_000, 10_000),
        }
    }

    /// What happens of it to so many nodes and the servers after them until then, in order of time. The same seed begins
    /// alike, however long it goes on.
    pub(super) fn plan(self, seed: u64, nodes: u16, servers: u16, until: u64) -> Vec<Fault> {
        let mut plan = Vec::new();
        for member in 0..nodes + servers {
            let of_what = |what| Spells::new(seed, member, what, until);
            if self != Self::Calm && member < nodes {
                spikes(&mut plan, of_what(1), member, nodes..nodes + servers);
            }
            if self == Self::Stalls {
                let stalls = of_what(2).each(MINUTE, STALL.0, |draw| pareto_of_one(draw, STALL.1));
                let pauses = of_what(3).each(SECOND, PAUSE.0, |draw| pareto_of_two(draw, PAUSE.1));
                let pauses = pauses.into_iter().filter(|_| member < nodes);
                freezes(
                    &mut plan,
                    member,
                    stalls.into_iter().chain(pauses).collect(),
                );
            }
        }
        plan.sort_by_key(|fault| fault.at);
        plan
    }
}

/// Draws when spells begin, and how long they last, each from a source of its own: how many there are shifts no other draw.
struct Spells {
    when: Random,
    how: Random,
    until: u64,
}

impl Spells {
    fn new(seed: u64, member: u16, what: u64, until: u64) -> Self {
        let source = |part| Random::new(seed, NodeId(u64::from(member)), 2 * what + part);
        Self {
            when: source(0),
            how: source(1),
            until,
        }
    }

    /// When each begins, and what is drawn for it: in any of the spans of time one does with a chance of one in so many.
    fn each<T>(
        mut self,
        span: u64,
        chance: u64,
        drawn: impl Fn(&mut Random) -> T,
    ) -> Vec<(u64, T)> {
        let mut all = Vec::new();
        for place in 0..self.until / span {
            let (comes, within) = (self.when.below(chance) == 0, self.when.below(span));
            if comes {
                all.push((place * span + within, drawn(&mut self.how)));
            }
        }
        all
    }
}

fn spikes(plan: &mut Vec<Fault>, spells: Spells, node: u16, servers: Range<u16>) {
    let between = |draw: &mut Random, (least, most): (u64, u64)| least + draw.below(most - least);
    let drawn = |draw: &mut Random| (between(draw, LATER), between(draw, LASTS));
    let mut free = 0;
    for (at, (later, lasts)) in spells.each(SECOND, SPIKE, drawn) {
        if at < free {
            continue;
        }
        free = at + lasts;
        for (at, later) in [(at, later), (free, 0)] {
            let ways = servers.clone().flat_map(|server| {
                let (node, server) = (Who::Node(node), Who::Node(server));
                [(node, server), (server, node)]
            });
            plan.extend(ways.map(|(from, to)| Fault {
                at,
                action: Action::Delay(from, to, later),
            }));
        }
    }
}

/// A process freezes at each of these instants for so long, if it is not frozen then.
fn freezes(plan: &mut Vec<Fault>, member: u16, mut all: Vec<(u64, u64)>) {
    all.sort_unstable();
    let who = Who::Node(member);
    let mut free = 0;
    for (at, lasts) in all {
        if at < free {
            continue;
        }
        free = at + lasts.min(LONGEST);
        plan.extend([
            Fault {
                at,
                action: Action::Pause(who),
            },
            Fault {
                at: free,
                action: Action::Resume(who),
            },
        ]);
    }
}

/// Uniform in 1 to 2²⁴, out of as many.
fn share(draw: &mut Random) -> u64 {
    1 + draw.below(WHOLE)
}

const WHOLE: u64 = 1 << 24;

/// Longer than x with a chance of `least` / x.
fn pareto_of_one(draw: &mut Random, least: u64) -> u64 {
    least * WHOLE / share(draw)
}

/// Longer than x with a chance of (`least` / x)².
fn pareto_of_two(draw: &mut Random, least: u64) -> u64 {
    // The root of a share of 2²⁴ in units of 2⁻¹², and then its inverse.
    let root = (WHOLE * share(draw)).isqrt();
    least * WHOLE / root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tails_are_those_that_are_named() {
        let mut draw = Random::from_seed(1);
        let drawn = |draw: &mut Random, of: fn(&mut Random, u64) -> u64, beyond: u64| {
            (0..100_000).filter(|_| of(draw, 1_000) > beyond).count()
        };
        for (of, shape) in [
            (pareto_of_one as fn(&mut Random, u64) -> u64, 1),
            (pareto_of_two, 2),
        ] {
            assert_eq!(drawn(&mut draw, of, 999), 100_000);
            for times in [2u64, 5, 10] {
                let expected = 100_000 / times.pow(shape) as usize;
                let found = drawn(&mut draw, of, 1_000 * times);
                let off = found.abs_diff(expected);
                assert!(off * off < 16 * expected, "{shape} {times} {found}");
            }
        }
    }

    #[test]
    fn the_same_seed_begins_alike_however_long_it_goes_on() {
        let short = Level::Stalls.plan(7, 3, 1, 30 * MINUTE);
        let long = Level::Stalls.plan(7, 3, 1, 60 * MINUTE);
        let begun = |plan: &[Fault]| {
            let begun = plan.iter().take_while(|fault| fault.at < 29 * MINUTE);
            begun.cloned().collect::<Vec<_>>()
        };
        assert_eq!(begun(&short), begun(&long));
        assert_ne!(
            begun(&short),
            begun(&Level::Stalls.plan(8, 3, 1, 30 * MINUTE))
        );
    }

    #[test]
    fn what_begins_ends_and_comes_about_as_often_as_named() {
        let hours = 20 * 60 * MINUTE;
        assert!(Level::Calm.plan(1, 3, 1, hours).is_empty());
        let plan = Level::Stalls.plan(1, 3, 1, hours);
        assert!(plan.is_sorted_by_key(|fault| fault.at));
        let count =
            |wanted: fn(&Action) -> bool| plan.iter().filter(|fault| wanted(&fault.action)).count();
        let begun = count(|action| matches!(action, Action::Pause(_)));
        assert_eq!(begun, count(|action| matches!(action, Action::Resume(_))));
        // Of three nodes one in 20 seconds each, and a few more; less what falls into another.
        assert!(begun.abs_diff(3 * 20 * 180) < 500, "{begun}");
        let spikes = count(|action| matches!(action, Action::Delay(.., 1..)));
        assert!(spikes.abs_diff(3 * 20 * 120 * 2) < 1_000, "{spikes}");
        assert_eq!(
            spikes,
            count(|action| matches!(action, Action::Delay(.., 0)))
        );
    }
}
