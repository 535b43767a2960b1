//! Services with a mistake: each of the judges of workloads finds the one that it is there for, and no other does.

use super::World;
use super::env::Flaw;
use crate::check::Check;
use crate::failure::Failure;
use crate::scenario::Scenario;

/// What is broken of these, by the whole run of a service with a mistake.
fn broken(flaw: Option<Flaw>, scenario: &Scenario) -> Vec<Check> {
    let mut world = World::new(scenario);
    world.record_histories();
    world.env.flaw = flaw;
    world.run();
    let failures = Failure::all(&world);
    failures.iter().map(|failure| failure.check).collect()
}

/// Over some seeds: what the mistake breaks, and that nothing is broken without it.
fn broken_by(flaw: Flaw, rest: &str) -> Vec<Check> {
    let json = format!(
        r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "8s",
            "jobs": {{"every": "200ms", "takes": "120ms"}}, {rest}}}"#
    );
    let scenario = Scenario::parse(&json).unwrap();
    let mut all = Vec::new();
    for seed in 0..16 {
        let scenario = scenario.clone().with_seed(seed);
        assert_eq!(broken(None, &scenario), [], "seed {seed}");
        all.extend(broken(Some(flaw), &scenario));
    }
    all.sort_unstable();
    all.dedup();
    all
}

const CRASH: &str =
    r#""faults": [{"at": "3s", "crash": "leader"}, {"at": "5s", "restart": "crashed"}]"#;

#[test]
fn a_write_that_is_acknowledged_and_not_written_is_found_by_the_clients_history() {
    assert_eq!(
        broken_by(Flaw::AcknowledgesUnwritten, CRASH),
        [Check::LinearizableClient]
    );
}

#[test]
fn a_job_that_its_new_leader_forgets_is_lost() {
    assert_eq!(broken_by(Flaw::ForgetsOthers, CRASH), [Check::JobsLost]);
}

#[test]
fn a_job_that_is_taken_over_blindly_by_who_read_before_it_fenced_is_run_twice() {
    // The last effect of the old leader arrives between the reading of the new one and its claim. Either alone keeps that
    // from doing harm: to fence first, or the compare-and-swap.
    let slow = |takeover| {
        format!(
            r#""client": {{"takeover": "{takeover}", "writeDelay": "600ms", "every": "60min"}}, "network": {{"latency": ["20ms", "30ms"]}}, "faults": [{{"at": "2430ms", "crash": "leader"}}]"#
        )
    };
    assert_eq!(broken_by(Flaw::TakesBlindly, &slow("fence-first")), []);
    assert_eq!(
        broken_by(Flaw::TakesBlindly, &slow("read-first")),
        [Check::JobsTwiceFenced]
    );
}

#[test]
fn work_that_goes_on_beyond_the_tenure_is_concurrent_with_the_next_ones() {
    let cut_off = r#""jobs": {"every": "5s", "takes": "2s"}, "faults": [{"at": "5500ms", "partition": [["leader"], ["rest"]]}]"#;
    let json =
        format!(r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "12s", {cut_off}}}"#);
    let scenario = Scenario::parse(&json).unwrap();
    assert_eq!(broken(None, &scenario), []);
    assert_eq!(
        broken(Some(Flaw::WorksOn), &scenario),
        [Check::JobsConcurrent]
    );
}

/// Over some seeds: what the mistake breaks in worlds whose clients watch, and that nothing is broken without it.
fn broken_for_watchers(flaw: Flaw) -> Vec<Check> {
    let rest = r#""client": {"watches": true}, "network": {"latency": ["5ms", "20ms"]},
        "faults": [{"at": "2s", "crash": "leader"}, {"at": "4s", "restart": "crashed"}, {"at": "5s", "pause": "follower"}, {"at": "6s", "resume": "paused"}]"#;
    let json = format!(
        r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "raft": {{"log": true}}, "duration": "10s", {rest}}}"#
    );
    let scenario = Scenario::parse(&json).unwrap();
    let mut all = Vec::new();
    for seed in 0..8 {
        let scenario = scenario.clone().with_seed(seed);
        assert_eq!(broken(None, &scenario), [], "seed {seed}");
        all.extend(broken(Some(flaw), &scenario));
    }
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn a_watch_that_begins_later_or_earlier_than_it_is_asked_to_is_found() {
    for flaw in [Flaw::WatchesFromNow, Flaw::WatchesFromBefore] {
        assert_eq!(broken_for_watchers(flaw), [Check::WatchComplete]);
    }
}
