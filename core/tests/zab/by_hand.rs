//! Small ensembles, step by step.

use super::desk::{Desk, QUICK};
use super::reports::{told, vote};
use tenure::log::Position;
use tenure::zab::{
    CompactError, Ensemble, Faithful, Message, Packet, Phase, ProposeError, Refusal, Request, Role,
    State, SyncError, Timing,
};
use tenure::{Election, Event, Input, NodeId, Standing};

#[test]
fn the_highest_id_of_equals_leads() {
    let mut desk = Desk::voters(3, Faithful);
    desk.start_all();
    let took = desk.run_whole(1_000);
    assert_eq!(desk.judge.broken, None);
    assert!(took.is_some_and(|took| took < 100), "{took:?}");
    assert_eq!(desk.leader(), Some(2));
    let leading = desk.machine(2);
    assert_eq!(
        (leading.phase(), leading.epoch()),
        (Some(Phase::Broadcasting), Some(1))
    );
    assert!(matches!(
        leading.standing(desk.clock()),
        Standing::Leading(_)
    ));
    assert_eq!(desk.role(0), Some(Role::Following));
    assert_eq!(desk.machine(0).leader(), Some(NodeId(2)));
    desk.propose(2, 3);
    assert!(desk.run_till(100, Desk::is_even));
    assert_eq!(desk.machine(0).committed(), 3);
}

/// ZAB-D2: the epoch is above all that was promised, not only as high; else who promised it would not count, and the leader
/// would wait in vain.
#[test]
fn an_epoch_is_above_what_was_promised() {
    let mut desk = Desk::voters(3, Faithful);
    desk.give(0, 5, 1, &[(1, 3)]);
    desk.give(2, 1, 1, &[(1, 3)]);
    desk.start(0);
    desk.start(2);
    let took = desk.run_whole(2_000);
    assert!(took.is_some_and(|took| took < 100), "{took:?}");
    assert_eq!((desk.leader(), desk.machine(2).epoch()), (Some(2), Some(6)));
    assert_eq!(desk.judge.broken, None);
}

/// ZAB-D6: a leader counts itself, and tells anybody of its history, when its disk says which epoch that is the history of.
/// Otherwise it could be back with an older epoch and the history that was acknowledged, and lose to one with a later epoch that
/// was never established.
#[test]
fn a_leader_is_elected_when_its_current_epoch_is_durable() {
    let mut desk = Desk::voters(3, Faithful);
    for place in 0..3 {
        desk.give(place, 1, 1, &[(1, 3)]);
    }
    desk.nodes[2].stop_before = Some(|request| matches!(request, Request::Current(_)));
    desk.start_all();
    desk.run(200);
    assert_eq!(desk.machine(2).phase(), Some(Phase::Recording));
    let told = |desk: &Desk<Faithful>| desk.judge.marks.contains_key("diff");
    let elected = |event: &Event| matches!(event, Event::Elected(_));
    assert!(!told(&desk) && !desk.nodes[2].events.iter().any(elected));
    desk.nodes[2].stop_before = None;
    assert!(desk.run_whole(500).is_some());
    assert!(told(&desk) && desk.nodes[2].events.iter().any(elected));
    assert_eq!(desk.judge.broken, None);
}

/// The sample configuration: a leader's process is killed, and its peers are told by their connections.
#[test]
fn a_killed_leader_is_replaced_in_half_a_second() {
    let ensemble = Ensemble::majority((0..3).map(NodeId)).unwrap();
    let mut desk = Desk::new(ensemble, Timing::zookeeper(), Faithful, 5);
    desk.start_all();
    let first = desk.run_whole(2_000).expect("somebody leads");
    desk.propose(2, 1);
    assert!(desk.run_till(100, Desk::is_even));
    desk.crash(2, 1);
    let killed = desk.run_whole(2_000).expect("somebody else leads");
    assert_eq!(desk.leader(), Some(1));
    // It comes back and joins, and disturbs nobody.
    desk.start(2);
    let joined = desk.run_whole(2_000).expect("it joins");
    assert_eq!((desk.leader(), desk.machine(1).epoch()), (Some(1), Some(2)));
    println!("led after {first} ms, replaced after {killed} ms, joined after {joined} ms");
    assert!((200..400).contains(&first) && (200..400).contains(&killed));
    assert!(joined < 100, "it need not wait");
    assert_eq!(desk.judge.broken, None);
}

