//! The rows of the table, and the settings they are measured under.

use super::NODES;
use crate::measure::timing;
use crate::scenario::{Elects, Lease, Scenario};
use crate::scheme::lease::Kind;
use crate::scheme::{kraft, sentinel, zab};
use tenure::Duration;
use tenure::lease::Preset;
use tenure::raft;

/// A row of the table: a scheme, with or without a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// Raft without a log.
    Raft,
    /// With one.
    RaftLog,
    /// With one, and etcd's own timeouts.
    RaftEtcd,
    /// ZooKeeper's own servers.
    Zab,
    /// The quorum of Kafka's controllers.
    Kraft,
    /// Redis Sentinel.
    Sentinel,
    /// By a store.
    Lease(Kind),
}

/// How a scheme is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As a system that elects like this is shipped.
    Shipped,
    /// As quick as the system takes it, or the round trips of the network leave room for.
    Quick,
}

impl Pace {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Shipped, Self::Quick];

    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shipped => "shipped",
            Self::Quick => "quick",
        }
    }
}

impl Row {
    /// All of them: a store that is added is here at once, and a scheme among peers has to be (there is a test).
    pub fn all() -> impl Iterator<Item = Self> {
        let leases = Kind::ALL.into_iter().map(Self::Lease);
        let peers = [
            Self::Raft,
            Self::RaftLog,
            Self::RaftEtcd,
            Self::Zab,
            Self::Kraft,
            Self::Sentinel,
        ];
        peers.into_iter().chain(leases)
    }

    /// Its name in reports and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raft => "raft",
            Self::RaftLog => "raft-log",
            Self::RaftEtcd => "raft-etcd",
            Self::Zab => "zab",
            Self::Kraft => "kraft",
            Self::Sentinel => "sentinel",
            Self::Lease(kind) => kind.name(),
        }
    }

    /// What it is measured under, but for the seed and the loss.
    #[must_use]
    pub fn scenario(self, pace: Pace) -> Scenario {
        let usual = Scenario {
            nodes: NODES,
            ..Scenario::usual()
        };
        let mut scenario = match self {
            Self::Raft | Self::RaftLog | Self::RaftEtcd => Scenario {
                log: self != Self::Raft,
                timing: self.of_raft(pace),
                ..usual
            },
            Self::Zab => Scenario {
                elects: Elects::Zab(zab::Params {
                    timing: of_zab(pace),
                    ..zab::Params::default()
                }),
                ..usual
            },
            Self::Kraft => Scenario {
                elects: Elects::Kraft(kraft::Params {
                    timing: of_kraft(pace),
                    ..kraft::Params::default()
                }),
                ..usual
            },
            Self::Sentinel => Scenario {
                elects: Elects::Sentinel(of_sentinel(pace)),
                ..usual
            },
            Self::Lease(kind) => Scenario {
                elects: Elects::ByStore(of_lease(kind, pace)),
                ..usual
            },
        };
        // Who speaks over connections keeps the order of what is said.
        scenario.weather.fifo = scenario.setup().is_connected();
        scenario
    }

    /// The settings in the words of the system.
    #[must_use]
    pub fn setting(self, pace: Pace) -> String {
        let scenario = self.scenario(pace);
        match &scenario.elects {
            Elects::Raft => {
                let raft::Timing {
                    election_min,
                    election_max,
                    heartbeat,
                    ..
                } = scenario.timing;
                format!(
                    "election timeout {election_min} to {election_max}, heartbeat {}",
                    rounded(heartbeat)
                )
            }
            Elects::Zab(params) => {
                let timing = params.timing;
                format!(
                    "tickTime {}, initLimit {}, syncLimit {}, who is refused asks again after {}",
                    timing.tick, timing.init_limit, timing.sync_limit, timing.connect_delay
                )
            }
            Elects::Kraft(params) => format!(
                "quorum fetch timeout {}, election timeout {}",
                params.timing.fetch_timeout, params.timing.election_timeout
            ),
            Elects::Sentinel(params) => format!(
                "down-after {}, failover-timeout {}",
                params.down_after, params.failover_timeout
            ),
            Elects::ByStore(lease) => {
                let of = match lease.preset {
                    Some(preset) => format!("{}: ", preset.name()),
                    None => String::new(),
                };
                let timing = lease.timing;
                format!(
                    "{of}ttl {}, renewed within {}",
                    timing.ttl,
                    rounded(timing.renew)
                )
            }
        }
    }

    fn of_raft(self, pace: Pace) -> raft::Timing {
        match (self, pace) {
            (Self::RaftEtcd, Pace::Shipped) => raft::Timing::etcd(),
            // The least it takes is five heartbeats, and its manual wants ten round trips.
            (Self::RaftEtcd, Pace::Quick) => raft::Timing {
                heartbeat: Duration::from_millis(15),
                ..timing(150_000, 300_000)
            },
            (_, Pace::Shipped) => raft::Timing::default(),
            (_, Pace::Quick) => timing(100_000, 200_000),
        }
    }
}

