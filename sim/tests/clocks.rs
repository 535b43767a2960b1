//! Clocks that run fast or slow, or jump: leases hold within the bound, and the judge sees when they do not beyond it.

use tenure::Election;
use tenure_sim::check::{Check, Outcome};
use tenure_sim::fault::{Action, Who};
use tenure_sim::physics::clock::TRUE_PACE;
use tenure_sim::physics::trace::Kind;
use tenure_sim::{Scenario, World};

/// The leader's clock is slow, everybody else's fast, and then nobody hears the leader any more.
fn slow_leader(seed: u64, at: &str, slow: &str, fast: &str) -> Scenario {
    let json = format!(
        r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "6s", "clocks": ["{fast}", "{fast}", "{fast}"],
             "faults": [{{"at": "{at}", "clock": {{"node": "leader", "rate": "{slow}"}}}},
                        {{"at": "2s", "partition": [["leader"], ["rest"]]}}, {{"at": "3s", "heal": "all"}}]}}"#
    );
    Scenario::parse(&json).unwrap().with_seed(seed)
}

fn outcomes(at: &str, slow: &str, fast: &str) -> Vec<Outcome> {
    (0..100)
        .map(|seed| {
            let mut world = World::new(&slow_leader(seed, at, slow, fast));
            world.run();
            world.judges().verdict(Check::BelievedLeaders).outcome
        })
        .collect()
}

fn world() -> World {
    let json = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "seed": "4", "duration": "20s"}"#;
    let mut world = World::new(&Scenario::parse(json).unwrap());
    world.trace_mut().recording = true;
    world.run_until(2_000_000);
    world
}

/// Nothing has to say how far clocks are apart at the start: they are, by more than any run lasts.
#[test]
fn every_clock_has_an_offset_of_its_own() {
    let world = world();
    let mut reads: Vec<u64> = (0..3)
        .map(|node| world.node(node).unwrap().clock().reads(0).as_micros())
        .collect();
    reads.sort_unstable();
    let hour = 3_600_000_000;
    assert!(
        reads.windows(2).all(|pair| pair[1] - pair[0] > hour),
        "{reads:?}"
    );
}

#[test]
fn leases_hold_at_the_very_bound() {
    let outcomes = outcomes("1s", "-1%", "+1%");
    assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Holds));
}

#[test]
fn far_beyond_the_bound_two_believe_at_once_and_that_is_seen() {
    let broken = |outcomes: Vec<Outcome>| {
        outcomes
            .iter()
            .filter(|outcome| **outcome == Outcome::Broken)
            .count()
    };
    assert!(broken(outcomes("1s", "-50%", "0%")) > 50);
    // A clock that stands still never ends a lease.
    assert_eq!(broken(outcomes("1990ms", "-100%", "0%")), 100);
}

#[test]
fn a_jump_forward_brings_deadlines_and_the_end_of_a_lease_at_once() {
    let mut world = world();
    let (leader, _) = world.leader().unwrap();
    let follower = (leader + 1) % 3;
    for node in [leader, follower] {
        let from = world.trace().fresh.len();
        world
            .act(Action::Clock(Who::Node(node as u16), None, 2_000_000))
            .unwrap();
        let timeouts = world.trace().fresh[from..]
            .iter()
            .filter(|event| event.kind == Kind::Timeout && event.actor as usize == node);
        assert_eq!(timeouts.count(), 1, "{node}");
    }
    assert_eq!(world.leader(), None, "its lease is over by its own clock");
}

#[test]
fn a_jump_back_is_no_time_for_the_machine_and_its_lease_ends_late() {
    let mut world = world();
    let (leader, _) = world.leader().unwrap();
    let until = |world: &World| world.node(leader).unwrap().leads_at(world.now()).unwrap().1;
    let before = until(&world);
    world
        .act(Action::Clock(Who::Leader, None, -60_000))
        .unwrap();
    assert_eq!(until(&world), before + 60_000);
    let deadline = |world: &World| {
        let node = world.node(leader).unwrap();
        node.clock()
            .when(node.machine().unwrap().deadline().unwrap())
    };
    let sent = |world: &World| {
        let by_leader = world.trace().fresh.iter().filter(|event| {
            event.kind == Kind::Send && event.actor as usize == leader && event.other < 3
        });
        by_leader.count()
    };
    let (sent_before, next) = (sent(&world), deadline(&world));
    assert!(next > world.now() + 60_000);
    world.run_until(next - 1);
    assert_eq!(sent(&world), sent_before, "no heartbeat before its time");
}

#[test]
fn a_clock_that_stays_as_it_is_has_no_effect() {
    let mut world = world();
    for (pace, jump) in [(None, 0), (Some(TRUE_PACE), 0)] {
        world.act(Action::Clock(Who::Node(0), pace, jump)).unwrap();
    }
    let kind = Action::Clock(Who::Node(0), None, 0).kind();
    let counts = world.faults();
    assert_eq!((counts.fired[kind], counts.effective[kind]), (2, 0));
}
