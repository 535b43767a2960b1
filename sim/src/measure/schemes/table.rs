//! The table, for people and for programs. The same cells give the same text, whoever measured them.

use super::cell::{Cell, Verdict};
use super::expected::{Expected, expected};
use super::trial::{BEYOND, Jumped, Trial};
use super::{Cells, NODES, Row, SPAN, Terms};
use crate::json::Writer;
use crate::measure::spread;
use std::fmt::Write;

/// What was measured of some schemes under some faults.
#[derive(Clone, Debug)]
pub struct Table {
    /// Under what.
    pub terms: Terms,
    /// Under which faults.
    pub trials: Vec<Trial>,
    /// By scheme.
    pub rows: Vec<(Row, Cells)>,
}

impl Table {
    /// Whether every cell shows what is expected of it.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        self.surprises().next().is_none()
    }

    /// The cells that do not show what is expected of them.
    fn surprises(&self) -> impl Iterator<Item = (Row, Trial, &Cell)> {
        let all = (self.rows.iter())
            .flat_map(|(row, cells)| self.trials.iter().map(move |trial| (*row, *trial, cells)));
        all.map(|(row, trial, cells)| (row, trial, cells.of(trial)))
            .filter(|(row, trial, cell)| !cell.is_as_expected(*trial, expected(*row, *trial)))
    }

    /// For people.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for (row, cells) in &self.rows {
            let _ = writeln!(out, "{}: {}", row.name(), row.about());
            let _ = writeln!(
                out,
                "{:<15}{:>17}{:>19}{:>19}{:>10}  {:<7}verdict",
                "", "two leaders, ms", "stale writes", "no leader, ms", "requests", "token"
            );
            let _ = writeln!(
                out,
                "{:<15}{:>8}{:>9}{:>9}{:>10}{:>9}{:>10}{:>10}",
                "fault", "p99", "worst", "fenced", "unfenced", "p50", "p99", "a second"
            );
            for trial in &self.trials {
                line(&mut out, *row, *trial, cells.of(*trial));
            }
            out.push('\n');
        }
        self.legend(&mut out);
        for (row, trial, cell) in self.surprises() {
            let _ = writeln!(
                out,
                "not as expected: {} under {}: {}",
                row.name(),
                trial.name(),
                said(cell, trial, expected(row, trial))
            );
        }
        out
    }

    fn legend(&self, out: &mut String) {
        let timing = &self.terms.timing;
        let _ = writeln!(
            out,
            "{NODES} nodes; a lease of {}, renewed within {}, retried within {}, a margin of {}, clocks within {} %;\n\
             five writes a second, each 100 ms after the look at the standing; {SPAN} leases from the fault on",
            timing.ttl,
            timing.renew,
            timing.retry,
            timing.margin,
            f64::from(timing.rate.0) / 1e4
        );
        let jumps = |whose: Jumped| {
            let rows = self.rows.iter().map(|(row, _)| *row);
            let names = rows.filter(|row| row.jumped() == whose).map(Row::name);
            names.collect::<Vec<_>>().join(", ")
        };
        for (whose, who) in [
            (
                Jumped::Server,
                "a server of the store, whose leases go by it",
            ),
            (Jumped::Waiter, "a node that waits"),
        ] {
            let names = jumps(whose);
            if !names.is_empty() && self.trials.contains(&Trial::ClockJump) {
                let _ = writeln!(out, "clock-jump: of {who}, two leases ahead ({names})");
            }
        }
        if self.trials.contains(&Trial::RateBeyond) {
            let _ = writeln!(
                out,
                "rate-within, rate-beyond: the leader, cut off, is slow and all others are fast by {} % and by {} %",
                f64::from(timing.rate.0) / 1e4,
                f64::from(BEYOND) / 1e4
            );
        }
        out.push_str(
            "requests: to the store; of raft, messages between the nodes. Stale writes: summed over all seeds; where there is no token,\n\
             the guard admits nobody\n",
        );
    }

    /// For programs.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut w = Writer::object();
        w.plain("asExpected", truth(self.is_as_expected()));
        w.plain("nodes", &NODES.to_string());
        w.plain("ttl", &self.terms.timing.ttl.as_micros().to_string());
        w.open("cells", '[');
        for (row, cells) in &self.rows {
            for trial in &self.trials {
                w.comma();
                w.out.push('{');
                fields(&mut w, *row, *trial, cells.of(*trial));
                w.close('}');
            }
        }
        w.close(']');
        w.finish()
    }
}

