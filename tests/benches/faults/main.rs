//! What a group does under faults, in ticks, beside its peers in one run: a hop takes a tick, heartbeats are a tick apart, an
//! election timeout is drawn from 10 to 20 ticks, all in their safe mode; 300 trials each, 2,000 ticks after the fault.
//!
//!     cargo bench -p tenure-tests --bench faults
//!
//! Whoever leads is given an entry in each tick. Where this library keeps no log, a commit is a round of heartbeats that a
//! majority answered: what a leader needs to be established and to go on, and as many hops as an entry takes.

#[path = "../drivers/raft_rs.rs"]
mod driver;
mod omnipaxos;
mod raft_rs;
mod report;

use crate::omnipaxos::Omni;
use crate::raft_rs::RaftRs;
use crate::report::{Asked, judged, line};
use tenure_tests::faults::scenario::{Fault, Outcome};
use tenure_tests::faults::system::System;
use tenure_tests::faults::tenure::{Host, Tenure};

const TRIALS: u64 = 300;
const HORIZON: u64 = 2_000;

struct Row {
    what: &'static str,
    fault: Fault,
    nodes: usize,
    /// The fewest and the most ticks of a hop.
    hop: (u64, u64),
    asked: Asked,
}

const ROWS: [Row; 9] = [
    row("leader cut off", Fault::CutOff, 3, Some((17, 24)), 1),
    row("leader cut off", Fault::CutOff, 5, Some((15, 24)), 1),
    row("quorum-loss star", Fault::Star, 5, Some((18, 20)), 1),
    row(
        "constrained election",
        Fault::Constrained,
        5,
        Some((25, 32)),
        1,
    ),
    row("chain", Fault::Chain, 3, None, 0),
    row("follower back after 30 timeouts", Fault::Return, 3, None, 0),
    row("two spokes", Fault::TwoSpokes, 5, None, 0),
    Row {
        hop: (1, 4),
        ..row("no fault, hops of 1 to 4 ticks", Fault::Healthy, 3, None, 0)
    },
    Row {
        hop: (1, 4),
        ..row("no fault, hops of 1 to 4 ticks", Fault::Healthy, 5, None, 0)
    },
];

const fn row(
    what: &'static str,
    fault: Fault,
    nodes: usize,
    within: Option<(u64, u64)>,
    leaders: u64,
) -> Row {
    Row {
        what,
        fault,
        nodes,
        hop: (1, 1),
        asked: Asked { within, leaders },
    }
}

/// All trials of a group made from a seed.
fn trials<S: System>(row: &Row, new: impl Fn(u64) -> S) -> Vec<Outcome> {
    let trial = |seed| {
        let mut group = new(seed);
        row.fault.trial(&mut group, row.nodes, seed, HORIZON)
    };
    (0..TRIALS).map(trial).collect()
}

fn main() {
    println!(
        "ticks from the fault to the first commit, and of {TRIALS} trials of {HORIZON} ticks: how many never committed again; the \
         shares\nwith a split vote, with a candidate that had to ask twice, with a false failover; the most terms burnt and \
         ticks with two\nwho believed to lead; the fewest commits\n"
    );
    report::heading();
    let mut met = 0;
    for row in &ROWS {
        println!("{}, n={}", row.what, row.nodes);
        let (nodes, hop, asked) = (row.nodes, row.hop, &row.asked);
        let own = |disk, grain, log| {
            let host = Host { disk, grain, log };
            trials(row, |seed| Tenure::new(nodes, hop, host, seed))
        };
        let at_once = own(0, 0, true);
        let as_asked = judged(&at_once, asked);
        met += usize::from(as_asked);
        println!(
            "{}   {asked}: {}",
            line("Tenure", &at_once, asked),
            if as_asked { "met" } else { "MISSED" }
        );
        for (name, outcomes) in [
            ("Tenure, disk 1", own(1, 0, true)),
            ("Tenure, clock 1", own(0, 1, true)),
            ("Tenure, no log", own(0, 0, false)),
            (
                "raft 0.7",
                trials(row, |seed| RaftRs::new(nodes, hop, seed)),
            ),
            (
                "omnipaxos 0.2",
                trials(row, |seed| Omni::new(nodes, hop, seed)),
            ),
        ] {
            println!("{}", line(name, &outcomes, asked));
        }
    }
    println!("{met} of {} targets met", ROWS.len());
}
