//! From newly built voters, which have said nothing yet, to a leader that may act and whom the others follow.

use crate::cluster::Cluster;
use crate::cluster::noraft::Noraft;
use crate::cluster::raft_rs::Ready;
use crate::cluster::tenure::Logged;
use crate::counting::allocated;
use crate::race::{Slice, race, timed};
use crate::table::{Better, Line, Target};
use tenure_counts::Group;

/// Groups in a slice: few enough for the caches next to the core.
const GROUPS: usize = 100;

fn elections<C: Cluster>(voters: usize) -> Slice {
    Box::new(move || {
        let mut clusters: Vec<C> = (0..GROUPS).map(|_| C::new(voters)).collect();
        let took = timed(|| clusters.iter_mut().for_each(C::elect));
        assert!(clusters.iter().all(C::led), "{} has no leader", C::NAME);
        took
    })
}

/// Allocations of building a group, among them the driver's own, and of its election.
fn allocations<C: Cluster>(voters: usize) -> [f64; 2] {
    let (mut cluster, built) = allocated(|| C::new(voters));
    let ((), elected) = allocated(|| cluster.elect());
    [built.calls as f64, elected.calls as f64]
}

pub(crate) fn measure(voters: usize) -> Vec<Option<bool>> {
    let best = race([
        elections::<Group>(voters),
        elections::<Logged>(voters),
        elections::<Ready>(voters),
        elections::<Noraft>(voters),
    ]);
    let [own, logged, ready, noraft] = best.map(|took| took / GROUPS as f64 * 1e6);
    let speed = |what: &str, own| {
        Line {
            what: &format!("cold election{what}, {voters} nodes"),
            unit: "us",
            better: Better::Lower,
            own,
            peers: vec![(Ready::NAME, ready), (Noraft::NAME, noraft)],
            target: Some(Target::Best(1.0)),
        }
        .print()
    };
    let speeds = [speed("", own), speed(" with a log", logged)];
    let own = allocations::<Group>(voters);
    let logged = allocations::<Logged>(voters);
    let ready = allocations::<Ready>(voters);
    let noraft = allocations::<Noraft>(voters);
    let memory = |what: &str, own: [f64; 2], at: usize| {
        Line {
            what: &format!("{what}, {voters} nodes"),
            unit: "allocations",
            better: Better::Lower,
            own: own[at],
            peers: vec![(Ready::NAME, ready[at]), (Noraft::NAME, noraft[at])],
            target: None,
        }
        .print()
    };
    let memories = [
        memory("building", own, 0),
        memory("cold election", own, 1),
        memory("cold election with a log", logged, 1),
    ];
    speeds.into_iter().chain(memories).collect()
}
