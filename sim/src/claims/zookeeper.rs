//! What is said of ZooKeeper.

use super::runs::scenario;
use super::{Claim, Part, Verdict};
use crate::check::{Check, Outcome};
use crate::store::{Reader, Reading};
use crate::world::World;

/// Whoever leads resigns, again and again: each of the three comes round, in the session that it has.
const IN_TURN: &str = r#"{"tenure": 1, "scheme": "zookeeper", "nodes": 3, "lease": {"ttl": "4s"},
    "network": {"latency": ["5ms", "10ms"]}, "client": {"every": "200ms"}, "duration": "40s",
    "faults": [{"at": "5s", "resign": "leader"}, {"at": "10s", "resign": "leader"}, {"at": "15s", "resign": "leader"},
        {"at": "20s", "resign": "leader"}, {"at": "25s", "resign": "leader"}, {"at": "30s", "resign": "leader"}]}"#;

/// The leading server is cut off from the others, and its clock is slow: it is late to notice. Clients ask for the first time when
/// another leads: what the one that is cut off had proposed and not committed would hold its answers back.
const REPLACED: &str = r#"{"tenure": 1, "scheme": "zab", "nodes": 5, "zab": {"tick": "500ms"},
    "network": {"latency": ["5ms", "10ms"]}, "client": {"every": "9s"}, "duration": "18s",
    "faults": [{"at": "4s", "clock": {"node": "leader", "rate": "-80%"}},
        {"at": "5s", "partition": [["leader"], ["rest"]]}, {"at": "16s", "heal": "all"}]}"#;
const REPLACED_SHIPPED: &str = r#"{"tenure": 1, "scheme": "zab", "nodes": 5, "zab": {"tick": "500ms"},
    "rulesOff": ["sync-by-quorum"],
    "network": {"latency": ["5ms", "10ms"]}, "client": {"every": "9s"}, "duration": "18s",
    "faults": [{"at": "4s", "clock": {"node": "leader", "rate": "-80%"}},
        {"at": "5s", "partition": [["leader"], ["rest"]]}, {"at": "16s", "heal": "all"}]}"#;

pub(super) fn claims() -> Vec<Claim> {
    vec![
        Claim {
            name: "session-id",
            says: "The id of a ZooKeeper session is a generation number, as a Raft term is.",
            expected: Verdict::Corrected,
            instead: "It is given when a session is opened, and whoever leads again, or opened early and leads late, has a smaller one than \
                      the leader before. The czxid of its node rises from each leader to the next.",
            gallery: Some("zookeeper-session-lost"),
            parts: vec![
                Part::count(
                    "leaders whose session id is no larger than that of the one before",
                    |seed| leaders(seed).falls(|leader| leader.session),
                ),
                Part::count("the same of the czxid of their nodes", |seed| {
                    leaders(seed).falls(|leader| leader.czxid)
                }),
                Part::count("changes of leader", |seed| leaders(seed).changes()),
            ],
            judge: |figures| match figures {
                [session, czxid, changes]
                    if session.occurred() && czxid.never() && changes.always() =>
                {
                    Verdict::Corrected
                }
                [session, _, changes] if session.never() && changes.always() => Verdict::Holds,
                _ => Verdict::Open,
            },
        },
        Claim {
            name: "zookeeper-sync",
            says: "ZooKeeper's reads may be stale, unless sync is called before.",
            expected: Verdict::Limited,
            instead: "As it ships, a leader that was replaced and does not know answers the sync itself. It must have a quorum confirm that \
                      it still leads.",
            gallery: None,
            parts: vec![
                Part::count(
                    "runs with reads after a sync that no order explains, as shipped; the leading server is cut off",
                    |seed| unexplained(REPLACED_SHIPPED, Reading::Confirmed, seed),
                ),
                Part::count("the same where a quorum confirms the sync", |seed| {
                    unexplained(REPLACED, Reading::Confirmed, seed)
                }),
                Part::count(
                    "reads without a sync that showed what was overwritten",
                    |seed| {
                        let ages = asked(REPLACED, Reading::Local, seed).judges().local_ages();
                        (ages.count() - ages.within(0)) as u64
                    },
                ),
            ],
            judge: |figures| match figures {
                [shipped, quorum, local] if quorum.never() && local.occurred() => {
                    if shipped.occurred() {
                        Verdict::Limited
                    } else {
                        Verdict::Holds
                    }
                }
                [_, quorum, _] if quorum.occurred() => Verdict::Corrected,
                _ => Verdict::Open,
            },
        },
    ]
}

/// A run in which one client reads of the server that leads when it is about to be cut off, and stays with it.
fn asked(json: &str, reading: Reading, seed: u64) -> World {
    let mut world = World::new(&scenario(json, seed));
    world.record_histories();
    world.run_until(4_500_000);
    if let Some((leader, _)) = world.leader() {
        let judged = reading != Reading::Local;
        world.add_reader(Reader::new(leader as u16, reading, judged));
    }
    world.run();
    world
}

/// Whether no order explains what clients were answered.
fn unexplained(json: &str, reading: Reading, seed: u64) -> u64 {
    let verdict = asked(json, reading, seed).verdict(Check::LinearizableStore);
    u64::from(verdict.outcome == Outcome::Broken)
}

/// One that led.
#[derive(Clone, Copy, Debug)]
struct Leader {
    node: usize,
    session: u64,
    czxid: u64,
}

/// Those that led one after another.
#[derive(Debug, Default)]
struct Leaders(Vec<Leader>);

impl Leaders {
    fn changes(&self) -> u64 {
        self.0.len().saturating_sub(1) as u64
    }

    /// How often a number did not rise.
    fn falls(&self, of: impl Fn(&Leader) -> u64) -> u64 {
        let pairs = self.0.windows(2);
        pairs.filter(|pair| of(&pair[1]) <= of(&pair[0])).count() as u64
    }
}

fn leaders(seed: u64) -> Leaders {
    let mut world = World::new(&scenario(IN_TURN, seed));
    let mut led = Leaders::default();
    while world.now() < world.duration() {
        world.run_until(world.now() + 50_000);
        let Some((node, token)) = world.leader() else {
            continue;
        };
        let session = world.node(node).and_then(|node| node.machine()?.session());
        let last = led.0.last().map(|last| (last.node, last.czxid));
        if let Some(session) = session.filter(|_| last != Some((node, token.counter))) {
            led.0.push(Leader {
                node,
                session,
                czxid: token.counter,
            });
        }
    }
    led
}
