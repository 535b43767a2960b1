//! Kafka's brokers and partitions among faults, and in files.

use tenure_sim::check::{Check, Elections, Outcome};
use tenure_sim::mutants::{Mutant, Trial};
use tenure_sim::schedule::{Among, Setting, make};
use tenure_sim::sweep::{Of, Sweep, TWICE};
use tenure_sim::world::World;
use tenure_sim::{Refusal, Scenario};

#[test]
fn some_hundred_seeds_hold_and_nothing_is_vacuous() {
    let setting = Setting::among(Among::kafka());
    let mut sweep = Sweep::default();
    for seed in 0..200 {
        sweep.add(seed, &setting, TWICE).unwrap();
    }
    assert_eq!(sweep.failing, []);
    assert!(sweep.holds(), "{:?}", sweep.vacuous());
    let (_, failure) = Sweep::canary(0, Of::Kafka).unwrap().unwrap();
    assert_eq!(failure.check, Check::KafkaCleanNoLoss);
}

/// Leaders come out of the ISR, out of the ELR, and where that is allowed out of nowhere.
#[test]
fn leaders_come_to_lead_in_every_way() {
    let mut all = Elections::default();
    for seed in 0..60 {
        let setting = Setting::among(Among::kafka());
        let made = make(seed, &setting, |_| ()).unwrap();
        let elections = made.world.judges().elections().unwrap();
        all.in_sync += elections.in_sync;
        all.eligible += elections.eligible;
        all.unclean += elections.unclean;
    }
    assert!(
        all.in_sync > 100 && all.eligible > 10 && all.unclean > 10,
        "{all:?}"
    );
}

/// What was acknowledged by all in sync is lost where an election was unclean or a disk lost its end, which is by design, and
/// nowhere else.
#[test]
fn with_all_in_sync_and_clean_elections_no_acknowledged_record_is_lost() {
    let (mut kept, mut lost) = (0, 0);
    for seed in 0..160 {
        let setting = Setting::among(Among::kafka());
        let made = make(seed, &setting, |_| ()).unwrap();
        let brokers = made.scenario.brokers().unwrap();
        let verdict = made.world.verdict(Check::KafkaNoAckLoss);
        assert_ne!(verdict.outcome, Outcome::Broken, "{seed}");
        let gone = verdict.tally.broken;
        let clean = made.world.judges().elections().unwrap().unclean == 0;
        if brokers.acks == tenure::isr::Acks::All && brokers.elr && clean {
            assert_eq!(gone, 0, "{seed}");
            kept += 1;
        } else {
            lost += u64::from(gone > 0);
        }
    }
    assert!(kept > 20 && lost > 20, "{kept} {lost}");
}

/// Of two unclean elections in a row the leader by the first may come after the second, and lack what it may.
#[test]
fn a_leader_by_an_unclean_election_may_come_after_the_next_one() {
    let made = make(5014, &Setting::among(Among::kafka()), |_| ()).unwrap();
    let verdict = made.world.verdict(Check::KafkaNoAckLoss);
    assert_eq!(verdict.outcome, Outcome::BrokenByDesign);
}

#[test]
fn the_rules_of_partitions_are_noticed_in_few_schedules() {
    let (mut noticed, mut by_hand) = (Vec::new(), 0);
    for mutant in Mutant::all() {
        if !matches!(mutant.setting.among, Some(Among::Kafka(_))) {
            continue;
        }
        if mutant.unreachable().is_some() {
            by_hand += 1;
            continue;
        }
        for seed in 0..40 {
            match mutant.trial(seed).unwrap() {
                Trial::Killed(_) => {
                    noticed.push(mutant.name);
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
    assert!(noticed.len() >= 6, "{noticed:?}");
    assert_eq!(by_hand, 5);
}

#[test]
fn a_file_says_what_is_left_out_and_reads_back() {
    let bare = r#"{"tenure": 1, "scheme": "kraft", "nodes": 3, "brokers": {"acks": "1"},
        "rulesOff": ["maximal-isr", "pre-vote"], "faults": [{"at": "1s", "resign": "b3"}]}"#;
    let scenario = Scenario::parse(bare).unwrap();
    let written = scenario.to_json();
    assert!(written.contains(r#""sessionTimeout":"9s""#), "{written}");
    assert!(
        written.contains(r#""rulesOff":["pre-vote","maximal-isr"]"#),
        "{written}"
    );
    assert_eq!(Scenario::parse(&written).unwrap().to_json(), written);
    assert_eq!(scenario.servers(), 3);
}

/// A topic is deleted and another one made, again and again.
#[test]
fn topics_come_and_go() {
    let file = r#"{"tenure": 1, "scheme": "kraft", "nodes": 3, "duration": "40s",
        "brokers": {"partitions": 2, "recreateTopics": "8s"}}"#;
    let mut world = World::new(&Scenario::parse(file).unwrap());
    world.run();
    // Each partition of each topic has a leader of its own epoch.
    let led = world.verdict(Check::KafkaOneLeader).tally.exercised;
    assert!(led >= 8, "{led}");
    assert_eq!(
        world.verdict(Check::KafkaInSyncAgain).outcome,
        Outcome::Holds
    );
}

/// A broker that is told to go leads nothing any more when its process ends, and nothing waits for its session.
#[test]
fn a_broker_that_goes_in_good_order_is_not_waited_for() -> Result<(), Refusal> {
    let stopped = |action: &str| -> Result<u64, Refusal> {
        let file = format!(
            r#"{{"tenure": 1, "scheme": "kraft", "nodes": 3, "duration": "30s",
            "brokers": {{}}, "client": {{"every": "50ms"}}, "faults": [{{"at": "10s", {action}}}]}}"#
        );
        let mut world = World::new(&Scenario::parse(&file)?);
        world.run_until(15_000_000);
        Ok(world.verdict(Check::KafkaNoAckLoss).tally.exercised)
    };
    let (resigned, crashed) = (stopped(r#""resign": "b2""#)?, stopped(r#""crash": "b2""#)?);
    assert!(resigned > crashed + 50, "{resigned} {crashed}");
    Ok(())
}
