//! Rules switched off and promises of the surroundings broken, in the schedules of the sweep: the named check breaks first,
//! and nothing undeclared does. This is what shows that the judges can fail, and that the schedules reach what they are
//! for. `tenure-sim mutants` prints the same at length, with the explorer beside it.

use tenure_sim::explore::Hunt;
use tenure_sim::mutants::{Mutant, Trial};

/// Within so many seeds each must be noticed: several times what the slowest took.
const SEEDS: u64 = 6_000;
/// So many are run of each, whatever they show: nothing undeclared may break.
const LOOKED_AT: u64 = 20;
/// A seed that notices, where few do. When schedules have changed, it is looked for among all.
const NOTICED_BY: [(&str, u64); 13] = [
    ("count-once", 1_329),
    ("own-term-grants", 74),
    ("validity-from-send", 246),
    ("own-term-acks", 1_788),
    ("promise-binds-voter", 153),
    ("suffix-rechecked", 5_594),
    ("one-change-at-a-time", 117),
    ("vote-durable", 107),
    ("failover-epoch", 73),
    ("overtaken-gives-up", 225),
    ("tilt-only-watches", 1_224),
    ("reload-after-sync", 218),
    ("sync-by-quorum", 1_620),
];

/// The seed that kills it; on the way nothing may break but what is declared.
fn killed_by(mutant: &Mutant, seeds: u64) -> Option<u64> {
    let known = NOTICED_BY.iter().find(|(name, _)| *name == mutant.name);
    let known = known.map(|(_, seed)| *seed);
    let mut killed = None;
    for seed in known.into_iter().chain(0..seeds) {
        if killed.is_some() && seed >= LOOKED_AT {
            break;
        }
        match mutant.trial(seed).unwrap() {
            Trial::Killed(_) => {
                killed.get_or_insert(seed);
            }
            Trial::Survived | Trial::Followed(_) => {}
            Trial::Undeclared(failure) => panic!(
                "without {}, seed {seed}: {} broke",
                mutant.name,
                failure.check.name()
            ),
        }
    }
    killed
}

#[test]
fn whatever_an_election_lacks_is_noticed() {
    let (mut rules, mut by_both, mut lives) = (0, 0, Vec::new());
    for mutant in Mutant::all() {
        let excused = mutant.unreachable().is_some();
        let seeds = if excused { LOOKED_AT } else { SEEDS };
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
