//! Entries of 16 bytes among three, one at a time and 64 together, until all disks have them and they are committed. Tenure
//! and `raft` tell the followers so at once, which is one more message to each; `noraft` lets the next entry tell it, or a
//! round of heartbeats. `raft` carries its payloads itself, beside the two others the driver does.

use crate::cluster::noraft::Noraft;
use crate::cluster::raft_rs::Ready;
use crate::cluster::tenure::Logged;
use crate::cluster::{Cluster, Replicated};
use crate::counting::allocated;
use crate::race::{Slice, race, timed};
use crate::table::{Better, Line, Target};

const ASKED: Target = Target::Each(&[("noraft", 1.0), ("raft", 6.0)]);

/// A group, its leader established and every buffer as large as it gets, and what its clients do with it.
struct Work<C> {
    cluster: C,
    batch: u32,
    replicate: fn(&mut C, u32),
}

impl<C: Replicated + 'static> Work<C> {
    fn new(mut cluster: C, batch: u32, replicate: fn(&mut C, u32)) -> Self {
        cluster.elect();
        (0..100).for_each(|_| replicate(&mut cluster, batch));
        // With it the followers of each have heard what is committed.
        cluster.heartbeat();
        assert!(cluster.led(), "{} has no leader", C::NAME);
        Self {
            cluster,
            batch,
            replicate,
        }
    }

    /// So many times a batch; how many entries were committed.
    fn times(&mut self, times: u32) -> u64 {
        let before = self.cluster.committed();
        (0..times).for_each(|_| (self.replicate)(&mut self.cluster, self.batch));
        self.cluster.committed() - before
    }

    fn slice(mut self, entries: u32) -> Slice {
        Box::new(move || {
            self.cluster.compact();
            let mut committed = 0;
            let took = timed(|| committed = self.times(entries / self.batch));
            assert_eq!(committed, u64::from(entries), "{}", C::NAME);
            took
        })
    }

    /// Allocations an entry.
    fn allocations(mut self) -> f64 {
        let (entries, counted) = allocated(|| self.times(1_000));
        counted.calls as f64 / entries as f64
    }
}

fn own(batch: u32) -> Work<Logged> {
    Work::new(Logged::replicating(3), batch, Logged::replicate)
}

/// By a host that proposes what its clients bring with one call.
fn gathered(batch: u32) -> Work<Logged> {
    let gathered = |group: &mut Logged, entries| group.0.replicate_gathered(entries);
    Work::new(Logged::replicating(3), batch, gathered)
}

fn ready(batch: u32) -> Work<Ready> {
    Work::new(Ready::replicating(3), batch, Ready::replicate)
}

fn batched(batch: u32) -> Work<Ready> {
    Work::new(Ready::replicating(3).batched(), batch, Ready::replicate)
}

fn noraft(batch: u32) -> Work<Noraft> {
    Work::new(Noraft::replicating(3), batch, Noraft::replicate)
}

/// A round of heartbeats after each batch tells the followers what is committed.
fn told(batch: u32) -> Work<Noraft> {
    let told = |cluster: &mut Noraft, entries| {
        cluster.replicate(entries);
        cluster.heartbeat();
    };
    Work::new(Noraft::replicating(3), batch, told)
}

pub(crate) fn measure(batch: u32) -> Vec<Option<bool>> {
    // About a millisecond of the fastest.
    let entries = if batch == 1 { 2_048 } else { 8_192 };
    let best = race([
        own(batch).slice(entries),
        gathered(batch).slice(entries),
        ready(batch).slice(entries),
        batched(batch).slice(entries),
        noraft(batch).slice(entries),
        told(batch).slice(entries),
    ]);
    let peers = |[ready, batched, noraft]: [f64; 3]| {
        vec![
            ("raft 0.7, Ready", ready),
            ("raft 0.7, batch_append", batched),
            ("noraft 0.4, commit later", noraft),
        ]
    };
    let [one, all, ready_, batched_, noraft_, told] =
        best.map(|took| f64::from(entries) / took / 1e6);
    let speed = |what: &str, own, peers, target| {
        Line {
            what: &format!("{what}, batch {batch}"),
            unit: "M entries/s",
            better: Better::Higher,
            own,
            peers,
            target,
        }
        .print()
    };
    let all_peers = || peers([ready_, batched_, noraft_]);
    let at_once = vec![("noraft 0.4, told at once", told)];
    let mut verdicts = vec![
        speed("replicate 16 bytes", one, all_peers(), Some(ASKED)),
        speed("until all know it", one, at_once, None),
    ];
    if batch > 1 {
        verdicts.push(speed("proposed with one call", all, all_peers(), None));
    }
    let memory = Line {
        what: &format!("an entry of batch {batch}"),
        unit: "allocations",
        better: Better::Lower,
        own: own(batch).allocations(),
        peers: peers([
            ready(batch).allocations(),
            batched(batch).allocations(),
            noraft(batch).allocations(),
        ]),
        target: Some(Target::AtMost(0.0)),
    };
    verdicts.push(memory.print());
    verdicts
}
