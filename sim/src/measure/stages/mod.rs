//! Failover by stage: every scheme of the library, its leader lost at the same instants of the same seeds, on the same
//! network, with the settings of the systems that elect like this.
//!
//! Three stages, which add up to the time without a leader:
//!
//! - **detection**, from the loss of the leader until somebody acts on it;
//! - **election**, from there until it is decided who is next;
//! - **synchronisation**, from there until that one may act, for what it has must be that of the others first.
//!
//! Which event ends which stage of which scheme is said in [`Meaning`] alone, which the command prints below its table. After
//! them comes the first write of a client that the guarded resource takes; under Sentinel, that the new master takes.

mod meaning;
mod row;
mod table;

pub use meaning::Meaning;
pub use row::{Pace, Row};
pub use table::{RANGE, Table};

use super::causes::sent;
use crate::fault::{Action, Who};
use crate::physics::trace::Kind;
use crate::scenario::{Clients, Scenario};
use crate::scheme::Unfit;
use crate::stages::Failover;
use crate::stats::Times;
use crate::world::World;
use tenure::random::Random;

/// How many nodes elect; of sentinels, how many of them, which watch as many servers.
pub const NODES: usize = 3;

/// The leader is lost at any instant between these, in microseconds: by then all of them have long had one, and it was at any
/// phase of its renewals.
const LOST: [u64; 2] = [20_000_000, 40_000_000];

/// How long a run goes on from there at the most.
const PATIENCE: u64 = 600_000_000;

/// How often the client writes: so often that the wait for it hides little, in microseconds.
const EVERY: u64 = 10_000;

/// How a leader is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Its process dies, and its machine closes the connections of it: who has one is told.
    Process,
    /// Its machine is gone: it just falls silent.
    Machine,
}

impl Loss {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Process, Self::Machine];

    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Machine => "machine",
        }
    }
}

/// One change of leader, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stages {
    /// From the loss until somebody acts on it.
    pub detection: u64,
    /// From there until the next leader is decided.
    pub election: u64,
    /// From there until it may act.
    pub synchronisation: u64,
    /// From the loss until the next leader may act: measured for itself, and the sum of the three.
    pub whole: u64,
    /// From there until its first write was taken.
    pub first_write: u64,
}

/// What was measured of one scheme at one pace, over seeds.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// See [`Stages`].
    pub detection: Times,
    /// See [`Stages`].
    pub election: Times,
    /// See [`Stages`].
    pub synchronisation: Times,
    /// See [`Stages`].
    pub whole: Times,
    /// See [`Stages`].
    pub first_write: Times,
    /// Runs in which nobody led before or nobody wrote after, which say nothing of the stages.
    pub unfinished: u64,
    /// Events that were simulated.
    pub events: u64,
}

impl Measured {
    /// Loses the leader of one seed.
    ///
    /// # Errors
    /// When the core refuses the setting.
    pub fn run(&mut self, setting: &Scenario, loss: Loss, seed: u64) -> Result<(), Unfit> {
        let (stages, events) = follow(setting, loss, seed)?;
        self.events += events;
        match stages {
            Some(stages) => {
                self.detection.add(stages.detection);
                self.election.add(stages.election);
                self.synchronisation.add(stages.synchronisation);
                self.whole.add(stages.whole);
                self.first_write.add(stages.first_write);
            }
            None => self.unfinished += 1,
        }
        Ok(())
    }

    /// Adds others.
    pub fn merge(&mut self, other: Self) {
        self.detection.merge(other.detection);
        self.election.merge(other.election);
        self.synchronisation.merge(other.synchronisation);
        self.whole.merge(other.whole);
        self.first_write.merge(other.first_write);
        self.unfinished += other.unfinished;
        self.events += other.events;
    }
}

/// One change of leader under a setting; `None` where nobody led when it was to begin, or none wrote after it.
///
/// # Errors
/// When the core refuses the setting.
pub fn stages(setting: &Scenario, loss: Loss, seed: u64) -> Result<Option<Stages>, Unfit> {
    follow(setting, loss, seed).map(|(stages, _)| stages)
}

/// The same, with the number of events that it took.
fn follow(setting: &Scenario, loss: Loss, seed: u64) -> Result<(Option<Stages>, u64), Unfit> {
    let [from, until] = LOST;
    let at = from + Random::from_seed(seed).below(until - from);
    let scenario = Scenario {
        seed,
        duration: at + PATIENCE,
        clients: Clients {
            every: EVERY,
            ..setting.clients
        },
        ..setting.clone()
    };
    scenario.setup().check()?;
    let mut world = World::new(&scenario);
    world.run_until(at);
    world.ask_around();
    let before = world.stages().done().len();
    let first = world.trace().count();
    // What a waiter for a store acts on is found by the causes of what it did.
    world.trace_mut().recording = scenario.lease().is_some();
    let mut failover = None;
    if let Some(leader) = world.acting_leader()
        && lose(&mut world, loss, leader as u16)
    {
        while failover.is_none() && world.now() < world.duration() {
            world.run_until(world.now() + 50_000);
            failover = world.stages().done().get(before).copied();
        }
    }
    let stages = failover.and_then(|failover| told(&world, first, &failover));
    Ok((stages, world.trace().count()))
}

/// Whether there was room for it in the plan, in which nothing else is.
fn lose(world: &mut World, loss: Loss, leader: u16) -> bool {
    let who = Who::Node(leader);
    let silent = match loss {
        Loss::Process => Ok(()),
        Loss::Machine => world.act(Action::Partition(vec![(0, who), (1, Who::Rest)])),
    };
    silent.and_then(|()| world.act(Action::Crash(who))).is_ok()
}

/// The stages of a failover that is done, of a world whose events were recorded from number `first` on if it elects by a store.
fn told(world: &World, first: u64, failover: &Failover) -> Option<Stages> {
    let lost = failover.lost_at;
    let (elected, established) = (failover.elected_at?, failover.established_at?);
    let events = &world.trace().fresh;
    let heir =
        (events.iter()).find(|event| event.kind == Kind::Established && event.at == established);
    let detected = match heir {
        Some(heir) => sent(events, first, heir),
        None => failover.detected_at?,
    };
    Some(Stages {
        detection: detected.checked_sub(lost)?,
        election: elected.checked_sub(detected)?,
        synchronisation: established.checked_sub(elected)?,
        whole: established.checked_sub(lost)?,
        first_write: failover.written_at?.checked_sub(established)?,
    })
}
