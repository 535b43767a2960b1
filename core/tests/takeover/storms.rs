//! Thousands of leaders that die in the middle of their jobs.

use crate::storm::{Run, Storm};
use tenure::takeover::Rule;

/// How many leaders die in one storm.
const CRASHES: u64 = 50;

fn storms(seeds: u64) -> Run {
    let mut all = Run::default();
    for seed in 0..seeds {
        let run = Storm::new(seed, &[]).run(CRASHES);
        assert_eq!(run.broken, None, "seed {seed}");
        assert_eq!(run.fates.lost, 0, "seed {seed}: {run:?}");
        all.crashes += run.crashes;
        all.freezes += run.freezes;
        all.takeovers += run.takeovers;
        all.taken += run.taken;
        all.handed_over += run.handed_over;
        all.fates.done += run.fates.done;
        all.fates.doubtful += run.fates.doubtful;
        for (all, one) in all.fates.repeated.iter_mut().zip(run.fates.repeated) {
            *all += one;
        }
    }
    println!("{all:#?}");
    all
}

/// None is lost, none is worked at by two, and what must not be repeated is not; what may be is, which shows that it could.
fn look_at(all: &Run) {
    assert!(all.takeovers > all.crashes / 2, "{all:?}");
    assert!(all.taken > all.crashes / 2 && all.handed_over > all.crashes / 20);
    // Repeats where the work says that they are bearable, and nowhere else.
    let [idempotent, at_least_once, at_most_once] = all.fates.repeated;
    assert_eq!((idempotent, at_most_once), (0, 0));
    assert!(at_least_once > 10 && all.fates.doubtful > 10);
}

#[test]
fn a_thousand_leaders_die_in_the_middle_of_their_jobs() {
    let all = storms(20);
    assert!(all.crashes >= 1_000);
    look_at(&all);
}

/// `cargo test -p tenure --test takeover ten_thousand -- --ignored --nocapture`
#[test]
#[ignore = "a thousand are enough for every day"]
fn ten_thousand_leaders_die_in_the_middle_of_their_jobs() {
    let all = storms(200);
    assert!(all.crashes >= 10_000);
    look_at(&all);
}

#[test]
fn each_rule_that_is_off_breaks_what_it_protects_and_nothing_undeclared() {
    for rule in Rule::ALL {
        let (mut storms, mut broken) = (0, 0);
        while broken < 5 {
            assert!(storms < 200, "{rule:?} off: {broken} of {storms}");
            let run = Storm::new(storms, &[rule]).run(CRASHES);
            let declared = |broken| broken == rule.protects() || rule.follows().contains(&broken);
            assert!(
                run.broken.is_none_or(declared),
                "{rule:?} off, seed {storms}: {run:?}"
            );
            broken += u32::from(run.broken == Some(rule.protects()));
            storms += 1;
        }
        let protects = rule.protects();
        println!("without {rule:?}, {protects:?} breaks first in {broken} storms of {storms}");
    }
}
