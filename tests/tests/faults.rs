//! How soon a group is led again after a fault, in ticks of which a hop takes one and an election timeout 10 to 20, with a
//! disk that takes no time. The draws are seeded, so that these are the figures of every machine;
//! `cargo bench -p tenure-tests --bench faults` prints them beside those of the peers.

use tenure_tests::faults::scenario::{Fault, Outcome};
use tenure_tests::faults::tenure::{Host, Tenure};

fn trials(
    fault: Fault,
    (nodes, log): (usize, bool),
    hop: (u64, u64),
    horizon: u64,
) -> Vec<Outcome> {
    let host = Host {
        disk: 0,
        grain: 0,
        log,
    };
    let trial = |seed| {
        let mut group = Tenure::new(nodes, hop, host, seed);
        fault.trial(&mut group, nodes, seed, horizon)
    };
    (0..300).map(trial).collect()
}

/// The median and the 99th percentile of the ticks to the first commit.
fn recovery(outcomes: &[Outcome]) -> (u64, u64) {
    let recovered = outcomes.iter().map(|outcome| outcome.recovered);
    let mut ticks: Vec<u64> = recovered
        .map(|ticks| ticks.expect("a group that can be led is led"))
        .collect();
    ticks.sort_unstable();
    (ticks[149], ticks[296])
}

/// The budgets of fail-over, with a log and without.
#[test]
fn who_can_be_led_is_led_soon() {
    for (fault, nodes, log, median, tail) in [
        (Fault::CutOff, 3, false, 17, 24),
        (Fault::CutOff, 3, true, 17, 24),
        (Fault::CutOff, 5, false, 15, 24),
        (Fault::CutOff, 5, true, 15, 24),
        (Fault::Star, 5, false, 18, 20),
        (Fault::Star, 5, true, 18, 20),
        (Fault::Constrained, 5, true, 25, 32),
    ] {
        let outcomes = trials(fault, (nodes, log), (1, 1), 100);
        let (p50, p99) = recovery(&outcomes);
        let what = format!("{fault:?}, n={nodes}, log {log}");
        assert!(p50 <= median && p99 <= tail, "{what}: p50 {p50}, p99 {p99}");
        for (seed, outcome) in outcomes.iter().enumerate() {
            assert!(
                outcome.leaders == 1 && outcome.burnt == 0 && outcome.two == 0,
                "{what}, seed {seed}: {outcome:?}"
            );
        }
    }
}

/// Partial partitions that leave the leader its majority, a follower that returns, and late messages: nothing changes, and
/// with a log an entry is committed in nearly every tick.
#[test]
fn a_leader_that_can_lead_is_left_alone() {
    const HORIZON: u64 = 300;
    for (fault, nodes, hop) in [
        (Fault::Chain, 3, (1, 1)),
        (Fault::Return, 3, (1, 1)),
        (Fault::TwoSpokes, 5, (1, 1)),
        (Fault::Healthy, 3, (1, 4)),
        (Fault::Healthy, 5, (1, 4)),
    ] {
        for log in [false, true] {
            let outcomes = trials(fault, (nodes, log), hop, HORIZON);
            for (seed, outcome) in outcomes.iter().enumerate() {
                assert!(
                    outcome.leaders == 0 && outcome.burnt == 0 && outcome.two == 0,
                    "{fault:?}, n={nodes}, log {log}, seed {seed}: {outcome:?}"
                );
                assert!(
                    !log || outcome.committed + 10 > HORIZON,
                    "{fault:?}, n={nodes}, seed {seed}: {outcome:?}"
                );
            }
        }
    }
}
