//! `scale`: what an event costs, and how much memory a run takes, for more nodes and for longer runs. Each run has a
//! process of its own, so that its memory is its own.

use crate::Done;
use crate::args::refusal;
use std::process::Command;
use std::time::{Duration, Instant};
use tenure_sim::{Scenario, World};

/// A run to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) nodes: u64,
    pub(crate) minutes: u64,
}

/// The best of so many is told: the others were disturbed.
const TRIES: usize = 3;

/// Nodes and minutes: of about as many events each.
const WIDER: [(u64, u64); 6] = [
    (3, 600),
    (5, 400),
    (51, 60),
    (201, 18),
    (501, 8),
    (1_001, 4),
];
const LONGER: [(u64, u64); 3] = [(5, 6), (5, 60), (5, 600)];

/// Where heartbeats are as rare as a thousand nodes need it: one leader sends and hears a thousand messages a round, and a
/// voter that stands a thousand more, so that two must hardly ever stand within one latency.
const RARE: &str =
    r#""raft": {"heartbeat": "1s", "electionTimeout": ["10s", "20s"]}, "client": {"every": "1s"}"#;
const USUAL: &str = r#""raft": {"heartbeat": "50ms", "electionTimeout": ["150ms", "300ms"]}, "client": {"every": "25ms"}"#;

/// Both tables.
pub(crate) fn scale() -> Done {
    for (title, sizes) in [
        (
            "More nodes: heartbeat 1 s, election timeout 10 s to 20 s, a write a second",
            &WIDER[..],
        ),
        (
            "Longer runs: heartbeat 50 ms, election timeout 150 ms to 300 ms, 40 writes a second",
            &LONGER[..],
        ),
    ] {
        println!(
            "# {title}; every minute the leader crashes, comes back, is cut off and is back again"
        );
        println!(
            "{:>6}{:>12}{:>14}{:>14}{:>12}{:>14}",
            "nodes", "virtual h", "events", "ns an event", "elections", "memory, peak"
        );
        for (nodes, minutes) in sizes {
            let size = Size {
                nodes: *nodes,
                minutes: *minutes,
            };
            in_a_process_of_its_own(size).map_err(|error| {
                refusal(
                    "no-process",
                    "scale",
                    &error.to_string(),
                    "name one size: --nodes N --minutes M",
                )
            })?;
        }
        println!();
    }
    println!(
        "best of {TRIES}; beyond some hundred nodes, what an event touches is no longer in the cache"
    );
    Ok(true)
}

fn in_a_process_of_its_own(size: Size) -> std::io::Result<()> {
    let Size { nodes, minutes } = size;
    let status = Command::new(std::env::current_exe()?)
        .args(["scale", "--nodes", &nodes.to_string()])
        .args(["--minutes", &minutes.to_string()])
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(std::io::Error::other(format!("it ended with {status}")))
    }
}

/// One row.
pub(crate) fn row(size: Size) -> Done {
    let Size { nodes, minutes } = size;
    let setting = if LONGER.contains(&(nodes, minutes)) {
        USUAL
    } else {
        RARE
    };
    let faults: Vec<String> = (0..minutes).map(faults_of_minute).collect();
    let scenario = Scenario::parse(&format!(
        r#"{{"tenure": 1, "scheme": "raft", "nodes": {nodes}, "duration": "{minutes}min", {setting},
            "faults": [{}]}}"#,
        faults.join(", ")
    ))?;
    let (mut events, mut elections, mut best) = (0, 0, Duration::MAX);
    for _ in 0..TRIES {
        let mut world = World::new(&scenario);
        let began = Instant::now();
        world.run();
        best = best.min(began.elapsed());
        events = world.trace().count();
        elections = world.counts().establishments;
    }
    println!(
        "{nodes:>6}{:>12.2}{events:>14}{:>14.1}{:>12}{:>14}",
        minutes as f64 / 60.0,
        best.as_nanos() as f64 / events as f64,
        elections,
        peak_memory().map_or_else(|| "-".to_owned(), |bytes| format!("{:.1} MB", bytes / 1e6))
    );
    Ok(true)
}

fn faults_of_minute(minute: u64) -> String {
    let at = |second, what| {
        let second = minute * 60 + second;
        format!(r#"{{"at": "{second}s", {what}}}"#)
    };
    [
        at(5, r#""crash": "leader""#),
        at(25, r#""restart": "crashed""#),
        at(35, r#""partition": [["leader"], ["rest"]]"#),
        at(55, r#""heal": "all""#),
    ]
    .join(", ")
}

/// The most memory that this process has had, in bytes, where the system tells.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024.0)
}
