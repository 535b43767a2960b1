//! Rules switched off, where `mutants.rs` does not look: checks that break as a consequence of what a rule protects, a
//! leader that is muted again and again, and what the setting promises no more. Whatever breaks must follow.

use tenure::raft::Rule;
use tenure_sim::check::{Check, Outcome};
use tenure_sim::failure::Failure;
use tenure_sim::{Scenario, World, schedule};

/// Checks that nothing excuses, broken by a run.
fn broken(scenario: &Scenario) -> Vec<Check> {
    let mut world = World::new(scenario);
    world.run();
    let failures = Failure::all(&world);
    failures.iter().map(|failure| failure.check).collect()
}

/// Searches seeds until `wanted` breaks; on the way nothing may break but `wanted` and what `follows`.
fn is_killed(
    scenario: impl Fn(u64) -> Scenario,
    rule: Rule,
    wanted: Check,
    follows: &[Check],
    seeds: u64,
) {
    for seed in 0..seeds {
        let broken = broken(&scenario(seed).without(&[rule]).unwrap());
        for check in &broken {
            assert!(
                *check == wanted || follows.contains(check),
                "{rule:?} off, seed {seed}: {} broke",
                check.name()
            );
        }
        if broken.contains(&wanted) {
            return;
        }
    }
    panic!(
        "{rule:?} off: {} never broke in {seeds} seeds",
        wanted.name()
    );
}

/// The schedule of a seed, without a log.
fn random(seed: u64) -> Scenario {
    Scenario {
        log: false,
        ..schedule::random(seed).unwrap()
    }
}

/// Again and again, nobody hears the leader any more, while it still hears everybody: what is late in coming back must
/// not prolong its belief.
fn muted(seed: u64) -> Scenario {
    let mut faults = Vec::new();
    for round in 1..40 {
        let (cut, heal) = (round * 1500, round * 1500 + 700);
        for node in 1..=3 {
            faults.push(format!(
                r#"{{"at": "{cut}ms", "cut": ["leader", "n{node}"]}}"#
            ));
        }
        faults.push(format!(r#"{{"at": "{heal}ms", "heal": "all"}}"#));
    }
    // A leader has no link to itself: that action is without effect.
    let json = format!(
        r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "60s", "disk": {{"write": "0ms"}},
             "network": {{"latency": ["1ms", "140ms"]}}, "faults": [{}]}}"#,
        faults.join(",")
    );
    Scenario::parse(&json).unwrap().with_seed(seed)
}

#[test]
fn majority_of_voters_off_lets_tokens_fall() {
    is_killed(
        random,
        Rule::MajorityOfVoters,
        Check::TokenRises,
        &[
            Check::OneLeaderPerTerm,
            Check::BelievedLeaders,
            Check::TokenHolder,
            Check::JobsLost,
            Check::JobsConcurrent,
        ],
        1_000,
    );
}

#[test]
fn majority_of_voters_off_lets_two_show_one_token() {
    is_killed(
        random,
        Rule::MajorityOfVoters,
        Check::TokenHolder,
        &[
            Check::OneLeaderPerTerm,
            Check::TokenRises,
            Check::BelievedLeaders,
            Check::JobsLost,
            Check::JobsConcurrent,
        ],
        1_000,
    );
}

#[test]
fn own_term_grants_off_breaks_one_leader_per_term() {
    is_killed(
        muted,
        Rule::OwnTermGrants,
        Check::OneLeaderPerTerm,
        &[
            Check::TokenRises,
            Check::BelievedLeaders,
            Check::TokenHolder,
        ],
        100,
    );
}

#[test]
fn validity_from_send_off_breaks_believed_leaders() {
    is_killed(
        muted,
        Rule::ValidityFromSend,
        Check::BelievedLeaders,
        &[],
        200,
    );
}

/// The lease lapses while answers to a later round are on their way: what comes late must not bring the tenure back.
#[test]
fn lapse_deposes_off_breaks_never_revives() {
    is_killed(muted, Rule::LapseDeposes, Check::NeverRevives, &[], 100);
}

