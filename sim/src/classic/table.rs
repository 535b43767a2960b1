//! The table of the classics, for people. The same cells give the same text, whoever measured them.

use super::{Algorithm, Cell, Expected, Law, Trial, expected};
use crate::check::Outcome;
use std::fmt::Write;

/// What was measured of some algorithms in all settings.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// By algorithm and setting.
    pub cells: Vec<(Algorithm, Trial, Cell)>,
}

impl Table {
    /// Whether every cell shows what is expected of it.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        (self.cells.iter())
            .all(|(algorithm, trial, cell)| cell.is_as_expected(expected(*algorithm, *trial)))
    }

    /// For people.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for algorithm in Algorithm::ALL {
            let _ = writeln!(out, "{}: {}", algorithm.name(), algorithm.about());
            let _ = writeln!(
                out,
                "{:<14}{:>18}{:>19}{:>7}{:>18}{:>14}",
                "",
                "election messages",
                "to a leader, ms",
                "never",
                "two leaders, ms",
                "later changes"
            );
            let _ = writeln!(
                out,
                "{:<14}{:>8}{:>10}{:>10}{:>9}{:>7}{:>9}{:>9}{:>7}{:>7}  verdict",
                "setting", "a run", "a leader", "p50", "p99", "%", "p50", "worst", "p50", "worst"
            );
            for (_, trial, cell) in self.of(algorithm) {
                line(&mut out, algorithm, *trial, cell);
            }
            self.laws(&mut out, algorithm);
            out.push('\n');
        }
        out.push_str(
            "5 nodes, 3 in the chain; messages take 1 to 10 ms, 5 ms without a fault; 30 s from the fault on, with later changes\n\
             from 5 s on; a leader is one whom a majority can talk to and follows; heartbeats and rounds are no election messages\n",
        );
        for (algorithm, trial, cell) in &self.cells {
            let expected = expected(*algorithm, *trial);
            if !cell.is_as_expected(expected) {
                let _ = writeln!(
                    out,
                    "not as expected: {} under {}: {}",
                    algorithm.name(),
                    trial.name(),
                    surprise(cell, expected)
                );
            }
        }
        out
    }

    fn of(&self, algorithm: Algorithm) -> impl Iterator<Item = &(Algorithm, Trial, Cell)> {
        (self.cells.iter()).filter(move |(of, ..)| *of == algorithm)
    }

    /// How each law fared over all settings.
    fn laws(&self, out: &mut String, algorithm: Algorithm) {
        for outcome in Outcome::ALL {
            let fared = |law: &Law| {
                let outcomes = self
                    .of(algorithm)
                    .map(|(_, trial, cell)| cell.outcome(*law, expected(algorithm, *trial)));
                worst(outcomes) == outcome
            };
            let laws: Vec<_> = Law::ALL.into_iter().filter(fared).map(Law::name).collect();
            if !laws.is_empty() {
                let _ = writeln!(out, "  {}: {}", words(outcome), laws.join(", "));
            }
        }
    }
}

/// The worst of several outcomes: what was put to the test nowhere was not.
fn worst(outcomes: impl Iterator<Item = Outcome>) -> Outcome {
    let rank = |outcome: &Outcome| match outcome {
        Outcome::NotExercised => 0,
        Outcome::Holds => 1,
        Outcome::BrokenByDesign => 2,
        Outcome::Broken => 3,
        Outcome::Undecided => 4,
    };
    outcomes.max_by_key(rank).unwrap_or(Outcome::NotExercised)
}

fn line(out: &mut String, algorithm: Algorithm, trial: Trial, cell: &Cell) {
    let [to, two, churn] =
        [&cell.to_leader, &cell.two_leaders, &cell.churn].map(|times| times.quantiles());
    let runs = cell.runs.max(1) as f64;
    let each = if cell.led == 0 {
        "-".to_owned()
    } else {
        format!("{:.1}", cell.messages as f64 / cell.led as f64)
    };
    let (p50, p99) = if to.count == 0 {
        ("-".to_owned(), "-".to_owned())
    } else {
        (millis(to.p50), millis(to.p99))
    };
    let _ = writeln!(
        out,
        "{:<14}{:>8.1}{each:>10}{p50:>10}{p99:>9}{:>7.1}{:>9}{:>9}{:>7}{:>7}  {}",
        trial.name(),
        cell.messages as f64 / runs,
        cell.never as f64 * 100.0 / runs,
        millis(two.p50),
        millis(two.max),
        churn.p50,
        churn.max,
        said(cell, expected(algorithm, trial))
    );
}

/// The verdict, with what broke and why.
fn said(cell: &Cell, expected: Expected) -> String {
    let verdict = cell.verdict(expected);
    let mut said = words(verdict).to_owned();
    let broke: Vec<_> = cell.broke().map(Law::name).collect();
    if !broke.is_empty() {
        let _ = write!(said, ": {}", broke.join(", "));
    }
    if let (Outcome::BrokenByDesign, Expected::Breaks(.., why)) = (verdict, expected) {
        let _ = write!(said, ": {why}");
    }
    said
}

fn surprise(cell: &Cell, expected: Expected) -> String {
    let wrong = |law: &Law| cell.outcome(*law, expected) == Outcome::Broken;
    let mut parts: Vec<String> = (Law::ALL.into_iter().filter(wrong))
        .map(|law| {
            let seed = cell.broken_by[law as usize].unwrap_or(0);
            format!("{} breaks, first by seed {seed}", law.name())
        })
        .collect();
    let missing = expected.breaks().iter();
    let missing = missing.filter(|law| cell.laws[**law as usize].broken == 0);
    parts.extend(missing.map(|law| {
        format!(
            "{} has to break and did not in {} runs",
            law.name(),
            cell.runs
        )
    }));
    parts.join("; ")
}

const fn words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::Broken => "broken",
        Outcome::BrokenByDesign => "broken by design",
        Outcome::NotExercised => "not exercised",
        Outcome::Undecided => "undecided",
    }
}

/// Milliseconds; to the microsecond where that is all there is.
fn millis(micros: u64) -> String {
    match micros {
        0 => "0".to_owned(),
        1..1_000 => format!("{:.3}", micros as f64 / 1e3),
        _ => format!("{:.0}", micros as f64 / 1e3),
    }
}
