//! `REPORTS.md` says which test answers which public report; here it is held to that.

#[path = "reports/peers.rs"]
mod peers;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every report, by its number, and how it is cited.
const REPORTS: [(u32, &[&str]); 24] = [
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
    (34, &["VSR Revisited"]),
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

/// The names of reports of elections over a store in a text: `LS-13`, `LS-39r`, `LS-F5`. LS-R1 and so on are rules.
fn store_reports(text: &str) -> BTreeSet<String> {
    let name = |rest: &str| {
        let rest = rest.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
        let digits = rest.trim_start_matches('F').trim_end_matches('r');
        let is_name = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_name.then(|| format!("LS-{rest}"))
    };
    text.split("LS-").skip(1).filter_map(name).collect()
}

/// All text of a folder.
fn sources(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        if path.is_dir() {
            all += &sources(&path);
        } else {
            all += &fs::read_to_string(path).unwrap();
        }
    }
    all
}

/// What is wrong with the table of elections over a store, where these names are cited.
fn store_faults(table: &str, cited: &BTreeSet<String>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut names = BTreeSet::new();
    for line in table.lines().filter(|line| line.starts_with("| LS-")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", name, _, _, tests, ""] = cells[..] else {
            panic!("not four columns: {line}")
        };
        if !names.insert(name.to_owned()) {
            faults.push(format!("{name} is there twice"));
        }
        if tests.is_empty() {
            faults.push(format!("{name} has no test"));
        }
        for test in tests.split_whitespace().map(|test| test.trim_matches('`')) {
            match cited_at(test) {
                Err(fault) => faults.push(fault),
                Ok(above) if !store_reports(&above).contains(name) => {
                    faults.push(format!("{test} does not cite {name}"));
                }
                Ok(_) => {}
            }
        }
    }
    let missing = cited.difference(&names);
    faults.extend(missing.map(|name| format!("{name} is cited, and in no table")));
    faults
}

#[test]
fn every_name_that_is_cited_of_elections_over_a_store_is_explained_and_has_its_test() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cited = store_reports(&sources(&core.join("src")));
    cited.append(&mut store_reports(&sources(&core.join("tests/lease"))));
    cited.append(&mut store_reports(&sources(&core.join("tests/takeover"))));
    cited.append(&mut store_reports(&sources(&core.join("../scenarios"))));
    let table = read("REPORTS.md").unwrap();
    assert_eq!(store_faults(&table, &cited), [""; 0]);
    for (from, to, fault) in [
        ("| LS-13 |", "| LS-12 |", "LS-13 is cited, and in no table"),
        ("| LS-14 |", "| LS-13 |", "LS-13 is there twice"),
        (
            "::only_the_end_that_was_counted_from_the_send_is_valid",
            "::answers_that_are_read_after_a_pause_elect_nobody",
            "tests/lease/redlock.rs::answers_that_are_read_after_a_pause_elect_nobody does not cite LS-33",
        ),
        (
            "::who_loses_the_tenure_saves_nothing",
            "::nobody",
            "tests/takeover/timelines.rs::nobody does not exist",
        ),
    ] {
        let found = store_faults(&table.replacen(from, to, 1), &cited).join("; ");
        assert!(found.contains(fault), "{found:?}, not {fault:?}");
    }
}
