//! The disk, its records, and input that cannot be true, message by message.

mod bench;

use bench::{Bench, follower, handled, ms, plain};
use tenure::fence::Holder;
use tenure::log::{Position, Shape};
use tenure::membership::Membership;
use tenure::quorum::Voters;
use tenure::raft::{
    Boot, Config, ConfigError, Entries, Faithful, LogWrite, MAX_INDEX, Message, Raft, Record,
    Refusal, Replication, Role, Stored, Switched, Write,
};
use tenure::{
    Duration, Election, Event, Input, NodeId, Output, Standing, Ticket, Token, Unknown, Why,
};

/// C1: while the disk is silent nothing is said, however much is asked, and nothing grows (NodeDB#161: votes that were
/// answered before they were durable).
#[test]
fn a_silent_disk_keeps_everything_inside() {
    let mut bench = follower();
    bench.disk_works = false;
    bench.hear(
        1,
        1,
        Message::RequestVote {
            term: 1,
            last: Position::START,
            released: 0,
        },
    );
    for at in 2..1_000 {
        bench.heartbeat(at, 1, 1);
        bench.hear(
            at,
            2,
            Message::RequestVote {
                term: 1,
                last: Position::START,
                released: 0,
            },
        );
    }
    assert_eq!(bench.said(), vec![]);
    let newest = *bench.waiting.last().unwrap();
    bench.input(1_000, Input::Reply(newest, Ok(())));
    // One reply covers all before it, and of each kind to each peer only the newest message is said.
    assert_eq!(bench.said().len(), 3);
}

/// C8: whoever is in no configuration of this node may still be in a newer one, so that strangers are answered; but while
/// the disk hangs, no more than a few of their answers wait, whatever they ask and however many they are.
#[test]
fn a_silent_disk_keeps_few_answers_to_strangers() {
    const STRANGERS: u64 = 100_000;
    let mut bench = Bench::with_log(3, 0, None, Replication::default(), Faithful);
    bench.disk_works = false;
    let (last, released) = (Position::START, 0);
    let vote = |term| Message::RequestVote {
        term,
        last,
        released,
    };
    bench.hear(1, 1, vote(2));
    for stranger in 10..10 + STRANGERS {
        bench.hear(2, stranger, vote(2));
    }
    // A member's answer has its place whoever came before.
    bench.hear(3, 2, vote(2));
    assert_eq!(bench.said(), vec![]);
    let newest = *bench.waiting.last().unwrap();
    bench.input(4, Input::Reply(newest, Ok(())));
    let said = bench.said();
    assert_eq!(said[0], (1, Message::VoteGranted { term: 2 }));
    let refusal = Message::VoteRefused { asked: 2, term: 2 };
    assert_eq!(said.last(), Some(&(2, refusal)));
    let strangers = said.iter().filter(|(to, _)| *to >= 10).count() as u64;
    assert_eq!(strangers, 8);
    let dropped = bench.machine.refusals().count(Refusal::TooManyStrangers);
    assert_eq!(u64::from(dropped), STRANGERS - strangers);
    // The disk is back: the next is answered.
    bench.hear(5, 9, vote(1));
    assert_eq!(bench.said().len(), 1);
}

/// C1: replies of a former life, and to requests never made, are ignored by name.
#[test]
fn foreign_tickets_are_refused() {
    let mut bench = follower();
    bench.disk_works = false;
    bench.hear(
        1,
        1,
        Message::RequestVote {
            term: 1,
            last: Position::START,
            released: 0,
        },
    );
    let ticket = bench.waiting[0];
    bench.input(
        2,
        Input::Reply(
            Ticket {
                incarnation: 99,
                ..ticket
            },
            Ok(()),
        ),
    );
    bench.input(
        2,
        Input::Reply(
            Ticket {
                incarnation: 99,
                ..ticket
            },
            Err(Unknown),
        ),
    );
    bench.input(
        2,
        Input::Reply(
            Ticket {
                number: 7,
                ..ticket
            },
            Ok(()),
        ),
    );
    bench.input(
        2,
        Input::Reply(
            Ticket {
                number: 0,
                ..ticket
            },
            Ok(()),
        ),
    );
    assert_eq!(bench.said(), vec![]);
    assert_eq!(bench.machine.refusals().count(Refusal::UnknownTicket), 4);
    assert!(!bench.machine.halted());
}

