//! C10 as an exhaustive search needs it: what looks alike answers alike, names can be exchanged, what is over is not seen,
//! echoes age.

mod bench;
mod group;

use bench::{Bench, follower, handled, look, ms, plain};
use group::{Breakage, Group};
use std::hash::{DefaultHasher, Hasher};
use tenure::log::{Position, Shape};
use tenure::raft::{Entries, Message, Record, Replication, Role, Rule, Switched, View};
use tenure::{Duration, Election, Input, NodeId};

/// Without draws two machines of one state do the same, whatever they did before.
fn drawless(seed: u64) -> Group<Switched> {
    let mut group = Group::with_rules(3, seed, Switched::without(&[Rule::RedrawPerAttempt]));
    group.breakage = Breakage {
        crash: 0,
        back_in_time: 0,
        unknown_write: 0,
        ..Breakage::WILD
    };
    group
}

/// An input that leaves no trace in the fingerprint changes nothing that comes later.
#[test]
fn what_looks_alike_answers_alike() {
    const NODE: usize = 1;
    let (mut alike, mut different) = (0, 0);
    for seed in 0..60 {
        let mut group = drawless(seed);
        group.recording = Some((NODE, Vec::new()));
        group.boot_all();
        let mut machine = group.nodes[NODE].machine.clone().unwrap();
        group.run_until(2_000_000);
        let script = group.recording.take().unwrap().1;
        for (at, (now, input)) in script.iter().enumerate() {
            handled(&mut machine, *now, input.clone());
            let earlier = at.saturating_sub(12);
            let extra = script[earlier..=at].iter().map(|(_, input)| input.clone());
            for extra in extra.chain([Input::Timeout, Input::Campaign]) {
                let (mut one, mut other) = (machine.clone(), machine.clone());
                handled(&mut other, *now, extra.clone());
                if look(&one, *now, View::PLAIN) != look(&other, *now, View::PLAIN) {
                    different += 1;
                    continue;
                }
                alike += 1;
                for (now, input) in script[at + 1..].iter().take(30) {
                    let said = handled(&mut one, *now, input.clone());
                    assert_eq!(
                        said,
                        handled(&mut other, *now, input.clone()),
                        "{extra:?} in seed {seed}"
                    );
                    assert_eq!(one.deadline(), other.deadline(), "{extra:?} in seed {seed}");
                }
            }
        }
    }
    assert!(alike > 10_000 && different > 2_000, "{alike} {different}");
}

/// The fingerprint of the contract is the view of everything.
#[test]
fn the_fingerprint_shows_all() {
    let mut hasher = DefaultHasher::new();
    let machine = follower().machine;
    machine.fingerprint(ms(1), &mut hasher);
    assert_eq!(hasher.finish(), look(&machine, ms(1), View::PLAIN));
}

/// Under exchanged names a machine looks as one to which the same was done by others.
#[test]
fn names_can_be_exchanged() {
    // `a` leads and asks for a promise, `b` asks for a pre-vote: both answers wait for the disk.
    let history = |a, b| {
        let mut bench = Bench::booted(3, 1, None, Shape::new(), Switched::default());
        bench.disk_works = false;
        let term = 1;
        bench.hear(
            1,
            a,
            Message::RequestVote {
                term,
                last: Position::START,
                released: 0,
            },
        );
        bench.heartbeat(2, a, term);
        let ask = Message::RequestPreVote {
            term: 2,
            last: Position::START,
            sent: ms(3),
            released: 0,
        };
        bench.hear(3, b, ask);
        bench.machine
    };
    let (one, other) = (history(0, 2), history(2, 0));
    let exchanged = View {
        order: Some(&[2, 1, 0]),
        ..View::PLAIN
    };
    let same = View {
        order: Some(&[0, 1, 2]),
        ..View::PLAIN
    };
    let plain = look(&one, ms(3), View::PLAIN);
    assert_ne!(plain, look(&other, ms(3), View::PLAIN));
    assert_eq!(plain, look(&other, ms(3), exchanged));
    assert_eq!(plain, look(&one, ms(3), same));
    let named = Message::Release {
        term: 1,
        to: Some(NodeId(2)),
        orderly: false,
    };
    let renamed = Message::Release {
        term: 1,
        to: Some(NodeId(7)),
        orderly: false,
    };
    assert_eq!(named.renamed(|id| NodeId(id.0 + 5)), renamed);
}

