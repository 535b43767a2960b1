//! The rules of a scheme, each switched off in turn, judged by storms.

use crate::storm::{Run, Weather};
use tenure::lease::{Rule, Scheme, Switched};

pub(crate) const DISTINCT: [&str; 3] = ["anna", "ben", "cleo"];
pub(crate) const NAMESAKES: [&str; 3] = ["anna", "anna", "ben"];

/// A storm in which many an answer is late.
pub(crate) const LATE: Weather = Weather {
    late: 300,
    ..Weather::STORM
};

/// Each rule of a scheme that is off lets two believe, or breaks what follows of that; and without any other rule it does the
/// same as with it. `run`: one storm, of nodes with these names that keep these rules.
pub(crate) fn judge(scheme: Scheme, run: impl Fn(u64, &[&str], Switched) -> Run) {
    for rule in Rule::ALL {
        let off = Switched::without(&[rule]);
        if !scheme.rules().contains(&rule) {
            for seed in 0..10 {
                for names in [&DISTINCT, &NAMESAKES] {
                    let (without, with) =
                        (run(seed, names, off), run(seed, names, Switched::default()));
                    assert_eq!(without, with, "{scheme:?} knows {rule:?}, seed {seed}");
                }
            }
            continue;
        }
        let names = match rule {
            Rule::Nonce => &NAMESAKES,
            _ => &DISTINCT,
        };
        let mut broken = (0..2000).filter_map(|seed| run(seed, names, off).broken);
        let (broken, at) = broken
            .next()
            .unwrap_or_else(|| panic!("{scheme:?} holds without {rule:?}"));
        let declared = [&[rule.protects()], rule.follows(scheme)].concat();
        assert!(
            declared.iter().any(|invariant| invariant.name() == broken),
            "{scheme:?} without {rule:?}: {broken} at {at}"
        );
    }
}
