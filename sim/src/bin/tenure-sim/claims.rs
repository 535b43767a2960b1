//! `claims`: what the literature says, each statement beside the runs that show or correct it.

use crate::args::Seeds;
use crate::{Done, parallel};
use std::convert::Infallible;
use tenure_sim::claims::{Claim, Figures, Table};

/// Runs each, prints, and answers whether all of them are as the documents go by.
pub(crate) fn claims(seeds: &Seeds, claims: Vec<Claim>, json: bool) -> Done {
    let mut table = Table { claims: Vec::new() };
    let count = seeds.range.end - seeds.range.start;
    if !json {
        println!("What is said of leader election, {count} seeds each\n");
    }
    for claim in claims {
        eprintln!("{}", claim.name);
        let one = |all: &mut Vec<Figures>, seed| {
            all.resize_with(claim.parts.len(), Figures::default);
            for (part, figures) in claim.parts.iter().zip(all) {
                figures.add((part.run)(seed));
            }
            Ok::<(), Infallible>(())
        };
        let Ok(figures) = parallel::each(seeds, one, |sum: &mut Vec<Figures>, part| {
            sum.resize_with(claim.parts.len(), Figures::default);
            for (sum, part) in sum.iter_mut().zip(part) {
                sum.merge(part);
            }
        });
        if !json {
            println!("{}", claim.to_text(&figures));
        }
        table.claims.push((claim, figures));
    }
    if json {
        println!("{}", table.to_json());
    } else {
        print!("{}", table.summary());
    }
    Ok(table.is_as_expected())
}
