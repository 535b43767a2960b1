//! Reads, step by step: what makes them fresh, what makes them fail, and that none is forgotten.

mod cluster;

use cluster::Cluster;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;
use tenure::log::Position;
use tenure::membership::{Member, Membership, Part};
use tenure::quorum::Voters;
use tenure::raft::{
    Faithful, LogWrite, Message, Raft, ReadError, Record, Refusal, Rule, Rules, Served, Switched,
    View, Write,
};
use tenure::{Duration, Election, Input, Instant, NodeId, Standing, Unknown};

impl<R: Rules> Cluster<R> {
    /// Asks for a read that must be taken, and answers its number.
    fn read(&mut self, place: usize) -> u64 {
        self.with(place, |machine, now| machine.read(now)).unwrap()
    }

    /// The next news of the reads of a node.
    fn served(&mut self, place: usize) -> Option<Served> {
        self.with(place, |machine, _| machine.poll_read())
    }

    /// Lets time pass until a node has news of its reads.
    fn answered(&mut self, place: usize) -> Served {
        for _ in 0..100_000 {
            if let Some(served) = self.served(place) {
                return served;
            }
            self.now += 100;
            self.run(0);
        }
        panic!("the read of {place} is not answered");
    }

    fn hear(&mut self, place: usize, from: usize, message: Message) {
        self.input(place, Input::Peer(NodeId(from as u64), message));
    }

    fn refused(&self, place: usize, reason: Refusal) -> u32 {
        self.machine(place).refusals().count(reason)
    }

    fn asked(&self, from: usize) -> Vec<Message> {
        let asks = |(sender, _, message): &&(usize, usize, Message)| {
            *sender == from && matches!(message, Message::ReadIndex { .. })
        };
        let said = self.said.iter().filter(asks);
        said.map(|(_, _, message)| message.clone()).collect()
    }

    /// How many rounds a node began since the last look.
    fn rounds(&self, from: usize) -> usize {
        let beats = |said: &&(usize, usize, Message)| {
            said.0 == from && matches!(said.2, Message::Heartbeat { .. })
        };
        self.said.iter().filter(beats).count() / (self.nodes.len() - 1)
    }
}

/// A healthy cluster that node 0 leads, with three entries more than its first.
fn led() -> Cluster {
    let mut cluster = Cluster::new(3);
    cluster.elect(0);
    cluster.propose(0, 3);
    cluster.run(10);
    cluster.said.clear();
    cluster
}

#[test]
fn reads_asked_before_the_host_drains_share_one_round() {
    let mut cluster = led();
    let begun = cluster.now;
    let last = cluster.with(0, |machine, now| {
        assert_eq!(machine.read(now), Ok(1));
        assert_eq!(machine.read(now), Ok(2));
        machine.read(now)
    });
    assert_eq!(last, Ok(3));
    assert_eq!(cluster.rounds(0), 1);
    assert_eq!(cluster.answered(0), Served::Ready { upto: 3, index: 4 });
    // There and back: no read waits for a heartbeat.
    assert_eq!(cluster.now - begun, 2_000);
    assert_eq!(cluster.served(0), None);
}

#[test]
fn rounds_are_sent_one_after_another_without_waiting() {
    let mut cluster = led();
    let begun = cluster.now;
    for number in 1..=4 {
        assert_eq!(cluster.read(0), number);
        cluster.now += 200;
        cluster.run(0);
    }
    assert_eq!(cluster.rounds(0), 4);
    for number in 1..=4 {
        let ready = Served::Ready {
            upto: number,
            index: 4,
        };
        assert_eq!(cluster.answered(0), ready);
        assert_eq!(cluster.now - begun, 1_800 + 200 * number);
    }
}

