//! Random fault schedules: one seed, one scenario. First a calm, then a storm, then everything heals and the world is
//! judged for liveness.
//!
//! Each seed switches whole kinds of faults off ("swarm testing"): a storm of everything at once hides what only a
//! storm of one thing shows. Every other storm is *aimed*: many small blows a second at what leases stand on. Links from
//! the leader are cut one way, nodes are restarted at once, and elections are called for at the worst moments.

use crate::fault::{Action, Fault, Who};
use crate::jobs::Jobs;
use crate::physics::clock::TRUE_PACE;
use crate::physics::network::Weather;
use crate::scenario::{Clients, Scenario};
use tenure::raft::ConfigError;
use tenure::random::Random;

/// When the storm begins.
const STORM: u64 = 1_000_000;
/// When everything heals.
pub const HEALED: u64 = 7_000_000;
/// When the run ends: longer after the healing than the bound for a leader.
const END: u64 = HEALED + 3_500_000;
/// The kinds of actions up to here are those a storm draws from.
const STORMY_KINDS: usize = 12;
/// Schedules use the first so many kinds of actions.
pub const KINDS: usize = 13;

/// The schedule of a seed.
///
/// # Errors
/// Never for the settings that are drawn; the core has the last word on them.
pub fn random(seed: u64) -> Result<Scenario, ConfigError> {
    let mut draw = Draw(Random::from_seed(seed ^ 0x5eed_5eed));
    let nodes = if draw.one_in(2) { 3 } else { 5 };
    let clients = Clients {
        think: if draw.one_in(2) {
            0
        } else {
            draw.between(1, 40) * 1_000
        },
        write_delay: if draw.one_in(2) {
            0
        } else {
            draw.between(1, 700) * 1_000
        },
        ..Scenario::usual().clients
    };
    let mut scenario = Scenario {
        seed,
        nodes,
        clients,
        duration: END,
        faults: if seed.is_multiple_of(2) {
            storm(&mut draw, nodes as u64)
        } else {
            aimed(&mut draw, nodes as u64)
        },
        ..Scenario::usual()
    };
    clocks(&mut scenario);
    scenario.jobs = jobs(seed);
    scenario.setup().check()?;
    Ok(scenario)
}

/// Lets the clocks of two seeds in three run fast and slow, as far as the bound goes, and change while the storm lasts.
/// They draw from a source of their own: what else a seed does, it does with true clocks too.
fn clocks(scenario: &mut Scenario) {
    let mut draw = Draw(Random::from_seed(scenario.seed ^ 0xc10c_c10c));
    if draw.one_in(3) {
        return;
    }
    let bound = scenario.timing.rate_bound;
    scenario.clocks = (0..scenario.nodes)
        .map(|_| pace(&mut draw, bound))
        .collect();
    for _ in 0..draw.between(0, 6) {
        let at = draw.between(STORM, HEALED);
        let node = draw.node(scenario.nodes as u64);
        let action = Action::Clock(node, Some(pace(&mut draw, bound)), 0);
        let place = scenario.faults.partition_point(|other| other.at <= at);
        scenario.faults.insert(place, Fault { at, action });
    }
}

/// Every other seed has jobs, short and long, often and seldom. They draw from a source of their own.
fn jobs(seed: u64) -> Option<Jobs> {
    let mut draw = Draw(Random::from_seed(seed ^ 0x10b5_10b5));
    let longest = if draw.one_in(3) { 1_500 } else { 200 };
    draw.one_in(2).then(|| Jobs {
        every: draw.between(50, 500) * 1_000,
        takes: draw.between(0, longest) * 1_000,
    })
}

/// As fast or slow as may be, or anything between.
fn pace(draw: &mut Draw, bound: u32) -> u32 {
    match draw.between(0, 3) {
        0 => TRUE_PACE - bound,
        1 => TRUE_PACE + bound,
        _ => TRUE_PACE - bound + draw.between(0, 2 * u64::from(bound)) as u32,
    }
}

struct Draw(Random);

impl Draw {
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.0.below(many) == 0
    }

    fn node(&mut self, nodes: u64) -> Who {
        Who::Node(self.0.below(nodes) as u16)
    }

    /// A node to strike: the leader more often than its share.
    fn victim(&mut self, nodes: u64) -> Who {
        match self.0.below(4) {
            0 => Who::Leader,
            1 => Who::Follower,
            _ => self.node(nodes),
        }
    }
}

fn storm(draw: &mut Draw, nodes: u64) -> Vec<Fault> {
    // Which kinds this seed knows: at least one in two of them.
    let on: Vec<bool> = (0..STORMY_KINDS).map(|_| !draw.one_in(3)).collect();
    // How dense it is: from five actions a second to one.
    let gap = draw.between(200, 1_000) * 1_000;
    let mut faults = Vec::new();
    let mut at = STORM + draw.between(0, gap);
    while at < HEALED {
        let action = action(draw, nodes);
        if on[action.kind()] {
            faults.push(Fault { at, action });
            // Now and then two at one instant.
            if draw.one_in(8) {
                continue;
            }
        }
        at += draw.between(1_000, gap);
    }
    heal_all(&mut faults, nodes);
    faults
}

