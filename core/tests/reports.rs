//! `REPORTS.md` says which test answers which public report; here it is held to that.

use std::fs;
use std::path::Path;

/// Every report, by its number, and how it is cited.
const REPORTS: [(u32, &[&str]); 23] = [
    (1, &["etcd#8243"]),
    (2, &["etcd#8501"]),
    (4, &["openraft#2080"]),
    (5, &["Howard & Abraham 2020"]),
    (6, &["omnipaxos#1"]),
    (7, &["OmniPaxos"]),
    (9, &["hashicorp/raft#524", "hashicorp/raft#476"]),
    (11, &["scylladb#10618"]),
    (12, &["hashicorp/raft#696"]),
    (14, &["etcd#11326", "openraft#1805", "tikv#4045"]),
    (
        15,
        &["redpanda#2606", "hashicorp/raft#487", "hashicorp/raft#581"],
    ),
    (17, &["raft-rs#511"]),
    (18, &["etcd#4887", "EastGuard#120"]),
    (20, &["ClickHouse/NuRaft#134"]),
    (21, &["KAFKA-20895"]),
    (23, &["hashicorp/raft#661"]),
    (25, &["canonical/raft#196"]),
    (27, &["KAFKA-10527", "openraft#1385"]),
    (28, &["etcd#7331", "tikv#6340", "tikv#9239"]),
    (29, &["tikv#964", "sofa-jraft#26", "consul#54"]),
    (30, &["etcd#15247", "etcd#12528"]),
    (32, &["NodeDB#161"]),
    (33, &["noraft 0.4.0", "raftbare 0.2.2"]),
];

/// A line of the table.
struct Row {
    number: u32,
    report: String,
    tests: Vec<String>,
    open: String,
}

fn read(path: &str) -> Result<String, String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(file).map_err(|error| format!("{path}: {error}"))
}

fn rows(table: &str) -> Vec<Row> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
        let number = cells.first()?.parse().ok()?;
        let [_, report, _, tests, open, ""] = cells[..] else {
            panic!("not five columns: {line}")
        };
        let tests = tests.split_whitespace().map(|test| test.trim_matches('`'));
        Some(Row {
            number,
            report: report.to_owned(),
            tests: tests.map(str::to_owned).collect(),
            open: open.to_owned(),
        })
    };
    table.lines().filter_map(row).collect()
}

/// What is said above a test, or at the head of a golden trace.
fn cited_at(name: &str) -> Result<String, String> {
    let Some((file, test)) = name.split_once("::") else {
        let comments = |text: String| text.lines().take_while(|l| l.starts_with('#')).collect();
        return read(name).map(comments);
    };
    let text = read(file)?;
    let (before, _) = text
        .split_once(&format!("\nfn {test}() {{\n"))
        .ok_or_else(|| format!("{name} does not exist"))?;
    let above = |line: &&str| line.starts_with("///") || line.starts_with("#[");
    let above: Vec<&str> = before.lines().rev().take_while(above).collect();
    if !above.contains(&"#[test]") {
        return Err(format!("{name} is no test"));
    }
    Ok(above.concat())
}

/// What is wrong with a table.
fn faults(table: &str) -> Vec<String> {
    let rows = rows(table);
    let mut faults = Vec::new();
    let numbers: Vec<u32> = rows.iter().map(|row| row.number).collect();
    for (number, ids) in REPORTS {
        let Some(row) = rows.iter().find(|row| row.number == number) else {
            faults.push(format!("report {number} ({}) is missing", ids[0]));
            continue;
        };
        for id in ids.iter().filter(|id| !row.report.contains(**id)) {
            faults.push(format!("report {number} does not name {id}"));
        }
        if row.tests.is_empty() && row.open.is_empty() {
            faults.push(format!("report {number} has neither a test nor a reason"));
        }
        for test in &row.tests {
            match cited_at(test) {
                Err(fault) => faults.push(fault),
                Ok(above) if !ids.iter().any(|id| above.contains(id)) => {
                    faults.push(format!("{test} does not cite {}", ids.join(" or ")));
                }
                Ok(_) => {}
            }
        }
    }
    let known = numbers
        .iter()
        .filter(|n| REPORTS.iter().any(|r| r.0 == **n));
    if known.count() != REPORTS.len() || numbers.len() != REPORTS.len() {
        faults.push(format!("not each report once: {numbers:?}"));
    }
    faults
}

#[test]
fn every_report_has_its_test_or_a_reason() {
    assert_eq!(faults(&read("REPORTS.md").unwrap()), [""; 0]);
}

/// The check itself notices what it is there for.
#[test]
fn a_table_that_is_wrong_is_found_out() {
    let table = read("REPORTS.md").unwrap();
    let changed = |from: &str, to: &str| {
        let changed = table.replacen(from, to, 1);
        assert_ne!(changed, table, "{from}");
        faults(&changed).join("; ")
    };
    let two_spokes = "tests/partitions.rs::two_spokes_change_nothing";
    for (from, to, fault) in [
        (
            two_spokes,
            "tests/partitions.rs::three_spokes",
            "tests/partitions.rs::three_spokes does not exist",
        ),
        (
            two_spokes,
            "tests/partitions.rs::settled",
            "tests/partitions.rs::settled does not exist",
        ),
        (
            two_spokes,
            "tests/partitions.rs::a_chain_stays_with_the_leader_at_its_end",
            "tests/partitions.rs::a_chain_stays_with_the_leader_at_its_end does not cite Howard & Abraham 2020",
        ),
        (
            "`tests/partitions.rs::two_spokes_change_nothing`",
            "",
            "report 5 has neither a test nor a reason",
        ),
        ("| 7 |", "| seven |", "report 7 (OmniPaxos) is missing"),
        (
            "scylladb#10618",
            "scylladb#1",
            "report 11 does not name scylladb#10618",
        ),
    ] {
        let found = changed(from, to);
        assert!(found.contains(fault), "{found:?}, not {fault:?}");
    }
    assert!(changed("| 7 | OmniPaxos", "| 8 | OmniPaxos").contains("not each report once"));
}
