//! Votes, terms and timeouts.

use super::runs::{broken, run};
use super::{Claim, Figures, Part, Verdict};
use crate::check::Check;
use crate::measure::{Failovers, Setting, timing};

/// Two of three stand at once, and hear late of each other: whoever is third decides, so that no vote can be split.
const TWO_OF_THREE: &str = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "raft": {"safeMode": false},
    "network": {"latency": ["5ms", "10ms"]}, "duration": "2s",
    "faults": [{"at": "0ms", "delay": {"link": ["n1", "n2"], "by": "100ms"}},
        {"at": "0ms", "delay": {"link": ["n2", "n1"], "by": "100ms"}},
        {"at": "50ms", "campaign": "n1"}, {"at": "50ms", "campaign": "n2"}]}"#;
const TWO_OF_THREE_OFF: &str = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "raft": {"safeMode": false},
    "rulesOff": ["one-vote-a-term"],
    "network": {"latency": ["5ms", "10ms"]}, "duration": "2s",
    "faults": [{"at": "0ms", "delay": {"link": ["n1", "n2"], "by": "100ms"}},
        {"at": "0ms", "delay": {"link": ["n2", "n1"], "by": "100ms"}},
        {"at": "50ms", "campaign": "n1"}, {"at": "50ms", "campaign": "n2"}]}"#;
/// Two of four, each of whom may get half.
const TWO_OF_FOUR: &str = r#"{"tenure": 1, "scheme": "raft", "nodes": 4, "raft": {"safeMode": false},
    "network": {"latency": ["5ms", "10ms"]}, "duration": "5s",
    "faults": [{"at": "50ms", "campaign": "n1"}, {"at": "50ms", "campaign": "n2"}]}"#;

/// All have voted once when the leader dies.
const NEXT_TERM: &str = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "raft": {"safeMode": false},
    "network": {"latency": ["5ms", "10ms"]}, "duration": "12s", "faults": [{"at": "2s", "crash": "leader"}]}"#;
const NEXT_TERM_OFF: &str = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "raft": {"safeMode": false},
    "rulesOff": ["new-term-new-vote"],
    "network": {"latency": ["5ms", "10ms"]}, "duration": "12s", "faults": [{"at": "2s", "crash": "leader"}]}"#;

/// One is cut off and misses what the two others commit; as it comes back, the leader dies.
const BEHIND: &str = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "raft": {"log": true},
    "network": {"latency": ["5ms", "10ms"]}, "duration": "8s",
    "faults": [{"at": "2s", "partition": [["leader", "follower"], ["rest"]]},
        {"at": "4s", "heal": "all"}, {"at": "4s", "crash": "leader"}]}"#;
const BEHIND_OFF: &str = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "raft": {"log": true},
    "rulesOff": ["up-to-date-log"],
    "network": {"latency": ["5ms", "10ms"]}, "duration": "8s",
    "faults": [{"at": "2s", "partition": [["leader", "follower"], ["rest"]]},
        {"at": "4s", "heal": "all"}, {"at": "4s", "crash": "leader"}]}"#;

/// One is cut off, and comes back.
const RETURNING: &str = r#"{"tenure": 1, "scheme": "raft", "nodes": 3,
    "network": {"latency": ["5ms", "10ms"]}, "duration": "8s",
    "faults": [{"at": "1s", "partition": [["follower"], ["rest"]]}, {"at": "3s", "heal": "all"}]}"#;
const RETURNING_PLAIN: &str = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "raft": {"safeMode": false},
    "network": {"latency": ["5ms", "10ms"]}, "duration": "8s",
    "faults": [{"at": "1s", "partition": [["follower"], ["rest"]]}, {"at": "3s", "heal": "all"}]}"#;

