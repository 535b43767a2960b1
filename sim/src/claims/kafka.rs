//! What is said of Kafka: of its controllers, and of its brokers.

use super::runs::{broken, run, scenario, two_lead};
use super::{Claim, Part, Verdict};
use crate::check::Check;
use crate::physics::trace::Kind;
use crate::scheme::kraft::code::{FETCH, FETCH_REPLY};
use crate::scheme::raft::code::APPEND;
use crate::world::World;

/// A quorum of controllers on which nothing is done.
const CALM: &str = r#"{"tenure": 1, "scheme": "kraft", "nodes": 3,
    "network": {"latency": ["5ms", "10ms"]}, "client": {"every": "100ms"}, "duration": "10s"}"#;
const CALM_RAFT: &str = r#"{"tenure": 1, "scheme": "raft", "nodes": 3, "raft": {"log": true},
    "network": {"latency": ["5ms", "10ms"]}, "client": {"every": "100ms"}, "duration": "10s"}"#;

/// The leader of a partition dies, and its followers hear late of what it takes: with what is acknowledged by all in sync.
const ALL: &str = r#"{"tenure": 1, "scheme": "kraft", "nodes": 3, "brokers": {"acks": "all"},
    "network": {"latency": ["5ms", "10ms"]}, "client": {"every": "100ms"}, "duration": "40s",
    "faults": [{"at": "9s", "delay": {"link": ["b2", "b1"], "by": "300ms"}},
               {"at": "9s", "delay": {"link": ["b2", "b3"], "by": "300ms"}}, {"at": "10s", "crash": "b2"}]}"#;
/// The same with what the leader alone acknowledges.
const ONE: &str = r#"{"tenure": 1, "scheme": "kraft", "nodes": 3, "brokers": {"acks": "1"},
    "network": {"latency": ["5ms", "10ms"]}, "client": {"every": "100ms"}, "duration": "40s",
    "faults": [{"at": "9s", "delay": {"link": ["b2", "b1"], "by": "300ms"}},
               {"at": "9s", "delay": {"link": ["b2", "b3"], "by": "300ms"}}, {"at": "10s", "crash": "b2"}]}"#;

/// The controller is cut off alone.
const CUT_OFF: &str = r#"{"tenure": 1, "scheme": "kraft", "nodes": 5,
    "network": {"latency": ["5ms", "10ms"]}, "client": {"every": "50ms", "think": "30ms"}, "duration": "24s",
    "faults": [{"at": "8s", "partition": [["leader"], ["rest"]]}, {"at": "16s", "heal": "all"}]}"#;

pub(super) fn claims() -> Vec<Claim> {
    vec![
        Claim {
            name: "kafka-controller-store",
            says: "Kafka elects its controller over a store: etcd, or a node in ZooKeeper.",
            expected: Verdict::Corrected,
            instead: "It never was etcd, and is ZooKeeper no more: KRaft's controllers are a quorum of their own, whose followers fetch the \
                      log. There is no store to be up first.",
            gallery: Some("kraft-minority-leader"),
            parts: vec![
                Part::count("servers of a store in a group of controllers", |seed| {
                    World::new(&scenario(CALM, seed)).servers().count() as u64
                }),
                Part::count(
                    "leaders that a group of controllers has made of its own",
                    |seed| run(CALM, seed).counts().establishments,
                ),
                Part::count("fetches of its followers in ten seconds", |seed| {
                    sent(CALM, seed, FETCH)
                }),
                Part::count("answers with entries that nobody had asked for", |seed| {
                    sent(CALM, seed, FETCH_REPLY).saturating_sub(sent(CALM, seed, FETCH))
                }),
                Part::count(
                    "entries that a leader of Raft sends unasked, for comparison",
                    |seed| sent(CALM_RAFT, seed, APPEND),
                ),
            ],
            judge: |figures| match figures {
                [servers, leaders, fetches, unasked, pushed]
                    if servers.never()
                        && leaders.always()
                        && fetches.always()
                        && unasked.never()
                        && pushed.always() =>
                {
                    Verdict::Corrected
                }
                [servers, ..] if servers.occurred() => Verdict::Holds,
                _ => Verdict::Open,
            },
        },
        Claim {
            name: "kafka-controller-epoch",
            says: "Kafka's controllers have an epoch against split brain.",
            expected: Verdict::Holds,
            instead: "Two may believe to be the controller for a while. The epoch decides whose requests are taken.",
            gallery: Some("kraft-minority-leader"),
            parts: vec![
                Part::time(
                    "two that believe to be the controller, one of them cut off",
                    |seed| two_lead(CUT_OFF, seed),
                ),
                Part::count("times that an epoch had two controllers", |seed| {
                    broken(CUT_OFF, seed, Check::OneLeaderPerTerm)
                }),
                Part::count(
                    "stale requests taken where nobody looks at the epoch",
                    |seed| broken(CUT_OFF, seed, Check::StaleWriteUnfenced),
                ),
                Part::count("the same where it is looked at", |seed| {
                    broken(CUT_OFF, seed, Check::StaleWriteFenced)
                }),
            ],
            judge: |figures| match figures {
                [_, epochs, _, guarded] if epochs.occurred() || guarded.occurred() => {
                    Verdict::Corrected
                }
                [two, _, open, _] if two.occurred() && open.occurred() => Verdict::Holds,
                _ => Verdict::Open,
            },
        },
        Claim {
            name: "kafka-acknowledged",
            says: "Kafka replicates its partitions, so what a producer was told is written survives the loss of a broker.",
            expected: Verdict::Limited,
            instead: "With acks=all, and while elections are clean. With acks=1 the leader alone has it, and what it had not handed on is \
                      gone with it.",
            gallery: Some("kafka-acks-one"),
            parts: vec![
                Part::count("acknowledged records lost with acks=all", |seed| {
                    broken(ALL, seed, Check::KafkaNoAckLoss)
                }),
                Part::count("acknowledged records lost with acks=1", |seed| {
                    broken(ONE, seed, Check::KafkaNoAckLoss)
                }),
            ],
            judge: |figures| match figures {
                [all, _] if all.occurred() => Verdict::Corrected,
                [_, one] if one.occurred() => Verdict::Limited,
                [all, one] if all.never() && one.never() => Verdict::Holds,
                _ => Verdict::Open,
            },
        },
    ]
}

/// How many messages of this kind nodes sent.
fn sent(json: &str, seed: u64, kind: i64) -> u64 {
    let mut world = World::new(&scenario(json, seed));
    world.trace_mut().recording = true;
    world.run();
    let events = world.trace().fresh.iter();
    events
        .filter(|event| event.kind == Kind::Send && event.a == kind)
        .count() as u64
}
