//! From a planted fault that a sweep finds to a small scenario that fails for the same reason.

use tenure::raft::Rule;
use tenure::{kraft, sentinel, zab};
use tenure_sim::check::{Check, Outcome};
use tenure_sim::failure::Failure;
use tenure_sim::minimise::{FEW, Minimised, minimise};
use tenure_sim::mutants::{Mutant, Trial};
use tenure_sim::report::Report;
use tenure_sim::schedule::{self, Among, Setting};
use tenure_sim::{Scenario, World};

/// The seed of a schedule in which a leader that answers a `sync` by itself is overtaken.
const SHIPPED_SYNC: u64 = 1_620;

/// The schedules that kill a mutant, in order of seeds, and how.
fn killers(mutant: &Mutant) -> impl Iterator<Item = (Scenario, Failure)> {
    (0..3_000).filter_map(|seed| match mutant.trial(seed).unwrap() {
        Trial::Killed(failure) => {
            let made = schedule::make(seed, &mutant.setting, |_| ()).unwrap();
            Some((made.scenario, failure))
        }
        _ => None,
    })
}

/// What the text of a scenario does.
fn first_failure(scenario: &Scenario) -> Option<Failure> {
    let mut world = World::new(&Scenario::parse(&scenario.to_json()).unwrap());
    world.run();
    Failure::first(&world)
}

fn minimised(scenario: &Scenario) -> Minimised {
    minimise(scenario, |_| true).unwrap()
}

#[test]
fn a_planted_fault_becomes_a_scenario_of_a_few_actions_that_fails_for_the_same_reason() {
    println!("rule | actions | left | nodes | tries | ms");
    for rule in [
        Rule::OneVoteATerm,
        Rule::NewTermNewVote,
        Rule::MajorityOfVoters,
        Rule::CountOnce,
        Rule::PromiseBindsCandidate,
        Rule::PromiseOutlivesRestart,
        Rule::PromiseOutlivesTerm,
        Rule::RedrawPerAttempt,
    ] {
        let mutant = Mutant::of(rule);
        let small = killers(&mutant).take(4).find_map(|(scenario, failure)| {
            let begun = std::time::Instant::now();
            let small = minimised(&scenario);
            println!(
                "{} | {} | {} | {} | {} | {}\n  {}",
                mutant.name,
                small.actions,
                small.scenario.faults.len(),
                small.scenario.nodes,
                small.tries,
                begun.elapsed().as_millis(),
                small.sentence
            );
            assert_eq!(small.actions, scenario.faults.len());
            assert_eq!(small.failure.check, failure.check);
            assert_eq!(first_failure(&small.scenario), Some(small.failure));
            (small.scenario.faults.len() <= FEW).then_some(small)
        });
        let small = small.unwrap_or_else(|| panic!("{rule:?}: more than {FEW} actions"));
        let read = Scenario::parse(&small.scenario.to_json()).unwrap();
        assert!(!read.title.en.is_empty() && !read.title.zh.is_empty());
        assert!(Report::of(read).as_expected(), "{}", small.sentence);
    }
}

#[test]
fn of_two_planted_faults_the_one_that_showed_first_is_kept() {
    let setting = Setting {
        off: vec![Rule::OneVoteATerm, Rule::MajorityOfVoters],
        ..Setting::default()
    };
    let mut reasons = Vec::new();
    for seed in 0..30 {
        let made = schedule::make(seed, &setting, |_| ()).unwrap();
        if let Some(failure) = Failure::first(&made.world) {
            let small = minimised(&made.scenario);
            assert_eq!(small.failure.check, failure.check, "{seed}");
            reasons.push(failure.check);
        }
    }
    for check in [Check::OneVotePerTerm, Check::OneLeaderPerTerm] {
        assert!(reasons.contains(&check), "{reasons:?}");
    }
}

#[test]
fn stopped_early_it_answers_with_something_that_still_fails() {
    let (scenario, failure) = killers(&Mutant::of(Rule::OneVoteATerm)).next().unwrap();
    for tries in [0, 1, 10] {
        let small = minimise(&scenario, |progress| progress.tries <= tries).unwrap();
        assert_eq!(small.failure.check, failure.check);
        assert_eq!(
            first_failure(&small.scenario).map(|failure| failure.check),
            Some(failure.check)
        );
        assert!(small.tries <= tries + 2);
    }
}

#[test]
fn a_run_that_holds_is_not_minimised() {
    assert!(minimise(&schedule::random(1).unwrap(), |_| true).is_none());
}

#[test]
fn the_scenario_says_what_breaks_and_when_in_both_languages() {
    let json = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "20s", "rulesOff": ["new-term-new-vote"],
        "faults": [{"at": "2s", "crash": "leader"}, {"at": "3s", "restart": "crashed"},
                   {"at": "8s", "crash": "leader"}, {"at": "9s", "restart": "crashed"}]}"#;
    let small = minimised(&Scenario::parse(json).unwrap());
    let expected = Check::LeaderAgain;
    assert_eq!(small.failure.check, expected, "{}", small.sentence);
    assert!(
        small
            .scenario
            .expect
            .contains(&(Check::LeaderAgain, Outcome::Broken))
    );
    assert!(small.scenario.title.en.contains("new-term-new-vote"));
    assert!(small.scenario.title.zh.contains("“重新有主”在"));
    assert!(small.sentence.starts_with("leader-again breaks at "));
}

/// Nodes that speak over connections are never tried without them: nobody could read the file.
#[test]
fn what_fails_among_peers_is_minimised_too() {
    let minimised = |seed: u64, among: Among| {
        let made = schedule::make(seed, &Setting::among(among), World::record_histories).unwrap();
        let failure = Failure::first(&made.world)?;
        let small = minimise(&made.scenario, |progress| progress.tries < 400);
        let small = small.unwrap_or_else(|| panic!("{failure:?} by seed {seed}"));
        assert_eq!(small.failure.check, failure.check, "{seed}");
        assert!(small.scenario.faults.len() <= made.scenario.faults.len());
        Some(failure.check)
    };
    let found: Vec<Check> = (kraft::Rule::ALL.iter())
        .filter_map(|rule| minimised(45, Among::Kraft(vec![*rule])))
        .collect();
    assert!(found.len() > 8, "{found:?}");
    assert!(found.contains(&Check::PreVoteQuiet), "{found:?}");
    // What is judged by what was recorded.
    let stale = minimised(SHIPPED_SYNC, Among::Zab(vec![zab::Rule::SyncByQuorum]));
    assert_eq!(stale, Some(Check::LinearizableStore));
    for seed in 0..100 {
        let careless = vec![sentinel::Rule::WaitAfterVote];
        if minimised(seed, Among::Sentinel(careless)).is_some() {
            return;
        }
    }
    panic!("no schedule breaks it");
}