/// The same when nobody is told: the limit passes first, and the old leader believes for no longer.
#[test]
fn a_leader_that_is_cut_off_is_replaced_after_the_limit() {
    let ensemble = Ensemble::majority((0..3).map(NodeId)).unwrap();
    let mut desk = Desk::new(ensemble, Timing::zookeeper(), Faithful, 5);
    desk.start_all();
    assert!(desk.run_whole(2_000).is_some());
    desk.run(3_700);
    let began = desk.now;
    for other in [0, 1] {
        desk.cuts[2][other] = u64::MAX;
        desk.cuts[other][2] = u64::MAX;
    }
    let leads = |desk: &Desk<Faithful>, place: usize| {
        matches!(
            desk.machine(place).standing(desk.clock()),
            Standing::Leading(_)
        )
    };
    assert!(desk.run_till(30_000, |desk| leads(desk, 1)));
    let replaced = (desk.now - began) / 1_000;
    let both = leads(&desk, 2);
    assert!(desk.run_till(30_000, |desk| !leads(desk, 2)));
    let stopped = (desk.now - began) / 1_000;
    println!("replaced after {replaced} ms, stopped after {stopped} ms, both at once: {both}");
    assert!((8_000..12_000).contains(&replaced) && (8_000..13_000).contains(&stopped));
    assert_eq!(desk.judge.broken, None);
}

#[test]
fn observers_deliver_and_do_not_count() {
    let ensemble = Ensemble::majority((0..3).map(NodeId)).unwrap();
    let ensemble = ensemble.observed_by([NodeId(7), NodeId(8)]).unwrap();
    let mut desk = Desk::new(ensemble, QUICK, Faithful, 5);
    desk.start_all();
    assert!(desk.run_whole(1_000).is_some());
    assert_eq!(
        (desk.role(3), desk.role(4)),
        (Some(Role::Observing), Some(Role::Observing))
    );
    desk.propose(2, 4);
    assert!(desk.run_till(100, Desk::is_even));
    // What is not committed is not told to them.
    desk.cut(2, 0, u64::MAX);
    desk.cut(2, 1, u64::MAX);
    desk.propose(2, 1);
    desk.run(100);
    assert_eq!(desk.machine(3).last().index, 4);
    assert!(desk.sync(3).is_some(), "it still follows");
    desk.join_all();
    assert!(desk.run_whole(3_000).is_some());
    assert_eq!(desk.judge.broken, None);
}

/// Two groups of two and one of one, by weight: whoever has two groups decides.
#[test]
fn weights_decide_by_group() {
    let weighted = [(0, 0, 1), (1, 0, 3), (2, 1, 1), (3, 1, 0), (4, 2, 1)];
    let weighted = weighted.map(|(id, group, weight)| (NodeId(id), group, weight));
    let ensemble = Ensemble::hierarchical(weighted).unwrap();
    let mut desk = Desk::new(ensemble, QUICK, Faithful, 5);
    desk.start(1);
    desk.start(3);
    desk.run(500);
    assert_eq!(desk.leader(), None, "one group, and nothing of another");
    desk.start(2);
    assert!(desk.run_whole(4_000).is_some());
    assert_eq!(desk.leader(), Some(2), "3 has no weight, and never leads");
    desk.propose(2, 1);
    assert!(desk.run_till(100, Desk::is_even));
    // Three voters of five, and one group.
    desk.start(0);
    desk.start(4);
    desk.run(500);
    desk.crash(1, 9);
    desk.crash(2, 9);
    desk.run(2_000);
    assert_eq!((desk.leader(), desk.judge.broken.clone()), (None, None));
}

