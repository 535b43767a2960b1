//! Disks that are wiped, lie or fail: what a node has to show for it, and whether it mattered.

use tenure_sim::check::{Check, Outcome};
use tenure_sim::fault::{Action, Damage, Who};
use tenure_sim::physics::disk::Takes;
use tenure_sim::physics::trace::{Event, Kind, Lost};
use tenure_sim::scheme::RoleCode;
use tenure_sim::{Scenario, World};

fn world(faults: &str) -> World {
    let json = format!(
        r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "seed": "4", "duration": "10s", "faults": [{faults}]}}"#
    );
    let mut world = World::new(&Scenario::parse(&json).unwrap());
    world.trace_mut().recording = true;
    world
}

fn lost(world: &World, how: Lost) -> usize {
    let lost = world.trace().fresh.iter();
    lost.filter(|event| event.kind == Kind::PersistLost && event.b == how as i64)
        .count()
}

/// Fired, effective, mattered.
fn counts(world: &World, action: &Action) -> [u32; 3] {
    let (counts, kind) = (world.faults(), action.kind());
    [
        counts.fired[kind],
        counts.effective[kind],
        counts.mattered[kind],
    ]
}

const N2: Who = Who::Node(1);

#[test]
fn a_wiped_node_starts_again_without_a_memory() {
    let mut world = world(
        r#"{"at": "2s", "wipe": "n2"}, {"at": "3s", "wipe": "n2"}, {"at": "4s", "restart": "n2"}"#,
    );
    world.run_until(1_999_999);
    assert!(world.node(1).unwrap().disk().durable().is_some());
    world.run_until(3_500_000);
    assert!(world.node(1).unwrap().disk().durable().is_none());
    assert_eq!(world.node(1).unwrap().look().term, 0);
    assert_eq!(lost(&world, Lost::Wiped), 1);
    let wipe = Action::Damage(N2, Damage::Wipe);
    assert_eq!(counts(&world, &wipe), [2, 1, 0], "it did not start yet");
    world.run();
    assert_eq!(counts(&world, &wipe), [2, 1, 1]);
    assert!(world.leader().is_some());
}

#[test]
fn a_lie_matters_when_a_crash_takes_what_was_answered() {
    let lie = Action::Damage(N2, Damage::Lie);
    // Nothing is written after the leader was established, so that there is nothing to lose.
    for (at, crashed, expected) in [
        ("0ms", "n2", [1, 1, 1]),
        ("0ms", "n3", [1, 1, 0]),
        ("3s", "n2", [1, 1, 0]),
    ] {
        let mut world = world(&format!(
            r#"{{"at": "{at}", "lie": "n2"}}, {{"at": "4s", "crash": "{crashed}"}}"#
        ));
        world.run();
        assert_eq!(counts(&world, &lie), expected, "{at} {crashed}");
        assert_eq!(lost(&world, Lost::Answered) as u32, expected[2]);
    }
}

#[test]
fn a_mended_disk_loses_nothing_any_more() {
    let mut world = world(
        r#"{"at": "0ms", "lie": "n2"}, {"at": "2s", "disk": {"node": "n2"}}, {"at": "4s", "crash": "n2"}"#,
    );
    world.run();
    assert_eq!(lost(&world, Lost::Answered), 0);
    assert!(world.node(1).unwrap().disk().durable().is_some());
}

#[test]
fn a_failed_write_halts_its_node_and_the_others_go_on() {
    let mut world = world(
        r#"{"at": "2s", "fail": "leader"}, {"at": "2s", "resign": "leader"}, {"at": "2100ms", "campaign": "follower"},
           {"at": "6s", "crash": "n1"}, {"at": "6s", "crash": "n2"}, {"at": "6s", "crash": "n3"},
           {"at": "7s", "restart": "n1"}, {"at": "7s", "restart": "n2"}, {"at": "7s", "restart": "n3"}"#,
    );
    world.run_until(5_000_000);
    let halted = |world: &World| {
        let halted = |node: &usize| world.node(*node).unwrap().look().role == RoleCode::Halted;
        (0..3).filter(halted).count()
    };
    assert_eq!((halted(&world), lost(&world, Lost::Failed)), (1, 1));
    assert_eq!(counts(&world, &Action::Damage(N2, Damage::Fail)), [1, 1, 1]);
    assert!(world.leader().is_some(), "two of three are a majority");
    world.run();
    assert_eq!(halted(&world), 0, "it comes back with a restart");
    for check in [Check::OneVotePerTerm, Check::OneLeaderPerTerm] {
        assert_eq!(world.judges().verdict(check).outcome, Outcome::Holds);
    }
}

#[test]
fn what_nobody_was_shown_does_not_matter() {
    // Nothing is sent on a link that is cut and healed at one instant, and a clock changed as the run ends shows nothing.
    let mut world = world(
        r#"{"at": "2s", "cut": ["n1", "n2"]}, {"at": "2s", "heal": "all"},
           {"at": "10s", "clock": {"node": "n1", "rate": "+1%"}}, {"at": "10s", "disk": {"node": "n1", "write": "9ms"}}"#,
    );
    world.run_until(2_000_000);
    let cut = Action::Cut(N2, N2);
    let in_flight = counts(&world, &cut)[2];
    assert_eq!(in_flight, 0);
    world.run();
    for action in [
        Action::Clock(N2, None, 0),
        Action::Disk(N2, Takes::default()),
    ] {
        assert_eq!(counts(&world, &action), [1, 1, 0]);
    }
}

