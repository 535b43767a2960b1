//! `explore`: every schedule of a small group, within bounds.

use crate::Done;
use crate::args::{help, number, refusal, rule, slip, text, unknown_of};
use crate::out::count;
use lexopt::prelude::{Long, Short, Value};
use std::time::{Duration, Instant};
use tenure_sim::explore::{
    Bounds, Clocks, Counterexample, Coverage, Hunt, Report, Setting, explore,
};
use tenure_sim::scenario::rule_names;

/// How often progress is told.
const PULSE: Duration = Duration::from_secs(2);

/// Reads the rest of the command line and explores.
pub(crate) fn command(parser: &mut lexopt::Parser) -> Done {
    let (mut lease, mut voters, mut promise, mut off, mut whole) = (None, 3, 2, Vec::new(), false);
    let (mut hunted, mut file, mut liveness, mut seeds) = (None, None, None, 0);
    let mut bounds = Bounds::default();
    while let Some(arg) = parser.next().map_err(|error| slip(&error))? {
        match arg {
            Value(what) if lease.is_none() => {
                lease = Some(match what.to_str() {
                    Some("election") => false,
                    Some("lease") => true,
                    _ => return Err(unknown_of(&what.to_string_lossy(), "election, lease")),
                });
            }
            Long("nodes") => voters = number(parser, "--nodes", 1, 5)? as usize,
            Long("promise") => promise = number(parser, "--promise", 2, 20)?,
            Long("terms") => bounds.terms = number(parser, "--terms", 1, 30)?,
            Long("crashes") => bounds.crashes = number(parser, "--crashes", 0, 9)? as u8,
            Long("whims") => bounds.whims = number(parser, "--whims", 0, 9)? as u8,
            Long("ticks") => bounds.ticks = number(parser, "--ticks", 0, 254)? as u8,
            Long("states") => bounds.states = number(parser, "--states", 1, 1 << 32)? as usize,
            Long("off") => off.push(rule(parser, "--off")?),
            Long("hunt") => hunted = Some(hunt(parser)?),
            Long("liveness") => liveness = Some(number(parser, "--liveness", 1, 1 << 32)?),
            Long("coverage") => seeds = number(parser, "--coverage", 1, 1 << 32)?,
            Long("whole") => whole = true,
            Long("scenario") => file = Some(text(parser, "--scenario")?),
            Long("help") | Short('h') => return help(),
            other => return Err(slip(&other.unexpected())),
        }
    }
    let by_hunt = hunted.is_some();
    let mut setting = match hunted {
        // What no world shows is no scenario.
        Some(hunt) if file.is_some() => hunt.as_seen().setting,
        Some(hunt) => hunt.setting,
        None => {
            let setting = if lease == Some(true) {
                Setting::lease(voters, Clocks::exact(promise), bounds)
            } else {
                Setting::election(voters, bounds)
            };
            if file.is_some() {
                setting.as_seen()
            } else {
                setting
            }
        }
    }
    .without(&off);
    setting.liveness = liveness.or(setting.liveness);
    if whole {
        setting = setting.whole();
    }
    println!("{}", told(&setting));
    let report = search(&setting)?;
    if seeds > 0 {
        cover(&report, &setting, seeds)?;
    }
    match (&report.counterexample, file) {
        (Some(example), Some(file)) => show(example, &setting, &file)?,
        (None, Some(_)) if by_hunt => println!(
            "no scenario: what no world shows is left out for --scenario, and without it nothing breaks; hunt without --scenario"
        ),
        _ => {}
    }
    Ok(report.counterexample.is_none())
}

/// What is explored, and within which bounds.
fn told(setting: &Setting) -> String {
    let Bounds {
        terms,
        crashes,
        whims,
        ticks,
        states,
        ..
    } = setting.bounds;
    let what = match setting.clocks {
        None => "the election",
        Some(_) => "the election and its lease",
    };
    let crashed = if crashes == 1 { "crash" } else { "crashes" };
    let mut said = format!(
        "{what}, {}: at most {}, {crashes} {crashed}, {}, ",
        count(setting.voters as u64, "node"),
        count(terms, "term"),
        count(u64::from(whims), "whim"),
    );
    if ticks < u8::MAX {
        said += &format!("{}, ", count(u64::from(ticks), "tick"));
    }
    said += &count(states as u64, "state");
    let off: Vec<&str> = (setting.off.iter())
        .filter_map(|rule| rule_names().get(*rule as usize).copied())
        .collect();
    if !off.is_empty() {
        said += &format!("; without {}", off.join(", "));
    }
    said
}

/// Where the absence of a rule is found.
fn hunt(parser: &mut lexopt::Parser) -> Result<Hunt, tenure_sim::Refusal> {
    Hunt::of(rule(parser, "--hunt")?).ok_or_else(|| {
        refusal(
            "unknown-name",
            "--hunt",
            "this rule protects no invariant that a single state breaks",
            "use a rule of safety, or explore with --off",
        )
    })
}

/// Tells which share of the node states random schedules reach, and what they do not.
fn cover(report: &Report, setting: &Setting, seeds: u64) -> Result<(), tenure_sim::Refusal> {
    let coverage = Coverage::of(setting, 0..seeds).map_err(|error| {
        refusal(
            "unexplorable",
            "--coverage",
            error.code(),
            "keep the rules that make it safe",
        )
    })?;
    let missing = coverage.missing(&report.outlines);
    let (all, runs) = (report.outlines.len(), coverage.runs);
    let met = all - missing.len();
    println!(
        "{runs} schedules reach {met} of {all} node states ({} %), and {} beyond the bounds",
        100 * met / all.max(1),
        coverage.outlines.len() - met
    );
    for outline in missing {
        println!("  not reached: {outline}");
    }
    Ok(())
}

/// Writes the counterexample as a scenario, if a world breaks by it too.
fn show(
    example: &Counterexample,
    setting: &Setting,
    file: &str,
) -> Result<(), tenure_sim::Refusal> {
    let scenario = match example.scenario(setting) {
        Ok(scenario) => scenario,
        Err(unstaged) => {
            println!("no scenario: {unstaged}; the steps are above");
            return Ok(());
        }
    };
    std::fs::write(file, scenario.to_text()).map_err(|error| {
        refusal(
            "unwritable",
            file,
            &error.to_string(),
            "name a file that can be written",
        )
    })?;
    println!(
        "{file}: {} faults; `tenure-sim run {file}` breaks the same invariant",
        scenario.faults.len()
    );
    Ok(())
}

fn search(setting: &Setting) -> Result<Report, tenure_sim::Refusal> {
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
    Ok(report)
}
