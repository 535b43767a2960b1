//! What becomes of acknowledged records when the disks of Kafka's brokers lie, fail, or are replaced.

use tenure_sim::check::{Check, Outcome, Verdict};
use tenure_sim::fault::{Action, Damage, Who};
use tenure_sim::node::Status;
use tenure_sim::world::World;
use tenure_sim::{Refusal, Scenario};

/// A run of 70 s in which b2 leads first, with these brokers, rules and faults.
fn run(brokers: &str, rest: &str, faults: &str) -> Result<World, Refusal> {
    let file = format!(
        r#"{{"tenure": 1, "scheme": "kraft", "nodes": 3, "seed": "1", "duration": "70s", "brokers": {{{brokers}}},
            "client": {{"every": "100ms"}}, {rest} "faults": [{faults}]}}"#
    );
    let mut world = World::new(&Scenario::parse(&file)?);
    world.run();
    Ok(world)
}

fn acknowledged(world: &World) -> Verdict {
    world.verdict(Check::KafkaNoAckLoss)
}

fn committed(world: &World) -> Outcome {
    world.verdict(Check::KafkaCleanNoLoss).outcome
}

/// All are told to go, one after another, then the power goes, and all come back.
const SWITCHED_OFF: &str = r#"{"at": "20s", "resign": "b1"}, {"at": "22s", "resign": "b3"}, {"at": "24s", "resign": "b2"},
    {"at": "30s", "power-cut": "b1"}, {"at": "30s", "power-cut": "b2"}, {"at": "30s", "power-cut": "b3"},
    {"at": "32s", "restart": "b1"}, {"at": "32s", "restart": "b2"}, {"at": "32s", "restart": "b3"}"#;

/// The followers die, and the leader alone is in sync when its disk is lost.
const LAST_ONE_LOST: &str = r#"{"at": "10s", "crash": "b1"}, {"at": "10s", "crash": "b3"}, {"at": "25s", "wipe": "b2"},
    {"at": "27s", "restart": "b2"}, {"at": "50s", "restart": "b1"}, {"at": "50s", "restart": "b3"}"#;

#[test]
fn a_proof_of_a_good_end_is_worth_what_the_disk_is_worth() -> Result<(), Refusal> {
    let honest = run("", "", SWITCHED_OFF)?;
    assert_eq!(acknowledged(&honest).outcome, Outcome::Holds);
    assert_eq!(committed(&honest), Outcome::Holds);
    let lie = r#"{"at": "8s", "lie": "b1"}, {"at": "8s", "lie": "b2"}, {"at": "8s", "lie": "b3"},"#;
    let lying = run("", "", &format!("{lie} {SWITCHED_OFF}"))?;
    assert_eq!(acknowledged(&lying).outcome, Outcome::Broken);
    assert_eq!(committed(&lying), Outcome::Broken);
    // Each lie mattered: it took something with the power.
    let lies = Action::Damage(Who::Server(0), Damage::Lie).kind();
    assert_eq!(lying.faults().mattered[lies], 3);
    Ok(())
}