#[test]
fn reads_beyond_the_rounds_on_the_way_share_the_next_one() {
    let mut cluster = led();
    for _ in 0..100 {
        cluster.read(0);
    }
    // Nobody answered yet: eight rounds are on the way, and 92 reads wait for one to come back.
    assert_eq!(cluster.rounds(0), 8);
    assert_eq!(cluster.answered(0), Served::Ready { upto: 8, index: 4 });
    assert_eq!(cluster.rounds(0), 9);
    let all = Served::Ready {
        upto: 100,
        index: 4,
    };
    assert_eq!(cluster.answered(0), all);
}

#[test]
fn a_group_of_one_confirms_itself() {
    let mut cluster = Cluster::new(1);
    cluster.elect(0);
    cluster.read(0);
    assert_eq!(cluster.served(0), Some(Served::Ready { upto: 1, index: 1 }));
}

/// Two rounds of one instant: the answer to the one before the read is none to the one after it.
#[test]
fn an_answer_to_an_earlier_round_confirms_nothing() {
    let mut cluster = led();
    cluster.isolate(0);
    cluster.read(0);
    cluster.read(0);
    let beats: Vec<_> = cluster
        .said
        .iter()
        .filter_map(|(_, to, message)| match message {
            Message::Heartbeat {
                term, sent, round, ..
            } if *to == 1 => Some((*term, *sent, *round)),
            _ => None,
        })
        .collect();
    let [(term, first, early), (_, second, late)] = beats[..] else {
        panic!("{beats:?}");
    };
    assert_eq!((first, early + 1), (second, late));
    for (round, upto) in [(early, 1), (late, 2)] {
        assert_eq!(cluster.served(0), None);
        let promise = Duration::from_millis(150);
        let ack = Message::HeartbeatAck {
            term,
            sent: first,
            round,
            promise,
            matched: 4,
        };
        cluster.hear(0, 1, ack);
        assert_eq!(cluster.served(0), Some(Served::Ready { upto, index: 4 }));
    }
}

/// A new leader that does not know yet that index 5 is committed.
fn behind<R: Rules>(rules: R) -> Cluster<R> {
    let mut cluster = Cluster::with_rules(3, rules);
    cluster.elect(0);
    cluster.propose(0, 3);
    cluster.run(10);
    // The leader commits index 5, and is gone before it can tell.
    cluster.loses = |from, _, message| {
        matches!(message, Message::Commit { .. } | Message::Heartbeat { .. }) && from == 0
    };
    let newest = cluster.propose(0, 1);
    cluster.until("acknowledged", |cluster| cluster.commit(0) == newest);
    cluster.crash(0);
    // The disks of the others are slow, so that it takes a while to commit an entry of the next term.
    cluster.until("elected", |cluster| {
        (1..3).any(|place| cluster.machine(place).leader() == Some(NodeId(place as u64)))
    });
    for node in &mut cluster.nodes[1..] {
        node.write_takes = 30_000;
    }
    cluster
}

fn leader<R: Rules>(cluster: &Cluster<R>) -> usize {
    let leads = |place: &usize| cluster.machine(*place).leader() == Some(NodeId(*place as u64));
    (1..3).find(leads).unwrap()
}

/// etcd#7331, tikv#6340, tikv#9239. And restate#2950: it is answered once that is committed, though nobody asks again.
#[test]
fn a_read_waits_for_the_first_commit_of_the_term_and_is_not_dropped() {
    let mut cluster = behind(Faithful);
    let new = leader(&cluster);
    // A leader that holds no lease yet says so.
    let leased = cluster.with(new, |machine, now| machine.read_leased(now));
    assert_eq!(leased, Err(ReadError::NotEstablished));
    assert_eq!(cluster.read(new), 1);
    // Heartbeats are answered long before the entry of the term is on the disks.
    cluster.run(10);
    assert_eq!(cluster.served(new), None);
    let answered = cluster.answered(new);
    assert_eq!(answered, Served::Ready { upto: 1, index: 6 });
}

