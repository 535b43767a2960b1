//! The same steps to a simulated store and a real one, and every reply compared.

use crate::options::Options;
use crate::report::{Difference, Report};
use crate::shrink::shrink;
use crate::trouble::Trouble;
use std::collections::BTreeMap;
use std::fmt;
use tenure::random::Random;

/// How many steps are taken before both begin anew, empty.
const ROUND: u64 = 200;

/// A simulated store and a real one beside it.
pub(crate) trait Store {
    /// Something that is done to both. It names nothing that a run without the steps before it would not know, so that
    /// steps can be left out.
    type Step: Clone + fmt::Display;

    /// Draws a step.
    fn draw(&self, draw: &mut Random) -> Self::Step;

    /// Both begin anew.
    fn begin(&mut self) -> Result<(), Trouble>;

    /// Takes a step, and gives what both replied; nothing when neither does.
    fn take(&mut self, step: &Self::Step) -> Result<Option<Replies>, Trouble>;
}

/// What both replied, in words that are equal when the replies are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replies {
    /// What was asked, as one of few kinds.
    pub(crate) kind: &'static str,
    /// By the simulated store.
    pub(crate) simulated: String,
    /// By the real one.
    pub(crate) real: String,
}

/// What came of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All replies are equal, but for what the report lists.
    Equal,
    /// They are not.
    Different,
}

/// Compares a store with the real one, and tells what came of it.
pub(crate) fn compare<S: Store>(
    store: &mut S,
    report: &Report,
    options: &Options,
) -> Result<Verdict, Trouble> {
    let began = std::time::Instant::now();
    let mut tally = Tally::default();
    let mut round = 0;
    while tally.commands < options.commands {
        let mut draw = Random::from_seed(options.seed ^ (round << 32));
        round += 1;
        store.begin()?;
        let mut steps = Vec::new();
        for _ in 0..ROUND {
            let step = store.draw(&mut draw);
            steps.push(step.clone());
            let Some(replies) = store.take(&step)? else {
                continue;
            };
            if !tally.count(report, &replies) {
                tell_failure(store, report, &steps, &replies)?;
                println!(
                    "  repeat with: --only {} --seed {}",
                    report.name, options.seed
                );
                return Ok(Verdict::Different);
            }
        }
    }
    println!(
        "  {} commands in {round} rounds, every reply equal but for {} of {} kinds of listed difference; {:.1} s",
        tally.commands,
        tally.differences.values().sum::<u64>(),
        tally.differences.len(),
        began.elapsed().as_secs_f64()
    );
    for (kind, replies) in &tally.kinds {
        let told: Vec<String> = replies
            .iter()
            .map(|(what, count)| format!("{what} {count}"))
            .collect();
        println!("    {kind:<10} {}", told.join(" · "));
    }
    Ok(tally.verdict(report, options))
}

/// What was seen.
#[derive(Default)]
struct Tally {
    commands: u64,
    kinds: BTreeMap<&'static str, BTreeMap<String, u64>>,
    differences: BTreeMap<&'static str, u64>,
}

impl Tally {
    /// Counts a command; whether its replies are equal, or differ as is known.
    fn count(&mut self, report: &Report, replies: &Replies) -> bool {
        self.commands += 1;
        let kinds = self.kinds.entry(replies.kind).or_default();
        *kinds.entry(shape(&replies.real)).or_default() += 1;
        if replies.simulated == replies.real {
            return true;
        }
        let Some(known) = report.known(replies) else {
            return false;
        };
        *self.differences.entry(known.name).or_default() += 1;
        true
    }

    /// A comparison that never saw a reply it is about has shown nothing of it; nor is a difference listed that is gone.
    fn verdict(&self, report: &Report, options: &Options) -> Verdict {
        let mut verdict = Verdict::Equal;
        // Fewer commands than that are for trying something out.
        if options.commands < 5_000 {
            return verdict;
        }
        for (kind, replies) in report.must_see {
            for reply in *replies {
                let seen = self
                    .kinds
                    .get(kind)
                    .is_some_and(|seen| seen.contains_key(*reply));
                if !seen {
                    println!("  never seen: {kind} answered with {reply}; draw it more often");
                    verdict = Verdict::Different;
                }
            }
        }
        for Difference { name, .. } in report.differences {
            if !self.differences.contains_key(name) {
                println!(
                    "  listed, but never seen: {name}; take it off the list, or draw it more often"
                );
                verdict = Verdict::Different;
            }
        }
        verdict
    }
}

/// What kind of reply it is: its first word, and of numbers only which side of zero.
fn shape(reply: &str) -> String {
    if let Ok(number) = reply.parse::<i64>() {
        return match number {
            ..-1 | -1..=1 => number.to_string(),
            2.. => "number".to_owned(),
        };
    }
    if reply.starts_with('"') {
        return "value".to_owned();
    }
    if reply.starts_with('[') {
        return "array".to_owned();
    }
    let words = reply.split([' ', ':']);
    words.take(2).collect::<Vec<_>>().join(" ")
}

/// Prints the shortest sequence that shows a difference.
fn tell_failure<S: Store>(
    store: &mut S,
    report: &Report,
    steps: &[S::Step],
    replies: &Replies,
) -> Result<(), Trouble> {
    println!(
        "  DIFFERENT after {} steps: simulated {}, real {}",
        steps.len(),
        replies.simulated,
        replies.real
    );
    let short = shrink(steps, |steps| Ok(last(store, report, steps)?.is_some()))?;
    println!("  the shortest sequence that shows it:");
    store.begin()?;
    for step in &short {
        let told = match store.take(step)? {
            None => String::new(),
            Some(Replies {
                simulated, real, ..
            }) if simulated == real => format!(" → {real}"),
            Some(Replies {
                simulated, real, ..
            }) => {
                format!(" → simulated {simulated}\n{:38}real {real}", "")
            }
        };
        println!("    {step}{told}");
    }
    Ok(())
}

/// The first difference of a sequence that is not known, from the beginning.
fn last<S: Store>(
    store: &mut S,
    report: &Report,
    steps: &[S::Step],
) -> Result<Option<Replies>, Trouble> {
    store.begin()?;
    for step in steps {
        if let Some(replies) = store.take(step)?
            && replies.simulated != replies.real
            && report.known(&replies).is_none()
        {
            return Ok(Some(replies));
        }
    }
    Ok(None)
}
