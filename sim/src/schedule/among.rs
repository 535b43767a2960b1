//! Elections among peers other than Raft: the group of a seed, its network, disks and clocks. A further scheme is a further
//! variant.

use super::draw::Draw;
use super::{brokers, jobs, moves, sentinels};
use crate::physics::disk::Takes;
use crate::physics::weather::Weather;
use crate::scenario::{Clients, Elects, Scenario};
use crate::scheme::{kraft, zab};
use tenure::Duration;
use tenure::isr::Rule as BrokerRule;
use tenure::kraft::Rule as KraftRule;
use tenure::sentinel::Rule as SentinelRule;
use tenure::zab::Rule as ZabRule;

/// Which peers, and their rules that are switched off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Among {
    /// ZooKeeper's own servers.
    Zab(Vec<ZabRule>),
    /// Sentinels, with the data servers that they watch.
    Sentinel(Vec<SentinelRule>),
    /// Kafka's controllers.
    Kraft(Vec<KraftRule>),
    /// The same with brokers beside them.
    Kafka(Vec<BrokerRule>),
}

/// ZooKeeper's tick: a limit of it is as long as three timeouts of Raft.
const TICK: Duration = Duration::from_millis(100);
/// When everything heals: a storm lasts for fifteen limits.
const HEALED: u64 = 9_000_000;
/// How long it is judged for liveness: longer than the bound for a leader.
pub(super) const LIVES: u64 = 6_000_000;
/// Things take so many times as long as in an election of Raft.
const SCALE: u64 = 2;

impl Among {
    /// These, with every rule on.
    #[must_use]
    pub const fn zab() -> Self {
        Self::Zab(Vec::new())
    }

    /// The same of sentinels.
    #[must_use]
    pub const fn sentinel() -> Self {
        Self::Sentinel(Vec::new())
    }

    /// The same of Kafka's controllers.
    #[must_use]
    pub const fn kraft() -> Self {
        Self::Kraft(Vec::new())
    }

    /// The same of Kafka's brokers.
    #[must_use]
    pub const fn kafka() -> Self {
        Self::Kafka(Vec::new())
    }

    /// The ones of this name, with every rule on.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::zab(), Self::sentinel(), Self::kraft(), Self::kafka()];
        all.into_iter().find(|among| among.name() == name)
    }

    /// How many times as long things take as in an election of Raft.
    pub(super) const fn scale(&self) -> u64 {
        match self {
            Self::Zab(_) | Self::Kraft(_) | Self::Kafka(_) => SCALE,
            Self::Sentinel(_) => sentinels::SCALE,
        }
    }

    /// What they are called on the command line.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Zab(_) => "zab",
            Self::Sentinel(_) => "sentinel",
            Self::Kraft(_) => "kraft",
            Self::Kafka(_) => "kafka",
        }
    }

    /// The group of a seed, its clients, network, disks and clocks.
    pub(super) fn surroundings(&self, draw: &mut Draw, seed: u64) -> Scenario {
        let usual = Scenario::usual();
        match self {
            Self::Sentinel(off) => return sentinels::surroundings(draw, seed, off),
            Self::Kafka(off) => return brokers::surroundings(draw, seed, off),
            Self::Zab(_) | Self::Kraft(_) => {}
        }
        let voters = [3, 3, 4, 5][draw.place(4)];
        let observers = [0, 0, 1, 2][draw.place(4)];
        let (elects, leader_within) = match self {
            Self::Zab(off) => {
                let params = zab(draw, observers, off);
                (Elects::Zab(params), params.leader_within())
            }
            Self::Kraft(off) => {
                let params = kraft(draw, observers, off);
                (Elects::Kraft(params), params.leader_within())
            }
            Self::Sentinel(_) | Self::Kafka(_) => {
                unreachable!("they have surroundings of their own")
            }
        };
        let mut often = |most| {
            if draw.one_in(2) {
                0
            } else {
                draw.between(1, most) * 1_000
            }
        };
        let (think, write_delay, rename) = (often(40), often(700), often(20));
        let nodes = voters + observers;
        let (latency_min, latency_max) = match draw.between(0, 2) {
            // All messages take as long: nothing breaks a tie.
            0 => (5_000, 5_000),
            1 => (500, 2_000),
            _ => (5_000, 10_000),
        };
        let bound = usual.timing.rate_bound;
        let clocks = if draw.one_in(3) {
            Vec::new()
        } else {
            (0..nodes).map(|_| moves::within(draw, bound)).collect()
        };
        Scenario {
            seed,
            nodes,
            elects,
            clients: Clients {
                think,
                write_delay,
                watches: draw.one_in(4),
                ..usual.clients
            },
            weather: Weather {
                latency_min,
                latency_max,
                fifo: true,
                ..usual.weather
            },
            disk: Takes {
                rename,
                ..usual.disk
            },
            clocks,
            jobs: jobs(seed),
            leader_within,
            duration: HEALED + LIVES,
            ..usual
        }
    }
}

fn zab(draw: &mut Draw, observers: usize, off: &[ZabRule]) -> zab::Params {
    let ms = Duration::from_millis;
    zab::Params {
        timing: tenure::zab::Timing {
            tick: TICK,
            init_limit: 10,
            sync_limit: 5,
            finalize_wait: ms(draw.between(20, 60)),
            min_notification: ms(50),
            max_notification: ms(1_000),
            epoch_patience: draw.one_in(2).then(|| ms(draw.between(50, 200))),
            ..tenure::zab::Timing::zookeeper()
        },
        observers,
        rules: tenure::zab::Switched::without(off),
    }
}

/// A fifth of Kafka's timeouts: as long as a tick and a limit of ZooKeeper here.
pub(super) fn kraft(draw: &mut Draw, observers: usize, off: &[KraftRule]) -> kraft::Params {
    let ms = Duration::from_millis;
    kraft::Params {
        brokers: None,
        timing: tenure::kraft::Timing {
            election_timeout: ms(draw.between(100, 200)),
            fetch_timeout: ms(400),
            election_backoff_max: ms(200),
            request_timeout: ms(400),
            retry_backoff: ms(draw.between(5, 20)),
            append_linger: ms([0, 5, 25][draw.place(3)]),
            fetch_max_wait: ms(draw.between(20, 100)),
        },
        observers,
        rules: tenure::kraft::Switched::without(off),
    }
}
