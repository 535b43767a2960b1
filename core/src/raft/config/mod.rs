//! Parameters of a Raft election, checked when the machine is built.

mod error;
mod presets;
mod priority;
mod replication;
mod timing;

pub use error::ConfigError;
pub use priority::Priority;
pub use replication::{MAX_INDEX, Replication};
pub use timing::{PPM, Timing};

use crate::quorum::Voters;
use crate::{Duration, NodeId};

/// The highest term this implementation enters. Far from the end of the counter: a peer that names a term above it is
/// refused, and a token can always rise.
pub const MAX_TERM: u64 = u64::MAX >> 1;

/// How far above its own a node accepts a term at once. Honest terms rise by one an election; a leap would take the whole
/// group to the end of its terms in one message.
pub const MAX_LEAP: u64 = 1 << 32;

/// The longest election timeout and promise.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(3_600);

/// How one node takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// This node. Must be among the voters.
    pub id: NodeId,
    /// Everybody who votes, this node included. The same on every node, and for every life of it: two groups that differ
    /// need not share a voter, and then both elect. With a log: who votes until its first configuration entry, and a node
    /// that is to be added later names those without itself.
    pub voters: Voters,
    /// Timeouts. Where nodes differ in them, leases go by what each promised, and are shorter than they need be. Of what they
    /// allow for clocks, [`Timing::rate_bound`] must cover every clock of the group on every node, and [`Timing::grain`]
    /// that of this node.
    pub timing: Timing,
    /// PreVote and CheckQuorum, one switch, on by default. On: a node asks before it raises its term, followers stay
    /// with a live leader, and a leader holds a lease that a majority renews. Off: plain Raft. A leader that was cut
    /// off then believes for ever, a node that returns deposes a healthy leader, and a leader can be established after
    /// one with a higher token; only the fence protects.
    pub safe_mode: bool,
    /// How soon it stands when nobody leads. May differ from node to node, and from life to life.
    pub priority: Priority,
    /// The generation of the fencing tokens. Raise it, on every node while the group is stopped, when durable records
    /// were restored from a backup. Recorded, and never accepted lower again.
    pub generation: u32,
    /// How the log is replicated; `None`, the default, for an election without a log. The same on every node.
    pub replication: Option<Replication>,
}

impl Config {
    /// A voter with the default timing, in safe mode.
    #[must_use]
    pub fn new(id: NodeId, voters: Voters) -> Self {
        Self {
            id,
            voters,
            timing: Timing::default(),
            safe_mode: true,
            priority: Priority::default(),
            generation: 0,
            replication: None,
        }
    }

    /// Checks every pair of parameters that can be unsafe together. Called when a machine is built.
    ///
    /// # Errors
    /// The first unsafe pair, with its remedy.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let Timing {
            election_min,
            election_max,
            heartbeat,
            rate_bound,
            ..
        } = self.timing;
        if self.voters.place(self.id).is_none() && self.replication.is_none() {
            return Err(ConfigError::NotAVoter(self.id));
        }
        if rate_bound >= PPM {
            return Err(ConfigError::RateBound(rate_bound));
        }
        if heartbeat == Duration::ZERO {
            return Err(ConfigError::HeartbeatZero);
        }
        if election_max <= election_min {
            return Err(ConfigError::ElectionRange {
                min: election_min,
                max: election_max,
            });
        }
        if election_max > MAX_TIMEOUT {
            return Err(ConfigError::TimeoutTooLong(election_max));
        }
        if heartbeat + heartbeat > election_min {
            return Err(ConfigError::HeartbeatTooSlow {
                heartbeat,
                election_min,
            });
        }
        let feeds = |flow: Replication| flow.batch > 0 && flow.window > 0;
        if !self.replication.is_none_or(feeds) {
            return Err(ConfigError::NothingToSend);
        }
        let lease = self.timing.lease(self.timing.promise());
        if self.safe_mode && lease < heartbeat + heartbeat {
            return Err(ConfigError::LeaseTooShort { lease, heartbeat });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: impl Fn(&mut Config)) -> Result<(), ConfigError> {
        let mut config = Config::new(NodeId(1), Voters::new((0..3).map(NodeId)).unwrap());
        change(&mut config);
        config.validate()
    }

    #[test]
    fn each_unsafe_pair_is_named_and_says_its_remedy() {
        let ms = Duration::from_millis;
        assert_eq!(with(|_| ()), Ok(()));
        let hour = MAX_TIMEOUT + Duration::from_micros(1);
        let flow = |batch, window| Some(Replication { batch, window });
        assert_eq!(with(|c| c.replication = flow(1, 1)), Ok(()));
        for (refused, expected) in [
            (
                with(|c| c.id = NodeId(9)),
                ConfigError::NotAVoter(NodeId(9)),
            ),
            (
                with(|c| c.timing.rate_bound = PPM),
                ConfigError::RateBound(PPM),
            ),
            (
                with(|c| c.timing.heartbeat = Duration::ZERO),
                ConfigError::HeartbeatZero,
            ),
            (
                with(|c| c.timing.election_max = c.timing.election_min),
                ConfigError::ElectionRange {
                    min: ms(150),
                    max: ms(150),
                },
            ),
            (
                with(|c| c.timing.election_max = hour),
                ConfigError::TimeoutTooLong(hour),
            ),
            (
                with(|c| c.timing.heartbeat = ms(76)),
                ConfigError::HeartbeatTooSlow {
                    heartbeat: ms(76),
                    election_min: ms(150),
                },
            ),
            (
                with(|c| c.replication = flow(0, 1)),
                ConfigError::NothingToSend,
            ),
            (
                with(|c| c.replication = flow(1, 0)),
                ConfigError::NothingToSend,
            ),
            (
                with(|c| c.timing.rate_bound = 500_000),
                ConfigError::LeaseTooShort {
                    lease: Duration::from_micros(49_998),
                    heartbeat: ms(50),
                },
            ),
        ] {
            assert_eq!(refused, Err(expected));
        }
        // Without a lease nothing depends on the clocks.
        assert_eq!(
            with(|c| (c.timing.rate_bound, c.safe_mode) = (500_000, false)),
            Ok(())
        );
    }

    #[test]
    fn what_is_just_safe_is_taken() {
        assert_eq!(with(|c| c.timing.election_max = MAX_TIMEOUT), Ok(()));
        // Exact clocks: the lease is the whole timeout, and two heartbeats fit.
        let exact = with(|c| {
            (c.timing.rate_bound, c.timing.grain) = (0, Duration::ZERO);
            c.timing.heartbeat = Duration::from_millis(75);
        });
        assert_eq!(exact, Ok(()));
    }

    /// A signed column of a store holds every term and index, and one more leap.
    #[test]
    fn the_highest_term_leaves_room() {
        assert!(i64::try_from(MAX_INDEX).is_ok());
        assert!(i64::try_from(MAX_TERM).is_ok());
        assert!(MAX_TERM.checked_add(MAX_LEAP).is_some());
    }
}
