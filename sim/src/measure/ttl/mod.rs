//! The length of a lease: how soon a crash is noticed, against how often a leader that lives is taken for dead.
//!
//! For each length and each level of jitter, many seeds: each runs undisturbed but for the jitter, and then the leader's
//! process dies.

mod advice;
mod jitter;
mod table;

pub use jitter::Level;
pub use table::Table;

use super::causes::sent;
use crate::fault::{Action, Plan, Who};
use crate::physics::trace::{Event, Kind as What};
use crate::scenario::{Clients, Elects, Lease, Scenario};
use crate::scheme::Unfit;
use crate::scheme::lease::Kind;
use crate::stats::Times;
use crate::world::World;
use tenure::Duration;
use tenure::lease::Timing;

/// The lengths of a lease that are measured, in seconds.
pub const TTLS: [u64; 7] = [1, 2, 5, 10, 15, 30, 60];

/// How many nodes elect.
pub const NODES: usize = 3;

/// How long each seed is watched before the crash, in microseconds.
pub const WATCHED: u64 = 600_000_000;

/// When that begins, whatever the length: so that all meet the same jitter.
const SETTLED: u64 = 120_000_000;

/// What was measured of one length of a lease, under one level of jitter.
#[derive(Clone, Debug, Default)]
pub struct Lag {
    /// From the crash to the sending of the claim that won: somebody took the record for free then.
    pub detection: Times,
    /// From the crash to the permission to act.
    pub takeover: Times,
    /// Crashes after which nobody led in time.
    pub unfinished: u64,
    /// Tenures that ended though their node lived.
    pub false_failovers: u64,
    /// How long no running node led, in microseconds.
    pub without_leader: u64,
    /// How long two or more believed to lead.
    pub two_leaders: u64,
    /// How long they were watched.
    pub time: u64,
}

/// By the length of the lease, in order of [`TTLS`].
#[derive(Clone, Debug, Default)]
pub struct Lags {
    /// What was measured.
    pub by_ttl: [Lag; TTLS.len()],
    /// Events that were simulated.
    pub events: u64,
}

impl Lags {
    /// Runs one seed with every length.
    ///
    /// # Errors
    /// When the core refuses the setting.
    pub fn run(&mut self, kind: Kind, level: Level, seed: u64) -> Result<(), Unfit> {
        for (lag, ttl) in self.by_ttl.iter_mut().zip(TTLS) {
            self.events += lag.run(kind, level, ttl, seed)?;
        }
        Ok(())
    }

    /// Adds others.
    pub fn merge(&mut self, other: Self) {
        for (lag, others) in self.by_ttl.iter_mut().zip(other.by_ttl) {
            lag.merge(others);
        }
        self.events += other.events;
    }
}

impl Lag {
    /// Runs one seed; answers how many events that took.
    fn run(&mut self, kind: Kind, level: Level, ttl: u64, seed: u64) -> Result<u64, Unfit> {
        let mut world = world(kind, level, ttl, seed)?;
        let servers = world.servers().count() as u16;
        let plan = level.plan(seed, NODES as u16, servers, world.duration());
        world.set_plan(&Plan::new(plan));
        self.watch(&mut world);
        self.crash(&mut world);
        self.two_leaders += world.judges().belief().overlap;
        Ok(world.trace().count())
    }

    /// Nobody dies, and who leads is watched.
    fn watch(&mut self, world: &mut World) {
        let so_far = |world: &World| {
            let without = world.judges().belief().without_leader;
            (world.counts().depositions, without)
        };
        world.run_until(SETTLED);
        let (deposed, without) = so_far(world);
        world.run_until(SETTLED + WATCHED);
        let (deposed_then, without_then) = so_far(world);
        self.false_failovers += deposed_then - deposed;
        self.without_leader += without_then - without;
        self.time += WATCHED;
    }

    /// The leader's process dies, as soon as one leads, and is followed until another does.
    fn crash(&mut self, world: &mut World) {
        while world.leader().is_none() && world.now() < world.duration() {
            world.run_until(world.now() + 100_000);
        }
        let Some((leader, _)) = world.leader() else {
            self.unfinished += 1;
            return;
        };
        let (at, first) = (world.now(), world.trace().count());
        world.trace_mut().recording = true;
        if world.act(Action::Crash(Who::Node(leader as u16))).is_err() {
            // The plan is full, which it never is: some hundred actions of ten thousand.
            self.unfinished += 1;
            return;
        }
        while world.now() < world.duration() {
            world.run_until(world.now() + 100_000);
            let events = &world.trace().fresh;
            let heir = |event: &&Event| event.kind == What::Established;
            if let Some(heir) = events.iter().find(heir) {
                self.detection.add(sent(events, first, heir) - at);
                self.takeover.add(heir.at - at);
                return;
            }
        }
        self.unfinished += 1;
    }

