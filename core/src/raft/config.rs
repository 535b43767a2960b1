//! Parameters of a Raft election, checked when the machine is built.

use crate::quorum::Voters;
use crate::{Duration, NodeId};
use core::fmt;

/// The highest term this implementation enters. Far from the end of the counter: a peer that names a term above it is
/// refused, and a token can always rise.
pub const MAX_TERM: u64 = u64::MAX >> 1;

/// How far above its own a node accepts a term at once. Honest terms rise by one an election; a leap would take the whole
/// group to the end of its terms in one message.
pub const MAX_LEAP: u64 = 1 << 32;

/// The highest index this implementation writes: an index and one more can always be counted.
pub const MAX_INDEX: u64 = u64::MAX >> 1;

/// The longest election timeout and promise.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(3_600);

/// A million: the unit of [`Timing::rate_bound`].
pub const PPM: u32 = 1_000_000;

/// How one node takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// This node. Must be among the voters.
    pub id: NodeId,
    /// Everybody who votes, this node included. The same on every node, and for every life of it: two groups that differ
    /// need not share a voter, and then both elect. With a log: who votes until its first configuration entry, and a node
    /// that is to be added later names those without itself.
    pub voters: Voters,
    /// Timeouts. Where nodes differ, leases go by what each promised, and are shorter than they need be.
    pub timing: Timing,
    /// PreVote and CheckQuorum, one switch, on by default. On: a node asks before it raises its term, followers stay
    /// with a live leader, and a leader holds a lease that a majority renews. Off: plain Raft. A leader that was cut
    /// off then believes for ever, a node that returns deposes a healthy leader, and a leader can be established after
    /// one with a higher token; only the fence protects.
    pub safe_mode: bool,
    /// The generation of the fencing tokens. Raise it, on every node while the group is stopped, when durable records
    /// were restored from a backup. Recorded, and never accepted lower again.
    pub generation: u32,
    /// How the log is replicated; `None`, the default, for an election without a log. The same on every node.
    pub replication: Option<Replication>,
}

/// How a leader feeds its followers. Counted in entries, for the machine does not know their sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replication {
    /// The most entries in one message; at least one.
    pub batch: u64,
    /// The most entries on the way to one follower, sent and not acknowledged; at least one.
    pub window: u64,
}

impl Default for Replication {
    fn default() -> Self {
        Self {
            batch: 256,
            window: 4_096,
        }
    }
}

/// Timeouts of a Raft election. Defaults: election 150–300 ms, heartbeat 50 ms, clocks within 1 % and read to the
/// microsecond.
///
/// A leader keeps its lease when a round trip and the followers' disks take less than the lease less a heartbeat (97 ms
/// by default); a shorter heartbeat buys tolerance. A group whose round trip is longer than `election_min` elects
/// nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The shortest election timeout. In safe mode also the length of a follower's promise.
    pub election_min: Duration,
    /// The longest election timeout; each arming draws from `election_min..=election_max`.
    pub election_max: Duration,
    /// How often a leader sends a heartbeat.
    pub heartbeat: Duration,
    /// ρ in parts per million: every clock of the group runs at a rate within 1 ± ρ of true time. A node configured below
    /// the truth can believe beside another leader.
    pub rate_bound: u32,
    /// The grain of the host's clock: the `now` it passes is never further behind than this. A tick where time is counted
    /// in ticks, the step of a coarsened browser clock, the age of a cached reading.
    pub grain: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            election_min: Duration::from_millis(150),
            election_max: Duration::from_millis(300),
            heartbeat: Duration::from_millis(50),
            rate_bound: 10_000,
            grain: Duration::from_micros(1),
        }
    }
}

impl Timing {
    /// How long a leader may act on one acknowledged round, counted from its send, when the followers promised to wait
    /// `promise`: `promise × (1 − ρ) ÷ (1 + ρ)`, less two grains of the clock: a follower may begin its promise a grain
    /// too early and a leader end its belief a grain too late. The slowest leader clock then still ends before the
    /// fastest follower clock.
    #[must_use]
    pub fn lease(&self, promise: Duration) -> Duration {
        let (slow, fast) = self.rates();
        let scaled = promise.scaled_down(slow, fast);
        scaled.saturating_sub(self.grain + self.grain)
    }

    /// How long to wait on this clock so that `span` has passed on any other clock of the group.
    #[must_use]
    pub fn outlast(&self, span: Duration) -> Duration {
        let (slow, fast) = self.rates();
        span.scaled_up(fast, slow)
    }

