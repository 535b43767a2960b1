//! Sentinels and their data servers in the world: what must hold in any weather, and what is broken by design and by how much.

use tenure_sim::check::{Check, Outcome};
use tenure_sim::failure::Failure;
use tenure_sim::schedule::{Among, Setting};
use tenure_sim::sweep::{Of, Sweep, TWICE};
use tenure_sim::{Scenario, World};

fn world(rest: &str) -> World {
    let text = format!(
        r#"{{"tenure": 1, "scheme": "sentinel", "nodes": 3, "client": {{"every": "50ms"}}, "duration": "70s", {rest}}}"#
    );
    World::new(&Scenario::parse(&text).unwrap())
}

fn run(rest: &str) -> World {
    let mut world = world(rest);
    world.run();
    world
}

const CUT: &str =
    r#""faults": [{"at": "10s", "partition": [["s1"], ["rest"]]}, {"at": "45s", "heal": "all"}]"#;

#[test]
fn random_schedules_hold_and_nothing_is_vacuous() {
    let setting = Setting::among(Among::sentinel());
    let mut sweep = Sweep::default();
    for seed in 0..300 {
        sweep.add(seed, &setting, TWICE).unwrap();
    }
    assert_eq!(sweep.failing, []);
    assert!(sweep.holds(), "{:?}", sweep.vacuous());
    let (_, failure) = Sweep::canary(0, Of::Sentinel).unwrap().unwrap();
    assert_eq!(failure.check, Check::SentinelRateLimited);
}

#[test]
fn an_old_master_that_is_cut_off_loses_what_it_acknowledges() {
    let free = run(&format!(
        r#""sentinel": {{"downAfter": "3s", "failoverTimeout": "10s"}}, {CUT}"#
    ));
    let bound = run(&format!(
        r#""sentinel": {{"downAfter": "3s", "failoverTimeout": "10s", "minReplicasToWrite": 1, "maxLag": "5s"}}, {CUT}"#
    ));
    let lost = |world: &World| {
        let verdict = world.verdict(Check::SentinelNoAckLoss);
        assert_eq!(verdict.outcome, Outcome::BrokenByDesign);
        verdict.tally.broken
    };
    // It is cut off for 35 s, and both clients stay with it until another is promoted.
    assert!(lost(&free) > 700, "{}", lost(&free));
    let overlap = free.judges().belief().overlap;
    assert!(overlap > 30_000_000, "{overlap}");
    assert_eq!(
        free.verdict(Check::SentinelSingleWritable).outcome,
        Outcome::BrokenByDesign
    );
    // With a replica that must have kept up it stops by itself: two clients write for five seconds.
    assert!((1..=240).contains(&lost(&bound)), "{}", lost(&bound));
    assert!(bound.judges().belief().overlap <= 5_000_000);
    for world in [free, bound] {
        assert_eq!(Failure::all(&world), []);
        assert_eq!(
            world.verdict(Check::SentinelConverges).outcome,
            Outcome::Holds
        );
    }
}

#[test]
fn a_failover_has_its_stages_in_order() {
    let world = run(
        r#""sentinel": {"downAfter": "3s", "failoverTimeout": "10s"}, "faults": [{"at": "10s", "crash": "leader"}]"#,
    );
    let failover = world.stages().done().last().copied().unwrap();
    let stages = [
        Some(failover.lost_at),
        failover.suspected_at,
        failover.detected_at,
        failover.elected_at,
        failover.synchronised_at,
        failover.established_at,
        failover.written_at,
    ];
    let stages: Vec<u64> = stages.into_iter().flatten().collect();
    assert_eq!(stages.len(), 7);
    assert!(stages.is_sorted(), "{stages:?}");
    assert_eq!(stages[0], 10_000_000);
    assert!((13_000_000..13_500_000).contains(&stages[1]), "{stages:?}");
}

#[test]
fn an_operator_s_order_needs_no_vote() {
    let world = run(
        r#""sentinel": {"downAfter": "3s", "failoverTimeout": "10s"}, "faults": [{"at": "15s", "campaign": "n2"}]"#,
    );
    assert_eq!(Failure::all(&world), []);
    assert_eq!(
        world.verdict(Check::SentinelMajority).outcome,
        Outcome::NotExercised
    );
    let changed = world.verdict(Check::SentinelConfigMonotone).tally;
    assert_eq!((changed.exercised, changed.broken), (3, 0));
}

/// The master dies while no sentinel looks, and stays dead (redis#5677): a majority that woke late replaces it, which the shipped
/// sentinels never do; and whoever is no majority is not asked to.
#[test]
fn a_master_that_stays_dead_is_replaced_by_those_who_woke_late() {
    let late = |off: &str, back: &[&str]| {
        let mut faults: Vec<String> = (["s1", "n1", "n2", "n3"].iter())
            .map(|who| format!(r#"{{"at": "5s", "crash": "{who}"}}"#))
            .collect();
        let restart = |who: &&str| format!(r#"{{"at": "60s", "restart": "{who}"}}"#);
        faults.extend(back.iter().map(restart));
        let text = format!(
            r#"{{"tenure": 1, "scheme": "sentinel", "nodes": 3, "client": {{"every": "200ms"}}, "duration": "150s",
                "sentinel": {{"downAfter": "1s", "failoverTimeout": "5s"}}, "rulesOff": [{off}], "faults": [{}]}}"#,
            faults.join(", ")
        );
        let mut world = World::new(&Scenario::parse(&text).unwrap());
        world.run();
        assert_eq!(Failure::all(&world), []);
        world.verdict(Check::SentinelFailoverCompletes)
    };
    let shipped = late(r#""last-sign-of-life""#, &["n1", "n2", "n3"]);
    assert_eq!(shipped.outcome, Outcome::BrokenByDesign);
    // Five failover timeouts, down-after, and forty seconds for tilt and the steps of a failover.
    assert_eq!(shipped.tally.first_broken_at, Some(60_000_000 + 66_000_000));
    assert!(shipped.detail.contains("redis#5677"));
    for back in [&["n1", "n2", "n3"][..], &["n1", "n3"]] {
        let mended = late("", back);
        assert_eq!(mended.outcome, Outcome::Holds, "{back:?}");
    }
    assert_eq!(late("", &["n2"]).outcome, Outcome::NotExercised);
}
