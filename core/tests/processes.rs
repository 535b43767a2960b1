//! The example of three processes does what it says, and a node of it does not start on a record that it cannot trust.
#![cfg(unix)]

use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tenure::codec::Coded;
use tenure::raft::Stored;

/// Runs the example, as its page says to.
fn example(args: &[&str]) -> Output {
    // The profile of the tests, for which it is built already.
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--profile", "test", "-p", "tenure"]);
    command
        .args(["--example", "three_processes", "--"])
        .args(args);
    command.output().unwrap()
}

#[test]
fn three_processes_elect_lose_and_replace_a_leader() {
    let done = example(&[]);
    let said = String::from_utf8(done.stdout).unwrap();
    let complaints = String::from_utf8(done.stderr).unwrap();
    assert!(done.status.success(), "{said}\n{complaints}");
    let lines: Vec<&str> = said.lines().collect();
    let [elected, killed, replaced, back] = lines[..] else {
        panic!("{said}");
    };
    let number = |line: &str, before: &str| -> u64 {
        let rest = line
            .split_once(before)
            .unwrap_or_else(|| panic!("{said}"))
            .1;
        rest.split([' ', ',']).next().unwrap().parse().unwrap()
    };
    let (first, second) = (number(elected, "node "), number(replaced, "node "));
    assert_eq!(killed, format!("node {first} is killed"));
    assert_ne!(first, second);
    assert!(number(replaced, "token ") > number(elected, "token "));
    assert!(
        back.starts_with(&format!("node {first} follows node")),
        "{said}"
    );
}

/// The folder of a node that ran before.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let mut record = Vec::new();
    Stored::default().encode(&mut record);
    fs::write(folder.join("record"), record).unwrap();
    fs::write(folder.join("incarnation"), "1").unwrap();
    folder
}

fn refuses_to_start(folder: &Path, because: &str) {
    let done = example(&["0", folder.to_str().unwrap(), "127.0.0.1:1"]);
    let complaint = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{complaint}");
    assert!(complaint.contains(because), "{complaint}");
}

#[test]
fn a_record_that_is_lost_or_damaged_is_not_taken_for_none() {
    let folder = folder("damaged");
    let path = folder.join("record");
    let mut record = fs::read(&path).unwrap();
    record[3] ^= 1;
    fs::write(&path, &record).unwrap();
    refuses_to_start(&folder, "record: at byte 12: the checksum does not fit");
    fs::write(&path, []).unwrap();
    refuses_to_start(&folder, "record: at byte 0: the bytes end");
    fs::remove_file(&path).unwrap();
    refuses_to_start(&folder, "the record is lost");
}

#[test]
fn two_processes_do_not_use_one_record() {
    let folder = folder("locked");
    let lock = File::create(folder.join("lock")).unwrap();
    flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
    refuses_to_start(&folder, "in use by another process");
}