/// tikv#9239: the same through a follower, whose question the leader keeps.
#[test]
fn a_follower_asks_a_leader_that_waits_for_its_first_commit() {
    let mut cluster = behind(Faithful);
    let new = leader(&cluster);
    cluster.run(2);
    assert_eq!(cluster.read(3 - new), 1);
    cluster.run(10);
    assert_eq!(cluster.served(3 - new), None);
    let answered = cluster.answered(3 - new);
    assert_eq!(answered, Served::Ready { upto: 1, index: 6 });
}

/// etcd#7331 as it was, with the rule off: the answer is older than what was acknowledged before the question.
#[test]
fn without_the_first_commit_of_the_term_a_read_is_stale() {
    let mut cluster = behind(Switched::without(&[Rule::ReadOwnTerm]));
    let new = leader(&cluster);
    cluster.read(new);
    assert_eq!(cluster.answered(new), Served::Ready { upto: 1, index: 4 });
    assert_eq!(Rule::ReadOwnTerm.protects().name(), "INV-R2");
}

/// Outside safe mode.
fn plain<R: Rules>(rules: R) -> Cluster<R> {
    let mut cluster = Cluster::with_rules(3, rules);
    for node in &mut cluster.nodes {
        node.config.safe_mode = false;
    }
    cluster.seeded(1)
}

/// A leader that was cut off while another commits, outside safe mode, where it does not notice.
fn overtaken<R: Rules>(rules: R) -> Cluster<R> {
    let mut cluster = plain(rules);
    cluster.elect(0);
    cluster.run(10);
    cluster.isolate(0);
    cluster.until("overtaken", |cluster| cluster.leading().len() == 2);
    let new = leader(&cluster);
    let newest = cluster.propose(new, 4);
    cluster.until("acknowledged", |cluster| cluster.commit(new) == newest);
    cluster
}

#[test]
fn an_overtaken_leader_confirms_nothing() {
    let mut cluster = overtaken(Faithful);
    cluster.read(0);
    cluster.run(1_000);
    assert_eq!(cluster.served(0), None);
    cluster.heal();
    assert_eq!(cluster.answered(0), Served::LeaderLost { upto: 1 });
}

/// The same with the rule off.
#[test]
fn without_a_round_an_overtaken_leader_answers_with_old_state() {
    let mut cluster = overtaken(Switched::without(&[Rule::ReadConfirmed]));
    cluster.read(0);
    assert_eq!(cluster.served(0), Some(Served::Ready { upto: 1, index: 1 }));
    assert_eq!(Rule::ReadConfirmed.protects().name(), "INV-R2");
}

#[test]
fn followers_and_learners_read_their_own_state() {
    let mut cluster = Cluster::new(3);
    let voters = cluster.nodes[0].config.voters.clone();
    let learner = cluster.join(&Voters::new([NodeId(0), NodeId(1), NodeId(2)]).unwrap());
    let member = |id| Member {
        id,
        part: Part::Voter,
    };
    let learns = Member {
        id: NodeId(3),
        part: Part::Learner,
    };
    let members = voters.ids().iter().copied().map(member).chain([learns]);
    let membership = Arc::new(Membership::from_members(members).unwrap());
    for place in 0..4 {
        cluster.crash(place);
        let record = Record {
            term: 1,
            ..Record::default()
        };
        let last = Position::new(1, 7);
        let membership = membership.clone();
        let log = LogWrite::Install { last, membership };
        cluster.nodes[place]
            .disk
            .apply(&Write { record, log })
            .unwrap();
        cluster.start(place);
    }
    cluster.elect(0);
    cluster.run(10);
    for place in [1, 2, learner] {
        let begun = cluster.now;
        let last = cluster.with(place, |machine, now| {
            machine.read(now).unwrap();
            machine.read(now)
        });
        assert_eq!(last, Ok(2));
        assert_eq!(cluster.answered(place), Served::Ready { upto: 2, index: 8 });
        // To the leader, to the others and back, and back here.
        assert_eq!(cluster.now - begun, 4_000);
        assert_eq!(cluster.asked(place).len(), 1);
    }
    let total: u64 = (0..4)
        .map(|place| cluster.machine(place).refusals().total())
        .sum();
    assert_eq!(total, 0);
}

