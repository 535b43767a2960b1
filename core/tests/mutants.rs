//! Every rule switched off: the invariant it names breaks, and breaks first. A rule whose absence nobody notices is
//! either no rule or has no test.

mod group;

use group::{Breakage, Group, timing};
use std::collections::BTreeMap;
use tenure::log::Shape;
use tenure::raft::{Invariant, Record, Rule, Stored, Switched, Timing};
use tenure::{Duration, Input, NodeId};

/// Restarts, cuts, pauses and forced moves, with timers that hardly matter: what breaks a lease.
const HOSTILE: Breakage = Breakage {
    drop: 5,
    repeat: 10,
    silent_disk: 0,
    wrong_reply: 0,
    unknown_write: 0,
    spurious_timeout: 5,
    back_in_time: 0,
    whims: 10,
    crash: 3,
    pause: 3,
    isolate: 5,
};

/// Pre-vote is off as well wherever safety is hunted: it only hides the schedules that matter.
fn hostile(rules: &[Rule], seed: u64, timings: impl Fn(u64) -> Timing) -> Group<Switched> {
    let voters = if seed.is_multiple_of(2) { 3 } else { 5 };
    let mut group = Group::configured(voters, seed, Switched::without(rules), true, timings);
    group.breakage = HOSTILE;
    group.latency = (100, 5_000);
    // Some messages arrive in another term altogether.
    group.slow_links(400_000);
    group
}

/// The first invariant that breaks in up to `seeds` schedules, and at which seed.
fn hunt(
    rules: &[Rule],
    seeds: u64,
    timings: impl Fn(u64) -> Timing + Copy,
) -> Option<(u64, String)> {
    (0..seeds).find_map(|seed| {
        let mut group = hostile(rules, seed, timings);
        group.boot_all();
        group.run_until(6_000_000);
        group.ghost.broken.map(|broken| (seed, broken))
    })
}

/// Hunts with the first rule off, and whatever else hides its absence; what breaks must be what the rule declares.
fn killed(rules: &[Rule], seeds: u64) {
    let found = hunt(rules, seeds, |_| timing());
    let (seed, broken) =
        found.unwrap_or_else(|| panic!("{rules:?} off: nothing broke in {seeds} schedules"));
    println!("{rules:?}: seed {seed}: {broken}");
    assert!(declared(rules[0], &broken), "{rules:?} off broke {broken}");
}

/// Whether what broke is what the rule protects, or what it declares to follow.
fn declared(rule: Rule, broken: &str) -> bool {
    broken.starts_with(rule.protects().name())
        || rule
            .follows()
            .iter()
            .any(|follows| broken.starts_with(follows.name()))
}

#[test]
fn the_same_schedules_break_nothing_with_the_rules_on() {
    assert_eq!(hunt(&[], 3_000, |_| timing()), None);
    assert_eq!(hunt(&[Rule::PreVote], 3_000, |_| timing()), None);
}

/// After the first invariant broke, others do: those that the rule declares to follow, and no others.
#[test]
fn what_follows_is_declared() {
    for (rule, seeds) in [
        (Rule::OneVoteATerm, 1_000),
        (Rule::MajorityOfVoters, 200),
        (Rule::PromiseBindsVoter, 1_500),
    ] {
        let mut fallen = BTreeMap::new();
        for seed in 0..seeds {
            let mut group = hostile(&[rule, Rule::PreVote], seed, |_| timing());
            group.boot_all();
            while group.now < 6_000_000 {
                group.step();
            }
            for name in group.ghost.fallen {
                fallen.entry(name).or_insert(seed);
            }
        }
        println!("{rule:?}: {fallen:?}");
        assert!(
            fallen.contains_key(Invariant::TokenRises.name()),
            "{rule:?}"
        );
        for name in fallen.keys() {
            assert!(declared(rule, name), "{rule:?} off broke {name}");
        }
    }
}

/// NodeDB#161.
#[test]
fn durable_before_reply() {
    killed(&[Rule::DurableBeforeReply, Rule::PreVote], 100);
}

#[test]
fn one_vote_a_term() {
    killed(&[Rule::OneVoteATerm, Rule::PreVote], 4_000);
}

#[test]
fn majority_of_voters() {
    killed(&[Rule::MajorityOfVoters, Rule::PreVote], 4_000);
}

#[test]
fn count_once() {
    killed(&[Rule::CountOnce, Rule::PreVote], 20_000);
}

#[test]
fn own_term_grants() {
    killed(&[Rule::OwnTermGrants, Rule::PreVote], 20_000);
}

#[test]
fn validity_from_send() {
    killed(&[Rule::ValidityFromSend, Rule::PreVote], 20_000);
}

#[test]
fn promise_binds_voter() {
    killed(&[Rule::PromiseBindsVoter, Rule::PreVote], 4_000);
}

#[test]
fn promise_binds_candidate() {
    killed(&[Rule::PromiseBindsCandidate, Rule::PreVote], 20_000);
}

