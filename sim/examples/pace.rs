//! How long the run of a scenario takes, natively: `scripts/pace.mjs` puts the same run in WASM beside it.

use std::time::Instant;
use tenure_sim::{History, Scenario};

const ROUNDS: usize = 300;

fn main() -> Result<(), String> {
    let text = std::env::args()
        .nth(1)
        .ok_or("usage: pace SCENARIO-AS-JSON")?;
    let scenario = Scenario::parse(&text).map_err(|refusal| refusal.to_string())?;
    let mut best = f64::INFINITY;
    let mut hash = String::new();
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let mut history = History::new(scenario.clone()).map_err(|refusal| refusal.to_string())?;
        history.seek(scenario.duration);
        best = best.min(begun.elapsed().as_secs_f64() * 1e3);
        hash = history.head().trace().digest();
    }
    println!("{best:.3} {hash}");
    Ok(())
}