#[test]
fn what_is_asked_while_a_question_is_open_shares_the_next_one() {
    let mut cluster = led();
    for _ in 0..20 {
        cluster.read(1);
    }
    assert_eq!(cluster.asked(1).len(), 1);
    assert_eq!(cluster.answered(1), Served::Ready { upto: 1, index: 4 });
    let all = Served::Ready { upto: 20, index: 4 };
    assert_eq!(cluster.answered(1), all);
    assert_eq!(cluster.asked(1).len(), 2);
}

/// Lost questions and answers are repeated when the leader shows that it lives, under the same number.
#[test]
fn lost_questions_and_answers_are_repeated_with_a_heartbeat() {
    let losses: [fn(usize, usize, &Message) -> bool; 2] = [
        |_, _, message| matches!(message, Message::ReadIndex { .. }),
        |_, _, message| matches!(message, Message::ReadIndexAck { .. }),
    ];
    for lost in losses {
        let mut cluster = led();
        cluster.loses = lost;
        cluster.read(1);
        let deadline = cluster.machine(1).deadline();
        cluster.run(400);
        assert_eq!(cluster.served(1), None);
        // One each heartbeat of 50 ms, and the timer is no other than before.
        let asked = cluster.asked(1);
        assert!((7..=9).contains(&asked.len()), "{}", asked.len());
        assert!(asked.iter().all(|question| *question == asked[0]));
        assert!(cluster.machine(1).deadline() > deadline);
        cluster.loses = |_, _, _| false;
        assert_eq!(cluster.answered(1), Served::Ready { upto: 1, index: 4 });
        assert_eq!(cluster.served(1), None);
    }
}

/// Each read that waits fails once, whatever ends the leadership.
#[test]
fn waiting_reads_fail_with_the_leadership() {
    type End = fn(&mut Cluster);
    let ends: [(&str, End); 4] = [
        ("resigned", |cluster| {
            cluster.input(0, Input::Resign { to: None });
        }),
        ("lapsed", |cluster| cluster.run(400)),
        ("higher term", |cluster| {
            let (asked, term) = (1, 2);
            cluster.hear(0, 1, Message::HeartbeatRefused { asked, term });
        }),
        ("disk failed", |cluster| {
            cluster.nodes[0].write_takes = u64::MAX;
            cluster.propose(0, 1);
            let ticket = cluster.nodes[0].writes[0].1;
            cluster.input(0, Input::Reply(ticket, Err(Unknown)));
        }),
    ];
    for (name, end) in ends {
        let mut cluster = led();
        cluster.isolate(0);
        cluster.with(0, |machine, now| {
            machine.read(now).unwrap();
            machine.read(now).unwrap();
        });
        assert_eq!(cluster.served(0), None, "{name}");
        end(&mut cluster);
        assert_eq!(
            cluster.served(0),
            Some(Served::LeaderLost { upto: 2 }),
            "{name}"
        );
        let again = cluster.with(0, |machine, now| machine.read(now));
        assert_eq!(again, Err(ReadError::NoLeader), "{name}");
        assert_eq!(cluster.served(0), None, "{name}");
    }
}

#[test]
fn a_change_of_leader_fails_what_a_follower_waits_for() {
    let mut cluster = led();
    cluster.cut(0, 1);
    assert_eq!(cluster.read(1), 1);
    cluster.input(
        0,
        Input::Resign {
            to: Some(NodeId(2)),
        },
    );
    assert_eq!(cluster.answered(1), Served::LeaderLost { upto: 1 });
    cluster.until("another leads", |cluster| cluster.leading() == [2]);
    cluster.run(100);
    assert_eq!(cluster.read(1), 2);
    assert_eq!(cluster.answered(1), Served::Ready { upto: 2, index: 5 });
}

