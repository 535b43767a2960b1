//! Replication, step by step.

mod cluster;

use cluster::Cluster;
use tenure::log::Position;
use tenure::raft::{Entries, Message, Role};
use tenure::{Duration, Input, NodeId};

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

/// RL-7. A leader with nothing to say still finds out that a follower lacks what it once acknowledged, or does not know any
/// more that it has it.
#[test]
fn an_idle_leader_finds_a_match_that_does_not_hold() {
    for keeps in [5, 3, 0] {
        let mut cluster = Cluster::new(3);
        cluster.elect(0);
        let last = cluster.propose(0, 5);
        cluster.run(100);
        assert_eq!(
            cluster.machine(0).progress(NodeId(2)).unwrap().matched,
            last
        );
        cluster.crash(2);
        // As if another log had taken the place of its own since.
        cluster.nodes[2].disk.log.truncate(keeps);
        cluster.start(2);
        cluster.run(200);
        assert_eq!(
            (cluster.commit(2), cluster.terms(2).len() as u64),
            (last, last)
        );
    }
}

/// Nothing comes before the first entry; who refuses that all the same is asked again, and nothing overflows.
#[test]
fn a_refusal_of_the_beginning_does_no_harm() {
    let mut cluster = Cluster::new(3);
    cluster.loses = |_, _, message| matches!(message, Message::Append { .. });
    cluster.input(0, Input::Campaign);
    cluster.until("elected", |cluster| {
        cluster.machine(0).role() == Role::Leader
    });
    let refused = Message::AppendRefused {
        term: 1,
        sent: cluster.clock(),
        promise: Duration::from_millis(150),
        prev: 0,
        hint: Position::START,
    };
    cluster.input(0, Input::Peer(NodeId(1), refused));
    assert_eq!(cluster.machine(0).progress(NodeId(1)).unwrap().next, 1);
}

/// The entries are everywhere, and the leader does not know: it asks with the next heartbeat that is answered.
#[test]
fn an_acknowledgement_that_is_lost_is_asked_for_again() {
    let mut cluster = Cluster::new(3);
    cluster.elect(0);
    cluster.run(10);
    cluster.loses = |_, _, message| matches!(message, Message::AppendAck { .. });
    let index = cluster.propose(0, 3);
    cluster.run(10);
    assert_eq!(cluster.terms(1).len() as u64, index);
    cluster.loses = |_, _, _| false;
    cluster.run(60);
    assert_eq!(cluster.commit(0), index);
    let known = [1, 2].map(|of| cluster.machine(0).progress(NodeId(of)).unwrap().matched);
    assert_eq!(known, [index, index]);
    // Once it knows, it is content.
    cluster.run(20);
    cluster.said.clear();
    cluster.run(200);
    let appends = |said: &&(usize, usize, Message)| matches!(said.2, Message::Append { .. });
    assert_eq!(cluster.said.iter().filter(appends).count(), 0);
}
