//! Leadership handed over on purpose, step by step; each report that taught a rule is cited at its test.

mod cluster;

use cluster::{Cluster, target, voters};
use std::hash::{DefaultHasher, Hasher};
use tenure::raft::{
    ChangeRefused, Config, Faithful, Message, ProposeError, Role, Rule, Rules, Switched,
    TransferError,
};
use tenure::{Election, Event, Input, NodeId, Standing, Why};

fn led<R: Rules>(n: u64, rules: R) -> Cluster<R> {
    let mut cluster = Cluster::with_rules(n, rules);
    cluster.elect(0);
    cluster.propose(0, 10);
    cluster.run(100);
    cluster.said.clear();
    cluster
        .nodes
        .iter_mut()
        .for_each(|node| node.events.clear());
    cluster
}

fn transfer<R: Rules>(cluster: &mut Cluster<R>, from: usize, to: u64) -> Result<(), TransferError> {
    cluster.with(from, |machine, now| machine.transfer(now, NodeId(to)))
}

fn propose<R: Rules>(cluster: &mut Cluster<R>, place: usize) -> Result<u64, ProposeError> {
    let proposed = cluster.with(place, |machine, now| machine.propose(now, 1));
    proposed.map(|first| first.index)
}

fn said<R: Rules>(cluster: &Cluster<R>, kind: impl Fn(&Message) -> bool) -> usize {
    let said = cluster.said.iter();
    said.filter(|(_, _, message)| kind(message)).count()
}

fn elections<R: Rules>(cluster: &Cluster<R>) -> usize {
    let events = cluster.nodes.iter().flat_map(|node| &node.events);
    events
        .filter(|event| matches!(event, Event::Elected(_)))
        .count()
}

fn deposed_for<R: Rules>(cluster: &Cluster<R>, place: usize) -> Option<Why> {
    let events = cluster.nodes[place].events.iter();
    let why = |event: &Event| match event {
        Event::Deposed(_, why) => Some(*why),
        _ => None,
    };
    events.filter_map(why).next_back()
}

fn dropped<R: Rules>(cluster: &Cluster<R>, place: usize, to: u64) -> bool {
    let event = Event::TransferDropped(NodeId(to));
    cluster.nodes[place].events.contains(&event)
}

/// KAFKA-20895: one round elects the successor, and nobody's stickiness is in its way.
#[test]
fn the_successor_needs_one_round() {
    for n in [2, 3, 5] {
        let mut cluster = led(n, Faithful);
        let begun = cluster.now;
        transfer(&mut cluster, 0, 1).unwrap();
        assert_eq!(deposed_for(&cluster, 0), Some(Why::Transferred));
        cluster.until("elected", |cluster| {
            cluster.machine(1).role() == Role::Leader
        });
        // The release, the question, the answer.
        assert_eq!(cluster.now - begun, 3_000);
        cluster.until("established", |cluster| cluster.leading() == [1]);
        assert_eq!(cluster.now - begun, 5_000);
        cluster.run(1_000);
        assert_eq!(cluster.leading(), [1]);
        assert_eq!((elections(&cluster), cluster.machine(0).term()), (1, 2));
        let asked = |message: &Message| matches!(message, Message::RequestPreVote { .. });
        assert_eq!(said(&cluster, asked), 0);
        cluster.assert_agreement();
    }
}

/// redpanda#2606, hashicorp/raft#487, hashicorp/raft#581: under load the successor is named when its disk has the whole log,
/// and not one entry before.
#[test]
fn the_successor_has_the_whole_log() {
    let mut cluster = led(3, Faithful);
    cluster.nodes[1].write_takes = 20_000;
    let index = cluster.propose(0, 1_000);
    cluster.run(2);
    transfer(&mut cluster, 0, 1).unwrap();
    assert_eq!(propose(&mut cluster, 0), Err(ProposeError::Transferring));
    assert_eq!(cluster.machine(0).transferring(), Some(NodeId(1)));
    assert_eq!(cluster.leading(), [0]);
    cluster.until("handed over", |cluster| cluster.leading().is_empty());
    assert_eq!(cluster.nodes[1].disk.log.last().index, index);
    assert_eq!(cluster.machine(0).transferring(), None);
    cluster.until("established", |cluster| cluster.leading() == [1]);
    assert_eq!(elections(&cluster), 1);
    assert_eq!(cluster.machine(0).term(), 2);
    let refused = propose(&mut cluster, 0);
    assert!(
        matches!(refused, Err(ProposeError::NotLeader(Some(leader))) if leader.node == NodeId(1))
    );
    cluster.assert_agreement();
}

