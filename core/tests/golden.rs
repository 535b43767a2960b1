//! Golden traces: the main moves of the protocol, each a file of `tests/golden` that reads as a sequence diagram, so that
//! a change of behaviour shows in review.
//!
//! After a change that is meant, `UPDATE_GOLDEN=1 cargo test -p tenure --test golden` writes them anew. The commands are
//! described in `stage/script.rs`, the signs in `stage/lanes.rs`.

mod stage;

use std::fs;
use std::path::{Path, PathBuf};

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// The first line that differs, with what leads to it.
fn difference(kept: &str, now: &str) -> String {
    let (kept, now): (Vec<_>, Vec<_>) = (kept.lines().collect(), now.lines().collect());
    let same = kept.iter().zip(&now).take_while(|(a, b)| a == b).count();
    let before = kept[same.saturating_sub(5)..same].join("\n  ");
    let line = |lines: &[&str]| lines.get(same).copied().unwrap_or("(the end)").to_owned();
    format!(
        "  {before}\n- {}\n+ {}\nfrom line {} on",
        line(&kept),
        line(&now),
        same + 1
    )
}

#[test]
fn traces_are_as_they_were() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut changed = Vec::new();
    for file in scripts() {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let kept = fs::read_to_string(&file).unwrap();
        let now = stage::replay(&kept).unwrap_or_else(|error| panic!("{name}: {error}"));
        if now == kept {
            continue;
        }
        if update {
            fs::write(&file, now).unwrap();
        } else {
            changed.push(format!("{name}:\n{}", difference(&kept, &now)));
        }
    }
    assert!(
        changed.is_empty(),
        "{}\n\nIf that is meant, UPDATE_GOLDEN=1 writes the traces anew.",
        changed.join("\n\n")
    );
}

/// A script that asks for what cannot be is refused with its place, not passed over.
#[test]
fn scripts_that_cannot_be_are_refused() {
    for (script, reason) in [
        ("boot", "line 1: a script begins with nodes: boot"),
        ("nodes 3\njump n1", "line 2: no such command: jump n1"),
        (
            "nodes 3\ncampaign n4",
            "line 2: n4 is not of the group: campaign n4",
        ),
        (
            "nodes 3\nboot\n\ndeliver n1>n2",
            "line 4: nothing of that is on the way: deliver n1>n2",
        ),
        (
            "nodes 3 disks",
            "line 1: a group has no disks: nodes 3 disks",
        ),
        (
            "nodes 3\nboot\nelect n1\npropose n1 1",
            "line 4: the machine has no log; configure replication: propose n1 1",
        ),
        (
            "nodes 3 log\nboot\nelect n1\ncompact n1 7",
            "line 4: the log is committed and durable up to index 1 only; compact up to there: compact n1 7",
        ),
        (
            "nodes 3\nboot\nforge n2>n1 Heartbeat term=3",
            "line 3: Heartbeat term=3 needs sent=…: forge n2>n1 Heartbeat term=3",
        ),
    ] {
        assert_eq!(stage::replay(script), Err(reason.into()));
    }
}