    /// The slowest and the fastest rate of a clock, in parts per million of true time.
    fn rates(&self) -> (u64, u64) {
        let rho = u64::from(self.rate_bound.min(PPM));
        (u64::from(PPM) - rho, u64::from(PPM) + rho)
    }

    /// Bounds of the election timeout.
    #[must_use]
    pub fn election(&self) -> (Duration, Duration) {
        (self.election_min, self.election_max)
    }

    /// How long before its election timeout a follower asks for pre-votes, and how much of a promise a voter may have
    /// left and still grant one (RL-10): a fifth of the shortest timeout, so that the two message delays of the
    /// pre-vote pass while the promises run out.
    #[must_use]
    pub fn early(&self) -> Duration {
        self.election_min.scaled_down(1, 5)
    }

    /// Bounds of the pause before the next attempt: shorter than an election timeout, for the leader is already known
    /// to be gone.
    #[must_use]
    pub fn retry(&self) -> (Duration, Duration) {
        (
            self.election_min.scaled_down(2, 5),
            self.election_min.scaled_down(4, 5),
        )
    }

    /// Bounds of the step back from a rival with a higher id (RL-9).
    #[must_use]
    pub fn yielding(&self) -> (Duration, Duration) {
        (
            self.election_min.scaled_down(2, 5),
            self.election_min.scaled_down(3, 5),
        )
    }
}

/// An unsafe or impossible configuration. Each says what to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The election range is empty. Raise `election_max` above `election_min`: without a range, candidates collide for
    /// ever.
    ElectionRange {
        /// The shortest timeout.
        min: Duration,
        /// The longest timeout.
        max: Duration,
    },
    /// A follower would give up its leader after one lost heartbeat. Lower `heartbeat` to at most half of
    /// `election_min`.
    HeartbeatTooSlow {
        /// The heartbeat interval.
        heartbeat: Duration,
        /// The shortest election timeout.
        election_min: Duration,
    },
    /// A heartbeat interval of zero never rests. Use at least a microsecond.
    HeartbeatZero,
    /// The lease that remains after the clock allowance is shorter than two heartbeats: one lost round would depose a
    /// healthy leader. Lower `rate_bound`, `grain` or `heartbeat`, or raise `election_min`.
    LeaseTooShort {
        /// The lease that remains.
        lease: Duration,
        /// The heartbeat interval.
        heartbeat: Duration,
    },
    /// `id` is not among the voters. Add it, or do not run an election here.
    NotAVoter(NodeId),
    /// A clock that may run at rate zero bounds nothing. `rate_bound` must be below 1,000,000.
    RateBound(u32),
    /// The durable record names a term this implementation never enters: it is damaged, or not a record of this group.
    /// Restore it; do not start with an empty one under the same id.
    RecordTerm(u64),
    /// The durable record names a vote of term 0, in which nobody votes: it is damaged.
    RecordVote(NodeId),
    /// The log has an entry of a term above the record's: the record is older than the log. Restore the record.
    LogBeyondRecord {
        /// The term of the last entry.
        log: u64,
        /// The recorded term.
        record: u64,
    },
    /// A timeout beyond [`MAX_TIMEOUT`]. Lower `election_max`.
    TimeoutTooLong(Duration),
    /// The durable record names a promise beyond [`MAX_TIMEOUT`]: it is damaged. Restore it.
    RecordPromise(Duration),
    /// The durable record was written under a higher generation: tokens would fall. Raise `generation` to at least that,
    /// on every node.
    GenerationFell {
        /// The recorded generation.
        recorded: u32,
        /// The configured one.
        configured: u32,
    },
    /// Incarnation 0 is reserved. Give each life of the machine a fresh nonce.
    IncarnationZero,
    /// A leader that may send no entry, or have none on the way, replicates nothing. Use at least one for `batch` and for
    /// `window`.
    NothingToSend,
    /// The stored log ends beyond [`MAX_INDEX`]: it is damaged. Restore it.
    LogTooLong(u64),
}

/// The reason and, after a semicolon, the remedy.
impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.reason(), self.remedy())
    }
}

