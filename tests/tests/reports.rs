//! `scenarios/REPORTS.md` says which run shows which public report, or which test does; here it is held to that.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use tenure_sim::check::{Check, Outcome};
use tenure_sim::report::Report;
use tenure_sim::{Scenario, World};
use tenure_tests::{gallery, scenarios};

/// Every report, as it is cited.
const REPORTS: [&str; 72] = [
    "ZOOKEEPER-3911",
    "ZOOKEEPER-4646",
    "ZOOKEEPER-4643",
    "ZOOKEEPER-4785",
    "ZOOKEEPER-4394",
    "ZOOKEEPER-3104",
    "ZOOKEEPER-3642",
    "ZOOKEEPER-5094",
    "ZOOKEEPER-2845",
    "ZOOKEEPER-3701",
    "ZOOKEEPER-1419",
    "ZOOKEEPER-1514",
    "ZOOKEEPER-1732",
    "ZOOKEEPER-1805",
    "ZOOKEEPER-3109",
    "ZOOKEEPER-764",
    "ZOOKEEPER-769",
    "ZOOKEEPER-2959",
    "ZOOKEEPER-1277",
    "ZOOKEEPER-1291",
    "ZOOKEEPER-1282",
    "ZOOKEEPER-2307",
    "ZOOKEEPER-4269",
    "ZOOKEEPER-261",
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
    "haraldng/omnipaxos#1",
    "milvus-io/milvus#30100",
    "milvus-io/milvus#44111",
    "kubernetes/kubernetes#23731",
    "Vanlightly/vsr-revisited",
    "ZOOKEEPER-131",
    "ZOOKEEPER-480",
    "ZOOKEEPER-569",
    "ZOOKEEPER-4925",
    "KAFKA-1096",
    "KAFKA-15345",
    "KAFKA-16536",
    "KAFKA-18379",
    "KAFKA-20895",
    "redis#5677",
];

/// A line of the first table: a report that a run shows.
struct Shown {
    ids: Vec<String>,
    run: String,
    breaks: Vec<Check>,
    /// Nobody leads for so long, and with the rule for so long, in microseconds.
    lost: Option<[u64; 2]>,
    repaired: Option<String>,
}

/// A line of the second: one that a test alone shows.
struct Tested {
    ids: Vec<String>,
    why: String,
    test: Option<String>,
}

fn root(path: &str) -> PathBuf {
    gallery().join("..").join(path)
}

fn table() -> String {
    fs::read_to_string(gallery().join("REPORTS.md")).unwrap()
}

/// The cells of the lines that have so many of them, the heads of tables and what is drawn under them left out.
fn lines(table: &str, columns: usize) -> impl Iterator<Item = Vec<&str>> {
    (table.lines())
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix('|'))
        .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>())
        .filter(move |cells| cells.len() == columns && cells[0] != "report")
        .filter(|cells| !cells[0].starts_with("---"))
}

fn words(cell: &str) -> Vec<String> {
    let words = cell.split_whitespace().map(|word| word.trim_matches('`'));
    words.map(str::to_owned).collect()
}

fn shown(table: &str) -> Vec<Shown> {
    let line = |cells: Vec<&str>| {
        let broken = cells[3].strip_prefix("nobody leads for ");
        let lost = broken.map(|spans| {
            let spans = spans.split(", or ").map(|span| {
                let millis = span.strip_suffix(" ms").unwrap().replace('.', "");
                millis.parse().unwrap()
            });
            let spans: Vec<u64> = spans.collect();
            <[u64; 2]>::try_from(spans).unwrap()
        });
        let named = |name: String| {
            let check = Check::ALL.into_iter().find(|check| check.name() == name);
            check.unwrap_or_else(|| panic!("{name} is no check"))
        };
        let checks = broken.map_or_else(|| words(cells[3]), |_| Vec::new());
        Shown {
            ids: words(cells[0]),
            run: words(cells[2]).concat(),
            breaks: checks.into_iter().map(named).collect(),
            lost,
            repaired: words(cells[4]).pop(),
        }
    };
    lines(table, 5).map(line).collect()
}

fn tested(table: &str) -> Vec<Tested> {
    let line = |cells: Vec<&str>| Tested {
        ids: words(cells[0]),
        why: cells[1].to_owned(),
        test: words(cells[2]).pop(),
    };
    lines(table, 3).map(line).collect()
}