/// C1: a doubtful write ends the incarnation; it says and does nothing more, and what it led is reported over.
#[test]
fn a_doubtful_write_ends_the_incarnation() {
    let mut bench = follower();
    let term = bench.elect(10, 1);
    bench.disk_works = false;
    bench.acked(11, 1, term, 10);
    assert!(matches!(
        bench.machine.standing(ms(12)),
        Standing::Leading(_)
    ));
    bench.heartbeat(13, 2, term + 1);
    let ticket = bench.waiting[0];
    bench.said();
    bench.input(14, Input::Reply(ticket, Err(Unknown)));
    assert!(
        bench
            .events
            .ends_with(&[Event::Following(None), Event::Halted])
    );
    for at in 15..2_000 {
        bench.input(at, Input::Timeout);
        bench.heartbeat(at, 1, term + 2);
        bench.input(at, Input::Campaign);
    }
    assert_eq!((bench.said(), bench.machine.deadline()), (vec![], None));
    assert_eq!(bench.machine.standing(ms(3_000)), Standing::Unknown);
}

/// C1 and C7: a leader whose disk turns doubtful is deposed, once; it had followed nobody, and nobody is lost to it.
#[test]
fn a_doubtful_write_deposes_the_leader() {
    let mut bench = follower();
    let term = bench.elect(10, 1);
    bench.events.clear();
    let first = Ticket {
        incarnation: 1,
        number: 1,
    };
    bench.input(12, Input::Reply(first, Err(Unknown)));
    let deposed = Event::Deposed(Token::new(0, term), Why::DiskFailed);
    assert_eq!(bench.events, [deposed, Event::Halted]);
    assert!(bench.machine.halted());
}

/// A voter whose disk is slow does not stand meanwhile: a term of its own would take back the vote that waits.
#[test]
fn a_vote_that_waits_for_the_disk_leaves() {
    let mut bench = follower();
    bench.disk_works = false;
    let ask = Message::RequestVote {
        term: 1,
        last: Position::START,
        released: 0,
    };
    bench.hear(1, 1, ask);
    for at in (400..2_000).step_by(200) {
        bench.input(at, Input::Timeout);
        assert_eq!(bench.machine.role(), Role::Follower, "at {at} ms");
    }
    bench.input(2_000, Input::Reply(bench.waiting[0], Ok(())));
    assert_eq!(bench.said(), [(1, Message::VoteGranted { term: 1 })]);
    assert!(
        bench.machine.deadline() >= Some(ms(2_000 + 120)),
        "the candidate has a whole timeout from here"
    );
}

/// C1: the own vote counts when the disk holds it, not when it holds something older.
#[test]
fn an_own_vote_counts_when_it_is_durable() {
    let mut bench = plain();
    bench.disk_works = false;
    bench.heartbeat(1, 1, 1);
    bench.input(2, Input::Campaign);
    let [older, newer] = bench.waiting[..] else {
        panic!("{:?}", bench.waiting)
    };
    bench.input(3, Input::Reply(older, Ok(())));
    assert_eq!((bench.machine.grants(), bench.said()), (0, vec![]));
    bench.input(4, Input::Reply(newer, Ok(())));
    assert_eq!((bench.machine.grants(), bench.said().len()), (1, 2));
}

/// What waits for the disk speaks of its term, and is not said once that is over.
#[test]
fn a_vote_of_a_term_that_is_over_stays_inside() {
    let mut bench = follower();
    bench.disk_works = false;
    for (candidate, term) in [(1, 1), (2, 2)] {
        let last = Position::START;
        bench.hear(
            1,
            candidate,
            Message::RequestVote {
                term,
                last,
                released: 0,
            },
        );
    }
    bench.input(2, Input::Reply(bench.waiting[1], Ok(())));
    assert_eq!(bench.said(), [(2, Message::VoteGranted { term: 2 })]);
}

/// Nothing is written before there is something to say that depends on it.
#[test]
fn a_node_that_does_nothing_writes_nothing() {
    let mut bench = follower();
    bench.input(1, Input::Timeout);
    bench.input(2, Input::Resign { to: None });
    assert_eq!(bench.disk, None);
}

