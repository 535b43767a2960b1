//! Bad scenario files: each is refused with its code, its place, a reason and a remedy.
//!
//! The files are `scenarios/bad/CODE.json`, or `CODE.DETAIL.json` where a code has several; the page and the command are
//! shown the same ones.

use std::path::Path;
use tenure_sim::Scenario;
use tenure_sim::fault::{Action, Who};

/// Each file, and the place it is refused for.
const REFUSALS: [(&str, &str); 114] = [
    ("after-end", "faults[1].at (line 5, column 13)"),
    ("bad-duration", "duration (line 1, column 46)"),
    (
        "bad-duration.jump",
        "faults[0].clock.jump (line 4, column 56)",
    ),
    (
        "bad-duration.number",
        "network.latency[1] (line 3, column 35)",
    ),
    ("bad-percentage", "network.loss (line 1, column 55)"),
    ("bad-percentage.rate", "clocks[1] (line 3, column 23)"),
    (
        "bad-percentage.replay",
        "network.replay (line 1, column 55)",
    ),
    ("bad-seed", "seed (line 1, column 42)"),
    ("cluster-size", "lease.servers (line 1, column 68)"),
    ("deadline-too-long", "lease.preset (line 1, column 59)"),
    (
        "deadline-too-short",
        "lease.renewDeadline (line 1, column 94)",
    ),
    ("election-range", "raft.electionTimeout (line 3, column 32)"),
    ("empty-range", "network.latency (line 1, column 58)"),
    (
        "empty-range.replay",
        "network.replayAfter (line 1, column 78)",
    ),
    ("fetch-timeout", "kraft.fetchTimeout (line 1, column 74)"),
    ("fifo-duplicates", "network.duplicate (line 1, column 75)"),
    (
        "fifo-duplicates.change",
        "faults[0].network.order (line 1, column 109)",
    ),
    ("heartbeat-too-slow", "raft.heartbeat (line 1, column 96)"),
    ("impatient", "lease.patience (line 1, column 81)"),
    ("incomplete", "faults[0].partition (line 1, column 84)"),
    (
        "incomplete.groups",
        "faults[0].partition (line 4, column 32)",
    ),
    (
        "incomplete.store",
        "faults[0].partition (line 1, column 84)",
    ),
    ("inexact-seed", "seed (line 3, column 11)"),
    (
        "lag-within-wait",
        "brokers.replicaLagTimeMax (line 1, column 79)",
    ),
    ("lease-too-short", "raft.rateBound (line 3, column 26)"),
    ("missing-field", "line 1, column 1"),
    ("missing-field.at", "faults[0] (line 4, column 5)"),
    ("missing-field.flap", "faults[0].flap (line 1, column 65)"),
    ("missing-field.node", "faults[0].disk (line 4, column 27)"),
    ("missing-field.slow", "faults[0].slow (line 1, column 65)"),
    (
        "named-twice",
        "faults[0].partition[1][0] (line 1, column 100)",
    ),
    (
        "named-twice.learners",
        "faults[0].change.learners[0] (line 1, column 133)",
    ),
    (
        "named-twice.voters",
        "faults[0].change.voters[2] (line 1, column 119)",
    ),
    ("needs-brokers", "rulesOff[0] (line 1, column 59)"),
    ("needs-brokers.none", "faults[0].crash (line 1, column 81)"),
    ("needs-connections", "network.order (line 1, column 67)"),
    (
        "needs-connections.change",
        "faults[0].network.order (line 1, column 92)",
    ),
    ("needs-store", "lease (line 1, column 55)"),
    ("needs-store.rule", "rulesOff[1] (line 1, column 71)"),
    ("needs-store.server", "faults[0].crash (line 1, column 80)"),
    ("no-action", "faults[0] (line 1, column 45)"),
    ("no-deadline", "lease.renewDeadline (line 1, column 60)"),
    ("no-link", "faults[0].cut (line 1, column 66)"),
    (
        "no-link.disconnect",
        "faults[0].disconnect (line 1, column 71)",
    ),
    ("no-link.flap", "faults[0].flap.between (line 1, column 77)"),
    ("no-log", "faults[0].change (line 1, column 81)"),
    ("no-rule", "rulesOff[1] (line 1, column 67)"),
    ("no-slack", "lease.ttl (line 1, column 64)"),
    ("no-slack.preset", "lease.preset (line 1, column 59)"),
    ("no-version", "line 1, column 1"),
    ("no-voters", "faults[0].change (line 1, column 94)"),
    ("no-watches", "client (line 1, column 56)"),
    ("nobody-votes", "raft (line 1, column 54)"),
    ("nobody-votes.log", "raft (line 1, column 54)"),
    (
        "nobody-votes.observers",
        "zab.observers (line 1, column 67)",
    ),
    ("node-count", "nodes (line 1, column 43)"),
    ("node-count.servers", "lease.servers (line 1, column 71)"),
    ("not-seconds", "lease.ttl (line 1, column 64)"),
    ("not-with-store", "raft (line 1, column 54)"),
    ("not-with-store.disk", "disk (line 1, column 53)"),
    ("not-with-store.rule", "rulesOff[0] (line 1, column 58)"),
    (
        "not-with-store.transfer",
        "faults[0].transfer (line 1, column 83)",
    ),
    ("not-with-store.wipe", "faults[0].wipe (line 1, column 79)"),
    ("notification-range", "zab.notification (line 1, column 70)"),
    ("of-another-scheme", "zab (line 1, column 53)"),
    ("of-another-scheme.raft", "raft (line 1, column 53)"),
    ("of-another-scheme.rule", "rulesOff[0] (line 1, column 59)"),
    (
        "of-another-scheme.transfer",
        "faults[0].transfer (line 1, column 82)",
    ),
    ("one-server", "lease.servers (line 1, column 74)"),
    ("other-scheme", "lease.preset (line 1, column 53)"),
    ("other-scheme.none", "lease.preset (line 1, column 60)"),
    ("quorum-beyond-nodes", "sentinel.quorum (line 1, column 74)"),
    ("rate-bound", "raft.rateBound (line 3, column 26)"),
    ("rate-bound.store", "lease.rateBound (line 1, column 69)"),
    (
        "request-timeout",
        "kraft.requestTimeout (line 1, column 76)",
    ),
    ("syntax", "line 1, column 63"),
    ("syntax.twice", "line 4, column 3"),
    (
        "too-few-brokers",
        "brokers.replicationFactor (line 1, column 91)",
    ),
    (
        "too-few-in-sync",
        "brokers.minInsyncReplicas (line 1, column 103)",
    ),
    (
        "too-few-replicas",
        "sentinel.minReplicasToWrite (line 1, column 86)",
    ),
    ("too-large", "duration (line 1, column 46)"),
    ("too-large.rename", "disk.rename (line 1, column 68)"),
    ("too-many", "clocks (line 3, column 13)"),
    ("too-many-writes", "client (line 3, column 13)"),
    ("too-small", "client.every (line 1, column 55)"),
    ("too-small.flap", "faults[0].flap.down (line 1, column 99)"),
    (
        "too-small.latency",
        "network.latency[0] (line 3, column 28)",
    ),
    ("two-actions", "faults[0].restart (line 1, column 89)"),
    ("unknown-field", "nodez (line 1, column 34)"),
    (
        "unknown-field.expect",
        "expect.one-leader (line 3, column 15)",
    ),
    ("unknown-name", "scheme (line 1, column 26)"),
    ("unknown-name.order", "network.order (line 1, column 54)"),
    ("unknown-name.preset", "lease.preset (line 1, column 53)"),
    ("unknown-name.rule", "rulesOff[1] (line 3, column 28)"),
    (
        "unknown-name.verdict",
        "expect.token-rises (line 3, column 30)",
    ),
    ("unknown-node", "faults[0].crash (line 1, column 80)"),
    ("unknown-node.broker", "faults[0].crash (line 1, column 96)"),
    (
        "unknown-node.candidate",
        "faults[0].resign (line 1, column 81)",
    ),
    ("unknown-node.disk", "faults[0].wipe (line 1, column 83)"),
    ("unknown-node.drop", "faults[0].drop (line 1, column 65)"),
    (
        "unknown-node.no-broker",
        "faults[0].crash (line 1, column 84)",
    ),
    ("unknown-node.rest", "faults[0].crash (line 4, column 28)"),
    ("unknown-node.role", "faults[0].restart (line 4, column 30)"),
    ("unknown-node.server", "faults[0].pause (line 1, column 80)"),
    (
        "unknown-node.servers",
        "faults[0].crash (line 1, column 110)",
    ),
    ("version", "tenure (line 1, column 13)"),
    ("version.newer", "tenure (line 2, column 13)"),
    ("wait-too-long", "zab.tick (line 1, column 62)"),
    ("wrong-length", "network.latency (line 1, column 58)"),
    ("wrong-length.link", "faults[0].cut (line 4, column 26)"),
    ("wrong-type", "nodes (line 1, column 43)"),
    ("wrong-type.heal", "faults[0].heal (line 4, column 27)"),
    ("wrong-type.slow", "faults[0].slow (line 1, column 65)"),
    ("wrong-type.title", "title (line 3, column 12)"),
];

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/bad")
}

