//! Takeovers beside real ones: how long it takes ZooKeeper's servers and Redis's sentinels until somebody else takes writes
//! once the leader is killed, and what happens in which order, beside the machines of [`tenure::zab`] and
//! [`tenure::sentinel`] with the same settings.
//!
//! Real servers ([`zookeeper`], [`sentinel`]) are killed on this machine and timed by its clock; the machines run in small
//! worlds of their own ([`ensemble`], [`sentinels`]) whose time is simulated. What a host adds to a machine, the time in
//! which a message passes, a file is written, a thread has its turn, stands at the head of each world. All waits that are
//! *configured* are the machine's own, and they make up most of what is compared.

mod ensemble;
mod queue;
pub(crate) mod sentinel;
mod sentinels;
pub(crate) mod zookeeper;

use crate::compare::Verdict;
use crate::options::Options;
use crate::server::PATIENCE;
use crate::trouble::Trouble;
use std::collections::BTreeMap;
use std::time::Instant;

/// How far the medians may be apart, in percent of the measured one.
const MEDIAN: u64 = 25;
/// And those that nine of ten do not exceed.
const P90: u64 = 40;
/// With fewer kills than that, p90 is told and not judged: a lost vote, which one takeover in ten has, decides it.
const ENOUGH: usize = 20;
/// How many takeovers are simulated.
const SEEDS: u64 = 400;

/// What is said of a kind of takeover.
pub(crate) struct Report {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// What is started, with which settings.
    pub(crate) real: &'static str,
    /// What is compared, and how, a paragraph each.
    pub(crate) compared: &'static [&'static str],
    /// What is otherwise, and why that is left.
    pub(crate) beyond: &'static [(&'static str, &'static str)],
}

/// One takeover, in microseconds since the leader was killed.
struct Takeover {
    /// When a write was accepted first.
    took: u64,
    /// When what happened first, for the table: the same names here and there.
    stages: Vec<(&'static str, u64)>,
    /// What each process did, in order.
    order: String,
}

/// Kills the leader of real servers. Each of them is whole before.
trait Real: Sized {
    /// Starts all servers, and waits until they are whole.
    fn start(seed: u64) -> Result<Self, Trouble>;
    /// Kills the leader, waits until another takes writes, starts it again, and waits until all are whole.
    fn take_over(&mut self) -> Result<Takeover, Trouble>;
}

/// Takeovers, real and simulated.
fn compare<R: Real>(
    report: &Report,
    simulate: fn(u64) -> Takeover,
    options: &Options,
) -> Result<Verdict, Trouble> {
    let began = Instant::now();
    let simulated: Vec<Takeover> = (0..SEEDS).map(simulate).collect();
    let mut servers = R::start(options.seed)?;
    let real: Result<Vec<Takeover>, Trouble> =
        (0..options.kills).map(|_| servers.take_over()).collect();
    let (real, load) = (real?, load());
    drop(servers);
    println!("  {}", report.real);
    println!(
        "  {} leaders killed, {SEEDS} simulated; load {load}; {:.1} s",
        options.kills,
        began.elapsed().as_secs_f64()
    );
    println!(
        "    {:<34} {:>22}   {:>22}",
        "ms after the kill: p50 (p10 to p90)", "real", "simulated"
    );
    for (stage, _) in &simulated[0].stages {
        tell(stage, &times(&real, stage), &times(&simulated, stage));
    }
    let of = |all: &[Takeover]| sorted(all.iter().map(|one| one.took));
    let (ours, theirs) = (of(&simulated), of(&real));
    tell("first write", &theirs, &ours);
    let mut verdict = Verdict::Equal;
    for (what, per_cent, within) in [("p50", 50, MEDIAN), ("p90", 90, P90)] {
        let (there, here) = (part(&theirs, per_cent), part(&ours, per_cent));
        let apart = 100 * there.abs_diff(here) / there.max(1);
        let judged = per_cent == 50 || real.len() >= ENOUGH;
        let allowed = if judged {
            format!("{within} % allowed")
        } else {
            "not judged".to_owned()
        };
        println!("    {what}: {apart} % apart, {allowed}");
        if judged && apart > within {
            verdict = Verdict::Different;
        }
    }
    if !tell_orders(&real, &simulated) {
        verdict = Verdict::Different;
    }
    if verdict == Verdict::Different {
        println!("  DIFFERENT: all times until the first write, in ms");
        println!("    real      {}", millis(&theirs));
        println!("    simulated {}", millis(&ours));
    }
    Ok(verdict)
}

/// Prints what happened in which order. Whether it is the same: what is usual is usual here and there, and whatever was seen
/// with real servers is seen in the simulation.
fn tell_orders(real: &[Takeover], simulated: &[Takeover]) -> bool {
    let count = |all: &[Takeover]| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for one in all {
            *counts.entry(one.order.clone()).or_default() += 1;
        }
        let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    };
    let (theirs, ours) = (count(real), count(simulated));
    let mut same = theirs[0].0 == ours[0].0;
    for (order, times) in &theirs {
        let here = ours.iter().find(|(other, _)| other == order);
        let here = here.map_or(0, |(_, count)| *count);
        println!("    order, {times} real, {here} simulated: {order}");
        same &= here > 0;
    }
    if theirs[0].0 != ours[0].0 {
        println!("    usual in the simulation, {}: {}", ours[0].1, ours[0].0);
    }
    same
}