/// A life goes by its nonce: at the disk, and at a guarded resource.
#[test]
fn a_life_goes_by_its_nonce() {
    let voters = Voters::new((0..3).map(NodeId)).unwrap();
    let boot = Boot {
        stored: None,
        incarnation: 33,
        seed: 1,
    };
    let mut machine = Raft::new(Config::new(NodeId(2), voters), boot, ms(0)).unwrap();
    let holder = Holder {
        node: NodeId(2),
        incarnation: 33,
    };
    assert_eq!(machine.holder(), holder);
    let heartbeat = Message::Heartbeat {
        term: 1,
        sent: ms(1),
        round: 1,
        commit: 0,
    };
    machine.handle(ms(1), Input::Peer(NodeId(0), heartbeat));
    let asked = std::iter::from_fn(|| machine.poll()).find_map(|output| match output {
        Output::Request(ticket, _) => Some(ticket),
        _ => None,
    });
    let first = Ticket {
        incarnation: 33,
        number: 1,
    };
    assert_eq!(asked, Some(first));
}

/// C8: what cannot be true is refused by name and counted, and changes nothing.
#[test]
fn absurd_messages_are_refused_by_name() {
    let mut bench = follower();
    let term = bench.elect(10, 1);
    let start = Position::START;
    let promise = Duration::from_millis(150);
    let absurd = [
        (
            Refusal::UnknownSender,
            9,
            Message::Heartbeat {
                term,
                sent: ms(1),
                round: 1,
                commit: 0,
            },
        ),
        (Refusal::UnknownSender, 0, Message::VoteGranted { term }),
        (
            Refusal::TermTooHigh,
            1,
            Message::Heartbeat {
                term: u64::MAX,
                sent: ms(1),
                round: 1,
                commit: 0,
            },
        ),
        (
            Refusal::TermTooHigh,
            1,
            Message::RequestPreVote {
                term: u64::MAX,
                last: start,
                sent: ms(1),
                released: 0,
            },
        ),
        (
            Refusal::SecondLeader,
            1,
            Message::Heartbeat {
                term,
                sent: ms(1),
                round: 1,
                commit: 0,
            },
        ),
        (
            Refusal::SecondLeader,
            1,
            Message::Release {
                term,
                to: None,
                orderly: false,
            },
        ),
        (
            Refusal::Unasked,
            1,
            Message::HeartbeatAck {
                term: term + 1,
                sent: ms(10),
                promise,
                round: 1,
                matched: 0,
            },
        ),
        (
            Refusal::Unasked,
            1,
            Message::HeartbeatAck {
                term,
                sent: ms(11),
                promise,
                round: 1,
                matched: 0,
            },
        ),
        (
            Refusal::Unasked,
            1,
            Message::HeartbeatAck {
                term,
                sent: ms(9),
                promise,
                round: 1,
                matched: 0,
            },
        ),
        (
            Refusal::TermZero,
            1,
            Message::RequestVote {
                term: 0,
                last: start,
                released: 0,
            },
        ),
        (
            Refusal::TermLeap,
            1,
            Message::Heartbeat {
                term: tenure::raft::MAX_TERM,
                sent: ms(1),
                round: 1,
                commit: 0,
            },
        ),
        (Refusal::Unasked, 1, Message::VoteGranted { term: term + 1 }),
        (
            Refusal::Unasked,
            1,
            Message::HeartbeatRefused {
                asked: term + 1,
                term: term + 2,
            },
        ),
        (
            Refusal::ImpossibleLog,
            1,
            Message::RequestVote {
                term: 9,
                last: Position::new(10, 1),
                released: 0,
            },
        ),
        (
            Refusal::ImpossibleLog,
            1,
            Message::RequestVote {
                term: 9,
                last: Position::new(0, 1),
                released: 0,
            },
        ),
    ];
    for (reason, from, message) in absurd {
        let before = bench.machine.refusals().count(reason);
        bench.hear(12, from, message.clone());
        assert_eq!(
            bench.machine.refusals().count(reason),
            before + 1,
            "{message:?}"
        );
        assert_eq!(
            (bench.machine.role(), bench.machine.term()),
            (Role::Leader, term),
            "{message:?}"
        );
    }
    let mut voter = follower();
    voter.heartbeat(10, 1, 1);
    voter.heartbeat(11, 2, 1);
    assert_eq!(voter.machine.refusals().count(Refusal::SecondLeader), 1);
    assert_eq!(voter.machine.leader(), Some(NodeId(1)));
    let mut asker = follower();
    asker.input(10, Input::Campaign);
    let granted = |term, remainder, sent| Message::PreVoteGranted {
        term,
        remainder: Duration::from_millis(remainder),
        sent: ms(sent),
    };
    for (reason, message) in [
        (Refusal::ImpossiblePromise, granted(1, 151, 10)),
        (Refusal::Unasked, granted(2, 0, 10)),
        (Refusal::Unasked, granted(1, 0, 11)),
        (
            Refusal::Unasked,
            Message::PreVoteRefused {
                asked: 2,
                term: 2,
                better: None,
            },
        ),
    ] {
        let before = asker.machine.refusals().count(reason);
        asker.hear(11, 1, message.clone());
        let counted = asker.machine.refusals().count(reason) - before;
        assert_eq!((counted, asker.machine.grants()), (1, 1), "{message:?}");
    }
    asker.hear(11, 1, granted(1, 150, 10));
    assert_eq!(asker.machine.grants(), 2, "as long as any promise");
}

