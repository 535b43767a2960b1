//! A round of heartbeats and the answers to it, among three.

use crate::cluster::Cluster;
use crate::cluster::noraft::Noraft;
use crate::cluster::raft_rs::{Bare, Ready};
use crate::cluster::tenure::Logged;
use crate::counting::allocated;
use crate::race::{Slice, race, timed};
use crate::table::{Better, Line, Target};
use tenure_counts::Group;

const ROUNDS: u64 = 2_000;
/// Two followers, each asked and answering.
const MESSAGES: u64 = 4;

/// Established, with every buffer as large as it gets.
fn warm<C: Cluster>() -> C {
    let mut cluster = C::new(3);
    cluster.elect();
    (0..100).for_each(|_| cluster.heartbeat());
    assert!(cluster.led(), "{} has no leader", C::NAME);
    cluster
}

fn rounds<C: Cluster + 'static>() -> Slice {
    let mut cluster: C = warm();
    Box::new(move || {
        let before = cluster.delivered();
        let took = timed(|| (0..ROUNDS).for_each(|_| cluster.heartbeat()));
        assert_eq!(cluster.delivered() - before, ROUNDS * MESSAGES);
        took
    })
}

/// Allocations of a thousand rounds.
fn allocations<C: Cluster>() -> f64 {
    let mut cluster: C = warm();
    let ((), counted) = allocated(|| (0..1_000).for_each(|_| cluster.heartbeat()));
    counted.calls as f64 / 1_000.0
}

pub(crate) fn measure() -> Vec<Option<bool>> {
    let best = race([
        rounds::<Group>(),
        rounds::<Logged>(),
        rounds::<Ready>(),
        rounds::<Bare>(),
        rounds::<Noraft>(),
    ]);
    let [own, logged, ready, bare, noraft] =
        best.map(|took| (ROUNDS * MESSAGES) as f64 / took / 1e6);
    let speed = |what, own| {
        Line {
            what,
            unit: "M msg/s",
            better: Better::Higher,
            own,
            peers: vec![
                (Ready::NAME, ready),
                (Bare::NAME, bare),
                (Noraft::NAME, noraft),
            ],
            target: Some(Target::Best(1.0)),
        }
        .print()
    };
    let memory = Line {
        what: "heartbeat round, with a log or without",
        unit: "allocations",
        better: Better::Lower,
        own: allocations::<Group>().max(allocations::<Logged>()),
        peers: vec![
            (Ready::NAME, allocations::<Ready>()),
            (Bare::NAME, allocations::<Bare>()),
            (Noraft::NAME, allocations::<Noraft>()),
        ],
        target: Some(Target::AtMost(0.0)),
    };
    vec![
        speed("heartbeat and reply, 3 nodes", own),
        speed("the same, with a log", logged),
        memory.print(),
    ]
}
