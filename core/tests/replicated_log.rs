//! The example of a log does what it says.

use std::process::Command;

#[test]
fn a_node_that_comes_back_has_the_whole_log() {
    // The profile of the tests, for which it is built already.
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--profile", "test", "-p", "tenure"]);
    let done = command
        .args(["--example", "replicated_log"])
        .output()
        .unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    let complaints = String::from_utf8(done.stderr).unwrap();
    assert!(done.status.success(), "{said}\n{complaints}");
    assert!(
        said.ends_with("has applied one, two, three, four, five\n"),
        "{said}"
    );
}
