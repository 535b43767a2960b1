//! `bench`: the speed of the simulator, then every figure.

use crate::args::Seeds;
use crate::{Done, measure, sweep};
use std::time::Instant;
use tenure_sim::{Refusal, Scenario, World};

/// How long each run is measured: virtual time.
const VIRTUAL_SECONDS: u64 = 600;
/// The best of so many is told: the others were disturbed.
const TRIES: usize = 5;

pub(crate) fn bench(seeds: &Seeds) -> Done {
    println!(
        "# Speed, one thread, judges and trace hash on (best of {TRIES}, {VIRTUAL_SECONDS} virtual s)"
    );
    speed(
        "5 nodes, heartbeat 50 ms, no clients",
        r#""client": {"every": "60min"}"#,
    )?;
    speed("5 nodes, 50 writes/s", r#""client": {"every": "20ms"}"#)?;
    speed(
        "5 nodes, 50 writes/s, 10 % loss",
        r#""client": {"every": "20ms"}, "network": {"loss": "10%"}"#,
    )?;
    println!("\n# Sweep");
    let held = sweep::sweep(seeds, sweep::Wishes::default())?;
    Ok(measure::all(seeds)? && held)
}

fn speed(name: &str, setting: &str) -> Result<(), Refusal> {
    let json = format!(
        r#"{{"tenure": 1, "scheme": "raft", "nodes": 5, "duration": "{VIRTUAL_SECONDS}s", {setting}}}"#
    );
    let scenario = Scenario::parse(&json)?;
    let (mut events, mut best) = (0, f64::INFINITY);
    for _ in 0..TRIES {
        let mut world = World::new(&scenario);
        let began = Instant::now();
        world.run();
        best = best.min(began.elapsed().as_secs_f64());
        events = world.trace().count();
    }
    println!(
        "{name:<40}{:>8.2} M events/s{:>10.0} virtual s/s",
        events as f64 / best / 1e6,
        VIRTUAL_SECONDS as f64 / best
    );
    Ok(())
}
