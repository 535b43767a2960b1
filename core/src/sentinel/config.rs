//! Which masters a sentinel watches, and how.

use super::names::MasterName;
use super::timing;
use crate::{Duration, NodeId};
use alloc::vec::Vec;
use core::fmt;

/// The highest epoch a sentinel enters.
pub const MAX_EPOCH: u64 = u64::MAX >> 1;
/// How far above its own a sentinel accepts an epoch at once. Honest epochs rise by one a failover.
pub const MAX_LEAP: u64 = 1 << 32;
/// The most masters one sentinel watches.
pub const MAX_MASTERS: usize = 256;
/// The most replicas of one master that a sentinel, or the master, remembers.
pub const MAX_REPLICAS: usize = 256;
/// The most other sentinels a sentinel remembers of one master.
pub const MAX_SENTINELS: usize = 256;
/// The longest time that may be configured.
pub const MAX_SPAN: Duration = Duration::from_secs(24 * 3_600);

/// One sentinel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Its address. Sentinels and data servers share one space of them.
    pub id: NodeId,
    /// The generation of the tokens by which it acts: raised by an operator when epochs fell, because all files were lost.
    pub generation: u32,
    /// The masters it watches. What its own file holds of one of these names counts more than what is said here, but for
    /// quorum and timing; what it holds of others is forgotten.
    pub masters: Vec<Monitor>,
}

/// One master that is watched: `sentinel monitor`, and what is set for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitor {
    /// By what name; the same in all sentinels.
    pub name: MasterName,
    /// Where it is at first.
    pub address: NodeId,
    /// How many sentinels must hold it to be down before one of them tries to replace it. To be elected for that takes a
    /// majority of all known sentinels as well.
    pub quorum: usize,
    /// `down-after-milliseconds`: how long somebody may be silent before it is held to be down.
    pub down_after: Duration,
    /// `failover-timeout`: how long a step of a failover may take; after twice as long, the next one may be tried.
    pub failover_timeout: Duration,
    /// `parallel-syncs`: how many replicas at a time may be made to follow the new master: while they copy, they serve nobody.
    pub parallel_syncs: usize,
    /// `master-reboot-down-after-period`: a master that was restarted and has been loading its data for so long is held to be
    /// down. `None`, the default of the real one: as long as it says that it loads, it is alive.
    pub reboot_down_after: Option<Duration>,
}

impl Monitor {
    /// A master at `address`, with the defaults of the real one.
    #[must_use]
    pub const fn new(name: MasterName, address: NodeId, quorum: usize) -> Self {
        Self {
            name,
            address,
            quorum,
            down_after: Duration::from_secs(30),
            failover_timeout: Duration::from_secs(180),
            parallel_syncs: 1,
            reboot_down_after: None,
        }
    }

    /// How long an election may take.
    pub(super) fn election_timeout(&self) -> Duration {
        self.failover_timeout.min(timing::ELECTION)
    }

    /// How often anybody is asked for a sign of life.
    pub(super) fn ping_period(&self) -> Duration {
        self.down_after.min(timing::PING)
    }
}

impl Config {
    /// A sentinel at `id` that watches one master, with the defaults of the real one.
    #[must_use]
    pub fn new(id: NodeId, master: Monitor) -> Self {
        Self {
            id,
            generation: 0,
            masters: Vec::from([master]),
        }
    }

    /// Whether a sentinel can be built from it.
    ///
    /// # Errors
    /// What cannot be, with the remedy.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.masters.is_empty() {
            return Err(ConfigError::NoMasters);
        }
        if self.masters.len() > MAX_MASTERS {
            return Err(ConfigError::TooManyMasters);
        }
        for (place, master) in self.masters.iter().enumerate() {
            let name = master.name;
            if self.masters[..place].iter().any(|other| other.name == name) {
                return Err(ConfigError::RepeatedName(name));
            }
            let same = |other: &Monitor| other.address == master.address;
            if master.address == self.id || self.masters[..place].iter().any(same) {
                return Err(ConfigError::RepeatedAddress(master.address));
            }
            if master.quorum == 0 {
                return Err(ConfigError::QuorumZero(name));
            }
            if master.parallel_syncs == 0 {
                return Err(ConfigError::NoSyncs(name));
            }
            let spans = [
                Some(master.down_after),
                Some(master.failover_timeout),
                master.reboot_down_after,
            ];
            for span in spans.into_iter().flatten() {
                if span < timing::TICK.1 || span > MAX_SPAN {
                    return Err(ConfigError::Span(name, span));
                }
            }
        }
        Ok(())
    }
}

