//! The table, for people and for programs. The same runs give the same text, whoever made them.

use super::{Loss, Meaning, Measured, NODES, Pace, Row};
use crate::json::Writer;
use crate::measure::spread;
use crate::stats::Times;
use std::fmt::Write;

/// What the literature gives for the three stages together, in microseconds.
pub const RANGE: [u64; 2] = [200_000, 500_000];

/// What was measured of some schemes.
#[derive(Clone, Debug)]
pub struct Table {
    /// By scheme and pace; by the place of [`Loss::ALL`].
    pub lines: Vec<(Row, Pace, [Measured; 2])>,
}

/// What is measured besides the stages, under the same headings.
const HEADS: [&str; 6] = [
    "detection",
    "election",
    "synchronisation",
    "without leader",
    "first write",
    "machine gone",
];

impl Table {
    /// Whether in every run one led before and another wrote after.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let all = self.lines.iter().flat_map(|(.., by_loss)| by_loss);
        all.clone().all(|measured| measured.unfinished == 0) && all.count() > 0
    }

    /// For people.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for pace in Pace::ALL {
            let mut of_pace = self
                .lines
                .iter()
                .filter(|(_, of, _)| *of == pace)
                .peekable();
            if of_pace.peek().is_none() {
                continue;
            }
            let _ = writeln!(
                out,
                "{}",
                match pace {
                    Pace::Shipped => "As shipped, ms",
                    Pace::Quick => "As quick as it may be set, ms",
                }
            );
            heads(&mut out);
            for (row, _, by_loss) in of_pace {
                line(&mut out, *row, pace, by_loss);
            }
            out.push('\n');
        }
        self.literature(&mut out);
        let _ = writeln!(
            out,
            "\nThe leader's process dies, at any instant of 20 s; {NODES} nodes, messages take 5 to 10 ms and disks 1 ms. Without leader:\n\
             from there until another may act, the sum of the three stages in every run. First write: from there until a client's\n\
             write is taken. Machine gone: without leader, where nothing closes the connections of the dead.\n\n\
             What ends each stage"
        );
        self.meanings(&mut out);
        out
    }

    /// Of whom what the literature says of all is so, and of whom it is not.
    fn literature(&self, out: &mut String) {
        let [least, most] = RANGE.map(|bound| bound / 1_000);
        let _ = writeln!(
            out,
            "Detection, election and synchronisation within {least} to {most} ms, as the literature has it"
        );
        let mut never = Vec::new();
        for (row, pace, [process, machine]) in &self.lines {
            let name = format!("{}, {}", row.name(), pace.name());
            let [process, machine] = [process, machine].map(|of| Shares::of(&of.whole));
            if process.within + machine.within == 0 {
                never.push(name);
                continue;
            }
            let _ = write!(out, "  {name:<22}{}", process.told());
            let _ = match process == machine {
                true => writeln!(out),
                false => writeln!(out, "; machine gone: {}", machine.told()),
            };
        }
        if !never.is_empty() {
            let _ = writeln!(out, "  in no run: {}", never.join("; "));
        }
    }

    /// Each meaning once, with whom it is of.
    fn meanings(&self, out: &mut String) {
        let mut told: Vec<(Meaning, Vec<&str>)> = Vec::new();
        for (row, ..) in &self.lines {
            let meaning = Meaning::of(*row);
            let name = row.name();
            match told.iter_mut().find(|(of, _)| *of == meaning) {
                Some((_, names)) if names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => told.push((meaning, vec![name])),
            }
        }
        for (meaning, names) in told {
            let synchronisation = match meaning.synchronisation {
                Ok(said) | Err(said) => said,
            };
            let _ = writeln!(
                out,
                "  {}\n    detection        {}\n    election         {}\n    synchronisation  {}",
                names.join(", "),
                meaning.detection,
                meaning.election,
                synchronisation
            );
        }
    }

    /// For programs.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut w = Writer::object();
        w.plain(
            "complete",
            if self.is_complete() { "true" } else { "false" },
        );
        w.plain("nodes", &NODES.to_string());
        w.open("rows", '[');
        for (row, pace, by_loss) in &self.lines {
            for (loss, measured) in Loss::ALL.into_iter().zip(by_loss) {
                w.comma();
                w.out.push('{');
                fields(&mut w, *row, *pace, loss, measured);
                w.close('}');
            }
        }
        w.close(']');
        w.finish()
    }
}

