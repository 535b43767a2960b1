//! The statements with their verdicts, for people and for programs.

use super::{Claim, Figures, Part, Unit, Verdict};
use crate::json::Writer;
use std::fmt::Write;

/// What was measured of some claims: the figures of each of their parts.
pub struct Table {
    /// In order.
    pub claims: Vec<(Claim, Vec<Figures>)>,
}

impl Claim {
    /// Whether the runs say what the documents go by.
    #[must_use]
    pub fn is_as_expected(&self, figures: &[Figures]) -> bool {
        (self.judge)(figures) == self.expected
    }

    /// With its figures, for people.
    #[must_use]
    pub fn to_text(&self, figures: &[Figures]) -> String {
        let verdict = (self.judge)(figures);
        let mut out = format!("{}: {}\n  “{}”\n", self.name, verdict.name(), self.says);
        if verdict == self.expected {
            let _ = writeln!(out, "  {}", self.instead);
        } else {
            let _ = writeln!(
                out,
                "  NOT AS EXPECTED: the documents have it that this is {}: {}",
                match self.expected {
                    Verdict::Corrected => "not so",
                    verdict => verdict.name(),
                },
                self.instead
            );
        }
        for (part, figures) in self.parts.iter().zip(figures) {
            let _ = writeln!(out, "    {}: {}", part.what, told(part, figures));
        }
        let _ = write!(out, "  alone: tenure-sim claims --claim {}", self.name);
        if let Some(file) = self.gallery {
            let _ = write!(
                out,
                "; one run: tenure-sim run --explain scenarios/{file}.json"
            );
        }
        out.push('\n');
        out
    }
}

impl Table {
    /// Whether all runs say what the documents go by.
    #[must_use]
    pub fn is_as_expected(&self) -> bool {
        self.claims
            .iter()
            .all(|(claim, figures)| claim.is_as_expected(figures))
    }

    /// For people, what comes last: how many there are of each verdict, and which are not as expected.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut out = String::new();
        let verdicts = [
            Verdict::Holds,
            Verdict::Limited,
            Verdict::Corrected,
            Verdict::Open,
        ];
        let told = verdicts.map(|verdict| {
            let of = |(claim, figures): &&(Claim, Vec<Figures>)| (claim.judge)(figures) == verdict;
            format!(
                "{} {}",
                self.claims.iter().filter(of).count(),
                verdict.name()
            )
        });
        let _ = writeln!(out, "{} statements: {}", self.claims.len(), told.join(", "));
        for (claim, figures) in &self.claims {
            if !claim.is_as_expected(figures) {
                let _ = writeln!(
                    out,
                    "not as expected: {} is {} and not {}",
                    claim.name,
                    (claim.judge)(figures).name(),
                    claim.expected.name()
                );
            }
        }
        out
    }

    /// For programs.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut w = Writer::object();
        w.plain("asExpected", truth(self.is_as_expected()));
        w.open("claims", '[');
        for (claim, figures) in &self.claims {
            w.comma();
            w.out.push('{');
            w.text("name", claim.name);
            w.text("says", claim.says);
            w.text("verdict", (claim.judge)(figures).name());
            w.text("expected", claim.expected.name());
            w.text("instead", claim.instead);
            w.open("figures", '[');
            for (part, figures) in claim.parts.iter().zip(figures) {
                w.comma();
                w.out.push('{');
                w.text("what", part.what);
                w.text(
                    "unit",
                    match part.unit {
                        Unit::Count => "count",
                        Unit::Time => "us",
                    },
                );
                for (name, number) in [
                    ("runs", figures.runs() as u64),
                    ("shown", figures.shown() as u64),
                    ("sum", figures.sum()),
                    ("p50", figures.median()),
                    ("most", figures.most()),
                ] {
                    w.plain(name, &number.to_string());
                }
                w.close('}');
            }
            w.close(']');
            w.close('}');
        }
        w.close(']');
        w.finish()
    }
}

/// `never in 20 runs`; `in 18 of 20 runs, 412 in all, at most 31 in one`; `in 20 of 20 runs, half within 240 ms, at most 310 ms`.
fn told(part: &Part, figures: &Figures) -> String {
    let runs = figures.runs();
    if figures.never() {
        return format!("never in {runs} runs");
    }
    let mut told = format!("in {} of {runs} runs, ", figures.shown());
    let ms = |micros: u64| micros as f64 / 1e3;
    let _ = match part.unit {
        Unit::Count => write!(
            told,
            "{} in all, at most {} in one",
            figures.sum(),
            figures.most()
        ),
        Unit::Time => write!(
            told,
            "half within {:.0} ms, at most {:.0} ms",
            ms(figures.median()),
            ms(figures.most())
        ),
    };
    told
}

const fn truth(whether: bool) -> &'static str {
    if whether { "true" } else { "false" }
}