pub(super) fn claims() -> Vec<Claim> {
    vec![
        Claim {
            name: "one-vote-a-term",
            says: "A node votes once a term so that votes are not split.",
            expected: Verdict::Corrected,
            instead: "It is what makes two leaders of one term impossible; split votes are its price, and random timeouts end them.",
            gallery: Some("split-vote"),
            parts: vec![
                Part::count(
                    "runs in which a term has two leaders, without the rule; two of three stand at once, and no vote can be split",
                    |seed| broken(TWO_OF_THREE_OFF, seed, Check::OneLeaderPerTerm).min(1),
                ),
                Part::count("the same with the rule", |seed| {
                    broken(TWO_OF_THREE, seed, Check::OneLeaderPerTerm).min(1)
                }),
                Part::count(
                    "further terms that were needed, with the rule; two of four stand at once: split votes",
                    |seed| further_terms(&run(TWO_OF_FOUR, seed)),
                ),
            ],
            judge: |figures| match figures {
                [off, on, split] if off.occurred() && on.never() && split.occurred() => {
                    Verdict::Corrected
                }
                [off, on, split] if off.never() && on.never() && split.never() => Verdict::Holds,
                _ => Verdict::Open,
            },
        },
        Claim {
            name: "vote-of-a-term",
            says: "The vote handler grants whoever asks first, if it has not voted yet (the sketch never clears the vote).",
            expected: Verdict::Corrected,
            instead: "The vote is of a term, and given up with it: or who voted in term 1 refuses everybody in term 2.",
            gallery: None,
            parts: vec![
                Part::count(
                    "runs that end without a leader, though two of three run; the vote is never cleared",
                    |seed| u64::from(run(NEXT_TERM_OFF, seed).leader().is_none()),
                ),
                Part::count("the same where a new term is a new vote", |seed| {
                    u64::from(run(NEXT_TERM, seed).leader().is_none())
                }),
            ],
            judge: |figures| match figures {
                [off, on] if off.occurred() && on.never() => Verdict::Corrected,
                [off, on] if off.never() && on.never() => Verdict::Holds,
                _ => Verdict::Open,
            },
        },
        Claim {
            name: "newer-log-wins",
            says: "A vote goes only to a log that is no older: the later last term, then the longer.",
            expected: Verdict::Holds,
            instead: "Without that, a leader lacks what was committed.",
            gallery: None,
            parts: vec![
                Part::count(
                    "leaders that lack what was committed, without the rule; one that is behind comes back as the leader dies",
                    |seed| broken(BEHIND_OFF, seed, Check::LeaderCompleteness),
                ),
                Part::count("the same with the rule", |seed| {
                    broken(BEHIND, seed, Check::LeaderCompleteness)
                }),
            ],
            judge: |figures| match figures {
                [off, on] if off.occurred() && on.never() => Verdict::Holds,
                [_, on] if on.occurred() => Verdict::Corrected,
                _ => Verdict::Open,
            },
        },
        Claim {
            name: "random-timeouts",
            says: "Election timeouts are random in 150 to 300 ms so that rarely two stand together, at a common start either.",
            expected: Verdict::Holds,
            instead: "Where all start at once and the range is as wide as that, few votes are split; where it is 2 ms, most are.",
            gallery: Some("cold-start"),
            parts: vec![
                Part::count(
                    "common starts with a split vote, timeouts of 150 to 300 ms",
                    |seed| split(seed, 300_000),
                ),
                Part::count("the same with timeouts of 150 to 152 ms", |seed| {
                    split(seed, 152_000)
                }),
            ],
            judge: |figures| match figures {
                [wide, narrow] if rarer(wide, narrow) => Verdict::Holds,
                [wide, narrow] if wide.shown() >= narrow.shown() && wide.occurred() => {
                    Verdict::Corrected
                }
                _ => Verdict::Open,
            },
        },
        Claim {
            name: "pre-vote",
            says: "Failover is shortened by Pre-Vote.",
            expected: Verdict::Holds,
            instead: "The question goes out before the timeout ends, and whoever would only split the vote does not stand. Besides, a node \
                      that comes back deposes no healthy leader.",
            gallery: Some("plain-raft-returning-node"),
            parts: vec![
                Part::count(
                    "runs in which 16 crashes are got over sooner with PreVote and CheckQuorum than without",
                    |seed| u64::from(failover(seed, true) < failover(seed, false)),
                ),
                Part::time(
                    "from a crash to the first write, the mean of 16, with PreVote and CheckQuorum",
                    |seed| failover(seed, true),
                ),
                Part::time("the same without them", |seed| failover(seed, false)),
                Part::count(
                    "healthy leaders deposed by a node that comes back, with them",
                    |seed| run(RETURNING, seed).counts().depositions,
                ),
                Part::count("the same without them", |seed| {
                    run(RETURNING_PLAIN, seed).counts().depositions
                }),
            ],
            judge: |figures| match figures {
                // Run by run, under the same seeds: medians of means would hide in how many it is so.
                [sooner, with, without, kept, deposed] if with.always() && without.always() => {
                    let (sooner, runs) = (sooner.shown(), sooner.runs());
                    if 2 * sooner <= runs {
                        Verdict::Corrected
                    } else if 4 * sooner >= 3 * runs && kept.never() && deposed.occurred() {
                        Verdict::Holds
                    } else {
                        Verdict::Open
                    }
                }
                _ => Verdict::Open,
            },
        },
    ]
}

/// In how many terms beyond the first somebody stood before the first leader.
fn further_terms(world: &crate::world::World) -> u64 {
    let first = world.stages().done().first();
    first.map_or(0, |first| u64::from(first.terms.saturating_sub(1)))
}

/// Whether a common start had more than one term, with timeouts from 150 ms to this.
fn split(seed: u64, election_max: u64) -> u64 {
    let setting = Setting {
        nodes: 5,
        safe_mode: false,
        timing: timing(150_000, election_max),
        ..Setting::default()
    };
    let mut starts = Failovers::default();
    let run = starts.cold_start(&setting, seed);
    run.expect("the usual timeouts, or a narrower range of them");
    starts.split
}

/// Rare, and at most half as frequent.
fn rarer(wide: &Figures, narrow: &Figures) -> bool {
    narrow.occurred() && 2 * wide.shown() <= narrow.shown() && 10 * wide.shown() <= 2 * wide.runs()
}

/// The mean of a few, in microseconds: one alone says little of where its leader's heartbeats were.
fn failover(seed: u64, safe_mode: bool) -> u64 {
    const FEW: u64 = 16;
    let setting = Setting {
        safe_mode,
        ..Setting::default()
    };
    let mut failovers = Failovers::default();
    for one in 0..FEW {
        let run = failovers.crash(&setting, seed.wrapping_mul(FEW).wrapping_add(one));
        run.expect("the usual timeouts");
    }
    failovers.total.mean() as u64
}
