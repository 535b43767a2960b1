//! Random schedules.

use crate::desk::{Desk, MS, Weather};
use std::collections::BTreeMap;
use tenure::kraft::Invariant;

/// How long it storms.
const STORM: u64 = 25_000 * MS;

/// Within that somebody leads again once everything is healed: a fetch timeout, and two elections of two timeouts each, the
/// longest of either (§5.14; the second for a split vote).
const AGAIN: u64 = 2_000 * MS + 2 * 2 * 2_000 * MS;

/// Within that a leader that others have replaced stops (§5.14): the check of the quorum, which the last fetch that was
/// under way may have set back.
const STALE: u64 = 3_000 * MS + Weather::LATE;

/// Runs a storm and the calm after it; tells when there was a leader again.
pub(crate) fn weathered(mut desk: Desk) -> (Desk, u64) {
    desk.run_until(desk.now + STORM, |desk| desk.judge.broken.is_some());
    desk.calm();
    let end = desk.now + AGAIN;
    let again = desk.run_until(end, |desk| desk.leader().is_some());
    // Whoever still led when it grew calm may have been replaced; the group settles on one, and all get what it appends.
    desk.run(AGAIN);
    let leader = desk.leader();
    let proposed = leader.and_then(|leader| desk.propose(leader));
    let everywhere = proposed.and_then(|at| {
        desk.run_until(desk.now + 1_000 * MS, |desk| {
            let all = 0..desk.nodes.len();
            all.into_iter().all(|id| {
                let machine = desk.machine(id);
                machine.high_watermark() >= at.index
                    && machine.leader().map(|it| it.0 as usize) == leader
            })
        })
    });
    let stale = desk.judge.overlap;
    desk.judge
        .hold(Invariant::StaleLeaderStops, stale <= STALE, || {
            format!("two believed for {} ms", stale / MS)
        });
    desk.judge.hold(Invariant::LeaderAgain, again.is_some() && everywhere.is_some(), || {
        format!("{} ms after it grew calm node {leader:?} leads, and {proposed:?} is everywhere: {everywhere:?}", 2 * AGAIN / MS)
    });
    (desk, again.unwrap_or(AGAIN))
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
        let (desk, again) = weathered(Desk::storm(seed, &[]));
        assert_eq!(desk.judge.broken, None, "seed {seed}");
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

#[test]
#[ignore = "minutes: fifty thousand storms"]
fn nothing_breaks_in_fifty_thousand_storms() {
    storms(0..50_000);
}