#[test]
fn every_bad_file_is_refused_with_place_reason_and_remedy() {
    for (file, place) in REFUSALS {
        let json = std::fs::read_to_string(folder().join(format!("{file}.json"))).unwrap();
        let refusal = Scenario::parse(&json).expect_err(file);
        let code = file.split_once('.').map_or(file, |(code, _)| code);
        assert_eq!(
            (refusal.code, refusal.place.as_str()),
            (code, place),
            "{file}"
        );
        assert!(
            !refusal.reason.is_empty() && !refusal.remedy.is_empty(),
            "{refusal}"
        );
    }
}

#[test]
fn no_bad_file_is_left_out() {
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    files.sort();
    assert_eq!(files, REFUSALS.map(|(file, _)| file));
}

#[test]
fn other_slips_are_refused_too() {
    for (rest, code) in [
        (r#""faults": [{"crash": "leader"}]"#, "missing-field"),
        (
            r#""faults": [{"at": "1s", "restart": "leader"}]"#,
            "unknown-node",
        ),
        (
            r#""faults": [{"at": "1s", "crash": "n01"}]"#,
            "unknown-node",
        ),
        (r#""faults": [{"at": "1s", "crash": "n0"}]"#, "unknown-node"),
        (
            r#""faults": [{"at": "1s", "crash": "n65537"}]"#,
            "unknown-node",
        ),
        (r#""faults": [{"at": "1s", "heal": "some"}]"#, "wrong-type"),
        (
            r#""faults": [{"at": "1s", "heal": ["n1"]}]"#,
            "wrong-length",
        ),
        (
            r#""faults": [{"at": "1s", "disk": {"write": "1ms"}}]"#,
            "missing-field",
        ),
        (
            r#""faults": [{"at": "1s", "network": {"latency": ["0ms", "1ms"]}}]"#,
            "too-small",
        ),
        (
            r#""faults": [{"at": "1s", "partition": [["leader", "leader"], ["rest"]]}]"#,
            "named-twice",
        ),
        (
            r#""faults": [{"at": "1s", "partition": [["leader"], ["follower"]]}]"#,
            "incomplete",
        ),
        (r#""faults": {"at": "1s"}"#, "wrong-type"),
        (r#""seed": 1.5"#, "wrong-type"),
        (r#""seed": "18446744073709551616""#, "bad-seed"),
        (r#""nodes": 1002"#, "node-count"),
        (r#""nodes": -1"#, "wrong-type"),
        (r#""rulesOff": ["all"]"#, "unknown-name"),
        (r#""expect": {"believed-leader": "holds"}"#, "unknown-field"),
        (
            r#""expect": {"believed-leaders": "passes"}"#,
            "unknown-name",
        ),
        (
            r#""raft": {"electionTimeout": ["300ms", "150ms"]}"#,
            "election-range",
        ),
        (r#""raft": {"rateBound": "100%"}"#, "rate-bound"),
        (
            r#""raft": {"electionTimeout": ["1s", "61min"]}"#,
            "timeout-too-long",
        ),
        (r#""raft": {"heartbeat": "100ms"}"#, "heartbeat-too-slow"),
        (r#""raft": {"electionTimeout": ["1s", "25h"]}"#, "too-large"),
        (r#""raft": {"rateBound": "60%"}"#, "lease-too-short"),
        (r#""raft": {"heartbeat": "999us"}"#, "too-small"),
        (r#""duration": "0s""#, "too-small"),
        (r#""clocks": ["+101%"]"#, "bad-percentage"),
        (r#""clocks": ["1%", 1]"#, "wrong-type"),
        (r#""nodes": 1, "clocks": ["1%", "1%"]"#, "too-many"),
        (
            r#""faults": [{"at": "1s", "clock": {"node": "n1", "rate": "--1%"}}]"#,
            "bad-percentage",
        ),
        (
            r#""faults": [{"at": "1s", "clock": {"node": "n1", "jump": "-25h"}}]"#,
            "too-large",
        ),
        (
            r#""faults": [{"at": "1s", "clock": {"node": "n1", "jump": "soon"}}]"#,
            "bad-duration",
        ),
        (r#""title": "a title""#, "wrong-type"),
        (r#""client": {"takeover": "later"}"#, "unknown-name"),
        (r#""client": {"watches": true}"#, "no-watches"),
        (r#""nodes": 3, "nodes": 5"#, "syntax"),
        (
            r#""client": {"every": "1ms", "think": "2min"}"#,
            "too-many-writes",
        ),
        (
            r#""client": {"every": "1ms", "writeDelay": "60min"}"#,
            "too-many-writes",
        ),
        (r#""nodes": 03"#, "syntax"),
        (r#""nodes": 3."#, "wrong-type"),
        (r#""nodes": 3e"#, "wrong-type"),
        (r#""nodes": -"#, "wrong-type"),
        (r#""nodes": 3e0"#, "wrong-type"),
        (r#""seed": 9007199254740992"#, "inexact-seed"),
        (r#""seed": 18446744073709551615"#, "inexact-seed"),
    ] {
        let json = format!(r#"{{"tenure": 1, "scheme": "raft", {rest}}}"#);
        let refusal = Scenario::parse(&json).expect_err(rest);
        assert_eq!(refusal.code, code, "{rest}: {refusal}");
    }
}

/// What the page does at the cursor is said as in a file.
#[test]
fn an_action_by_itself_is_read_as_in_a_file_and_refused_as_there() {
    let scenario = Scenario::usual();
    let read = |text: &str| scenario.parse_action(text);
    assert_eq!(
        read(r#"{"crash": "n2"}"#).unwrap(),
        Action::Crash(Who::Node(1))
    );
    assert_eq!(read(r#"{"heal": "all"}"#).unwrap(), Action::HealAll);
    for (text, code) in [
        ("", "syntax"),
        ("[]", "wrong-type"),
        ("{}", "no-action"),
        (r#"{"crash": "n6"}"#, "unknown-node"),
        (r#"{"crash": "n1", "pause": "n1"}"#, "two-actions"),
        (r#"{"at": "1s", "crash": "n1"}"#, "unknown-field"),
        (r#"{"cut": ["n1", "n1"]}"#, "no-link"),
        (r#"{"partition": [["n1"]]}"#, "incomplete"),
    ] {
        let refusal = read(text).expect_err(text);
        assert_eq!(refusal.code, code, "{text}: {refusal}");
    }
}

/// A link that was cut short or edited is refused or is another scenario; it never panics.
#[test]
fn a_file_cut_short_or_edited_never_panics() {
    let whole = r#"{"tenure": 1, "title": {"en": "a \"title\"", "zh": "标题"}, "scheme": "raft", "nodes": 3, "seed": "7",
        "raft": {"electionTimeout": ["150ms", "300ms"]}, "faults": [{"at": "1s", "partition": [["n1"], ["rest"]]}]}"#;
    assert!(Scenario::parse(whole).is_ok());
    for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
        assert!(Scenario::parse(&whole[..end]).is_err(), "{end}");
    }
    for (at, letter) in whole.char_indices() {
        for edit in ["", "0", "\"", "{", "]", ",", "é"] {
            let edited = [&whole[..at], edit, &whole[at + letter.len_utf8()..]].concat();
            if let Ok(scenario) = Scenario::parse(&edited) {
                assert!(Scenario::parse(&scenario.to_json()).is_ok(), "{edited}");
            }
        }
    }
}
