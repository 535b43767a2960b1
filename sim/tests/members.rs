//! Who takes part is changed while a world runs.

use tenure_sim::check::{Check, Outcome};
use tenure_sim::physics::trace::{Ended, Kind};
use tenure_sim::{Scenario, World};

fn scenario(nodes: usize, outside: usize, faults: &str) -> Scenario {
    let json = format!(
        r#"{{"tenure": 1, "scheme": "raft", "nodes": {nodes}, "raft": {{"log": true, "outside": {outside}}},
            "duration": "12s", "faults": [{faults}]}}"#
    );
    Scenario::parse(&json).unwrap()
}

fn run(scenario: &Scenario) -> World {
    let mut world = World::new(scenario);
    world.record_histories();
    world.trace_mut().recording = true;
    world.run();
    for verdict in world.verdicts() {
        assert_ne!(verdict.outcome, Outcome::Broken, "{verdict:?}");
    }
    world
}

/// Who votes and who learns, as a node knows it.
fn members(world: &World, node: usize) -> (Vec<u64>, Vec<u64>) {
    let machine = world.node(node).unwrap().machine().unwrap().raft().unwrap();
    let known = machine.membership();
    (
        known.voters().map(|id| id.0).collect(),
        known.learners().map(|id| id.0).collect(),
    )
}

fn applied(world: &World, node: usize) -> u64 {
    let replica = world.node(node).unwrap().replica();
    replica.map_or(0, |replica| replica.applied().index)
}

#[test]
fn who_is_outside_does_nothing_until_it_is_added_and_then_has_the_log() {
    let alone = run(&scenario(4, 1, ""));
    assert_eq!(members(&alone, 0), (vec![0, 1, 2], vec![]));
    assert_eq!(applied(&alone, 3), 0);
    let added = run(&scenario(
        4,
        1,
        r#"{"at": "2s", "change": {"voters": ["n1", "n2", "n3"], "learners": ["n4"]}},
           {"at": "4s", "change": {"voters": ["n1", "n2", "n3", "n4"]}}"#,
    ));
    for node in 0..4 {
        assert_eq!(members(&added, node), (vec![0, 1, 2, 3], vec![]));
        assert!(applied(&added, node) > 300);
    }
    let verdict = added.verdict(Check::IntersectingQuorums);
    assert!(verdict.tally.exercised > 100, "{verdict:?}");
}

#[test]
fn a_joint_change_replaces_most_of_a_group_and_its_leader() {
    let world = run(&scenario(
        5,
        2,
        r#"{"at": "2s", "change": {"voters": ["n1", "n2", "n3"], "learners": ["n4", "n5"]}},
           {"at": "3s", "transfer": "n1"},
           {"at": "4s", "change": {"voters": ["n3", "n4", "n5"], "learners": ["n1"]}}"#,
    ));
    assert_eq!(world.faults().effective.iter().sum::<u32>(), 3);
    assert_eq!(members(&world, 4), (vec![2, 3, 4], vec![0]));
    let (leader, _) = world.leader().unwrap();
    assert!(leader >= 2, "{leader}");
    // The former leader learns on; who is out gets nothing any more.
    assert!(applied(&world, 0).abs_diff(applied(&world, leader)) < 50);
    assert!(applied(&world, 1) + 100 < applied(&world, leader));
}

#[test]
fn leadership_is_handed_over_to_who_is_named() {
    let world = run(&scenario(
        3,
        0,
        r#"{"at": "2s", "transfer": "n2"}, {"at": "3s", "transfer": "n3"}"#,
    ));
    assert_eq!(world.leader().map(|(node, _)| node), Some(2));
    let events = world.trace().fresh.iter();
    let ends = events.filter(|event| event.kind == Kind::Deposed);
    let transferred = Ended::Transferred as i64;
    assert!(ends.map(|event| event.a).eq([transferred, transferred]));
}

#[test]
fn what_cannot_be_changed_has_no_effect() {
    let world = run(&scenario(
        4,
        1,
        r#"{"at": "2s", "change": {"voters": ["n1", "n2", "n3", "n4"]}},
           {"at": "3s", "change": {"voters": ["n1", "n2", "n3"]}},
           {"at": "4s", "transfer": "n4"}"#,
    ));
    let vain = world
        .trace()
        .fresh
        .iter()
        .filter(|event| event.kind == Kind::NoEffect);
    assert_eq!(vain.count(), 3, "not caught up; so already; no vote");
}

#[test]
fn somebody_votes_at_the_start_and_there_is_a_log() {
    for raft in [r#"{"log": true, "outside": 3}"#, r#"{"outside": 1}"#] {
        let json = format!(r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "raft": {raft}}}"#);
        assert_eq!(Scenario::parse(&json).unwrap_err().code, "nobody-votes");
    }
    let asked = r#"{"at": "2s", "change": {"voters": ["n1", "n9"]}}"#;
    let json = format!(
        r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "raft": {{"log": true}}, "faults": [{asked}]}}"#
    );
    let refusal = Scenario::parse(&json).unwrap_err();
    assert_eq!(refusal.code, "unknown-node");
    assert!(
        refusal.place.contains("faults[0].change.voters[1]"),
        "{refusal}"
    );
}
