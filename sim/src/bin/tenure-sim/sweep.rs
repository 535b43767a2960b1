//! `sweep` and `schedule`: fault schedules, many or one.

use crate::args::{Seeds, refusal};
use crate::measure::quantiles;
use crate::out::count;
use crate::{Done, minimise, parallel};
use std::path::Path;
use std::time::Instant;
use tenure_sim::Refusal;
use tenure_sim::check::Check;
use tenure_sim::failure::Failure;
use tenure_sim::fault::Action;
use tenure_sim::marks::Mark;
use tenure_sim::minimise::{FEW, Minimised};
use tenure_sim::scenario::{
    broker_rule_names, kraft_rule_names, lease_rule_name, rule_names, sentinel_rule_names,
    zab_rule_names,
};
use tenure_sim::schedule::{self, Among, Setting};
use tenure_sim::scheme::Unfit;
use tenure_sim::sweep::{HEALED_SOON, Of, Sweep, TWICE};

/// How many failing seeds are listed.
const LISTED: usize = 10;
/// How many of them are minimised at most, until one is small.
const MINIMISED: usize = 8;

/// What a sweep is to do besides running.
#[derive(Debug, Default)]
pub(crate) struct Wishes<'a> {
    /// In what schedules are made.
    pub(crate) setting: Setting,
    /// Every seed is run twice, not one in a few.
    pub(crate) twice: bool,
    /// Where the smallest scenario of a failing seed goes.
    pub(crate) minimise: Option<&'a Path>,
}

pub(crate) fn schedule(seed: u64, setting: &Setting) -> Done {
    let schedule = schedule::make(seed, setting, |_| ()).map_err(unsafe_setting)?;
    print!("{}", schedule.scenario.to_text());
    Ok(true)
}

pub(crate) fn sweep(seeds: &Seeds, wishes: Wishes<'_>) -> Done {
    let began = Instant::now();
    let setting = wishes.setting;
    let twice = if wishes.twice { 1 } else { TWICE };
    let add = |sweep: &mut Sweep, seed| sweep.add(seed, &setting, twice);
    let mut sweep: Sweep = parallel::each(seeds, add, Sweep::merge).map_err(unsafe_setting)?;
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{} schedules, {} events in {seconds:.1} s: {:.2} M events/s on {}",
        sweep.runs,
        sweep.events,
        sweep.events as f64 / seconds / 1e6,
        count(seeds.threads as u64, "thread")
    );
    println!("\n{:<24}{:>12}{:>10}", "check", "tested", "broken");
    for (tally, check) in sweep.tallies.iter().zip(Check::ALL) {
        if !sweep.of.judges(check) {
            continue;
        }
        println!(
            "{:<24}{:>12}{:>10}",
            check.name(),
            tally.exercised,
            tally.broken
        );
    }
    println!(
        "\n{:<24}{:>12}{:>10}{:>10}{:>10}",
        "fault", "armed", "fired", "effective", "mattered"
    );
    let faults = &sweep.faults;
    for (kind, name) in Action::NAMES.iter().enumerate() {
        if !sweep.of.suffers(kind) {
            continue;
        }
        println!(
            "{name:<24}{:>12}{:>10}{:>10}{:>10}",
            faults.armed[kind], faults.fired[kind], faults.effective[kind], faults.mattered[kind]
        );
    }
    println!("\n{:<24}{:>12}", "mark", "seeds");
    for (mark, count) in Mark::ALL.into_iter().zip(sweep.marks) {
        if sweep.of.meets(mark) {
            println!("{:<24}{count:>12}", mark.name());
        }
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
    sweep.undecided.sort_unstable();
    sweep.unrepeatable.sort_unstable();
    list(&sweep, &setting);
    let alive = canary(seeds, &setting)?;
    if let Some(file) = wishes.minimise {
        smallest(&sweep.failing, &setting, file)?;
    }
    let holds = sweep.holds() && !alive;
    let (vacuous, undecided) = (sweep.vacuous().len(), sweep.undecided.len());
    if holds {
        println!("holds");
    } else if !sweep.is_clean() || alive {
        println!("does not hold");
    } else if undecided > 0 {
        println!("nothing broken, and {undecided} could not be decided: no pass");
    } else {
        println!("nothing broken, and {vacuous} never put to the test: use more seeds");
    }
    Ok(holds)
}

