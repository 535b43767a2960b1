//! Elections by a store, in whole worlds.

use tenure::Duration;
use tenure::lease::Switched;
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
            timing: kind.timing(Some(Duration::from_secs(3))),
            latency: Duration::from_millis(20),
            rules: Switched::default(),
            servers: kind.servers(),
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
            if check.is_of_tokens() && !kind.has_tokens() {
                continue;
            }
            assert_eq!(
                world.verdict(check).outcome,
                Outcome::Holds,
                "{kind:?} {seed} {check:?}"
            );
        }
        assert!(world.counts().establishments >= 2, "{kind:?} seed {seed}");
        // Without a token nothing is taken over.
        assert!(
            !kind.has_tokens() || world.resource(0).unwrap().value() > 500,
            "{kind:?} seed {seed}"
        );
    }
}

#[test]
fn who_loses_the_store_stops_before_another_begins() {
    for (kind, seed) in each(50) {
        let to_all = |millis, action: fn(Who) -> Action| {
            let servers = (0..u16::from(kind.servers())).map(Who::Server);
            servers.map(move |server| at(millis, action(server)))
        };
        let faults = to_all(5_000, |store| Action::Cut(Who::Leader, store))
            .chain([at(12_000, Action::HealAll)])
            .chain(to_all(15_000, Action::Crash))
            .chain(to_all(17_000, Action::Restart));
        let world = run(kind, seed, faults.collect());
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
    let store = Who::Server(0);
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

/// A row in a database of one server has no replica; a power cut takes nothing from it but its process.
#[test]
fn what_a_store_has_not_is_not_taken_from_it() {
    let store = Who::Server(0);
    let faults = vec![
        at(1_000, Action::Failover(store)),
        at(2_000, Action::Restore(store)),
        at(3_000, Action::PowerCut(store)),
        at(4_000, Action::PowerCut(store)),
        at(5_000, Action::Restart(store)),
    ];
    let world = run(Kind::Sql, 1, faults.clone());
    let counts = world.faults();
    let effective: Vec<u32> = (faults.iter())
        .map(|fault| counts.effective[fault.action.kind()])
        .collect();
    assert_eq!(effective, [0, 0, 1, 1, 1]);
    assert_eq!(counts.mattered[Action::PowerCut(store).kind()], 1);
}
