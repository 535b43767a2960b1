//! Every rule switched off: the invariant it names breaks, and breaks first, and nothing undeclared breaks.

use crate::storms::weathered;
use tenure::kraft::Rule;

/// Hunts with the first rule off, and whatever else hides its absence.
fn killed(off: &[Rule], seeds: u64) {
    let rule = off[0];
    for seed in 0..seeds {
        let (desk, _) = weathered(seed, off);
        let Some((invariant, how)) = desk.judge.broken else {
            continue;
        };
        println!("{rule:?}: seed {seed}: {}: {how}; {:?}", invariant.name(), desk.judge.fallen);
        return;
    }
    println!("{off:?} off: nothing broke in {seeds} storms");
}

#[test]
fn explore() {
    for rule in Rule::ALL {
        killed(&[rule], 1000);
    }
}
