//! How a life begins: from what the disk holds, which is looked at first.

use super::config::{MAX_EPOCH, MAX_INDEX};
use super::durable::Durable;
use super::look::Looking;
use super::reads::Reads;
use super::refuse::Counter;
use super::vote::{State, Told, Vote};
use super::{Boot, Config, ConfigError, Faithful, Request, Role, Rules, Zab};
use crate::Instant;
use crate::random::Random;
use alloc::collections::VecDeque;

impl Zab {
    /// A member that keeps every rule. It begins to look for a leader at once.
    ///
    /// # Errors
    /// An impossible parameter, or a disk that cannot be this node's; each with its remedy.
    pub fn new(config: Config, boot: Boot, now: Instant) -> Result<Self, ConfigError> {
        Self::with_rules(config, boot, now, Faithful)
    }
}

impl<R: Rules> Zab<R> {
    /// A member with some rules switched off.
    ///
    /// # Errors
    /// As [`Zab::new`].
    pub fn with_rules(
        config: Config,
        boot: Boot,
        now: Instant,
        rules: R,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        let Boot {
            stored,
            incarnation,
            seed,
        } = boot;
        if incarnation == 0 {
            return Err(ConfigError::IncarnationZero);
        }
        let place = config.ensemble.place(config.id);
        let place = place.ok_or(ConfigError::NotAMember(config.id))?;
        // That a disk had nothing must outlive what is written to it next (Z-261): a promise alone would make it pass for the disk
        // of a node that knows it has no history.
        let found = stored.is_none() && !config.autocreate;
        let stored = stored.unwrap_or_default();
        let blank = found || stored.blank && !config.autocreate;
        let (accepted, current, end) = (stored.accepted, stored.current, stored.log.last());
        // A log of an epoch above the current one is what a crash leaves between two steps of ZAB-S10. The node then counts by
        // its current epoch; ZooKeeper tells this window by a temporary file, and takes the epoch over.
        let below = current.max(end.term);
        if accepted < below {
            return Err(ConfigError::AcceptedFell { accepted, below });
        }
        if accepted > MAX_EPOCH {
            return Err(ConfigError::EpochTooHigh(accepted));
        }
        if end.index > MAX_INDEX {
            return Err(ConfigError::LogTooLong(end));
        }
        if stored.beside.is_some() || stored.synced != end.index {
            return Err(ConfigError::NotACrashedDisk);
        }
        let vote = Vote {
            leader: config.id,
            zxid: None,
            epoch: 0,
        };
        let mut zab = Self {
            random: Random::new(seed, config.id, incarnation),
            now,
            place,
            blank,
            accepted,
            current,
            durable: Durable::new(incarnation, end.index),
            replayed: end.index,
            commit: stored.log.base().index,
            log: stored.log,
            round: 0,
            vote: Told {
                vote,
                round: 0,
                state: State::Looking,
            },
            role: Role::Looking,
            looking: Looking::new(config.ensemble.members().len(), vote, now),
            leading: None,
            learning: None,
            reads: Reads::new(),
            halted: false,
            refusals: Counter::NEVER,
            outbox: VecDeque::with_capacity(4),
            config,
            rules,
        };
        if found {
            zab.request(Request::Blank);
        }
        zab.settle();
        Ok(zab)
    }
}
