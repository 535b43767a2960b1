//! Disks that are wiped, lie or fail: what a node has to show for it, and whether it mattered.

use tenure_sim::check::{Check, Outcome};
use tenure_sim::fault::{Action, Damage, Who};
use tenure_sim::physics::trace::{Kind, Lost};
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
    for action in [Action::Clock(N2, None, 0), Action::Disk(N2, 0)] {
        assert_eq!(counts(&world, &action), [1, 1, 0]);
    }
}
