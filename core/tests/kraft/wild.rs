//! Whatever arrives: nothing panics, nothing grows without bound, and whoever keeps the rules is not led astray.

use proptest::prelude::*;
use tenure::kraft::{
    Body, Boot, Code, Config, Correlation, DirectoryId, Fetched, Head, Kraft, LogWrite, MAX_EPOCH,
    MAX_OFFSET, Message, QuorumState, Refusal, ReplicaKey, Stored, VoterSet,
};
use tenure::log::{Position, Shape};
use tenure::{Election, Input, Instant, NodeId, Output, Ticket, Unknown};

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        8 => 0..8u64,
        1 => Just(MAX_EPOCH),
        1 => Just(MAX_OFFSET + 1),
        1 => Just(u64::MAX),
        1 => any::<u64>(),
    ]
}

fn position() -> impl Strategy<Value = Position> {
    (number(), number()).prop_map(|(term, index)| Position::new(term, index))
}

fn node() -> impl Strategy<Value = NodeId> {
    (0..5u64).prop_map(NodeId)
}

fn key() -> impl Strategy<Value = ReplicaKey> {
    let directory = prop_oneof![
        Just(None),
        (100..104u64).prop_map(|it| Some(DirectoryId(it)))
    ];
    (node(), directory).prop_map(|(id, directory)| ReplicaKey { id, directory })
}

fn head() -> impl Strategy<Value = Head> {
    let code = prop_oneof![
        4 => Just(Code::None),
        1 => Just(Code::FencedLeaderEpoch),
        1 => Just(Code::UnknownLeaderEpoch),
        1 => Just(Code::NotLeader),
        1 => Just(Code::InvalidVoterKey),
        1 => Just(Code::SnapshotNotFound),
    ];
    (code, number(), proptest::option::of(node())).prop_map(|(code, epoch, leader)| Head {
        code,
        epoch,
        leader,
    })
}

fn content() -> impl Strategy<Value = Fetched> {
    prop_oneof![
        (number(), number()).prop_map(|(epoch, count)| Fetched::Records { epoch, count }),
        position().prop_map(Fetched::Diverging),
        position().prop_map(Fetched::Snapshot),
    ]
}

fn body() -> impl Strategy<Value = Body> {
    prop_oneof![
        (key(), key(), number(), position(), any::<bool>()).prop_map(
            |(voter, replica, epoch, last, pre_vote)| Body::Vote {
                voter,
                replica,
                epoch,
                last,
                pre_vote,
            }
        ),
        (head(), any::<bool>()).prop_map(|(head, granted)| Body::VoteReply { head, granted }),
        (number(), key()).prop_map(|(epoch, voter)| Body::BeginQuorumEpoch { epoch, voter }),
        head().prop_map(Body::BeginQuorumEpochReply),
        (number(), proptest::collection::vec(node(), 0..5)).prop_map(|(epoch, successors)| {
            let successors = successors.into();
            Body::EndQuorumEpoch { epoch, successors }
        }),
        head().prop_map(Body::EndQuorumEpochReply),
        (number(), position(), key(), number()).prop_map(|(epoch, after, replica, known)| {
            Body::Fetch {
                epoch,
                after,
                replica,
                high_watermark: known,
            }
        }),
        (head(), position(), content(), number()).prop_map(|(head, after, content, shown)| {
            Body::FetchReply {
                head,
                after,
                content,
                high_watermark: shown,
            }
        }),
        (number(), position(), key()).prop_map(|(epoch, snapshot, replica)| {
            Body::FetchSnapshot {
                epoch,
                snapshot,
                replica,
            }
        }),
        (head(), proptest::option::of(position()))
            .prop_map(|(head, snapshot)| Body::FetchSnapshotReply { head, snapshot }),
    ]
}

#[derive(Clone, Debug)]
enum Step {
    Message(NodeId, Body, u64),
    Reply(u64, u64, bool),
    Pass(u64),
    Timeout,
    Campaign,
    Resign(Option<NodeId>),
    Propose(u64),
    Compact(u64),
    Applied(u64),
    Renounce,
    Disconnected(NodeId),
    /// The disk answers what it was asked, and whoever was asked answers what it likes.
    Answers(Body),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (node(), body(), 0..30u64).prop_map(|(from, body, number)| Step::Message(from, body, number)),
        4 => body().prop_map(Step::Answers),
        1 => (0..3u64, 0..12u64, any::<bool>()).prop_map(|(life, number, done)| Step::Reply(life, number, done)),
        2 => (0..3_000u64).prop_map(Step::Pass),
        3 => Just(Step::Timeout),
        1 => Just(Step::Campaign),
        1 => proptest::option::of(node()).prop_map(Step::Resign),
        1 => number().prop_map(Step::Propose),
        1 => number().prop_map(Step::Compact),
        1 => number().prop_map(Step::Applied),
        1 => Just(Step::Renounce),
        1 => node().prop_map(Step::Disconnected),
    ]
}

fn machine(id: u64, runs: u64) -> Kraft {
    let keys = (0..3).map(|id| ReplicaKey::new(NodeId(id), DirectoryId(100 + id)));
    let boot = Boot {
        stored: Some(Stored {
            state: QuorumState {
                epoch: runs + 1,
                ..QuorumState::default()
            },
            log: Shape::from_runs((1..=runs).map(|epoch| (epoch, 2))).unwrap(),
        }),
        directory: DirectoryId(100 + id),
        incarnation: 1,
        seed: 1,
    };
    let config = Config::new(NodeId(id), VoterSet::new(keys).unwrap());
    Kraft::new(config, boot, Instant::ZERO).unwrap()
}

