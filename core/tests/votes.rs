//! Votes and pre-votes, message by message; the public reports that taught the rules are cited at each.

mod bench;

use bench::{Bench, follower, ms, plain};
use tenure::log::{Position, Shape};
use tenure::raft::{Lease, Message, Record, Role, Rule, Switched};
use tenure::{Duration, Election, Input, Instant, NodeId, Standing};

/// The guides' vote handler keeps the old vote; here a vote of term 1 never blocks one in term 2.
#[test]
fn a_vote_of_an_older_term_blocks_nothing() {
    let mut bench = follower();
    bench.hear(
        1,
        1,
        Message::RequestVote {
            term: 1,
            last: Position::START,
            released: 0,
        },
    );
    bench.hear(
        2,
        2,
        Message::RequestVote {
            term: 1,
            last: Position::START,
            released: 0,
        },
    );
    bench.hear(
        3,
        2,
        Message::RequestVote {
            term: 2,
            last: Position::START,
            released: 0,
        },
    );
    let expected = vec![
        (1, Message::VoteGranted { term: 1 }),
        (2, Message::VoteRefused { asked: 1, term: 1 }),
        (2, Message::VoteGranted { term: 2 }),
    ];
    assert_eq!(bench.said(), expected);
}

/// Raft §5.4.1 for every pair of log shapes: the later last term wins, then the longer log. Pre-votes that asked nobody for
/// a log gave a healthy group ten leaders in half an hour (ClickHouse/NuRaft#134); votes that compared lengths alone let a
/// long log of an old term replace what was committed (noraft 0.4.0).
#[test]
fn votes_and_pre_votes_go_to_logs_at_least_as_up_to_date() {
    let shapes = [
        vec![],
        vec![(1, 1)],
        vec![(1, 3)],
        vec![(1, 1), (2, 1)],
        vec![(1, 5), (3, 1)],
        vec![(3, 2)],
    ];
    for mine in &shapes {
        for theirs in &shapes {
            let log = Shape::from_runs(mine.iter().copied()).unwrap();
            let last = Shape::from_runs(theirs.iter().copied()).unwrap().last();
            let better = (last.term, last.index) >= (log.last().term, log.last().index);
            let record = Record {
                term: 4,
                vote: None,
                ..Record::default()
            };
            let mut bench = Bench::booted(3, 0, Some(record), log, Switched::default());
            bench.hear(
                1,
                1,
                Message::RequestPreVote {
                    term: 5,
                    last,
                    sent: ms(1),
                    released: 0,
                },
            );
            bench.hear(
                2,
                1,
                Message::RequestVote {
                    term: 5,
                    last,
                    released: 0,
                },
            );
            let granted = |said: &(u64, Message)| {
                matches!(
                    said.1,
                    Message::PreVoteGranted { .. } | Message::VoteGranted { .. }
                )
            };
            assert_eq!(
                bench.said().iter().filter(|said| granted(said)).count(),
                if better { 2 } else { 0 },
                "{mine:?} {theirs:?}"
            );
        }
    }
}

/// etcd#8243 and etcd#8501: a pre-vote refusal carries the voter's term, which the asker adopts; then it can win.
#[test]
fn a_node_with_a_lower_term_catches_up_by_its_refusals() {
    let mut bench = follower();
    bench.input(10, Input::Campaign);
    bench.said();
    bench.hear(
        12,
        1,
        Message::PreVoteRefused {
            asked: 1,
            term: 5,
            better: None,
        },
    );
    assert_eq!(
        (bench.machine.term(), bench.machine.role()),
        (5, Role::Follower)
    );
    let retry = bench.machine.deadline().unwrap();
    assert!(
        retry <= ms(12 + 120),
        "the retry draw, not a whole election timeout: {retry:?}"
    );
    bench.input(132, Input::Timeout);
    assert!(matches!(
        bench.said()[0].1,
        Message::RequestPreVote { term: 6, .. }
    ));
}

