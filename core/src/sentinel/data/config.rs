//! How a data server behaves.

use crate::{Duration, NodeId};
use core::fmt;

/// One data server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Its address.
    pub id: NodeId,
    /// `replica-priority`: of replicas the one with the lowest is promoted, and one with 0 never.
    pub priority: u32,
    /// `min-replicas-to-write`: a master takes writes while so many replicas kept up; 0 turns it off.
    pub min_replicas: usize,
    /// `min-replicas-max-lag`: how long ago a replica may have been heard that keeps up.
    pub max_lag: Duration,
    /// `repl-backlog-size`, in writes: a replica that lacks more than this copies everything.
    pub backlog: u64,
    /// How long a copy of everything takes, which depends on how much there is and on `repl-diskless-sync-delay`.
    pub full_sync: Duration,
    /// How long a restart takes to load what was saved: meanwhile it is alive and serves nobody.
    pub load: Duration,
    /// After how long a silence the link to a master, or that of a replica, counts as broken: `repl-timeout`, a minute in the
    /// real one. Where the other's process is gone, [`Message::Closed`](super::super::Message::Closed) tells sooner.
    pub link_timeout: Duration,
    /// `replica-serve-stale-data`: whether a replica without a link to its master answers.
    pub serves_stale: bool,
}

impl Config {
    /// A server at `id` with the defaults of the real one.
    #[must_use]
    pub const fn new(id: NodeId) -> Self {
        Self {
            id,
            priority: 100,
            min_replicas: 0,
            max_lag: Duration::from_secs(10),
            backlog: 1 << 16,
            full_sync: Duration::from_secs(1),
            load: Duration::ZERO,
            link_timeout: Duration::from_secs(5),
            serves_stale: true,
        }
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        // A replica says what it has once a second.
        if self.link_timeout <= super::replicate::ASK {
            return Err(ConfigError::LinkTimeout(self.link_timeout));
        }
        if self.min_replicas > super::super::config::MAX_REPLICAS {
            return Err(ConfigError::MinReplicas(self.min_replicas));
        }
        if self.min_replicas > 0 && self.max_lag <= super::replicate::ASK {
            return Err(ConfigError::MaxLag(self.max_lag));
        }
        Ok(())
    }
}

/// What a data server cannot be configured with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A link would break between two signs of life. Use more than a second.
    LinkTimeout(Duration),
    /// More replicas than a master remembers: it would never take a write. Use fewer.
    MinReplicas(usize),
    /// A replica would lag between two signs of life. Use more than a second.
    MaxLag(Duration),
    /// Incarnation 0 is reserved. Give each life of the machine a fresh nonce.
    IncarnationZero,
}

/// The reason and, after a semicolon, the remedy.
impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LinkTimeout(span) => write!(
                f,
                "with a link timeout of {span}, a link breaks between two signs of life; use more than a second"
            ),
            Self::MinReplicas(count) => write!(
                f,
                "no master has {count} replicas, and would never take a write; use fewer"
            ),
            Self::MaxLag(span) => write!(
                f,
                "with a lag of {span} allowed, replicas lag between two signs of life; use more than a second"
            ),
            Self::IncarnationZero => {
                f.write_str("incarnation 0 is reserved; give each life a fresh nonce")
            }
        }
    }
}

impl core::error::Error for ConfigError {}