#[test]
fn promise_outlives_restart() {
    killed(&[Rule::PromiseOutlivesRestart, Rule::PreVote], 20_000);
}

/// Under a promise votes are refused without adopting, so that adoption meets a promise only in the moments of an early
/// pre-vote; together with that rule, the hole is wide.
#[test]
fn promise_outlives_term() {
    killed(
        &[
            Rule::PromiseOutlivesTerm,
            Rule::RefuseWithoutAdopting,
            Rule::PreVote,
        ],
        4_000,
    );
    assert_eq!(
        hunt(&[Rule::RefuseWithoutAdopting, Rule::PreVote], 4_000, |_| {
            timing()
        }),
        None
    );
}

#[test]
fn release_own_term() {
    killed(&[Rule::ReleaseOwnTerm, Rule::PreVote], 50_000);
}

#[test]
fn lapse_deposes() {
    killed(&[Rule::LapseDeposes, Rule::PreVote], 4_000);
}

/// Nodes with different timeouts: the leader must use what the others promised, not what it would have promised.
#[test]
fn promise_from_answer() {
    let timings = |place| {
        let scale = if place % 2 == 0 { 3 } else { 1 };
        Timing {
            election_min: Duration::from_millis(150 * scale),
            election_max: Duration::from_millis(300 * scale),
            ..timing()
        }
    };
    assert_eq!(hunt(&[], 2_000, timings), None);
    let (seed, broken) = hunt(&[Rule::PromiseFromAnswer], 20_000, timings).expect("nothing broke");
    println!("PromiseFromAnswer: seed {seed}: {broken}");
    assert!(declared(Rule::PromiseFromAnswer, &broken), "{broken}");
}

/// Logs of arbitrary shapes, which nobody extends: whoever is elected has what a majority has, and a longer log of an older
/// term is no match for it (noraft 0.4.0).
#[test]
fn up_to_date_log_without_replication() {
    let elected_with_a_short_log = |rules: &[Rule], seeds: u64| {
        (0..seeds).find_map(|seed| {
            let mut group = hostile(rules, seed, |_| timing());
            for (place, node) in group.nodes.iter_mut().enumerate() {
                let bits = seed >> (2 * place) & 3;
                let log = Shape::from_runs([(1, 1 + bits % 2), (2 + bits / 2, bits)]).unwrap();
                let record = Record {
                    term: log.last().term,
                    ..Record::default()
                };
                node.disk = Some(Stored {
                    log,
                    ..Stored::from(record)
                });
            }
            group.boot_all();
            group.run_until(3_000_000);
            group.ghost.broken
        })
    };
    assert_eq!(elected_with_a_short_log(&[], 3_000), None);
    let broken = elected_with_a_short_log(&[Rule::UpToDateLog], 100).expect("nothing broke");
    assert!(declared(Rule::UpToDateLog, &broken), "{broken}");
}

/// The same hosts, with logs that are worked on and disks that lag.
fn hostile_with_logs(rules: &[Rule], seed: u64, safe_mode: bool) -> Group<Switched> {
    let voters = if seed.is_multiple_of(2) { 3 } else { 5 };
    let rules = Switched::without(rules);
    let mut group = Group::configured(voters, seed, rules, safe_mode, |_| timing()).with_logs();
    group.breakage = HOSTILE;
    group.latency = (100, 5_000);
    group.write_time = (100, 30_000);
    group.slow_links(400_000);
    group.boot_all();
    group
}

/// With a rule of logs off, in safe mode and outside it: what it protects breaks, in most schedules first; and what breaks
/// with it and after it is declared.
fn killed_with_logs(rule: Rule, seeds: u64) -> BTreeMap<String, u64> {
    let (mut firsts, mut fallen) = (0, BTreeMap::new());
    for seed in 0..seeds {
        let mut group = hostile_with_logs(&[rule, Rule::PreVote], seed, seed % 4 < 2);
        while group.now < 6_000_000 {
            group.step();
        }
        if let Some(broken) = &group.ghost.broken {
            assert!(declared(rule, broken), "{rule:?} off broke {broken}");
            firsts += u64::from(broken.starts_with(rule.protects().name()));
        }
        for name in group.ghost.fallen {
            assert!(declared(rule, &name), "{rule:?} off broke {name}, {seed}");
            *fallen.entry(name).or_insert(0) += 1;
        }
    }
    println!("{rule:?}: first in {firsts} schedules; {fallen:?}");
    assert!(firsts > 0, "{rule:?} off: {fallen:?}");
    fallen
}

#[test]
fn the_same_logs_break_nothing_with_the_rules_on() {
    for seed in 0..2_000 {
        for rules in [&[][..], &[Rule::PreVote]] {
            let mut group = hostile_with_logs(rules, seed, seed % 4 < 2);
            group.run_until(6_000_000);
            assert_eq!(group.ghost.broken, None, "seed {seed}");
        }
    }
}

