//! Whether the histories of the two resources and of the client are linearizable, in whole worlds.

use tenure_sim::check::{Check, Outcome, Verdict};
use tenure_sim::export::{self, Recording};
use tenure_sim::failure::Failure;
use tenure_sim::report::Report;
use tenure_sim::{Scenario, World, schedule};

fn judged(scenario: &Scenario) -> (World, Verdict, Verdict) {
    let mut world = World::new(scenario);
    world.record_histories();
    world.run();
    let [fenced, unfenced] =
        [Check::LinearizableFenced, Check::LinearizableUnfenced].map(|check| world.verdict(check));
    (world, fenced, unfenced)
}

fn of_the_client(world: &World) -> Verdict {
    world.verdict(Check::LinearizableClient)
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
        assert!(fenced.tally.exercised > 100, "seed {seed}");
        let client = of_the_client(&world);
        assert_eq!(
            (client.outcome, client.reason),
            (Outcome::Holds, None),
            "seed {seed}"
        );
        assert!(client.tally.exercised > 100, "seed {seed}");
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
    assert!(unfenced.tally.first_broken_at.unwrap() >= 4_000_000);
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
        let (world, fenced, _) = judged(&raced.clone().with_seed(*seed));
        let client = of_the_client(&world).outcome;
        assert!(
            ![fenced.outcome, client].contains(&Outcome::Broken),
            "by design"
        );
        assert!(client != Outcome::BrokenByDesign || fenced.outcome == client);
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
        let verdict = world.verdict(Check::LinearizableFenced);
        assert_eq!(verdict.outcome, Outcome::NotExercised);
    }
}

#[test]
fn what_was_never_used_is_not_exercised() {
    let nobody_leads = scenario(
        "",
        r#"{"at": "0s", "crash": "n1"}, {"at": "0s", "crash": "n2"}"#,
    );
    let (world, fenced, unfenced) = judged(&nobody_leads);
    assert_eq!(of_the_client(&world).outcome, Outcome::NotExercised);
    assert_eq!(fenced.outcome, Outcome::NotExercised);
    assert_eq!(unfenced.outcome, Outcome::NotExercised);
}

#[test]
fn a_client_that_is_never_answered_gives_up_and_the_rest_is_still_judged() {
    // The leader freezes for good with what it was asked; a run of more operations than are kept at once.
    let frozen = Scenario::parse(
        r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "60s", "client": {"every": "5ms"}, "faults": [{"at": "2s", "pause": "leader"}]}"#,
    )
    .unwrap();
    let (world, fenced, _) = judged(&frozen);
    let client = of_the_client(&world);
    assert!(client.tally.exercised > 10_000, "{client:?}");
    assert_eq!(
        (client.outcome, fenced.outcome),
        (Outcome::Holds, Outcome::Holds),
        "{client:?}"
    );
}

#[test]
fn writers_without_a_leader_lose_what_was_acknowledged_and_with_one_they_do_not() {
    let through = |who| {
        scenario(
            &format!(r#""every": "15ms", "think": "15ms", "through": "{who}""#),
            "",
        )
    };
    for seed in 0..10 {
        let (world, _, unfenced) = judged(&through("anyone").with_seed(seed));
        let client = of_the_client(&world);
        for verdict in [unfenced, client] {
            assert_eq!(verdict.outcome, Outcome::BrokenByDesign, "{verdict:?}");
            assert!(verdict.detail.contains("leader") || verdict.detail.contains("leads"));
        }
        let [fenced, open] = [0, 1].map(|place| world.resource(place).unwrap());
        assert!(open.lost() > 20 && open.accepted() - open.value() == open.lost());
        assert_eq!(
            fenced.accepted(),
            0,
            "the guard admits nobody without a token"
        );
        assert!(fenced.refused() > 100);
        assert_eq!(
            [Check::StaleWriteFenced, Check::StaleWriteUnfenced]
                .map(|check| world.verdict(check).outcome),
            [Outcome::Holds, Outcome::NotExercised],
            "nobody was overtaken: nobody leads"
        );

        let (world, fenced, unfenced) = judged(&through("leader").with_seed(seed));
        for verdict in [fenced, unfenced, of_the_client(&world)] {
            assert_eq!(verdict.outcome, Outcome::Holds, "{verdict:?}");
        }
        assert_eq!(world.resource(1).unwrap().lost(), 0);
    }
}

#[test]
fn what_is_too_much_to_decide_has_neither_held_nor_broken_and_is_no_pass() {
    // A write every millisecond, each nine seconds on its way.
    let scenario = |expect: &str| {
        let json = format!(
            r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "20s", "client": {{"every": "1ms", "writeDelay": "9s"}},
                "expect": {{{expect}}}}}"#
        );
        Scenario::parse(&json).unwrap()
    };
    let mut world = World::new(&scenario(""));
    world.record_histories();
    world.run();
    let verdict = world.verdict(Check::LinearizableFenced);
    assert_eq!(verdict.outcome, Outcome::Undecided, "{verdict:?}");
    assert!(verdict.tally.exercised > 1_000 && verdict.tally.broken == 0);
    assert_eq!(Failure::all(&world), [], "nothing to minimise");

    let report = Report::of(scenario(""));
    assert!(!report.as_expected());
    let (text, json) = (report.to_text(), report.to_json());
    let line = text
        .lines()
        .find(|line| line.starts_with("linearizable-fenced"));
    let line = line.unwrap();
    assert!(line.contains("undecided") && line.ends_with("✗"), "{line}");
    assert!(json.contains(r#""check":"linearizable-fenced","verdict":"undecided""#));
    let told = export::explain(&Recording::of(scenario("")).unwrap());
    let told: Vec<&str> = told.split_whitespace().collect();
    let told = told.join(" ");
    for part in [
        "linearizable-fenced: undecided, tested ",
        "More is under way at once than can be judged. NOT AS EXPECTED.",
    ] {
        assert!(told.contains(part), "{part}");
    }
    let expected = r#""linearizable-fenced": "undecided", "linearizable-unfenced": "undecided", "linearizable-client": "undecided""#;
    assert!(Report::of(scenario(expected)).as_expected());
}

/// Nobody leads for minutes while clients go on asking: hundreds of their writes may be in, or not. Nobody saw them.
#[test]
fn what_nobody_saw_costs_no_judge_anything() {
    let json = r#"{"tenure": 1, "scheme": "zab", "nodes": 3, "seed": "1", "duration": "356s", "client": {"every": "200ms"}, "faults": [
        {"at": "20s", "crash": "n1"}, {"at": "20s", "crash": "n2"}, {"at": "20s", "crash": "n3"},
        {"at": "40s", "restart": "n1"}, {"at": "200s", "restart": "n2"}, {"at": "300s", "restart": "n3"}]}"#;
    let mut world = World::new(&Scenario::parse(json).unwrap());
    world.record_histories();
    world.run();
    let verdict = world.verdict(Check::LinearizableStore);
    assert_eq!(verdict.outcome, Outcome::Holds, "{verdict:?}");
    assert!(verdict.tally.exercised > 1_000);
}
