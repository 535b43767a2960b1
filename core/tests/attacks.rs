//! What a storm of everything at once (`storm.rs`) and a reading with suspicion found, each as small as it can be.

mod bench;

use bench::{Bench, ms};
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;
use tenure::log::Position;
use tenure::membership::Membership;
use tenure::quorum::Voters;
use tenure::raft::{
    Boot, Config, Entries, Faithful, MAX_INDEX, Message, Raft, Refusal, Replication, Role,
    Switched, Timing, View,
};
use tenure::{Duration, Election, Input, NodeId, Output, Standing};

const PROMISE: Duration = Duration::from_millis(150);

/// A leader of three, whose first entry both others have, at 20 ms.
fn leader() -> Bench<Switched> {
    let mut bench = Bench::with_log(3, 0, None, Replication::default(), Switched::default());
    let term = bench.elect(10, 1);
    for follower in [1, 2] {
        let (sent, promise, matched) = (ms(10), PROMISE, 1);
        bench.hear(
            20,
            follower,
            Message::AppendAck {
                term,
                sent,
                promise,
                matched,
            },
        );
    }
    assert_eq!(bench.machine.commit(), 1);
    bench.said();
    bench
}

/// Takes outputs until the entries for `whom` have come out, as a host that is interrupted in a drain. Its disk works.
fn drain_up_to(bench: &mut Bench<Switched>, whom: u64) {
    while let Some(output) = bench.machine.poll() {
        match output {
            Output::Request(ticket, write) => {
                bench.disk.get_or_insert_default().apply(&write).unwrap();
                bench.machine.handle(ms(21), Input::Reply(ticket, Ok(())));
            }
            Output::Send(to, Message::Append { .. }) if to == NodeId(whom) => return,
            _ => {}
        }
    }
    panic!("nothing for {whom}");
}

fn appends(bench: &mut Bench<Switched>) -> Vec<u64> {
    let said = bench.said().into_iter();
    said.filter_map(|(to, message)| matches!(message, Message::Append { .. }).then_some(to))
        .collect()
}

/// A host that is interrupted in a drain and goes on later loses nothing: what came up meanwhile is said to everybody, also to
/// those that were spoken to before (law C1).
#[test]
fn what_comes_up_within_a_drain_is_said_to_all() {
    let mut bench = leader();
    bench.machine.propose(ms(21), 1).unwrap();
    drain_up_to(&mut bench, 2);
    bench.machine.propose(ms(22), 1).unwrap();
    bench.input(22, Input::Timeout);
    assert_eq!(appends(&mut bench), [1, 2]);
}

/// The same, when the leadership ends meanwhile and this node is elected again.
#[test]
fn a_new_leadership_speaks_to_all() {
    let mut bench = leader();
    bench.machine.propose(ms(21), 1).unwrap();
    drain_up_to(&mut bench, 2);
    bench.input(22, Input::Resign { to: None });
    bench.said();
    bench.elect(400, 1);
    assert_eq!(bench.machine.role(), Role::Leader);
    let mut told = appends(&mut bench);
    told.dedup();
    assert_eq!(told, [1, 2]);
}

/// A leader asks members alone. Whoever is none, or was one until a moment ago, does not depose it with a higher term, nor
/// does it draw a candidate on.
#[test]
fn only_members_refuse() {
    let mut bench = leader();
    let asked = bench.machine.term();
    let term = asked + 1_000;
    bench.hear(21, 9, Message::HeartbeatRefused { asked, term });
    assert!(matches!(
        bench.machine.standing(ms(21)),
        Standing::Leading(_)
    ));
    assert_eq!(bench.machine.refusals().count(Refusal::UnknownSender), 1);
    bench.hear(21, 1, Message::HeartbeatRefused { asked, term });
    assert_eq!(
        (bench.machine.role(), bench.machine.term()),
        (Role::Follower, term)
    );
}

