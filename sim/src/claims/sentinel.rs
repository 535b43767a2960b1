//! What is said of Redis Sentinel.

use super::runs::{broken, run, two_lead};
use super::{Claim, Part, Verdict};
use crate::check::Check;

/// The master is cut off from everybody but its clients, while a majority of the sentinels elects.
const CUT_OFF: &str = r#"{"tenure": 1, "scheme": "sentinel", "nodes": 3,
    "sentinel": {"downAfter": "3s", "failoverTimeout": "10s"}, "client": {"every": "50ms"}, "duration": "50s",
    "faults": [{"at": "10s", "partition": [["s1"], ["rest"]]}, {"at": "30s", "heal": "all"}]}"#;
/// The same of Raft's leader.
const RAFT_CUT_OFF: &str = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "raft": {"log": true},
    "network": {"latency": ["5ms", "10ms"]}, "client": {"every": "50ms"}, "duration": "50s",
    "faults": [{"at": "10s", "partition": [["leader"], ["rest"]]}, {"at": "30s", "heal": "all"}]}"#;

/// Two masters fail in two halves of a partition.
const TWO_MASTERS: &str = r#"{"tenure": 1, "scheme": "sentinel", "nodes": 3,
    "sentinel": {"masters": 2, "replicas": 1, "downAfter": "1s", "failoverTimeout": "5s", "parallelSyncs": 2},
    "network": {"latency": ["5ms", "5ms"]}, "client": {"every": "500ms"}, "duration": "40s",
    "faults": [{"at": "0ms", "partition": [["s1", "n2", "n3"], ["rest"]]}, {"at": "0ms", "crash": "s1"},
        {"at": "3s", "heal": "all"}, {"at": "20s", "restart": "s1"}]}"#;
const TWO_MASTERS_SHIPPED: &str = r#"{"tenure": 1, "scheme": "sentinel", "nodes": 3,
    "sentinel": {"masters": 2, "replicas": 1, "downAfter": "1s", "failoverTimeout": "5s", "parallelSyncs": 2},
    "rulesOff": ["failover-epoch", "own-masters-epoch", "overtaken-gives-up", "candidate-follows"],
    "network": {"latency": ["5ms", "5ms"]}, "client": {"every": "500ms"}, "duration": "40s",
    "faults": [{"at": "0ms", "partition": [["s1", "n2", "n3"], ["rest"]]}, {"at": "0ms", "crash": "s1"},
        {"at": "3s", "heal": "all"}, {"at": "20s", "restart": "s1"}]}"#;

pub(super) fn claims() -> Vec<Claim> {
    vec![
        Claim {
            name: "sentinel-is-raft",
            says: "Redis Sentinel elects by Raft.",
            expected: Verdict::Corrected,
            instead: "Its vote is like Raft's, one an epoch and by a majority. But there is no log: a majority authorises, and none holds the \
                      data. Acknowledged writes are lost though each epoch has one leader, and nobody keeps the old master out.",
            gallery: Some("sentinel-lost-writes"),
            parts: vec![
                Part::count(
                    "acknowledged writes lost, the master cut off for 20 s",
                    |seed| broken(CUT_OFF, seed, Check::SentinelNoAckLoss),
                ),
                Part::time("two servers that take writes meanwhile", |seed| {
                    two_lead(CUT_OFF, seed)
                }),
                Part::count(
                    "times that an epoch had two leaders, or one that no majority voted for",
                    |seed| {
                        let world = run(CUT_OFF, seed);
                        let checks = [Check::SentinelOneLeader, Check::SentinelMajority];
                        checks
                            .map(|check| world.judges().tally(check).broken)
                            .iter()
                            .sum()
                    },
                ),
                Part::count(
                    "acknowledged writes lost by Raft with a log, its leader cut off for 20 s",
                    |seed| broken(RAFT_CUT_OFF, seed, Check::AcknowledgedSurvives),
                ),
                Part::time("two that lead by Raft meanwhile", |seed| {
                    two_lead(RAFT_CUT_OFF, seed)
                }),
            ],
            judge: |figures| match figures {
                [lost, two, epochs, by_raft, two_by_raft]
                    if epochs.never() && by_raft.never() && two_by_raft.never() =>
                {
                    match (lost.occurred(), two.occurred()) {
                        (true, true) => Verdict::Corrected,
                        (false, false) => Verdict::Holds,
                        _ => Verdict::Open,
                    }
                }
                _ => Verdict::Open,
            },
        },
        Claim {
            name: "sentinel-one-promotion",
            says: "The vote of the sentinels keeps two replicas from being promoted.",
            expected: Verdict::Limited,
            instead: "Where requests and votes name the epoch of the failover. As shipped they name one that all masters share, and two \
                      sentinels may count themselves elected in one epoch of a master (redis#2230).",
            gallery: Some("sentinel-double-promotion"),
            parts: vec![
                Part::count(
                    "times that an epoch of a master had two leaders, as shipped; two masters fail in two halves",
                    |seed| broken(TWO_MASTERS_SHIPPED, seed, Check::SentinelOneLeader),
                ),
                Part::count(
                    "the same where a vote is of the epoch of its failover",
                    |seed| broken(TWO_MASTERS, seed, Check::SentinelOneLeader),
                ),
            ],
            judge: |figures| match figures {
                [_, repaired] if repaired.occurred() => Verdict::Corrected,
                [shipped, repaired] if shipped.occurred() && repaired.never() => Verdict::Limited,
                [shipped, repaired] if shipped.never() && repaired.never() => Verdict::Holds,
                _ => Verdict::Open,
            },
        },
    ]
}
