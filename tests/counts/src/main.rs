//! Work for an instruction counter: what is counted happens inside [`counted`], as often as is said.
//!
//!     counts WORK TIMES
//!
//! `scripts/counts.mjs` runs it under Valgrind and compares with `table.json`. Instructions of the same program do not
//! depend on what else the machine does, so that a change by a few in a hundred is seen where no clock would see it.

use std::hint::black_box;
use std::process::ExitCode;
use tenure::Instant;
use tenure_counts::Group;

/// The counter is on while this runs.
#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    work();
}

fn elected(voters: usize) -> Group {
    let mut group = Group::new(voters);
    group.elect();
    assert!(group.led(), "{voters} voters have no leader");
    group
}

/// Rounds of heartbeats and the answers to them, among three, with every buffer as large as it gets.
fn heartbeats(times: u64) {
    let mut group = elected(3);
    (0..100).for_each(|_| group.heartbeat());
    counted(&mut || (0..times).for_each(|_| group.heartbeat()));
    assert!(group.led());
}

/// From newly built machines, which are not counted, to an established leader whom the others follow.
fn elections(voters: usize, times: u64) {
    for _ in 0..times {
        let mut group = Group::new(voters);
        counted(&mut || group.elect());
        assert!(group.led());
    }
}

/// A machine is asked for its deadline, and nothing is due.
fn deadlines(times: u64) {
    let group = elected(3);
    counted(&mut || {
        for _ in 0..times {
            assert!(!black_box(&group).due(black_box(Instant::ZERO)));
        }
    });
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (work, times) = (words.next(), words.next());
    let times = times.and_then(|times| times.parse().ok());
    match (work.as_deref(), times) {
        (Some("heartbeat-3"), Some(times)) => heartbeats(times),
        (Some("election-3"), Some(times)) => elections(3, times),
        (Some("election-5"), Some(times)) => elections(5, times),
        (Some("deadline"), Some(times)) => deadlines(times),
        _ => {
            eprintln!(
                "counts: say which work, and how often: heartbeat-3, election-3, election-5 or deadline, and a number"
            );
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