/// A read of a follower's own state may be stale, after a sync it is not; and of a leader that is gone nothing is told.
#[test]
fn reads_are_stale_without_a_sync() {
    let mut desk = Desk::voters(3, Faithful);
    desk.start_all();
    assert!(desk.run_whole(500).is_some());
    assert!(desk.run_till(50, |desk| desk.is_even()));
    desk.hold(2, 0);
    desk.propose(2, 1);
    desk.run(20);
    assert_eq!(
        (desk.machine(2).committed(), desk.machine(0).committed()),
        (1, 0)
    );
    assert_eq!(desk.sync(0), Some(1));
    desk.run(50);
    assert!(
        !desk.nodes[0].asked.is_empty(),
        "it waits for what it lacks"
    );
    desk.release(2, 0);
    assert!(desk.run_till(50, |desk| desk.nodes[0].asked.is_empty()));
    assert_eq!(desk.machine(0).committed(), 1);
    assert_eq!(desk.judge.marks["ZK-FreshSync"], 1);
    let now = desk.clock();
    desk.hold(2, 0);
    assert_eq!(desk.act(0, |machine| machine.sync(now)), Some(Ok(2)));
    desk.crash(2, 1);
    desk.nodes[0].asked.insert(2, u64::MAX);
    desk.run(20);
    assert!(desk.nodes[0].asked.is_empty(), "told that it is lost");
    let now = desk.clock();
    assert_eq!(
        desk.act(0, |machine| machine.sync(now)),
        Some(Err(SyncError::NoLeader))
    );
    assert_eq!(desk.judge.broken, None);
}

/// A whole old connection is played again to a leader that begins anew: it finds a learner there, and none of its promises counts.
#[test]
fn an_old_connection_counts_for_nothing() {
    let mut desk = Desk::voters(3, Faithful);
    desk.hold(0, 2);
    desk.start(0);
    desk.start(2);
    let mut said = Vec::new();
    for _ in 0..100 {
        desk.run(1);
        said.extend_from_slice(desk.held(0, 2));
        desk.pass(0, 2, desk.held(0, 2).len());
    }
    assert!(desk.is_whole());
    desk.crash(0, 0);
    desk.crash(2, 0);
    desk.start(2);
    // What 0 says of its vote is of today; then it dies again, which nobody notices, and the rest is old.
    desk.hold(2, 0);
    told(&mut desk, 2, 0, State::Looking, 1, vote(2, 0, 1));
    assert!(desk.run_till(50, |desk| desk.role(2) == Some(Role::Leading)));
    let packets = said.iter().filter_map(Message::packet);
    let promises =
        packets.filter(|packet| matches!(packet, Packet::AckEpoch { .. } | Packet::AckNewLeader));
    assert_eq!(promises.count(), 2);
    for message in said {
        desk.input(2, Input::Peer(NodeId(0), message));
        desk.run(2);
    }
    assert_eq!(desk.machine(2).phase(), Some(Phase::Promising));
    assert!(desk.machine(2).refusals().count(Refusal::OtherLink) > 0);
    assert_eq!(desk.judge.broken, None);
}

/// Nor when it joins while something is under way: an observer logs what is committed (Z-2959).
#[test]
fn an_observer_that_joins_is_told_what_is_committed() {
    let ensemble = Ensemble::majority((0..3).map(NodeId)).unwrap();
    let ensemble = ensemble.observed_by([NodeId(7)]).unwrap();
    let mut desk = Desk::new(ensemble, QUICK, Faithful, 5);
    desk.start_all();
    assert!(desk.run_whole(1_000).is_some());
    desk.propose(2, 4);
    assert!(desk.run_till(100, Desk::is_even));
    desk.crash(3, u64::MAX);
    desk.hold(0, 2);
    desk.hold(1, 2);
    desk.propose(2, 1);
    desk.run(20);
    desk.start(3);
    assert!(desk.run_till(200, |desk| desk.machine(3).follows_established()));
    assert_eq!(desk.machine(3).last().index, 4);
    desk.release(0, 2);
    desk.release(1, 2);
    assert!(desk.run_till(200, Desk::is_even));
    assert_eq!(desk.judge.broken, None);
}

