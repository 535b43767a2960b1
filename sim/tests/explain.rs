//! The account of a run: it names every fault and every leader of the gallery, and some accounts are on record.
//!
//! After a change that is meant: `UPDATE_GOLDEN=1 cargo test -p tenure-sim --test explain`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tenure_sim::export::{Recording, explain};
use tenure_sim::physics::trace::Kind;
use tenure_sim::{Scenario, schedule};

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn recording(path: &Path) -> Recording {
    let text = fs::read_to_string(path).unwrap();
    Recording::of(Scenario::parse(&text).unwrap_or_else(|refusal| panic!("{path:?}: {refusal}")))
        .unwrap()
}

/// The paragraphs, each in one line.
fn paragraphs(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_account_of_the_gallery_names_its_faults_its_leaders_and_its_verdicts() {
    let mut told = 0;
    for entry in fs::read_dir(folder("../scenarios")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        told += 1;
        let recording = recording(&path);
        let text = paragraphs(&explain(&recording));
        let total = recording.scenario.faults.len();
        for place in 1..=total {
            assert!(
                text.contains(&format!("Fault {place} of {total}")),
                "{path:?}: fault {place}\n{text}"
            );
        }
        assert_eq!(
            text.matches("No effect").count(),
            recording
                .strikes
                .iter()
                .filter(|strike| !strike.effect)
                .count(),
            "{path:?}"
        );
        // Sentinels count epochs, and who leads is a data server.
        let sentinels = text.contains(" sentinels watch ");
        let term = if sentinels { "epoch" } else { "term" };
        assert_eq!(!sentinels, text.contains("How long nobody led"), "{path:?}");
        assert!(!sentinels || !text.contains("Nobody leads"), "{path:?}");
        for event in &recording.events {
            let name = recording.name(event.actor);
            let said = match event.kind {
                Kind::Established => format!("{name} is established in {term} {}", event.term),
                Kind::Elected => format!("in {term} {}", event.term),
                Kind::Deposed => format!("{term} {}", event.term),
                Kind::Serves if event.b != 0 => format!("{name} is the master"),
                Kind::Crash => format!("{name} dies"),
                Kind::Pause => format!("{name} freezes"),
                Kind::Resume => format!("{name} goes on"),
                _ => continue,
            };
            assert!(text.contains(&said), "{path:?}: {said}\n{text}");
        }
        for verdict in recording.world.verdicts() {
            let said = format!("{}: {}", verdict.check.name(), verdict.outcome.name());
            assert!(text.contains(&said), "{path:?}: {said}");
        }
        assert!(!text.contains("NOT AS EXPECTED"), "{path:?}: {text}");
    }
    assert!(told >= 5);
}

#[test]
fn some_accounts_are_on_record() {
    for name in [
        "leader-crash",
        "paused-leader",
        "kafka-leader-crash",
        "kafka-unclean-election",
        "kafka-zombie-broker",
        "kafka-lying-disks",
        "sentinel-woke-late",
    ] {
        let told = explain(&recording(&folder(&format!("../scenarios/{name}.json"))));
        let golden = folder(&format!("tests/golden/{name}.txt"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&golden, &told).unwrap();
        }
        let recorded = fs::read_to_string(&golden).unwrap_or_default();
        assert!(
            told == recorded,
            "{name} is told differently than on record: set UPDATE_GOLDEN=1 if that is meant\n{told}"
        );
    }
}

#[test]
fn wild_runs_are_told_in_few_words_and_always_the_same() {
    for seed in 0..60 {
        let scenario = schedule::random(seed).unwrap();
        let text = explain(&Recording::of(scenario.clone()).unwrap());
        assert_eq!(
            text,
            explain(&Recording::of(scenario.clone()).unwrap()),
            "{seed}"
        );
        let lines = text.lines().count();
        let faults = scenario.faults.len();
        assert!(
            lines < 120 + 4 * faults,
            "seed {seed}: {lines} lines for {faults} faults"
        );
        for line in text.lines() {
            assert!(line.chars().count() <= 110, "seed {seed}: {line}");
        }
    }
}

#[test]
fn why_each_write_was_late_is_told() {
    let told = |name: &str| {
        paragraphs(&explain(&recording(&folder(&format!(
            "../scenarios/{name}.json"
        )))))
    };
    assert!(
        told("paused-leader").contains("checked before its writer froze and sent when it woke")
    );
    assert!(told("delayed-write").contains("still on the way when it was overtaken"));
    assert!(told("read-before-fence").contains("its guard had not heard of the newer term"));
    assert!(told("plain-raft-minority-leader").contains("did not know it was overtaken"));
}

#[test]
fn why_a_node_stood_and_what_ended_a_term_is_told() {
    let told = |name: &str| {
        let path = folder(&format!("../scenarios/{name}.json"));
        paragraphs(&explain(&recording(&path)))
    };
    for (name, reasons) in [
        ("leader-crash", &["last heard n2 at", "is over with it"][..]),
        (
            "graceful-resignation",
            &["that n2 stopped leading", "n2 resigns"],
        ),
        (
            "minority-leader",
            &["is named by n1 to succeed it", "lapses", "n1 led until"],
        ),
        (
            "paused-leader",
            &["notices that its lease of term 1 lapsed at 1100 ms"],
        ),
        (
            "plain-raft-returning-node",
            &["learns of a higher term from n1", "n3 led until"],
        ),
        (
            "plain-raft-minority-leader",
            &[
                "is split between n3 and n4",
                "believed-leaders is broken-by-design",
            ],
        ),
        (
            "three-node-election",
            &["has heard no leader since it started at 0 ms"],
        ),
    ] {
        let text = told(name);
        for reason in reasons {
            assert!(text.contains(reason), "{name}: {reason}\n{text}");
        }
    }
    let asked = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "2s", "faults": [{"at": "20ms", "campaign": "n2"}]}"#;
    let text = paragraphs(&explain(
        &Recording::of(Scenario::parse(asked).unwrap()).unwrap(),
    ));
    assert!(text.contains("n2 is asked to campaign."), "{text}");
}

