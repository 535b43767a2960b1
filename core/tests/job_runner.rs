//! The example of an election over a store does what it says.

use std::process::Command;

#[test]
fn a_frozen_leader_is_replaced_and_its_late_write_refused() {
    // The profile of the tests, for which it is built already.
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--profile", "test", "-p", "tenure"]);
    let done = command.args(["--example", "job_runner"]).output().unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    let complaints = String::from_utf8(done.stderr).unwrap();
    assert!(done.status.success(), "{said}\n{complaints}");
    let mut lines = said.lines();
    for what in [
        "anna leads with token 1",
        "anna has done job 2",
        "anna freezes in the middle of job 3",
        "ben leads with token 2",
        "ben begins job 3 again",
        "ben has done job 3",
        "anna wakes, and her write is refused: overtaken",
        "anna does not lead any more with token 1: Lapsed",
        "ben does not lead any more with token 2: Resigned",
        "ben has left",
        "anna leads with token 4",
        "done, each once: [1, 2, 3, 4, 5, 6]",
    ] {
        assert!(lines.any(|line| line.contains(what)), "{what}: {said}");
    }
}
