//! Elections by a store, in whole worlds.

use tenure::Duration;
use tenure::lease::{Switched, Timing};
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

/// Every kind in which candidates queue, with a world for each of so many seeds.
fn each_queue(seeds: u64) -> impl Iterator<Item = (Kind, u64)> {
    each(seeds).filter(|(kind, _)| matches!(kind, Kind::Etcd | Kind::ZooKeeper))
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

/// What a process leaves in the queue goes with its lease or session, and nobody else is let in before.
#[test]
fn candidates_that_crash_and_come_back_queue_anew() {
    for (kind, seed) in each_queue(50) {
        let faults = vec![
            at(4_000, Action::Crash(Who::Node(0))),
            at(4_500, Action::Restart(Who::Node(0))),
            at(8_000, Action::Crash(Who::Node(1))),
            at(8_500, Action::Restart(Who::Node(1))),
            at(9_000, Action::Pause(Who::Node(2))),
            at(14_000, Action::Resume(Who::Node(2))),
        ];
        let world = run(kind, seed, faults);
        for check in [
            Check::TokenRises,
            Check::BelievedLeaders,
            Check::LeaderAgain,
        ] {
            let outcome = world.verdict(check).outcome;
            assert_eq!(outcome, Outcome::Holds, "{kind:?} seed {seed} {check:?}");
        }
    }
}

/// A server that comes back begins every lease or session anew, and has forgotten who watched.
#[test]
fn a_store_that_restarts_costs_no_leader_and_no_watch_is_missed_for_long() {
    let store = Who::Node(3);
    for (kind, seed) in each_queue(50) {
        let faults = vec![
            at(5_000, Action::Crash(store)),
            at(5_300, Action::Restart(store)),
            at(12_000, Action::Crash(Who::Leader)),
        ];
        let world = run(kind, seed, faults);
        assert_eq!(world.counts().establishments, 2, "{kind:?} seed {seed}");
        let again = world.verdict(Check::LeaderAgain);
        assert_eq!(again.outcome, Outcome::Holds, "{kind:?} seed {seed}");
    }
}
