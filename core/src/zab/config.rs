//! Parameters, checked when the machine is built.

use super::ensemble::Ensemble;
use crate::log::Position;
use crate::{Duration, NodeId};
use core::fmt;

/// The highest epoch: a zxid has 32 bits for it, and the last value is kept back.
pub const MAX_EPOCH: u64 = u32::MAX as u64 - 1;

/// How far ahead of its own a node takes an epoch or a round at once. Honest ones rise by one an election.
pub const MAX_LEAP: u64 = 1 << 24;

/// The highest index this implementation writes.
pub const MAX_INDEX: u64 = u64::MAX >> 1;

/// The longest of the waits that are configured.
pub const MAX_WAIT: Duration = Duration::from_secs(3_600);

/// How one node takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// This node. Must be a member.
    pub id: NodeId,
    /// Everybody who takes part, and how votes are counted. The same on every node, for every life of it: ensembles that
    /// differ need not share a voter, and then both elect.
    pub ensemble: Ensemble,
    /// Timeouts. They may differ between nodes; no safety rests on them.
    pub timing: Timing,
    /// The generation of the fencing tokens. Raise it, on every node while the ensemble is stopped, when disks were restored from
    /// a backup, for then epochs are given again.
    pub generation: u32,
    /// ZooKeeper's `db.autocreate`. On, the default: a node without a disk takes part with an empty log, and one whose disk was
    /// lost can break the intersection of quorums. Off: it neither counts nor is counted in an election until a leader has
    /// synchronised it (Z-261); a new ensemble then begins with [`Stored::default`](super::Stored) on its disks.
    pub autocreate: bool,
    /// The most entries in one message; at least one.
    pub batch: u64,
}

/// Timeouts, in the words of ZooKeeper's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timing {
    /// `tickTime`: leaders look at their followers once, and ping twice, a tick.
    pub tick: Duration,
    /// `initLimit`, in ticks: how long each step from an election to an established epoch may take.
    pub init_limit: u32,
    /// `syncLimit`, in ticks: how long a leader and a learner may hear nothing from each other.
    pub sync_limit: u32,
    /// How long nothing better must be heard before an election is decided (FLE-4).
    pub finalize_wait: Duration,
    /// The first wait for notifications before they are sent again; doubled each time (FLE-2).
    pub min_notification: Duration,
    /// The longest such wait.
    pub max_notification: Duration,
    /// How often a learner tries to connect to a leader that refuses (ZAB-D8).
    pub connect_tries: u32,
    /// How long it waits before it tries again.
    pub connect_delay: Duration,
    /// The longest an observer waits before it looks again for a leader; it draws (ZAB-B5).
    pub observer_delay: Duration,
    /// `maxTimeToWaitForEpoch` (ZAB-D7): after how long an elected leader gives up as soon as one who voted for it is seen to
    /// look again. `None`, as shipped: it waits out [`init_limit`](Self::init_limit) (Z-3109).
    pub epoch_patience: Option<Duration>,
}

impl Timing {
    /// The sample configuration of ZooKeeper: a tick of 2 s, `initLimit` 10, `syncLimit` 5; all else as it is in its code.
    #[must_use]
    pub const fn zookeeper() -> Self {
        Self {
            tick: Duration::from_secs(2),
            init_limit: 10,
            sync_limit: 5,
            finalize_wait: Duration::from_millis(200),
            min_notification: Duration::from_millis(200),
            max_notification: Duration::from_secs(60),
            connect_tries: 5,
            connect_delay: Duration::from_millis(100),
            observer_delay: Duration::from_millis(200),
            epoch_patience: None,
        }
    }

    /// As [`zookeeper`](Self::zookeeper) with `maxTimeToWaitForEpoch` set to a tick, so that a leader whose voter deserted it is
    /// replaced in seconds (Z-3109).
    #[must_use]
    pub const fn impatient() -> Self {
        Self {
            epoch_patience: Some(Duration::from_secs(2)),
            ..Self::zookeeper()
        }
    }

    /// How long each step to an established epoch may take.
    #[must_use]
    pub const fn init(&self) -> Duration {
        self.tick.scaled_up(self.init_limit as u64, 1)
    }

    /// How long a leader and a learner may hear nothing from each other.
    #[must_use]
    pub const fn sync(&self) -> Duration {
        self.tick.scaled_up(self.sync_limit as u64, 1)
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self::zookeeper()
    }
}