/// What the rule protects: a healthy leader goes, the one it named is refused by everybody, and a term is burnt.
#[test]
fn transfer_when_caught_up() {
    let lagging = |rules: Switched| {
        let mut cluster = led(3, rules);
        cluster.isolate(1);
        cluster.propose(0, 1);
        cluster.run(20);
        cluster.heal();
        transfer(&mut cluster, 0, 1).unwrap();
        cluster.run(30);
        (cluster.machine(1).term(), cluster.leading())
    };
    assert_eq!(lagging(Switched::default()), (1, vec![0]));
    let off = Switched::without(&[Rule::TransferWhenCaughtUp]);
    assert_eq!(lagging(off), (2, vec![]));
}

/// etcd#11326, openraft#1805, tikv#4045: not to a learner, nor to one that is about to be none.
#[test]
fn transfers_are_refused_by_name() {
    let mut cluster = led(3, Faithful);
    for _ in 0..2 {
        cluster.join(&voters(&[0, 1, 2]));
    }
    assert_eq!(transfer(&mut cluster, 0, 0), Err(TransferError::ToItself));
    for stranger in [3, 9] {
        let refused = Err(TransferError::NotAVoter(NodeId(stranger)));
        assert_eq!(transfer(&mut cluster, 0, stranger), refused);
    }
    let refused = transfer(&mut cluster, 1, 0).unwrap_err();
    assert!(matches!(refused, TransferError::NotLeader(Some(leader)) if leader.node == NodeId(0)));
    let learners = target(&[0, 1, 2], &[3, 4]);
    cluster
        .with(0, |machine, now| machine.change(now, &learners))
        .unwrap();
    cluster.run(100);
    assert_eq!(
        transfer(&mut cluster, 0, 3),
        Err(TransferError::NotAVoter(NodeId(3)))
    );
    // On the way out: one that goes and one that will be a learner vote for the last time.
    let next = target(&[0, 3, 4], &[2]);
    cluster
        .with(0, |machine, now| machine.change(now, &next))
        .unwrap();
    assert!(cluster.machine(0).membership().is_joint());
    for leaving in [1, 2] {
        let refused = Err(TransferError::NotAVoter(NodeId(leaving)));
        assert_eq!(transfer(&mut cluster, 0, leaving), refused);
    }
    assert_eq!(cluster.leading(), [0]);
    // One that comes is a successor, and the change is brought to its end.
    transfer(&mut cluster, 0, 3).unwrap();
    assert_eq!(
        transfer(&mut cluster, 0, 4),
        Err(TransferError::UnderWay(NodeId(3)))
    );
    cluster.until("it leads", |cluster| cluster.leading() == [3]);
    cluster.run(100);
    assert!(!cluster.machine(3).membership().is_joint());
    assert_eq!(elections(&cluster), 1);
}

/// A transfer that takes longer than an election timeout is dropped, and said to be: the leader leads on in its term.
#[test]
fn a_transfer_is_dropped_after_one_timeout() {
    let mut cluster = led(3, Faithful);
    cluster.isolate(1);
    cluster.propose(0, 1);
    let begun = cluster.now;
    transfer(&mut cluster, 0, 1).unwrap();
    let refused = cluster.with(0, |machine, now| machine.change(now, &target(&[0, 1], &[])));
    let transferring = ChangeRefused::Propose(ProposeError::Transferring);
    assert_eq!(refused, Err(transferring));
    cluster.until("dropped", |cluster| dropped(cluster, 0, 1));
    assert_eq!(cluster.now - begun, cluster.timeout().as_micros());
    assert_eq!(cluster.machine(0).transferring(), None);
    assert_eq!(cluster.leading(), [0]);
    let index = propose(&mut cluster, 0).unwrap();
    cluster.until("committed", |cluster| cluster.commit(0) == index);
    assert_eq!(cluster.machine(0).term(), 1);
    // Early, late and repeated calls of the timer say nothing more (C2).
    cluster.input(0, Input::Timeout);
    cluster.run(1_000);
    let told = |event: &&Event| matches!(event, Event::TransferDropped(_));
    assert_eq!(cluster.nodes[0].events.iter().filter(told).count(), 1);
    cluster.heal();
    transfer(&mut cluster, 0, 1).unwrap();
    cluster.until("it leads", |cluster| cluster.leading() == [1]);
}

/// hashicorp/raft#696: a transfer dies with the leadership, and the next leadership of that node knows of none.
#[test]
fn a_transfer_dies_with_the_leadership() {
    let mut cluster = led(3, Faithful);
    cluster.isolate(1);
    cluster.propose(0, 1);
    cluster.run(20);
    transfer(&mut cluster, 0, 1).unwrap();
    cluster.isolate(0);
    cluster.until("lapsed", |cluster| cluster.leading().is_empty());
    assert_eq!(cluster.machine(0).transferring(), None);
    cluster.heal();
    cluster.until("another leads", |cluster| {
        cluster.leading().iter().any(|place| *place > 0)
    });
    let leader = cluster.leading()[0];
    cluster.run(100);
    transfer(&mut cluster, leader, 0).unwrap();
    cluster.until("it leads again", |cluster| cluster.leading() == [0]);
    assert!(propose(&mut cluster, 0).is_ok());
    assert!(!dropped(&cluster, 0, 1));
}

