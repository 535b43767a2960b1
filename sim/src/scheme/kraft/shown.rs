//! What is particular to Kafka's controllers: the states of the quorum, the high watermark, and whether a leader has claimed.

use super::Machine;
use crate::scheme::particulars::{Fields, Means, Particulars, or_none};

/// One row a node.
const FIELDS: Fields = &[
    (
        "state",
        Means::Word(&[
            "Unattached",
            "Prospective",
            "Candidate",
            "Leader",
            "Follower",
            "Resigned",
        ]),
    ),
    ("voter", Means::Flag),
    ("voted", Means::Actor),
    ("highWatermark", Means::Count),
    ("logEnd", Means::Count),
    ("epochStart", Means::Count),
    ("active", Means::Flag),
    ("fetched", Means::Flag),
];

pub(super) fn particulars(machine: &Machine) -> Particulars {
    let flag = |flag| f64::from(u8::from(flag));
    let rows = vec![
        f64::from(machine.role() as u8),
        flag(machine.is_voter()),
        or_none(machine.voted().map(|voted| voted.id.0)),
        machine.high_watermark() as f64,
        machine.last().index as f64,
        or_none(machine.epoch_start()),
        flag(machine.active().is_some()),
        flag(machine.has_fetched()),
    ];
    Particulars {
        fields: FIELDS,
        rows,
    }
}