#[test]
fn fewer_lost_disks_than_are_to_be_in_sync_lose_nothing() -> Result<(), Refusal> {
    for lost in ["b1", "b2", "b3"] {
        let wiped =
            format!(r#"{{"at": "10s", "wipe": "{lost}"}}, {{"at": "12s", "restart": "{lost}"}}"#);
        let world = run("", "", &wiped)?;
        assert_eq!(acknowledged(&world).outcome, Outcome::Holds, "{lost}");
        assert_eq!(committed(&world), Outcome::Holds, "{lost}");
        let again = world.verdict(Check::KafkaInSyncAgain);
        assert_eq!(
            (again.outcome, again.tally.exercised),
            (Outcome::Holds, 2),
            "{lost}"
        );
        let wipes = Action::Damage(Who::Server(0), Damage::Wipe).kind();
        assert_eq!(world.faults().mattered[wipes], 1);
    }
    Ok(())
}

#[test]
fn with_every_disk_what_was_acknowledged_is_lost_by_design() -> Result<(), Refusal> {
    let all = r#"{"at": "10s", "wipe": "b1"}, {"at": "10s", "wipe": "b2"}, {"at": "10s", "wipe": "b3"},
        {"at": "12s", "restart": "b1"}, {"at": "12s", "restart": "b2"}, {"at": "12s", "restart": "b3"}"#;
    let world = run("", "", all)?;
    let verdict = acknowledged(&world);
    assert_eq!(verdict.outcome, Outcome::BrokenByDesign);
    assert!(verdict.detail.contains("led last"), "{}", verdict.detail);
    assert_eq!(committed(&world), Outcome::Holds);
    Ok(())
}

#[test]
fn who_lost_its_disk_is_noticed_with_elr_and_by_the_rule_that_says_so() -> Result<(), Refusal> {
    let noticed = acknowledged(&run("", "", LAST_ONE_LOST)?);
    assert_eq!(noticed.outcome, Outcome::BrokenByDesign);
    let ignored = run("", r#""rulesOff": ["unclean-leaves"],"#, LAST_ONE_LOST)?;
    assert_eq!(acknowledged(&ignored).outcome, Outcome::Broken);
    let without = acknowledged(&run(
        r#""eligibleLeaderReplicas": false"#,
        "",
        LAST_ONE_LOST,
    )?);
    assert_eq!(without.outcome, Outcome::BrokenByDesign);
    assert!(without.detail.contains("without ELR"), "{}", without.detail);
    Ok(())
}

#[test]
fn without_unclean_elections_nothing_acknowledged_is_lost_and_with_them_it_is_by_design()
-> Result<(), Refusal> {
    let alone = r#"{"at": "10s", "crash": "b1"}, {"at": "10s", "crash": "b3"}, {"at": "30s", "crash": "b2"},
        {"at": "32s", "restart": "b1"}, {"at": "32s", "restart": "b3"}, {"at": "50s", "restart": "b2"}"#;
    let one = r#""minInsyncReplicas": 1"#;
    let clean = acknowledged(&run(one, "", alone)?);
    assert_eq!(clean.outcome, Outcome::Holds);
    assert!(clean.detail.contains("with acks=all"), "{}", clean.detail);
    let unclean = run(
        &format!(r#"{one}, "uncleanLeaderElection": true"#),
        "",
        alone,
    )?;
    let unclean = acknowledged(&unclean);
    assert_eq!(unclean.outcome, Outcome::BrokenByDesign);
    assert!(unclean.detail.contains("unclean"), "{}", unclean.detail);
    // That they are allowed excuses nothing where none took place.
    let allowed = r#""uncleanLeaderElection": true"#;
    let off = run(allowed, r#""rulesOff": ["unclean-leaves"],"#, LAST_ONE_LOST)?;
    assert_eq!(acknowledged(&off).outcome, Outcome::Broken);
    Ok(())
}

#[test]
fn a_broker_dies_with_its_disk_and_others_go_on() -> Result<(), Refusal> {
    let world = run("", "", r#"{"at": "8s", "fail": "b2"}"#)?;
    let status: Vec<Status> = world.servers().map(|server| server.status()).collect();
    assert_eq!(status, [Status::Up, Status::Crashed, Status::Up]);
    assert_eq!(acknowledged(&world).outcome, Outcome::Holds);
    let fails = Action::Damage(Who::Server(0), Damage::Fail).kind();
    assert_eq!(world.faults().mattered[fails], 1);
    // Another led since, and told producers so.
    let led = world.verdict(Check::KafkaOneLeader).tally.exercised;
    assert_eq!(led, 2);
    // Nobody who is to go has a proof of a good end when its disk fails at the end.
    let both = r#"{"at": "8s", "fail": "b2"}, {"at": "8100ms", "resign": "b2"}, {"at": "12s", "restart": "b2"}"#;
    assert_eq!(acknowledged(&run("", "", both)?).outcome, Outcome::Holds);
    Ok(())
}

#[test]
fn what_was_so_already_has_no_effect() -> Result<(), Refusal> {
    let twice = r#"{"at": "8s", "lie": "b1"}, {"at": "9s", "lie": "b1"}, {"at": "9s", "fail": "b3"}, {"at": "9s", "fail": "b3"},
        {"at": "15s", "wipe": "b1"}, {"at": "16s", "wipe": "b1"}"#;
    let world = run("", "", twice)?;
    let effective: Vec<u32> = [Damage::Lie, Damage::Fail, Damage::Wipe]
        .map(|damage| world.faults().effective[Action::Damage(Who::Server(0), damage).kind()])
        .to_vec();
    assert_eq!(effective, [1, 1, 1]);
    Ok(())
}
