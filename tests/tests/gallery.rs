//! The gallery: every scenario ends as it says it will, and its trace is the one on record.
//!
//! `traces.txt` holds the hash of every trace. Node.js and Chromium are held to the same file (law W1), and a change of
//! behaviour shows in review. After a change that is meant: `UPDATE_TRACES=1 cargo test -p tenure-tests --test gallery`.

use tenure_sim::report::Report;
use tenure_sim::{Scenario, World};
use tenure_tests::{gallery, scenarios};

#[test]
fn every_scenario_ends_as_it_says() {
    let files = scenarios(&gallery()).unwrap();
    assert!(
        files.len() >= 20,
        "the gallery has only {} scenarios",
        files.len()
    );
    for (name, text) in files {
        let scenario = Scenario::parse(&text).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        assert!(!scenario.expect.is_empty(), "{name} expects nothing");
        // What it does not name must not be broken.
        let report = Report::of(scenario);
        assert!(report.as_expected(), "{name}: {}", report.to_text());
    }
}

#[test]
fn every_trace_is_the_one_on_record() {
    let record = gallery().join("traces.txt");
    let mut traces = String::new();
    for (name, text) in scenarios(&gallery()).unwrap() {
        let mut world = World::new(&Scenario::parse(&text).unwrap());
        world.run();
        traces.push_str(&format!(
            "{name} {} {}\n",
            world.trace().digest(),
            world.trace().count()
        ));
    }
    if std::env::var_os("UPDATE_TRACES").is_some() {
        std::fs::write(&record, &traces).unwrap();
    }
    let recorded = std::fs::read_to_string(&record).unwrap_or_default();
    assert_eq!(
        traces, recorded,
        "behaviour changed; if it was meant to: UPDATE_TRACES=1 cargo test -p tenure-tests"
    );
}

/// A scenario that was written down by the simulator runs the same.
#[test]
fn writing_and_reading_a_scenario_changes_nothing() {
    for (name, text) in scenarios(&gallery()).unwrap() {
        let read = Scenario::parse(&text).unwrap();
        let again =
            Scenario::parse(&read.to_json()).unwrap_or_else(|refusal| panic!("{name}: {refusal}"));
        let (mut first, mut second) = (World::new(&read), World::new(&again));
        first.run();
        second.run();
        assert_eq!(first.trace().digest(), second.trace().digest(), "{name}");
    }
}
