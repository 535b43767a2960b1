//! Fault schedules: one seed, one scenario. First a calm, then a storm, then everything heals and the world is judged for
//! liveness.
//!
//! A schedule is made while its world runs. It stops at instants that matter (the end of a lease or a promise, the arrival
//! of a vote, a write that is done), looks at the world, and chooses among what can be done now; each thing done is
//! recorded as an action, by role where the role was the reason. So the scenario is the record of a run, and replays to
//! the same trace.
//!
//! Floors: `draw`; `sight` (what there is to see); `moment` (when to look) and `moves` (what can be done, and what with:
//! `hand`), by `temper`; `choose` brings them together.

#[cfg(feature = "peers")]
mod among;
#[cfg(feature = "peers")]
mod brokers;
mod by_store;
mod choose;
mod draw;
mod hand;
mod members;
mod moment;
mod moves;
#[cfg(feature = "peers")]
mod sentinels;
mod sight;
mod temper;

#[cfg(feature = "peers")]
pub use among::Among;
pub use by_store::ByStore;
pub use moves::Control;
pub use temper::Temper;

use crate::fault::{Action, Who};
use crate::jobs::Jobs;
use crate::physics::clock::TRUE_PACE;
use crate::physics::disk::Takes;
use crate::physics::weather::Weather;
#[cfg(feature = "peers")]
use crate::scenario::Elects;
use crate::scenario::{Clients, Scenario};
use crate::scheme::{RoleCode, Unfit};
use crate::world::World;
use choose::Chooser;
use draw::Draw;
use members::Members;
use tenure::raft::Rule;

/// When the storm begins.
const STORM: u64 = 1_000_000;
/// When everything heals.
const HEALED: u64 = 7_000_000;
/// When the run ends: longer after the healing than the bound for a leader.
const END: u64 = HEALED + LIVES;
/// How long it is judged for liveness.
const LIVES: u64 = 3_500_000;

/// In what schedules are made, besides their seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// By what store they elect; among themselves without.
    pub by_store: Option<ByStore>,
    /// Among which peers, if neither by a store nor by Raft.
    #[cfg(feature = "peers")]
    pub among: Option<Among>,
    /// Rules of Raft that are switched off.
    pub off: Vec<Rule>,
    /// What is done that nothing allows for.
    pub control: Option<Control>,
}

/// A schedule that was made, and the run that it was made in.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The record. It replays to the same trace.
    pub scenario: Scenario,
    /// The world at the end of the run.
    pub world: World,
    /// When everything was healed.
    pub healed: u64,
    /// What the seed was out for.
    pub temper: Temper,
}

/// The schedule of a seed, with every rule on.
///
/// # Errors
/// Never for the settings that are drawn; the core has the last word on them.
pub fn random(seed: u64) -> Result<Scenario, Unfit> {
    make(seed, &Setting::default(), |_| ()).map(|schedule| schedule.scenario)
}

/// Makes the schedule of a seed. `prepare` is handed the world before anything happens.
///
/// # Errors
/// As for a scenario file with these rules off.
pub fn make(
    seed: u64,
    setting: &Setting,
    prepare: impl FnOnce(&mut World),
) -> Result<Schedule, Unfit> {
    let mut draw = Draw::new(seed, 0x5eed_5eed);
    let mut scenario = setting.surroundings(&mut draw, seed);
    let members = Members::drawn(seed, scenario.nodes).filter(|_| scenario.log);
    scenario.outside = members.as_ref().map_or(0, |(outside, _)| *outside);
    scenario.off.clone_from(&setting.off);
    scenario.setup().check()?;
    let temper = Temper::drawn(&mut draw);
    let mut world = World::new(&scenario);
    prepare(&mut world);
    let rate_bound = if scenario.clocks.is_empty() {
        0
    } else {
        scenario.setup().rate_bound()
    };
    let chooser = Chooser {
        draw,
        members: members.map(|(_, members)| members),
        moves: setting.moves(),
        temper,
        control: setting.control,
        base: scenario.weather,
        disk: scenario.disk,
        rate_bound,
        healed: scenario.duration - setting.lives(&scenario),
        scale: setting.scale(),
    };
    let healed = chooser.healed;
    chooser.act(&mut world);
    world.run_until(healed);
    #[cfg(feature = "peers")]
    if let Some(brokers) = scenario.brokers() {
        brokers::lose_disks(&mut world, seed, brokers.count);
    }
    heal_all(&mut world, &scenario, setting.control);
    #[cfg(feature = "peers")]
    if scenario.has_sentinels() {
        scenario.duration = world.run_till_converged(scenario.leader_within);
    }
    world.run();
    scenario.faults = world.plan().to_vec();
    Ok(Schedule {
        scenario,
        world,
        healed,
        temper,
    })
}

impl Setting {
    /// Among these peers, with every rule on.
    #[cfg(feature = "peers")]
    #[must_use]
    pub fn among(peers: Among) -> Self {
        Self {
            among: Some(peers),
            ..Self::default()
        }
    }

