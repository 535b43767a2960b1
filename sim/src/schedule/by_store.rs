//! Elections over a store: the group of a seed, its store, network and clocks.

use super::draw::Draw;
use super::{LIVES, jobs, moves};
use crate::physics::weather::Weather;
use crate::scenario::{Clients, Elects, Lease, Scenario};
use crate::scheme::lease::Kind;
use tenure::Duration;
use tenure::lease::{Rule, Switched};

/// The lease: a storm lasts for fifteen of them, and some stores count them in whole seconds.
const TTL: Duration = Duration::from_secs(1);
/// When everything heals.
const HEALED: u64 = 16_000_000;
/// So much longer it takes a cluster: its members find a leader, and the nodes the members that follow it.
const CLUSTER: u64 = 9_000_000;
/// Things take so many times as long as in an election of Raft.
pub(super) const SCALE: u64 = 3;
/// More than a message takes while nothing is wrong.
const LATENCY: Duration = Duration::from_millis(20);

/// By what store they elect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByStore {
    /// By what.
    pub kind: Kind,
    /// Rules of the family that are switched off.
    pub off: Vec<Rule>,
    /// Whether the store loses what it had acknowledged: that breaks what every scheme rests on, and is excused.
    pub loses: bool,
    /// How many servers it has.
    pub servers: u8,
}

impl ByStore {
    /// By this, with every rule on, and a store that loses nothing.
    #[must_use]
    pub const fn of(kind: Kind) -> Self {
        Self {
            kind,
            off: Vec::new(),
            loses: false,
            servers: kind.servers(),
        }
    }
}

impl ByStore {
    /// Whether its servers are a cluster.
    pub(crate) const fn is_cluster(&self) -> bool {
        self.kind.is_cluster() && self.servers > 1
    }

    /// How much longer a leader takes.
    pub(super) const fn beyond(&self) -> u64 {
        if self.is_cluster() { CLUSTER } else { 0 }
    }
}

/// The group of a seed, its clients, store, network and clocks.
pub(super) fn surroundings(draw: &mut Draw, seed: u64, store: &ByStore) -> Scenario {
    let usual = Scenario::usual();
    let nodes = [2, 3, 3, 5][draw.place(4)];
    let mut timing = store.kind.timing(Some(TTL));
    // Without a margin nothing hides what is a grain too long.
    if draw.one_in(2) {
        timing.margin = Duration::ZERO;
    }
    let mut often = |most| {
        if draw.one_in(2) {
            0
        } else {
            draw.between(1, most) * 1_000
        }
    };
    let (think, write_delay) = (often(60), often(1_500));
    let clocks = if draw.one_in(3) {
        Vec::new()
    } else {
        (0..nodes)
            .map(|_| moves::within(draw, timing.rate.0))
            .collect()
    };
    let (latency_min, latency_max) = match draw.between(0, 2) {
        // All messages take as long: nothing breaks a tie.
        0 => (5_000, 5_000),
        1 => (500, 2_000),
        _ => (5_000, 10_000),
    };
    Scenario {
        seed,
        nodes,
        elects: Elects::ByStore(Lease {
            timing,
            latency: LATENCY,
            rules: Switched::without(&store.off),
            servers: store.servers,
            ..Lease::of(store.kind, TTL)
        }),
        clients: Clients {
            think,
            write_delay,
            ..usual.clients
        },
        weather: Weather {
            latency_min,
            latency_max,
            // A client of a store mostly talks over a connection; servers of ZooKeeper among each other always do.
            fifo: !draw.one_in(3) || store.kind.is_connected(store.servers),
            ..usual.weather
        },
        clocks,
        jobs: jobs(seed),
        // The lease ends, which a server may notice half a second late; whoever waits looks, and asks.
        leader_within: 3 * TTL.as_micros() + store.beyond(),
        duration: HEALED + LIVES + store.beyond(),
        ..usual
    }
}
