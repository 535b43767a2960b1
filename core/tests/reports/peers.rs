//! The tables of ZooKeeper, Redis Sentinel and Kafka, where a report has no other name than its own.

use super::{cited_at, read, sources};
use std::collections::BTreeSet;
use std::path::Path;

/// What was to be answered from the start. What came since is known by being cited.
const REPORTS: [&str; 57] = [
    "Z-3911",
    "Z-4646",
    "Z-4643",
    "Z-4785",
    "Z-4394",
    "Z-3104",
    "Z-3642",
    "Z-5094",
    "Z-2845",
    "Z-3701",
    "Z-1419",
    "Z-1514",
    "Z-1732",
    "Z-1805",
    "Z-3109",
    "Z-764",
    "Z-769",
    "Z-2959",
    "Z-1277",
    "Z-1291",
    "Z-1282",
    "Z-2307",
    "Z-4269",
    "redis#2230",
    "redis#12865",
    "redis@ed813863f",
    "redis@f4be6f16f",
    "redis#1972",
    "redis#9240",
    "redis#8786",
    "redis#6194",
    "redis@821a98664",
    "redis#10197",
    "redis@47750998a",
    "redis#1297",
    "redis#3362",
    "redis@2afa41f62",
    "redis#12570",
    "KAFKA-6082",
    "KAFKA-1188",
    "KAFKA-4447",
    "KAFKA-1029",
    "KAFKA-1451",
    "KAFKA-2437",
    "KAFKA-15489",
    "KAFKA-17641",
    "KAFKA-17333",
    "KAFKA-13104",
    "KAFKA-13916",
    "KAFKA-14140",
    "KAFKA-7128",
    "KAFKA-14704",
    "KAFKA-10706",
    "KAFKA-14154",
    "KAFKA-19522",
    "KAFKA-18106",
    "KAFKA-20895",
];

/// Which report a word names, if it is one: `Z-3911`, `KAFKA-6082`, `redis#2230`, `redis@ed813863f`.
fn named(word: &str) -> Option<&str> {
    let numbered = ["Z-", "KAFKA-", "redis#"].into_iter();
    let number = numbered
        .filter_map(|kind| word.strip_prefix(kind))
        .any(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    let commit = word.strip_prefix("redis@").is_some_and(|commit| {
        commit.len() >= 7 && commit.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    (number || commit).then_some(word)
}

/// The reports that a text names.
fn reports(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !"-#@".contains(c));
    words.filter_map(named).map(str::to_owned).collect()
}

/// What is wrong with the tables, where these reports are cited.
fn faults(table: &str, cited: &BTreeSet<String>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut known = BTreeSet::new();
    let is_row = |line: &&str| {
        let name = line
            .strip_prefix("| ")
            .and_then(|row| row.split(' ').next());
        name.is_some_and(|name| named(name).is_some())
    };
    for line in table.lines().filter(is_row) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", names, _, tests, ""] = cells[..] else {
            panic!("not three columns: {line}")
        };
        let mut open = BTreeSet::new();
        for name in names.split(' ') {
            if named(name).is_none() {
                faults.push(format!("{name} is no report"));
            } else if !known.insert(name.to_owned()) {
                faults.push(format!("{name} is there twice"));
            } else {
                open.insert(name.to_owned());
            }
        }
        let row = open.clone();
        for test in tests.split_whitespace().map(|test| test.trim_matches('`')) {
            match cited_at(test).map(|above| reports(&above)) {
                Err(fault) => faults.push(fault),
                Ok(above) if row.is_disjoint(&above) => {
                    faults.push(format!("{test} does not cite {names}"));
                }
                Ok(above) => open.retain(|name| !above.contains(name)),
            }
        }
        faults.extend(
            open.iter()
                .map(|name| format!("no test of {name} cites it")),
        );
    }
    let wanted = REPORTS.map(str::to_owned).into();
    let missing = cited.union(&wanted).filter(|name| !known.contains(*name));
    faults.extend(missing.map(|name| format!("{name} is in no table")));
    faults
}

#[test]
fn every_report_of_zookeeper_sentinel_and_kafka_has_its_test() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        "src",
        "tests/zab",
        "tests/kraft",
        "tests/isr",
        "tests/sentinel",
        "tests/lease",
        "../scenarios",
    ];
    let text = folders.map(|folder| sources(&core.join(folder))).concat();
    let cited = reports(&text);
    assert!(cited.len() > 50, "{cited:?}");
    let table = read("REPORTS.md").unwrap();
    assert_eq!(faults(&table, &cited), [""; 0]);
    for (from, to, fault) in [
        ("| Z-3701 |", "| Z-3702 |", "Z-3701 is in no table"),
        ("| Z-3701 |", "| Z-1277 |", "Z-1277 is there twice"),
        (
            "::z3701_who_cannot_cut_its_log_stops",
            "::s3_who_has_what_is_unknown_gets_a_snapshot",
            "s3_who_has_what_is_unknown_gets_a_snapshot does not cite Z-3701",
        ),
        (
            "::z3701_who_cannot_cut_its_log_stops",
            "::nobody",
            "tests/zab/histories.rs::nobody does not exist",
        ),
        (
            "| redis@f4be6f16f redis#1972 |",
            "| redis@f4be6f16f redis#1972 redis#1 |",
            "no test of redis#1 cites it",
        ),
    ] {
        let changed = table.replacen(from, to, 1);
        assert_ne!(changed, table, "{from}");
        let found = faults(&changed, &cited).join("; ");
        assert!(found.contains(fault), "{found:?}, not {fault:?}");
    }
}