/// RL-8: a pre-vote is for a term above the voter's own; a voter in that very term may have voted.
#[test]
fn a_pre_vote_is_for_a_higher_term() {
    let record = Record {
        term: 5,
        ..Record::default()
    };
    let mut bench = Bench::booted(3, 0, Some(record), Shape::new(), Switched::default());
    let ask = |term| Message::RequestPreVote {
        term,
        last: Position::START,
        sent: ms(1),
        released: 0,
    };
    for (term, granted) in [(4, false), (5, false), (6, true)] {
        bench.hear(1, 1, ask(term));
        let said = &bench.said()[0].1;
        assert_eq!(
            matches!(said, Message::PreVoteGranted { .. }),
            granted,
            "{said:?}"
        );
    }
}

/// A round trip longer than the retry draw still elects: an answer to an earlier attempt of the same candidacy counts, as
/// long as the voter cannot have promised to a leader and be free again since.
#[test]
fn slow_answers_count_for_a_timeout() {
    let granted = |sent| Message::PreVoteGranted {
        term: 1,
        remainder: Duration::ZERO,
        sent,
    };
    for (at, counts) in [(160, true), (161, false)] {
        let mut bench = follower();
        bench.input(10, Input::Campaign);
        bench.input(140, Input::Timeout);
        assert_eq!(bench.machine.armed_at(), ms(140), "it asked again");
        bench.hear(at, 1, granted(ms(10)));
        let won = bench.machine.role() == Role::Candidate;
        assert_eq!(won, counts, "at {at} ms");
        assert_eq!(bench.machine.refusals().total(), 0);
    }
}

/// RL-9: of two pre-candidates with equal logs the lower id steps back, once per leader silence.
#[test]
fn the_lower_id_yields_once() {
    let ask = |at| Message::RequestPreVote {
        term: 1,
        last: Position::START,
        sent: ms(at),
        released: 0,
    };
    let mut bench = Bench::booted(3, 1, None, Shape::new(), Switched::default());
    bench.input(10, Input::Campaign);
    bench.hear(11, 0, ask(11));
    assert_eq!(
        bench.machine.role(),
        Role::PreCandidate,
        "it does not yield to a lower id"
    );
    bench.hear(12, 2, ask(12));
    assert_eq!(bench.machine.role(), Role::Follower);
    let again = bench.machine.deadline().unwrap();
    assert!(
        ms(12 + 60) <= again && again <= ms(12 + 90),
        "two to three fifths of a timeout: {again}"
    );
    let granted = Message::PreVoteGranted {
        term: 1,
        remainder: Duration::ZERO,
        sent: ms(10),
    };
    bench.hear(13, 0, granted.clone());
    bench.hear(13, 2, granted.clone());
    assert_eq!(
        (bench.machine.role(), bench.machine.grants()),
        (Role::Follower, 0),
        "what was asked before is over"
    );
    bench.input(102, Input::Timeout);
    assert_eq!(bench.machine.role(), Role::PreCandidate);
    bench.hear(102, 0, granted);
    assert_eq!(bench.machine.grants(), 1, "also once it asks anew");
    bench.hear(103, 2, ask(103));
    assert_eq!(bench.machine.role(), Role::PreCandidate, "not twice");
}

/// RL-10: pre-votes are granted up to a fifth of a promise early, with the remainder, and the vote waits for it.
#[test]
fn early_pre_votes_wait_for_the_promises() {
    let ask = Message::RequestPreVote {
        term: 2,
        last: Position::START,
        sent: ms(9),
        released: 0,
    };
    let mut voter = follower();
    voter.heartbeat(0, 1, 1);
    voter.said();
    voter.hear(119, 2, ask.clone());
    voter.hear(120, 2, ask);
    let expected = vec![
        (
            2,
            Message::PreVoteRefused {
                asked: 2,
                term: 1,
                better: None,
            },
        ),
        (
            2,
            Message::PreVoteGranted {
                term: 2,
                remainder: Duration::from_millis(30),
                sent: ms(9),
            },
        ),
    ];
    assert_eq!(voter.said(), expected);

    let mut asker = Bench::booted(3, 2, None, Shape::new(), Switched::default());
    asker.heartbeat(0, 1, 1);
    asker.input(125, Input::Campaign);
    asker.hear(
        130,
        0,
        Message::PreVoteGranted {
            term: 2,
            remainder: Duration::from_millis(20),
            sent: ms(125),
        },
    );
    assert_eq!(asker.machine.role(), Role::PreCandidate);
    // 20 ms on the slowest clock, seen from the fastest.
    assert_eq!(
        asker.machine.deadline(),
        Some(ms(130) + Duration::from_micros(20_405))
    );
    let mut told_again = Bench::of(asker.machine.clone());
    asker.input(151, Input::Timeout);
    assert_eq!(asker.machine.role(), Role::Candidate);

    // What the voter says last counts, also when it is bound for longer.
    told_again.hear(
        131,
        0,
        Message::PreVoteGranted {
            term: 2,
            remainder: Duration::from_millis(40),
            sent: ms(125),
        },
    );
    told_again.input(151, Input::Timeout);
    assert_eq!(told_again.machine.role(), Role::PreCandidate);
    assert!(told_again.machine.deadline() > Some(ms(171)));
}