/// An impossible configuration or file. Each says what to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A sentinel without a master watches nothing. Name one.
    NoMasters,
    /// More than [`MAX_MASTERS`]. Use several groups of sentinels.
    TooManyMasters,
    /// Two masters have one name. Give each its own, the same in all sentinels.
    RepeatedName(MasterName),
    /// Two masters have one address, or one has that of the sentinel. Watch each server once.
    RepeatedAddress(NodeId),
    /// With a quorum of 0 a master would be replaced that nobody holds to be down. Use at least 1; more than half of the
    /// sentinels is usual.
    QuorumZero(MasterName),
    /// With no replica at a time none would ever follow the new master. Use at least 1.
    NoSyncs(MasterName),
    /// A time below the longest tick, or above [`MAX_SPAN`].
    Span(MasterName, Duration),
    /// Incarnation 0 is reserved. Give each life of the machine a fresh nonce.
    IncarnationZero,
    /// The file names an epoch above the current one, or one that nobody enters: it is damaged. Restore it; do not start
    /// with an empty one under the same address.
    FileEpoch(u64),
    /// The file was written under a higher generation: tokens would fall. Raise `generation` to at least that.
    GenerationFell {
        /// The recorded one.
        recorded: u32,
        /// The configured one.
        configured: u32,
    },
    /// The file names more replicas or sentinels of a master than are ever remembered: it is damaged. Restore it.
    FileTooLong(MasterName),
}

impl ConfigError {
    /// A short name for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoMasters => "no-masters",
            Self::TooManyMasters => "too-many-masters",
            Self::RepeatedName(_) => "repeated-name",
            Self::RepeatedAddress(_) => "repeated-address",
            Self::QuorumZero(_) => "quorum-zero",
            Self::NoSyncs(_) => "no-syncs",
            Self::Span(..) => "span",
            Self::IncarnationZero => "incarnation-zero",
            Self::FileEpoch(_) => "file-epoch",
            Self::GenerationFell { .. } => "generation-fell",
            Self::FileTooLong(_) => "file-too-long",
        }
    }

    /// What is wrong, without the remedy.
    pub fn reason(&self) -> impl fmt::Display + '_ {
        Reason(self)
    }

    /// What to do about it.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::NoMasters => "name at least one",
            Self::TooManyMasters => "use several groups of sentinels",
            Self::RepeatedName(_) => "give each its own name, the same in all sentinels",
            Self::RepeatedAddress(_) => "watch each server once",
            Self::QuorumZero(_) => "use at least 1; more than half of the sentinels is usual",
            Self::NoSyncs(_) => "use at least 1",
            Self::Span(..) => "use between 100 ms and a day",
            Self::IncarnationZero => "give each life of the machine a fresh nonce",
            Self::FileEpoch(_) | Self::FileTooLong(_) => {
                "restore the file; do not start with an empty one under the same address"
            }
            Self::GenerationFell { .. } => "raise the generation to at least that",
        }
    }
}

struct Reason<'a>(&'a ConfigError);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ConfigError::NoMasters => f.write_str("no master to watch"),
            ConfigError::TooManyMasters => write!(f, "more than {MAX_MASTERS} masters"),
            ConfigError::RepeatedName(name) => write!(f, "{name} is the name of two masters"),
            ConfigError::RepeatedAddress(node) => {
                write!(f, "node {node} is watched twice, or is the sentinel itself")
            }
            ConfigError::QuorumZero(name) => write!(
                f,
                "with a quorum of 0, {name} would be replaced although nobody holds it to be down"
            ),
            ConfigError::NoSyncs(name) => {
                write!(f, "no replica of {name} would ever follow a new master")
            }
            ConfigError::Span(name, span) => write!(f, "{name} has a time of {span}"),
            ConfigError::IncarnationZero => f.write_str("incarnation 0 is reserved"),
            ConfigError::FileEpoch(epoch) => {
                write!(f, "the file names epoch {epoch}, which cannot be")
            }
            ConfigError::GenerationFell {
                recorded,
                configured,
            } => write!(
                f,
                "the file was written under generation {recorded}, above {configured}"
            ),
            ConfigError::FileTooLong(name) => {
                write!(f, "the file names more nodes of {name} than are remembered")
            }
        }
    }
}

/// The reason and, after a semicolon, the remedy.
impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.reason(), self.remedy())
    }
}

impl core::error::Error for ConfigError {}
