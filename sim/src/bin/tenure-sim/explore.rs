//! `explore`: every schedule of a small group, within bounds.

use crate::Done;
use crate::args::{help, number, refusal, rule, slip, unknown};
use lexopt::prelude::{Long, Short, Value};
use std::time::{Duration, Instant};
use tenure_sim::explore::{Bounds, Clocks, Setting, explore};

/// How often progress is told.
const PULSE: Duration = Duration::from_secs(2);

/// Reads the rest of the command line and explores.
pub(crate) fn command(parser: &mut lexopt::Parser) -> Done {
    let (mut lease, mut voters, mut promise, mut off, mut whole) = (None, 3, 2, Vec::new(), false);
    let mut bounds = Bounds::default();
    while let Some(arg) = parser.next().map_err(|error| slip(&error))? {
        match arg {
            Value(what) if lease.is_none() => {
                lease = Some(match what.to_str() {
                    Some("election") => false,
                    Some("lease") => true,
                    _ => return Err(unknown(&what.to_string_lossy())),
                });
            }
            Long("nodes") => voters = number(parser, "--nodes", 1, 5)? as usize,
            Long("promise") => promise = number(parser, "--promise", 2, 20)?,
            Long("terms") => bounds.terms = number(parser, "--terms", 1, 30)?,
            Long("crashes") => bounds.crashes = number(parser, "--crashes", 0, 9)? as u8,
            Long("whims") => bounds.whims = number(parser, "--whims", 0, 9)? as u8,
            Long("ticks") => bounds.ticks = number(parser, "--ticks", 0, 254)? as u8,
            Long("states") => bounds.states = number(parser, "--states", 1, 1 << 32)? as usize,
            Long("without") => off.push(rule(parser, "--without")?),
            Long("whole") => whole = true,
            Long("help") | Short('h') => return help(),
            other => return Err(slip(&other.unexpected())),
        }
    }
    let setting = if lease == Some(true) {
        Setting::lease(voters, Clocks::exact(promise), bounds)
    } else {
        Setting::election(voters, bounds)
    };
    let setting = setting.without(&off);
    search(&if whole { setting.whole() } else { setting })
}

fn search(setting: &Setting) -> Done {
    let begun = Instant::now();
    let mut told = begun;
    let report = explore(setting, |report| {
        if told.elapsed() >= PULSE {
            told = Instant::now();
            eprintln!(
                "  depth {}, {} states, {:.0} s",
                report.depth(),
                report.unique,
                begun.elapsed().as_secs_f64()
            );
        }
        true
    })
    .map_err(|error| {
        refusal(
            "unexplorable",
            "setting",
            &error.to_string(),
            "change it as said",
        )
    })?;
    let took = begun.elapsed().as_secs_f64().max(0.001);
    println!("{report}");
    println!(
        "{took:.1} s, {:.0} states a second generated",
        report.generated as f64 / took
    );
    Ok(report.counterexample.is_none())
}
