//! The command's traces and accounts: what it prints, and how it ends.

#![cfg(feature = "cli")]

use std::path::Path;
use std::process::Command;

const CRASH: &str = "../scenarios/leader-crash.json";

fn tenure_sim(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tenure-sim"))
        .args(args)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn trace_prints_lines_unless_asked_otherwise() {
    let (ended, plain, err) = tenure_sim(&["trace", CRASH]);
    assert_eq!((ended, err.as_str()), (0, ""));
    assert!(plain.starts_with(r#"{"trace":1,"#), "{plain:.200}");
    for (format, begins) in [
        ("jsonl", r#"{"trace":1,"#),
        ("perfetto", r#"{"displayTimeUnit":"ms","#),
        ("shiviz", "(?<event>"),
    ] {
        let (ended, out, err) = tenure_sim(&["trace", CRASH, "--format", format]);
        assert_eq!((ended, err.as_str()), (0, ""));
        assert!(out.starts_with(begins), "{out:.200}");
    }
    let seeded = tenure_sim(&["trace", CRASH, "--seed", "99"]).1;
    assert!(seeded.contains(r#""seed":"99""#) && seeded != plain);
}

#[test]
fn explain_tells_the_run_and_ends_as_the_run_does() {
    let (ended, out, err) = tenure_sim(&["run", CRASH, "--explain"]);
    assert_eq!((ended, err.as_str()), (0, ""));
    assert!(out.contains("Fault 1 of 2, crash leader."), "{out}");
    let unexpected = format!("{}/tests/data/unexpected.json", env!("CARGO_MANIFEST_DIR"));
    let (ended, out, _) = tenure_sim(&["run", &unexpected, "--explain"]);
    assert_eq!(ended, 1, "{out}");
    assert!(out.contains("NOT AS EXPECTED: broken."), "{out}");
}

#[test]
fn what_cannot_be_used_is_refused_with_a_remedy() {
    for (args, remedy) in [
        (&["trace"][..], "name a scenario file"),
        (
            &["trace", CRASH, "--format", "svg"],
            "jsonl, perfetto, shiviz",
        ),
        (&["trace", CRASH, "--format"], "add it"),
        (&["trace", "no/such/file.json"], "can be read"),
        (&["trace", CRASH, "--explain"], "--help"),
        (&["trace", "tests/data/too-long.json"], "shorten it"),
        (
            &["run", "tests/data/too-long.json", "--explain"],
            "shorten it",
        ),
    ] {
        let (ended, out, err) = tenure_sim(args);
        assert_eq!((ended, out.as_str()), (2, ""), "{args:?}");
        assert!(err.contains(remedy), "{args:?}: {err}");
    }
}
