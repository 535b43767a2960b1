//! Schedules that begin where the others end: a promoted replica that dies, clocks that jump in mid-failover, masters that share
//! their epochs, files that are written and not heard of.

use super::desk::{Desk, Flight};
use super::plan::{Plan, SEC, server};
use tenure::NodeId;
use tenure::sentinel::{Invariant, MasterName, Message, Stage};

const A: MasterName = MasterName(0);
const S: [NodeId; 4] = [NodeId(0), NodeId(1), NodeId(2), NodeId(3)];

fn at_stage(desk: &Desk, id: NodeId, stage: Stage) -> bool {
    let machine = desk.seats[&id].machine.as_ref();
    let failover = machine.and_then(|machine| machine.master(A)?.failover());
    failover.is_some_and(|(at, _)| at == stage)
}

fn leader_at(desk: &Desk, stage: Stage) -> Option<NodeId> {
    S[1..].iter().copied().find(|id| at_stage(desk, *id, stage))
}

/// SEN-F6: the promoted one dies before the others follow it, and only as many sentinels are left as a majority takes. The one that
/// carried the failover out must hear when they hold the new master to be down, and vote.
#[test]
fn a_promoted_one_that_dies_is_replaced_too() {
    let mut desk = Desk::new(Plan {
        replicas: 3,
        ..Plan::default()
    });
    desk.run_for(12 * SEC);
    desk.crash(server(0, 0));
    let reconf = |desk: &Desk| leader_at(desk, Stage::ReconfReplicas).is_some();
    assert!(desk.run_till(20 * SEC, reconf));
    let leader = leader_at(&desk, Stage::ReconfReplicas).unwrap();
    let promoted = desk.machine(leader).master(A).unwrap().promoted().unwrap();
    // One replica is not reached by the order, so that the failover is not over when another follows already.
    let deaf = (1..=3)
        .map(|place| server(0, place))
        .rfind(|node| *node != promoted);
    desk.gate = Some(Box::new(move |_, flight: &Flight| {
        Some(flight.to) != deaf || !matches!(flight.message, Message::ReplicaOf(_))
    }));
    let done = |desk: &Desk| !desk.told("+slave-reconf-done").is_empty();
    assert!(desk.run_till(20 * SEC, done));
    let gone = S[1..].iter().copied().find(|id| *id != leader).unwrap();
    assert!(at_stage(&desk, leader, Stage::ReconfReplicas));
    desk.crash(gone);
    desk.crash(promoted);
    let other = |desk: &Desk| {
        let left = S[1..].iter().copied().filter(|id| *id != gone);
        left.map(|id| desk.machine(id).leader_of(A).unwrap().node)
            .all(|node| node != promoted && node != server(0, 0))
    };
    assert!(
        desk.run_till(90 * SEC, other),
        "{}",
        Invariant::FailoverCompletes.name()
    );
    assert_eq!(desk.judge.broken(), []);
}