/// An unsafe or impossible configuration, or a disk that cannot be this node's. Each says what to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// `id` is not in the ensemble. Add it, as a voter or an observer.
    NotAMember(NodeId),
    /// A wait of no time never rests. Use at least two microseconds for the tick, and one for every other wait.
    WaitZero(&'static str),
    /// A wait beyond [`MAX_WAIT`]. Lower it.
    WaitTooLong(&'static str, Duration),
    /// A limit of no ticks is over before it begins. Use at least one; ZooKeeper's sample has 10 and 5.
    LimitZero(&'static str),
    /// The longest wait between notifications is below the first. Raise it.
    NotificationRange {
        /// The first.
        min: Duration,
        /// The longest.
        max: Duration,
    },
    /// Nobody can connect who never tries. Use at least one try.
    NoTries,
    /// A leader that may send no entry replicates nothing. Use at least one for `batch`.
    NothingToSend,
    /// Incarnation 0 is reserved. Give each life of the machine a fresh nonce.
    IncarnationZero,
    /// The stored accepted epoch is below the current one, or the log's: it is older than they are. Restore the disk.
    AcceptedFell {
        /// The accepted epoch.
        accepted: u64,
        /// What it is below of.
        below: u64,
    },
    /// A stored epoch is above [`MAX_EPOCH`]: the disk is damaged. Restore it.
    EpochTooHigh(u64),
    /// The stored log ends beyond [`MAX_INDEX`]: it is damaged. Restore it.
    LogTooLong(Position),
    /// The stored log is not synced up to its end, or has another beside it: nobody said what of it is on the disk. Call
    /// [`Stored::crash`](super::Stored::crash) first.
    NotACrashedDisk,
}

impl ConfigError {
    /// A short name for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotAMember(_) => "not-a-member",
            Self::WaitZero(_) => "wait-zero",
            Self::WaitTooLong(..) => "wait-too-long",
            Self::LimitZero(_) => "limit-zero",
            Self::NotificationRange { .. } => "notification-range",
            Self::NoTries => "no-tries",
            Self::NothingToSend => "nothing-to-send",
            Self::IncarnationZero => "incarnation-zero",
            Self::AcceptedFell { .. } => "accepted-fell",
            Self::EpochTooHigh(_) => "epoch-too-high",
            Self::LogTooLong(_) => "log-too-long",
            Self::NotACrashedDisk => "not-a-crashed-disk",
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
            Self::NotAMember(_) => "add it as a voter or an observer",
            Self::WaitZero(_) => "use at least a microsecond, and two for a tick",
            Self::WaitTooLong(..) => "use at most an hour",
            Self::LimitZero(_) => "use at least one tick",
            Self::NotificationRange { .. } => "raise the longest wait to at least the first",
            Self::NoTries => "use at least one try",
            Self::NothingToSend => "use at least one",
            Self::IncarnationZero => "give each life of the machine a fresh nonce",
            Self::AcceptedFell { .. } | Self::EpochTooHigh(_) | Self::LogTooLong(_) => {
                "restore the disk; never start with an empty one under the same id"
            }
            Self::NotACrashedDisk => {
                "tell the stored log what the crash left before it is started from"
            }
        }
    }
}