/// A learner that acknowledges what it was not sent is no learner (ZAB-B2).
#[test]
fn what_was_not_sent_is_not_acknowledged() {
    let mut desk = Desk::voters(3, Faithful);
    desk.start_all();
    assert!(desk.run_whole(500).is_some());
    desk.propose(2, 1);
    assert!(desk.run_till(100, Desk::is_even));
    let link = desk.machine(2).link(NodeId(0)).expect("it leads it");
    // One of these numbers is due; those before it are repetitions.
    for number in 0..100 {
        let packet = Packet::Ack { upto: 2 };
        let message = Message::Packet {
            link,
            number,
            packet,
        };
        if desk.machine(2).link(NodeId(0)) == Some(link) {
            desk.input(2, Input::Peer(NodeId(0), message));
        }
    }
    assert_eq!(desk.machine(2).refusals().count(Refusal::Unexpected), 1);
    assert_eq!(desk.machine(2).link(NodeId(0)), None);
    assert!(desk.run_whole(500).is_some(), "it comes again");
    assert_eq!(desk.judge.broken, None);
}

/// Whoever proposes or compacts where it may not is told why.
#[test]
fn what_may_not_be_is_refused() {
    let mut desk = Desk::voters(3, Faithful);
    desk.start_all();
    let now = desk.clock();
    let refused = desk.act(0, |machine| machine.propose(now, 1));
    assert_eq!(refused, Some(Err(ProposeError::NotLeader(None))));
    assert!(desk.run_whole(500).is_some());
    desk.propose(2, 5);
    assert!(desk.run_till(100, Desk::is_even));
    let now = desk.clock();
    let refused = desk.act(0, |machine| machine.propose(now, 1));
    let Some(Err(ProposeError::NotLeader(Some(leader)))) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!((leader.node, leader.token.counter), (NodeId(2), 1));
    let none = desk.act(2, |machine| machine.propose(now, 0));
    assert_eq!(none, Some(Err(ProposeError::NoEntries)));
    for (index, result) in [
        (6, Err(CompactError::NotCommitted)),
        (3, Ok(())),
        (3, Err(CompactError::Compacted)),
    ] {
        assert_eq!(
            desk.act(0, |machine| machine.compact(now, index)),
            Some(result)
        );
    }
    desk.run(20);
    assert_eq!(desk.nodes[0].disk.log.base(), Position::new(1, 3));
    for told in [
        ProposeError::NotLeader(Some(leader)).to_string(),
        ProposeError::EpochFull.to_string(),
        CompactError::Busy.to_string(),
        SyncError::NoLeader.to_string(),
    ] {
        assert!(told.contains("ask") || told.contains("wait"), "{told}");
    }
}

/// FLE-R2: who is behind in rounds is told so, and need not wait for the other's patience to end.
#[test]
fn who_is_in_an_older_round_is_answered() {
    let mut desk = Desk::voters(5, Faithful);
    desk.start(0);
    desk.run(5);
    told(&mut desk, 0, 1, State::Looking, 5, vote(0, 0, 0));
    desk.run(7_000);
    assert_eq!((desk.machine(0).round(), desk.leader()), (5, None));
    // What 0 said last does not reach the others with their new connections.
    for other in [3, 4] {
        desk.hold(0, other);
        desk.start(other);
        desk.lose(0, other, desk.held(0, other).len());
        desk.release(0, other);
    }
    assert!(desk.run_whole(200).is_some());
    assert_eq!((desk.machine(4).round(), desk.leader()), (5, Some(4)));
    assert_eq!(desk.judge.broken, None);
}

/// FLE-4: whoever comes into a later round brings its own vote, not the one it had taken over.
#[test]
fn a_later_round_begins_with_the_own_vote() {
    let mut desk = Desk::voters(5, Faithful);
    desk.start(0);
    told(&mut desk, 0, 2, State::Looking, 1, vote(2, 0, 0));
    assert_eq!(desk.machine(0).vote().leader, NodeId(2));
    told(&mut desk, 0, 1, State::Looking, 5, vote(1, 0, 0));
    assert_eq!(desk.machine(0).vote().leader, NodeId(1));
}
