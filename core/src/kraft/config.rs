//! Parameters of a quorum, checked when the machine is built.

use super::voters::VoterSet;
use crate::{Duration, NodeId};
use core::fmt;

/// The highest epoch this implementation enters. Far from the end of the counter: a token can always rise.
pub const MAX_EPOCH: u64 = u64::MAX >> 1;

/// How far above its own a node accepts an epoch at once. Honest epochs rise by one an election.
pub const MAX_LEAP: u64 = 1 << 32;

/// The highest offset a log may end at.
pub const MAX_OFFSET: u64 = u64::MAX >> 1;

/// The longest of all timeouts.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(3_600);

/// How one node takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// This node. One that is not among the voters observes: it fetches, and neither votes nor stands.
    pub id: NodeId,
    /// Who votes, each with the disk it was admitted with. The same on every node.
    pub voters: VoterSet,
    /// Timeouts.
    pub timing: Timing,
    /// The most records one answer to a fetch carries.
    pub batch: u64,
    /// Whether this node's state machine is as far as the log is committed whenever the machine was drained.
    pub applying: Applying,
    /// The generation of the fencing tokens. Raise it, on every node while the group is stopped, when disks were restored
    /// from a backup. Recorded, and never accepted lower again.
    pub generation: u32,
}

/// How the machine learns what the host's state machine has consumed (KC-1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Applying {
    /// The host applies what is committed whenever it has drained the machine, before it acts on any news.
    #[default]
    AtOnce,
    /// The host says how far it is, by [`Kraft::applied`](super::Kraft::applied).
    Told,
}

/// Timeouts, with Kafka's names, of which all begin with `controller.quorum.`, and defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timing {
    /// `election.timeout.ms`: election timeouts are drawn from once to twice this, anew at each use.
    pub election_timeout: Duration,
    /// `fetch.timeout.ms`: without a successful fetch for so long a follower doubts its leader. Half of it is the pace of the
    /// leader's BeginQuorumEpoch, one and a half times that of its check of the quorum.
    pub fetch_timeout: Duration,
    /// `election.backoff.max.ms`: the longest wait of a candidate that lost, and of a follower whose leader resigned.
    pub election_backoff_max: Duration,
    /// `request.timeout.ms`: what was asked and not answered for so long is lost.
    pub request_timeout: Duration,
    /// `retry.backoff.ms`: after a failure the same node is asked again no sooner than that.
    pub retry_backoff: Duration,
    /// `append.linger.ms`: how long a proposal waits for others to be appended with it.
    pub append_linger: Duration,
    /// How long a leader keeps a fetch for which it has nothing new. Nobody configures it in Kafka.
    pub fetch_max_wait: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            election_timeout: Duration::from_millis(1_000),
            fetch_timeout: Duration::from_millis(2_000),
            election_backoff_max: Duration::from_millis(1_000),
            request_timeout: Duration::from_millis(2_000),
            retry_backoff: Duration::from_millis(20),
            append_linger: Duration::from_millis(25),
            fetch_max_wait: Duration::from_millis(500),
        }
    }
}

impl Timing {
    /// A leader that was not fetched from by a majority for so long resigns (KR-S6).
    #[must_use]
    pub const fn check_quorum(&self) -> Duration {
        self.fetch_timeout.scaled_up(3, 2)
    }

    /// A leader tells every other voter that it leads once in so long (KAFKA-16536).
    #[must_use]
    pub const fn begin_quorum(&self) -> Duration {
        self.fetch_timeout.scaled_down(1, 2)
    }
}

impl Config {
    /// A node of a group with Kafka's default timing.
    #[must_use]
    pub fn new(id: NodeId, voters: impl Into<VoterSet>) -> Self {
        Self {
            id,
            voters: voters.into(),
            timing: Timing::default(),
            batch: 1_024,
            applying: Applying::default(),
            generation: 0,
        }
    }

    /// Checks every pair of parameters that cannot work together. Called when a machine is built.
    ///
    /// # Errors
    /// The first such pair, with its remedy.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let Timing {
            election_timeout,
            fetch_timeout,
            election_backoff_max,
            request_timeout,
            retry_backoff,
            append_linger,
            fetch_max_wait,
        } = self.timing;
        // Half a fetch timeout is a pace too.
        if [election_timeout, request_timeout, retry_backoff].contains(&Duration::ZERO)
            || fetch_timeout < Duration::from_micros(2)
        {
            return Err(ConfigError::TimeoutZero);
        }
        for timeout in [
            election_timeout,
            fetch_timeout,
            election_backoff_max,
            request_timeout,
            retry_backoff,
            append_linger,
            fetch_max_wait,
        ] {
            if timeout > MAX_TIMEOUT {
                return Err(ConfigError::TimeoutTooLong(timeout));
            }
        }
        if fetch_max_wait >= fetch_timeout {
            return Err(ConfigError::FetchTimeout {
                fetch_timeout,
                fetch_max_wait,
            });
        }
        if fetch_max_wait >= request_timeout {
            return Err(ConfigError::RequestTimeout {
                request_timeout,
                fetch_max_wait,
            });
        }
        if self.batch == 0 {
            return Err(ConfigError::NothingToFetch);
        }
        Ok(())
    }
}

