//! How a node takes part in an election over ZooKeeper.

use super::api::Path;
use super::queue::MAX_PATH;
use crate::Duration;
use crate::lease::{Budget, BudgetError, Claimant, Config as Common, Preset, Timing};

/// How one node takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What is the same in every election over a store. The lease is the timeout of the session.
    pub common: Common,
    /// The path of the election: the candidates are its children, and it is created when it is missing. The same on every
    /// node, and of no other election.
    pub parent: Path,
    /// `tickTime` of the servers, in milliseconds as they have it: a session ends up to so much late; and within half of it a
    /// server tells ZooKeeper's leader whom it heard of. A write proves that the leader had the session then, and not that it
    /// begins anew: that is known once another write has gone through which was sent a tick later.
    pub tick_time: u32,
    /// Whether one server stands alone, which has nobody to tell: then a write counts from its own send.
    pub alone: bool,
}

impl Config {
    /// A candidate with the default timing, of an ensemble with the default tick of two seconds, in the same data centre.
    ///
    /// Renewed every third of the session, as is usual, it survives a short outage of the ensemble for sure, for what a write
    /// proves was sent one renewal earlier. Renewed every sixth it survives a longer one, for twice the writes:
    ///
    /// ```
    /// use tenure::Duration;
    /// use tenure::lease::{Claimant, Identity, zookeeper::Config};
    ///
    /// let mut config = Config::new("/elections/jobs", Claimant::new(Identity::new("anna")?));
    /// let usual = config.budget()?.outage;
    /// assert!(usual >= Duration::from_millis(400));
    /// let timing = &mut config.common.timing;
    /// timing.renew = timing.ttl.scaled_down(1, 6);
    /// timing.retry = timing.ttl.scaled_down(1, 18);
    /// timing.patience = timing.retry;
    /// assert!(config.budget()?.outage >= usual + Duration::from_millis(400));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(parent: &str, claimant: Claimant) -> Self {
        Self {
            common: Common::new(claimant),
            parent: parent.into(),
            tick_time: 2_000,
            alone: false,
        }
    }

    /// The timing of Curator's `LeaderLatch` over a client with its defaults: a session of 60 seconds, and 15 seconds for
    /// whatever needs a connection. Servers with the default tick grant 40 of the 60.
    ///
    /// Its connection policies have no place here: a tenure outlasts a connection, as with `SessionConnectionStateErrorPolicy`,
    /// and ends before the session can, which that policy is late for (LS-29). Kafka's controllers of old, a single ephemeral
    /// node beside an epoch, are another scheme.
    #[must_use]
    pub fn curator(parent: &str, claimant: Claimant) -> Self {
        let mut config = Self::new(parent, claimant);
        config.common.timing = Preset::Curator.timing();
        config
    }

    /// What follows from the parameters, where the servers grant what is asked for.
    ///
    /// # Errors
    /// What leaves no slack, or what ZooKeeper cannot have, with the parameter to move.
    pub fn budget(&self) -> Result<Budget, BudgetError> {
        let parent = &self.parent;
        let is_path = parent.starts_with('/') && !parent.ends_with('/') && !parent.contains("//");
        if !is_path || parent.len() > MAX_PATH {
            return Err(BudgetError::NoPath);
        }
        if self.common.claimant.identity.name().contains('\n') {
            return Err(BudgetError::LineBreak);
        }
        self.budget_of(self.common.timing.ttl)
    }

    /// What follows where the servers granted a session of `ttl`.
    pub(super) fn budget_of(&self, ttl: Duration) -> Result<Budget, BudgetError> {
        let timing = self.timing(ttl);
        let budget = timing.budget(self.common.latency)?;
        // What the last write proved is what was sent before it.
        let lag = self.lag(&timing);
        let needs = timing.renew + timing.retry + self.common.latency + self.common.latency + lag;
        if budget.belief < needs {
            let belief = budget.belief;
            return Err(BudgetError::NoSlack { belief, needs });
        }
        let round_trip = self.common.latency + self.common.latency;
        // What the last write before the outage proved was sent a `lag` before it, and the next is a renewal later. The last that
        // is in vain is noticed by patience and written again at once; or it comes to nothing, and is after a pause. The one
        // after that finds a version that one before the outage made without an answer, which is looked for, and is written.
        let again = timing.patience.max(timing.retry + round_trip);
        let spent = lag + timing.renew + again;
        Ok(Budget {
            // A session ends up to a tick late, and a watch that is silent is noticed at the next look; then who is before it is
            // looked for, and its own node.
            takeover: budget.takeover
                + timing.rate.at_most(timing.renew + self.tick())
                + round_trip,
            outage: timing
                .rate
                .at_least(budget.belief.saturating_sub(spent))
                .saturating_sub(round_trip + round_trip + round_trip),
            ..budget
        })
    }

    /// How long things take in a session of `ttl`: not longer than they should in one that is shorter than was asked for.
    pub(super) fn timing(&self, ttl: Duration) -> Timing {
        let (asked, usual) = (self.common.timing, Timing::of(ttl));
        Timing {
            ttl,
            renew: asked.renew.min(usual.renew),
            retry: asked.retry.min(usual.retry),
            ..asked
        }
    }

    /// `tickTime`.
    pub(super) fn tick(&self) -> Duration {
        Duration::from_millis(self.tick_time.into())
    }

    /// How long before its own send a write proves that the session went on.
    fn lag(&self, timing: &Timing) -> Duration {
        let soonest = self.tick() + self.common.latency + self.common.latency;
        if self.alone {
            Duration::ZERO
        } else if soonest <= timing.renew.scaled_down(9, 10) {
            timing.renew
        } else {
            soonest + timing.renew
        }
    }
}
