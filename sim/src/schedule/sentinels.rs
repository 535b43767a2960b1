//! Sentinels and their data servers: the group of a seed, its network, disks and clocks.

use super::draw::Draw;
use super::moves;
use crate::physics::disk::Takes;
use crate::physics::weather::Weather;
use crate::scenario::{Clients, Elects, Scenario};
use crate::scheme::sentinel::Params;
use tenure::Duration;
use tenure::sentinel::{Rule, Switched};

/// When everything heals: time for some failovers, the waiting between two attempts included.
const HEALED: u64 = 45_000_000;
/// Things take so many times as long as in an election of Raft.
pub(super) const SCALE: u64 = 6;

/// How long it is judged for liveness at the most: a run is over when all have converged.
pub(super) fn lives(params: &Params) -> u64 {
    params.converged_within() + 1_000_000
}

pub(super) fn surroundings(draw: &mut Draw, seed: u64, off: &[Rule]) -> Scenario {
    let usual = Scenario::usual();
    let nodes = [3, 3, 3, 5][draw.place(4)];
    let ms = Duration::from_millis;
    let params = Params {
        masters: [1, 1, 1, 2][draw.place(4)],
        replicas: [1, 2, 2, 3][draw.place(4)],
        quorum: [Some(2), None][draw.place(2)],
        down_after: ms([1_000, 2_000][draw.place(2)]),
        failover_timeout: ms([3_000, 5_000][draw.place(2)]),
        parallel_syncs: 1 + draw.place(2),
        min_replicas: usize::from(draw.one_in(4)),
        max_lag: ms(2_000),
        full_sync: ms([100, 1_000][draw.place(2)]),
        persistent: !draw.one_in(4),
        rules: Switched::without(off),
    };
    let (latency_min, latency_max) = match draw.between(0, 2) {
        0 => (5_000, 5_000),
        1 => (500, 2_000),
        _ => (5_000, 80_000),
    };
    let clocks = if draw.one_in(2) {
        Vec::new()
    } else {
        let bound = usual.timing.rate_bound;
        (0..nodes).map(|_| moves::within(draw, bound)).collect()
    };
    let write = if draw.one_in(3) {
        draw.between(1, 150) * 1_000
    } else {
        1_000
    };
    let rename = if draw.one_in(3) {
        draw.between(1, 40) * 1_000
    } else {
        0
    };
    Scenario {
        seed,
        nodes,
        elects: Elects::Sentinel(params),
        clients: Clients {
            every: 500_000,
            ..usual.clients
        },
        weather: Weather {
            latency_min,
            latency_max,
            fifo: draw.one_in(4),
            ..usual.weather
        },
        disk: Takes { write, rename },
        clocks,
        leader_within: params.leader_within(),
        duration: HEALED + lives(&params),
        ..usual
    }
}
