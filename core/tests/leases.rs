//! Promises, leases and releases, message by message; the public reports that taught the rules are cited at each.

mod bench;

use bench::{Bench, follower, ms};
use tenure::log::{Position, Shape};
use tenure::raft::{Lease, Message, Record, Refusal, Role, Rule, Switched};
use tenure::{Duration, Election, Event, Input, NodeId, Standing, Token, Why};

/// RL-1, the prototype's case 2a: an answer to a round of an earlier term of the same leader, whose promise was since
/// released, establishes nobody.
#[test]
fn an_answer_of_an_earlier_term_establishes_nobody() {
    for (off, established) in [(vec![], false), (vec![Rule::OwnTermAcks], true)] {
        let mut bench = Bench::booted(3, 0, None, Shape::new(), Switched::without(&off));
        let first = bench.elect(10, 1);
        bench.input(20, Input::Resign { to: None });
        let second = bench.elect(30, 2);
        assert!(second > first);
        // Node 1 answered the first term's round at 10 ms; the release at 20 ms freed it.
        bench.acked(40, 1, first, 10);
        assert_eq!(bench.machine.established(), established, "{off:?}");
    }
}

/// RL-2 in the moments of an early pre-vote: the higher term of a refusal is adopted, and the promise stays.
#[test]
fn a_promise_outlives_the_adoption_of_a_term() {
    for (off, grants) in [(vec![], false), (vec![Rule::PromiseOutlivesTerm], true)] {
        let mut bench = Bench::booted(3, 0, None, Shape::new(), Switched::without(&off));
        bench.heartbeat(10, 1, 1);
        // 150 ms promised from 10 ms on; at 140 ms it may ask for pre-votes, not yet vote.
        bench.input(140, Input::Campaign);
        assert_eq!(bench.machine.role(), Role::PreCandidate);
        bench.hear(
            141,
            2,
            Message::PreVoteRefused {
                asked: 2,
                term: 7,
                better: None,
            },
        );
        assert_eq!(bench.machine.term(), 7);
        bench.said();
        bench.hear(
            150,
            2,
            Message::RequestVote {
                term: 7,
                last: Position::START,
                released: 0,
            },
        );
        let granted = bench
            .said()
            .contains(&(2, Message::VoteGranted { term: 7 }));
        assert_eq!(granted, grants, "{off:?}");
    }
}

/// C4 and C5: belief counts from the send of the acknowledged round and ends without any input; the lapsed tenure is
/// deposed, its token never valid again, and the followers are freed.
#[test]
fn belief_ends_by_itself_and_for_good() {
    let mut bench = follower();
    let term = bench.elect(10, 1);
    assert_eq!(
        bench.machine.standing(ms(11)),
        Standing::Unknown,
        "elected is not established"
    );
    assert_eq!(bench.machine.lease(), None);
    bench.acked(100, 1, term, 10);
    let Standing::Leading(tenure) = bench.machine.standing(ms(100)) else {
        panic!("not established")
    };
    // 150 ms less a grain of the voter's clock, × 0.99 ÷ 1.01, less a grain of the own.
    assert_eq!(tenure.until, ms(10) + Duration::from_micros(147_027));
    assert_eq!(bench.machine.standing(tenure.until), Standing::Unknown);
    let lease = Lease {
        from: ms(10),
        until: tenure.until,
    };
    assert_eq!(bench.machine.lease(), Some(lease));
    bench.said();
    bench.acked(158, 1, term, 10);
    assert!(
        bench
            .events
            .contains(&Event::Deposed(Token::new(0, term), Why::Lapsed))
    );
    assert_eq!(bench.machine.standing(ms(159)), Standing::Unknown);
    let released = bench.said();
    assert!(
        released.contains(&(
            1,
            Message::Release {
                term,
                to: None,
                orderly: false
            }
        )),
        "{released:?}"
    );
}

/// RL-11: an elected leader that no majority answers is deposed after the length of a lease.
#[test]
fn a_leader_that_is_never_established_gives_up() {
    let mut bench = follower();
    let term = bench.elect(10, 1);
    for at in 11..=157 {
        bench.input(at, Input::Timeout);
    }
    assert_eq!(bench.machine.role(), Role::Leader);
    bench.input(158, Input::Timeout);
    assert_eq!(
        bench.events.last(),
        Some(&Event::Deposed(Token::new(0, term), Why::Lapsed))
    );
}

