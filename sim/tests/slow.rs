//! A process that is slow handles what comes one after another, each at the time of its turn.

use tenure_sim::check::{Check, Outcome};
use tenure_sim::fault::{Action, Who};
use tenure_sim::physics::trace::{Event, Kind};
use tenure_sim::{Scenario, World};

fn world(faults: &str) -> World {
    let json = format!(
        r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "seed": "4", "duration": "10s", "faults": [{faults}]}}"#
    );
    let mut world = World::new(&Scenario::parse(&json).unwrap());
    world.trace_mut().recording = true;
    world
}

fn at(world: &World, node: usize, kind: Kind, from: u64, until: u64) -> Vec<Event> {
    let events = world.trace().fresh.iter();
    let own = events.filter(|event| event.kind == kind && event.actor as usize == node);
    own.filter(|event| event.at >= from && event.at < until)
        .copied()
        .collect()
}

const KIND: usize = Action::Slow(Who::Leader, 0).kind();

#[test]
fn what_comes_waits_its_turn_and_nothing_is_lost_or_overtaken() {
    let mut world = world(
        r#"{"at": "2s", "slow": {"node": "follower", "by": "15ms"}}, {"at": "4s", "slow": {"node": "follower", "by": "0ms"}}"#,
    );
    world.run_until(1_999_999);
    let slow = (0..3)
        .find(|node| Some(*node) != world.leader().map(|(node, _)| node))
        .unwrap();
    world.run();
    let delivered = at(&world, slow, Kind::Deliver, 2_000_000, 4_000_000);
    assert!(delivered.len() > 30);
    let turns: Vec<u64> = delivered.iter().map(|event| event.at).collect();
    assert!(
        turns.windows(2).all(|pair| pair[1] - pair[0] >= 15_000),
        "{turns:?}"
    );
    assert!(turns[0] >= 2_015_000);
    // What was sent to it before the end was all handled.
    let sent = |event: &&Event| event.kind == Kind::Send && event.other as usize == slow;
    let sent = world.trace().fresh.iter().filter(sent);
    let sent = sent.filter(|event| event.at < 9_000_000).count();
    let handled = at(&world, slow, Kind::Deliver, 0, 10_000_000).len();
    assert!(handled >= sent, "{handled} of {sent}");
    let counts = world.faults();
    assert_eq!((counts.fired[KIND], counts.effective[KIND]), (2, 2));
    assert!(counts.mattered[KIND] >= 1);
    assert_eq!(world.node(slow).unwrap().late(), 0);
}

#[test]
fn a_leader_that_is_too_slow_for_its_heartbeats_is_replaced_and_believes_no_longer_than_it_may() {
    for seed in 0..30 {
        let json = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "10s", "faults": [
            {"at": "2s", "slow": {"node": "leader", "by": "120ms"}}, {"at": "6s", "slow": {"node": "n1", "by": "0ms"}},
            {"at": "6s", "slow": {"node": "n2", "by": "0ms"}}, {"at": "6s", "slow": {"node": "n3", "by": "0ms"}}]}"#;
        let mut world = World::new(&Scenario::parse(json).unwrap().with_seed(seed));
        world.run_until(1_999_999);
        let (_, token) = world.leader().unwrap();
        world.run();
        let (_, after) = world.leader().expect("a leader once it is fast again");
        assert!(after > token, "{seed}");
        for check in [
            Check::OneLeaderPerTerm,
            Check::OneVotePerTerm,
            Check::BelievedLeaders,
            Check::StaleWriteFenced,
            Check::LeaderAgain,
        ] {
            let outcome = world.judges().verdict(check).outcome;
            assert!(!matches!(outcome, Outcome::Broken), "{check:?} {seed}");
        }
        let began: Vec<u64> = world
            .judges()
            .windows()
            .iter()
            .map(|window| window.0)
            .collect();
        assert_eq!(began, [0, 6_000_000], "it is not whole while one is slow");
    }
}

#[test]
fn a_deadline_waits_its_turn_and_is_looked_at_with_the_time_of_its_turn() {
    let mut world = world(r#"{"at": "2s", "slow": {"node": "leader", "by": "4ms"}}"#);
    world.run_until(1_999_999);
    let (leader, _) = world.leader().unwrap();
    let rounds = |from, until, world: &World| at(world, leader, Kind::Timeout, from, until).len();
    let before = rounds(1_000_000, 2_000_000, &world);
    world.run_until(4_000_000);
    let after = rounds(3_000_000, 4_000_000, &world);
    assert!(
        after > 10 && after < before,
        "{before} heartbeats became {after}"
    );
}

#[test]
fn a_slow_process_that_was_frozen_goes_on_slowly() {
    let mut world = world(
        r#"{"at": "2s", "slow": {"node": "n1", "by": "10ms"}}, {"at": "2s", "pause": "n1"}, {"at": "3s", "resume": "n1"},
           {"at": "3500ms", "crash": "n1"}, {"at": "3600ms", "restart": "n1"}"#,
    );
    world.run_until(2_999_999);
    let waiting = world.node(0).unwrap().late();
    assert!(waiting > 5 && at(&world, 0, Kind::Deliver, 2_000_001, 3_000_000).is_empty());
    world.run_until(3_100_000);
    let handled = at(&world, 0, Kind::Deliver, 3_000_000, 3_100_000).len();
    assert!((5..=10).contains(&handled), "{handled}");
    world.run_until(3_500_000);
    assert_eq!(
        world.node(0).unwrap().late(),
        0,
        "a crash takes what waited"
    );
    world.run();
    let slow = at(&world, 0, Kind::Deliver, 3_600_000, 10_000_000);
    assert!(
        slow.windows(2)
            .all(|pair| pair[1].at - pair[0].at >= 10_000)
    );
    assert!(!slow.is_empty(), "it is slow in its next life, too");
}

#[test]
fn the_pace_it_has_already_is_no_effect() {
    let mut world = world(
        r#"{"at": "2s", "slow": {"node": "n1", "by": "0ms"}}, {"at": "3s", "slow": {"node": "n1", "by": "5ms"}},
           {"at": "3s", "slow": {"node": "n1", "by": "5ms"}}, {"at": "10s", "slow": {"node": "n2", "by": "5ms"}}"#,
    );
    world.run();
    let counts = world.faults();
    let fared = [
        counts.armed,
        counts.fired,
        counts.effective,
        counts.mattered,
    ];
    assert_eq!(fared.map(|count| count[KIND]), [4, 4, 2, 1]);
}
