//! Kafka's controllers among faults, and in files.

use tenure_sim::check::Check;
use tenure_sim::mutants::{Mutant, Trial};
use tenure_sim::schedule::Among;
use tenure_sim::sweep::{Of, Sweep, TWICE};
use tenure_sim::world::World;
use tenure_sim::{Scenario, schedule::Setting};

#[test]
fn some_hundred_seeds_hold_and_nothing_is_vacuous() {
    let setting = Setting::among(Among::kraft());
    let mut sweep = Sweep::default();
    for seed in 0..300 {
        sweep.add(seed, &setting, TWICE).unwrap();
    }
    assert_eq!(sweep.failing, []);
    assert!(sweep.holds(), "{:?}", sweep.vacuous());
    let (_, failure) = Sweep::canary(0, Of::Kraft).unwrap().unwrap();
    assert_eq!(failure.check, Check::OneLeaderPerTerm);
}

#[test]
fn the_rules_of_votes_are_noticed_in_few_schedules() {
    let mut noticed = 0;
    for mutant in Mutant::all() {
        if !matches!(mutant.setting.among, Some(Among::Kraft(_))) || mutant.unreachable().is_some()
        {
            continue;
        }
        for seed in 0..40 {
            match mutant.trial(seed).unwrap() {
                Trial::Killed(_) => {
                    noticed += 1;
                    break;
                }
                Trial::Undeclared(failure) => panic!(
                    "without {}, seed {seed}: {} broke",
                    mutant.name,
                    failure.check.name()
                ),
                Trial::Survived | Trial::Followed(_) => {}
            }
        }
    }
    assert!(noticed >= 12, "{noticed}");
}

#[test]
fn a_file_says_what_is_left_out_and_reads_back() {
    let bare = r#"{"tenure": 1, "scheme": "kraft", "nodes": 4, "kraft": {"observers": 1}}"#;
    let scenario = Scenario::parse(bare).unwrap();
    let written = scenario.to_json();
    assert!(written.contains(r#""fetchTimeout":"2s""#), "{written}");
    assert_eq!(Scenario::parse(&written).unwrap().to_json(), written);
    assert_eq!(scenario.voters(), 3);
}

/// Failover by stage with Kafka's own timeouts: a follower doubts its leader after a fetch timeout, and one is elected.
#[test]
fn a_dead_leader_costs_a_fetch_timeout_and_an_election() {
    let file = r#"{"tenure": 1, "scheme": "kraft", "nodes": 3, "duration": "20s",
        "faults": [{"at": "8s", "crash": "leader"}]}"#;
    for seed in 1..=20 {
        let scenario = Scenario::parse(file).unwrap().with_seed(seed);
        let mut world = World::new(&scenario);
        world.run();
        let gaps = world.judges().leaderless();
        let took = gaps.iter().find(|(from, _)| *from >= 8_000_000);
        let (from, until) = *took.unwrap();
        assert!(
            (1_400_000..6_100_000).contains(&(until - from)),
            "{seed}: {from} {until}"
        );
    }
}