#[test]
fn what_is_broken_is_told_with_its_time() {
    let json = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "20s", "rulesOff": ["new-term-new-vote"], "faults": [
        {"at": "2s", "crash": "leader"}, {"at": "3s", "restart": "crashed"}, {"at": "8s", "crash": "leader"}, {"at": "9s", "restart": "crashed"}]}"#;
    let recording = Recording::of(Scenario::parse(json).unwrap()).unwrap();
    let text = paragraphs(&explain(&recording));
    let broken: BTreeSet<&str> = recording
        .world
        .verdicts()
        .iter()
        .filter(|verdict| verdict.tally.broken > 0)
        .map(|verdict| verdict.check.name())
        .collect();
    assert!(!broken.is_empty());
    for check in broken {
        assert!(text.contains(&format!("{check} is broken.")), "{text}");
        assert!(text.contains("NOT AS EXPECTED"), "{text}");
    }
    assert!(
        text.contains("Rules switched off: new-term-new-vote."),
        "{text}"
    );
}

/// Topics that come and go, disks that fail or are replaced, and brokers that go in good order, in the storms of some seeds.
#[test]
fn what_becomes_of_partitions_is_told() {
    let told = |brokers: &str, faults: &str| {
        let file = format!(
            r#"{{"tenure": 1, "scheme": "kraft", "nodes": 3, "seed": "1", "duration": "60s", "brokers": {{{brokers}}},
                "client": {{"every": "100ms"}}, "faults": [{faults}]}}"#
        );
        paragraphs(&explain(
            &Recording::of(Scenario::parse(&file).unwrap()).unwrap(),
        ))
    };
    for (brokers, faults, all) in [
        (
            r#""partitions": 2, "recreateTopics": "20s""#,
            "",
            &[
                "t1-0 is made: b",
                "t1-1 is made: b",
                "t1-0 is deleted.",
                "t2-1 is made: b",
            ][..],
        ),
        (
            "",
            r#"{"at": "8s", "fail": "b2"}, {"at": "40s", "restart": "b2"}"#,
            &[
                "b2 dies: its disk fails.",
                "b2 is fenced: it was silent for a session.",
            ],
        ),
        (
            "",
            r#"{"at": "10s", "resign": "b2"}, {"at": "20s", "restart": "b2"}"#,
            &[
                "b2 is about to go",
                "b2 is fenced, and may go.",
                "b2 enters the ISR of the partition",
            ],
        ),
        (
            "",
            r#"{"at": "10s", "wipe": "b1"}, {"at": "10s", "wipe": "b3"}, {"at": "30s", "wipe": "b2"}, {"at": "31s", "restart": "b2"}, {"at": "45s", "restart": "b1"}, {"at": "45s", "restart": "b3"}"#,
            &[
                "eligible (ELR)",
                "Nobody leads the partition any more; the ISR is empty, and b3 is eligible (ELR).",
                "as the one that led last",
                "acknowledged are lost: b2 leads without them",
            ],
        ),
    ] {
        let text = told(brokers, faults);
        for said in all {
            assert!(text.contains(said), "{said}\n{text}");
        }
    }
    for seed in 0..12 {
        let setting = schedule::Setting::among(schedule::Among::kafka());
        let scenario = schedule::make(seed, &setting, |_| ()).unwrap().scenario;
        let text = explain(&Recording::of(scenario).unwrap());
        for line in text.lines() {
            assert!(line.chars().count() <= 110, "seed {seed}: {line}");
        }
    }
}