#[test]
fn a_read_that_is_ready_stays_so_when_the_leader_falls() {
    let mut cluster = led();
    cluster.read(0);
    cluster.run(2);
    cluster.isolate(0);
    cluster.read(0);
    cluster.run(400);
    assert_eq!(cluster.served(0), Some(Served::Ready { upto: 1, index: 4 }));
    assert_eq!(cluster.served(0), Some(Served::LeaderLost { upto: 2 }));
    assert_eq!(cluster.served(0), None);
}

/// RL-1: an answer to a former life, to an earlier read or of another term counts for nothing.
#[test]
fn only_the_answer_to_the_open_question_counts() {
    let mut cluster = led();
    cluster.loses = |_, _, message| matches!(message, Message::ReadIndexAck { .. });
    cluster.read(1);
    let Message::ReadIndex { term, number } = cluster.asked(1)[0] else {
        unreachable!()
    };
    let (index, old) = (1, number);
    let old = |term| Message::ReadIndexAck {
        term,
        number: old,
        index,
    };
    cluster.restart(1);
    cluster.run(100);
    assert_eq!(cluster.read(1), 1);
    cluster.hear(1, 0, old(term));
    assert_eq!(cluster.served(1), None);

    let Message::ReadIndex { number, .. } = cluster.asked(1)[1] else {
        unreachable!()
    };
    let answer = |term, number| Message::ReadIndexAck {
        term,
        number,
        index,
    };
    let unasked = cluster.refused(1, Refusal::Unasked);
    cluster.hear(1, 0, answer(term + 1, number));
    cluster.hear(1, 0, answer(term, number + 1));
    assert_eq!(cluster.refused(1, Refusal::Unasked), unasked + 2);
    cluster.hear(1, 2, answer(term, number));
    assert_eq!(cluster.refused(1, Refusal::SecondLeader), 1);
    cluster.hear(1, 0, answer(term, number - 1));
    assert_eq!(cluster.served(1), None);

    cluster.hear(1, 0, answer(term, number));
    assert_eq!(cluster.served(1), Some(Served::Ready { upto: 1, index: 1 }));
    // A repeated answer is nobody's fault.
    let unasked = cluster.refused(1, Refusal::Unasked);
    cluster.hear(1, 0, answer(term, number));
    assert_eq!(cluster.served(1), None);
    assert_eq!(cluster.refused(1, Refusal::Unasked), unasked);
}

/// RL-1, on both sides: what is of an earlier term is nothing to the present one.
#[test]
fn questions_and_answers_of_an_earlier_term_count_for_nothing() {
    let mut cluster = led();
    cluster.input(
        0,
        Input::Resign {
            to: Some(NodeId(2)),
        },
    );
    cluster.until("another leads", |cluster| cluster.leading() == [2]);
    cluster.run(20);
    cluster.said.clear();
    cluster.hear(2, 1, Message::ReadIndex { term: 1, number: 1 });
    assert_eq!(cluster.rounds(2), 0);
    cluster.loses = |_, _, message| matches!(message, Message::ReadIndexAck { .. });
    cluster.read(1);
    let Message::ReadIndex { term: 2, number } = cluster.asked(1)[0] else {
        unreachable!()
    };
    let answer = |term| Message::ReadIndexAck {
        term,
        number,
        index: 1,
    };
    cluster.hear(1, 2, answer(1));
    assert_eq!(cluster.served(1), None);
    // Nobody answers a leader in its own term.
    cluster.hear(2, 1, answer(2));
    assert_eq!(cluster.refused(2, Refusal::SecondLeader), 1);
    // What is answered is not asked again.
    cluster.hear(1, 2, answer(2));
    assert_eq!(cluster.served(1), Some(Served::Ready { upto: 1, index: 1 }));
    cluster.said.clear();
    cluster.run(400);
    assert_eq!(cluster.asked(1), []);
}