/// What a machine tells while it is being elected, step by step: an inspector has nothing else to go by.
#[test]
fn an_election_can_be_watched() {
    let log = Shape::from_runs([(1, 2)]).unwrap();
    let before = Record {
        term: 1,
        ..Record::default()
    };
    let mut bench = Bench::booted(5, 0, Some(before), log, Switched::default());
    assert_eq!(bench.machine.last(), Position::new(1, 2));
    assert_eq!(
        (bench.machine.record(), bench.machine.grants()),
        (before, 0)
    );

    bench.input(10, Input::Campaign);
    assert_eq!(bench.machine.grants(), 1, "its own");
    let pre_vote = Message::PreVoteGranted {
        term: 2,
        remainder: Duration::ZERO,
        sent: ms(10),
    };
    bench.hear(11, 1, pre_vote.clone());
    bench.hear(12, 1, pre_vote.clone());
    assert_eq!(bench.machine.grants(), 2, "a voter counts once");

    bench.disk_works = false;
    bench.hear(13, 2, pre_vote);
    let machine = &bench.machine;
    assert_eq!((machine.role(), machine.term()), (Role::Candidate, 2));
    assert_eq!((machine.pending(), machine.grants()), (1, 0));
    assert_eq!(
        (machine.record().term, machine.vote()),
        (2, Some(NodeId(0)))
    );
    bench.input(14, Input::Reply(bench.waiting[0], Ok(())));
    assert_eq!((bench.machine.pending(), bench.machine.grants()), (0, 1));

    bench.hear(14, 1, Message::VoteGranted { term: 1 });
    assert_eq!(bench.machine.grants(), 1, "RL-1: of another term");
    bench.hear(15, 1, Message::VoteGranted { term: 2 });
    bench.hear(16, 1, Message::VoteGranted { term: 2 });
    assert_eq!((bench.machine.grants(), bench.machine.leader()), (2, None));
    bench.hear(17, 2, Message::VoteGranted { term: 2 });
    assert_eq!(bench.machine.leader(), Some(NodeId(0)));
    assert!(!bench.machine.established());

    bench.heartbeat(18, 4, 3);
    assert_eq!(bench.machine.leader(), Some(NodeId(4)));
}

/// RL-10: a candidacy begins a fifth of a timeout early, and not sooner, whether the timer or the host asks for it; also
/// under a longer promise of a former life.
#[test]
fn a_candidacy_that_a_promise_forbids_is_not_begun() {
    let shortest = || Switched::without(&[Rule::RedrawPerAttempt]);
    let mut bench = Bench::booted(3, 0, None, Shape::new(), shortest());
    bench.heartbeat(10, 1, 1);
    assert_eq!(bench.machine.deadline(), Some(ms(10 + 120)));
    bench.input(129, Input::Campaign);
    assert_eq!(bench.machine.role(), Role::Follower);
    bench.input(130, Input::Campaign);
    assert_eq!(bench.machine.role(), Role::PreCandidate);

    let long = Record {
        term: 1,
        // The wait is a grain longer: it ends at 900 ms.
        promise: Duration::from_micros(899_999),
        ..Record::default()
    };
    let bench = Bench::booted(3, 0, Some(long), Shape::new(), shortest());
    assert_eq!(bench.machine.deadline(), Some(ms(870)));

    let unasked = Switched::without(&[Rule::RedrawPerAttempt, Rule::PreVote]);
    let mut bench = Bench::booted(3, 0, Some(long), Shape::new(), unasked);
    bench.input(899, Input::Timeout);
    assert_eq!(bench.machine.role(), Role::Follower);
    bench.input(900, Input::Timeout);
    assert_eq!(bench.machine.role(), Role::Candidate);
}