/// Whoever handed over holds no lease again in that term, whatever was on its way to it.
#[test]
fn whoever_handed_over_is_no_leader_again() {
    let mut cluster = led(3, Faithful);
    cluster.until("a round is sent", |cluster| {
        let beats = |message: &Message| matches!(message, Message::Heartbeat { .. });
        said(cluster, beats) > 0
    });
    let sent = cluster.clock();
    transfer(&mut cluster, 0, 1).unwrap();
    cluster.cut(0, 1);
    cluster.cut(0, 2);
    for voter in [1, 2] {
        let answer = Message::HeartbeatAck {
            term: 1,
            sent,
            round: 1,
            promise: cluster.nodes[0].config.timing.election_min,
            matched: 11,
        };
        cluster.input(0, Input::Peer(NodeId(voter), answer));
        assert_eq!(cluster.machine(0).standing(sent), Standing::Unknown);
    }
    cluster.run(1_000);
    assert_ne!(cluster.machine(0).role(), Role::Leader);
}

/// RL-3: the release reaches the successor alone, and its questions free the others of their promises.
#[test]
fn the_successor_relays_the_release() {
    let mut cluster = led(5, Faithful);
    cluster.loses =
        |from, to, message| from == 0 && to != 1 && matches!(message, Message::Release { .. });
    let begun = cluster.now;
    transfer(&mut cluster, 0, 1).unwrap();
    cluster.crash(0);
    cluster.until("it leads", |cluster| cluster.leading() == [1]);
    assert_eq!(cluster.now - begun, 5_000);
    assert_eq!(elections(&cluster), 1);
}

/// The release that names the successor is lost: somebody is elected, at the latest when the promises have run out.
#[test]
fn a_lost_release_costs_time_alone() {
    let mut cluster = led(3, Faithful);
    cluster.loses = |_, to, message| to == 1 && matches!(message, Message::Release { .. });
    let begun = cluster.now;
    transfer(&mut cluster, 0, 1).unwrap();
    cluster.until("somebody leads", |cluster| !cluster.leading().is_empty());
    assert!(cluster.now - begun < 200_000, "{}", cluster.now - begun);
    assert_eq!(elections(&cluster), 1);
}

/// The successor dies on its way: the others do not wait for it longer than a retry.
#[test]
fn a_successor_that_dies_is_not_waited_for() {
    let mut cluster = led(3, Faithful);
    transfer(&mut cluster, 0, 1).unwrap();
    cluster.crash(1);
    let begun = cluster.now;
    cluster.until("somebody leads", |cluster| !cluster.leading().is_empty());
    assert!(cluster.now - begun < 200_000, "{}", cluster.now - begun);
}

#[test]
fn a_resignation_takes_the_same_path() {
    let mut cluster = led(3, Faithful);
    let begun = cluster.now;
    cluster.input(
        0,
        Input::Resign {
            to: Some(NodeId(2)),
        },
    );
    assert_eq!(deposed_for(&cluster, 0), Some(Why::Resigned));
    cluster.until("it leads", |cluster| cluster.leading() == [2]);
    assert_eq!(cluster.now - begun, 5_000);
    assert_eq!(elections(&cluster), 1);
}

/// A resignation waits for nobody: one that could not win is not named, and burns no term.
#[test]
fn a_resignation_names_no_one_that_cannot_win() {
    let mut cluster = led(3, Faithful);
    cluster.isolate(1);
    cluster.propose(0, 1);
    cluster.run(20);
    cluster.heal();
    cluster.input(
        0,
        Input::Resign {
            to: Some(NodeId(1)),
        },
    );
    let release = Message::Release {
        term: 1,
        to: None,
        orderly: true,
    };
    assert_eq!(said(&cluster, |message| *message == release), 2);
    cluster.until("another leads", |cluster| !cluster.leading().is_empty());
    assert_eq!(cluster.machine(2).term(), 2);
}

/// A resignation ends a transfer, and goes to whom it names.
#[test]
fn a_resignation_overrides_a_transfer() {
    let mut cluster = led(3, Faithful);
    cluster.isolate(1);
    cluster.propose(0, 1);
    cluster.run(20);
    transfer(&mut cluster, 0, 1).unwrap();
    cluster.input(
        0,
        Input::Resign {
            to: Some(NodeId(2)),
        },
    );
    assert_eq!(deposed_for(&cluster, 0), Some(Why::Resigned));
    cluster.heal();
    cluster.until("it leads", |cluster| cluster.leading() == [2]);
    assert!(!dropped(&cluster, 0, 1));
}

