//! Replication, step by step.

mod cluster;

use cluster::Cluster;
use tenure::raft::{Entries, Message};

#[test]
fn an_entry_is_committed_everywhere_at_once() {
    let mut cluster = Cluster::new(3);
    cluster.elect(0);
    let begun = cluster.now;
    let index = cluster.propose(0, 1);
    cluster.until("committed everywhere", |cluster| {
        (0..3).all(|place| cluster.commit(place) == index)
    });
    // There and back, and the news: nobody waits for a heartbeat.
    assert_eq!(cluster.now - begun, 3_000);
    assert_eq!(cluster.terms(2), [1, 1]);
    cluster.assert_agreement();
}

#[test]
fn what_waits_travels_in_one_message() {
    let mut cluster = Cluster::new(3);
    cluster.elect(0);
    cluster.run(20);
    cluster.said.clear();
    let writes = cluster.with(0, |machine, now| {
        for _ in 0..64 {
            machine.propose(now, 1).unwrap();
        }
        machine.pending()
    });
    assert_eq!(writes, 1);
    let counts: Vec<_> = cluster
        .said
        .iter()
        .filter_map(|(_, to, message)| match message {
            Message::Append {
                entries: Entries::Run { count, .. },
                ..
            } => Some((*to, *count)),
            _ => None,
        })
        .collect();
    assert_eq!(counts, [(1, 64), (2, 64)]);
}
