//! What is explored, and how far.

use super::law::Law;
use std::fmt;
use tenure::Duration;
use tenure::log::Shape;
use tenure::raft::{ConfigError, Rule, Timing};

/// The most voters an exploration can have: fingerprints are kept under every renaming.
pub const MAX_VOTERS: usize = 5;
/// The highest term an exploration can reach: sets of terms are kept as bits.
pub const MAX_TERMS: u64 = 30;

/// A group, its surroundings, and the bounds within which all of its schedules are tried.
#[derive(Clone, Debug)]
pub struct Setting {
    /// How many vote.
    pub voters: usize,
    /// The rules that are switched off.
    pub off: Vec<Rule>,
    /// Time and leases. `None` explores the election alone: outside safe mode, every timer fires at any moment.
    pub clocks: Option<Clocks>,
    /// The logs, which nobody extends; all empty when this is.
    pub logs: Vec<Shape>,
    /// What becomes of a message.
    pub network: Network,
    /// How far to go.
    pub bounds: Bounds,
    /// Leave out messages that can do nothing any more ([`tenure::raft::Raft::inert`]).
    pub without_inert: bool,
    /// Count states that differ only in the names of nodes once. Needs [`Rule::PreVote`] off: a pre-candidate steps back
    /// from a higher name (RL-9), and of the renamings of a group only the one that changes nothing keeps the order of
    /// its names, so that none is left. With pre-vote on, states under other names are no states that are reached.
    pub symmetry: bool,
    /// Keep the set of joint states of the nodes, to compare explorations.
    pub project: bool,
    /// Ask of one state in so many whether one leader that all name comes of it once nothing fails any more.
    pub liveness: Option<u64>,
    /// What is not judged.
    pub unjudged: Vec<Law>,
}

/// Clocks in whole microseconds, a few of them an election timeout.
#[derive(Clone, Debug)]
pub struct Clocks {
    /// One for each voter, or one for all.
    pub timings: Vec<Timing>,
    /// Every node's clock runs at one of these rates, in parts of `unit`; all combinations are tried.
    pub rates: Vec<u64>,
    /// A clock of rate `r` shows `⌊t × r ÷ unit⌋` at true time `t`.
    pub unit: u64,
}

impl Clocks {
    /// Exact clocks with a promise of `promise` microseconds, a heartbeat of one, and no allowance for rate or grain.
    #[must_use]
    pub fn exact(promise: u64) -> Self {
        Self {
            timings: vec![short_timing(promise, 1)],
            rates: vec![1],
            unit: 1,
        }
    }
}

/// A timing for clocks that count single microseconds, without allowance for rate or grain.
#[must_use]
pub fn short_timing(promise: u64, heartbeat: u64) -> Timing {
    Timing {
        election_min: Duration::from_micros(promise),
        election_max: Duration::from_micros(promise + 1),
        heartbeat: Duration::from_micros(heartbeat),
        rate_bound: 0,
        grain: Duration::ZERO,
    }
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// It may arrive at any time, and again. Loss, delay, repetition and reordering are all in it.
    Persistent,
    /// It arrives at most once, at any time.
    Once,
}

/// Where to stop. What was cut off is counted ([`super::Report::cuts`]); a report says whether anything was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The highest term a node may enter.
    pub terms: u64,
    /// How many crashes, each with an instant restart.
    pub crashes: u8,
    /// How many rounds of heartbeats beyond the first of each leader.
    pub rounds: u8,
    /// How many times the host campaigns or resigns out of nowhere.
    pub whims: u8,
    /// How many microseconds of true time; [`u8::MAX`] for no bound.
    pub ticks: u8,
    /// How many messages may be in the network.
    pub messages: usize,
    /// How many actions in a row.
    pub depth: u32,
    /// How many states in all.
    pub states: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            terms: 2,
            crashes: 0,
            rounds: 0,
            whims: 0,
            ticks: u8::MAX,
            messages: usize::MAX,
            depth: u32::MAX,
            states: 20_000_000,
        }
    }
}