    /// The world of a seed.
    fn surroundings(&self, draw: &mut Draw, seed: u64) -> Scenario {
        #[cfg(feature = "peers")]
        if let Some(among) = &self.among {
            return among.surroundings(draw, seed);
        }
        match &self.by_store {
            Some(store) => by_store::surroundings(draw, seed, store),
            None => surroundings(draw, seed),
        }
    }

    /// What can be done to it.
    fn moves(&self) -> Vec<&'static moves::Move> {
        #[cfg(feature = "peers")]
        match &self.among {
            Some(Among::Zab(_) | Among::Kraft(_)) => {
                return moves::MOVES.iter().chain(&moves::DISK_MOVES).collect();
            }
            Some(Among::Sentinel(_)) => return moves::SENTINEL_MOVES.iter().collect(),
            Some(Among::Kafka(_)) => return moves::BROKER_MOVES.iter().collect(),
            None => {}
        }
        match &self.by_store {
            Some(store) => {
                let losses = if store.loses { &moves::LOSSES[..] } else { &[] };
                let cluster = if store.is_cluster() {
                    &moves::CLUSTER_MOVES[..]
                } else {
                    &[]
                };
                let moves = moves::STORE_MOVES.iter();
                moves.chain(cluster).chain(losses).collect()
            }
            None => moves::MOVES.iter().collect(),
        }
    }

    /// How long it is judged for liveness.
    fn lives(&self, scenario: &Scenario) -> u64 {
        #[cfg(feature = "peers")]
        match &scenario.elects {
            Elects::Kraft(params) if params.brokers.is_some() => return brokers::lives(scenario),
            Elects::Zab(_) | Elects::Kraft(_) => return among::LIVES,
            Elects::Sentinel(params) => return sentinels::lives(params),
            _ => {}
        }
        let _ = scenario;
        LIVES + self.by_store.as_ref().map_or(0, ByStore::beyond)
    }

    /// How many times as long things take as in an election of Raft.
    const fn scale(&self) -> u64 {
        #[cfg(feature = "peers")]
        if let Some(among) = &self.among {
            return among.scale();
        }
        if self.by_store.is_some() {
            by_store::SCALE
        } else {
            1
        }
    }
}

/// The group of a seed, its clients, network, disks and clocks.
fn surroundings(draw: &mut Draw, seed: u64) -> Scenario {
    let usual = Scenario::usual();
    let nodes = [3, 3, 4, 5][draw.place(4)];
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
        ..usual.clients
    };
    let (latency_min, latency_max) = match draw.between(0, 3) {
        // All messages take as long: nothing breaks a tie.
        0 => (5_000, 5_000),
        1 => (1_000, 5_000),
        _ => (usual.weather.latency_min, usual.weather.latency_max),
    };
    let clocks = if draw.one_in(3) {
        Vec::new()
    } else {
        (0..nodes)
            .map(|_| moves::within(draw, usual.timing.rate_bound))
            .collect()
    };
    let mut weather = Weather {
        latency_min,
        latency_max,
        ..usual.weather
    };
    match draw.between(0, 3) {
        0 => weather.fifo = true,
        1 => weather.replay = draw.between(100, 20_000) as u32,
        _ => {}
    }
    let rename = if draw.one_in(3) {
        draw.between(1, 40) * 1_000
    } else {
        0
    };
    Scenario {
        seed,
        nodes,
        clients: Clients {
            watches: has_watchers(seed),
            ..clients
        },
        weather,
        disk: Takes {
            rename,
            ..usual.disk
        },
        clocks,
        jobs: jobs(seed),
        log: has_log(seed),
        duration: END,
        ..usual
    }
}

/// Every other seed has jobs, short and long, often and seldom. They draw from a source of their own.
fn jobs(seed: u64) -> Option<Jobs> {
    let mut draw = Draw::new(seed, 0x10b5_10b5);
    let longest = if draw.one_in(3) { 1_500 } else { 200 };
    draw.one_in(2).then(|| Jobs {
        every: draw.between(50, 500) * 1_000,
        takes: draw.between(0, longest) * 1_000,
    })
}

/// Every other seed has a log, whether it has jobs or not. It draws from a source of its own too.
fn has_log(seed: u64) -> bool {
    Draw::new(seed, 0x0010_9109).one_in(2)
}

/// Every other seed that has a log has clients that watch. It draws from a source of its own too.
fn has_watchers(seed: u64) -> bool {
    has_log(seed) && Draw::new(seed, 0x3a7c_4e55).one_in(2)
}