/// The kind of an answer made to be one to that question.
fn fits(asked: &Body, answer: &Body) -> bool {
    matches!(
        (asked, answer),
        (Body::Vote { .. }, Body::VoteReply { .. })
            | (Body::Fetch { .. }, Body::FetchReply { .. })
            | (Body::FetchSnapshot { .. }, Body::FetchSnapshotReply { .. })
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_nothing_falls(
        id in prop_oneof![Just(0u64), Just(4u64)],
        runs in 0..4u64,
        steps in proptest::collection::vec(step(), 1..120),
    ) {
        let mut machine = machine(id, runs);
        let mut now = 0;
        let mut stored = Stored {
            log: machine.log().clone(),
            ..Stored::default()
        };
        let mut tickets: Vec<Ticket> = Vec::new();
        let mut asked: Vec<(NodeId, Message)> = Vec::new();
        let (mut epoch, mut high_watermark) = (machine.epoch(), machine.high_watermark());
        for step in steps {
            let at = Instant::from_millis(now);
            match step {
                Step::Message(from, body, number) => {
                    let correlation = Correlation { incarnation: 1, number };
                    machine.handle(at, Input::Peer(from, Message { correlation, body }));
                }
                Step::Answers(body) => {
                    for ticket in tickets.drain(..) {
                        machine.handle(at, Input::Reply(ticket, Ok(())));
                    }
                    if let Some((from, question)) = asked.iter().rev().find(|(_, it)| fits(&it.body, &body)) {
                        let correlation = question.correlation;
                        machine.handle(at, Input::Peer(*from, Message { correlation, body }));
                    }
                }
                Step::Reply(incarnation, number, done) => {
                    let ticket = Ticket { incarnation, number };
                    // What was not asked is not answered either; an unknown result ends the life, which is seldom wanted.
                    let result = if done || number % 4 > 0 { Ok(()) } else { Err(Unknown) };
                    machine.handle(at, Input::Reply(ticket, result));
                }
                Step::Pass(millis) => now += millis,
                Step::Timeout => {
                    if let Some(due) = machine.deadline() {
                        now = now.max(due.as_micros().div_ceil(1_000));
                        let at = Instant::from_millis(now);
                        machine.handle(at, Input::Timeout);
                        prop_assert!(machine.deadline().is_none_or(|due| due > at));
                    }
                }
                Step::Campaign => machine.handle(at, Input::Campaign),
                Step::Resign(to) => machine.handle(at, Input::Resign { to }),
                Step::Propose(count) => drop(machine.propose(at, count)),
                Step::Compact(index) => drop(machine.compact(at, index)),
                Step::Applied(index) => machine.applied(at, index),
                Step::Renounce => machine.renounce(at),
                Step::Disconnected(peer) => machine.disconnected(at, peer),
            }
            let mut outputs = 0;
            while let Some(output) = machine.poll() {
                outputs += 1;
                match output {
                    Output::Request(ticket, write) => {
                        prop_assert!(write.state.epoch >= stored.state.epoch);
                        if let LogWrite::Append { count, .. } = write.log {
                            prop_assert!(count > 0);
                        }
                        prop_assert_eq!(stored.apply(&write), Ok(()));
                        tickets.push(ticket);
                    }
                    Output::Send(to, message) => asked.push((to, message)),
                    Output::Event(_) => {}
                }
            }
            prop_assert!(outputs < 100, "{} outputs of one step", outputs);
            prop_assert!(machine.epoch() >= epoch && machine.epoch() <= MAX_EPOCH);
            prop_assert!(machine.high_watermark() >= high_watermark);
            prop_assert!(machine.high_watermark() <= machine.last().index);
            prop_assert!(machine.last().index <= MAX_OFFSET);
            epoch = machine.epoch();
            high_watermark = machine.high_watermark();
            // What the disk was asked for is what the machine goes by.
            prop_assert_eq!(&stored.log, machine.log());
            if stored.state != QuorumState::default() {
                prop_assert_eq!(stored.state, machine.quorum_state());
            }
        }
    }
}

/// Nodes that nobody knows ask and ask, while the disk is slow and there is nothing new: what is kept for them is bounded.
#[test]
fn strangers_find_no_more_room() {
    let mut machine = machine(0, 0);
    let now = Instant::from_millis(1);
    let correlation = Correlation {
        incarnation: 1,
        number: 1,
    };
    let mut tell = |from: u64, body| {
        machine.handle(
            now,
            Input::Peer(NodeId(from), Message { correlation, body }),
        );
        let mut sent = 0;
        while let Some(output) = machine.poll() {
            sent += usize::from(matches!(output, Output::Send(..)));
        }
        sent
    };
    // A vote that the disk does not answer.
    let voter = ReplicaKey::new(NodeId(0), DirectoryId(100));
    let vote = Body::Vote {
        voter,
        replica: ReplicaKey::new(NodeId(1), DirectoryId(101)),
        epoch: 1,
        last: Position::START,
        pre_vote: false,
    };
    tell(1, vote);
    for stranger in 10..1_010 {
        let fetch = Body::Fetch {
            epoch: 1,
            after: Position::START,
            replica: ReplicaKey::new(NodeId(stranger), DirectoryId(1)),
            high_watermark: 0,
        };
        assert_eq!(tell(stranger, fetch), 0);
    }
    assert_eq!(machine.refusals().count(Refusal::TooManyStrangers), 968);
    machine.handle(
        now,
        Input::Reply(
            Ticket {
                incarnation: 1,
                number: 2,
            },
            Ok(()),
        ),
    );
    let mut sent = 0;
    while let Some(output) = machine.poll() {
        sent +=
            usize::from(matches!(output, Output::Send(_, message) if !message.body.is_request()));
    }
    assert!(sent <= 33, "{sent}");
}
