//! What is particular to a sentinel: of each master it watches, what it holds of it, its vote and its failover.

use super::{Machine, sentinel};
use crate::scheme::particulars::{Fields, Means, Particulars, or_none};
use tenure::NodeId;
use tenure::sentinel::Master;

/// One row a master.
const FIELDS: Fields = &[
    ("master", Means::Actor),
    ("configEpoch", Means::Count),
    ("opinion", Means::Word(&["up", "sdown", "odown"])),
    ("agree", Means::Count),
    ("quorum", Means::Count),
    ("voteEpoch", Means::Count),
    ("votedFor", Means::Actor),
    (
        "failover",
        Means::Word(&[
            "none",
            "wait-start",
            "select-replica",
            "send-replica-of-no-one",
            "wait-promotion",
            "reconf-replicas",
            "update-config",
        ]),
    ),
    ("failoverEpoch", Means::Count),
    ("promotes", Means::Actor),
    ("votes", Means::Count),
    ("voters", Means::Count),
    ("tilt", Means::Flag),
];

pub(super) fn particulars(machine: &Machine) -> Particulars {
    let masters = machine.masters().iter();
    Particulars {
        fields: FIELDS,
        rows: masters.flat_map(|master| row(machine, master)).collect(),
    }
}

fn row(machine: &Machine, master: &Master) -> [f64; 13] {
    let watching = (machine.config().masters.iter()).find(|watched| watched.name == master.name());
    let failover = master.failover();
    let agree = master.sentinels().iter();
    let agree = agree.filter(|other| other.holds_master_down()).count() + 1;
    let voted = master.leader().and_then(sentinel);
    let actor = |node: Option<NodeId>| or_none(node.map(|node| node.0));
    [
        master.address().0 as f64,
        master.config_epoch() as f64,
        match (master.is_down(), master.is_objectively_down()) {
            (_, true) => 2.0,
            (down, false) => f64::from(u8::from(down)),
        },
        if master.is_down() { agree as f64 } else { 0.0 },
        watching.map_or(-1.0, |watched| watched.quorum as f64),
        master.leader_epoch() as f64,
        or_none(voted.map(|node| node as u64)),
        failover.map_or(0.0, |(stage, _)| f64::from(stage as u8 + 1)),
        or_none(failover.map(|(_, epoch)| epoch)),
        actor(master.promoted()),
        failover.map_or(0, |(_, epoch)| votes(machine, master, epoch)) as f64,
        master.voters() as f64,
        f64::from(u8::from(machine.is_in_tilt())),
    ]
}

/// How many votes of an epoch it has, as far as it was told.
fn votes(machine: &Machine, master: &Master, epoch: u64) -> usize {
    let mine = (machine.id(), epoch);
    let others = master.sentinels().iter();
    let others = others.filter(|other| other.vote() == Some(mine)).count();
    let own = master.leader() == Some(mine.0) && master.leader_epoch() == epoch;
    others + usize::from(own)
}
