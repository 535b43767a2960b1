//! Single machines moved by hand: the rules that a few messages show better than a thousand schedules, and the public
//! reports that taught them.

use tenure::log::{Position, Shape};
use tenure::quorum::Voters;
use tenure::raft::{Boot, Config, Message, Raft, Record, Refusal, Role, Rule, Rules, Switched};
use tenure::{
    Duration, Election, Event, Input, Instant, NodeId, Output, Standing, Ticket, Token, Unknown,
    Why,
};

/// A machine, its clock in milliseconds, and a disk that is written at once unless told otherwise.
struct Bench<R: Rules> {
    machine: Raft<R>,
    disk: Option<Record>,
    disk_works: bool,
    waiting: Vec<Ticket>,
    sent: Vec<(u64, Message)>,
    events: Vec<Event>,
}

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

impl<R: Rules> Bench<R> {
    fn booted(voters: u64, id: u64, record: Option<Record>, log: Shape, rules: R) -> Self {
        let voters = Voters::new((0..voters).map(NodeId)).unwrap();
        let boot = Boot {
            record,
            log,
            incarnation: 1,
            seed: 1,
        };
        let machine =
            Raft::with_rules(Config::new(NodeId(id), voters), boot, ms(0), rules).unwrap();
        Self {
            machine,
            disk: record,
            disk_works: true,
            waiting: Vec::new(),
            sent: Vec::new(),
            events: Vec::new(),
        }
    }

    fn input(&mut self, at: u64, input: Input<Message, ()>) {
        self.machine.handle(ms(at), input);
        while let Some(output) = self.machine.poll() {
            match output {
                Output::Event(event) => self.events.push(event),
                Output::Request(ticket, record) if self.disk_works => {
                    self.disk = Some(record);
                    self.machine.handle(ms(at), Input::Reply(ticket, Ok(())));
                }
                Output::Request(ticket, _) => self.waiting.push(ticket),
                Output::Send(to, message) => self.sent.push((to.0, message)),
            }
        }
    }

    fn hear(&mut self, at: u64, from: u64, message: Message) {
        self.input(at, Input::Peer(NodeId(from), message));
    }

    /// What was said since the last look.
    fn said(&mut self) -> Vec<(u64, Message)> {
        std::mem::take(&mut self.sent)
    }

    fn heartbeat(&mut self, at: u64, from: u64, term: u64) {
        self.hear(at, from, Message::Heartbeat { term, sent: ms(at) });
    }

    /// Makes it the leader of its next term at `at`, with the votes of `voter`; its promises must be over.
    fn elect(&mut self, at: u64, voter: u64) -> u64 {
        let term = self.machine.term() + 1;
        self.input(at, Input::Campaign);
        self.hear(
            at,
            voter,
            Message::PreVoteGranted {
                term,
                remainder: Duration::ZERO,
                sent: ms(at),
            },
        );
        self.hear(at, voter, Message::VoteGranted { term });
        assert_eq!(self.machine.role(), Role::Leader);
        term
    }

    fn acked(&mut self, at: u64, from: u64, term: u64, sent: u64) {
        let promise = Duration::from_millis(150);
        self.hear(
            at,
            from,
            Message::HeartbeatAck {
                term,
                sent: ms(sent),
                promise,
            },
        );
    }
}

fn follower() -> Bench<Switched> {
    Bench::booted(3, 0, None, Shape::new(), Switched::default())
}

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
        bench.hear(141, 2, Message::PreVoteRefused { asked: 2, term: 7 });
        assert_eq!(bench.machine.term(), 7);
        bench.said();
        bench.hear(
            150,
            2,
            Message::RequestVote {
                term: 7,
                last: Position::START,
            },
        );
        let granted = bench
            .said()
            .contains(&(2, Message::VoteGranted { term: 7 }));
        assert_eq!(granted, grants, "{off:?}");
    }
}

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
        },
    );
    bench.hear(
        2,
        2,
        Message::RequestVote {
            term: 1,
            last: Position::START,
        },
    );
    bench.hear(
        3,
        2,
        Message::RequestVote {
            term: 2,
            last: Position::START,
        },
    );
    let expected = vec![
        (1, Message::VoteGranted { term: 1 }),
        (2, Message::VoteRefused { asked: 1, term: 1 }),
        (2, Message::VoteGranted { term: 2 }),
    ];
    assert_eq!(bench.said(), expected);
}

