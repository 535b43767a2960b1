//! `stages`: failover by stage, every scheme.

use crate::args::Seeds;
use crate::schemes::speed;
use crate::sweep::unsafe_setting;
use crate::{Done, parallel};
use std::time::Instant;
use tenure_sim::measure::stages::{Loss, Measured, Pace, Row, Table};

/// Measures, prints, and answers whether in every run there was a next leader.
pub(crate) fn stages(seeds: &Seeds, rows: &[Row], json: bool) -> Done {
    let (began, mut events) = (Instant::now(), 0);
    let mut lines = Vec::new();
    for pace in Pace::ALL {
        for row in rows {
            eprintln!("{}, {}", row.name(), pace.name());
            let setting = row.scenario(pace);
            let mut by_loss: [Measured; 2] = Default::default();
            for (measured, loss) in by_loss.iter_mut().zip(Loss::ALL) {
                let one = |sum: &mut Measured, seed| sum.run(&setting, loss, seed);
                *measured = parallel::each(seeds, one, Measured::merge).map_err(unsafe_setting)?;
                events += measured.events;
            }
            lines.push((*row, pace, by_loss));
        }
    }
    speed(events, began);
    let table = Table { lines };
    if json {
        println!("{}", table.to_json());
    } else {
        let count = seeds.range.end - seeds.range.start;
        println!("Failover by stage, {count} seeds\n\n{}", table.to_text());
    }
    Ok(table.is_complete())
}