/// What waits for the disk counts, with the one it is for, unless the view leaves it out.
#[test]
fn what_waits_for_the_disk_is_seen() {
    let refusing = |candidate| {
        let mut bench = follower();
        bench.disk_works = false;
        bench.heartbeat(1, 1, 1);
        let ask = Message::RequestVote {
            term: 1,
            last: Position::START,
            released: 0,
        };
        bench.hear(2, candidate, ask);
        bench.machine
    };
    let (one, other) = (refusing(1), refusing(2));
    let bare = View {
        held: false,
        ..View::PLAIN
    };
    assert_ne!(
        look(&one, ms(2), View::PLAIN),
        look(&other, ms(2), View::PLAIN)
    );
    assert_eq!(look(&one, ms(2), bare), look(&other, ms(2), bare));
    // The same with nothing left to wait for.
    let mut done = follower();
    done.heartbeat(1, 1, 1);
    assert_ne!(look(&one, ms(2), bare), look(&done.machine, ms(2), bare));
}

/// A question that waits for the disk is seen with the time at which it was asked, also when it was given up since.
#[test]
fn a_question_that_waits_keeps_its_time() {
    let stepped_back = |at: u64, view| {
        let drawless = Switched::without(&[Rule::RedrawPerAttempt]);
        let mut bench = Bench::booted(3, 0, None, Shape::new(), drawless);
        bench.disk_works = false;
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
        bench.input(at, Input::Campaign);
        let ask = Message::RequestPreVote {
            term: 2,
            last: Position::START,
            sent: ms(15),
            released: 0,
        };
        bench.hear(15, 2, ask);
        assert_eq!(bench.machine.role(), Role::Follower);
        look(&bench.machine, ms(15), view)
    };
    let bare = View {
        held: false,
        ..View::PLAIN
    };
    assert_eq!(stepped_back(10, bare), stepped_back(11, bare));
    assert_ne!(stepped_back(10, View::PLAIN), stepped_back(11, View::PLAIN));
}

/// For which of its writes a message waits is seen, and how many went before them in this life is not.
#[test]
fn writes_are_counted_from_the_newest() {
    let log = Shape::from_runs([(1, 1)]).unwrap();
    let record = Record {
        term: 1,
        ..Record::default()
    };
    let (short, long) = ((1, Position::START), (2, log.last()));
    // Each new term is written; a candidate with the shorter log gets no vote in it.
    let voter = |before: &[u64], asks: &[(u64, Position)]| {
        let drawless = Switched::without(&[Rule::RedrawPerAttempt]);
        let mut bench = Bench::booted(3, 0, Some(record), log.clone(), drawless);
        let ask = |term, last| Message::RequestVote {
            term,
            last,
            released: 0,
        };
        for term in before {
            bench.hear(1, short.0, ask(*term, short.1));
        }
        bench.disk_works = false;
        for (candidate, last) in asks {
            bench.hear(1, *candidate, ask(9, *last));
        }
        look(&bench.machine, ms(1), View::PLAIN)
    };
    // A refusal from before the vote was given, and once more after it.
    assert_ne!(
        voter(&[8], &[short, long]),
        voter(&[8], &[short, long, short])
    );
    assert_eq!(
        voter(&[8], &[short, long]),
        voter(&[3, 5, 8], &[short, long])
    );
}

/// The same of writes of the log: how far each goes is seen, and how many went before is not.
#[test]
fn writes_of_a_log_are_counted_from_the_newest() {
    let follower = |before: &[u64]| {
        let (flow, rules) = (
            Replication::default(),
            Switched::without(&[Rule::RedrawPerAttempt]),
        );
        let mut bench = Bench::with_log(3, 0, None, flow, rules);
        for term in before {
            bench.heartbeat(1, 1, *term);
        }
        bench.disk_works = false;
        for (prev, count) in [(0, 1), (1, 2), (3, 1)] {
            let append = Message::Append {
                term: 8,
                sent: ms(1),
                prev: Position::new(8 * u64::from(prev > 0), prev),
                entries: Entries::Run { term: 8, count },
                commit: 0,
            };
            bench.hear(1, 1, append);
        }
        assert_eq!(bench.waiting.len(), 3);
        look(&bench.machine, ms(1), View::PLAIN)
    };
    assert_eq!(follower(&[8]), follower(&[3, 5, 8]));
}