fn tell(stage: &str, real: &[u64], simulated: &[u64]) {
    let told = |times: &[u64]| {
        if times.is_empty() {
            return "-".to_owned();
        }
        let at = |per_cent| part(times, per_cent) / 1_000;
        format!("{} ({} to {})", at(50), at(10), at(90))
    };
    println!(
        "    {stage:<34} {:>22}   {:>22}",
        told(real),
        told(simulated)
    );
}

fn times(all: &[Takeover], stage: &str) -> Vec<u64> {
    let of = |one: &Takeover| {
        one.stages
            .iter()
            .find(|(name, _)| *name == stage)
            .map(|(_, at)| *at)
    };
    sorted(all.iter().filter_map(of))
}

fn sorted(times: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut times: Vec<u64> = times.collect();
    times.sort_unstable();
    times
}

/// The least that so many in a hundred do not exceed.
fn part(sorted: &[u64], per_cent: usize) -> u64 {
    let rank = (sorted.len() * per_cent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

fn millis(times: &[u64]) -> String {
    let told: Vec<String> = times.iter().map(|at| (at / 1_000).to_string()).collect();
    told.join(" ")
}

/// How busy the machine is.
fn load() -> String {
    let said = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = said.split(' ').next().unwrap_or("unknown");
    format!("{load} on {cores} cores")
}

/// What a log says at some time of day, in microseconds since `killed`, the time of day of the kill; none when it was before.
fn since(killed: u64, line: &str) -> Option<u64> {
    const DAY: u64 = 24 * 3_600 * 1_000_000;
    let clock = line
        .split(' ')
        .find(|word| word.len() == 12 && word.as_bytes()[8] == b'.')?;
    let mut parts = clock.split([':', '.']).map(|part| part.parse::<u64>().ok());
    let mut next = || parts.next().flatten();
    let (hours, minutes, seconds, millis) = (next()?, next()?, next()?, next()?);
    let at = (((hours * 60 + minutes) * 60 + seconds) * 1_000 + millis) * 1_000;
    // A log has milliseconds: what was said in that of the kill counts.
    let passed = (at + 999 + DAY - killed) % DAY;
    (passed < DAY / 2).then_some(passed.saturating_sub(999))
}

/// The time of day, in microseconds.
fn time_of_day() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_micros() as u64);
    now % (24 * 3_600 * 1_000_000)
}

/// Whether there is time left.
fn patient(begun: Instant, what: &str) -> Result<(), Trouble> {
    if begun.elapsed() < PATIENCE {
        return Ok(());
    }
    Err(Trouble::failed(what, format!("after {PATIENCE:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_the_least_that_so_many_do_not_exceed() {
        let twenty: Vec<u64> = (1..=20).collect();
        assert_eq!((part(&twenty, 50), part(&twenty, 90)), (10, 18));
        assert_eq!((part(&[7], 90), part(&[], 90)), (7, 0));
    }

    #[test]
    fn logs_are_read_by_their_clock() {
        let noon = 12 * 3_600 * 1_000_000;
        let line = "17:X 30 Nov 2026 12:00:01.250 # +sdown master m";
        assert_eq!(since(noon, line), Some(1_250_000));
        assert_eq!(since(noon + 500, "12:00:00.000 said"), Some(0));
        assert_eq!(since(noon, "11:59:59.000 said"), None);
        assert_eq!(
            since(86_399_999_000, "00:00:01.000 [a] said"),
            Some(1_001_000)
        );
        assert_eq!(since(noon, "\tat java.lang.Thread"), None);
    }

    #[test]
    fn another_order_and_times_too_far_apart_are_different() {
        let one = |order: &str| Takeover {
            took: 1,
            stages: Vec::new(),
            order: order.to_owned(),
        };
        assert!(tell_orders(&[one("a")], &[one("a"), one("b"), one("a")]));
        assert!(!tell_orders(&[one("b")], &[one("a"), one("b"), one("a")]));
        assert!(!tell_orders(&[one("a"), one("a"), one("c")], &[one("a")]));
    }
}