/// At the last term nobody campaigns any more, and nothing wraps.
#[test]
fn terms_end_without_wrapping() {
    let record = Record {
        term: tenure::raft::MAX_TERM,
        vote: None,
        ..Record::default()
    };
    let mut bench = Bench::booted(3, 0, Some(record), Shape::new(), Switched::default());
    for at in [400, 800, 1_200] {
        bench.input(at, Input::Timeout);
    }
    assert_eq!(bench.machine.role(), Role::Follower);
    assert_eq!(bench.machine.refusals().count(Refusal::TermsExhausted), 3);
}

/// Tokens never fall: a generation is recorded, and a lower one refused. Damaged records are told apart.
#[test]
fn records_that_cannot_be_are_refused() {
    fn boot(stored: impl Into<Stored>, generation: u32) -> Result<(), ConfigError> {
        let voters = Voters::new((0..3).map(NodeId)).unwrap();
        let config = Config {
            generation,
            ..Config::new(NodeId(0), voters)
        };
        let boot = Boot {
            stored: Some(stored.into()),
            incarnation: 1,
            seed: 1,
        };
        Raft::new(config, boot, ms(0)).map(drop)
    }
    let record = Record {
        term: 3,
        generation: 2,
        ..Record::default()
    };
    assert_eq!(boot(record, 2), Ok(()));
    assert_eq!(
        boot(record, 1),
        Err(ConfigError::GenerationFell {
            recorded: 2,
            configured: 1
        })
    );
    let endless = Duration::from_micros(u64::MAX);
    assert_eq!(
        boot(
            Record {
                promise: endless,
                ..record
            },
            2
        ),
        Err(ConfigError::RecordPromise(endless))
    );
    let longest = Record {
        promise: tenure::raft::MAX_TIMEOUT,
        ..record
    };
    assert_eq!(boot(longest, 2), Ok(()));
    let voted = Record {
        vote: Some(NodeId(1)),
        ..Record::default()
    };
    assert_eq!(boot(voted, 0), Err(ConfigError::RecordVote(NodeId(1))));
    // A log that is as long as can be, and one that is longer.
    let long = |count| Stored {
        log: Shape::from_runs([(1, count)]).unwrap(),
        ..Stored::from(record)
    };
    assert_eq!(boot(long(MAX_INDEX), 2), Ok(()));
    let beyond = MAX_INDEX + 1;
    assert_eq!(boot(long(beyond), 2), Err(ConfigError::LogTooLong(beyond)));
    // A log that was cut without the configurations in it.
    let mut stored = Stored::from(record);
    let to = Membership::new(&Voters::new([NodeId(0)]).unwrap()).into();
    let entries = Entries::Change { term: 1, to };
    let after = Position::START;
    let log = LogWrite::Append { after, entries };
    stored.apply(&Write { record, log }).unwrap();
    assert_eq!(boot(stored.clone(), 2), Ok(()));
    stored.log = Shape::new();
    let beyond = ConfigError::MembersBeyondLog { change: 1, log: 0 };
    assert_eq!(boot(stored, 2), Err(beyond));

    let voters = Voters::new((0..3).map(NodeId)).unwrap();
    let config = Config {
        generation: 7,
        ..Config::new(NodeId(0), voters)
    };
    let machine = Raft::new(
        config,
        Boot {
            stored: Some(record.into()),
            incarnation: 1,
            seed: 1,
        },
        ms(0),
    );
    let mut raised = Bench::of(machine.unwrap());
    raised.heartbeat(1, 1, 4);
    assert_eq!(
        raised.recorded().unwrap().generation,
        7,
        "written before the first word of this life"
    );
}