fn heads(out: &mut String) {
    let _ = write!(out, "{:<22}", "");
    for head in HEADS {
        let _ = write!(out, "{head:>17}");
    }
    let _ = write!(out, "\n{:<22}", "scheme");
    for _ in HEADS {
        let _ = write!(out, "{:>9}{:>8}", "p50", "p99");
    }
    let _ = writeln!(out, "  setting");
}

fn line(out: &mut String, row: Row, pace: Pace, [process, machine]: &[Measured; 2]) {
    let _ = write!(out, "{:<22}", row.name());
    let synchronised = Meaning::of(row).synchronisation.is_ok();
    for (times, exists) in [
        (&process.detection, true),
        (&process.election, true),
        (&process.synchronisation, synchronised),
        (&process.whole, true),
        (&process.first_write, true),
        (&machine.whole, true),
    ] {
        let of = times.quantiles();
        let [p50, p99] = [of.p50, of.p99].map(|time| match (exists, of.count) {
            (true, 1..) => millis(time),
            _ => "–".to_owned(),
        });
        let _ = write!(out, "{p50:>9}{p99:>8}");
    }
    let _ = write!(out, "  {}", row.setting(pace));
    for (loss, measured) in Loss::ALL.into_iter().zip([process, machine]) {
        if measured.unfinished > 0 {
            let _ = write!(
                out,
                "; {}: {} runs without a next leader",
                loss.name(),
                measured.unfinished
            );
        }
    }
    out.push('\n');
}

/// How many are sooner than the literature says, as it says, and later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shares {
    sooner: usize,
    within: usize,
    later: usize,
}

impl Shares {
    fn of(whole: &Times) -> Self {
        let [least, most] = RANGE;
        let (sooner, until) = (whole.within(least - 1), whole.within(most));
        Self {
            sooner,
            within: until - sooner,
            later: whole.count() - until,
        }
    }

    /// Those that are, in percent.
    fn told(self) -> String {
        let all = self.sooner + self.within + self.later;
        let told: Vec<String> = [
            (self.sooner, "sooner"),
            (self.within, "within"),
            (self.later, "later"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{:.0} % {what}", count as f64 * 100.0 / all as f64))
        .collect();
        told.join(", ")
    }
}

fn fields(w: &mut Writer, row: Row, pace: Pace, loss: Loss, measured: &Measured) {
    let Meaning {
        detection,
        election,
        synchronisation,
    } = Meaning::of(row);
    w.text("scheme", row.name());
    w.text("pace", pace.name());
    w.text("setting", &row.setting(pace));
    w.text("lost", loss.name());
    spread(w, "detection", &measured.detection);
    spread(w, "election", &measured.election);
    match synchronisation {
        Ok(_) => spread(w, "synchronisation", &measured.synchronisation),
        Err(_) => w.plain("synchronisation", "null"),
    }
    spread(w, "withoutLeader", &measured.whole);
    spread(w, "firstWrite", &measured.first_write);
    w.plain("runs", &measured.whole.count().to_string());
    w.plain("unfinished", &measured.unfinished.to_string());
    w.open("ends", '{');
    w.text("detection", detection);
    w.text("election", election);
    match synchronisation {
        Ok(said) | Err(said) => w.text("synchronisation", said),
    }
    w.close('}');
}

/// Milliseconds; a decimal where there are few.
fn millis(micros: u64) -> String {
    match micros {
        ..100_000 => format!("{:.1}", micros as f64 / 1e3),
        _ => format!("{:.0}", micros as f64 / 1e3),
    }
}
