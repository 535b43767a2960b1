//! Elections by a store, in whole worlds.

use tenure::Duration;
use tenure::lease::{Rule, Switched, Timing};
use tenure_sim::check::{Check, Outcome};
use tenure_sim::fault::{Action, Fault, Who};
use tenure_sim::scenario::{Lease, Scenario};
use tenure_sim::scheme::lease::Kind;
use tenure_sim::world::World;

fn scenario(kind: Kind, seed: u64, faults: Vec<Fault>) -> Scenario {
    Scenario {
        seed,
        nodes: 3,
        lease: Some(Lease {
            kind,
            timing: Timing::of(Duration::from_secs(3)),
            latency: Duration::from_millis(20),
            rules: Switched::default(),
        }),
        leader_within: 6_000_000,
        duration: 30_000_000,
        faults,
        ..Scenario::usual()
    }
}

/// Every kind with a world for each of so many seeds.
fn each(seeds: u64) -> impl Iterator<Item = (Kind, u64)> {
    let all = Kind::ALL.into_iter();
    all.flat_map(move |kind| (0..seeds).map(move |seed| (kind, seed)))
}

fn run(kind: Kind, seed: u64, faults: Vec<Fault>) -> World {
    let mut world = World::new(&scenario(kind, seed, faults));
    world.run();
    world
}

fn at(millis: u64, action: Action) -> Fault {
    Fault {
        at: millis * 1000,
        action,
    }
}

#[test]
fn a_leader_that_crashes_is_replaced_and_writes_go_on() {
    for (kind, seed) in each(50) {
        let world = run(
            kind,
            seed,
            vec![
                at(5_000, Action::Crash(Who::Leader)),
                at(15_000, Action::Restart(Who::Crashed)),
            ],
        );
        for check in [
            Check::TokenRises,
            Check::BelievedLeaders,
            Check::LeaderAgain,
        ] {
            assert_eq!(
                world.verdict(check).outcome,
                Outcome::Holds,
                "{kind:?} {seed} {check:?}"
            );
        }
        assert!(world.counts().establishments >= 2, "{kind:?} seed {seed}");
        assert!(
            world.resource(0).unwrap().value() > 500,
            "{kind:?} seed {seed}"
        );
    }
}

#[test]
fn who_loses_the_store_stops_before_another_begins() {
    let store = Who::Node(3);
    for (kind, seed) in each(50) {
        let world = run(
            kind,
            seed,
            vec![
                at(5_000, Action::Cut(Who::Leader, store)),
                at(12_000, Action::HealAll),
                at(15_000, Action::Crash(store)),
                at(17_000, Action::Restart(store)),
            ],
        );
        let overlap = world.judges().belief().overlap;
        assert_eq!(overlap, 0, "{kind:?} seed {seed}");
        let verdict = world.verdict(Check::BelievedLeaders);
        assert_eq!(verdict.outcome, Outcome::Holds, "{kind:?} seed {seed}");
        assert!(world.counts().establishments >= 2, "{kind:?} seed {seed}");
    }
}

/// What a process leaves in the queue goes with its lease, and nobody else is let in before.
#[test]
fn candidates_that_crash_and_come_back_queue_anew() {
    for seed in 0..50 {
        let faults = vec![
            at(4_000, Action::Crash(Who::Node(0))),
            at(4_500, Action::Restart(Who::Node(0))),
            at(8_000, Action::Crash(Who::Node(1))),
            at(8_500, Action::Restart(Who::Node(1))),
            at(9_000, Action::Pause(Who::Node(2))),
            at(14_000, Action::Resume(Who::Node(2))),
        ];
        let world = run(Kind::Etcd, seed, faults);
        for check in [
            Check::TokenRises,
            Check::BelievedLeaders,
            Check::LeaderAgain,
        ] {
            let outcome = world.verdict(check).outcome;
            assert_eq!(outcome, Outcome::Holds, "seed {seed} {check:?}");
        }
    }
}

