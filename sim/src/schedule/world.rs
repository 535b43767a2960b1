//! What kind of world a seed gets besides its storm: connections or datagrams that are replayed, disks that rename
//! slowly, links that flap, processes and links that are slow.
//!
//! All of it keeps what the schemes rest on. It is drawn from a source of its own: what else a seed does, it does in the
//! plain world too.

use super::{Draw, HEALED, STORM};
use crate::fault::{Action, Fault, Flap, Who};
use crate::scenario::Scenario;
use tenure::random::Random;

/// Each seed knows some of it.
pub(super) fn vary(scenario: &mut Scenario) {
    let mut draw = Draw(Random::from_seed(scenario.seed ^ 0xf1f0_f1f0));
    let draw = &mut draw;
    if draw.one_in(3) {
        connections(scenario, draw);
    } else if draw.one_in(2) {
        replays(scenario, draw);
    }
    if draw.one_in(2) {
        slow_renames(scenario, draw);
    }
    let nodes = scenario.nodes as u64;
    if draw.one_in(3) {
        for _ in 0..draw.between(1, 3) {
            let rhythm = Flap {
                down: draw.between(5, 250) * 1_000,
                up: draw.between(5, 250) * 1_000,
            };
            let (one, other) = draw.two(nodes);
            insert(scenario, draw, Action::Flap(one, other, rhythm));
        }
    }
    if draw.one_in(3) {
        for _ in 0..draw.between(1, 4) {
            let takes = draw.between(1, 25) * 1_000;
            let action = Action::Slow(draw.victim(nodes), takes);
            insert(scenario, draw, action);
        }
        let healed = (0..nodes).map(|node| Fault {
            at: HEALED,
            action: Action::Slow(Who::Node(node as u16), 0),
        });
        scenario.faults.extend(healed);
    }
    if draw.one_in(3) {
        for _ in 0..draw.between(1, 4) {
            let (from, to) = draw.two(nodes);
            let takes = draw.between(5, 150) * 1_000;
            insert(scenario, draw, Action::Delay(from, to, takes));
            let action = Action::Delay(from, to, 0);
            scenario.faults.push(Fault { at: HEALED, action });
        }
    }
}

/// Nodes talk over connections, some of which break.
fn connections(scenario: &mut Scenario, draw: &mut Draw) {
    scenario.weather.fifo = true;
    for fault in &mut scenario.faults {
        if let Action::Network(weather) = &mut fault.action {
            (weather.fifo, weather.duplicate) = (true, 0);
        }
    }
    for _ in 0..draw.between(0, 8) {
        let (one, other) = draw.two(scenario.nodes as u64);
        insert(scenario, draw, Action::Disconnect(one, other));
    }
}

fn replays(scenario: &mut Scenario, draw: &mut Draw) {
    let replay = draw.between(100, 20_000) as u32;
    scenario.weather.replay = replay;
    for fault in &mut scenario.faults {
        if let Action::Network(weather) = &mut fault.action {
            weather.replay = replay;
        }
    }
}

/// Disks take so long to rename that crashes come between.
fn slow_renames(scenario: &mut Scenario, draw: &mut Draw) {
    let rename = draw.between(1, 40) * 1_000;
    scenario.disk.rename = rename;
    for fault in &mut scenario.faults {
        if let Action::Disk(_, takes) = &mut fault.action {
            takes.rename = rename;
        }
    }
}

/// At some time of the storm.
fn insert(scenario: &mut Scenario, draw: &mut Draw, action: Action) {
    let at = draw.between(STORM, HEALED - 1);
    let place = scenario.faults.partition_point(|other| other.at <= at);
    scenario.faults.insert(place, Fault { at, action });
}

#[cfg(test)]
mod tests {
    use super::super::random;
    use super::*;
    use crate::physics::trace::{Event, Kind};

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
            has(|action| matches!(action, Action::Delay(_, _, 1..))),
        ] {
            assert!((15..70).contains(&count), "{count}");
        }
    }

    #[test]
    fn what_is_slow_or_flaps_is_healed_with_the_rest() {
        for seed in 0..60 {
            let scenario = random(seed).unwrap();
            let mut world = crate::world::World::new(&scenario);
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
