//! Work for an instruction counter: what is counted happens inside [`counted`], as often as is said.
//!
//!     counts WORK TIMES
//!
//! `scripts/counts.mjs` runs it under Valgrind and compares with `table.json`. Instructions of the same program do not
//! depend on what else the machine does, so that a change by a few in a hundred is seen where no clock would see it.
//! Of `replicate-64` and `read-64` the whole batch counts; no payload is carried.

use std::hint::black_box;
use std::process::ExitCode;
use tenure::Instant;
use tenure_counts::Group;

/// How often the work is done before it is counted.
const WARM: u64 = 100;

/// The counter is on while this runs.
#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    work();
}

/// Of newly built machines, an established leader whom the others follow.
fn elected(mut group: Group) -> Group {
    group.elect();
    assert!(group.led());
    group
}

/// What a leader of three does again and again, with every buffer as large as it gets.
fn led(mut group: Group, times: u64, mut work: impl FnMut(&mut Group)) -> Group {
    group = elected(group);
    (0..WARM).for_each(|_| work(&mut group));
    counted(&mut || (0..times).for_each(|_| work(&mut group)));
    assert!(group.led());
    group
}

/// Rounds of heartbeats and the answers to them.
fn heartbeats(group: Group, times: u64) {
    led(group, times, Group::heartbeat);
}

/// `entries` that are brought one by one and travel together.
fn replicated(entries: u32, times: u64) {
    let group = led(Group::with_log(3), times, |group| group.replicate(entries));
    // And the entry of the leader's term.
    let all = 1 + (WARM + times) * u64::from(entries);
    assert_eq!(group.committed(), all);
}

/// `reads` that are asked one by one and confirmed together.
fn confirmed(reads: u32, times: u64) {
    led(Group::with_log(3), times, |group| {
        assert_eq!(group.read(reads), u64::from(reads));
    });
}

/// From newly built machines, which are not counted, to an established leader whom the others follow.
fn elections(build: impl Fn() -> Group, times: u64) {
    for _ in 0..times {
        let mut group = build();
        counted(&mut || group.elect());
        assert!(group.led());
    }
}

/// A machine is asked for its deadline, and nothing is due.
fn deadlines(times: u64) {
    let group = elected(Group::new(3));
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
        (Some("heartbeat-3"), Some(times)) => heartbeats(Group::new(3), times),
        (Some("heartbeat-3-log"), Some(times)) => heartbeats(Group::with_log(3), times),
        (Some("election-3"), Some(times)) => elections(|| Group::new(3), times),
        (Some("election-3-log"), Some(times)) => elections(|| Group::with_log(3), times),
        (Some("election-5"), Some(times)) => elections(|| Group::new(5), times),
        (Some("election-5-log"), Some(times)) => elections(|| Group::with_log(5), times),
        (Some("replicate-1"), Some(times)) => replicated(1, times),
        (Some("replicate-64"), Some(times)) => replicated(64, times),
        (Some("read-1"), Some(times)) => confirmed(1, times),
        (Some("read-64"), Some(times)) => confirmed(64, times),
        (Some("deadline"), Some(times)) => deadlines(times),
        _ => {
            eprintln!(
                "counts: say which work, and how often: heartbeat-3, election-3 or election-5, each also with -log, \
                 replicate-1, replicate-64, read-1, read-64 or deadline, and a number"
            );
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
