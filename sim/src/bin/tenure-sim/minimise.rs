//! `minimise`: a small scenario that fails for the same reason.

use crate::Done;
use crate::args::refusal;
use crate::run::scenario;
use std::path::Path;
use std::time::{Duration, Instant};
use tenure_sim::minimise::{Minimised, minimise};
use tenure_sim::{Refusal, Scenario};

/// How often progress is told.
const PULSE: Duration = Duration::from_secs(2);

pub(crate) fn command(file: &Path, seed: Option<u64>, out: Option<&Path>) -> Done {
    let scenario = scenario(file, seed)?;
    let name = file.display().to_string();
    let small = told(&scenario, &name).ok_or_else(|| {
        refusal(
            "nothing-broken",
            &name,
            "nothing fails in this run: no check is broken, unless by design",
            "name a scenario that fails, or a seed that does with --seed",
        )
    })?;
    write(&small, out)?;
    Ok(true)
}

/// Minimises and tells how it went, on the standard error; nothing when the scenario does not fail.
pub(crate) fn told(scenario: &Scenario, name: &str) -> Option<Minimised> {
    let began = Instant::now();
    let mut pulse = began;
    let small = minimise(scenario, |progress| {
        if pulse.elapsed() >= PULSE {
            pulse = Instant::now();
            eprintln!(
                "  {name}: {} actions left, {} tries, {:.0} s",
                progress.actions,
                progress.tries,
                began.elapsed().as_secs_f64()
            );
        }
        true
    })?;
    eprintln!(
        "  {name}: {} actions to {}, {} tries, {:.2} s",
        small.actions,
        small.scenario.faults.len(),
        small.tries,
        began.elapsed().as_secs_f64()
    );
    Some(small)
}

/// Writes the scenario, all at once, and says what it shows.
pub(crate) fn write(small: &Minimised, out: Option<&Path>) -> Result<(), Refusal> {
    let json = small.scenario.to_text();
    let Some(file) = out else {
        eprintln!("{}", small.sentence);
        print!("{json}");
        return Ok(());
    };
    std::fs::write(file, json).map_err(|error| {
        refusal(
            "unwritable",
            &file.display().to_string(),
            &error.to_string(),
            "name a file that can be written",
        )
    })?;
    println!("{}", small.sentence);
    println!("see it: tenure-sim run {} --explain", file.display());
    Ok(())
}
