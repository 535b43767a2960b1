//! Elections by a store, in whole worlds.

use tenure::Duration;
use tenure::lease::{Switched, Timing};
use tenure_sim::check::{Check, Outcome};
use tenure_sim::fault::{Action, Fault, Who};
use tenure_sim::scenario::{Lease, Scenario};
use tenure_sim::scheme::lease::Kind;
use tenure_sim::world::World;

fn scenario(seed: u64, faults: Vec<Fault>) -> Scenario {
    Scenario {
        seed,
        nodes: 3,
        lease: Some(Lease {
            kind: Kind::Sql,
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

fn run(seed: u64, faults: Vec<Fault>) -> World {
    let mut world = World::new(&scenario(seed, faults));
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
    for seed in 0..50 {
        let world = run(
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
                "{seed} {check:?}"
            );
        }
        assert!(world.counts().establishments >= 2, "seed {seed}");
        assert!(world.resource(0).unwrap().value() > 500, "seed {seed}");
    }
}

#[test]
fn who_loses_the_store_stops_before_another_begins() {
    let store = Who::Node(3);
    for seed in 0..50 {
        let world = run(
            seed,
            vec![
                at(5_000, Action::Cut(Who::Leader, store)),
                at(12_000, Action::HealAll),
                at(15_000, Action::Crash(store)),
                at(17_000, Action::Restart(store)),
            ],
        );
        let overlap = world.judges().belief().overlap;
        assert_eq!(overlap, 0, "seed {seed}");
        let verdict = world.verdict(Check::BelievedLeaders);
        assert_eq!(verdict.outcome, Outcome::Holds, "seed {seed}");
        assert!(world.counts().establishments >= 2, "seed {seed}");
    }
}
