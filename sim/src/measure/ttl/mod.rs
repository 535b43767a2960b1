//! The length of a lease: how soon a crash is noticed, against how often a leader that lives is taken for dead.
//!
//! For each length and each level of jitter, many seeds: each runs undisturbed but for the jitter, and then the leader's
//! process dies.

mod advice;
mod jitter;
mod table;

pub use jitter::Level;
pub use table::Table;

use super::causes::nearest;
use crate::fault::{Action, Plan, Who};
use crate::physics::trace::{Event, Kind as What};
use crate::scenario::{Clients, Lease, Scenario};
use crate::scheme::Unfit;
use crate::scheme::lease::Kind;
use crate::stats::Times;
use crate::world::World;
use tenure::Duration;
use tenure::lease::{Switched, Timing};

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
        let ttl = Duration::from_secs(ttl);
        let crash = SETTLED + WATCHED;
        let usual = Scenario::usual();
        let scenario = Scenario {
            seed,
            nodes: NODES,
            lease: Some(Lease {
                kind,
                timing: Timing::of(ttl),
                latency: Duration::from_millis(20),
                rules: Switched::default(),
            }),
            weather: level.weather(),
            clients: Clients {
                // Nobody: who leads is all that is asked.
                every: u64::MAX >> 1,
                ..usual.clients
            },
            // Until another leads after the crash, whatever stalls meanwhile.
            duration: crash + 4 * ttl.as_micros() + 120_000_000,
            ..usual
        };
        scenario.setup().check()?;
        let mut world = World::new(&scenario);
        let servers = world.servers().count() as u16;
        let plan = level.plan(seed, NODES as u16, servers, scenario.duration);
        world.set_plan(&Plan::new(plan));
        world.run_until(SETTLED);
        let (deposed, without) = watched(&world);
        world.run_until(crash);
        let (deposed_then, without_then) = watched(&world);
        self.false_failovers += deposed_then - deposed;
        self.without_leader += without_then - without;
        self.time += WATCHED;
        self.crash(&mut world);
        self.two_leaders += world.judges().belief().overlap;
        Ok(world.trace().count())
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
                self.detection.add(claimed(events, first, heir) - at);
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

/// How many were deposed so far, and how long no running node led.
fn watched(world: &World) -> (u64, u64) {
    let without = world.judges().belief().without_leader;
    (world.counts().depositions, without)
}

/// When the request was sent by whose answer a node was established, of events of which the first is number `first`. One that
/// was sent before the crash counts from its answer: the record was free when that came.
fn claimed(events: &[Event], first: u64, heir: &Event) -> u64 {
    let sent = |event: &Event| event.kind == What::Send && event.actor == heir.actor;
    nearest(events, first, heir, sent).map_or(heir.at, |sent| sent.at)
}