impl Setting {
    /// The election alone, with both reductions.
    #[must_use]
    pub fn election(voters: usize, bounds: Bounds) -> Self {
        Self {
            voters,
            off: vec![Rule::PreVote],
            clocks: None,
            logs: Vec::new(),
            network: Network::Persistent,
            bounds,
            without_inert: true,
            symmetry: true,
            project: false,
            liveness: None,
            unjudged: Vec::new(),
        }
    }

    /// The election with its lease. Pre-vote is off: it only keeps schedules from being tried.
    #[must_use]
    pub fn lease(voters: usize, clocks: Clocks, bounds: Bounds) -> Self {
        Self {
            clocks: Some(clocks),
            ..Self::election(voters, bounds)
        }
    }

    /// With further rules switched off.
    #[must_use]
    pub fn without(mut self, rules: &[Rule]) -> Self {
        self.off.extend_from_slice(rules);
        self
    }

    /// Judged by the judges of a world alone, so that a world can show what breaks.
    #[must_use]
    pub fn as_seen(mut self) -> Self {
        self.unjudged = Law::ALL.to_vec();
        self.unjudged.retain(|law| law.check().is_none());
        self
    }

    /// Whether no rule that is on compares the names of nodes.
    pub(super) fn nameless(&self) -> bool {
        self.clocks.is_none() || self.off.contains(&Rule::PreVote)
    }

    /// Without any reduction but the network's.
    #[must_use]
    pub fn whole(self) -> Self {
        Self {
            without_inert: false,
            symmetry: false,
            ..self
        }
    }
}

/// A bound that cut something off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Cut {
    /// [`Bounds::terms`].
    Terms,
    /// [`Bounds::crashes`].
    Crashes,
    /// [`Bounds::rounds`].
    Rounds,
    /// [`Bounds::whims`].
    Whims,
    /// [`Bounds::ticks`].
    Ticks,
    /// [`Bounds::messages`].
    Messages,
    /// [`Bounds::depth`].
    Depth,
    /// [`Bounds::states`].
    States,
}

impl Cut {
    /// All bounds, in order of declaration.
    pub const ALL: [Self; 8] = [
        Self::Terms,
        Self::Crashes,
        Self::Rounds,
        Self::Whims,
        Self::Ticks,
        Self::Messages,
        Self::Depth,
        Self::States,
    ];

    /// What it bounds.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Terms => "terms",
            Self::Crashes => "crashes",
            Self::Rounds => "rounds",
            Self::Whims => "whims",
            Self::Ticks => "ticks",
            Self::Messages => "messages",
            Self::Depth => "depth",
            Self::States => "states",
        }
    }
}

/// Why a setting cannot be explored. Each says what to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unexplorable {
    /// More than [`MAX_VOTERS`] voters, or none.
    Voters(usize),
    /// Terms beyond [`MAX_TERMS`], or none.
    Terms(u64),
    /// A list of logs or timings that is neither one a voter nor one for all.
    Count {
        /// How many were given.
        given: usize,
        /// How many voters there are.
        voters: usize,
    },
    /// A unit of zero, no rate, or a rate above twice the unit.
    Rates,
    /// Symmetry with pre-vote, which compares names.
    Names,
    /// The machine refuses its parameters.
    Config(ConfigError),
}

impl fmt::Display for Unexplorable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Voters(count) => write!(
                f,
                "{count} voters: explore between 1 and {MAX_VOTERS}; larger groups are for the sweep"
            ),
            Self::Terms(terms) => write!(f, "a bound of {terms} terms: use 1 to {MAX_TERMS}"),
            Self::Count { given, voters } => write!(
                f,
                "{given} logs or timings for {voters} voters: give one for each, or one timing for all, or no log at all"
            ),
            Self::Rates => f.write_str(
                "clock rates: give at least one, a unit above zero, and no rate above twice the unit",
            ),
            Self::Names => f.write_str(
                "symmetry with pre-vote on: a pre-candidate steps back from a higher name (RL-9), so names matter; switch PreVote off or symmetry off",
            ),
            Self::Config(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Unexplorable {}
