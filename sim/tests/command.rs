//! The command: what it prints, and how it ends.

#![cfg(feature = "cli")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn tenure_sim(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tenure-sim"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its arguments does not read: the pipe may be closed by then.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn ends(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        output.status.code().unwrap(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

const CRASH: &str = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "4s", "faults": [{"at": "2s", "crash": "leader"}], "expect": {EXPECT}}"#;

fn crash(expect: &str) -> String {
    CRASH.replace("EXPECT", expect)
}

#[test]
fn run_ends_as_the_expectations_do() {
    for (expect, code) in [
        ("", 0),
        (
            r#""believed-leaders": "holds", "stale-write-unfenced": "not-exercised""#,
            0,
        ),
        (r#""believed-leaders": "broken""#, 1),
    ] {
        let (ended, out, err) = ends(&tenure_sim(&["run", "-"], &crash(expect)));
        assert_eq!((ended, err.as_str()), (code, ""), "{out}");
        assert!(out.contains("no leader from 2000 ms"), "{out}");
        assert_eq!(out.contains('✗'), code == 1);
    }
}

#[test]
fn a_broken_check_that_nothing_excuses_is_not_as_expected() {
    let broken = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "20s", "rulesOff": ["new-term-new-vote"], "faults": [
        {"at": "2s", "crash": "leader"}, {"at": "3s", "restart": "crashed"}, {"at": "8s", "crash": "leader"}, {"at": "9s", "restart": "crashed"}]}"#;
    let (ended, out, _) = ends(&tenure_sim(&["run", "-"], broken));
    assert_eq!(ended, 1, "{out}");
}

#[test]
fn json_and_hash_tell_the_same_run_and_the_seed_counts() {
    let hash = |args: &[&str]| {
        ends(&tenure_sim(
            &[&["run", "-", "--hash"], args].concat(),
            &crash(""),
        ))
        .1
    };
    let (plain, seeded) = (hash(&[]), hash(&["--seed", "18446744073709551615"]));
    assert_eq!(
        (plain.trim().len(), hash(&[]) == plain, plain == seeded),
        (16, true, false)
    );
    let (ended, json, _) = ends(&tenure_sim(&["run", "-", "--json"], &crash("")));
    assert_eq!(ended, 0);
    assert!(
        json.contains(&format!("\"hash\":\"{}\"", plain.trim())),
        "{json}"
    );
}

#[test]
fn a_bad_file_ends_with_2_and_says_where_why_and_what_to_do() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/bad/after-end.json");
    let (ended, out, err) = ends(&tenure_sim(&["run", file.to_str().unwrap()], ""));
    assert_eq!((ended, out.as_str()), (2, ""));
    for part in [
        "after-end.json",
        "faults[1].at (line 5, column 13)",
        "after the end of the run",
        "raise duration",
    ] {
        assert!(err.contains(part), "{part} in {err}");
    }
}

#[test]
fn bad_arguments_end_with_2() {
    for args in [
        &["run"][..],
        &["run", "no/such/file.json"],
        &["run", "-", "--seed", "x"],
        &["run", "-", "--fast"],
        &["walk"],
        &["sweep", "--seeds", "0"],
        &["sweep", "--seeds"],
        &["measure"],
        &["measure", "everything"],
        &["measure", "failover", "--timeout", "300ms"],
        &[
            "measure",
            "failover",
            "--timeout",
            "300ms..150ms",
            "--seeds",
            "1",
        ],
        &["measure", "minority", "--nodes", "1"],
        &[
            "measure",
            "failover",
            "--timeout",
            "1ms..18446744073709551615us",
        ],
        &["measure", "failover", "--timeout", "0us..0us"],
        &["measure", "failover", "--timeout", "0ms..1ms"],
        &["explore", "nothing"],
        &["measure", "failover", "--from", "18446744073709551615"],
        &["sweep", "--from", "18446744073709551615", "--seeds", "1"],
        &["scale", "--nodes", "1002", "--minutes", "1"],
        &["scale", "--nodes", "3"],
        &["schedule"],
        &["schedule", "1", "2"],
        &["schedule", "1", "--off", "gravity"],
        &["sweep", "--off", "gravity"],
        &["mutants", "--seeds", "0"],
        &["minimise"],
        &["minimise", "-", "--out"],
    ] {
        let (ended, out, err) = ends(&tenure_sim(args, ""));
        assert_eq!(ended, 2, "{args:?}: {out}{err}");
        assert!(
            err.starts_with("tenure-sim: ") && err.contains("; "),
            "{args:?}: {err}"
        );
    }
}

