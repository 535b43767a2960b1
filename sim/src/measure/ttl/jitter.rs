//! Three levels of jitter: how the network and the processes behave while nothing is broken.
//!
//! Whatever comes by chance comes in any second, or minute, with the same chance, whatever came before: its gaps are
//! geometric. How long a process freezes has a heavy tail, as pauses of collectors and of machines that are moved have: a
//! Pareto distribution, by integers alone, so that a seed draws the same everywhere.

use crate::fault::{Action, Fault, Who};
use crate::physics::weather::Weather;
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

    /// What happens of it to so many nodes and the servers after them until then, in order of time.
    pub(super) fn plan(self, seed: u64, nodes: u16, servers: u16, until: u64) -> Vec<Fault> {
        let mut plan = Vec::new();
        if self == Self::Calm {
            return plan;
        }
        for member in 0..nodes + servers {
            let mut draw = Random::new(seed, NodeId(u64::from(member)), 1);
            if member < nodes {
                spikes(&mut plan, &mut draw, member, nodes..nodes + servers, until);
            }
            if self == Self::Stalls {
                freezes(&mut plan, &mut draw, member, member < nodes, until);
            }
        }
        plan.sort_by_key(|fault| fault.at);
        plan
    }
}

/// The instants, one in `chance` of the spans of time on average, at which something begins.
fn instants(draw: &mut Random, span: u64, chance: u64, until: u64) -> Vec<u64> {
    (0..until / span)
        .filter_map(|place| {
            let (comes, within) = (draw.below(chance) == 0, draw.below(span));
            comes.then_some(place * span + within)
        })
        .collect()
}

fn spikes(
    plan: &mut Vec<Fault>,
    draw: &mut Random,
    node: u16,
    servers: std::ops::Range<u16>,
    until: u64,
) {
    let between = |draw: &mut Random, (least, most): (u64, u64)| least + draw.below(most - least);
    let mut free = 0;
    for at in instants(draw, SECOND, SPIKE, until) {
        let (later, lasts) = (between(draw, LATER), between(draw, LASTS));
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

fn freezes(plan: &mut Vec<Fault>, draw: &mut Random, member: u16, pauses: bool, until: u64) {
    let mut all = Vec::new();
    if pauses {
        for at in instants(draw, SECOND, PAUSE.0, until) {
            all.push((at, pareto_of_two(draw, PAUSE.1)));
        }
    }
    for at in instants(draw, MINUTE, STALL.0, until) {
        all.push((at, pareto_of_one(draw, STALL.1)));
    }
    all.sort_unstable();
    let mut free = 0;
    for (at, lasts) in all {
        if at < free {
            continue;
        }
        free = at + lasts.min(LONGEST);
        let who = Who::Node(member);
        plan.push(Fault {
            at,
            action: Action::Pause(who),
        });
        plan.push(Fault {
            at: free,
            action: Action::Resume(who),
        });
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