#[test]
fn with_every_rule_on_nothing_breaks_there() {
    for seed in 0..50 {
        assert_eq!(broken(&muted(seed)), []);
    }
}

#[test]
fn what_no_lease_or_no_fence_promises_is_broken_by_design() {
    let outcome = |json: &str, check| {
        let scenario = Scenario::parse(json).unwrap();
        (0..20)
            .map(|seed| {
                let mut world = World::new(&scenario.clone().with_seed(seed));
                world.run();
                world.judges().verdict(check).outcome
            })
            .find(|outcome| matches!(outcome, Outcome::Broken | Outcome::BrokenByDesign))
    };
    let cut = r#""faults": [{"at": "2s", "partition": [["leader", "follower"], ["rest"]]}, {"at": "4s", "heal": "all"}]"#;
    let unsafe_mode = format!(
        r#"{{"tenure": 1, "scheme": "raft", "duration": "6s", "raft": {{"safeMode": false}}, {cut}}}"#
    );
    assert_eq!(
        outcome(&unsafe_mode, Check::BelievedLeaders),
        Some(Outcome::BrokenByDesign)
    );
    let safe_mode = format!(r#"{{"tenure": 1, "scheme": "raft", "duration": "6s", {cut}}}"#);
    assert_eq!(outcome(&safe_mode, Check::BelievedLeaders), None);

    let delayed = |takeover: &str| {
        format!(
            r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "6s",
                 "client": {{"writeDelay": "700ms", "takeover": "{takeover}"}}, "faults": [{{"at": "3s", "crash": "leader"}}]}}"#
        )
    };
    assert_eq!(
        outcome(&delayed("read-first"), Check::StaleWriteFenced),
        Some(Outcome::BrokenByDesign)
    );
    assert_eq!(
        outcome(&delayed("fence-first"), Check::StaleWriteFenced),
        None
    );
    assert_eq!(
        outcome(&delayed("fence-first"), Check::StaleWriteUnfenced),
        Some(Outcome::BrokenByDesign)
    );
}

/// What the playground does not offer where there is no log does nothing there.
#[test]
fn a_rule_of_the_log_makes_no_difference_without_one() {
    let hash = |scenario: &Scenario| {
        let mut world = World::new(scenario);
        world.run();
        world.trace().digest()
    };
    let (of_log, others): (Vec<Rule>, Vec<Rule>) =
        Rule::ALL.into_iter().partition(|rule| rule.is_of_log());
    let differs = |rule: Rule, seed| {
        let whole = random(seed);
        hash(&whole) != hash(&whole.without(&[rule]).unwrap())
    };
    for rule in of_log {
        assert!((0..3).all(|seed| !differs(rule, seed)), "{rule:?}");
    }
    // Most of the others do in some schedule of a few: the comparison can fail.
    let told = others
        .iter()
        .filter(|rule| (0..3).any(|seed| differs(**rule, seed)));
    assert!(told.count() > others.len() / 2);
}

#[test]
fn a_scenario_tells_the_rules_of_its_scheme() {
    let rules = |text: &str| Scenario::parse(text).unwrap().rules();
    let raft = rules(r#"{"tenure": 1, "scheme": "raft"}"#);
    assert!(raft.contains(&"pre-vote") && !raft.contains(&"log-matching"));
    let log = rules(r#"{"tenure": 1, "scheme": "raft", "raft": {"log": true}}"#);
    assert_eq!(log, tenure_sim::scenario::rule_names());
    let redlock = rules(r#"{"tenure": 1, "scheme": "redlock"}"#);
    assert!(redlock.contains(&"majority-of-configured") && !redlock.contains(&"own-clock-only"));
    let kraft = rules(r#"{"tenure": 1, "scheme": "kraft"}"#);
    assert!(kraft.contains(&"check-quorum") && !kraft.contains(&"clean-election"));
    let brokers = rules(r#"{"tenure": 1, "scheme": "kraft", "brokers": {}}"#);
    assert!(brokers.contains(&"check-quorum") && brokers.contains(&"clean-election"));
}