impl Cells {
    /// The cell of a fault.
    #[must_use]
    pub const fn of(&self, trial: Trial) -> &Cell {
        &self.cells[trial as usize]
    }
}

fn line(out: &mut String, row: Row, trial: Trial, cell: &Cell) {
    let expected = expected(row, trial);
    let name = trial.name();
    if let Expected::NotApplicable(why) = expected {
        let _ = writeln!(out, "{name:<15}{:>82}  not applicable: {why}", "");
        return;
    }
    let (two, none) = (cell.two_leaders.quantiles(), cell.unavailable.quantiles());
    let [fenced, unfenced] = cell.stale;
    // Without a token the guard admits nobody.
    let fenced = if cell.tokens == 0 {
        "-".to_owned()
    } else {
        fenced.to_string()
    };
    let _ = writeln!(
        out,
        "{name:<15}{:>8}{:>9}{fenced:>9}{unfenced:>10}{:>9}{:>10}{:>10.2}  {:<7}{}",
        millis(two.p99),
        millis(two.max),
        millis(none.p50),
        millis(none.p99),
        cell.rate(),
        token(cell),
        said(cell, trial, expected)
    );
}

/// The verdict, with what broke and why.
fn said(cell: &Cell, trial: Trial, expected: Expected) -> String {
    let verdict = cell.verdict(trial, expected);
    let mut said = verdict.name().to_owned();
    let broke = cell.broke().join(", ");
    match (verdict, expected) {
        (Verdict::BrokenByDesign, Expected::Breaks(why) | Expected::MayBreak(why)) => {
            let _ = write!(said, ": {broke}: {why}");
        }
        (Verdict::Broken, _) => {
            let _ = write!(said, ": {broke}");
            if let Some(seed) = cell.broken_by {
                let _ = write!(said, ", first by seed {seed}");
            }
        }
        (Verdict::Holds, Expected::Breaks(why)) => {
            let _ = write!(said, ", and must not: {why}");
        }
        _ => {}
    }
    said
}

fn fields(w: &mut Writer, row: Row, trial: Trial, cell: &Cell) {
    let expected = expected(row, trial);
    w.text("scheme", row.name());
    w.text("fault", trial.name());
    w.text("verdict", cell.verdict(trial, expected).name());
    w.plain("asExpected", truth(cell.is_as_expected(trial, expected)));
    if let Expected::Breaks(why) | Expected::MayBreak(why) | Expected::NotApplicable(why) = expected
    {
        w.text("reason", why);
    }
    if let Expected::NotApplicable(_) = expected {
        return;
    }
    let plain = |w: &mut Writer, name: &str, number: u64| w.plain(name, &number.to_string());
    plain(w, "runs", cell.runs);
    for (name, times) in [
        ("twoLeaders", &cell.two_leaders),
        ("withoutLeader", &cell.unavailable),
    ] {
        spread(w, name, times);
    }
    plain(w, "staleFenced", cell.stale[0]);
    plain(w, "staleUnfenced", cell.stale[1]);
    plain(w, "staleTurnedAway", cell.turned_away);
    w.plain("requestsPerSecond", &format!("{:.3}", cell.rate()));
    w.text("token", token(cell));
    plain(w, "faultsEffective", cell.effective);
    plain(w, "faultsMattered", cell.mattered);
    w.open("broke", '[');
    for broke in cell.broke() {
        w.item(broke);
    }
    w.close(']');
    if let Some(seed) = cell.broken_by {
        w.text("brokenBySeed", &seed.to_string());
    }
}

const fn token(cell: &Cell) -> &'static str {
    match (cell.tokens, cell.tokens_fell) {
        (0, 0) => "none",
        (_, 0) => "rose",
        _ => "fell",
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

const fn truth(whether: bool) -> &'static str {
    if whether { "true" } else { "false" }
}
