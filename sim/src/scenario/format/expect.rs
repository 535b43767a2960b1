//! What the checks can be expected to say.

use super::Usual::Absent;
use super::{Entry, Kind, entry};
use crate::scenario::names::OUTCOMES;

const EXPECTED: Kind = Kind::Name(&OUTCOMES);

/// By check, in its order: what it says when it holds.
pub(super) static EXPECT: &[Entry] = &[
    entry(
        "one-leader-per-term",
        "At most one node acts as leader of a term.",
        EXPECTED,
        Absent,
    ),
    entry(
        "one-vote-per-term",
        "A node votes for at most one candidate a term.",
        EXPECTED,
        Absent,
    ),
    entry(
        "token-rises",
        "Tokens rise from each tenure to the next.",
        EXPECTED,
        Absent,
    ),
    entry(
        "believed-leaders",
        "Two nodes never believe to lead at once.",
        EXPECTED,
        Absent,
    ),
    entry(
        "stale-write-fenced",
        "The fenced resource takes no stale write.",
        EXPECTED,
        Absent,
    ),
    entry(
        "stale-write-unfenced",
        "The unfenced resource takes no stale write.",
        EXPECTED,
        Absent,
    ),
    entry(
        "leader-again",
        "A leader again once faults are healed.",
        EXPECTED,
        Absent,
    ),
    entry(
        "never-revives",
        "A token that expired or was given up never becomes valid again.",
        EXPECTED,
        Absent,
    ),
    entry(
        "token-holder",
        "Only who was established with a token shows it.",
        EXPECTED,
        Absent,
    ),
    entry(
        "linearizable-fenced",
        "One order explains every answer of the fenced resource.",
        EXPECTED,
        Absent,
    ),
    entry(
        "linearizable-unfenced",
        "One order explains every answer of the unfenced resource.",
        EXPECTED,
        Absent,
    ),
    entry(
        "linearizable-client",
        "One order explains every answer the client got.",
        EXPECTED,
        Absent,
    ),
    entry(
        "jobs-lost",
        "Every job that falls due is done.",
        EXPECTED,
        Absent,
    ),
    entry(
        "jobs-run-twice-fenced",
        "The fenced resource takes the effect of a job once.",
        EXPECTED,
        Absent,
    ),
    entry(
        "jobs-run-twice-unfenced",
        "The unfenced resource takes the effect of a job once.",
        EXPECTED,
        Absent,
    ),
    entry(
        "jobs-concurrent",
        "Two nodes never work at one job at the same instant.",
        EXPECTED,
        Absent,
    ),
    entry(
        "log-matching",
        "Two logs that have an entry of one index and term agree up to it.",
        EXPECTED,
        Absent,
    ),
    entry(
        "leader-completeness",
        "What was committed in an earlier term is in the log of every leader.",
        EXPECTED,
        Absent,
    ),
    entry(
        "state-machine-agreement",
        "All nodes apply the same entries in the same order.",
        EXPECTED,
        Absent,
    ),
    entry(
        "committed-is-durable",
        "What is committed is on the disks of a majority.",
        EXPECTED,
        Absent,
    ),
    entry(
        "acknowledged-survives",
        "What a client of the store was told is done stays done.",
        EXPECTED,
        Absent,
    ),
    entry(
        "terms-burnt",
        "Hardly any term is begun by a node that cannot win it.",
        EXPECTED,
        Absent,
    ),
    entry(
        "linearizable-store",
        "What clients of the store were answered has an order that explains it.",
        EXPECTED,
        Absent,
    ),
    entry(
        "commit-rises",
        "A commit index never falls, and a leader moves it only over an entry of its own term.",
        EXPECTED,
        Absent,
    ),
    entry(
        "local-reads",
        "What is read locally is no older than the bound, while nothing is wrong.",
        EXPECTED,
        Absent,
    ),
    entry(
        "intersecting-quorums",
        "Votes and commits use configurations whose quorums intersect.",
        EXPECTED,
        Absent,
    ),
    entry(
        "watch-complete",
        "Watchers of the store are told every change of their keys, in order, once, and no other.",
        EXPECTED,
        Absent,
    ),
    entry(
        "kz-no-stale-write",
        "ZooKeeper takes no write of a controller whose epoch is not the stored one.",
        EXPECTED,
        Absent,
    ),
    entry(
        "epoch-order",
        "On every disk the accepted epoch is never below the current one, and neither falls.",
        EXPECTED,
        Absent,
    ),
    entry(
        "promise-before-act",
        "Who promised an epoch logs and acknowledges nothing of an earlier one.",
        EXPECTED,
        Absent,
    ),
    entry(
        "local-primary-order",
        "The entries of an epoch are delivered as its leader proposed them.",
        EXPECTED,
        Absent,
    ),
    entry(
        "global-primary-order",
        "No entry is delivered after one of a later epoch.",
        EXPECTED,
        Absent,
    ),
    entry(
        "primary-integrity",
        "A leader proposes when it has delivered all that is delivered of earlier epochs.",
        EXPECTED,
        Absent,
    ),
    entry(
        "ack-means-durable",
        "What a node acknowledges is on its disk, and so is the history of its current epoch.",
        EXPECTED,
        Absent,
    ),
    entry(
        "log-continuity",
        "What is appended to a log follows its last entry.",
        EXPECTED,
        Absent,
    ),
    entry(
        "sen-one-vote",
        "A sentinel votes once an epoch for each master.",
        EXPECTED,
        Absent,
    ),
    entry(
        "sen-epoch-monotone",
        "No epoch in a sentinel's file falls.",
        EXPECTED,
        Absent,
    ),
    entry(
        "sen-one-leader",
        "At most one sentinel is elected for each master and epoch.",
        EXPECTED,
        Absent,
    ),
    entry(
        "sen-config-unique",
        "Two sentinels that hold one config epoch hold one address.",
        EXPECTED,
        Absent,
    ),
    entry(
        "sen-config-monotone",
        "A sentinel's configuration changes only with a higher epoch.",
        EXPECTED,
        Absent,
    ),
    entry(
        "sen-majority",
        "Who promotes a replica has the votes of a majority.",
        EXPECTED,
        Absent,
    ),
    entry(
        "sen-converges",
        "When faults are over, all hold the highest configuration and follow it.",
        EXPECTED,
        Absent,
    ),
    entry(
        "sen-no-minority",
        "Sentinels that reach no majority promote nobody.",
        EXPECTED,
        Absent,
    ),
    entry(
        "sen-no-self-replication",
        "No data server is ordered to replicate itself.",
        EXPECTED,
        Absent,
    ),
    entry(
        "sen-rate-limited",
        "Two failover timeouts lie between two attempts of a sentinel.",
        EXPECTED,
        Absent,
    ),
    entry(
        "sen-best-replica",
        "What is promoted is the best of what could be.",
        EXPECTED,
        Absent,
    ),
    entry(
        "sen-master-stays",
        "A master that can be reached stays the master.",
        EXPECTED,
        Absent,
    ),
    entry(
        "sen-no-ack-loss",
        "Acknowledged writes survive a failover.",
        EXPECTED,
        Absent,
    ),
    entry(
        "sen-single-writable",
        "At most one server takes writes at a time.",
        EXPECTED,
        Absent,
    ),
    entry(
        "pre-vote-quiet",
        "Votes are recorded for those alone that stand.",
        EXPECTED,
        Absent,
    ),
    entry(
        "resigned-no-reuse",
        "Who led a term in a former life leads it no more.",
        EXPECTED,
        Absent,
    ),
    entry(
        "claim-after-catch-up",
        "Who may act in a term has applied an entry of it.",
        EXPECTED,
        Absent,
    ),
    entry(
        "stale-leader-stops",
        "Who was overtaken believes that it leads for as long as the bound at most.",
        EXPECTED,
        Absent,
    ),
    entry(
        "kb-fenced-never-leads",
        "A broker that is fenced or about to go leads nothing, and enters no ISR.",
        EXPECTED,
        Absent,
    ),
    entry(
        "kp-leader-in-isr",
        "Who leads a partition is in its ISR.",
        EXPECTED,
        Absent,
    ),
    entry(
        "kp-elr-disjoint",
        "ISR and ELR of a partition are apart, and of its replicas.",
        EXPECTED,
        Absent,
    ),
    entry(
        "kp-epoch-monotone",
        "The partition epoch rises with every change, and with another leader the leader epoch.",
        EXPECTED,
        Absent,
    ),
    entry(
        "kp-one-leader",
        "At most one broker leads a partition in a leader epoch.",
        EXPECTED,
        Absent,
    ),
    entry(
        "kp-clean-no-loss",
        "Unless an election was unclean or of the last known leader, whoever leads a partition has every record that a leader showed as committed.",
        EXPECTED,
        Absent,
    ),
    entry(
        "kc-no-stale-command",
        "No broker applies metadata that is not committed.",
        EXPECTED,
        Absent,
    ),
    entry(
        "kp-high-watermark",
        "The high watermark of a replica does not fall, and what a consumer has read stays what it was.",
        EXPECTED,
        Absent,
    ),
    entry(
        "kp-log-matching",
        "Two replicas that have a record of one offset and epoch agree up to it, and no two records have one name.",
        EXPECTED,
        Absent,
    ),
    entry(
        "kp-in-sync-again",
        "When all faults are over, every partition soon has a leader, and everybody who keeps it is in sync.",
        EXPECTED,
        Absent,
    ),
    entry(
        "kp-no-ack-loss",
        "What a producer was told is in stays in: broken by design with acks=1, and where an election may be unclean.",
        EXPECTED,
        Absent,
    ),
    entry(
        "sen-failover-completes",
        "A master that is gone is replaced within the bound, while a majority of the sentinels can talk and a good replica can be reached.",
        EXPECTED,
        Absent,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Check;

    #[test]
    fn every_check_can_be_expected() {
        assert!(
            EXPECT
                .iter()
                .map(|entry| entry.name)
                .eq(Check::ALL.map(Check::name))
        );
    }
}
