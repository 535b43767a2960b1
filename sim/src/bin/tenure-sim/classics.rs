//! `classics`: the textbook elections, setting by setting.

use crate::args::Seeds;
use crate::{Done, parallel};
use std::convert::Infallible;
use tenure_sim::classic::table::Table;
use tenure_sim::classic::{Algorithm, Cell, Trial};

/// Measures, prints, and answers whether every cell shows what is expected of it.
pub(crate) fn classics(seeds: &Seeds) -> Done {
    let mut table = Table::default();
    for algorithm in Algorithm::ALL {
        for trial in Trial::ALL {
            let one = |cell: &mut Cell, seed| {
                cell.run(algorithm, trial, seed);
                Ok::<(), Infallible>(())
            };
            let Ok(cell) = parallel::quietly(seeds, one, Cell::merge);
            table.cells.push((algorithm, trial, cell));
        }
    }
    let count = seeds.range.end - seeds.range.start;
    println!(
        "The classics, for teaching only: {count} seeds a cell\n\n{}",
        table.to_text()
    );
    Ok(table.is_as_expected())
}