impl ConfigError {
    /// A short name for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::ElectionRange { .. } => "election-range",
            Self::HeartbeatTooSlow { .. } => "heartbeat-too-slow",
            Self::HeartbeatZero => "heartbeat-zero",
            Self::LeaseTooShort { .. } => "lease-too-short",
            Self::NotAVoter(_) => "not-a-voter",
            Self::RateBound(_) => "rate-bound",
            Self::RecordTerm(_) => "record-term",
            Self::RecordVote(_) => "record-vote",
            Self::LogBeyondRecord { .. } => "log-beyond-record",
            Self::TimeoutTooLong(_) => "timeout-too-long",
            Self::RecordPromise(_) => "record-promise",
            Self::GenerationFell { .. } => "generation-fell",
            Self::IncarnationZero => "incarnation-zero",
            Self::NothingToSend => "nothing-to-send",
            Self::LogTooLong(_) => "log-too-long",
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
            Self::ElectionRange { .. } => "raise the upper end above the lower one",
            Self::HeartbeatTooSlow { .. } => "lower the heartbeat or raise the election timeout",
            Self::HeartbeatZero => "use at least a microsecond",
            Self::LeaseTooShort { .. } => {
                "lower the rate bound, the grain or the heartbeat, or raise the election timeout"
            }
            Self::NotAVoter(_) => "add it to the voters",
            Self::RateBound(_) => "use a bound below one million",
            Self::RecordTerm(_)
            | Self::RecordVote(_)
            | Self::RecordPromise(_)
            | Self::LogBeyondRecord { .. }
            | Self::LogTooLong(_) => {
                "restore the record; never start with an empty one under the same id"
            }
            Self::TimeoutTooLong(_) => "use at most an hour",
            Self::GenerationFell { .. } => {
                "raise the generation to the recorded one, on every node"
            }
            Self::IncarnationZero => "give each life of the machine a fresh nonce",
            Self::NothingToSend => "use at least one for batch and for window",
        }
    }
}

struct Reason<'a>(&'a ConfigError);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ConfigError as E;
        match self.0 {
            E::ElectionRange { min, max } => {
                write!(f, "election timeout {min} to {max} is no range")
            }
            E::HeartbeatTooSlow {
                heartbeat,
                election_min,
            } => write!(
                f,
                "heartbeat {heartbeat} is more than half of the shortest election timeout {election_min}, so that one lost heartbeat starts an election"
            ),
            E::HeartbeatZero => f.write_str("a heartbeat of zero never rests"),
            E::LeaseTooShort { lease, heartbeat } => write!(
                f,
                "the lease that remains after the clock allowance is {lease}, less than two heartbeats of {heartbeat}"
            ),
            E::NotAVoter(id) => write!(f, "node {id} is not among the voters"),
            E::RateBound(ppm) => {
                write!(f, "a rate bound of {ppm} parts per million bounds nothing")
            }
            E::RecordTerm(term) => write!(
                f,
                "the durable record names term {term}, which no group enters: it is damaged"
            ),
            E::RecordVote(id) => write!(
                f,
                "the durable record names a vote for node {id} in term 0: it is damaged"
            ),
            E::LogBeyondRecord { log, record } => {
                write!(
                    f,
                    "the log ends in term {log}, above the recorded term {record}: the record is older"
                )
            }
            E::TimeoutTooLong(timeout) => write!(
                f,
                "election timeout {timeout} is longer than any group waits"
            ),
            E::RecordPromise(promise) => {
                write!(
                    f,
                    "the durable record names a promise of {promise}, longer than any: it is damaged"
                )
            }
            E::GenerationFell {
                recorded,
                configured,
            } => {
                write!(
                    f,
                    "generation {configured} is below the recorded {recorded}, so that tokens would fall"
                )
            }
            E::IncarnationZero => f.write_str("incarnation 0 is reserved"),
            E::LogTooLong(end) => write!(
                f,
                "the stored log ends at index {end}, which no group reaches: it is damaged"
            ),
            E::NothingToSend => f.write_str("a batch or a window of no entries replicates nothing"),
        }
    }
}

impl core::error::Error for ConfigError {}