/// A resignation to nobody frees everybody, and one election follows in all but a few cases.
#[test]
fn a_resignation_to_nobody_is_followed_by_one_election() {
    let (mut one, mut slowest) = (0, 0);
    for seed in 0..200 {
        let mut cluster = Cluster::new(5).seeded(seed);
        cluster.elect(0);
        cluster.run(100);
        cluster.input(0, Input::Resign { to: None });
        let begun = cluster.now;
        cluster.run(1);
        for place in 1..5 {
            assert_eq!(cluster.machine(place).promise(), None, "seed {seed}");
        }
        cluster.until("somebody leads", |cluster| !cluster.leading().is_empty());
        slowest = slowest.max(cluster.now - begun);
        cluster.run(500);
        let leader = cluster.leading()[0];
        one += u32::from(elections(&cluster) == 2 && cluster.machine(leader).term() == 2);
    }
    println!("{one} of 200; the slowest took {slowest} us");
    assert!(one >= 190 && slowest < 300_000, "{one} {slowest}");
}

/// A leader on its way out hands over early, in a joint configuration that is not left yet.
#[test]
fn a_leader_that_is_replaced_may_hand_over_first() {
    let mut cluster = led(3, Faithful);
    cluster.join(&voters(&[0, 1, 2]));
    let learner = target(&[0, 1, 2], &[3]);
    cluster
        .with(0, |machine, now| machine.change(now, &learner))
        .unwrap();
    cluster.run(100);
    let next = target(&[1, 2, 3], &[]);
    cluster
        .with(0, |machine, now| machine.change(now, &next))
        .unwrap();
    transfer(&mut cluster, 0, 1).unwrap();
    cluster.until("it leads", |cluster| cluster.leading() == [1]);
    cluster.run(1_000);
    assert_eq!(cluster.leading(), [1]);
    assert_eq!(elections(&cluster), 1);
    assert!(cluster.machine(1).membership().place(NodeId(0)).is_none());
    assert_eq!(cluster.machine(1).commit(), cluster.machine(1).last().index);
}

/// Without a log there is nothing to catch up with.
#[test]
fn an_election_without_a_log_is_transferred_at_once() {
    let mut cluster = Cluster::new(3);
    for node in &mut cluster.nodes {
        node.config = Config::new(node.config.id, node.config.voters.clone());
    }
    let mut cluster = cluster.seeded(1);
    cluster.elect(0);
    let begun = cluster.now;
    transfer(&mut cluster, 0, 2).unwrap();
    cluster.until("it leads", |cluster| cluster.leading() == [2]);
    assert_eq!(cluster.now - begun, 5_000);
}

/// A transfer, that a node is out, and which release a node relays are part of what a machine can do (C10).
#[test]
fn what_was_asked_and_heard_shows_in_the_view() {
    let look = |cluster: &Cluster, place: usize| {
        let mut hasher = DefaultHasher::new();
        let (machine, now) = (cluster.machine(place), cluster.clock());
        machine.fingerprint(now, &mut hasher);
        hasher.finish()
    };
    let mut cluster = led(3, Faithful);
    cluster.isolate(1);
    cluster.propose(0, 1);
    cluster.run(20);
    let before = look(&cluster, 0);
    let mut one = cluster.machine(0).clone();
    one.transfer(cluster.clock(), NodeId(1)).unwrap();
    transfer(&mut cluster, 0, 1).unwrap();
    let under_way = look(&cluster, 0);
    assert_ne!(under_way, before);
    let mut hasher = DefaultHasher::new();
    one.fingerprint(cluster.clock(), &mut hasher);
    assert_eq!(hasher.finish(), under_way);

    cluster.run(400);
    cluster.input(1, Input::Campaign);
    let asked = cluster.machine(1).term() + 1;
    let refusal = Message::PreVoteRefused {
        asked,
        term: 0,
        better: None,
    };
    for (message, shows) in [
        (refusal, false),
        (
            Message::Release {
                term: 1,
                to: None,
                orderly: false,
            },
            true,
        ),
        (Message::NotMember { asked, index: 99 }, true),
    ] {
        let before = look(&cluster, 1);
        cluster.input(1, Input::Peer(NodeId(0), message.clone()));
        assert_eq!(look(&cluster, 1) != before, shows, "{message:?}");
    }
}

#[test]
fn a_transfer_that_is_refused_says_what_to_do() {
    for (error, remedy) in [
        (TransferError::NotLeader(None), "ask again later"),
        (TransferError::ToItself, "nothing needs to be done"),
        (TransferError::NotAVoter(NodeId(7)), "node 7 has no vote"),
        (TransferError::UnderWay(NodeId(7)), "wait until it is over"),
    ] {
        assert!(error.to_string().contains(remedy), "{error}");
    }
}
