//! What a voter of a group of three holds: the machine itself and what it allocated.

use crate::cluster::Cluster;
use crate::cluster::noraft::Noraft;
use crate::cluster::raft_rs::Ready;
use crate::cluster::tenure::Logged;
use crate::counting::allocated;
use crate::raft_rs;
use crate::table::{Better, Line, Target};
use tenure::raft::Raft;
use tenure_counts::Group;

/// Of each library, a voter that has said nothing yet.
fn just_built() -> [f64; 4] {
    [
        last::<Raft>(Group::new(3).into_machines()),
        last::<Raft>(Group::with_log(3).into_machines()),
        last::<raft_rs::Node>(Ready::new(3).into_nodes()),
        last::<::noraft::Node>(Noraft::new(3).into_nodes()),
    ]
}

/// Of each library, a voter that has voted and heard its leader.
fn at_rest() -> [f64; 4] {
    [
        last::<Raft>(settled::<Group>().into_machines()),
        last::<Raft>(settled::<Logged>().0.into_machines()),
        last::<raft_rs::Node>(settled::<Ready>().into_nodes()),
        last::<::noraft::Node>(settled::<Noraft>().into_nodes()),
    ]
}

/// A voter of [`at_rest`] with a log, on a host that is in other groups of the same nodes: they hold the voters together.
fn one_of_many() -> f64 {
    let machines = settled::<Logged>().0.into_machines();
    let other_groups = machines.last().map(|one| one.config().voters.clone());
    let held = last::<Raft>(machines);
    drop(other_groups);
    held
}

fn settled<C: Cluster>() -> C {
    let mut cluster = C::new(3);
    cluster.elect();
    (0..10).for_each(|_| cluster.heartbeat());
    assert!(cluster.led(), "{} has no leader", C::NAME);
    cluster
}

/// What the last of the machines gives back when it goes, and its own size.
fn last<T>(machines: Vec<T>) -> f64 {
    let machine = machines.into_iter().next_back();
    let ((), counted) = allocated(|| drop(machine));
    (-counted.held) as f64 + size_of::<T>() as f64
}

pub(crate) fn measure() -> Vec<Option<bool>> {
    let line = |what, own, [ready, noraft]: [f64; 2], target| {
        Line {
            what,
            unit: "bytes",
            better: Better::Lower,
            own,
            peers: vec![("raft 0.7, MemStorage", ready), (Noraft::NAME, noraft)],
            target,
        }
        .print()
    };
    let most = Some(Target::AtMost(400.0));
    let [own, logged, ready, noraft] = just_built();
    let built = [
        line("a voter just built, of 3", own, [ready, noraft], None),
        line("the same, with a log", logged, [ready, noraft], None),
    ];
    let [own, logged, ready, noraft] = at_rest();
    let rest = [
        line("a follower at rest, of 3", own, [ready, noraft], most),
        line("the same, with a log", logged, [ready, noraft], most),
        line(
            "each of many of the same voters",
            one_of_many(),
            [ready, noraft],
            None,
        ),
    ];
    built.into_iter().chain(rest).collect()
}