/// Law C8: a position that no log has, in whatever message, is refused by name. Taken, a snapshot that ends there could
/// never be followed by an entry, nor be read back from the disk.
#[test]
fn no_position_lies_beyond_the_last_index() {
    let beyond = Position::new(1, MAX_INDEX + 1);
    let voters = Voters::new((0..3).map(NodeId)).unwrap();
    let membership = Arc::new(Membership::new(&voters));
    let (term, sent, released, promise) = (2, ms(10), 0, PROMISE);
    for message in [
        Message::InstallSnapshot {
            term,
            sent,
            last: beyond,
            membership,
        },
        Message::RequestVote {
            term,
            last: beyond,
            released,
        },
        Message::RequestPreVote {
            term,
            last: beyond,
            sent,
            released,
        },
        Message::Fetch {
            term,
            sent,
            after: beyond,
        },
        Message::AppendRefused {
            term,
            sent,
            promise,
            prev: MAX_INDEX + 2,
            hint: beyond,
        },
        Message::Append {
            term,
            sent,
            prev: beyond,
            entries: Entries::NONE,
            commit: 0,
        },
    ] {
        let mut bench = Bench::with_log(3, 0, None, Replication::default(), Faithful);
        bench.hear(10, 1, message.clone());
        let refused = bench.machine.refusals().count(Refusal::ImpossibleLog);
        assert_eq!(refused, 1, "{message:?}");
        assert_eq!((bench.machine.commit(), bench.machine.term()), (0, 0));
    }
}

/// Law C10: what waits to be said to a node that is not in the own configuration counts like anything else that waits.
#[test]
fn what_waits_for_a_stranger_is_seen() {
    let seen = |round: u64| {
        let mut bench = Bench::with_log(3, 0, None, Replication::default(), Faithful);
        bench.disk_works = false;
        let (term, sent, commit) = (2, ms(10), 0);
        bench.hear(
            10,
            7,
            Message::Heartbeat {
                term,
                sent,
                round,
                commit,
            },
        );
        let mut hasher = DefaultHasher::new();
        bench.machine.view(ms(10), View::PLAIN, &mut hasher);
        hasher.finish()
    };
    assert_eq!(seen(1), seen(1));
    assert_ne!(seen(1), seen(2));
}

/// A voter whose clock steps by 40 ms heard the leader at the end of a step, and is free up to a step earlier than 150 ms
/// later. It tells a promise that is a step shorter, so that the leader has stopped by then, though it knows only its own
/// exact clock; with a promise of the whole 150 ms it would believe on, while the vote elects another.
#[test]
fn a_voter_allows_for_the_grain_of_its_own_clock() {
    let group = |id: u64, grain: u64| {
        let voters = Voters::new((0..3).map(NodeId)).unwrap();
        let timing = Timing {
            grain: Duration::from_micros(grain),
            heartbeat: Duration::from_millis(30),
            ..Timing::default()
        };
        let config = Config {
            timing,
            ..Config::new(NodeId(id), voters)
        };
        let boot = Boot {
            stored: None,
            incarnation: 1,
            seed: 1,
        };
        Bench::of(Raft::new(config, boot, ms(0)).unwrap())
    };
    let stepped = |millis: u64| millis - millis % 40;
    for (told, believes) in [(110, false), (150, true)] {
        let (mut leader, mut voter) = (group(0, 1), group(1, 40_000));
        let term = leader.elect(1_039, 1);
        let heartbeat = leader
            .said()
            .into_iter()
            .find_map(|(to, message)| match message {
                Message::Heartbeat { .. } if to == 1 => Some(message),
                _ => None,
            });
        voter.hear(stepped(1_039), 0, heartbeat.unwrap());
        let mut answer = voter.said().pop().unwrap().1;
        let Message::HeartbeatAck { promise, .. } = &mut answer else {
            panic!("{answer:?}");
        };
        assert_eq!(*promise, Duration::from_millis(110));
        *promise = Duration::from_millis(told);
        leader.hear(1_040, 1, answer);
        assert!(matches!(
            leader.machine.standing(ms(1_041)),
            Standing::Leading(_)
        ));
        // It hears nothing more; and 2 asks for votes.
        let (last, released) = (Position::START, 0);
        let term = term + 1;
        voter.hear(
            stepped(1_160),
            2,
            Message::RequestVote {
                term,
                last,
                released,
            },
        );
        assert_eq!(voter.said().pop().unwrap().1, Message::VoteGranted { term });
        let still = matches!(leader.machine.standing(ms(1_160)), Standing::Leading(_));
        assert_eq!(still, believes);
    }
}
