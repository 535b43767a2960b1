//! What a configuration is refused for, with the remedy.

use crate::{Duration, NodeId};
use core::fmt;

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
    /// A timeout beyond [`MAX_TIMEOUT`](super::super::MAX_TIMEOUT). Lower `election_max`.
    TimeoutTooLong(Duration),
    /// The durable record names a promise beyond [`MAX_TIMEOUT`](super::super::MAX_TIMEOUT): it is damaged. Restore it.
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
    /// The stored log ends beyond [`MAX_INDEX`](super::MAX_INDEX): it is damaged. Restore it.
    LogTooLong(u64),
    /// A stored configuration entry lies beyond the end of the stored log: they are not of one disk. Restore both.
    MembersBeyondLog {
        /// The index of the configuration entry.
        change: u64,
        /// The end of the log.
        log: u64,
    },
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
            Self::MembersBeyondLog { .. } => "members-beyond-log",
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
            | Self::LogTooLong(_)
            | Self::MembersBeyondLog { .. } => {
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
            E::MembersBeyondLog { change, log } => write!(
                f,
                "a configuration entry is stored at index {change}, and the stored log ends at {log}"
            ),
            E::NothingToSend => f.write_str("a batch or a window of no entries replicates nothing"),
        }
    }
}

impl core::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::super::PPM;
    use super::*;
    use std::string::ToString;

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
            (
                ConfigError::MembersBeyondLog { change: 9, log: 8 },
                "members-beyond-log",
                "at index 9",
                "restore the record",
            ),
        ] {
            assert_eq!(error.code(), code);
            let told = error.to_string();
            let (before, after) = told.split_once("; ").unwrap();
            assert!(before.contains(reason), "{told}");
            assert!(after.contains(remedy), "{told}");
        }
    }
}
