//! `schemes`: scheme by fault, many seeds a cell.

use crate::args::Seeds;
use crate::sweep::unsafe_setting;
use crate::{Done, parallel};
use std::time::Instant;
use tenure_sim::measure::schemes::{Cells, Row, Table, Terms, Trial};

/// Which cells, and how they are told.
#[derive(Debug)]
pub(crate) struct Wishes {
    pub(crate) rows: Vec<Row>,
    pub(crate) trials: Vec<Trial>,
    pub(crate) json: bool,
}

/// Measures, prints, and answers whether every cell shows what is expected of it.
pub(crate) fn schemes(seeds: &Seeds, wishes: Wishes) -> Done {
    let Wishes { rows, trials, json } = wishes;
    let terms = Terms::default();
    let (began, mut events) = (Instant::now(), 0);
    let mut measured = Vec::new();
    for row in rows {
        eprintln!("{}", row.name());
        let one = |cells: &mut Cells, seed| cells.run(row, &terms, &trials, seed);
        let cells: Cells = parallel::each(seeds, one, Cells::merge).map_err(unsafe_setting)?;
        events += cells.events;
        measured.push((row, cells));
    }
    speed(events, began);
    let table = Table {
        terms,
        trials,
        rows: measured,
    };
    if json {
        println!("{}", table.to_json());
    } else {
        let count = seeds.range.end - seeds.range.start;
        println!(
            "Scheme by fault, {count} seeds a cell\n\n{}",
            table.to_text()
        );
    }
    Ok(table.is_as_expected())
}

/// How fast it went: on the standard error, for it is no part of what was measured.
pub(crate) fn speed(events: u64, began: Instant) {
    let seconds = began.elapsed().as_secs_f64();
    eprintln!(
        "{events} events in {seconds:.1} s: {:.2} M events/s",
        events as f64 / seconds.max(0.001) / 1e6
    );
}