/// hashicorp/raft#661: term and vote in two writes leave the old candidate in the new term when a crash falls between them,
/// and its repeated question is then granted without a look at its log. Here every record is whole: whichever of them
/// a restart finds, the vote in it was given in its term.
#[test]
fn a_term_and_its_vote_are_one_record() {
    let log = || Shape::from_runs([(1, 2)]).unwrap();
    let voted = Record {
        term: 1,
        vote: Some(NodeId(1)),
        ..Record::default()
    };
    let ask = |term, last| Message::RequestVote {
        term,
        last,
        released: 0,
    };
    let long = Position::new(1, 2);
    let mut bench = Bench::booted(3, 0, Some(voted), log(), Switched::default());
    let mut records = vec![voted];
    for (at, from, message) in [
        (1, 2, ask(2, long)),
        (2, 1, ask(3, Position::START)),
        (3, 1, ask(4, long)),
    ] {
        let input = Input::Peer(NodeId(from), message);
        for output in handled(&mut bench.machine, ms(at), input) {
            if let Output::Request(_, write) = output {
                records.push(write.record);
            }
        }
    }
    let votes: Vec<_> = records.iter().map(|r| (r.term, r.vote)).collect();
    let (one, two) = (Some(NodeId(1)), Some(NodeId(2)));
    assert_eq!(votes, [(1, one), (2, two), (3, None), (4, one)]);
    for found in records {
        let mut again = Bench::booted(3, 0, Some(found), log(), Switched::default());
        again.hear(200, 1, ask(found.term, Position::START));
        let granted = again
            .said()
            .contains(&(1, Message::VoteGranted { term: found.term }));
        assert!(!granted, "{found:?}");
    }
}

/// NodeDB#161: a vote that was answered outlives the crash after it, and the other candidate of its term is refused.
#[test]
fn a_vote_outlives_a_restart() {
    let ask = Message::RequestVote {
        term: 1,
        last: Position::START,
        released: 0,
    };
    let mut bench = follower();
    bench.hear(1, 1, ask.clone());
    assert_eq!(bench.said(), [(1, Message::VoteGranted { term: 1 })]);
    let found = bench.recorded();
    let mut again = Bench::booted(3, 0, found, Shape::new(), Switched::default());
    // Its wait for what it may have promised is over.
    again.hear(200, 2, ask.clone());
    again.hear(201, 1, ask);
    let expected = [
        (2, Message::VoteRefused { asked: 1, term: 1 }),
        (1, Message::VoteGranted { term: 1 }),
    ];
    assert_eq!(again.said(), expected);
}

/// KAFKA-10527 and openraft#1385: a leader that restarts and leads its term on may have lost what it had not flushed, and
/// one name then stands for two entries. Here it is a follower, and stands in a new term.
#[test]
fn leadership_never_survives_a_restart() {
    let mut bench = follower();
    let term = bench.elect(10, 1);
    bench.acked(11, 1, term, 10);
    assert!(bench.machine.established());
    let found = bench.recorded();
    let mut again = Bench::booted(3, 0, found, Shape::new(), Switched::default());
    again.acked(11, 1, term, 10);
    again.hear(11, 1, Message::VoteGranted { term });
    assert_eq!(again.machine.role(), Role::Follower);
    assert_eq!(again.machine.standing(ms(11)), Standing::Unknown);
    assert_eq!(again.elect(200, 1), term + 1);
}
