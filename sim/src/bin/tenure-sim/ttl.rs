//! `ttl`: the length of a lease, under three levels of jitter.

use crate::args::Seeds;
use crate::schemes::speed;
use crate::sweep::unsafe_setting;
use crate::{Done, parallel};
use std::time::Instant;
use tenure_sim::measure::ttl::{Lags, Level, Table};
use tenure_sim::scheme::lease::Kind;

/// Measures, prints, and answers whether no two led at once and every crash was taken over.
pub(crate) fn ttl(seeds: &Seeds, kinds: &[Kind], json: bool) -> Done {
    let (began, mut events) = (Instant::now(), 0);
    let mut parts = Vec::new();
    for kind in kinds {
        for level in Level::ALL {
            eprintln!("{}, {}", kind.name(), level.name());
            let one = |lags: &mut Lags, seed| lags.run(*kind, level, seed);
            let lags: Lags = parallel::each(seeds, one, Lags::merge).map_err(unsafe_setting)?;
            events += lags.events;
            parts.push((*kind, level, lags));
        }
    }
    speed(events, began);
    let table = Table { parts };
    if json {
        println!("{}", table.to_json());
    } else {
        let count = seeds.range.end - seeds.range.start;
        println!(
            "The length of a lease, {count} seeds\n\n{}",
            table.to_text()
        );
    }
    Ok(table.is_as_expected())
}