/// Whether a test is there, in a file that cites one of the reports. Those of ZooKeeper are cited by a letter.
fn is_tested(name: &str, ids: &[String]) -> bool {
    let (file, test) = name.split_once("::").unwrap();
    let text = fs::read_to_string(root(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut cited = ids.iter().map(|id| id.replace("ZOOKEEPER-", "Z-"));
    text.contains(&format!("#[test]\nfn {test}() {{")) && cited.any(|id| text.contains(&id))
}

fn text_of(run: &str) -> String {
    let file = gallery().join(format!("{run}.json"));
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{run}: {error}"))
}

fn parsed(run: &str, text: &str) -> Scenario {
    Scenario::parse(text).unwrap_or_else(|refusal| panic!("{run}: {refusal}"))
}

/// The same with every rule on; nothing where none is off.
fn with_every_rule(text: &str) -> Option<String> {
    let (before, rest) = text.split_once("\"rulesOff\": [")?;
    let (_, after) = rest.split_once("],")?;
    Some(format!("{before}{after}"))
}

fn ran(scenario: &Scenario) -> World {
    let mut world = World::new(scenario);
    world.record_histories();
    world.run();
    world
}

fn leaderless(world: &World) -> u64 {
    world.judges().belief().without_leader
}

#[test]
fn every_report_is_in_the_tables_once() {
    let table = table();
    let in_runs = shown(&table).into_iter().flat_map(|shown| shown.ids);
    let in_tests = tested(&table).into_iter().flat_map(|tested| tested.ids);
    let mut listed: Vec<String> = in_runs.chain(in_tests).collect();
    let mut reports = REPORTS.map(str::to_owned).to_vec();
    listed.sort();
    reports.sort();
    assert_eq!(listed, reports);
}

#[test]
fn what_no_run_shows_has_a_reason_and_a_test() {
    for Tested { ids, why, test } in tested(&table()) {
        assert!(why.len() > 5, "{ids:?}");
        match test {
            Some(test) => assert!(is_tested(&test, &ids), "{ids:?}: {test}"),
            None => assert_eq!(ids, ["Vanlightly/vsr-revisited"]),
        }
    }
}

#[test]
fn every_run_of_a_report_ends_as_it_says_and_cites_it() {
    let beside = scenarios(&gallery().join("reports")).unwrap();
    for (name, text) in beside {
        let scenario = parsed(&name, &text);
        assert!(!scenario.expect.is_empty(), "{name} expects nothing");
        for written in [&scenario.title, &scenario.lesson] {
            assert!(!written.en.is_empty() && !written.zh.is_empty(), "{name}");
        }
        let report = Report::of(scenario);
        assert!(report.as_expected(), "{name}: {}", report.to_text());
    }
    for Shown { ids, run, .. } in shown(&table()) {
        let scenario = parsed(&run, &text_of(&run));
        for words in [
            scenario.title.en + &scenario.lesson.en,
            scenario.title.zh + &scenario.lesson.zh,
        ] {
            let cited = ids.iter().any(|id| words.contains(id.as_str()));
            assert!(cited, "{run} cites none of {ids:?}");
        }
    }
}

#[test]
fn no_run_lies_beside_the_gallery_without_a_report() {
    let table = table();
    let named: BTreeSet<String> = (shown(&table).into_iter())
        .flat_map(|shown| [Some(shown.run), shown.repaired])
        .flatten()
        .filter_map(|run| run.strip_prefix("reports/").map(str::to_owned))
        .collect();
    let there = scenarios(&gallery().join("reports")).unwrap();
    let there: BTreeSet<String> = there.into_iter().map(|(name, _)| name).collect();
    assert_eq!(named, there);
}

/// Without the rule it breaks, and with it, it does not.
#[test]
fn each_report_is_of_the_rule_that_is_off() {
    for Shown {
        ids,
        run,
        breaks,
        lost,
        repaired,
    } in shown(&table())
    {
        let text = text_of(&run);
        let scenario = parsed(&run, &text);
        let off = ran(&scenario);
        for check in &breaks {
            let outcome = off.verdict(*check).outcome;
            let said = scenario.expect.iter().any(|(of, _)| of == check);
            assert!(said, "{run} does not expect {}", check.name());
            let broken = [Outcome::Broken, Outcome::BrokenByDesign].contains(&outcome);
            assert!(broken, "{run}: {}", check.name());
        }
        let on = match repaired.as_deref() {
            Some(test) if test.contains("::") => {
                assert!(is_tested(test, &ids), "{ids:?}: {test}");
                continue;
            }
            Some(other) => text_of(other),
            None => match with_every_rule(&text) {
                Some(on) => on,
                // It has no rule that could be off: what it shows holds, or is so by design.
                None => continue,
            },
        };
        let on = ran(&parsed(&run, &on));
        for verdict in on.verdicts() {
            let (check, outcome) = (verdict.check.name(), verdict.outcome);
            assert!(outcome.passes(), "{run}: {check}");
        }
        // What was never put to the test is not repaired.
        for check in &breaks {
            let outcome = on.verdict(*check).outcome;
            assert_eq!(outcome, Outcome::Holds, "{run}: {}", check.name());
        }
        if let Some(lost) = lost {
            assert_eq!([leaderless(&off), leaderless(&on)], lost, "{run}");
        }
    }
}