/// Raft §5.4.1 for every pair of log shapes: the later last term wins, then the longer log.
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
                },
            );
            bench.hear(2, 1, Message::RequestVote { term: 5, last });
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

/// C1: while the disk is silent nothing is said, however much is asked, and nothing grows.
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
            },
        );
    }
    assert_eq!(bench.said(), vec![]);
    let newest = *bench.waiting.last().unwrap();
    bench.input(1_000, Input::Reply(newest, Ok(())));
    // One reply covers all before it, and of each kind to each peer only the newest message is said.
    assert_eq!(bench.said().len(), 3);
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
    bench.acked(100, 1, term, 10);
    let Standing::Leading(tenure) = bench.machine.standing(ms(100)) else {
        panic!("not established")
    };
    // 150 ms × 0.99 ÷ 1.01, less two grains of the clock.
    assert_eq!(tenure.until, ms(10) + Duration::from_micros(147_027));
    assert_eq!(bench.machine.standing(tenure.until), Standing::Unknown);
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
        released.contains(&(1, Message::Release { term, to: None })),
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
    bench.heartbeat(10, 1, 3);
    assert_eq!(bench.disk.unwrap().promise, Duration::from_millis(150));
    let long = Record {
        term: 3,
        vote: None,
        promise: Duration::from_millis(900),
        generation: 0,
    };
    let mut bench = Bench::booted(3, 0, Some(long), Shape::new(), Switched::default());
    let ask = |term| Message::RequestVote {
        term,
        last: Position::START,
    };
    bench.hear(899, 1, ask(4));
    assert_eq!(
        bench.said(),
        vec![(1, Message::VoteRefused { asked: 4, term: 3 })]
    );
    // A heartbeat does not shorten the wait, and the record keeps it for another restart.
    let mut bench = Bench::booted(3, 0, Some(long), Shape::new(), Switched::default());
    bench.heartbeat(100, 1, 4);
    assert_eq!(bench.disk.unwrap().promise, Duration::from_millis(900));
    bench.hear(890, 2, ask(5));
    bench.hear(901, 2, ask(5));
    bench.said().retain(|said| said.0 == 2);
    bench.heartbeat(902, 2, 5);
    assert_eq!(bench.disk.unwrap().promise, Duration::from_millis(150));
}

/// RL-3: a release frees from a promise to its own term alone; the wait after a restart ends when the term is the own.
#[test]
fn a_release_frees_from_its_own_term() {
    let mut bench = follower();
    bench.heartbeat(10, 1, 2);
    bench.heartbeat(20, 2, 3);
    bench.hear(30, 1, Message::Release { term: 2, to: None });
    assert!(bench.machine.promise().is_some());
    bench.hear(31, 1, Message::Release { term: 3, to: None });
    assert_eq!(
        bench.machine.refusals().count(Refusal::SecondLeader),
        1,
        "only its leader may release a term"
    );
    bench.hear(32, 2, Message::Release { term: 3, to: None });
    assert_eq!(bench.machine.promise(), None);

    let record = Record {
        term: 3,
        vote: None,
        promise: Duration::from_millis(150),
        generation: 0,
    };
    let mut bench = Bench::booted(3, 0, Some(record), Shape::new(), Switched::default());
    bench.hear(1, 1, Message::Release { term: 2, to: None });
    assert!(bench.machine.promise().is_some());
    bench.hear(2, 1, Message::Release { term: 3, to: None });
    assert_eq!(bench.machine.promise(), None);
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
    };
    assert_eq!(leader.said(), vec![(1, release), (2, release)]);
    assert_eq!(leader.machine.standing(ms(20)), Standing::Unknown);

    let mut successor = Bench::booted(3, 2, None, Shape::new(), Switched::default());
    successor.heartbeat(10, 0, term);
    successor.said();
    successor.hear(25, 0, release);
    assert_eq!(successor.machine.role(), Role::PreCandidate);
    let mut other = Bench::booted(3, 1, None, Shape::new(), Switched::default());
    other.heartbeat(10, 0, term);
    other.hear(25, 0, release);
    other.said();
    other.hear(30, 2, successor.said()[0].1);
    assert!(matches!(
        other.said()[..],
        [(
            2,
            Message::PreVoteGranted {
                remainder: Duration::ZERO,
                ..
            }
        )]
    ));
}