/// The promise is as long as it was recorded, also for a life with a shorter one; and it is recorded before it is given.
#[test]
fn a_promise_outlives_a_restart_and_a_new_configuration() {
    let mut bench = follower();
    assert_eq!(bench.machine.promise(), None, "it never ran");
    bench.heartbeat(10, 1, 3);
    assert_eq!(
        bench.recorded().unwrap().promise,
        Duration::from_millis(150)
    );
    // What was recorded is waited out, and a grain more: 900 ms.
    let longer = Duration::from_micros(899_999);
    let long = Record {
        term: 3,
        vote: None,
        promise: longer,
        generation: 0,
    };
    let mut bench = Bench::booted(3, 0, Some(long), Shape::new(), Switched::default());
    let ask = |term| Message::RequestVote {
        term,
        last: Position::START,
        released: 0,
    };
    bench.hear(899, 1, ask(4));
    assert_eq!(
        bench.said(),
        vec![(1, Message::VoteRefused { asked: 4, term: 3 })]
    );
    // A heartbeat does not shorten the wait, and the record keeps it for another restart.
    let mut bench = Bench::booted(3, 0, Some(long), Shape::new(), Switched::default());
    bench.heartbeat(100, 1, 4);
    assert_eq!(bench.recorded().unwrap().promise, longer);
    bench.hear(890, 2, ask(5));
    bench.hear(901, 2, ask(5));
    bench.said().retain(|said| said.0 == 2);
    bench.heartbeat(902, 2, 5);
    assert_eq!(
        bench.recorded().unwrap().promise,
        Duration::from_millis(150)
    );
    // From when a promise of the present length ends no sooner, that one is enough.
    let mut bench = Bench::booted(3, 0, Some(long), Shape::new(), Switched::default());
    bench.heartbeat(749, 1, 4);
    assert_eq!(bench.recorded().unwrap().promise, longer);
    bench.heartbeat(750, 1, 5);
    assert_eq!(
        bench.recorded().unwrap().promise,
        Duration::from_millis(150)
    );
}

/// RL-3: a release frees from a promise to its own term alone; the wait after a restart ends when the term is the own.
#[test]
fn a_release_frees_from_its_own_term() {
    let mut bench = follower();
    bench.heartbeat(10, 1, 2);
    bench.heartbeat(20, 2, 3);
    bench.hear(
        30,
        1,
        Message::Release {
            term: 2,
            to: None,
            orderly: false,
        },
    );
    assert!(bench.machine.promise().is_some());
    bench.hear(
        31,
        1,
        Message::Release {
            term: 3,
            to: None,
            orderly: false,
        },
    );
    assert_eq!(
        bench.machine.refusals().count(Refusal::SecondLeader),
        1,
        "only its leader may release a term"
    );
    bench.hear(
        32,
        2,
        Message::Release {
            term: 3,
            to: None,
            orderly: false,
        },
    );
    assert_eq!(bench.machine.promise(), None);

    let record = Record {
        term: 3,
        vote: None,
        promise: Duration::from_millis(150),
        generation: 0,
    };
    let mut bench = Bench::booted(3, 0, Some(record), Shape::new(), Switched::default());
    bench.hear(
        1,
        1,
        Message::Release {
            term: 2,
            to: None,
            orderly: false,
        },
    );
    assert!(bench.machine.promise().is_some());
    bench.hear(
        2,
        1,
        Message::Release {
            term: 3,
            to: None,
            orderly: false,
        },
    );
    assert_eq!(bench.machine.promise(), None);
}

/// RL-3 between terms: a promise that outlived the adoption of a term ends with the release of its own; and a leader that
/// this node never followed frees it from nothing.
#[test]
fn a_release_of_another_term_is_told_apart() {
    let mut bench = follower();
    bench.heartbeat(10, 1, 2);
    bench.input(130, Input::Campaign);
    bench.hear(
        131,
        2,
        Message::PreVoteRefused {
            asked: 3,
            term: 4,
            better: None,
        },
    );
    assert_eq!(bench.machine.term(), 4);
    assert_eq!(bench.machine.promise().unwrap().to, Some(2));
    bench.hear(
        132,
        1,
        Message::Release {
            term: 6,
            to: None,
            orderly: false,
        },
    );
    bench.hear(
        132,
        1,
        Message::Release {
            term: 4,
            to: None,
            orderly: false,
        },
    );
    assert!(bench.machine.promise().is_some());
    bench.hear(
        133,
        1,
        Message::Release {
            term: 2,
            to: None,
            orderly: false,
        },
    );
    assert_eq!(bench.machine.promise(), None);
    bench.heartbeat(134, 2, 5);
    assert_eq!(
        bench.machine.leader(),
        Some(NodeId(2)),
        "of a term below the one that was released"
    );
}