    /// Adds others.
    pub fn merge(&mut self, other: Self) {
        self.detection.merge(other.detection);
        self.takeover.merge(other.takeover);
        self.unfinished += other.unfinished;
        self.false_failovers += other.false_failovers;
        self.without_leader += other.without_leader;
        self.two_leaders += other.two_leaders;
        self.time += other.time;
    }

    /// In an hour.
    #[must_use]
    pub fn false_failovers_per_hour(&self) -> f64 {
        self.false_failovers as f64 * 3.6e9 / self.time.max(1) as f64
    }

    /// The share of time without a leader.
    #[must_use]
    pub fn unavailable(&self) -> f64 {
        self.without_leader as f64 / self.time.max(1) as f64
    }
}

/// A world in which nothing is wrong.
fn world(kind: Kind, level: Level, ttl: u64, seed: u64) -> Result<World, Unfit> {
    let ttl = Duration::from_secs(ttl);
    let usual = Scenario::usual();
    let scenario = Scenario {
        seed,
        nodes: NODES,
        elects: Elects::ByStore(Lease {
            timing: Timing::of(ttl),
            latency: Duration::from_millis(20),
            ..Lease::of(kind, ttl)
        }),
        weather: level.weather(),
        clients: Clients {
            // None: who leads is all that is asked.
            every: u64::MAX >> 1,
            ..usual.clients
        },
        // Until another leads after the crash, whatever stalls meanwhile.
        duration: SETTLED + WATCHED + 4 * ttl.as_micros() + 120_000_000,
        ..usual
    };
    scenario.setup().check()?;
    Ok(World::new(&scenario))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Fault;

    const SECOND: u64 = 1_000_000;

    /// What is measured where the leader freezes for a while, once it is watched.
    fn frozen_for(kind: Kind, seconds: u64) -> Lag {
        let mut lag = Lag::default();
        let mut world = world(kind, Level::Calm, 10, 3).unwrap();
        world.run_until(SETTLED + SECOND);
        let who = Who::Node(world.leader().unwrap().0 as u16);
        // From the beginning again: it is the same world.
        let mut world = self::world(kind, Level::Calm, 10, 3).unwrap();
        let at = SETTLED + SECOND;
        world.set_plan(&Plan::new(vec![
            Fault {
                at,
                action: Action::Pause(who),
            },
            Fault {
                at: at + seconds * SECOND,
                action: Action::Resume(who),
            },
        ]));
        lag.watch(&mut world);
        lag
    }

    #[test]
    fn a_leader_that_lives_and_loses_its_tenure_is_one_false_failover() {
        for kind in [Kind::Sql, Kind::Etcd] {
            let (short, long) = (frozen_for(kind, 2), frozen_for(kind, 20));
            assert_eq!(short.false_failovers, 0, "{kind:?}");
            assert_eq!(short.without_leader, 2 * SECOND, "{kind:?}");
            assert_eq!(long.false_failovers, 1, "{kind:?}");
            let without = long.without_leader;
            let lease = 6 * SECOND..12 * SECOND;
            assert!(lease.contains(&without), "{kind:?} {without}");
            assert_eq!(long.time, WATCHED);
        }
    }

    #[test]
    fn a_crash_is_noticed_when_the_lease_is_over_and_taken_over_soon_after() {
        for kind in [Kind::Sql, Kind::Etcd] {
            for seed in 0..10 {
                let mut lag = Lag::default();
                let mut world = world(kind, Level::Calm, 9, seed).unwrap();
                lag.watch(&mut world);
                lag.crash(&mut world);
                let (detection, takeover) =
                    (lag.detection.quantiles().max, lag.takeover.quantiles().max);
                // It was renewed within three seconds before; a waiter that polls does so every second.
                assert!((6 * SECOND - 20_000..10 * SECOND + 20_000).contains(&detection));
                // One round trip, of 1 to 4 ms.
                let answered = takeover - detection;
                assert!((1_000..=4_000).contains(&answered), "{kind:?} {answered}");
                assert_eq!((lag.false_failovers, lag.unfinished), (0, 0));
            }
        }
    }
}