/// Everything that a schedule may have done to the world is undone.
fn heal_all(world: &mut World, scenario: &Scenario, control: Option<Control>) {
    let mut heal = |action| {
        // A plan is full only far beyond the most actions of a schedule.
        let _ = world.act(action);
    };
    heal(Action::HealAll);
    heal(Action::Network(scenario.weather));
    for node in (0..scenario.nodes).map(|node| Who::Node(node as u16)) {
        if scenario.lease().is_none() {
            heal(Action::Disk(node, scenario.disk));
        }
        heal(Action::Slow(node, 0));
        if control == Some(Control::ClockBeyondBound) {
            heal(Action::Clock(node, Some(TRUE_PACE), 0));
        }
        heal(Action::Resume(node));
        heal(Action::Restart(node));
    }
    // Who acts no more since a write failed begins anew.
    let halted = |world: &World, node: usize| {
        (world.node(node)).is_some_and(|node| node.look().role == RoleCode::Halted)
    };
    for node in (0..scenario.nodes)
        .filter(|node| halted(world, *node))
        .collect::<Vec<_>>()
    {
        let name = Who::Node(node as u16);
        let _ = world.act(Action::Crash(name));
        let _ = world.act(Action::Restart(name));
    }
    let mut heal = |action| {
        let _ = world.act(action);
    };
    for server in (0..scenario.servers()).map(|server| Who::Server(server as u16)) {
        heal(Action::Resume(server));
        heal(Action::Restart(server));
    }
    // Who is about to go is there again when it went.
    #[cfg(feature = "peers")]
    for server in world.leaving() {
        let _ = world.act(Action::Crash(server));
        let _ = world.act(Action::Restart(server));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Fault;
    use crate::physics::trace::{Event, Kind};

    #[test]
    fn a_schedule_is_in_order_reads_back_and_replays_to_the_run_it_was_made_in() {
        for seed in 0..200 {
            let Schedule {
                scenario, world, ..
            } = make(seed, &Setting::default(), |_| ()).unwrap();
            let in_order = |pair: &[Fault]| pair[0].at <= pair[1].at;
            assert!(scenario.faults.windows(2).all(in_order));
            let read = Scenario::parse(&scenario.to_json()).unwrap();
            assert!(
                (
                    &read.faults,
                    read.clients,
                    &read.clocks,
                    read.weather,
                    read.disk
                ) == (
                    &scenario.faults,
                    scenario.clients,
                    &scenario.clocks,
                    scenario.weather,
                    scenario.disk
                ),
                "{seed}"
            );
            let mut again = World::new(&read);
            again.run();
            assert_eq!(again.trace().hash(), world.trace().hash(), "{seed}");
        }
    }

    #[test]
    fn schedules_differ() {
        let faults = |seed| random(seed).unwrap().faults;
        assert_ne!(faults(1), faults(2));
        assert_eq!(faults(1), faults(1));
    }

    #[test]
    fn what_nothing_allows_for_is_done_only_when_it_is_asked_for() {
        let kinds = |control| {
            let setting = Setting {
                control,
                ..Setting::default()
            };
            let mut kinds: Vec<usize> = (0..60)
                .flat_map(|seed| make(seed, &setting, |_| ()).unwrap().scenario.faults)
                .map(|fault| fault.action.kind())
                .filter(|kind| Action::is_damage(*kind))
                .collect();
            kinds.dedup();
            kinds
        };
        assert!(kinds(None).is_empty());
        assert_eq!(kinds(Some(Control::WipedDisk)), [13]);
        assert_eq!(kinds(Some(Control::LyingDisk)), [14]);
    }

    #[test]
    fn some_seeds_know_it_and_some_do_not() {
        let all: Vec<Scenario> = (0..100).map(|seed| random(seed).unwrap()).collect();
        let has = |wanted: fn(&Action) -> bool| {
            let knows = |scenario: &&Scenario| {
                let mut actions = scenario.faults.iter().map(|fault| &fault.action);
                actions.any(wanted)
            };
            all.iter().filter(knows).count()
        };
        let is = |wanted: fn(&Scenario) -> bool| {
            let knows = |scenario: &&Scenario| wanted(scenario);
            all.iter().filter(knows).count()
        };
        for count in [
            is(|scenario| scenario.weather.fifo),
            is(|scenario| scenario.weather.replay > 0),
            is(|scenario| scenario.disk.rename > 0),
            has(|action| matches!(action, Action::Flap(..))),
            has(|action| matches!(action, Action::Disconnect(..))),
            has(|action| matches!(action, Action::Slow(_, 1..))),
        ] {
            assert!((10..70).contains(&count), "{count}");
        }
    }

    #[test]
    fn what_is_slow_or_flaps_is_healed_with_the_rest() {
        for seed in 0..60 {
            let scenario = random(seed).unwrap();
            let mut world = World::new(&scenario);
            world.trace_mut().recording = true;
            world.run();
            let cut = |event: &Event| event.kind == Kind::Cut && event.at > HEALED;
            assert!(
                !world.trace().fresh.iter().any(cut),
                "{seed}: a link flaps on"
            );
            let slow = |node| world.node(node).is_some_and(|node| node.takes() > 0);
            assert!(!(0..scenario.nodes).any(slow), "{seed}");
        }
    }
}
