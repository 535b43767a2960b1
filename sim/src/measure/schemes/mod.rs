//! Scheme by fault: what each scheme of election makes of each fault, over many seeds.
//!
//! The same for all: three nodes, a lease of nine seconds, a client that writes five times a second through whoever leads,
//! to a guarded resource and to its unguarded twin, and a leader that thinks between its look at its standing and the
//! write. The world of a seed is run once up to the fault; from there on each fault has a world of its own (W2).

mod cell;
mod expected;
mod table;
mod trial;

pub use cell::{Cell, Verdict};
pub use expected::{Expected, expected};
pub use table::Table;
pub use trial::{BEYOND, Jumped, Trial};

use super::causes::nearest;
use super::timing;
use crate::fault::{Action, Fault, Who};
use crate::physics::trace::{Event, Kind as What};
use crate::scenario::{Clients, Elects, Lease, Scenario};
use crate::scheme::Unfit;
use crate::scheme::lease::Kind;
use crate::server::Server;
use crate::world::World;
use expected::nature;
use tenure::Duration;
use tenure::lease::{Switched, Timing};
use tenure::random::Random;
use trial::Cast;

/// How many nodes elect.
pub const NODES: usize = 3;

/// How many leases a run goes on from the fault on.
pub const SPAN: u64 = 4;

/// How many leases go by before: enough for any of them to find its first leader.
const SETTLED: u64 = 3;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// Raft with its usual timeouts.
    Raft,
    /// Raft whose election timeout is as long as a lease.
    RaftLong,
    /// By a store.
    Lease(Kind),
}

impl Row {
    /// All of them: a scheme that is added is here at once.
    pub fn all() -> impl Iterator<Item = Self> {
        let leases = Kind::ALL.into_iter().map(Self::Lease);
        [Self::Raft, Self::RaftLong].into_iter().chain(leases)
    }

    /// Its name in reports and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raft => "raft",
            Self::RaftLong => "raft-long",
            Self::Lease(kind) => kind.name(),
        }
    }

    /// What it is, in a line.
    #[must_use]
    pub const fn about(self) -> &'static str {
        nature(self).about
    }

    /// How many servers the store has under a fault: that one dies for good and another takes its place takes several.
    const fn servers(self, trial: Trial) -> u8 {
        match (self, trial) {
            (Self::Lease(kind), Trial::Failover)
                if kind.is_cluster() && kind.most_servers() > 1 =>
            {
                3
            }
            (Self::Lease(kind), _) => kind.servers(),
            (Self::Raft | Self::RaftLong, _) => 0,
        }
    }

    /// Whose clock jumps.
    #[must_use]
    pub const fn jumped(self) -> Jumped {
        nature(self).jumped
    }
}

/// What is measured under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Of an election by a store, and of the faults.
    pub timing: Timing,
    /// The rules of those elections that are on.
    pub rules: Switched,
}

/// The cells of one row, in order of [`Trial::ALL`].
#[derive(Clone, Debug, Default)]
pub struct Cells {
    /// What was measured, by fault.
    pub cells: [Cell; Trial::ALL.len()],
    /// Events that were simulated.
    pub events: u64,
}

impl Cells {
    /// Runs one seed of a row under each of these faults.
    ///
    /// # Errors
    /// When the core refuses the setting.
    pub fn run(
        &mut self,
        row: Row,
        terms: &Terms,
        trials: &[Trial],
        seed: u64,
    ) -> Result<(), Unfit> {
        let (_, alone) = begun(row, terms, Trial::None, seed)?;
        self.events += alone.trace().count();
        for trial in trials {
            if matches!(expected(row, *trial), Expected::NotApplicable(_)) {
                continue;
            }
            let world = if row.servers(*trial) == row.servers(Trial::None) {
                alone.clone()
            } else {
                let (_, world) = begun(row, terms, *trial, seed)?;
                self.events += world.trace().count();
                world
            };
            let cell = &mut self.cells[*trial as usize];
            match faults(row, terms, *trial, &world, seed) {
                Some(plan) => self.events += cell.run(*trial, world, seed, plan),
                None => cell.never_led += 1,
            }
        }
        Ok(())
    }