impl Config {
    /// A voter with the default timing, in safe mode.
    #[must_use]
    pub fn new(id: NodeId, voters: Voters) -> Self {
        Self {
            id,
            voters,
            timing: Timing::default(),
            safe_mode: true,
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
        let lease = self.timing.lease(election_min);
        if self.safe_mode && lease < heartbeat + heartbeat {
            return Err(ConfigError::LeaseTooShort { lease, heartbeat });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

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

    /// What a person reads of each error: a name for programs, the reason with its numbers, what to do.
    #[test]
    fn errors_say_name_reason_and_remedy() {
        let (micros, node) = (Duration::from_micros(1_234), NodeId(77));
        for (error, code, reason, remedy) in [
            (
                ConfigError::ElectionRange {
                    min: micros,
                    max: Duration::ZERO,
                },
                "election-range",
                "1234us to 0ms",
                "raise the upper end",
            ),
            (
                ConfigError::HeartbeatTooSlow {
                    heartbeat: micros,
                    election_min: Duration::ZERO,
                },
                "heartbeat-too-slow",
                "heartbeat 1234us",
                "lower the heartbeat",
            ),
            (
                ConfigError::HeartbeatZero,
                "heartbeat-zero",
                "zero",
                "at least a microsecond",
            ),
            (
                ConfigError::LeaseTooShort {
                    lease: micros,
                    heartbeat: Duration::ZERO,
                },
                "lease-too-short",
                "1234us",
                "lower the rate bound",
            ),
            (
                ConfigError::NotAVoter(node),
                "not-a-voter",
                "node 77",
                "add it",
            ),
            (
                ConfigError::RateBound(PPM),
                "rate-bound",
                "1000000 parts",
                "below one million",
            ),
            (
                ConfigError::RecordTerm(u64::MAX),
                "record-term",
                "18446744073709551615",
                "restore the record",
            ),
            (
                ConfigError::RecordVote(node),
                "record-vote",
                "node 77",
                "restore the record",
            ),
            (
                ConfigError::LogBeyondRecord { log: 5, record: 4 },
                "log-beyond-record",
                "term 5",
                "restore the record",
            ),
            (
                ConfigError::TimeoutTooLong(micros),
                "timeout-too-long",
                "1234us",
                "at most an hour",
            ),
            (
                ConfigError::RecordPromise(micros),
                "record-promise",
                "1234us",
                "restore the record",
            ),
            (
                ConfigError::GenerationFell {
                    recorded: 9,
                    configured: 8,
                },
                "generation-fell",
                "recorded 9",
                "raise the generation",
            ),
            (
                ConfigError::IncarnationZero,
                "incarnation-zero",
                "reserved",
                "fresh nonce",
            ),
        ] {
            assert_eq!(error.code(), code);
            let told = error.to_string();
            let (before, after) = told.split_once("; ").unwrap();
            assert!(before.contains(reason), "{told}");
            assert!(after.contains(remedy), "{told}");
        }
    }

    /// A signed column of a store holds every term, and one more leap.
    #[test]
    fn the_highest_term_leaves_room() {
        assert!(i64::try_from(MAX_TERM).is_ok());
        assert!(MAX_TERM.checked_add(MAX_LEAP).is_some());
    }

    /// A bound that `validate` refuses still gives an answer: no lease, and a wait without end.
    #[test]
    fn clocks_that_bound_nothing_give_no_lease() {
        for rate_bound in [PPM, u32::MAX] {
            let timing = Timing {
                rate_bound,
                ..Timing::default()
            };
            assert_eq!(timing.lease(MAX_TIMEOUT), Duration::ZERO);
            assert!(timing.outlast(Duration::from_secs(1)) > MAX_TIMEOUT);
        }
    }

    proptest! {
        /// The inequality of the lease, in exact integers: promised on the fastest follower clock, used on the slowest
        /// leader clock, the lease ends first; and it wastes no more than the rounding.
        #[test]
        fn the_lease_ends_before_the_promise(promise in 2u64..1 << 40, rho in 0u32..PPM) {
            let timing = Timing { rate_bound: rho, ..Timing::default() };
            let lease = u128::from(timing.lease(Duration::from_micros(promise)).as_micros());
            let (slow, fast) = (u128::from(PPM - rho), u128::from(PPM + rho));
            // Both sides times the rates: lease / slow <= promise / fast in true time.
            prop_assert!(lease * fast <= u128::from(promise) * slow);
            prop_assert!((lease + 3) * fast >= u128::from(promise) * slow);
        }

        /// Waiting `outlast(span)` on the fastest clock covers `span` on the slowest, and wastes no more than the rounding.
        #[test]
        fn outlasting_covers_the_span(span in 0u64..1 << 40, rho in 0u32..PPM) {
            let timing = Timing { rate_bound: rho, ..Timing::default() };
            let wait = u128::from(timing.outlast(Duration::from_micros(span)).as_micros());
            let (slow, fast) = (u128::from(PPM - rho), u128::from(PPM + rho));
            prop_assert!(wait * slow >= u128::from(span) * fast);
            prop_assert!(wait.saturating_sub(1) * slow <= u128::from(span) * fast);
        }
    }
}
