//! Reads that a quorum confirms, asked at the leader of three, one at a time and 64 before anything is sent. `raft` sends a
//! round for each.

use crate::cluster::raft_rs::Ready;
use crate::cluster::tenure::Logged;
use crate::cluster::{Cluster, Read};
use crate::counting::allocated;
use crate::race::{Slice, race, timed};
use crate::table::{Better, Line, Target};

const READS: u32 = 1_024;

fn warm<C: Read>(batch: u32) -> C {
    let mut cluster = C::replicating(3);
    cluster.elect();
    (0..100).for_each(|_| ask(&mut cluster, batch));
    assert!(cluster.led(), "{} has no leader", C::NAME);
    cluster
}

fn ask<C: Read>(cluster: &mut C, batch: u32) {
    assert_eq!(cluster.read(batch), u64::from(batch), "{}", C::NAME);
}

fn reads<C: Read + 'static>(batch: u32) -> Slice {
    let mut cluster: C = warm(batch);
    Box::new(move || timed(|| (0..READS / batch).for_each(|_| ask(&mut cluster, batch))))
}

/// Allocations a read.
fn allocations<C: Read>(batch: u32) -> f64 {
    let mut cluster: C = warm(batch);
    let ((), counted) = allocated(|| (0..1_000).for_each(|_| ask(&mut cluster, batch)));
    counted.calls as f64 / 1_000.0 / f64::from(batch)
}

pub(crate) fn measure(batch: u32) -> Vec<Option<bool>> {
    let best = race([reads::<Logged>(batch), reads::<Ready>(batch)]);
    let [own, ready] = best.map(|took| f64::from(READS) / took / 1e6);
    let speed = Line {
        what: &format!("confirmed reads, {batch} at a time"),
        unit: "M/s",
        better: Better::Higher,
        own,
        peers: vec![(Ready::NAME, ready)],
        target: None,
    };
    let memory = Line {
        what: &format!("a read of {batch} at a time"),
        unit: "allocations",
        better: Better::Lower,
        own: allocations::<Logged>(batch),
        peers: vec![(Ready::NAME, allocations::<Ready>(batch))],
        target: Some(Target::AtMost(0.0)),
    };
    vec![speed.print(), memory.print()]
}