/// What the trace says of n2's first record when the process dies so long after it began to be written.
fn crashed_after(micros: u64, seed: u64) -> (World, Event) {
    let json = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "10s",
        "disk": {"write": "10ms", "rename": "20ms"}}"#;
    let mut world = World::new(&Scenario::parse(json).unwrap().with_seed(seed));
    world.trace_mut().recording = true;
    while world.node(1).unwrap().disk().pending() == 0 {
        world.run_until(world.now() + 100);
    }
    let own = |event: &&Event| event.kind == Kind::Persist && event.actor == 1;
    let began = world.trace().fresh.iter().find(own).unwrap().at;
    world.run_until(began + micros);
    world.act(Action::Crash(N2)).unwrap();
    let ends = |event: &&Event| matches!(event.kind, Kind::PersistLost | Kind::Persisted);
    let mut left = world.trace().fresh.iter().filter(ends);
    let left = *left.find(|event| event.actor == 1).unwrap();
    world.act(Action::Restart(N2)).unwrap();
    (world, left)
}

#[test]
fn a_crash_leaves_what_the_steps_of_a_write_are_good_for() {
    for (micros, how) in [(5_000, Lost::Torn), (15_000, Lost::Unnamed)] {
        let (world, left) = crashed_after(micros, 4);
        assert_eq!((left.kind, left.b), (Kind::PersistLost, how as i64));
        assert_eq!(
            world.node(1).unwrap().look().term,
            0,
            "the former is read: none"
        );
    }
    let (mut survived, mut undone) = (0, 0);
    for seed in 0..40 {
        let (mut world, left) = crashed_after(25_000, seed);
        let term = world.node(1).unwrap().look().term;
        match left.kind {
            Kind::Persisted => {
                survived += 1;
                assert!(term > 0, "it is read although nobody was told");
            }
            _ => {
                undone += 1;
                assert_eq!((left.b, term), (Lost::Renamed as i64, 0));
            }
        }
        world.run();
        for check in [
            Check::OneVotePerTerm,
            Check::OneLeaderPerTerm,
            Check::LeaderAgain,
        ] {
            assert_eq!(
                world.judges().verdict(check).outcome,
                Outcome::Holds,
                "{seed}"
            );
        }
    }
    assert!(survived > 9 && undone > 9, "{survived} {undone}");
}

#[test]
fn a_slow_rename_holds_back_the_answer() {
    let answered = |rename: &str| {
        let mut world = world(&format!(
            r#"{{"at": "0ms", "disk": {{"node": "n2", "write": "1ms", "rename": "{rename}"}}}}"#
        ));
        world.run();
        let of = |kind: Kind| {
            let own = move |event: &&Event| event.kind == kind && event.actor == 1;
            world.trace().fresh.iter().find(own).unwrap().at
        };
        of(Kind::Persisted) - of(Kind::Persist)
    };
    assert_eq!((answered("0ms"), answered("9ms")), (1_000, 10_000));
}

/// A vote whose write was answered and never done; then the voter dies, and votes again in the same term.
fn second_vote(drop: &str, seed: u64) -> World {
    let json = format!(
        r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "10s", "faults": [{drop}
            {{"at": "0ms", "partition": [["n1", "n2"], ["n3"]]}}, {{"at": "0ms", "campaign": "n1"}},
            {{"at": "2s", "partition": [["n1"], ["n2", "n3"]]}}, {{"at": "2s", "crash": "n2"}},
            {{"at": "2100ms", "restart": "n2"}}, {{"at": "5s", "heal": "all"}}]}}"#
    );
    let mut world = World::new(&Scenario::parse(&json).unwrap().with_seed(seed));
    world.trace_mut().recording = true;
    world.run();
    world
}

/// The negative control of dropped writes: durable before reply is worth what the disk's word is worth.
#[test]
fn a_dropped_write_breaks_one_vote_a_term_and_that_is_seen() {
    let drop = Action::Damage(N2, Damage::Drop);
    let broken = |drop: &str| {
        let votes = |seed| {
            let world = second_vote(drop, seed);
            world.judges().verdict(Check::OneVotePerTerm).outcome == Outcome::Broken
        };
        (0..10).filter(|seed| votes(*seed)).count()
    };
    assert_eq!(broken(""), 0);
    assert!(broken(r#"{"at": "0ms", "drop": "n2"},"#) > 5);
    let world = second_vote(r#"{"at": "0ms", "drop": "n2"},"#, 1);
    assert_eq!(lost(&world, Lost::Dropped), 1);
    assert_eq!(counts(&world, &drop), [1, 1, 1]);
    // Without a start that misses it, it mattered to nobody.
    let mut calm = self::world(r#"{"at": "0ms", "drop": "n2"}, {"at": "0ms", "drop": "n2"}"#);
    calm.run();
    assert_eq!(counts(&calm, &drop), [2, 1, 0]);
}

#[test]
fn a_fault_of_one_write_is_over_with_that_write() {
    let mut world = world(r#"{"at": "1s", "drop": "n2"}, {"at": "1500ms", "resign": "leader"}"#);
    world.run();
    assert_eq!(lost(&world, Lost::Dropped), 1);
    let windows = world.judges().windows();
    let healed = windows.last().map(|(since, _)| *since);
    assert!(
        windows.len() == 2 && healed > Some(1_500_000),
        "the world is whole again, and a leader is owed: {windows:?}"
    );
}
