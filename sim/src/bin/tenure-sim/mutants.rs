//! `mutants`: each rule switched off, and what nothing allows for: does anybody notice?

use crate::args::Seeds;
use crate::sweep::unsafe_setting;
use crate::{Done, parallel};
use std::io::Write;
use std::time::Instant;
use tenure_sim::Refusal;
use tenure_sim::mutants::{Mutant, Trial};
use tenure_sim::scenario::rule_names;

/// So many kills tell how often one comes.
const KILLS: u64 = 5;
/// How many seeds are run at a time.
const BATCH: u64 = 128;

/// What the seeds say of a mutant.
#[derive(Debug, Default)]
struct Told {
    seeds: u64,
    first: Option<u64>,
    kills: u64,
    undeclared: Option<(u64, &'static str)>,
}

/// How many mutants of a scheme there are, and who noticed them. What nothing allows for is no rule.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    rules: u32,
    by_explorer: u32,
    by_simulator: u32,
    by_both: u32,
    unreachable: u32,
    controls: u32,
}

impl Total {
    fn add(&mut self, mutant: &Mutant, seen: bool, noticed: bool) {
        if mutant.setting.control.is_some() {
            self.controls += u32::from(noticed);
            return;
        }
        self.rules += 1;
        self.by_explorer += u32::from(seen);
        self.by_simulator += u32::from(noticed);
        self.by_both += u32::from(seen && noticed);
        self.unreachable += u32::from(mutant.unreachable().is_some());
    }

    fn said(&self) -> String {
        let Self {
            rules,
            by_explorer,
            by_simulator,
            by_both,
            unreachable,
            controls,
        } = self;
        let mut said = format!(
            "{rules} rules: killed by the simulator {by_simulator}, by the explorer {by_explorer}, by both {by_both}; {unreachable} in \
             no schedule"
        );
        if *controls > 0 {
            said += &format!("; {controls} controls noticed");
        }
        said
    }
}

impl std::iter::Sum for Total {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            rules: sum.rules + one.rules,
            by_explorer: sum.by_explorer + one.by_explorer,
            by_simulator: sum.by_simulator + one.by_simulator,
            by_both: sum.by_both + one.by_both,
            unreachable: sum.unreachable + one.unreachable,
            controls: sum.controls + one.controls,
        })
    }
}

pub(crate) fn mutants(seeds: &Seeds) -> Done {
    let began = Instant::now();
    println!(
        "{:<28}{:<26}{:>8}{:>10}   {:>10}{:>18}",
        "without", "breaks", "depth", "states", "first seed", "kills"
    );
    let mut all_killed = true;
    let (mut masked, mut alive) = (Vec::new(), Vec::new());
    let mut totals = Vec::new();
    let all = Mutant::by_scheme().into_iter();
    let all = all.flat_map(|(scheme, mutants)| mutants.into_iter().map(move |one| (scheme, one)));
    for (scheme, mutant) in all {
        let explored = mutant.explored();
        let seen = explored.is_some_and(|explored| explored.killed);
        let (depth, states) = match explored {
            Some(explored) if explored.killed => {
                (explored.depth.to_string(), explored.states.to_string())
            }
            Some(_) => ("lives".to_owned(), String::new()),
            None => ("-".to_owned(), "-".to_owned()),
        };
        print!(
            "{:<28}{:<26}{depth:>8}{states:>10}   ",
            mutant.name,
            mutant.breaks()
        );
        // What is slow is waited for with the line begun.
        let _ = std::io::stdout().flush();
        let (mut noticed, mut clean) = (false, true);
        if let Some(reason) = mutant.unreachable() {
            println!("{:>10}   {reason}", "-");
        } else {
            let told = hunt(&mutant, seeds)?;
            (noticed, clean) = (told.kills > 0, told.undeclared.is_none());
            let first = told
                .first
                .map_or("lives".to_owned(), |seed| seed.to_string());
            let kills = format!("{} in {}", told.kills, told.seeds);
            println!("{first:>10}{kills:>18}");
            if let Some((seed, name)) = told.undeclared {
                println!("  undeclared: {name} by seed {seed}");
            }
        }
        if let [_, masking @ ..] = mutant.setting.off.as_slice()
            && !masking.is_empty()
        {
            let names: Vec<&str> = masking
                .iter()
                .map(|rule| rule_names()[*rule as usize])
                .collect();
            masked.push(format!(
                "  {}: with {} off too",
                mutant.name,
                names.join(" and ")
            ));
        }
        if !noticed && mutant.unreachable().is_none() {
            alive.push(mutant.name);
        }
        all_killed &=
            clean && (noticed || mutant.unreachable().is_some()) && (seen || explored.is_none());
        if totals.last().is_none_or(|(of, _)| *of != scheme) {
            totals.push((scheme, Total::default()));
        }
        if let Some((_, total)) = totals.last_mut() {
            total.add(&mutant, seen, noticed);
        }
    }
    println!();
    totals.push(("all", totals.iter().map(|(_, total)| *total).sum()));
    for (scheme, total) in totals {
        println!("{scheme:<10}{}", total.said());
    }
    println!("in {:.1} s", began.elapsed().as_secs_f64());
    if !masked.is_empty() {
        println!("\nmasked by other rules:\n{}", masked.join("\n"));
    }
    if !alive.is_empty() {
        println!(
            "\nnot noticed in {} seeds: {}; more may be needed (--seeds)",
            seeds.range.end - seeds.range.start,
            alive.join(", ")
        );
    }
    println!("{}", if all_killed { "holds" } else { "does not hold" });
    Ok(all_killed)
}

/// Runs seeds until a few have killed the mutant.
fn hunt(mutant: &Mutant, seeds: &Seeds) -> Result<Told, Refusal> {
    let mut told = Told::default();
    let mut next = seeds.range.start;
    while next < seeds.range.end && told.kills < KILLS {
        let batch = Seeds {
            range: next..(next + BATCH).min(seeds.range.end),
            ..seeds.clone()
        };
        let one = |trials: &mut Vec<(u64, Trial)>, seed| {
            trials.push((seed, mutant.trial(seed)?));
            Ok(())
        };
        let mut trials =
            parallel::quietly(&batch, one, |all, more| all.extend(more)).map_err(unsafe_setting)?;
        trials.sort_unstable_by_key(|(seed, _)| *seed);
        for (seed, trial) in trials {
            if told.kills == KILLS {
                break;
            }
            told.seeds += 1;
            match trial {
                Trial::Killed(_) => {
                    told.first.get_or_insert(seed);
                    told.kills += 1;
                }
                Trial::Undeclared(failure) => {
                    told.undeclared.get_or_insert((seed, failure.check.name()));
                }
                Trial::Survived | Trial::Followed(_) => {}
            }
        }
        next = batch.range.end;
    }
    Ok(told)
}