/// To the millisecond.
fn rounded(span: Duration) -> Duration {
    Duration::from_millis((span.as_micros() + 500) / 1_000)
}

fn of_zab(pace: Pace) -> tenure::zab::Timing {
    let shipped = tenure::zab::Timing::zookeeper();
    match pace {
        Pace::Shipped => shipped,
        Pace::Quick => tenure::zab::Timing {
            tick: Duration::from_millis(50),
            // A voter that decides before the one it elects is refused, and asks again after leaderConnectDelayDuringRetryMs. The
            // 200 ms without a better vote are fixed in the code.
            connect_delay: Duration::from_millis(10),
            ..shipped
        },
    }
}

fn of_kraft(pace: Pace) -> tenure::kraft::Timing {
    let shipped = tenure::kraft::Timing::default();
    match pace {
        Pace::Shipped => shipped,
        Pace::Quick => tenure::kraft::Timing {
            election_timeout: Duration::from_millis(150),
            fetch_timeout: Duration::from_millis(200),
            election_backoff_max: Duration::from_millis(150),
            request_timeout: Duration::from_millis(200),
            fetch_max_wait: Duration::from_millis(50),
            ..shipped
        },
    }
}

fn of_sentinel(pace: Pace) -> sentinel::Params {
    let shipped = sentinel::Params::default();
    match pace {
        Pace::Shipped => shipped,
        Pace::Quick => sentinel::Params {
            down_after: Duration::from_millis(200),
            ..shipped
        },
    }
}

/// The system whose settings an election by this store is measured under. None is shipped with a lock of a session.
const fn shipped(kind: Kind) -> Option<Preset> {
    match kind {
        Kind::Sql => Some(Preset::ShedLock),
        Kind::SqlSession => None,
        Kind::Etcd => Some(Preset::EtcdSession),
        Kind::EtcdSingle => Some(Preset::Patroni),
        Kind::Milvus => Some(Preset::Milvus),
        Kind::Kubernetes => Some(Preset::ClientGo),
        Kind::Redis => Some(Preset::Redisson),
        Kind::Redlock => Some(Preset::Redsync),
        Kind::ZooKeeper => Some(Preset::Curator),
        // Kafka's is none of the presets.
        Kind::Controller => None,
    }
}

/// The shortest lease that it takes, in milliseconds.
const fn shortest(kind: Kind) -> u64 {
    match kind {
        // One and a half election timeouts, in whole seconds.
        Kind::Etcd | Kind::EtcdSingle | Kind::Milvus => 2_000,
        // Two ticks, of 2 s.
        Kind::ZooKeeper | Kind::Controller => 4_000,
        // It is written in whole seconds.
        Kind::Kubernetes => 1_000,
        // No bound, but an attempt has to fit in a twentieth of it, and a round trip in that.
        Kind::Redlock => 800,
        // No bound, but a renewal and another attempt have to fit.
        Kind::Sql | Kind::SqlSession | Kind::Redis => 450,
    }
}

fn of_lease(kind: Kind, pace: Pace) -> Lease {
    let usual = tenure::lease::Timing::default().ttl;
    let of = |ttl| Lease {
        latency: Duration::from_millis(20),
        ..Lease::of(kind, ttl)
    };
    match (pace, shipped(kind)) {
        (Pace::Shipped, Some(preset)) => Lease {
            preset: Some(preset),
            timing: preset.timing(),
            renew_deadline: preset.renew_deadline(),
            ..of(preset.timing().ttl)
        },
        (Pace::Shipped, None) => of(usual),
        (Pace::Quick, _) => of(Duration::from_millis(shortest(kind))),
    }
}