/// A group of one elects itself as soon as its disk holds the vote.
#[test]
fn a_group_of_one_leads_alone() {
    let mut bench = Bench::booted(1, 0, None, Shape::new(), Switched::default());
    bench.input(300, Input::Timeout);
    assert!(matches!(
        bench.machine.standing(ms(300)),
        Standing::Leading(_)
    ));
    for at in 301..2_000 {
        bench.input(at, Input::Timeout);
        assert!(
            matches!(bench.machine.standing(ms(at)), Standing::Leading(_)),
            "at {at} ms"
        );
    }
}

/// Plain Raft, without safe mode: no promise, no lease, and a higher term deposes.
#[test]
fn outside_safe_mode_it_is_plain_raft() {
    let mut bench = plain();
    bench.input(300, Input::Timeout);
    assert_eq!(
        bench.machine.role(),
        Role::Candidate,
        "it does not ask first"
    );
    bench.hear(301, 1, Message::VoteGranted { term: 1 });
    bench.acked(302, 1, 1, 301);
    let Standing::Leading(tenure) = bench.machine.standing(ms(10_000)) else {
        panic!("it believes for ever")
    };
    assert_eq!(tenure.until, Instant::FOREVER);
    let lease = Lease {
        from: ms(301),
        until: Instant::FOREVER,
    };
    assert_eq!(bench.machine.lease(), Some(lease));
    bench.hear(
        400,
        2,
        Message::RequestVote {
            term: 2,
            last: Position::START,
            released: 0,
        },
    );
    assert_eq!(bench.machine.vote(), Some(NodeId(2)));
}

/// Each failed attempt doubles the time for the next, up to sixteenfold: slow disks and networks are outwaited.
#[test]
fn attempts_that_fail_are_given_more_time() {
    let mut bench = plain();
    let mut at = 400;
    for times in [1, 2, 4, 8, 16, 16] {
        bench.input(at, Input::Timeout);
        assert_eq!(bench.machine.role(), Role::Candidate);
        let given = bench.machine.deadline().unwrap().since(ms(at));
        let (low, high) = (150 * times, 300 * times);
        assert!(
            Duration::from_millis(low) <= given && given <= Duration::from_millis(high),
            "{given}, not {low} to {high} ms"
        );
        at += high;
    }
}

/// Whoever gave its vote leaves the candidate a whole timeout, doubled for each vote before that elected nobody; that one
/// candidate asks again makes it no longer.
#[test]
fn voters_wait_for_whom_they_voted_for() {
    let mut bench = follower();
    for (term, times) in [(1, 1), (2, 2), (3, 4)] {
        let at = 1_000 * term;
        let ask = Message::RequestVote {
            term,
            last: Position::START,
            released: 0,
        };
        let (low, high) = (120 * times, 270 * times);
        for _ in 0..3 {
            bench.hear(at, 1 + term % 2, ask.clone());
            let wait = bench.machine.deadline().unwrap().since(ms(at));
            assert!(
                Duration::from_millis(low) <= wait && wait <= Duration::from_millis(high),
                "{wait}, not {low} to {high} ms"
            );
        }
    }
}

/// With the rule off half of the voters are enough, and no fewer.
#[test]
fn half_is_enough_without_a_majority_of_voters() {
    let off = Switched::without(&[Rule::MajorityOfVoters, Rule::PreVote]);
    let mut bench = Bench::booted(5, 0, None, Shape::new(), off);
    bench.input(300, Input::Timeout);
    assert_eq!(bench.machine.role(), Role::Candidate);
    bench.hear(301, 1, Message::VoteGranted { term: 1 });
    assert_eq!(bench.machine.role(), Role::Leader);
}

/// With the rule off one voter is enough for a majority, when it says so often enough.
#[test]
fn a_vote_may_count_twice_without_count_once() {
    let off = Switched::without(&[Rule::CountOnce, Rule::PreVote]);
    let mut bench = Bench::booted(5, 0, None, Shape::new(), off);
    bench.input(300, Input::Timeout);
    for role in [Role::Candidate, Role::Leader] {
        bench.hear(301, 1, Message::VoteGranted { term: 1 });
        assert_eq!(bench.machine.role(), role);
    }
}

