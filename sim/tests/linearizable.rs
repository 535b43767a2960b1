//! Whether the histories of the two resources are linearizable, in whole worlds.

use tenure_sim::check::linearizable::Finding;
use tenure_sim::check::{Check, Outcome};
use tenure_sim::{Scenario, World, schedule};

fn judged(scenario: &Scenario) -> (World, Finding, Finding) {
    let mut world = World::new(scenario);
    world.record_histories();
    world.run();
    let [fenced, unfenced] = world.findings().try_into().unwrap();
    (world, fenced, unfenced)
}

fn scenario(client: &str, faults: &str) -> Scenario {
    let json = format!(
        r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "6s", "client": {{{client}}}, "faults": [{faults}]}}"#
    );
    Scenario::parse(&json).unwrap()
}

#[test]
fn the_fenced_resource_is_and_the_other_is_not_once_a_stale_write_gets_in() {
    let mut broken = 0;
    for seed in 0..300 {
        let (world, fenced, unfenced) = judged(&schedule::random(seed).unwrap());
        assert_eq!(
            (fenced.outcome, fenced.reason),
            (Outcome::Holds, None),
            "seed {seed}"
        );
        assert!(fenced.exercised > 100, "seed {seed}");
        let stale = world.judges().tally(Check::StaleWriteUnfenced).broken > 0;
        if unfenced.outcome != Outcome::Holds {
            assert_eq!(unfenced.outcome, Outcome::BrokenByDesign);
            assert!(stale, "seed {seed}: {unfenced:?}");
            broken += 1;
        }
    }
    assert!(broken > 30, "{broken}");
}

#[test]
fn a_leader_that_froze_between_check_and_write_is_told_of() {
    let paused = scenario(
        r#""every": "25ms", "think": "20ms""#,
        r#"{"at": "2s", "pause": "leader"}, {"at": "4s", "resume": "paused"}"#,
    );
    let found = (0..20)
        .map(|seed| judged(&paused.clone().with_seed(seed)))
        .find(|(.., unfenced)| unfenced.outcome == Outcome::BrokenByDesign);
    let (_, fenced, unfenced) = found.unwrap();
    assert_eq!(fenced.outcome, Outcome::Holds);
    assert!(unfenced.broken_at.unwrap() >= 4_000_000);
    let reason = unfenced.reason.unwrap();
    assert!(
        reason.contains("no order explains [") && reason.contains(" to "),
        "{reason}"
    );
}

#[test]
fn to_read_before_fencing_breaks_the_fenced_one_too() {
    let raced = scenario(
        r#""writeDelay": "700ms", "takeover": "read-first""#,
        r#"{"at": "3s", "crash": "leader"}"#,
    );
    let broken = (0..20).filter(|seed| {
        let (_, fenced, _) = judged(&raced.clone().with_seed(*seed));
        assert_ne!(fenced.outcome, Outcome::Broken, "by design");
        fenced.outcome == Outcome::BrokenByDesign
    });
    assert!(broken.count() > 0);
}

#[test]
fn judged_or_not_a_run_is_the_same() {
    for seed in 0..20 {
        let scenario = schedule::random(seed).unwrap();
        let (judged, ..) = judged(&scenario);
        let mut world = World::new(&scenario);
        world.run();
        assert_eq!(judged.trace().hash(), world.trace().hash());
        assert_eq!(world.findings(), []);
    }
}

#[test]
fn what_was_never_used_is_not_exercised() {
    let nobody_leads = scenario(
        "",
        r#"{"at": "0s", "crash": "n1"}, {"at": "0s", "crash": "n2"}"#,
    );
    let (_, fenced, unfenced) = judged(&nobody_leads);
    assert_eq!(fenced.outcome, Outcome::NotExercised);
    assert_eq!(unfenced.outcome, Outcome::NotExercised);
}
