//! What a group does under faults, in ticks, beside its peers in one run: a hop takes a tick, heartbeats are a tick apart, an
//! election timeout is drawn from 10 to 20 ticks, all in their safe mode; 300 trials each, 2,000 ticks after the fault.
//!
//!     cargo bench -p tenure-tests --bench faults
//!
//! A commit of this library is a round of heartbeats that a majority answered: what a leader needs to be established and to
//! go on, and as many hops as an entry takes.

#[path = "../drivers/raft_rs.rs"]
mod driver;
mod network;
mod omnipaxos;
mod raft_rs;
mod scenario;
mod system;
mod tenure;

use crate::omnipaxos::Omni;
use crate::raft_rs::RaftRs;
use crate::scenario::{Fault, HORIZON, Outcome};
use crate::system::System;
use crate::tenure::{Host, Tenure};

const TRIALS: u64 = 300;

/// What is asked of this library with disks that take no time: the median and the 99th percentile of the ticks to the first
/// commit, and how many new leaders are needed.
struct Asked {
    within: Option<(u64, u64)>,
    leaders: u64,
}

struct Row {
    what: &'static str,
    fault: Fault,
    nodes: usize,
    /// The fewest and the most ticks of a hop.
    hop: (u64, u64),
    asked: Asked,
}

const ROWS: [Row; 8] = [
    row("leader cut off", Fault::CutOff, 3, Some((17, 24)), 1),
    row("leader cut off", Fault::CutOff, 5, Some((15, 24)), 1),
    row("quorum-loss star", Fault::Star, 5, Some((18, 20)), 1),
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
    let trial = |seed| row.fault.trial(&mut new(seed), row.nodes, 60 + seed % 20);
    (0..TRIALS).map(trial).collect()
}

/// The value below which a share of the sorted values lies.
fn percentile(sorted: &[u64], share: f64) -> u64 {
    let at = (sorted.len() as f64 * share).ceil() as usize;
    sorted[at.saturating_sub(1)]
}

/// Prints a line; whether the outcomes are as asked.
fn report(name: &str, outcomes: &[Outcome], asked: &Asked, judged: bool) -> bool {
    let within = asked.within;
    let mut ticks: Vec<u64> = outcomes.iter().filter_map(|out| out.recovered).collect();
    ticks.sort_unstable();
    let never = outcomes.len() - ticks.len();
    let share = |of: fn(&Outcome) -> bool| {
        let count = outcomes.iter().filter(|out| of(out)).count();
        format!("{:.1} %", count as f64 * 100.0 / outcomes.len() as f64)
    };
    let most = |of: fn(&Outcome) -> u64| outcomes.iter().map(of).max().unwrap_or_default();
    let times = match ticks.last().filter(|_| within.is_some()) {
        Some(max) => {
            let at = |share| percentile(&ticks, share);
            format!("{:>5}{:>6}{max:>6}{never:>7}", at(0.5), at(0.99))
        }
        None => format!("{:>24}", ""),
    };
    let fewest = outcomes.iter().map(|out| out.committed).min();
    print!(
        "  {name:<22}{times}{:>9}{:>9}{:>9}{:>7}{:>8}{:>10}",
        share(|out| out.split > 0),
        share(|out| out.again),
        most(|out| out.leaders),
        most(|out| out.burnt),
        most(|out| out.two),
        fewest.unwrap_or_default(),
    );
    if !judged {
        println!();
        return true;
    }
    let quick = within.is_none_or(|(median, tail)| {
        never == 0 && percentile(&ticks, 0.5) <= median && percentile(&ticks, 0.99) <= tail
    });
    let met = quick
        && outcomes
            .iter()
            .all(|out| out.leaders == asked.leaders && out.two == 0);
    let wanted = match within {
        Some((median, tail)) => format!("at most {median}, {tail}"),
        None => "no new leader".to_owned(),
    };
    println!("   {wanted}: {}", if met { "met" } else { "MISSED" });
    met
}

fn main() {
    println!(
        "ticks from the fault to the first commit; in {TRIALS} trials of {HORIZON} ticks: how many never committed again, split \
         votes,\nasked twice, and the most of new leaders, of terms without one, and of ticks with two that believed; the \
         fewest commits\n"
    );
    println!(
        "{:<24}{:>5}{:>6}{:>6}{:>7}{:>9}{:>9}{:>9}{:>7}{:>8}{:>10}",
        "", "p50", "p99", "max", "never", "split", "again", "leaders", "burnt", "two", "commits"
    );
    let mut met = 0;
    for row in &ROWS {
        println!("{}, n={}", row.what, row.nodes);
        let (nodes, hop, asked) = (row.nodes, row.hop, &row.asked);
        let own = |disk, grain| {
            let host = Host { disk, grain };
            trials(row, |seed| Tenure::new(nodes, hop, host, seed))
        };
        met += usize::from(report("Tenure", &own(0, 0), asked, true));
        report("Tenure, disk 1", &own(1, 0), asked, false);
        report("Tenure, clock 1", &own(0, 1), asked, false);
        let raft = trials(row, |seed| RaftRs::new(nodes, hop, seed));
        report("raft 0.7", &raft, asked, false);
        let omni = trials(row, |seed| Omni::new(nodes, hop, seed));
        report("omnipaxos 0.2", &omni, asked, false);
    }
    println!("{met} of {} targets met", ROWS.len());
}