/// Whatever members ask, one round at a time is on the way for them. What is asked meanwhile waits for it and shares the next.
#[test]
fn members_that_flood_share_rounds() {
    let mut cluster = led();
    let mut number = 0;
    let mut flood = |cluster: &mut Cluster| {
        for _ in 0..5_000 {
            number += 1;
            for from in [1, 2] {
                cluster.hear(0, from, Message::ReadIndex { term: 1, number });
            }
        }
        number
    };
    let begun = cluster.now;
    flood(&mut cluster);
    assert_eq!(cluster.rounds(0), 1);
    // What the first round was for was given up for newer questions, which share the second; and so on.
    cluster.run(2);
    assert_eq!(cluster.rounds(0), 2);
    let newest = flood(&mut cluster);
    cluster.run(2);
    assert_eq!(cluster.rounds(0), 3);
    cluster.run(2);
    let answers = cluster
        .said
        .iter()
        .filter_map(|(_, to, message)| match message {
            Message::ReadIndexAck { number, .. } => Some((*to, *number)),
            _ => None,
        });
    let answers: Vec<_> = answers.collect();
    assert_eq!(answers, [(1, newest), (2, newest)]);
    assert_eq!(cluster.now - begun, 6_000);

    // A round that is lost holds up nobody for longer than to the next heartbeat.
    cluster.said.clear();
    flood(&mut cluster);
    cluster.flights.clear();
    let newest = flood(&mut cluster);
    cluster.run(60);
    let answered = |to| {
        let number = newest;
        let (term, index) = (1, 4);
        let answer = Message::ReadIndexAck {
            term,
            number,
            index,
        };
        cluster.said.contains(&(0, to, answer))
    };
    assert!(answered(1) && answered(2));
    assert!(cluster.rounds(0) <= 4, "{}", cluster.rounds(0));
}

#[test]
fn hostile_questions_and_answers_are_refused_by_name() {
    let mut cluster = led();
    let ask = |term, number| Message::ReadIndex { term, number };
    cluster.hear(0, 1, ask(2, 1));
    assert_eq!(cluster.refused(0, Refusal::Unasked), 1);
    cluster.hear(0, 1, ask(0, 1));
    assert_eq!(cluster.refused(0, Refusal::TermZero), 1);
    cluster.hear(0, 1, ask(u64::MAX, 1));
    assert_eq!(cluster.refused(0, Refusal::TermTooHigh), 1);
    cluster.hear(0, 9, ask(1, 1));
    assert_eq!(cluster.refused(0, Refusal::UnknownSender), 1);
    assert_eq!(cluster.rounds(0), 0);
    cluster.read(1);
    let Message::ReadIndex { term, number } = cluster.asked(1)[0] else {
        unreachable!()
    };
    let index = u64::MAX;
    let end = Message::ReadIndexAck {
        term,
        number,
        index,
    };
    cluster.hear(1, 0, end);
    assert_eq!(cluster.refused(1, Refusal::ImpossibleLog), 1);
    // A leader keeps one question of each member, and answers the newest.
    cluster.said.clear();
    let mut flood = 0;
    while flood < 10_000 {
        flood += 1;
        cluster.input(0, Input::Peer(NodeId(2), ask(1, flood)));
    }
    cluster.flights.clear();
    cluster.run(60);
    let answers: Vec<_> = cluster
        .said
        .iter()
        .filter(|(_, to, message)| *to == 2 && matches!(message, Message::ReadIndexAck { .. }))
        .map(|(_, _, message)| message.clone())
        .collect();
    let newest = Message::ReadIndexAck {
        term: 1,
        number: flood,
        index: 4,
    };
    assert_eq!(answers, [newest]);
}