/// A configuration that cannot work, or a disk that cannot be this node's. Each says what to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A timeout of zero never rests. Use at least a microsecond, and two for the fetch timeout.
    TimeoutZero,
    /// A timeout beyond [`MAX_TIMEOUT`]. Lower it.
    TimeoutTooLong(Duration),
    /// An idle leader would answer later than its followers wait. Raise `fetch_timeout` above `fetch_max_wait`.
    FetchTimeout {
        /// How long a follower waits.
        fetch_timeout: Duration,
        /// How long an idle leader keeps a fetch.
        fetch_max_wait: Duration,
    },
    /// Every fetch from an idle leader would count as lost. Raise `request_timeout` above `fetch_max_wait`.
    RequestTimeout {
        /// How long an answer is waited for.
        request_timeout: Duration,
        /// How long an idle leader keeps a fetch.
        fetch_max_wait: Duration,
    },
    /// A fetch that carries no record replicates nothing. Use a batch of at least one.
    NothingToFetch,
    /// Incarnation 0 is reserved. Give each life of the machine a fresh nonce.
    IncarnationZero,
    /// The quorum-state names an epoch no group enters: it is damaged. Restore it.
    StoredEpoch(u64),
    /// The quorum-state names a leader or a vote of epoch 0, in which nobody leads: it is damaged. Restore it.
    StoredInEpochZero(NodeId),
    /// The stored log ends beyond [`MAX_OFFSET`], or in an epoch beyond [`MAX_EPOCH`]: it is damaged. Restore it.
    StoredLog {
        /// The epoch of the last record.
        epoch: u64,
        /// Its offset.
        offset: u64,
    },
    /// The quorum-state was written under a higher generation: tokens would fall. Raise `generation` to at least that, on
    /// every node.
    GenerationFell {
        /// The recorded generation.
        recorded: u32,
        /// The configured one.
        configured: u32,
    },
}

impl ConfigError {
    /// A short name for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TimeoutZero => "timeout-zero",
            Self::TimeoutTooLong(_) => "timeout-too-long",
            Self::FetchTimeout { .. } => "fetch-timeout",
            Self::RequestTimeout { .. } => "request-timeout",
            Self::NothingToFetch => "nothing-to-fetch",
            Self::IncarnationZero => "incarnation-zero",
            Self::StoredEpoch(_) => "stored-epoch",
            Self::StoredInEpochZero(_) => "stored-in-epoch-zero",
            Self::StoredLog { .. } => "stored-log",
            Self::GenerationFell { .. } => "generation-fell",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::TimeoutZero => "use at least a microsecond, and two for the fetch timeout",
            Self::TimeoutTooLong(_) => "use at most an hour",
            Self::FetchTimeout { .. } => {
                "raise the fetch timeout above the longest wait of a fetch"
            }
            Self::RequestTimeout { .. } => {
                "raise the request timeout above the longest wait of a fetch"
            }
            Self::NothingToFetch => "use a batch of at least one",
            Self::IncarnationZero => "give each life of the machine a fresh nonce",
            Self::StoredEpoch(_) | Self::StoredInEpochZero(_) | Self::StoredLog { .. } => {
                "restore the disk, or replace it by an empty one with a directory id of its own"
            }
            Self::GenerationFell { .. } => {
                "raise the generation to the recorded one, on every node"
            }
        }
    }

    /// What is wrong, without the remedy.
    pub fn reason(&self) -> impl fmt::Display + '_ {
        Reason(self)
    }
}

/// The reason and, after a semicolon, the remedy.
impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.reason(), self.remedy())
    }
}

impl core::error::Error for ConfigError {}

struct Reason<'a>(&'a ConfigError);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ConfigError as E;
        match self.0 {
            E::TimeoutZero => f.write_str("a timeout of zero never rests"),
            E::TimeoutTooLong(timeout) => {
                write!(f, "a timeout of {timeout} is longer than any group waits")
            }
            E::FetchTimeout {
                fetch_timeout,
                fetch_max_wait,
            } => write!(
                f,
                "an idle leader keeps a fetch for {fetch_max_wait}, and a follower doubts it after {fetch_timeout}"
            ),
            E::RequestTimeout {
                request_timeout,
                fetch_max_wait,
            } => write!(
                f,
                "an idle leader keeps a fetch for {fetch_max_wait}, and it counts as lost after {request_timeout}"
            ),
            E::NothingToFetch => f.write_str("a batch of no records replicates nothing"),
            E::IncarnationZero => f.write_str("incarnation 0 is reserved"),
            E::StoredEpoch(epoch) => write!(
                f,
                "the quorum-state names epoch {epoch}, which no group enters: it is damaged"
            ),
            E::StoredInEpochZero(id) => write!(
                f,
                "the quorum-state names node {id} as leader or vote of epoch 0: it is damaged"
            ),
            E::StoredLog { epoch, offset } => write!(
                f,
                "the stored log ends in epoch {epoch} at offset {offset}, which no group reaches: it is damaged"
            ),
            E::GenerationFell {
                recorded,
                configured,
            } => write!(
                f,
                "generation {configured} is below the recorded {recorded}, so that tokens would fall"
            ),
        }
    }
}
