//! What is particular to ZooKeeper's own election: the round and the vote, the two epochs, and how far it has come.

use super::Machine;
use crate::scheme::particulars::{Fields, Means, Particulars, or_none};
use tenure::log::Position;
use tenure::zab::{Phase, Role};

/// One row a node.
const FIELDS: Fields = &[
    (
        "state",
        Means::Word(&["LOOKING", "FOLLOWING", "LEADING", "OBSERVING"]),
    ),
    (
        "phase",
        Means::Word(&["election", "discovery", "synchronisation", "broadcast"]),
    ),
    ("round", Means::Count),
    ("proposes", Means::Actor),
    ("proposedEpoch", Means::Count),
    ("proposedZxid", Means::Entry),
    ("acceptedEpoch", Means::Count),
    ("currentEpoch", Means::Count),
    ("zxid", Means::Entry),
];

pub(super) fn particulars(machine: &Machine) -> Particulars {
    let vote = machine.vote();
    let proposed = vote.zxid.map_or([-1.0; 2], entry);
    let zxid = entry(machine.last());
    let rows = vec![
        f64::from(machine.role() as u8),
        f64::from(phase(machine)),
        machine.round() as f64,
        vote.leader.0 as f64,
        vote.epoch as f64,
        proposed[0],
        proposed[1],
        or_none(Some(machine.accepted_epoch())),
        or_none(Some(machine.current_epoch())),
        zxid[0],
        zxid[1],
    ];
    Particulars {
        fields: FIELDS,
        rows,
    }
}

/// The phases of ZAB, as both sides go through them.
fn phase(machine: &Machine) -> u8 {
    match (machine.role(), machine.phase()) {
        (Role::Looking, _) => 0,
        (_, Some(Phase::Broadcasting)) => 3,
        (_, Some(Phase::Synchronising)) => 2,
        (_, Some(_)) => 1,
        _ if machine.follows_established() => 3,
        // It was told the epoch.
        _ if machine.epoch().is_some() => 2,
        _ => 1,
    }
}

fn entry(Position { term, index }: Position) -> [f64; 2] {
    [term as f64, index as f64]
}