/// The options that say in what setting a schedule was made.
fn options(setting: &Setting) -> String {
    let mut said = String::new();
    let mut off: Vec<&str> = (setting.off.iter())
        .map(|rule| rule_names()[*rule as usize])
        .collect();
    if let Some(store) = &setting.by_store {
        said += " --scheme ";
        said += store.kind.name();
        if store.loses {
            said += " --store-loses";
        }
        if store.servers != store.kind.servers() {
            said += &format!(" --servers {}", store.servers);
        }
        off.extend((store.off.iter()).copied().map(lease_rule_name));
    }
    if let Some(among) = &setting.among {
        said += " --scheme ";
        said += among.name();
        match among {
            Among::Zab(rules) => {
                off.extend((rules.iter()).map(|rule| zab_rule_names()[*rule as usize]));
            }
            Among::Sentinel(rules) => {
                off.extend((rules.iter()).map(|rule| sentinel_rule_names()[*rule as usize]));
            }
            Among::Kafka(rules) => {
                off.extend((rules.iter()).map(|rule| broker_rule_names()[*rule as usize]));
            }
            Among::Kraft(rules) => {
                off.extend((rules.iter()).map(|rule| kraft_rule_names()[*rule as usize]));
            }
        }
    }
    for rule in off {
        said += " --off ";
        said += rule;
    }
    said
}

/// What is wrong, and how to see it.
fn list(sweep: &Sweep, setting: &Setting) {
    let options = options(setting);
    for (seed, Failure { at, check }) in sweep.failing.iter().take(LISTED) {
        println!(
            "broken: {} by seed {seed} at {:.3} ms: tenure-sim schedule {seed}{options} | tenure-sim run - --explain",
            check.name(),
            *at as f64 / 1e3
        );
    }
    if sweep.failing.len() > LISTED {
        println!("… and {} more", sweep.failing.len() - LISTED);
    }
    for (seed, check) in sweep.undecided.iter().take(LISTED) {
        println!(
            "undecided: {} by seed {seed}: tenure-sim schedule {seed}{options} | tenure-sim run - --explain",
            check.name()
        );
    }
    for seed in &sweep.unrepeatable {
        println!("another trace the second time: tenure-sim schedule {seed}{options}");
    }
    if !sweep.heals_in_time() {
        println!("too late: fewer than 99.9 % within 1.5 s, or not all within 3 s");
    }
    for name in sweep.vacuous() {
        println!("never put to the test: {name}");
    }
}

/// Whether the planted failure goes unnoticed.
fn canary(seeds: &Seeds, setting: &Setting) -> Result<bool, Refusal> {
    let caught = Sweep::canary(seeds.range.start, Of::setting(setting)).map_err(unsafe_setting)?;
    match caught {
        Some((seed, failure)) => println!(
            "canary             caught: {} by seed {seed}",
            failure.check.name()
        ),
        None => println!("canary             alive: a planted failure was not reported"),
    }
    Ok(caught.is_none())
}

/// Minimises failing seeds until one is small, and writes the smallest.
fn smallest(failing: &[(u64, Failure)], setting: &Setting, file: &Path) -> Result<(), Refusal> {
    let mut best = None;
    for (seed, _) in failing.iter().take(MINIMISED) {
        let made = schedule::make(*seed, setting, |_| ()).map_err(unsafe_setting)?;
        let Some(small) = minimise::told(&made.scenario, &format!("seed {seed}")) else {
            continue;
        };
        let size = |small: &Minimised| small.scenario.faults.len();
        if best.as_ref().is_none_or(|best| size(&small) < size(best)) {
            let few = size(&small) <= FEW;
            best = Some(small);
            if few {
                break;
            }
        }
    }
    match best {
        Some(best) => minimise::write(&best, Some(file)),
        None => {
            println!("nothing to minimise");
            Ok(())
        }
    }
}

pub(crate) fn unsafe_setting(error: Unfit) -> Refusal {
    refusal(error.code(), "--timeout", &error.reason(), error.remedy())
}
