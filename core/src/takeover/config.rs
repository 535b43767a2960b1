//! What a takeover has to know of the house: how many resources there are, and how long things take.

use crate::Duration;
use crate::fence::{ElectionId, Holder};
use core::fmt;

/// The most resources of one leader.
pub const MAX_RESOURCES: u32 = 1 << 12;
/// The most items of one page.
pub const MAX_PAGE: u32 = 1 << 12;

/// How one life of a node takes over, and hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The election that the resources are guarded for.
    pub election: ElectionId,
    /// This life of this node, as the resources are shown it.
    pub holder: Holder,
    /// How many resources are fenced: 0 to this number less one, in an order of the host's. One that is not named here is
    /// not protected. With none, only the lease protects: what is left running by a leader that froze gets in.
    pub resources: u32,
    /// How many items of work are listed, and taken over, at a time.
    pub page: u32,
    /// How long things take.
    pub timing: Timing,
}

impl Config {
    /// With the default timing and pages of 64 items.
    #[must_use]
    pub fn new(election: ElectionId, holder: Holder, resources: u32) -> Self {
        Self {
            election,
            holder,
            resources,
            page: 64,
            timing: Timing::default(),
        }
    }

    /// Whether it can be taken over so.
    ///
    /// # Errors
    /// What is out of bounds, with the remedy.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.resources > MAX_RESOURCES {
            return Err(ConfigError::TooManyResources(self.resources));
        }
        if self.page == 0 || self.page > MAX_PAGE {
            return Err(ConfigError::Page(self.page));
        }
        let Timing {
            patience,
            retry,
            limit,
            ..
        } = self.timing;
        for (name, value) in [("patience", patience), ("retry", retry)] {
            if value == Duration::ZERO {
                return Err(ConfigError::Zero(name));
            }
        }
        if limit < patience {
            return Err(ConfigError::NoSecondAttempt { limit, patience });
        }
        Ok(())
    }
}

/// How long things take in a takeover and in a hand-over, on the node's own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long an answer may take before its request is made again. One that comes later still counts.
    pub patience: Duration,
    /// The pause before what was not done, or may not have been, is asked again.
    pub retry: Duration,
    /// The longest a takeover may take. After that the node resigns: somebody else may fare better, and while nobody has
    /// taken over, nobody works.
    pub limit: Duration,
    /// How long it takes at most to stop what runs: the hard deadline of all work lies so long before the end of the tenure.
    pub stop: Duration,
    /// How long what runs may go on when the node hands over, as long as its tenure lasts.
    pub drain: Duration,
}

impl Default for Timing {
    /// For resources in the same data centre, and work that can be stopped at once.
    fn default() -> Self {
        Self {
            patience: Duration::from_secs(1),
            retry: Duration::from_millis(200),
            limit: Duration::from_secs(30),
            stop: Duration::ZERO,
            drain: Duration::from_secs(10),
        }
    }
}

/// Why it cannot be taken over so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// There are so many resources.
    TooManyResources(u32),
    /// A page has no items, or so many.
    Page(u32),
    /// A time of this name is zero.
    Zero(&'static str),
    /// A takeover is given up on before a request is made a second time.
    NoSecondAttempt {
        /// After so long.
        limit: Duration,
        /// How long an answer may take.
        patience: Duration,
    },
}

impl ConfigError {
    /// A short name for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooManyResources(_) => "too-many-resources",
            Self::Page(_) => "page",
            Self::Zero(_) => "zero",
            Self::NoSecondAttempt { .. } => "no-second-attempt",
        }
    }
}

/// What is wrong, and what to do about it.
impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyResources(count) => write!(
                f,
                "{count} resources are more than {MAX_RESOURCES}: put several behind one guard"
            ),
            Self::Page(items) => write!(
                f,
                "a page of {items} items: use from 1 to {MAX_PAGE}; how many there are in all is not bounded by it"
            ),
            Self::Zero(name) => write!(f, "{name} is zero: use at least a microsecond"),
            Self::NoSecondAttempt { limit, patience } => write!(
                f,
                "a takeover is given up on after {limit}, and an answer may take {patience}: raise limit, or lower patience"
            ),
        }
    }
}

impl core::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeId;
    use std::string::ToString;

    #[test]
    fn what_cannot_be_is_refused_with_a_remedy() {
        let holder = Holder {
            node: NodeId(1),
            incarnation: 1,
        };
        let good = Config::new(ElectionId(1), holder, 3);
        assert_eq!(good.check(), Ok(()));
        let none = Config {
            resources: 0,
            ..good
        };
        assert_eq!(none.check(), Ok(()));
        let timing = |change: fn(&mut Timing)| {
            let mut config = good;
            change(&mut config.timing);
            config
        };
        for (bad, code, remedy) in [
            (
                Config {
                    resources: MAX_RESOURCES + 1,
                    ..good
                },
                "too-many-resources",
                "behind one guard",
            ),
            (Config { page: 0, ..good }, "page", "use from 1"),
            (
                Config {
                    page: MAX_PAGE + 1,
                    ..good
                },
                "page",
                "use from 1",
            ),
            (
                timing(|timing| timing.patience = Duration::ZERO),
                "zero",
                "patience is zero",
            ),
            (
                timing(|timing| timing.retry = Duration::ZERO),
                "zero",
                "retry is zero",
            ),
            (
                timing(|timing| timing.limit = Duration::from_millis(999)),
                "no-second-attempt",
                "raise limit",
            ),
        ] {
            let error = bad.check().unwrap_err();
            assert_eq!(error.code(), code);
            assert!(error.to_string().contains(remedy), "{error}");
        }
    }
}