/// A storm of small blows.
fn aimed(draw: &mut Draw, nodes: u64) -> Vec<Fault> {
    let gap = draw.between(10, 80) * 1_000;
    let weights: Vec<u64> = (0..9)
        .map(|_| {
            if draw.one_in(2) {
                0
            } else {
                draw.between(1, 3)
            }
        })
        .collect();
    let total = weights.iter().sum::<u64>().max(1);
    let mut faults = Vec::new();
    let mut at = STORM;
    while at < HEALED {
        at += draw.between(1, gap);
        let mut pick = draw.between(0, total - 1);
        let blow = weights.iter().position(|weight| {
            let found = pick < *weight;
            pick = pick.saturating_sub(*weight);
            found
        });
        let mut strike = |action| {
            faults.push(Fault {
                at: at.min(HEALED),
                action,
            })
        };
        match blow {
            Some(0) => strike(Action::Campaign(draw.node(nodes))),
            Some(1) => {
                let node = draw.node(nodes);
                strike(Action::Crash(node));
                strike(Action::Restart(node));
            }
            Some(2) => strike(Action::Cut(Who::Leader, draw.node(nodes))),
            Some(3) => strike(Action::Cut(draw.node(nodes), Who::Leader)),
            Some(4) => strike(Action::Partition(partition(draw, nodes))),
            Some(5) => {
                strike(Action::Resign(Who::Leader));
                strike(Action::Campaign(draw.node(nodes)));
            }
            Some(6) => {
                strike(Action::Pause(draw.node(nodes)));
                strike(Action::Resume(Who::Paused));
            }
            Some(7) => strike(Action::Network(weather(draw))),
            Some(8) => strike(Action::Disk(draw.node(nodes), draw.between(1, 120) * 1_000)),
            _ => strike(Action::HealAll),
        }
        if draw.one_in(6) {
            faults.push(Fault {
                at: at.min(HEALED),
                action: Action::HealAll,
            });
        }
    }
    heal_all(&mut faults, nodes);
    faults
}

fn heal_all(faults: &mut Vec<Fault>, nodes: u64) {
    let mut heal = |action| faults.push(Fault { at: HEALED, action });
    heal(Action::HealAll);
    let usual = Scenario::usual();
    heal(Action::Network(usual.weather));
    for node in (0..nodes).map(|node| Who::Node(node as u16)) {
        heal(Action::Disk(node, usual.disk_write));
        heal(Action::Resume(node));
        heal(Action::Restart(node));
    }
}

fn action(draw: &mut Draw, nodes: u64) -> Action {
    match draw.between(0, 17) {
        0 | 1 => Action::Crash(draw.victim(nodes)),
        2..=4 => Action::Restart(if draw.one_in(2) {
            Who::Crashed
        } else {
            draw.node(nodes)
        }),
        5 => Action::Pause(draw.victim(nodes)),
        6 | 7 => Action::Resume(if draw.one_in(2) {
            Who::Paused
        } else {
            draw.node(nodes)
        }),
        8 | 9 => {
            let from = draw.between(0, nodes - 1);
            let to = (from + draw.between(1, nodes - 1)) % nodes;
            Action::Cut(Who::Node(from as u16), Who::Node(to as u16))
        }
        10 => {
            let from = draw.between(0, nodes - 1);
            let to = (from + draw.between(1, nodes - 1)) % nodes;
            Action::Heal(Who::Node(from as u16), Who::Node(to as u16))
        }
        11 => Action::HealAll,
        12 | 13 => Action::Partition(partition(draw, nodes)),
        14 => Action::Resign(Who::Leader),
        15 => Action::Campaign(draw.victim(nodes)),
        16 => Action::Network(weather(draw)),
        _ => Action::Disk(draw.node(nodes), draw.between(1, 120) * 1_000),
    }
}

/// The leader alone, the leader with one follower, or at random.
fn partition(draw: &mut Draw, nodes: u64) -> Vec<(u16, Who)> {
    match draw.between(0, 3) {
        0 => vec![(0, Who::Leader), (1, Who::Rest)],
        1 => vec![(0, Who::Leader), (0, Who::Follower), (1, Who::Rest)],
        _ => {
            // Node 0 in group 0, and the groups in order: as it reads back from a file.
            let mut members: Vec<(u16, Who)> = vec![(0, Who::Node(0))];
            members
                .extend((1..nodes).map(|node| (draw.between(0, 1) as u16, Who::Node(node as u16))));
            members.sort_by_key(|(group, _)| *group);
            members
        }
    }
}

fn weather(draw: &mut Draw) -> Weather {
    if draw.one_in(3) {
        return Scenario::usual().weather;
    }
    let latency_min = draw.between(1, 10) * 1_000;
    Weather {
        latency_min,
        latency_max: latency_min + draw.between(0, 80) * 1_000,
        loss: draw.between(0, 300_000) as u32,
        duplicate: draw.between(0, 100_000) as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_in_order_and_read_back() {
        for seed in 0..200 {
            let scenario = random(seed).unwrap();
            assert!(
                scenario
                    .faults
                    .windows(2)
                    .all(|pair| pair[0].at <= pair[1].at)
            );
            let read = Scenario::parse(&scenario.to_json()).unwrap();
            assert!(
                (read.faults, read.clients, read.clocks, read.jobs)
                    == (
                        scenario.faults,
                        scenario.clients,
                        scenario.clocks,
                        scenario.jobs
                    ),
                "{seed}"
            );
        }
    }

    #[test]
    fn schedules_differ() {
        let faults = |seed| random(seed).unwrap().faults;
        assert_ne!(faults(1), faults(2));
        assert_eq!(faults(1), faults(1));
    }
}
