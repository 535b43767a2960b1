//! What is said of etcd.

use super::runs::{broken, two_lead};
use super::{Claim, Part, Verdict};
use crate::check::Check;
use crate::measure::{Reads, Setting, Way};

/// The leader is cut off from etcd, and still reaches its clients.
const CUT_OFF: &str = r#"{"tenure": 1, "scheme": "etcd", "nodes": 3, "lease": {"ttl": "6s"},
    "network": {"latency": ["5ms", "10ms"]}, "client": {"every": "100ms"}, "duration": "30s",
    "faults": [{"at": "8s", "partition": [["leader"], ["rest"]]}, {"at": "24s", "heal": "all"}]}"#;
const CUT_OFF_TOLD: &str = r#"{"tenure": 1, "scheme": "etcd", "nodes": 3, "lease": {"ttl": "6s"},
    "rulesOff": ["demote-by-timer"],
    "network": {"latency": ["5ms", "10ms"]}, "client": {"every": "100ms"}, "duration": "30s",
    "faults": [{"at": "8s", "partition": [["leader"], ["rest"]]}, {"at": "24s", "heal": "all"}]}"#;

pub(super) fn claims() -> Vec<Claim> {
    vec![
        Claim {
            name: "etcd-one-leader",
            says: "etcd's election rules two leaders out by its mechanism.",
            expected: Verdict::Limited,
            instead: "Its key has one holder. Who stops only when told believes on while cut off; who counts the lease on its own clock \
                      stops in time.",
            gallery: Some("etcd-partition-two-writers"),
            parts: vec![
                Part::count("times that a term had two holders", |seed| {
                    broken(CUT_OFF, seed, Check::OneLeaderPerTerm)
                        + broken(CUT_OFF_TOLD, seed, Check::OneLeaderPerTerm)
                }),
                Part::time(
                    "two who believe to lead, where one that is cut off stops when it is told",
                    |seed| two_lead(CUT_OFF_TOLD, seed),
                ),
                Part::time("the same where it stops by its own clock", |seed| {
                    two_lead(CUT_OFF, seed)
                }),
            ],
            judge: |figures| match figures {
                [terms, _, _] if terms.occurred() => Verdict::Corrected,
                [terms, told, clock] if terms.never() && told.occurred() && clock.never() => {
                    Verdict::Limited
                }
                [terms, told, clock] if terms.never() && told.never() && clock.never() => {
                    Verdict::Holds
                }
                _ => Verdict::Open,
            },
        },
        Claim {
            name: "etcd-serializable",
            says: "A linearizable read of etcd, shown with the option serializable.",
            expected: Verdict::Corrected,
            instead: "That option is for the other kind: a member answers from what it has. What goes through the leader is the default.",
            gallery: Some("stale-lease-read"),
            parts: vec![
                Part::time(
                    "how old what one member shows by itself is, at the most",
                    |seed| reads(Way::Local, seed).ages.quantiles().max,
                ),
                Part::count(
                    "reads that a majority confirmed for the leader and that no order explains",
                    |seed| reads(Way::ConfirmedOnLeader, seed).unexplained,
                ),
                Part::count("such reads that were judged", |seed| {
                    reads(Way::ConfirmedOnLeader, seed).judged
                }),
            ],
            judge: |figures| match figures {
                [local, unexplained, judged]
                    if local.occurred() && unexplained.never() && judged.always() =>
                {
                    Verdict::Corrected
                }
                [local, unexplained, _] if local.never() && unexplained.never() => Verdict::Holds,
                _ => Verdict::Open,
            },
        },
    ]
}

/// Of the members of a group that replicates by Raft, as etcd's do.
fn reads(way: Way, seed: u64) -> Reads {
    let mut reads = Reads::default();
    let run = reads.run(&Setting::default(), way, seed);
    run.expect("the usual timeouts");
    reads
}
