//! `sweep` and `schedule`: random fault schedules.

use crate::args::{Seeds, refusal};
use crate::measure::quantiles;
use crate::{Done, parallel};
use std::time::Instant;
use tenure::raft::ConfigError;
use tenure_sim::Refusal;
use tenure_sim::check::Check;
use tenure_sim::fault::Action;
use tenure_sim::schedule;
use tenure_sim::sweep::{HEALED_SOON, Sweep};

/// How many failing seeds are listed.
const LISTED: usize = 10;

pub(crate) fn schedule(seed: u64) -> Done {
    println!(
        "{}",
        schedule::random(seed).map_err(unsafe_setting)?.to_json()
    );
    Ok(true)
}

pub(crate) fn sweep(seeds: &Seeds) -> Done {
    let began = Instant::now();
    let mut sweep: Sweep =
        parallel::each(seeds, Sweep::add, Sweep::merge).map_err(unsafe_setting)?;
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{} schedules, {} events in {seconds:.1} s: {:.2} M events/s on {} threads",
        sweep.runs,
        sweep.events,
        sweep.events as f64 / seconds / 1e6,
        seeds.threads
    );
    println!("\n{:<24}{:>12}{:>10}", "check", "tested", "broken");
    for (tally, check) in sweep.tallies.iter().zip(Check::ALL) {
        println!(
            "{:<24}{:>12}{:>10}",
            check.name(),
            tally.exercised,
            tally.broken
        );
    }
    println!(
        "\n{:<24}{:>12}{:>10}{:>10}",
        "fault", "fired", "effective", "mattered"
    );
    for (kind, name) in Action::NAMES.iter().enumerate() {
        println!(
            "{name:<24}{:>12}{:>10}{:>10}",
            sweep.faults.fired[kind], sweep.faults.effective[kind], sweep.faults.mattered[kind]
        );
    }
    let healed = sweep.healed.quantiles();
    let all = (healed.count as u64 + sweep.leaderless).max(1);
    println!("\nhealed to leader   {}", quantiles(&healed));
    println!(
        "within 1.5 s       {:.3} %, none in time: {}",
        sweep.healed.within(HEALED_SOON) as f64 * 100.0 / all as f64,
        sweep.leaderless
    );
    sweep.failing.sort_unstable();
    for (seed, check) in sweep.failing.iter().take(LISTED) {
        println!(
            "broken: {} by seed {seed} (tenure-sim schedule {seed})",
            check.name()
        );
    }
    if sweep.failing.len() > LISTED {
        println!("… and {} more", sweep.failing.len() - LISTED);
    }
    for seed in &sweep.unrepeatable {
        println!("another trace the second time: seed {seed}");
    }
    if !sweep.heals_in_time() {
        println!("too late: fewer than 99.9 % within 1.5 s, or not all within 3 s");
    }
    for name in sweep.vacuous() {
        println!("never put to the test: {name}");
    }
    println!(
        "{}",
        if sweep.holds() {
            "holds"
        } else {
            "does not hold"
        }
    );
    Ok(sweep.holds())
}

pub(crate) fn unsafe_setting(error: ConfigError) -> Refusal {
    refusal(
        error.code(),
        "--timeout",
        &error.reason().to_string(),
        error.remedy(),
    )
}
