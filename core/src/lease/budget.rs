//! What follows from the timing of an election over a store.

use super::redlock::MAX_SERVERS;
use super::timing::MAX_TTL;
use crate::Duration;
use core::fmt;

/// What follows from a timing. All but the first in true time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// How long a holder believes after the send of its last acknowledged request, on its own clock.
    pub belief: Duration,
    /// The longest time from the crash of a holder until another leads, while the store answers within its bound.
    pub takeover: Duration,
    /// The longest outage of the store that a holder survives, whenever it begins.
    pub outage: Duration,
    /// The shortest time from when a holder has stopped until another can hold: what a pause between the last look at the
    /// clock and the effect may take before two write. Not less than the margin.
    pub slack: Duration,
}

/// Why a timing is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BudgetError {
    /// The bound on the pace of clocks, in parts per million, allows clocks that stand still.
    RateBound(u32),
    /// The lease is longer than [`MAX_TTL`].
    TtlTooLong(Duration),
    /// A parameter of this name is zero, and means nothing so.
    Zero(&'static str),
    /// A holder's belief ends before a renewal, a second attempt and their answers are through.
    NoSlack {
        /// How long it believes.
        belief: Duration,
        /// How long that takes.
        needs: Duration,
    },
    /// A request is given up on before its answer can be there.
    Impatient {
        /// After so long.
        patience: Duration,
        /// There and back.
        round_trip: Duration,
    },
    /// The store counts leases in whole seconds, and this is not so many.
    NotSeconds(Duration),
    /// The key of the election is empty.
    NoKey,
    /// The name has more than one line, and the record ends it after the first.
    LineBreak,
    /// There are more servers than a round can count: so many.
    TooManyServers(u8),
    /// A holder may believe for as long as the lease, or longer.
    DeadlineTooLong {
        /// How long it may.
        deadline: Duration,
        /// The lease.
        ttl: Duration,
    },
    /// A holder stops before a second attempt to renew.
    DeadlineTooShort {
        /// After so long.
        deadline: Duration,
        /// How long an attempt waits at most.
        needs: Duration,
    },
    /// The path of the election is not absolute, has an empty part, or is too long.
    NoPath,
}

impl BudgetError {
    /// A short name for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::RateBound(_) => "rate-bound",
            Self::TtlTooLong(_) => "ttl-too-long",
            Self::Zero(_) => "zero",
            Self::NoSlack { .. } => "no-slack",
            Self::Impatient { .. } => "impatient",
            Self::NotSeconds(_) => "not-seconds",
            Self::NoKey => "no-key",
            Self::LineBreak => "line-break",
            Self::TooManyServers(_) => "too-many-servers",
            Self::DeadlineTooLong { .. } => "deadline-too-long",
            Self::DeadlineTooShort { .. } => "deadline-too-short",
            Self::NoPath => "no-path",
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
            Self::RateBound(_) => "use a bound below one million",
            Self::TtlTooLong(_) => "lower ttl",
            Self::Zero(_) => "give it a value above zero",
            Self::NoSlack { .. } => {
                "raise ttl (and renew_deadline, where there is one), or lower margin, renew, retry or latency; \
                 Timing::of has what goes with a ttl"
            }
            Self::Impatient { .. } => "raise patience",
            Self::NotSeconds(_) => "round ttl up to whole seconds",
            Self::NoKey => "name a key that no other election has",
            Self::LineBreak => "use a name of one line",
            Self::TooManyServers(_) => "use five servers",
            Self::DeadlineTooLong { .. } => "lower renew_deadline, or raise ttl",
            Self::DeadlineTooShort { .. } => "raise renew_deadline, or lower retry",
            Self::NoPath => "name a path such as /elections/mine, of at most 1024 bytes",
        }
    }
}

/// The reason alone.
struct Reason<'e>(&'e BudgetError);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            BudgetError::RateBound(ppm) => {
                write!(f, "a rate bound of {ppm} parts per million bounds nothing")
            }
            BudgetError::TtlTooLong(ttl) => {
                write!(f, "a ttl of {ttl} is above the limit of {MAX_TTL}")
            }
            BudgetError::Zero(name) => write!(f, "{name} is zero"),
            BudgetError::NoSlack { belief, needs } => write!(
                f,
                "a holder believes for {belief}, and a renewal, a second attempt and their answers take {needs}"
            ),
            BudgetError::Impatient {
                patience,
                round_trip,
            } => write!(
                f,
                "a request is given up on after {patience}, and its answer may take {round_trip}"
            ),
            BudgetError::NotSeconds(ttl) => {
                write!(
                    f,
                    "the store counts leases in whole seconds, and ttl is {ttl}"
                )
            }
            BudgetError::NoKey => f.write_str("the key of the election is empty"),
            BudgetError::LineBreak => {
                f.write_str("the name has a line break, where records end it")
            }
            BudgetError::TooManyServers(servers) => {
                write!(f, "{servers} servers are above the limit of {MAX_SERVERS}")
            }
            BudgetError::DeadlineTooLong { deadline, ttl } => write!(
                f,
                "a holder may go on for {deadline} without a renewal, and the lease is {ttl}"
            ),
            BudgetError::DeadlineTooShort { deadline, needs } => write!(
                f,
                "a holder stops {deadline} after a renewal, and a pause with its jitter takes {needs}"
            ),
            BudgetError::NoPath => f.write_str(
                "the path of the election is not absolute, has an empty part, or is too long",
            ),
        }
    }
}

impl fmt::Display for BudgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason(), self.remedy())
    }
}

impl core::error::Error for BudgetError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::{Claimant, Config, Identity, Timing, redlock};

    /// The remedies name what a host can set, and what they name cures.
    #[test]
    fn a_remedy_fits_what_is_wrong() {
        let claimant = Claimant::new(Identity::new("a").unwrap());
        let mut far = Config::new(claimant.clone());
        far.timing = Timing::of(Duration::from_millis(100));
        let error = far.budget().unwrap_err();
        assert_eq!(error.code(), "no-slack");
        assert!(error.remedy().contains("latency"), "{error}");
        far.latency = Duration::from_millis(5);
        assert!(far.budget().is_ok());

        // A ttl that is set alone leaves the rest as it was for nine seconds.
        let mut alone = Config::new(claimant.clone());
        alone.timing.ttl = Duration::from_secs(1);
        let error = alone.budget().unwrap_err();
        assert!(error.remedy().contains("Timing::of"), "{error}");
        alone.timing = Timing::of(alone.timing.ttl);
        assert!(alone.budget().is_ok());

        let none = redlock::Config {
            servers: 0,
            ..redlock::Config::new(claimant)
        };
        let error = none.budget().unwrap_err();
        assert_eq!(
            std::format!("{error}"),
            "servers is zero: give it a value above zero"
        );
    }
}
