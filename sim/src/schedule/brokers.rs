//! Kafka's brokers beside its controllers: the group of a seed, its network, disks and clocks.

use super::draw::Draw;
use super::{among, moves};
use crate::brokers::Params;
use crate::fault::{Action, Damage, Who};
use crate::physics::disk::Takes;
use crate::physics::weather::Weather;
use crate::scenario::{Clients, Elects, Scenario};
use crate::world::World;
use tenure::Duration;
use tenure::isr::{Acks, Rule, Switched};

/// When everything heals: a storm lasts for ten sessions.
const HEALED: u64 = 10_000_000;

/// How long it is judged for liveness: longer than the bounds for a controller and for the brokers together.
pub(super) fn lives(scenario: &Scenario) -> u64 {
    let within = scenario.brokers().map_or(0, Params::in_sync_within);
    scenario.leader_within + within + 500_000
}

/// Of every fourth seed a storm ends with the loss of disks, of one broker or some or all. It draws from a source of its own, after
/// all else is drawn.
pub(super) fn lose_disks(world: &mut World, seed: u64, count: usize) {
    let mut draw = Draw::new(seed, 0xd15c_105e);
    if !draw.one_in(4) {
        return;
    }
    let many = [1, 1, 2, count][draw.place(4)];
    let first = draw.place(count);
    for broker in (first..first + many).map(|broker| broker % count) {
        // A plan is full only far beyond the most actions of a schedule.
        let _ = world.act(Action::Damage(Who::Server(broker as u16), Damage::Wipe));
    }
}

pub(super) fn surroundings(draw: &mut Draw, seed: u64, off: &[Rule]) -> Scenario {
    let usual = Scenario::usual();
    let nodes = [3, 3, 3, 5][draw.place(4)];
    let count = [3, 3, 4, 5][draw.place(4)];
    let ms = Duration::from_millis;
    let replication = [3, 3, 3, 2][draw.place(4)];
    // A tenth of Kafka's times.
    let brokers = Params {
        count,
        topics: 1 + draw.place(2) as u64,
        partitions: 1 + draw.place(2) as u32,
        replication,
        min_isr: [1, 2, 2, 2][draw.place(4)],
        unclean: draw.one_in(6),
        elr: !draw.one_in(4),
        acks: [Acks::All, Acks::All, Acks::Leader][draw.place(3)],
        session: ms(900),
        heartbeat: ms(200),
        lag: ms([300, 600][draw.place(2)]),
        wait: ms([20, 50][draw.place(2)]),
        recreate: draw.one_in(4).then(|| ms(draw.between(2_000, 5_000))),
        rules: Switched::without(off),
    };
    let quorum = crate::scheme::kraft::Params {
        brokers: Some(brokers),
        ..among::kraft(draw, 0, &[])
    };
    let (latency_min, latency_max) = match draw.between(0, 2) {
        0 => (5_000, 5_000),
        1 => (500, 2_000),
        _ => (1_000, 20_000),
    };
    let clocks = if draw.one_in(2) {
        Vec::new()
    } else {
        let bound = usual.timing.rate_bound;
        (0..nodes).map(|_| moves::within(draw, bound)).collect()
    };
    let scenario = Scenario {
        seed,
        nodes,
        leader_within: quorum.leader_within(),
        elects: Elects::Kraft(quorum),
        clients: Clients {
            every: draw.between(10, 60) * 1_000,
            ..usual.clients
        },
        weather: Weather {
            latency_min,
            latency_max,
            fifo: true,
            ..usual.weather
        },
        disk: Takes {
            rename: if draw.one_in(3) {
                draw.between(1, 20) * 1_000
            } else {
                0
            },
            ..usual.disk
        },
        clocks,
        ..usual
    };
    Scenario {
        duration: HEALED + lives(&scenario),
        ..scenario
    }
}
