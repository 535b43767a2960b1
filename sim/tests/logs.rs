//! Worlds whose nodes replicate a log, and keep a store on it.

use tenure_sim::check::{Check, Outcome, Verdict};
use tenure_sim::physics::trace::Kind;
use tenure_sim::scheme::{Machine, Scheme};
use tenure_sim::store::Errand;
use tenure_sim::world::replication;
use tenure_sim::{Scenario, World};

const JUDGES: [Check; 9] = [
    Check::LogMatching,
    Check::LeaderCompleteness,
    Check::StateMachineAgreement,
    Check::CommittedIsDurable,
    Check::AcknowledgedSurvives,
    Check::TermsBurnt,
    Check::LinearizableStore,
    Check::CommitRises,
    Check::LocalReads,
];

fn scenario(rest: &str) -> Scenario {
    let json = format!(
        r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "raft": {{"log": true}}, "duration": "12s", {rest}}}"#
    );
    Scenario::parse(&json).unwrap()
}

fn run(scenario: &Scenario) -> World {
    let mut world = World::new(scenario);
    world.record_histories();
    world.trace_mut().recording = true;
    world.run();
    world
}

fn applied(world: &World, node: usize) -> u64 {
    let replica = world.node(node).unwrap().replica();
    replica.map_or(0, |replica| replica.applied().index)
}