/// etcd#8243 and etcd#8501: a pre-vote refusal carries the voter's term, which the asker adopts; then it can win.
#[test]
fn a_node_with_a_lower_term_catches_up_by_its_refusals() {
    let mut bench = follower();
    bench.input(10, Input::Campaign);
    bench.said();
    bench.hear(12, 1, Message::PreVoteRefused { asked: 1, term: 5 });
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

/// RL-9: of two pre-candidates with equal logs the lower id steps back, once per leader silence.
#[test]
fn the_lower_id_yields_once() {
    let ask = |at| Message::RequestPreVote {
        term: 1,
        last: Position::START,
        sent: ms(at),
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
    bench.input(102, Input::Timeout);
    assert_eq!(bench.machine.role(), Role::PreCandidate);
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
    };
    let mut voter = follower();
    voter.heartbeat(0, 1, 1);
    voter.said();
    voter.hear(119, 2, ask);
    voter.hear(120, 2, ask);
    let expected = vec![
        (2, Message::PreVoteRefused { asked: 2, term: 1 }),
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
    asker.input(151, Input::Timeout);
    assert_eq!(asker.machine.role(), Role::Candidate);
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
            Message::Heartbeat { term, sent: ms(1) },
        ),
        (Refusal::UnknownSender, 0, Message::VoteGranted { term }),
        (
            Refusal::TermTooHigh,
            1,
            Message::Heartbeat {
                term: u64::MAX,
                sent: ms(1),
            },
        ),
        (
            Refusal::TermTooHigh,
            1,
            Message::RequestPreVote {
                term: u64::MAX,
                last: start,
                sent: ms(1),
            },
        ),
        (
            Refusal::SecondLeader,
            1,
            Message::Heartbeat { term, sent: ms(1) },
        ),
        (
            Refusal::SecondLeader,
            1,
            Message::Release { term, to: None },
        ),
        (
            Refusal::Unasked,
            1,
            Message::HeartbeatAck {
                term: term + 1,
                sent: ms(10),
                promise,
            },
        ),
        (
            Refusal::Unasked,
            1,
            Message::HeartbeatAck {
                term,
                sent: ms(11),
                promise,
            },
        ),
        (
            Refusal::Unasked,
            1,
            Message::HeartbeatAck {
                term,
                sent: ms(9),
                promise,
            },
        ),
        (
            Refusal::TermZero,
            1,
            Message::RequestVote {
                term: 0,
                last: start,
            },
        ),
        (
            Refusal::TermLeap,
            1,
            Message::Heartbeat {
                term: tenure::raft::MAX_TERM,
                sent: ms(1),
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
            },
        ),
        (
            Refusal::ImpossibleLog,
            1,
            Message::RequestVote {
                term: 9,
                last: Position::new(0, 1),
            },
        ),
    ];
    for (reason, from, message) in absurd {
        let before = bench.machine.refusals().count(reason);
        bench.hear(12, from, message);
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
    let mut asker = follower();
    asker.input(10, Input::Campaign);
    asker.hear(
        11,
        1,
        Message::PreVoteGranted {
            term: 1,
            remainder: Duration::from_secs(9),
            sent: ms(10),
        },
    );
    assert_eq!(
        asker.machine.refusals().count(Refusal::ImpossiblePromise),
        1
    );
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
    let voters = Voters::new((0..3).map(NodeId)).unwrap();
    let config = Config {
        safe_mode: false,
        ..Config::new(NodeId(0), voters)
    };
    let boot = Boot {
        record: None,
        log: Shape::new(),
        incarnation: 1,
        seed: 1,
    };
    let machine = Raft::new(config, boot, ms(0)).unwrap();
    let mut bench = Bench {
        machine,
        disk: None,
        disk_works: true,
        waiting: Vec::new(),
        sent: Vec::new(),
        events: Vec::new(),
    };
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
    bench.hear(
        400,
        2,
        Message::RequestVote {
            term: 2,
            last: Position::START,
        },
    );
    assert_eq!(bench.machine.vote(), Some(NodeId(2)));
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

/// A heartbeat that was overtaken by its leader's release revives nothing.
#[test]
fn a_heartbeat_behind_its_release_is_ignored() {
    let mut bench = follower();
    bench.heartbeat(1, 1, 1);
    bench.hear(2, 1, Message::Release { term: 1, to: None });
    bench.heartbeat(3, 1, 1);
    assert_eq!(bench.machine.standing(ms(3)), Standing::Unknown);
    assert_eq!(bench.machine.promise(), None);
    bench.heartbeat(4, 2, 2);
    assert!(matches!(
        bench.machine.standing(ms(4)),
        Standing::Following(_)
    ));
}

/// A promise that has run out is none: to a release it makes no difference (law C10 merges the two).
#[test]
fn a_promise_that_ran_out_is_none() {
    let record = Record {
        term: 3,
        promise: Duration::from_millis(100),
        ..Record::default()
    };
    let mut waited = Bench::booted(3, 0, Some(record), Shape::new(), Switched::default());
    let mut freed = Bench::booted(3, 0, Some(record), Shape::new(), Switched::default());
    freed.hear(
        1,
        1,
        Message::Release {
            term: 3,
            to: Some(NodeId(2)),
        },
    );
    let deadline = |bench: &mut Bench<Switched>| {
        bench.hear(110, 1, Message::Release { term: 3, to: None });
        bench
            .machine
            .promise()
            .filter(|promise| promise.until > ms(110))
    };
    assert_eq!(deadline(&mut waited), deadline(&mut freed));
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
    };
    assert!(leader.said().contains(&(2, release)));

    let mut hub = Bench::booted(5, 2, None, Shape::new(), Switched::default());
    hub.heartbeat(60, 0, 1);
    hub.hear(160, 0, release);
    let ask = Message::RequestPreVote {
        term: 2,
        last: Position::START,
        sent: ms(161),
    };
    hub.hear(161, 4, ask);
    assert_eq!(hub.machine.role(), Role::PreCandidate, "it does not yield");
}

/// Tokens never fall: a generation is recorded, and a lower one refused. Damaged records are told apart.
#[test]
fn records_that_cannot_be_are_refused() {
    use tenure::raft::ConfigError;
    let boot = |record: Record, generation: u32| {
        let voters = Voters::new((0..3).map(NodeId)).unwrap();
        let config = Config {
            generation,
            ..Config::new(NodeId(0), voters)
        };
        let boot = Boot {
            record: Some(record),
            log: Shape::new(),
            incarnation: 1,
            seed: 1,
        };
        Raft::new(config, boot, ms(0)).map(drop)
    };
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
    let voted = Record {
        vote: Some(NodeId(1)),
        ..Record::default()
    };
    assert_eq!(boot(voted, 0), Err(ConfigError::RecordVote(NodeId(1))));

    let voters = Voters::new((0..3).map(NodeId)).unwrap();
    let config = Config {
        generation: 7,
        ..Config::new(NodeId(0), voters)
    };
    let machine = Raft::new(
        config,
        Boot {
            record: Some(record),
            log: Shape::new(),
            incarnation: 1,
            seed: 1,
        },
        ms(0),
    );
    let mut raised = Bench {
        machine: machine.unwrap(),
        disk: Some(record),
        disk_works: true,
        waiting: Vec::new(),
        sent: Vec::new(),
        events: Vec::new(),
    };
    raised.heartbeat(1, 1, 4);
    assert_eq!(
        raised.disk.unwrap().generation,
        7,
        "written before the first word of this life"
    );
}
