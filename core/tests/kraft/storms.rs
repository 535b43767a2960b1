//! Random schedules.

use crate::desk::{Desk, MS};
use std::collections::BTreeMap;
use tenure::kraft::{Invariant, Rule};

/// How long it storms.
const STORM: u64 = 25_000 * MS;

/// Runs a storm and the calm after it; tells when there was a leader again.
pub(crate) fn weathered(seed: u64, off: &[Rule]) -> (Desk, Option<u64>) {
    let mut desk = Desk::storm(seed, off);
    desk.run_until(desk.now + STORM, |desk| desk.judge.broken.is_some());
    desk.calm();
    let end = desk.now + 30_000 * MS;
    let again = desk.run_until(end, |desk| desk.leader().is_some());
    desk.run(3_000 * MS);
    (desk, again)
}

/// What must have been put to the test by storms.
const TESTED: [Invariant; 11] = [
    Invariant::ElectionSafety,
    Invariant::OneVote,
    Invariant::LogMatching,
    Invariant::LeaderCompleteness,
    Invariant::HighWatermarkMonotone,
    Invariant::HighWatermarkOwnEpoch,
    Invariant::PreVoteQuiet,
    Invariant::ResignedNoReuse,
    Invariant::ClaimAfterCatchup,
    Invariant::NoStaleCommand,
    Invariant::StaleLeaderStops,
];

fn storms(seeds: std::ops::Range<u64>) {
    let mut tested: BTreeMap<Invariant, u64> = BTreeMap::new();
    let (mut longest, mut overlap, mut elections, mut sent) = (0, 0, 0, 0);
    for seed in seeds.clone() {
        let (desk, again) = weathered(seed, &[]);
        assert_eq!(desk.judge.broken, None, "seed {seed}");
        let again = again.unwrap_or_else(|| panic!("seed {seed}: nobody leads"));
        longest = longest.max(again);
        overlap = overlap.max(desk.judge.overlap);
        elections += desk.judge.elections;
        sent += desk.sent;
        for (invariant, times) in desk.judge.tested {
            *tested.entry(invariant).or_default() += times;
        }
    }
    println!(
        "{seeds:?}: a leader again after {} ms at most, two believed for {} ms at most, {elections} elections, {sent} messages; {tested:?}",
        longest / MS,
        overlap / MS,
    );
    for invariant in TESTED {
        assert!(
            tested.get(&invariant).is_some_and(|times| *times > 0),
            "{invariant:?} was not put to the test"
        );
    }
}

#[test]
fn nothing_breaks_in_five_hundred_storms() {
    storms(0..500);
}
