//! How soon a group is led again after a fault, in ticks of which a hop takes one and an election timeout 10 to 20, with a
//! disk that takes no time. The draws are seeded, so that these are the figures of every machine;
//! `cargo bench -p tenure-tests --bench faults` prints them beside those of the peers.

use tenure_tests::faults::scenario::{Fault, Outcome};
use tenure_tests::faults::tenure::{Host, Tenure};

fn trials(fault: Fault, nodes: usize, hop: (u64, u64), horizon: u64) -> Vec<Outcome> {
    let host = Host { disk: 0, grain: 0 };
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

#[test]
fn who_can_be_led_is_led_soon() {
    for (fault, nodes, median, tail) in [
        (Fault::CutOff, 3, 17, 24),
        (Fault::CutOff, 5, 15, 24),
        (Fault::Star, 5, 18, 20),
    ] {
        let outcomes = trials(fault, nodes, (1, 1), 100);
        let (p50, p99) = recovery(&outcomes);
        assert!(
            p50 <= median && p99 <= tail,
            "{fault:?}, n={nodes}: p50 {p50}, p99 {p99}"
        );
        for (seed, outcome) in outcomes.iter().enumerate() {
            assert!(
                outcome.leaders == 1 && outcome.burnt == 0 && outcome.two == 0,
                "{fault:?}, n={nodes}, seed {seed}: {outcome:?}"
            );
        }
    }
}

/// Partial partitions that leave the leader its majority, a follower that returns, and late messages: nothing changes.
#[test]
fn a_leader_that_can_lead_is_left_alone() {
    for (fault, nodes, hop) in [
        (Fault::Chain, 3, (1, 1)),
        (Fault::Return, 3, (1, 1)),
        (Fault::TwoSpokes, 5, (1, 1)),
        (Fault::Healthy, 3, (1, 4)),
        (Fault::Healthy, 5, (1, 4)),
    ] {
        for (seed, outcome) in trials(fault, nodes, hop, 300).iter().enumerate() {
            assert!(
                outcome.leaders == 0 && outcome.burnt == 0 && outcome.two == 0,
                "{fault:?}, n={nodes}, seed {seed}: {outcome:?}"
            );
        }
    }
}