#[test]
fn a_lease_answers_at_once_and_nobody_else_does() {
    let mut cluster = led();
    let leased = cluster.with(0, |machine, now| machine.read_leased(now));
    let leased = leased.unwrap();
    assert_eq!(leased.index, 4);
    assert_eq!(
        cluster.machine(0).standing(cluster.clock()),
        Standing::Leading(leased.tenure)
    );
    assert!(cluster.said.is_empty());
    let error = cluster.with(1, |machine, now| machine.read_leased(now));
    assert!(matches!(error, Err(ReadError::NotLeader(leader)) if leader.node == NodeId(0)));
    assert!(error.unwrap_err().to_string().contains("ask node 0"));

    let mut plain = overtaken(Faithful);
    let error = plain.with(0, |machine, now| machine.read_leased(now));
    assert_eq!(error, Err(ReadError::NoLeases));
    let alone = |machine: &mut Raft, now| machine.read_leased(now);
    assert_eq!(Cluster::new(3).with(0, alone), Err(ReadError::NoLeader));
    for (error, told) in [
        (ReadError::NoLog, "configure replication"),
        (ReadError::NoLeader, "ask again later"),
        (ReadError::NotEstablished, "once it is established"),
        (ReadError::NoLeases, "use a confirmed read"),
    ] {
        assert!(error.to_string().contains(told), "{error}");
    }
}

/// tikv#964, sofa-jraft#26, consul#54: the leader freezes, another commits, and the old one thaws. INV-R3: what it allowed
/// before does not stand the check after the state was read, and nothing new is allowed.
#[test]
fn a_frozen_leader_answers_no_lease_read_when_it_thaws() {
    let mut cluster = led();
    let leased = cluster.with(0, |machine, now| machine.read_leased(now));
    let (before, leased) = (cluster.clock(), leased.unwrap());
    cluster.nodes[0].paused = true;
    cluster.until("overtaken", |cluster| {
        cluster.leading().iter().any(|place| *place != 0)
    });
    let new = leader(&cluster);
    let newest = cluster.propose(new, 3);
    cluster.until("acknowledged", |cluster| cluster.commit(new) == newest);
    cluster.nodes[0].paused = false;
    // A fresh look shows that it is over, before any message is read.
    assert_eq!(
        cluster.machine(0).standing(before),
        Standing::Leading(leased.tenure)
    );
    assert_eq!(
        cluster.machine(0).standing(cluster.clock()),
        Standing::Unknown
    );
    let again = cluster.with(0, |machine, now| machine.read_leased(now));
    assert_eq!(again, Err(ReadError::NoLeader));
}

#[test]
fn a_group_without_a_log_has_nothing_to_read() {
    let mut cluster = Cluster::new(3);
    for node in &mut cluster.nodes {
        node.config.replication = None;
    }
    let mut cluster = cluster.seeded(2);
    cluster.elect(0);
    let read = cluster.with(0, |machine, now| machine.read(now));
    let leased = cluster.with(0, |machine, now| machine.read_leased(now));
    assert_eq!(
        (read, leased.err()),
        (Err(ReadError::NoLog), Some(ReadError::NoLog))
    );
}

/// C10: a read that waits is state; one that is over is none.
#[test]
fn a_waiting_read_shows_in_the_fingerprint() {
    fn look<R: Rules>(cluster: &Cluster<R>, place: usize) -> u64 {
        let mut hasher = DefaultHasher::new();
        // Without time: the rounds that reads send would show by themselves.
        let view = View {
            timed: false,
            ..View::PLAIN
        };
        cluster
            .machine(place)
            .view(cluster.clock(), view, &mut hasher);
        hasher.finish()
    }
    let mut cluster = plain(Faithful);
    cluster.elect(0);
    // The first round of a leader is one of entries; heartbeats come next.
    cluster.run(60);
    for place in [0, 1] {
        cluster.run(20);
        let (leader, asker) = (look(&cluster, 0), look(&cluster, place));
        cluster.read(place);
        assert_ne!(look(&cluster, place), asker);
        cluster.run(1);
        assert_ne!(look(&cluster, 0), leader);
        cluster.answered(place);
        cluster.run(20);
        assert_eq!((look(&cluster, 0), look(&cluster, place)), (leader, asker));
    }
}