/// Hearsay of a release moves neither a leader nor a node that never followed the one that stopped.
#[test]
fn a_release_told_by_a_candidate_moves_nobody_it_does_not_concern() {
    let ask = |term, released| Message::RequestVote {
        term,
        last: Position::START,
        released,
    };
    let mut bench = follower();
    let term = bench.elect(10, 1);
    bench.acked(11, 1, term, 10);
    bench.hear(12, 2, ask(term + 1, term));
    assert_eq!(bench.machine.leader(), Some(NodeId(0)));
    let led = bench.machine.standing(ms(12));
    assert!(matches!(led, Standing::Leading(_)), "{led:?}");

    let mut bench = follower();
    bench.heartbeat(10, 1, 5);
    bench.hear(11, 2, ask(9, 8));
    assert_eq!(bench.machine.term(), 5, "refused under a promise");
    bench.heartbeat(12, 1, 8);
    assert_eq!(bench.machine.term(), 8, "that leader may be alive");
}

/// C8: a follower keeps nothing of what it needed to lead.
#[test]
fn a_leader_that_follows_frees_what_it_led_with() {
    let mut bench = follower();
    let term = bench.elect(10, 1);
    let heartbeat = Message::Heartbeat {
        term: term + 1,
        sent: ms(11),
        round: 1,
        commit: 0,
    };
    bench.input(
        11,
        Input::Peer(
            NodeId(1),
            Message::HeartbeatRefused {
                asked: term,
                term: term + 1,
            },
        ),
    );
    assert_eq!(bench.machine.role(), Role::Follower);
    let machine = &mut bench.machine;
    let measured = allocation_counter::measure(|| {
        machine.handle(ms(12), Input::Peer(NodeId(1), heartbeat));
    });
    assert!(measured.bytes_current < 0, "{measured:?}");
}

/// Once nobody leads any more, a follower waits no longer than a retry draw, and never longer than it would have.
#[test]
fn a_release_brings_the_next_attempt_forward() {
    let restarted = Record {
        term: 3,
        promise: Duration::from_millis(900),
        ..Record::default()
    };
    let mut bench = Bench::booted(3, 0, Some(restarted), Shape::new(), Switched::default());
    assert!(bench.machine.deadline() >= Some(ms(870)));
    bench.hear(
        1,
        1,
        Message::Release {
            term: 3,
            to: None,
            orderly: false,
        },
    );
    assert!(
        bench.machine.deadline() <= Some(ms(1 + 120)),
        "it was freed"
    );

    let (mut sooner, mut same) = (0, 0);
    for id in 1..30 {
        let mut bench = Bench::booted(30, id, None, Shape::new(), Switched::default());
        bench.heartbeat(10, 0, 1);
        let before = bench.machine.deadline();
        // Its promise has run out, and it still follows.
        bench.hear(
            161,
            0,
            Message::Release {
                term: 1,
                to: None,
                orderly: false,
            },
        );
        let after = bench.machine.deadline();
        assert!(after <= before, "node {id}: {after:?} after {before:?}");
        if after < before {
            sooner += 1;
        } else {
            same += 1;
        }
    }
    assert!(sooner > 0 && same > 0, "{sooner} {same}");
}

/// A successor is one of the others; anybody may follow when the host names somebody else.
#[test]
fn a_resignation_to_nobody_names_nobody() {
    for to in [None, Some(NodeId(0)), Some(NodeId(9))] {
        let mut bench = follower();
        let term = bench.elect(10, 1);
        bench.said();
        bench.input(20, Input::Resign { to });
        let release = Message::Release {
            term,
            to: None,
            orderly: true,
        };
        assert_eq!(bench.said(), [(1, release.clone()), (2, release)], "{to:?}");
    }
}

/// KAFKA-20895: after a resignation the named follower campaigns at once and nobody's stickiness is in its way.
#[test]
fn a_resignation_names_a_successor() {
    let mut leader = follower();
    let term = leader.elect(10, 1);
    leader.acked(11, 1, term, 10);
    leader.said();
    leader.input(
        20,
        Input::Resign {
            to: Some(NodeId(2)),
        },
    );
    let release = Message::Release {
        term,
        to: Some(NodeId(2)),
        orderly: true,
    };
    assert_eq!(
        leader.said(),
        vec![(1, release.clone()), (2, release.clone())]
    );
    assert_eq!(leader.machine.standing(ms(20)), Standing::Unknown);

    let mut successor = Bench::booted(3, 2, None, Shape::new(), Switched::default());
    successor.heartbeat(10, 0, term);
    successor.said();
    successor.hear(25, 0, release.clone());
    // It was chosen, and asks nobody whether it would be; what it asks carries the release to whom that did not reach.
    assert_eq!(successor.machine.role(), Role::Candidate);
    let mut other = Bench::booted(3, 1, None, Shape::new(), Switched::default());
    other.heartbeat(10, 0, term);
    other.said();
    other.hear(30, 2, successor.said()[0].1.clone());
    assert_eq!(other.said(), [(2, Message::VoteGranted { term: term + 1 })]);
}