/// Entries that were proposed one by one before the host drained are one write, and look like one.
#[test]
fn a_write_that_grew_looks_like_one_that_was_asked_at_once() {
    let proposed = |counts: &[u32]| {
        let (flow, rules) = (Replication::default(), Switched::default());
        let mut bench = Bench::with_log(3, 0, None, flow, rules);
        bench.elect(10, 1);
        bench.disk_works = false;
        for count in counts {
            bench.machine.propose(ms(20), *count).unwrap();
        }
        bench.input(20, Input::Timeout);
        look(&bench.machine, ms(20), View::PLAIN)
    };
    assert_eq!(proposed(&[1, 1, 1]), proposed(&[3]));
    assert_ne!(proposed(&[1, 1, 1]), proposed(&[2]));
}

/// Time is relative: without end where there is none, and out of the picture where it does not count.
#[test]
fn time_is_seen_as_far_as_it_counts() {
    let led_since = |at: u64| {
        let mut bench = plain();
        bench.input(at, Input::Campaign);
        bench.hear(at, 1, Message::VoteGranted { term: 1 });
        bench.acked(at, 1, 1, at);
        assert!(bench.machine.established());
        look(&bench.machine, ms(at), View::PLAIN)
    };
    assert_eq!(led_since(10), led_since(20), "a lease without end");

    // The own question and the echo of another's both wait for the disk.
    let asked_at = |at: u64| {
        let mut bench = follower();
        bench.disk_works = false;
        bench.hear(
            1,
            1,
            Message::Heartbeat {
                term: 1,
                sent: ms(at),
                round: 1,
                commit: 0,
            },
        );
        let echo = bench.machine.clone();
        bench.hear(
            2,
            1,
            Message::Release {
                term: 1,
                to: None,
                orderly: false,
            },
        );
        bench.input(at, Input::Campaign);
        assert_eq!(bench.machine.role(), Role::PreCandidate);
        (echo, bench.machine)
    };
    let untimed = View {
        timed: false,
        ..View::PLAIN
    };
    let ((echo, question), (later_echo, later_question)) = (asked_at(10), asked_at(11));
    for (one, other) in [(echo, later_echo), (question, later_question)] {
        assert_ne!(
            look(&one, ms(20), View::PLAIN),
            look(&other, ms(20), View::PLAIN)
        );
        assert_eq!(look(&one, ms(20), untimed), look(&other, ms(20), untimed));
    }
}

/// A candidate that waits for its disk waits for nothing else, also at the instant at which its promise ends.
#[test]
fn what_is_over_is_not_seen() {
    let record = Record {
        term: 3,
        // The wait is a grain longer: it ends at 100 ms.
        promise: Duration::from_micros(99_999),
        ..Record::default()
    };
    let mut bench = Bench::booted(3, 0, Some(record), Shape::new(), Switched::default());
    bench.disk_works = false;
    bench.input(80, Input::Campaign);
    let granted = Message::PreVoteGranted {
        term: 4,
        remainder: Duration::ZERO,
        sent: ms(80),
    };
    bench.hear(85, 1, granted);
    bench.input(100, Input::Timeout);
    assert_eq!(bench.machine.role(), Role::Candidate);
    assert_eq!(
        bench.machine.promise().map(|promise| promise.until),
        Some(ms(100))
    );
    let looks = |at| look(&bench.machine, ms(at), View::PLAIN);
    assert_eq!(looks(100), looks(5_000));
}

/// What waits for the disk and echoes a clock is as much older as that clock moved on, and no older than is asked for.
#[test]
fn echoes_age() {
    let echoing = |sent: u64| {
        let mut bench = follower();
        bench.disk_works = false;
        bench.hear(
            1,
            1,
            Message::Heartbeat {
                term: 1,
                sent: ms(sent),
                round: 1,
                commit: 0,
            },
        );
        bench.machine
    };
    let aged = |of, by| {
        let mut machine = echoing(50);
        machine.age_echoes(NodeId(of), Duration::from_millis(by), ms(20));
        look(&machine, ms(1), View::PLAIN)
    };
    let looks = |sent| look(&echoing(sent), ms(1), View::PLAIN);
    assert_ne!(looks(50), looks(40));
    assert_eq!(aged(1, 10), looks(40));
    assert_eq!(aged(1, 45), looks(20), "no older than that");
    assert_eq!(aged(2, 10), looks(50), "another's clock");
}