/// A reign ends what came before it: the first attempt after it is as quick as any first attempt.
#[test]
fn failures_do_not_outlive_a_reign() {
    let mut bench = follower();
    let mut at = 10;
    bench.input(at, Input::Campaign);
    for _ in 0..3 {
        let (term, sent) = (bench.machine.term() + 1, bench.machine.armed_at());
        bench.hear(
            at,
            1,
            Message::PreVoteGranted {
                term,
                remainder: Duration::ZERO,
                sent,
            },
        );
        assert_eq!(bench.machine.role(), Role::Candidate);
        at = bench.machine.deadline().unwrap().as_micros() / 1_000 + 1;
        bench.input(at, Input::Timeout);
    }
    let (term, sent) = (bench.machine.term() + 1, bench.machine.armed_at());
    bench.hear(
        at,
        1,
        Message::PreVoteGranted {
            term,
            remainder: Duration::ZERO,
            sent,
        },
    );
    bench.hear(at, 1, Message::VoteGranted { term });
    assert_eq!(bench.machine.role(), Role::Leader);
    bench.input(at, Input::Resign { to: None });
    bench.input(at, Input::Campaign);
    let (term, sent) = (term + 1, bench.machine.armed_at());
    bench.hear(
        at,
        1,
        Message::PreVoteGranted {
            term,
            remainder: Duration::ZERO,
            sent,
        },
    );
    let attempt = bench.machine.deadline().unwrap().since(ms(at));
    assert!(attempt <= Duration::from_millis(120), "{attempt}");
}

/// canonical/raft#196: who begins to ask for pre-votes keeps the vote it gave, or it gives a second one in the same term;
/// and a pre-vote is never counted as a vote.
#[test]
fn pre_votes_and_votes_are_kept_apart() {
    let ask = |term| Message::RequestVote {
        term,
        last: Position::START,
        released: 0,
    };
    let mut voter = follower();
    voter.hear(1, 1, ask(1));
    voter.input(400, Input::Timeout);
    assert_eq!(voter.machine.role(), Role::PreCandidate);
    assert_eq!(voter.machine.vote(), Some(NodeId(1)));
    voter.said();
    voter.hear(401, 2, ask(1));
    let refused = Message::VoteRefused { asked: 1, term: 1 };
    assert_eq!(voter.said(), [(2, refused)]);

    let mut asker = Bench::booted(5, 0, None, Shape::new(), Switched::default());
    let granted = |term| Message::PreVoteGranted {
        term,
        remainder: Duration::ZERO,
        sent: ms(10),
    };
    asker.input(10, Input::Campaign);
    asker.hear(11, 1, granted(1));
    asker.hear(11, 2, granted(1));
    assert_eq!(asker.machine.role(), Role::Candidate);
    for voter in [1, 2, 3, 4] {
        asker.hear(12, voter, granted(1));
        asker.hear(12, voter, granted(2));
    }
    let asker = &asker.machine;
    assert_eq!(
        (asker.role(), asker.term(), asker.grants()),
        (Role::Candidate, 1, 1)
    );
}

/// etcd#4887: a timer is drawn once when it is armed. A draw at every tick fires with the shortest of many, for all alike.
/// EastGuard#120: and anew for each attempt, or two nodes with one draw meet for ever.
#[test]
fn a_timer_is_drawn_once_for_each_attempt() {
    let mut bench = follower();
    let drawn = bench.machine.deadline();
    for at in 1..120 {
        bench.input(at, Input::Timeout);
        let stray = Message::HeartbeatAck {
            term: 1,
            sent: ms(0),
            round: 1,
            promise: Duration::ZERO,
            matched: 0,
        };
        bench.hear(at, 1, stray);
    }
    assert_eq!(bench.machine.deadline(), drawn);
    let mut pauses = std::collections::BTreeSet::new();
    for _ in 0..10 {
        let due = bench.machine.deadline().unwrap();
        bench.machine.handle(due, Input::Timeout);
        pauses.insert(bench.machine.deadline().unwrap().since(due));
    }
    assert_eq!(pauses.len(), 10, "{pauses:?}");
}