    /// Adds others.
    pub fn merge(&mut self, other: Self) {
        for (cell, others) in self.cells.iter_mut().zip(other.cells) {
            cell.merge(others);
        }
        self.events += other.events;
    }
}

/// The whole run of one seed in one cell, to be run for itself; `None` when nobody leads when the fault is to begin.
///
/// # Errors
/// When the core refuses the setting.
pub fn scenario(
    row: Row,
    terms: &Terms,
    trial: Trial,
    seed: u64,
) -> Result<Option<Scenario>, Unfit> {
    let (scenario, world) = begun(row, terms, trial, seed)?;
    let faults = faults(row, terms, trial, &world, seed);
    Ok(faults.map(|faults| Scenario { faults, ..scenario }))
}

/// What is done to a world that has come so far; `None` when nobody leads there.
fn faults(row: Row, terms: &Terms, trial: Trial, world: &World, seed: u64) -> Option<Vec<Fault>> {
    let (leader, _) = world.leader()?;
    Some(trial.plan(&Cast {
        leader: leader as u16,
        nodes: NODES as u16,
        servers: world.servers().count() as u16,
        leading: (world.servers().position(Server::leads)).map(|place| place as u16),
        at: world.now(),
        ttl: terms.timing.ttl.as_micros(),
        rate: terms.timing.rate.0,
        jumped: row.jumped(),
        resigns: seed % 2 == 1,
        granted: match trial {
            Trial::Failover => granted(world.clone(), leader as u16, terms),
            _ => None,
        },
    }))
}

/// When a server of the store grants the claim of the next leader, after the process of the present one has died. It is back
/// half a lease later, so that there is a third who may claim.
fn granted(mut world: World, leader: u16, terms: &Terms) -> Option<u64> {
    let first = world.trace().count();
    world.trace_mut().recording = true;
    world.act(Action::Crash(Who::Node(leader))).ok()?;
    let back = world.now() + terms.timing.ttl.as_micros() / 2;
    let servers = NODES..NODES + world.servers().count();
    while world.now() < world.duration() {
        let until = world.now() + 100_000;
        if (world.now()..until).contains(&back) {
            world.run_until(back);
            world.act(Action::Restart(Who::Node(leader))).ok()?;
        }
        world.run_until(until);
        let events = &world.trace().fresh;
        let mut heirs = events
            .iter()
            .filter(|event| event.kind == What::Established);
        if let Some(heir) = heirs.next() {
            let served = |event: &Event| {
                event.kind == What::Deliver && servers.contains(&usize::from(event.actor))
            };
            return nearest(events, first, heir, served).map(|served| served.at);
        }
    }
    None
}

/// The world of a row at the moment at which something is done to it, which is any of a renewal; and its scenario so far.
fn begun(row: Row, terms: &Terms, trial: Trial, seed: u64) -> Result<(Scenario, World), Unfit> {
    let ttl = terms.timing.ttl.as_micros();
    let phase = Random::from_seed(seed).below(terms.timing.renew.as_micros());
    let at = SETTLED * ttl + phase;
    let usual = Scenario::usual();
    let mut scenario = Scenario {
        seed,
        nodes: NODES,
        timing: match row {
            Row::RaftLong => tenure::raft::Timing {
                heartbeat: terms.timing.renew,
                ..timing(ttl, 2 * ttl)
            },
            _ => usual.timing,
        },
        elects: match row {
            Row::Lease(kind) => Elects::ByStore(Lease {
                servers: row.servers(trial),
                timing: terms.timing,
                latency: Duration::from_millis(20),
                rules: terms.rules,
                ..Lease::of(kind, terms.timing.ttl)
            }),
            _ => Elects::Raft,
        },
        clients: Clients {
            every: 200_000,
            think: 100_000,
            ..usual.clients
        },
        duration: at + SPAN * ttl,
        ..usual
    };
    scenario.setup().check()?;
    scenario.weather.fifo = scenario.setup().is_connected();
    let mut world = World::new(&scenario);
    world.run_until(at);
    Ok((scenario, world))
}