#[test]
fn log_matching() {
    killed_with_logs(Rule::LogMatching, 200);
}

#[test]
fn commit_matched() {
    killed_with_logs(Rule::CommitMatched, 1_000);
}

#[test]
fn ack_durable() {
    killed_with_logs(Rule::AckDurable, 200);
}

#[test]
fn own_copy_durable() {
    killed_with_logs(Rule::OwnCopyDurable, 400);
}

/// Figure 8 of the Raft paper: what was committed by counting copies of an older term is missing in a later leader.
#[test]
fn commit_own_term() {
    let fallen = killed_with_logs(Rule::CommitOwnTerm, 2_000);
    let completeness = Invariant::LeaderCompleteness.name();
    assert!(fallen.contains_key(completeness), "{fallen:?}");
}

/// An election that goes wrong takes the logs along.
#[test]
fn what_follows_in_logs_is_declared() {
    for (rule, seeds) in [
        (Rule::OneVoteATerm, 500),
        (Rule::MajorityOfVoters, 200),
        (Rule::OwnTermGrants, 500),
    ] {
        let fallen = killed_with_logs(rule, seeds);
        let matching = Invariant::LogMatching.name();
        assert!(fallen.contains_key(matching), "{rule:?}: {fallen:?}");
    }
}

#[test]
fn up_to_date_log() {
    killed_with_logs(Rule::UpToDateLog, 200);
}

/// The guides' vote handler never clears the vote: who voted in term 1 refuses everybody in term 2, and a failed first
/// election is the last. Ten times as many schedules end without a leader.
#[test]
fn new_term_new_vote() {
    let leaderless = |rules: &[Rule]| {
        (0..400)
            .filter(|seed| {
                let mut group =
                    Group::configured(3, *seed, Switched::without(rules), true, |_| timing());
                group.breakage = HOSTILE;
                group.boot_all();
                group.run_until(3_000_000);
                group.heal();
                group.run_until_leader(group.now + 4_000_000).is_none()
            })
            .count()
    };
    assert_eq!(leaderless(&[]), 0);
    let stuck = leaderless(&[Rule::NewTermNewVote]);
    assert!(stuck > 100, "only {stuck} of 400 schedules noticed");
}

/// A node that was cut off for a while returns: the leader stays, unless the rule is off.
fn changes_when_a_node_returns(rules: &[Rule], forced: bool) -> u64 {
    let mut changes = 0;
    for seed in 0..50 {
        let mut group = Group::configured(3, seed, Switched::without(rules), true, |_| timing());
        group.boot_all();
        let leader = group.run_until_leader(2_000_000).expect("a leader");
        let stray = (leader + 1) % 3;
        group.cut(stray, group.now + 2_000_000);
        group.run_until(group.now + 2_000_000);
        if forced {
            // The stray node won its pre-votes before it was cut off: its term is ahead.
            for other in 0..3u64 {
                if other != leader as u64 && other != stray as u64 {
                    let term = group.nodes[leader].machine.as_ref().unwrap().term() + 1;
                    let last = tenure::log::Position::START;
                    let message = tenure::raft::Message::RequestVote {
                        term,
                        last,
                        released: 0,
                    };
                    group.input(other as usize, Input::Peer(NodeId(stray as u64), message));
                }
            }
        }
        let established = group.ghost.established;
        group.run_until(group.now + 3_000_000);
        assert_eq!(group.ghost.broken, None);
        changes += group.ghost.established - established;
    }
    changes
}

#[test]
fn pre_vote() {
    assert_eq!(changes_when_a_node_returns(&[], false), 0);
    let changes = changes_when_a_node_returns(&[Rule::PreVote], false);
    assert!(
        changes >= 40,
        "only {changes} of 50 returns deposed the leader"
    );
}

#[test]
fn refuse_without_adopting() {
    assert_eq!(changes_when_a_node_returns(&[], true), 0);
    let changes = changes_when_a_node_returns(&[Rule::RefuseWithoutAdopting], true);
    assert!(
        changes >= 40,
        "only {changes} of 50 votes deposed the leader"
    );
}

/// With one draw for ever, nodes that start together stay together (EastGuard#120).
#[test]
fn redraw_per_attempt() {
    let slow_starts = |rules: &[Rule]| {
        (0..100)
            .filter(|seed| {
                let mut group =
                    Group::configured(5, *seed, Switched::without(rules), false, |_| timing());
                group.latency = (10_000, 10_000);
                group.write_time = (1_000, 1_000);
                group
                    .nodes
                    .iter_mut()
                    .for_each(|node| node.rate = 1_000_000);
                group.boot_all();
                group.run_until_leader(3_000_000).is_none()
            })
            .count()
    };
    assert_eq!(slow_starts(&[]), 0);
    assert_eq!(slow_starts(&[Rule::RedrawPerAttempt]), 100);
}