#[test]
fn a_schedule_of_the_sweep_is_a_scenario_to_run() {
    let (ended, json, _) = ends(&tenure_sim(&["schedule", "5"], ""));
    assert_eq!(ended, 0);
    assert_eq!(ends(&tenure_sim(&["run", "-"], &json)).0, 0);
}

#[test]
fn a_sweep_prints_its_counts() {
    let (ended, out, err) = ends(&tenure_sim(&["sweep", "--seeds", "200", "--from", "7"], ""));
    assert_eq!(ended, 0, "{out}");
    for part in [
        "200 schedules",
        "believed-leaders",
        "partition",
        "split-vote",
        "healed to leader",
        "canary             caught: ",
        "\nholds\n",
    ] {
        assert!(out.contains(part), "{part} in {out}");
    }
    assert!(
        err.contains("of 200") && err.contains("s left"),
        "progress: {err}"
    );
}

#[test]
fn a_sweep_lists_what_fails_shows_how_to_see_it_and_writes_the_smallest() {
    let file = std::env::temp_dir().join(format!("tenure-sim-{}.json", std::process::id()));
    let name = file.to_str().unwrap();
    let off = ["--off", "one-vote-a-term"];
    let args = [
        &["sweep", "--seeds", "40", "--minimise", name][..],
        &off[..],
    ]
    .concat();
    let (ended, out, err) = ends(&tenure_sim(&args, ""));
    assert_eq!(ended, 1, "{out}");
    assert!(err.contains(" tries, "), "{err}");
    let broken = "broken: one-vote-per-term by seed ";
    let seed = out.split_once(broken).unwrap().1;
    let seed = seed.split_once(' ').unwrap().0;
    let listed = format!("tenure-sim schedule {seed} --off one-vote-a-term");
    assert!(out.contains(&listed), "{out}");
    // The command that is listed shows it, and the file expects it.
    let (_, json, _) = ends(&tenure_sim(&[&["schedule", seed][..], &off].concat(), ""));
    assert_eq!(ends(&tenure_sim(&["run", "-"], &json)).0, 1);
    let (ended, out, _) = ends(&tenure_sim(&["run", name], ""));
    assert_eq!(ended, 0, "{out}");
    let (ended, small, err) = ends(&tenure_sim(&["minimise", "-"], &json));
    assert_eq!(ended, 0, "{err}");
    assert!(err.contains("one-vote-per-term breaks at "), "{err}");
    assert_eq!(ends(&tenure_sim(&["run", "-"], &small)).0, 0);
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn a_scenario_that_holds_is_not_minimised() {
    let (ended, out, err) = ends(&tenure_sim(&["minimise", "-"], &crash("")));
    assert_eq!((ended, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("nothing-broken"), "{err}");
}

#[test]
fn a_sweep_of_one_seed_tests_too_little_to_hold() {
    let (ended, out, _) = ends(&tenure_sim(&["sweep", "--seeds", "1"], ""));
    assert_eq!(ended, 1);
    assert!(
        out.contains("never put to the test: ")
            && out.contains("\nnothing broken, and ")
            && out.ends_with(" never put to the test: use more seeds\n"),
        "{out}"
    );
}

#[test]
fn every_measure_prints_its_figures() {
    for (what, part) in [
        ("failover", "split votes"),
        ("cold-start", "first write"),
        ("minority", "two believed leaders  0 us"),
        ("stale", "turned away"),
        ("jitter", "per virtual hour"),
        ("reads", "local (stale), followers"),
    ] {
        let (ended, out, err) = ends(&tenure_sim(&["measure", what, "--seeds", "8"], ""));
        assert_eq!(ended, 0, "{what}: {out}{err}");
        assert!(out.contains(part), "{what}: {out}");
    }
}

#[test]
fn a_measure_that_misses_its_bound_ends_with_1() {
    let (ended, out, err) = ends(&tenure_sim(
        &["measure", "failover", "--nodes", "1", "--seeds", "2"],
        "",
    ));
    assert_eq!(ended, 1, "nobody takes over: {out}{err}");
}

#[test]
fn help_and_version_are_there() {
    assert!(ends(&tenure_sim(&["--help"], "")).1.contains("exit codes"));
    assert!(ends(&tenure_sim(&[], "")).1.contains("exit codes"));
    assert!(
        ends(&tenure_sim(&["--version"], ""))
            .1
            .starts_with("tenure-sim ")
    );
}

#[test]
fn explore_tries_every_schedule_and_tells_the_shortest_way_to_a_violation() {
    let explore = |args: &[&str]| ends(&tenure_sim(&[&["explore"], args].concat(), ""));
    let (ended, out, _) = explore(&["election", "--terms", "1"]);
    assert_eq!(ended, 0, "{out}");
    assert!(out.contains("exhausted, clean"), "{out}");
    for part in [
        "the election, 3 nodes: at most 1 term, 0 crashes, 0 whims, ",
        "; without pre-vote\n",
        "actions left out, each beyond a bound: ",
        " of terms",
    ] {
        assert!(out.contains(part), "{part} in {out}");
    }

    let more = [
        "election",
        "--terms",
        "1",
        "--liveness",
        "1",
        "--coverage",
        "1",
    ];
    let (ended, out, _) = explore(&more);
    assert_eq!(ended, 0, "{out}");
    assert!(out.contains("states healed"), "{out}");
    assert!(out.contains("not reached: Follower"), "{out}");

    let (ended, out, _) = explore(&["election", "--off", "one-vote-a-term"]);
    assert_eq!(ended, 1, "{out}");
    assert!(
        out.contains("INV-E2") && out.contains("VoteGranted"),
        "{out}"
    );

    let (ended, _, err) = explore(&["--hunt", "pre-vote"]);
    assert_eq!(ended, 2);
    assert!(err.contains("--hunt") && err.contains("safety"), "{err}");

    let (ended, _, err) = explore(&["election", "--off", "one-vote"]);
    assert_eq!(ended, 2);
    assert!(
        err.contains("--off") && err.contains("one-vote-a-term"),
        "{err}"
    );
}

/// The page on how to write a scenario shows scenarios that end as they say.
#[test]
fn the_scenarios_that_are_shown_end_as_they_say() {
    let page = std::fs::read_to_string("../scenarios/README.md").unwrap();
    let shown: Vec<&str> = page.split("```json\n").skip(1).collect();
    assert_eq!(shown.len(), 2);
    for example in shown {
        let (json, _) = example.split_once("```").unwrap();
        let (ended, out, err) = ends(&tenure_sim(&["run", "-"], json));
        assert_eq!(ended, 0, "{out}{err}");
    }
}

/// What the front page says of it is what it prints.
#[test]
fn the_readme_counts_the_states_as_the_explorer_does() {
    let readme = std::fs::read_to_string("../README.md").unwrap();
    let line = readme
        .lines()
        .find(|line| line.contains("states asked whether it heals"));
    let said = line.unwrap().split("each of ").nth(1).unwrap();
    let count: String = said.split(' ').next().unwrap().replace(',', "");
    let args = ["explore", "election", "--crashes", "1", "--liveness", "1"];
    let (ended, out, _) = ends(&tenure_sim(&args, ""));
    assert_eq!(ended, 0, "{out}");
    assert!(out.contains(&format!("{count} states healed")), "{out}");
}

#[test]
fn what_the_explorer_finds_runs_as_a_scenario() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join("found.json");
    let file = file.to_str().unwrap();
    let explore = |args: &[&str]| ends(&tenure_sim(&[&["explore"], args].concat(), ""));
    let (ended, out, _) = explore(&["--hunt", "majority-of-voters", "--scenario", file]);
    assert_eq!(ended, 1, "{out}");
    assert!(out.contains("breaks the same invariant"), "{out}");
    let (ended, out, _) = ends(&tenure_sim(&["run", file], ""));
    assert_eq!(ended, 0, "{out}");
    assert!(out.contains("one-leader-per-term"), "{out}");

    let (ended, out, _) = explore(&["--hunt", "promise-from-answer", "--scenario", file]);
    assert_eq!(ended, 1, "{out}");
    assert!(
        out.contains("no scenario") && out.contains("INV-S1"),
        "{out}"
    );
}

#[test]
fn a_run_is_printed_in_one_form() {
    let (ended, out, err) = ends(&tenure_sim(
        &["run", "-", "--json", "--explain"],
        &crash(""),
    ));
    assert_eq!((ended, out.as_str()), (2, ""));
    assert!(err.contains("only one of"), "{err}");
}

#[test]
fn a_reader_that_goes_away_changes_no_verdict() {
    for form in ["--explain", "--json", "--hash"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tenure-sim"))
            .args(["run", "-", form])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Gone before the command has read what it is to run.
        drop(child.stdout.take());
        let scenario = crash(r#""leader-again": "broken""#);
        child
            .stdin
            .take()
            .unwrap()
            .write_all(scenario.as_bytes())
            .unwrap();
        let (ended, _, err) = ends(&child.wait_with_output().unwrap());
        assert_eq!((ended, err.as_str()), (1, ""), "{form}");
    }
}

/// Progress goes to the standard error, which may be closed before the end as well.
#[test]
fn a_listener_that_goes_away_stops_nothing() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tenure-sim"))
        .args(["measure", "failover", "--seeds", "8"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    let (ended, out, _) = ends(&child.wait_with_output().unwrap());
    assert_eq!(ended, 0, "{out}");
    assert!(out.contains("split votes"), "{out}");
}

#[test]
fn a_row_of_scale_tells_what_a_run_cost() {
    let (ended, out, err) = ends(&tenure_sim(
        &["scale", "--nodes", "5", "--minutes", "2"],
        "",
    ));
    assert_eq!((ended, err.as_str()), (0, ""));
    let cells: Vec<&str> = out.split_whitespace().collect();
    assert_eq!(cells.first(), Some(&"5"), "{out}");
    let number = |place: usize| cells[place].parse::<f64>().unwrap();
    assert!(number(2) > 1_000.0 && number(3) > 0.0, "{out}");
    // At the start, after the crash, and after the cut: once a minute each, but for the start.
    assert!((4.0..=5.0).contains(&number(4)), "{out}");
}

#[test]
fn the_table_of_schemes_is_the_same_on_any_number_of_threads() {
    let table = |threads| {
        let args = ["schemes", "--seeds", "40", "--scheme", "etcd,sql"];
        let more = ["--fault", "pause,rate-beyond", "--threads", threads];
        ends(&tenure_sim(&[&args[..], &more].concat(), ""))
    };
    let (ended, out, err) = table("1");
    assert_eq!(ended, 0, "{out}");
    assert!(
        err.contains("40 of 40") && err.contains("events/s"),
        "{err}"
    );
    for part in [
        "sql: ",
        "etcd: ",
        "\npause ",
        "broken by design: two leaders",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    assert!(!out.contains("\ncrash "), "{out}");
    assert_eq!(table("3").1, out);
}

#[test]
fn the_table_of_schemes_is_json_and_what_is_not_there_is_refused() {
    let args = ["schemes", "--seeds", "2", "--json"];
    let some = ["--scheme", "raft,sql", "--fault", "crash,store-restart"];
    let (ended, out, _) = ends(&tenure_sim(&[&args[..], &some].concat(), ""));
    assert_eq!(ended, 0, "{out}");
    assert!(out.starts_with("{\"asExpected\":true,"), "{out}");
    for part in [
        r#"{"scheme":"raft","fault":"store-restart","verdict":"not applicable","asExpected":true,"reason":"there is no store"}"#,
        r#"{"scheme":"sql","fault":"crash","verdict":"holds","asExpected":true,"runs":2,"twoLeaders":{"p50":0,"p99":0,"worst":0}"#,
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    for (option, value) in [("--scheme", "paxos"), ("--fault", "crash,flood")] {
        let (ended, _, err) = ends(&tenure_sim(&["schemes", option, value], ""));
        assert_eq!(ended, 2);
        assert!(
            err.contains("use some of ") && err.contains(option),
            "{err}"
        );
    }
}

#[test]
fn the_table_of_classics_is_the_same_on_any_number_of_threads() {
    let table = |threads| {
        let args = ["classics", "--seeds", "40", "--threads", threads];
        ends(&tenure_sim(&args, ""))
    };
    let (ended, out, err) = table("1");
    assert_eq!((ended, err.as_str()), (0, ""), "{out}");
    for part in [
        "\nbully: ",
        "\nble-gossip: ",
        "\nslow-leader ",
        "broken by design: one-leader: each side elects its highest",
        "not exercised: BLE-MonotoneBallots",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    assert_eq!(table("3").1, out);
    // One seed is too few for what has to break.
    let (ended, out, _) = ends(&tenure_sim(&["classics", "--seeds", "1"], ""));
    assert_eq!(ended, 1);
    assert!(out.contains("has to break and did not in 1 runs"), "{out}");
}

#[test]
fn the_table_of_lengths_ends_with_what_it_says_of_the_advice() {
    let args = ["ttl", "--seeds", "2", "--scheme", "sql"];
    let (ended, out, _) = ends(&tenure_sim(&args, ""));
    assert_eq!(ended, 0, "{out}");
    for part in [
        "sql, calm\n",
        "sql, stalls\n",
        "\n  60 s",
        "\nsql: 5 to 10 s ",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    let (ended, json, _) = ends(&tenure_sim(&[&args[..], &["--json"]].concat(), ""));
    assert_eq!((ended, json.matches("\"ttl\":").count()), (0, 21));
}

#[test]
fn failover_by_stage_is_the_same_on_any_number_of_threads() {
    let table = |threads| {
        let args = ["stages", "--seeds", "20", "--scheme", "raft,redis"];
        ends(&tenure_sim(
            &[&args[..], &["--threads", threads]].concat(),
            "",
        ))
    };
    let (ended, out, err) = table("1");
    assert_eq!(ended, 0, "{out}");
    assert!(
        err.contains("redis, quick") && err.contains("20 of 20"),
        "{err}"
    );
    for part in [
        "\nAs shipped, ms\n",
        "redisson: ttl 30s",
        "\n  in no run: redis, shipped\n",
        "\n    synchronisation  none: the record is in the store",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    assert_eq!(table("3").1, out);
    let (ended, json, _) = ends(&tenure_sim(
        &["stages", "--seeds", "1", "--scheme", "sql", "--json"],
        "",
    ));
    assert_eq!((ended, json.matches("\"withoutLeader\":").count()), (0, 4));
    assert!(json.starts_with("{\"complete\":true,"), "{json}");
    let (ended, _, err) = ends(&tenure_sim(&["stages", "--scheme", "paxos"], ""));
    assert_eq!(ended, 2);
    assert!(err.contains("use some of raft, raft-log"), "{err}");
}

#[test]
fn statements_are_run_alone_and_those_that_are_not_there_refused() {
    let args = ["claims", "--seeds", "4", "--claim"];
    let two = "session-id,one-vote-a-term";
    let (ended, out, _) = ends(&tenure_sim(&[&args[..], &[two]].concat(), ""));
    assert_eq!(ended, 0, "{out}");
    for part in [
        "\none-vote-a-term: corrected\n",
        "\nsession-id: corrected\n",
        "\n  alone: tenure-sim claims --claim session-id",
        "\n2 statements: 0 holds, 0 holds with a limit, 2 corrected, 0 open\n",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    let (ended, json, _) = ends(&tenure_sim(&[&args[..], &[two, "--json"]].concat(), ""));
    assert_eq!(ended, 0);
    assert!(json.starts_with("{\"asExpected\":true,"), "{json}");
    let (ended, _, err) = ends(&tenure_sim(&["claims", "--claim", "flat-earth"], ""));
    assert_eq!(ended, 2);
    assert!(err.contains("use some of one-vote-a-term"), "{err}");
}