struct Reason<'a>(&'a ConfigError);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ConfigError as E;
        match self.0 {
            E::NotAMember(id) => write!(f, "node {id} is not in the ensemble"),
            E::WaitZero(what) => write!(f, "{what} is no time at all"),
            E::WaitTooLong(what, wait) => {
                write!(f, "{what} of {wait} is longer than anybody waits")
            }
            E::LimitZero(what) => write!(f, "{what} of no ticks is over before it begins"),
            E::NotificationRange { min, max } => {
                write!(f, "notifications wait {min} at first and {max} at most")
            }
            E::NoTries => f.write_str("no try to connect is allowed"),
            E::NothingToSend => f.write_str("a batch of no entries replicates nothing"),
            E::IncarnationZero => f.write_str("incarnation 0 is reserved"),
            E::AcceptedFell { accepted, below } => write!(
                f,
                "the stored accepted epoch {accepted} is below epoch {below} of the same disk"
            ),
            E::EpochTooHigh(epoch) => {
                write!(f, "the stored epoch {epoch} is above any: it is damaged")
            }
            E::LogTooLong(end) => write!(
                f,
                "the stored log ends at index {}, which no ensemble reaches",
                end.index
            ),
            E::NotACrashedDisk => f.write_str("the stored log is not one that a crash leaves"),
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

impl Config {
    /// A member with ZooKeeper's sample configuration.
    #[must_use]
    pub fn new(id: NodeId, ensemble: Ensemble) -> Self {
        Self {
            id,
            ensemble,
            timing: Timing::default(),
            generation: 0,
            autocreate: true,
            batch: 256,
        }
    }

    /// Checks the parameters. Called when a machine is built.
    ///
    /// # Errors
    /// The first that is impossible, with its remedy.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.ensemble.place(self.id).is_none() {
            return Err(ConfigError::NotAMember(self.id));
        }
        let Timing {
            tick,
            init_limit,
            sync_limit,
            finalize_wait,
            min_notification,
            max_notification,
            connect_tries,
            connect_delay,
            observer_delay: _,
            epoch_patience,
        } = self.timing;
        for (what, limit) in [("init_limit", init_limit), ("sync_limit", sync_limit)] {
            if limit == 0 {
                return Err(ConfigError::LimitZero(what));
            }
        }
        for (what, wait) in [
            // Half of it is waited.
            ("tick", tick.scaled_down(1, 2)),
            ("finalize_wait", finalize_wait),
            ("min_notification", min_notification),
            ("connect_delay", connect_delay),
            ("epoch_patience", epoch_patience.unwrap_or(tick)),
        ] {
            if wait == Duration::ZERO {
                return Err(ConfigError::WaitZero(what));
            }
        }
        for (what, wait) in [
            ("init_limit", self.timing.init()),
            ("sync_limit", self.timing.sync()),
            ("finalize_wait", finalize_wait),
            ("max_notification", max_notification),
            ("connect_delay", connect_delay),
            ("observer_delay", self.timing.observer_delay),
        ] {
            if wait > MAX_WAIT {
                return Err(ConfigError::WaitTooLong(what, wait));
            }
        }
        if max_notification < min_notification {
            return Err(ConfigError::NotificationRange {
                min: min_notification,
                max: max_notification,
            });
        }
        if connect_tries == 0 {
            return Err(ConfigError::NoTries);
        }
        if self.batch == 0 {
            return Err(ConfigError::NothingToSend);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    fn with(change: impl Fn(&mut Config)) -> Result<(), ConfigError> {
        let ensemble = Ensemble::majority((0..3).map(NodeId)).unwrap();
        let mut config = Config::new(NodeId(1), ensemble);
        change(&mut config);
        config.validate()
    }

    #[test]
    fn the_presets_are_valid() {
        assert_eq!(with(|_| ()), Ok(()));
        assert_eq!(with(|c| c.timing = Timing::impatient()), Ok(()));
        assert_eq!(Timing::zookeeper().init(), Duration::from_secs(20));
        assert_eq!(Timing::zookeeper().sync(), Duration::from_secs(10));
    }

    #[test]
    fn what_is_impossible_is_named_and_says_its_remedy() {
        let (zero, hour) = (Duration::ZERO, MAX_WAIT + Duration::from_micros(1));
        let ms = Duration::from_millis;
        for (refused, expected, told) in [
            (
                with(|c| c.id = NodeId(9)),
                ConfigError::NotAMember(NodeId(9)),
                "node 9",
            ),
            (
                with(|c| c.timing.tick = Duration::from_micros(1)),
                ConfigError::WaitZero("tick"),
                "tick is no time",
            ),
            (
                with(|c| c.timing.epoch_patience = Some(zero)),
                ConfigError::WaitZero("epoch_patience"),
                "epoch_patience",
            ),
            (
                with(|c| c.timing.sync_limit = 0),
                ConfigError::LimitZero("sync_limit"),
                "no ticks",
            ),
            (
                with(|c| c.timing.observer_delay = hour),
                ConfigError::WaitTooLong("observer_delay", hour),
                "at most an hour",
            ),
            (
                with(|c| c.timing.max_notification = ms(1)),
                ConfigError::NotificationRange {
                    min: ms(200),
                    max: ms(1),
                },
                "200ms at first and 1ms",
            ),
            (
                with(|c| c.timing.connect_tries = 0),
                ConfigError::NoTries,
                "one try",
            ),
            (with(|c| c.batch = 0), ConfigError::NothingToSend, "batch"),
        ] {
            assert_eq!(refused, Err(expected));
            assert!(expected.to_string().contains(told), "{expected}");
            assert!(expected.to_string().contains("; "));
            assert!(!expected.code().is_empty());
        }
    }
}
