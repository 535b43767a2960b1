//! What is told of the trials of one group under one fault.

use std::fmt;
use tenure_tests::faults::scenario::Outcome;

/// What is asked of this library with disks that take no time: the median and the 99th percentile of the ticks to the first
/// commit, where there is something to recover from, and how many new leaders that takes.
pub(crate) struct Asked {
    pub(crate) within: Option<(u64, u64)>,
    pub(crate) leaders: u64,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.within {
            Some((median, tail)) => write!(f, "at most {median}, {tail}"),
            None => f.write_str("no new leader"),
        }
    }
}

pub(crate) fn heading() {
    println!(
        "{:<24}{:>5}{:>6}{:>6}{:>7}{:>9}{:>9}{:>9}{:>7}{:>8}{:>10}",
        "", "p50", "p99", "max", "never", "split", "twice", "false", "burnt", "two", "commits"
    );
}

/// All that is told of the outcomes.
pub(crate) fn line(name: &str, outcomes: &[Outcome], asked: &Asked) -> String {
    let (ticks, never) = recoveries(outcomes);
    let times = match (asked.within, ticks.last()) {
        (Some(_), Some(max)) => {
            let at = |share| percentile(&ticks, share);
            format!("{:>5}{:>6}{max:>6}{never:>7}", at(0.5), at(0.99))
        }
        (Some(_), None) => format!("{:>5}{:>6}{:>6}{never:>7}", "-", "-", "-"),
        (None, _) => format!("{:>24}", ""),
    };
    let share = |of: &dyn Fn(&Outcome) -> bool| {
        let count = outcomes.iter().filter(|outcome| of(outcome)).count();
        format!("{:.1} %", count as f64 * 100.0 / outcomes.len() as f64)
    };
    let burnt = outcomes.iter().map(|outcome| outcome.burnt).max();
    let two = outcomes.iter().map(|outcome| outcome.two).max();
    let fewest = outcomes.iter().map(|outcome| outcome.committed).min();
    format!(
        "  {name:<22}{times}{:>9}{:>9}{:>9}{:>7}{:>8}{:>10}",
        share(&|outcome| outcome.split > 0),
        share(&|outcome| outcome.again),
        share(&|outcome| outcome.leaders > asked.leaders),
        burnt.unwrap_or_default(),
        two.unwrap_or_default(),
        fewest.unwrap_or_default(),
    )
}

/// Whether they are as asked: quick enough, with no leader too many, and never two who believed.
pub(crate) fn judged(outcomes: &[Outcome], asked: &Asked) -> bool {
    let (ticks, never) = recoveries(outcomes);
    let quick = asked.within.is_none_or(|(median, tail)| {
        never == 0 && percentile(&ticks, 0.5) <= median && percentile(&ticks, 0.99) <= tail
    });
    let one = |outcome: &Outcome| outcome.leaders == asked.leaders && outcome.two == 0;
    quick && outcomes.iter().all(one)
}

/// The ticks of those that recovered, in rising order, and how many did not.
fn recoveries(outcomes: &[Outcome]) -> (Vec<u64>, usize) {
    let mut ticks: Vec<u64> = outcomes.iter().filter_map(|out| out.recovered).collect();
    ticks.sort_unstable();
    let never = outcomes.len() - ticks.len();
    (ticks, never)
}

/// The value below which a share of the sorted values lies.
fn percentile(sorted: &[u64], share: f64) -> u64 {
    let at = (sorted.len() as f64 * share).ceil() as usize;
    sorted[at.saturating_sub(1)]
}
