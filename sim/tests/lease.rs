//! Elections by a store, in whole worlds.

use tenure::Duration;
use tenure::lease::{Rule, Switched, Timing};
use tenure_sim::check::{Check, Outcome};
use tenure_sim::fault::{Action, Fault, Who};
use tenure_sim::scenario::{Elects, Lease, Scenario};
use tenure_sim::scheme::lease::Kind;
use tenure_sim::world::World;

fn scenario(kind: Kind, seed: u64, faults: Vec<Fault>) -> Scenario {
    Scenario {
        seed,
        nodes: 3,
        elects: Elects::ByStore(Lease {
            timing: Timing::of(Duration::from_secs(3)),
            latency: Duration::from_millis(20),
            ..Lease::of(kind, Duration::from_secs(3))
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

/// The servers of the store.
fn servers(kind: Kind) -> impl Iterator<Item = Who> {
    let count = if kind == Kind::Redlock { 5 } else { 1 };
    (3..3 + count).map(Who::Node)
}

/// The resource that takes what a leader writes: without a token, the one that has no guard.
fn written(world: &World, kind: Kind) -> u64 {
    let resource = usize::from(kind == Kind::Redlock);
    world.resource(resource).unwrap().value()
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
        let tokens = match kind {
            Kind::Redlock => Outcome::NotExercised,
            _ => Outcome::Holds,
        };
        for (check, outcome) in [
            (Check::TokenRises, tokens),
            (Check::OneLeaderPerTerm, tokens),
            (Check::BelievedLeaders, Outcome::Holds),
            (Check::LeaderAgain, Outcome::Holds),
        ] {
            let verdict = world.verdict(check);
            assert_eq!(verdict.outcome, outcome, "{kind:?} {seed} {check:?}");
        }
        assert!(world.counts().establishments >= 2, "{kind:?} seed {seed}");
        assert!(written(&world, kind) > 500, "{kind:?} seed {seed}");
    }
}

#[test]
fn who_loses_the_store_stops_before_another_begins() {
    for (kind, seed) in each(50) {
        let each = |millis, action: fn(Who) -> Action| {
            servers(kind).map(move |server| at(millis, action(server)))
        };
        let cut = each(5_000, |server| Action::Cut(Who::Leader, server));
        let faults = cut
            .chain([at(12_000, Action::HealAll)])
            .chain(each(15_000, Action::Crash))
            .chain(each(17_000, Action::Restart));
        let world = run(kind, seed, faults.collect());
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

/// Who comes back under its old name is another: it waits out the record that it left itself.
#[test]
fn processes_that_come_back_wait_out_their_lease_objects() {
    let mut exercised = 0;
    for seed in 0..50 {
        let faults = vec![
            at(4_000, Action::Crash(Who::Leader)),
            at(4_200, Action::Restart(Who::Crashed)),
            at(9_000, Action::Pause(Who::Leader)),
            at(14_000, Action::Resume(Who::Paused)),
        ];
        let world = run(Kind::Kubernetes, seed, faults);
        assert_eq!(world.judges().belief().overlap, 0, "seed {seed}");
        for check in [Check::TokenRises, Check::LeaderAgain] {
            let outcome = world.verdict(check).outcome;
            assert_eq!(outcome, Outcome::Holds, "seed {seed} {check:?}");
        }
        let verdict = world.verdict(Check::BelievedLeaders).outcome;
        exercised += u64::from(verdict == Outcome::Holds);
        assert_eq!(world.counts().establishments, 3, "seed {seed}");
    }
    assert_eq!(exercised, 50);
}

/// An API server that comes back has what it had; its clock says nothing, and those of its clients' hosts are an hour apart
/// in all of these worlds.
#[test]
fn an_api_server_that_restarts_with_a_wrong_clock_costs_no_leader() {
    let store = Who::Node(3);
    for seed in 0..50 {
        let faults = vec![
            at(5_000, Action::Crash(store)),
            at(5_300, Action::Restart(store)),
            at(8_000, Action::Clock(store, None, 3_600_000_000)),
            at(12_000, Action::Crash(Who::Leader)),
        ];
        let world = run(Kind::Kubernetes, seed, faults);
        assert_eq!(world.counts().establishments, 2, "seed {seed}");
        for check in [Check::LeaderAgain, Check::BelievedLeaders] {
            let outcome = world.verdict(check).outcome;
            assert_eq!(outcome, Outcome::Holds, "seed {seed} {check:?}");
        }
    }
}

/// A world in which this was done as soon as somebody leads.
fn led(kind: Kind, seed: u64, before: Vec<Fault>, actions: &[Action]) -> World {
    let mut world = World::new(&scenario(kind, seed, before));
    while world.counts().establishments == 0 {
        world.run_until(world.now() + 1_000);
    }
    for action in actions {
        world.act(action.clone()).unwrap();
    }
    world
}

/// The same, run to its end.
fn run_with(kind: Kind, seed: u64, before: Vec<Fault>, actions: &[Action]) -> World {
    let mut world = led(kind, seed, before, actions);
    world.run();
    world
}

fn outcome(world: &World, check: Check) -> Outcome {
    world.verdict(check).outcome
}

/// §1.2: the replica has not heard of the lock when it takes over, and grants it again, with the token that the other has. The
/// guard lets no two of one token in.
#[test]
fn a_failover_before_the_lock_has_reached_the_replica_makes_two_leaders_of_one_token() {
    let failover = Action::Failover(Who::Node(3));
    let mut two = 0;
    for seed in 0..50 {
        let mut world = led(Kind::Redis, seed, vec![], &[]);
        world.act(failover.clone()).unwrap();
        world.run();
        // Unless the first renews before the second asks, and learns of it.
        two += u64::from(outcome(&world, Check::BelievedLeaders) == Outcome::BrokenByDesign);
        let rises = outcome(&world, Check::TokenRises);
        assert_eq!(rises, Outcome::BrokenByDesign, "seed {seed}");
        let counts = world.faults();
        let kind = failover.kind();
        assert_eq!((counts.effective[kind], counts.mattered[kind]), (1, 1));
        let stale = outcome(&world, Check::StaleWriteFenced);
        assert!(
            matches!(stale, Outcome::Holds | Outcome::NotExercised),
            "seed {seed}"
        );
    }
    assert!(two > 30, "{two}");
}

/// What has reached the replica goes on there: the leader leads on, and nobody beside it.
#[test]
fn a_failover_to_a_replica_that_has_the_lock_costs_no_leader() {
    for seed in 0..50 {
        let faults = vec![at(10_000, Action::Failover(Who::Node(3)))];
        let world = run(Kind::Redis, seed, faults);
        assert_eq!(world.counts().establishments, 1, "seed {seed}");
        assert_eq!(world.judges().belief().overlap, 0, "seed {seed}");
    }
}

/// The lock is gone and the counter is not: two believe, and the guard refuses the older. An eviction does that, and a wall
/// clock that jumps forward.
#[test]
fn where_the_counter_survives_the_lock_the_guard_refuses_the_older_leader() {
    let store = Who::Node(3);
    for action in [Action::Evict(store), Action::Clock(store, None, 3_500_000)] {
        let (mut overlaps, mut refused) = (0, 0);
        for seed in 0..50 {
            let world = run(Kind::Redis, seed, vec![at(10_000, action.clone())]);
            overlaps += u64::from(world.judges().belief().overlap > 0);
            refused += world.verdict(Check::StaleWriteFenced).tally.exercised;
            for check in [
                Check::TokenRises,
                Check::StaleWriteFenced,
                Check::LeaderAgain,
            ] {
                assert_ne!(outcome(&world, check), Outcome::Broken, "{action:?} {seed}");
                assert_ne!(outcome(&world, check), Outcome::BrokenByDesign);
            }
            assert_ne!(outcome(&world, Check::BelievedLeaders), Outcome::Broken);
        }
        assert!(
            overlaps > 10 && refused > 10,
            "{action:?}: {overlaps} {refused}"
        );
    }
}

/// The file is synced once a second: a machine that loses its power right after the lock was taken comes back without it, and
/// without the counter. A process that dies alone loses nothing.
#[test]
fn a_restart_without_the_tail_makes_two_leaders_and_one_with_it_does_not() {
    let store = Who::Node(3);
    for (ends, two) in [
        (Action::PowerCut as fn(Who) -> Action, true),
        (Action::Crash, false),
    ] {
        let actions = [ends(store), Action::Restart(store)];
        let overlap = |seed| {
            let world = run_with(Kind::Redis, seed, vec![], &actions);
            world.judges().belief().overlap
        };
        assert!((0..50).all(|seed| (overlap(seed) > 0) == two), "{ends:?}");
    }
}

/// A backup is restored: lock and counter are those of then, and a token is given out again. Who had it refuses it, and so does
/// the guard.
#[test]
fn a_restored_backup_gives_out_a_token_again() {
    let store = Who::Node(3);
    for seed in 0..50 {
        let faults = vec![
            at(4_000, Action::BackUp(store)),
            at(5_000, Action::Crash(Who::Leader)),
            at(12_000, Action::Restore(store)),
            at(12_000, Action::Restart(Who::Crashed)),
        ];
        let world = run(Kind::Redis, seed, faults);
        let outcome = |check| outcome(&world, check);
        assert_eq!(
            outcome(Check::TokenRises),
            Outcome::BrokenByDesign,
            "{seed}"
        );
        assert_ne!(outcome(Check::StaleWriteFenced), Outcome::Broken, "{seed}");
    }
}

/// Servers D and E are away while somebody gets A, B and C. Then C is treated so, and D and E are there; and so much later.
fn third_of_three(seed: u64, treat: &[Action], then: u64) -> World {
    let (d, e) = (Who::Node(6), Who::Node(7));
    let away = vec![at(0, Action::Crash(d)), at(0, Action::Crash(e))];
    let back = [Action::Restart(d), Action::Restart(e)];
    let mut world = led(Kind::Redlock, seed, away, &[treat, &back].concat());
    world.run_until(world.now() + then);
    world
}

/// LS-F3, LS-F3', LS-34: C's clock jumps, or C comes back without what it had not synced, or its key is evicted. Another gets
/// C, D and E, and neither has a token by which anybody could tell the older.
#[test]
fn a_server_that_grants_again_makes_two_leaders_of_redlock() {
    let c = Who::Node(5);
    for treat in [
        vec![Action::Clock(c, None, 3_500_000)],
        vec![Action::PowerCut(c), Action::Restart(c)],
        vec![Action::Evict(c)],
    ] {
        let mut two = 0;
        for seed in 0..50 {
            let world = third_of_three(seed, &treat, 20_000_000);
            two += u64::from(world.judges().belief().overlap > 0);
            assert_ne!(outcome(&world, Check::BelievedLeaders), Outcome::Broken);
            assert_eq!(world.resource(0).unwrap().accepted(), 0);
        }
        assert!(two > 30, "{treat:?}: {two}");
    }
}

/// The delayed restart of Redis's text: C stays out until every lease that it may have granted is over, and nobody is let in.
#[test]
fn a_server_of_redlock_that_stays_out_for_a_lease_lets_nobody_in() {
    let c = Who::Node(5);
    for seed in 0..50 {
        let mut world = third_of_three(seed, &[Action::PowerCut(c)], 3_050_000);
        world.act(Action::Restart(c)).unwrap();
        world.run();
        assert_eq!(world.judges().belief().overlap, 0, "seed {seed}");
        assert!(world.counts().establishments > 1, "seed {seed}");
    }
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
            if let Some(lease) = scenario.lease_mut().filter(|_| !keeps) {
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
