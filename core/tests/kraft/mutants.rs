//! Every rule switched off: the invariant it names breaks, and breaks first, and nothing undeclared breaks.

use crate::desk::Desk;
use crate::storms::weathered;
use tenure::kraft::{Invariant, Rule};

/// Storms of one kind, by their seed, with rules off.
type Storms = fn(u64, &[Rule]) -> Desk;

/// What is off first, what is off with it because it hides the first, and where that shows.
const STORMS: [(Rule, &[Rule], Storms, u64); 16] = [
    (
        Rule::DurableBeforeReply,
        &[Rule::PreVote],
        Desk::slow_disks,
        100,
    ),
    (Rule::DurableBeforeLeading, &[], Desk::slow_disks, 100),
    (Rule::OneVoteAnEpoch, &[], Desk::storm, 50),
    (Rule::UpToDateLog, &[], Desk::storm, 50),
    (Rule::MajorityOfVoters, &[], Desk::storm, 50),
    (Rule::DirectoryInVotes, &[], Desk::storm, 50),
    (Rule::UnfetchedFollowerGrants, &[], Desk::storm, 50),
    (Rule::PreVoteNotPersisted, &[], Desk::storm, 10),
    (Rule::OwnEpochHighWatermark, &[], Desk::storm, 10),
    (Rule::HighWatermarkNeverFalls, &[], Desk::storm, 100),
    (Rule::TruncateFirst, &[], Desk::storm, 50),
    (Rule::DivergenceChecked, &[], Desk::storm, 50),
    (Rule::FlushBeforeFetch, &[], Desk::slow_disks, 100),
    (Rule::FlushBeforeOwnAck, &[], Desk::slow_disks, 100),
    (Rule::ClaimAfterCatchup, &[], Desk::storm, 10),
    (Rule::RenounceResignsRaft, &[], Desk::storm, 50),
];

/// Those whose absence a storm does not show: each has a timeline of its own in `timelines` or `reports`, or is
/// [looked for](a_restarted_leader_that_does_not_resign) among many.
const APART: [Rule; 5] = [
    Rule::PreVote,
    Rule::FetchedFollowerRefuses,
    Rule::SpreadBackoff,
    Rule::CheckQuorum,
    Rule::RestartedLeaderResigns,
];

/// Whether what broke is what the rule protects, or what it declares to follow.
fn declared(rule: Rule, broken: Invariant) -> bool {
    broken == rule.protects() || rule.follows().contains(&broken)
}

fn killed(rule: Rule, with: &[Rule], storms: Storms, seeds: u64) {
    let off: Vec<Rule> = std::iter::once(rule).chain(with.iter().copied()).collect();
    let mut first = None;
    for seed in 0..seeds {
        let (desk, _) = weathered(storms(seed, &off));
        let Some((broken, how)) = desk.judge.broken else {
            continue;
        };
        for fallen in desk.judge.fallen {
            assert!(
                declared(rule, fallen),
                "{off:?} off broke {fallen:?} in seed {seed}"
            );
        }
        if first.is_none() {
            println!("{off:?}: seed {seed}: {}: {how}", broken.name());
            first = Some(broken);
        }
    }
    assert_eq!(
        first,
        Some(rule.protects()),
        "{off:?} off, in {seeds} storms"
    );
}

#[test]
fn every_rule_is_off_somewhere() {
    for rule in Rule::ALL {
        let here = STORMS.iter().filter(|storm| storm.0 == rule).count();
        let apart = APART.iter().filter(|it| **it == rule).count();
        assert_eq!(here + apart, 1, "{rule:?}");
    }
}

/// What is off in these storms is on in those of the same seeds, and nothing breaks.
#[test]
fn nothing_breaks_where_disks_are_slow() {
    for seed in 0..100 {
        let (desk, _) = weathered(Desk::slow_disks(seed, &[]));
        assert_eq!(desk.judge.broken, None, "seed {seed}");
        // Asked before or not: what protects the vote is not the pre-vote.
        let (desk, _) = weathered(Desk::slow_disks(seed, &[Rule::PreVote]));
        assert_eq!(desk.judge.broken, None, "seed {seed} without pre-votes");
    }
}

#[test]
fn each_rule_protects_what_it_names() {
    for (rule, with, storms, seeds) in STORMS {
        killed(rule, with, storms, seeds);
    }
}

#[test]
fn a_restarted_leader_that_does_not_resign() {
    killed(Rule::RestartedLeaderResigns, &[], Desk::slow_disks, 300);
}
