//! Rules switched off and promises of the surroundings broken, in the schedules of the sweep: the named check breaks first,
//! and nothing undeclared does. This is what shows that the judges can fail, and that the schedules reach what they are
//! for. `tenure-sim mutants` prints the same at length, with the explorer beside it.

use tenure_sim::explore::Hunt;
use tenure_sim::mutants::{Mutant, Trial};

/// Within so many seeds each must be noticed: several times what the slowest took.
const SEEDS: u64 = 6_000;
/// Within so many those are not that are excused.
const EXCUSED_SEEDS: u64 = 200;

/// The seed that kills it; on the way nothing may break but what is declared.
fn killed_by(mutant: &Mutant, seeds: u64) -> Option<u64> {
    (0..seeds).find(|seed| match mutant.trial(*seed).unwrap() {
        Trial::Killed(_) => true,
        Trial::Survived | Trial::Followed(_) => false,
        Trial::Undeclared(failure) => panic!(
            "without {}, seed {seed}: {} broke",
            mutant.name,
            failure.check.name()
        ),
    })
}

#[test]
fn whatever_an_election_lacks_is_noticed() {
    let (mut rules, mut by_both, mut lives) = (0, 0, Vec::new());
    for mutant in Mutant::all() {
        let excused = mutant.unreachable().is_some();
        let seeds = if excused { EXCUSED_SEEDS } else { SEEDS };
        match killed_by(&mutant, seeds) {
            Some(seed) => {
                println!("{} | {} | {seed}", mutant.name, mutant.breaks());
                assert!(!excused, "{} is reached: excuse it no more", mutant.name);
                rules += usize::from(mutant.rule.is_some());
                // The explorer's own tests show that it kills what it hunts.
                by_both += usize::from(mutant.rule.and_then(Hunt::of).is_some());
            }
            None if excused => {}
            None => lives.push(mutant.name),
        }
    }
    assert_eq!(lives, [""; 0], "not noticed in {SEEDS} seeds");
    assert!(rules >= 14 && by_both >= 12, "{rules} {by_both}");
}