/// C10: when a follower asked decides when it asks again; which round a leader has come to, which answers count.
#[test]
fn what_a_waiting_read_depends_on_shows_in_the_fingerprint() {
    fn look<R: Rules>(machine: &Raft<R>, now: Instant, timed: bool) -> u64 {
        let mut hasher = DefaultHasher::new();
        let view = View {
            timed,
            ..View::PLAIN
        };
        machine.view(now, view, &mut hasher);
        hasher.finish()
    }
    let asked_at = |millis| {
        let mut cluster = led();
        cluster.loses = |_, _, message| matches!(message, Message::ReadIndex { .. });
        cluster.run(millis);
        cluster.read(1);
        cluster.run(10 - millis);
        look(cluster.machine(1), cluster.clock(), true)
    };
    assert_eq!(asked_at(5), asked_at(5));
    assert_ne!(asked_at(5), asked_at(6));

    // The round that a read waits for and how many a member did not answer are the same; the newest round is not.
    let leader = |asker: usize, answered, more: bool| {
        let mut cluster = plain(Faithful);
        cluster.elect(0);
        cluster.propose(0, 3);
        cluster.run(10);
        cluster.loses = |_, _, _| true;
        let ack = |cluster: &mut Cluster, round| {
            for from in [1, 2] {
                let answer = Message::HeartbeatAck {
                    term: 1,
                    sent: cluster.clock(),
                    promise: Duration::from_millis(150),
                    round,
                    matched: 4,
                };
                cluster.hear(0, from, answer);
            }
        };
        let beat = |cluster: &mut Cluster| {
            cluster.with(0, |machine, now| {
                let due = machine.deadline().unwrap().max(now);
                machine.handle(due, Input::Timeout);
                due
            })
        };
        cluster.now = beat(&mut cluster).as_micros();
        ack(&mut cluster, answered);
        if asker == 0 {
            cluster.read(0);
        } else {
            cluster.hear(0, asker, Message::ReadIndex { term: 1, number: 1 });
        }
        if more {
            cluster.now = beat(&mut cluster).as_micros();
        }
        look(cluster.machine(0), cluster.clock(), false)
    };
    for asker in [0, 1] {
        assert_eq!(leader(asker, 1, false), leader(asker, 1, false));
        assert_ne!(leader(asker, 1, false), leader(asker, 2, true));
    }
}

/// C8: once warm, reads on leader and follower allocate nothing.
#[test]
fn reads_allocate_nothing_in_the_steady_state() {
    let mut cluster = led();
    let clock = cluster.clock();
    let mut nodes = [0, 1, 2].map(|place| cluster.nodes[place].machine.take().unwrap());
    let mut queue = std::collections::VecDeque::with_capacity(64);
    let mut answered = 0;
    let mut run = |count: u64, now: &mut Instant| {
        for _ in 0..count {
            *now = *now + Duration::from_millis(1);
            for machine in &mut nodes {
                machine.read(*now).unwrap();
            }
            loop {
                for (place, machine) in nodes.iter_mut().enumerate() {
                    while let Some(output) = machine.poll() {
                        if let tenure::Output::Send(to, message) = output {
                            queue.push_back((place, to.0 as usize, message));
                        }
                    }
                }
                let Some((from, to, message)) = queue.pop_front() else {
                    break;
                };
                nodes[to].handle(*now, Input::Peer(NodeId(from as u64), message));
            }
            for machine in &mut nodes {
                while let Some(served) = machine.poll_read() {
                    assert!(matches!(served, Served::Ready { index: 4, .. }));
                    answered += 1;
                }
            }
        }
    };
    let mut now = clock;
    run(100, &mut now);
    let counted = allocation_counter::measure(|| run(10_000, &mut now));
    assert_eq!(counted.count_total, 0);
    assert_eq!(answered, 3 * 10_100);
}
