//! Replication, step by step.

mod cluster;

use cluster::Cluster;
use std::collections::BTreeSet;
use tenure::log::Position;
use tenure::raft::{Carries, Entries, Message, ProposeError, Replication, Role, Rule};
use tenure::random::Random;
use tenure::{Duration, Election, Input, NodeId};

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

/// The position of the first of no entries would name one that does not exist.
#[test]
fn nothing_is_not_proposed() {
    let mut cluster = Cluster::new(1);
    cluster.elect(0);
    let index = cluster.propose(0, 1);
    let refused = cluster.with(0, |machine, now| (machine.propose(now, 0), machine.last()));
    assert_eq!(
        refused,
        (Err(ProposeError::NoEntries), Position::new(1, index))
    );
}

/// What a host has no payload for is told by the names alone, also where a log is sent from the middle of a term.
#[test]
fn an_entry_that_nobody_proposed_is_told_from_the_others() {
    let mut cluster = Cluster::new(3);
    let mut named = BTreeSet::new();
    for (leader, count) in [(0, 5), (1, 1), (2, 7)] {
        cluster.elect(leader);
        let last = cluster.propose(leader, count);
        let term = cluster.with(leader, |machine, _| machine.term());
        named.extend((last + 1 - u64::from(count)..=last).map(|index| (term, index)));
        cluster.run(100);
        cluster.with(leader, |machine, now| {
            machine.handle(now, Input::Resign { to: None });
        });
    }
    let mut carried = BTreeSet::new();
    for (_, _, message) in &cluster.said {
        let Some(Carries::Entries { after, entries }) = message.carries() else {
            continue;
        };
        for nth in 1..=entries.count() {
            let name = (entries.term(), after.index + nth);
            assert_eq!(
                nth > entries.own(after),
                named.contains(&name),
                "{message:?}"
            );
            carried.insert(name);
        }
    }
    assert!(named.is_subset(&carried) && carried.len() == named.len() + 3);
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

/// Figure 8 of the Raft paper. Node 0 leads and brings its second entry to node 1 alone; node 4 leads in term 2 and keeps its
/// entry to itself; node 0 leads again and brings the old entry to all the others, but none of the new term; node 4
/// is elected once more. Answers what node 0 took for committed, and the term of the second entry in the end.
fn figure_8(off: &[Rule]) -> (u64, u64) {
    let mut cluster = Cluster::without(5, off);
    for node in &mut cluster.nodes {
        node.config.safe_mode = false;
        // The entry of the own term does not travel with the old one.
        node.config.replication = Some(Replication {
            batch: 1,
            window: 16,
        });
    }
    let mut cluster = cluster.seeded(1);
    let leads =
        |place: usize| move |cluster: &Cluster<_>| cluster.machine(place).role() == Role::Leader;

    cluster.elect(0);
    cluster.run(10);
    cluster.loses = |_, to, message| matches!(message, Message::Append { .. }) && to != 1;
    assert_eq!(cluster.propose(0, 1), 2);
    cluster.run(5);
    cluster.crash(0);

    cluster.loses =
        |from, to, message| from == 1 || to == 1 || matches!(message, Message::Append { .. });
    cluster.input(4, Input::Campaign);
    cluster.until("node 4 leads", leads(4));
    cluster.run(5);
    assert_eq!(cluster.terms(4), [1, 2]);
    cluster.crash(4);

    cluster.start(0);
    cluster.loses = |_, to, message| matches!(message, Message::Append { .. }) && to == 1;
    // In term 2 node 4 has the votes.
    cluster.input(0, Input::Campaign);
    cluster.run(3);
    cluster.restart(0);
    cluster.input(0, Input::Campaign);
    cluster.until("node 0 leads", leads(0));
    // There, back as refused, there again; what follows the acknowledgement is lost.
    cluster.run(3);
    cluster.loses =
        |_, _, message| matches!(message, Message::Append { .. } | Message::Commit { .. });
    cluster.run(10);
    assert_eq!(cluster.terms(0), [1, 1, 3]);
    for place in 1..4 {
        assert_eq!(cluster.terms(place), [1, 1]);
    }
    let committed = cluster.commit(0);
    cluster.crash(0);

    cluster.loses = |_, _, _| false;
    cluster.isolate(1);
    cluster.start(4);
    cluster.input(4, Input::Campaign);
    cluster.until("node 4 leads again", leads(4));
    cluster.run(50);
    (committed, cluster.terms(2)[1])
}

#[test]
fn an_entry_of_an_older_term_may_still_be_replaced() {
    assert_eq!(figure_8(&[]), (0, 2));
    // Two leaders, two entries committed at one index.
    assert_eq!(figure_8(&[Rule::CommitOwnTerm]), (2, 2));
}

/// An append that is lost is repaired by the heartbeat that is answered next, and by nothing before it.
#[test]
fn a_lost_append_is_repaired_by_the_next_heartbeat() {
    let mut cluster = Cluster::new(3);
    cluster.elect(0);
    cluster.run(60);
    cluster.loses = |_, to, message| to == 2 && matches!(message, Message::Append { .. });
    let index = cluster.propose(0, 3);
    cluster.run(1);
    cluster.loses = |_, _, _| false;
    cluster.said.clear();
    cluster.until("repaired", |cluster| cluster.commit(2) == index);
    let to_2: Vec<&Message> = cluster
        .said
        .iter()
        .filter(|(_, to, _)| *to == 2)
        .map(|(_, _, message)| message)
        .collect();
    assert!(
        matches!(
            to_2[..],
            [
                Message::Commit { .. },
                Message::Heartbeat { .. },
                Message::Append {
                    entries: Entries::Run { count: 3, .. },
                    ..
                },
                ..
            ]
        ),
        "{to_2:?}"
    );
}

/// Whatever was lost, in either direction, and nothing said since: as soon as messages arrive again, everybody has everything
/// after a heartbeat and its answer, the entries and theirs, and the news that they are committed.
#[test]
fn an_idle_group_recovers_what_was_lost_with_one_heartbeat() {
    const DISK: u64 = 3_000;
    let (mut longest, mut recovered) = (0, 0);
    for seed in 0..2_000 {
        let mut random = Random::from_seed(seed);
        let mut cluster = Cluster::new(3).seeded(seed);
        cluster.elect(0);
        cluster.run(100 + random.below(50));
        for node in &mut cluster.nodes {
            node.write_takes = [0, DISK][random.below(2) as usize];
        }
        let loss = [100, 300, 700, 1_000][random.below(4) as usize];
        let beats_too = random.below(2) == 0;
        for _ in 0..random.below(100) {
            if random.below(10) == 0 {
                cluster.propose(0, 1 + random.below(3) as u32);
            }
            let is_beat = |message: &Message| {
                matches!(
                    message,
                    Message::Heartbeat { .. } | Message::HeartbeatAck { .. }
                )
            };
            cluster.flights.retain(|flight| {
                (is_beat(&flight.message) && !beats_too) || random.below(1_000) >= loss
            });
            cluster.run(1);
        }
        let (begun, last) = (cluster.now, cluster.machine(0).last().index);
        let led = |cluster: &Cluster| cluster.leading() == [0];
        cluster.until("everybody has everything", |cluster| {
            !led(cluster) || (0..3).all(|place| cluster.commit(place) == last)
        });
        // With too many heartbeats lost the lease lapses, and what becomes of the entries is another story.
        if !led(&cluster) {
            continue;
        }
        recovered += 1;
        longest = longest.max(cluster.now - begun);
    }
    let heartbeat = 50_000;
    assert!(longest <= heartbeat + 5_000 + DISK, "{longest}");
    assert!(
        longest > heartbeat && recovered > 1_000,
        "{longest} {recovered}"
    );
}

/// A follower that was away needs what is compacted away: it is told from where, installs it, and goes on with the entries
/// that were proposed meanwhile.
#[test]
fn a_snapshot_is_caught_up_with_while_entries_continue() {
    let mut cluster = Cluster::new(3);
    cluster.elect(0);
    cluster.run(10);
    cluster.isolate(2);
    let upto = cluster.propose(0, 20);
    cluster.run(50);
    cluster
        .with(0, |machine, now| machine.compact(now, upto))
        .unwrap();
    cluster.propose(0, 3);
    cluster.run(10);
    cluster.heal();
    cluster.said.clear();
    // A proposal every millisecond, a slow disk where the snapshot is installed.
    cluster.nodes[2].write_takes = 10_000;
    for _ in 0..200 {
        cluster.propose(0, 1);
        cluster.run(1);
    }
    cluster.run(100);
    let end = cluster.machine(0).last().index;
    assert_eq!(
        (0..3)
            .map(|place| cluster.commit(place))
            .collect::<Vec<_>>(),
        [end; 3]
    );
    let snapshots = cluster
        .said
        .iter()
        .filter(|(_, _, message)| matches!(message, Message::InstallSnapshot { last, .. } if last.index == upto));
    assert_eq!(snapshots.count(), 1);
    assert_eq!(cluster.machine(2).log().base().index, upto);
    assert_eq!(cluster.nodes[2].disk.log, *cluster.machine(2).log());
    assert_eq!(cluster.leading(), [0]);
    cluster.assert_agreement();
}

/// A cluster led by node 0 in which node 2 was away, and the first ten entries are compacted away; the snapshot is on its way
/// to node 2.
fn snapshot_under_way() -> Cluster {
    let mut cluster = Cluster::new(3);
    cluster.elect(0);
    cluster.run(10);
    cluster.isolate(2);
    cluster.propose(0, 20);
    cluster.run(50);
    let compacted = cluster.with(0, |machine, now| machine.compact(now, 10));
    assert_eq!(compacted.unwrap().index, 10);
    cluster.heal();
    cluster.said.clear();
    cluster.until("it is offered", |cluster| snapshots_to_2(cluster) == [10]);
    cluster
}

/// Where the snapshots end that node 2 was offered.
fn snapshots_to_2(cluster: &Cluster) -> Vec<u64> {
    let ends = |said: &(usize, usize, Message)| match said {
        (_, 2, Message::InstallSnapshot { last, .. }) => Some(last.index),
        _ => None,
    };
    cluster.said.iter().filter_map(ends).collect()
}

/// The leader compacts further while a follower installs: what the follower has then is not enough, and it is offered the
/// newer snapshot as soon as it says so.
#[test]
fn a_snapshot_that_was_overtaken_is_followed_by_a_newer_one_at_once() {
    let mut cluster = snapshot_under_way();
    cluster.nodes[2].write_takes = 10_000;
    let begun = cluster.now;
    cluster.run(5);
    let compacted = cluster.with(0, |machine, now| machine.compact(now, 20));
    assert_eq!(compacted.unwrap().index, 20);
    let last = cluster.machine(0).last().index;
    cluster.until("it has all", |cluster| cluster.commit(2) == last);
    assert_eq!(snapshots_to_2(&cluster), [10, 20]);
    // Twice there and back and the disk between, and there with the rest.
    assert_eq!(cluster.now - begun, 2 * (2_000 + 10_000) + 1_000);
}

/// The snapshot is there and the leader does not hear of it: the next heartbeat's answer tells, and it is not sent again.
#[test]
fn a_snapshot_whose_acknowledgement_is_lost_is_not_sent_again() {
    let mut cluster = snapshot_under_way();
    cluster.loses = |_, _, message| matches!(message, Message::AppendAck { .. });
    let begun = cluster.now;
    cluster.run(5);
    cluster.loses = |_, _, _| false;
    let last = cluster.machine(0).last().index;
    cluster.until("it has all", |cluster| cluster.commit(2) == last);
    assert_eq!(snapshots_to_2(&cluster), [10]);
    assert!(cluster.now - begun <= 55_000, "{}", cluster.now - begun);
}

/// Everybody goes down at once. The disks hold all that was acknowledged; what is committed is known again with the first
/// entry of a new term.
#[test]
fn a_group_restarts_from_its_disks() {
    let mut cluster = Cluster::new(3);
    cluster.elect(0);
    let index = cluster.propose(0, 5);
    cluster.run(50);
    cluster
        .with(1, |machine, now| machine.compact(now, 3))
        .unwrap();
    // These are on no disk but the leader's.
    cluster.nodes[1].write_takes = u64::MAX;
    cluster.nodes[2].write_takes = u64::MAX;
    cluster.propose(0, 2);
    cluster.run(2);
    assert_eq!(cluster.commit(0), index);
    for place in 0..3 {
        cluster.crash(place);
    }
    for place in 0..3 {
        cluster.nodes[place].write_takes = 0;
        cluster.start(place);
    }
    let known = |cluster: &Cluster| {
        (0..3)
            .map(|place| cluster.commit(place))
            .collect::<Vec<_>>()
    };
    assert_eq!(known(&cluster), [0, 3, 0]);
    assert_eq!(cluster.machine(0).last().index, index + 2);
    assert_eq!(cluster.machine(2).last().index, index);
    cluster.until("somebody leads", |cluster| !cluster.leading().is_empty());
    cluster.run(60);
    let end = cluster.machine(0).last().index;
    assert!(end > index);
    assert_eq!(known(&cluster), [end; 3]);
    cluster.assert_agreement();
}