#[test]
fn a_log_is_asked_for_and_left_out_otherwise() {
    let with = scenario(r#""seed": "3""#);
    assert!(with.log && with.to_json().contains(r#""log":true"#));
    assert!(Scenario::parse(&with.to_json()).unwrap().log);
    let without = Scenario::parse(r#"{"tenure": 1, "scheme": "raft"}"#).unwrap();
    assert!(!without.log && !without.to_json().contains("log"));
    let refusal = Scenario::parse(r#"{"tenure": 1, "scheme": "raft", "raft": {"log": "yes"}}"#);
    let refusal = refusal.unwrap_err().to_string();
    assert!(
        refusal.contains("raft.log") && refusal.contains("true or false"),
        "{refusal}"
    );
}

#[test]
fn every_judge_of_logs_is_asked_where_there_is_one_and_none_elsewhere() {
    let world = run(&scenario(
        r#""faults": [{"at": "3s", "crash": "leader"}, {"at": "4s", "restart": "crashed"}]"#,
    ));
    for check in JUDGES {
        let verdict = world.verdict(check);
        assert_eq!(verdict.outcome, Outcome::Holds, "{verdict:?}");
    }
    let without =
        run(&Scenario::parse(r#"{"tenure": 1, "scheme": "raft", "duration": "3s"}"#).unwrap());
    let about_logs = |check| JUDGES.contains(&check);
    assert!(
        !without
            .verdicts()
            .iter()
            .any(|verdict| about_logs(verdict.check))
    );
}

#[test]
fn who_was_away_takes_over_a_snapshot_and_goes_on_from_there() {
    let world = run(&scenario(
        r#""faults": [{"at": "2s", "crash": "follower"}, {"at": "8s", "restart": "crashed"}]"#,
    ));
    let installed = |kind| world.trace().fresh.iter().any(|event| event.kind == kind);
    assert!(installed(Kind::Installed));
    let all: Vec<u64> = (0..3).map(|node| applied(&world, node)).collect();
    assert!(
        all.iter()
            .all(|index| *index > 350 && index.abs_diff(all[0]) < 50),
        "{all:?}"
    );
    // The log begins at a snapshot, and what comes before is kept nowhere.
    let log = world.node(0).unwrap().machine().unwrap().log().unwrap();
    assert!(log.base().index > 250 && log.last().index - log.base().index < 200);
}

#[test]
fn the_store_answers_after_the_leader_that_took_the_request_is_gone() {
    let crash = run(&scenario(r#""faults": [{"at": "5s", "crash": "leader"}]"#));
    let survivors = (0..3).filter(|node| applied(&crash, *node) > 0);
    assert_eq!(survivors.count(), 2);
    let revisions: Vec<u64> = (0..3)
        .filter_map(|node| crash.node(node)?.replica())
        .map(|replica| replica.kv().revision())
        .collect();
    assert!(
        revisions.iter().all(|revision| *revision > 150),
        "{revisions:?}"
    );
    assert!(crash.verdict(Check::AcknowledgedSurvives).tally.exercised > 0);
}

#[test]
fn watchers_see_every_change_whatever_becomes_of_the_server_they_watch_at() {
    let watched = |rest: &str| {
        let world = run(&scenario(&format!(
            r#""client": {{"watches": true}}, "seed": "4", {rest}"#
        )));
        world.verdict(Check::WatchComplete)
    };
    for faults in [
        r#"{"at": "3s", "crash": "leader"}, {"at": "5s", "restart": "crashed"}"#,
        r#"{"at": "3s", "crash": "n1"}, {"at": "4s", "restart": "n1"}, {"at": "5s", "crash": "n2"}, {"at": "6s", "restart": "n2"},
           {"at": "7s", "crash": "n3"}, {"at": "8s", "restart": "n3"}"#,
        r#"{"at": "3s", "pause": "follower"}, {"at": "7s", "resume": "paused"}"#,
        r#"{"at": "3s", "partition": [["follower"], ["rest"]]}, {"at": "7s", "heal": "all"}"#,
    ] {
        let verdict = watched(&format!(r#""faults": [{faults}]"#));
        let holds = verdict.outcome == Outcome::Holds && verdict.tally.exercised > 300;
        assert!(holds, "{faults}: {verdict:?}");
    }
    // Who watches nothing judges nothing.
    let without = run(&scenario(r#""seed": "4""#));
    let asked = |verdict: &Verdict| verdict.check == Check::WatchComplete;
    assert!(!without.verdicts().iter().any(asked));
}

#[test]
fn a_world_with_a_log_has_the_same_trace_twice_and_with_its_histories_recorded() {
    let scenario =
        scenario(r#""seed": "9", "network": {"loss": "5%"}, "client": {"watches": true}"#);
    let mut plain = World::new(&scenario);
    plain.run();
    assert_eq!(run(&scenario).trace().hash(), plain.trace().hash());
}

/// One node of [`World::write_logs`]: its fields, its runs, and what it knows of its followers.
type Shown = (Vec<f64>, Vec<(u64, u64)>, Vec<[u64; 4]>);

fn shown(world: &World) -> Vec<Shown> {
    let mut out = Vec::new();
    world.write_logs(&mut out);
    let (mut rest, mut logs) = (&out[..], Vec::new());
    while let Some((head, after)) = rest.split_at_checked(replication::LOG) {
        let (runs, after) = after.split_at(head[7] as usize * replication::RUN);
        let (known, after) = after.split_at(head[8] as usize * replication::FOLLOWER);
        logs.push((
            head.to_vec(),
            runs.chunks(2)
                .map(|run| (run[0] as u64, run[1] as u64))
                .collect(),
            known
                .chunks(4)
                .map(|one| [one[0], one[1], one[2], one[3]].map(|number| number as u64))
                .collect(),
        ));
        rest = after;
    }
    assert!(rest.is_empty());
    logs
}

#[test]
fn the_logs_are_shown_as_the_machines_have_them() {
    let scenario =
        scenario(r#""faults": [{"at": "3s", "crash": "n2"}, {"at": "5s", "crash": "leader"}]"#);
    let mut world = World::new(&scenario);
    for at in (0..6_000_000).step_by(7_919) {
        world.run_until(at);
        let logs = shown(&world);
        assert_eq!(logs.len(), 3);
        for (place, (head, runs, known)) in logs.into_iter().enumerate() {
            let node = world.node(place).unwrap();
            let [number, base, _, last, committed, applied, durable] =
                head[..7].try_into().unwrap();
            assert_eq!(number as usize, place);
            let entries: u64 = runs.iter().map(|(_, count)| count).sum();
            assert_eq!(base as u64 + entries, last as u64);
            assert!(base <= durable && durable <= last, "{head:?}");
            let Some(machine) = node.machine().and_then(Machine::raft) else {
                // A process that is down shows its disk.
                assert_eq!((committed, applied, durable), (-1.0, -1.0, last));
                continue;
            };
            let log = machine.log();
            assert!(log.runs().eq(runs));
            assert_eq!(committed as u64, machine.commit().max(base as u64));
            assert_eq!(applied as u64, node.replica().unwrap().applied().index);
            let leads = machine.role() == tenure::raft::Role::Leader;
            assert_eq!(known.len(), if leads { 2 } else { 0 });
            for [other, matched, next, _] in known {
                let progress = machine.progress(tenure::NodeId(other)).unwrap();
                assert_eq!((matched, next), (progress.matched, progress.next));
            }
        }
    }
}

#[test]
fn clients_are_shown_with_what_they_wait_for_and_what_they_were_answered() {
    let scenario = scenario(r#""seed": "5""#);
    let mut world = World::new(&scenario);
    let mut out = Vec::new();
    let mut waited = [false; Errand::KINDS];
    for at in (0..6_000_000).step_by(1_009) {
        world.run_until(at);
        world.write_clients(&mut out);
        assert_eq!(out.len(), 3 * replication::CLIENT);
        for client in out.chunks(replication::CLIENT) {
            if client[1] >= 0.0 {
                waited[client[1] as usize] = true;
                assert!(client[2] >= 0.0 && client[2] as u64 <= at);
            }
        }
    }
    assert_eq!(waited, [true; Errand::KINDS]);
    let answered = |errand: usize| -> f64 {
        out.chunks(replication::CLIENT)
            .map(|client| client[3 + errand])
            .sum()
    };
    assert!((0..Errand::KINDS).all(|errand| answered(errand) > 0.0));
    let mut without = World::new(&Scenario::parse(r#"{"tenure": 1, "scheme": "raft"}"#).unwrap());
    without.run_until(1_000_000);
    without.write_logs(&mut out);
    assert!(out.is_empty());
    without.write_clients(&mut out);
    assert!(out.is_empty());
}

#[test]
fn a_leader_that_was_frozen_beyond_its_lease_stops_its_work_before_it_goes_on_with_it() {
    // What a client asked meanwhile is answered first, and lets the machine look at the time.
    let world = run(&scenario(
        r#""seed": "7", "network": {"latency": ["5ms", "5ms"]}, "jobs": {"every": "300ms", "takes": "511ms"},
           "faults": [{"at": "300ms", "partition": [["leader"], ["rest"]]}, {"at": "400ms", "pause": "leader"},
                      {"at": "850ms", "resume": "n1"}]"#,
    ));
    let verdict = world.verdict(Check::JobsConcurrent);
    assert_eq!(verdict.outcome, Outcome::Holds, "{verdict:?}");
}
