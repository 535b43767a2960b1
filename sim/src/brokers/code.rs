//! What the kinds of messages and of news are in the events of the trace.

use super::said::Said;
use tenure::isr::Message;

pub(crate) const FETCH_METADATA: i64 = 110;
pub(crate) const METADATA: i64 = 111;
pub(crate) const METADATA_DIVERGES: i64 = 112;
pub(crate) const NO_METADATA: i64 = 113;
pub(crate) const ASK: i64 = 114;
pub(crate) const ANSWER: i64 = 115;
pub(crate) const REPLICA_FETCH: i64 = 116;
pub(crate) const REPLICA_RECORDS: i64 = 117;
pub(crate) const REPLICA_DIVERGING: i64 = 118;
pub(crate) const REPLICA_REFUSED: i64 = 119;
pub(crate) const PRODUCE: i64 = 120;
pub(crate) const PRODUCED: i64 = 121;
pub(crate) const CONSUME: i64 = 122;
pub(crate) const CONSUMED: i64 = 123;
pub(crate) const DESCRIBE: i64 = 124;
pub(crate) const PARTITIONS: i64 = 125;

/// What they are called, from the first on.
#[cfg(not(target_family = "wasm"))]
pub(crate) const NAMES: [&str; 16] = [
    "fetch-metadata",
    "metadata",
    "metadata-diverges",
    "no-metadata",
    "ask-controller",
    "controller-answer",
    "replica-fetch",
    "replica-records",
    "replica-diverging",
    "replica-refused",
    "produce",
    "produced",
    "consume",
    "consumed",
    "describe",
    "partitions",
];

/// What a broker tells of its work: the first code, after those of sentinels.
pub(crate) const FIRST_NEWS: u64 = 40;

/// That it went in good order.
#[cfg(not(target_family = "wasm"))]
pub(crate) const STOPPED: i64 = FIRST_NEWS as i64 + 3;

/// What that is called, by code from the first on.
#[cfg(not(target_family = "wasm"))]
pub(crate) const NEWS: [&str; 10] = [
    "registered",
    "unfenced",
    "fenced",
    "stopped",
    "replaced",
    "leads-partition",
    "follows-partition",
    "leaderless-partition",
    "truncated",
    "isr",
];

impl Said {
    /// The code of a message in the trace.
    #[must_use]
    pub(crate) const fn kind(&self) -> u8 {
        let code = match self {
            Said::FetchMetadata { .. } => FETCH_METADATA,
            Said::Metadata { .. } => METADATA,
            Said::MetadataDiverges { .. } => METADATA_DIVERGES,
            Said::NoMetadata { .. } => NO_METADATA,
            Said::Ask { .. } => ASK,
            Said::Answer { .. } => ANSWER,
            Said::Replica(_, Message::Fetch { .. }) => REPLICA_FETCH,
            Said::Replica(_, Message::Records { .. }) => REPLICA_RECORDS,
            Said::Replica(_, Message::Diverging { .. }) => REPLICA_DIVERGING,
            Said::Replica(_, Message::Refused { .. }) => REPLICA_REFUSED,
            Said::Produce { .. } => PRODUCE,
            Said::Produced { .. } => PRODUCED,
            Said::Consume { .. } => CONSUME,
            Said::Consumed { .. } => CONSUMED,
            Said::Describe { .. } => DESCRIBE,
            Said::Partitions { .. } => PARTITIONS,
        };
        code as u8
    }

    /// The leader epoch, or that of the metadata log, that a message speaks of.
    #[must_use]
    pub(crate) const fn epoch(&self) -> Option<u64> {
        match self {
            Said::FetchMetadata { epoch, .. }
            | Said::Metadata { epoch, .. }
            | Said::MetadataDiverges { epoch, .. }
            | Said::Consume { epoch, .. }
            | Said::Replica(
                _,
                Message::Fetch { epoch, .. }
                | Message::Records { epoch, .. }
                | Message::Diverging { epoch, .. }
                | Message::Refused { epoch, .. },
            ) => Some(*epoch),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_name() {
        assert_eq!(NAMES.len() as i64, PARTITIONS - FETCH_METADATA + 1);
    }
}