/// A heartbeat that was overtaken by its leader's release revives nothing.
#[test]
fn a_heartbeat_behind_its_release_is_ignored() {
    let mut bench = follower();
    bench.heartbeat(1, 1, 1);
    bench.hear(
        2,
        1,
        Message::Release {
            term: 1,
            to: None,
            orderly: false,
        },
    );
    bench.heartbeat(3, 1, 1);
    assert_eq!(bench.machine.standing(ms(3)), Standing::Unknown);
    assert_eq!(bench.machine.promise(), None);
    bench.heartbeat(4, 2, 2);
    assert!(matches!(
        bench.machine.standing(ms(4)),
        Standing::Following(_)
    ));
}

/// A promise that has run out is none: a release that comes after it frees nobody, and moves no timer.
#[test]
fn a_promise_that_ran_out_is_none() {
    let record = Record {
        term: 3,
        // With the grain of the clock, the wait ends at 100 ms.
        promise: Duration::from_micros(99_999),
        ..Record::default()
    };
    let mut could_notice = false;
    for id in 0..9 {
        let mut bench = Bench::booted(9, id, Some(record), Shape::new(), Switched::default());
        let deadline = bench.machine.deadline();
        // The longest retry draw from 110 ms on ends at 230 ms: a later timer would be moved by it.
        could_notice |= deadline > Some(ms(230));
        for at in [100, 110] {
            bench.hear(
                at,
                (id + 1) % 9,
                Message::Release {
                    term: 3,
                    to: None,
                    orderly: false,
                },
            );
            assert_eq!(bench.machine.deadline(), deadline, "node {id} at {at} ms");
        }
    }
    assert!(could_notice);
}

/// The leader that lapses asks the one it still reaches to stand, who does not step back from others (the hub of a
/// quorum-loss star is the only one that can win).
#[test]
fn a_lapsed_leader_names_whom_it_reaches() {
    let mut leader = Bench::booted(5, 0, None, Shape::new(), Switched::default());
    leader.input(10, Input::Campaign);
    for voter in [1, 2] {
        leader.hear(
            10,
            voter,
            Message::PreVoteGranted {
                term: 1,
                remainder: Duration::ZERO,
                sent: ms(10),
            },
        );
    }
    for voter in [1, 2] {
        leader.hear(10, voter, Message::VoteGranted { term: 1 });
    }
    for voter in [1, 2] {
        leader.acked(12, voter, 1, 10);
    }
    leader.input(60, Input::Timeout);
    leader.acked(62, 2, 1, 60);
    leader.said();
    leader.input(158, Input::Timeout);
    let release = Message::Release {
        term: 1,
        to: Some(NodeId(2)),
        orderly: false,
    };
    assert!(leader.said().contains(&(2, release.clone())));

    // A promise that ends with the lease reaches no further.
    let mut pair = follower();
    let term = pair.elect(10, 1);
    pair.acked(12, 1, term, 10);
    let until = pair.machine.lease().unwrap().until;
    pair.machine.handle(until, Input::Timeout);
    pair.input(158, Input::Timeout);
    assert!(pair.said().contains(&(
        1,
        Message::Release {
            term,
            to: None,
            orderly: false
        }
    )));

    let mut hub = Bench::booted(5, 2, None, Shape::new(), Switched::default());
    hub.heartbeat(60, 0, 1);
    hub.hear(160, 0, release);
    // It may reach nobody else either: it asks before it raises its term, and does not yield.
    assert_eq!(
        (hub.machine.role(), hub.machine.term()),
        (Role::PreCandidate, 1)
    );
    let ask = Message::RequestPreVote {
        term: 2,
        last: Position::START,
        sent: ms(160),
        released: 0,
    };
    hub.machine.handle(ms(161), Input::Peer(NodeId(4), ask));
    assert_eq!(hub.machine.role(), Role::PreCandidate, "it does not yield");
}