/// A server of etcd that comes back begins every lease anew, and has forgotten who watched.
#[test]
fn a_store_that_restarts_costs_no_leader_and_no_watch_is_missed_for_long() {
    let store = Who::Node(3);
    for seed in 0..50 {
        let faults = vec![
            at(5_000, Action::Crash(store)),
            at(5_300, Action::Restart(store)),
            at(12_000, Action::Crash(Who::Leader)),
        ];
        let world = run(Kind::Etcd, seed, faults);
        assert_eq!(world.counts().establishments, 2, "seed {seed}");
        let again = world.verdict(Check::LeaderAgain);
        assert_eq!(again.outcome, Outcome::Holds, "seed {seed}");
    }
}

/// One server of etcd has no replica, and nothing was copied of it; a power cut takes nothing but its process.
#[test]
fn what_a_store_has_not_is_not_taken_from_it() {
    let store = Who::Node(3);
    let faults = vec![
        at(1_000, Action::Failover(store)),
        at(2_000, Action::Restore(store)),
        at(3_000, Action::PowerCut(store)),
        at(4_000, Action::PowerCut(store)),
        at(5_000, Action::Restart(store)),
    ];
    let world = run(Kind::Etcd, 1, faults.clone());
    let counts = world.faults();
    let effective: Vec<u32> = (faults.iter())
        .map(|fault| counts.effective[fault.action.kind()])
        .collect();
    assert_eq!(effective, [0, 0, 1, 1, 1]);
    assert_eq!(counts.mattered[Action::PowerCut(store).kind()], 1);
}

/// LS-53: what a standby, or a backup, has not is given out again: two hold one epoch. Broken by design, though not for longer
/// than the older of them believes.
#[test]
fn a_database_that_falls_back_gives_one_epoch_twice() {
    let store = Who::Node(3);
    for kind in [Kind::Sql, Kind::SqlSession] {
        for back in [Action::Failover(store), Action::Restore(store)] {
            let mut broken = 0;
            for seed in 0..40 {
                let faults = vec![
                    at(4_000, Action::Resign(Who::Leader)),
                    // Nobody has taken it yet.
                    at(4_060, Action::BackUp(store)),
                    at(5_000, Action::Cut(Who::Leader, store)),
                    at(5_000, Action::Cut(store, Who::Leader)),
                    at(5_090, back.clone()),
                    at(9_000, Action::HealAll),
                ];
                let world = run(kind, seed, faults);
                let overlap = world.judges().belief().overlap;
                assert!(overlap < 3_000_000, "{kind:?} seed {seed}: {overlap}");
                let risen = world.verdict(Check::TokenRises).outcome == Outcome::Holds;
                broken += u32::from(overlap > 0 && !risen);
                let again = world.verdict(Check::LeaderAgain);
                assert_eq!(again.outcome, Outcome::Holds, "{kind:?} seed {seed}");
            }
            assert!(broken > 10, "{kind:?} {back:?}: {broken}");
        }
    }
}

/// LS-48: the server of a session's lock restarts while its holder is cut off. The lock is free at once, and whoever gets it
/// waits for who has not heard; the rule off, two believe.
#[test]
fn a_lock_that_its_holder_does_not_know_to_be_lost_is_waited_for() {
    let store = Who::Node(3);
    let faults = vec![
        at(5_000, Action::Cut(Who::Leader, store)),
        at(5_000, Action::Cut(store, Who::Leader)),
        at(5_050, Action::Crash(store)),
        at(5_100, Action::Restart(store)),
        at(12_000, Action::HealAll),
    ];
    let mut broken = 0;
    for seed in 0..50 {
        for keeps in [true, false] {
            let mut scenario = scenario(Kind::SqlSession, seed, faults.clone());
            if let Some(lease) = scenario.lease.as_mut().filter(|_| !keeps) {
                lease.rules = Switched::without(&[Rule::OutwaitFormer]);
            }
            let mut world = World::new(&scenario);
            world.run();
            let overlap = world.judges().belief().overlap;
            assert!(overlap == 0 || !keeps, "seed {seed}: {overlap}");
            broken += u32::from(overlap > 0);
            assert!(world.counts().establishments >= 2, "seed {seed}");
        }
    }
    assert!(broken > 25, "{broken}");
}
