//! How a life begins: from what the disk holds (§5.2).

use super::ask::Peer;
use super::config::{MAX_EPOCH, MAX_OFFSET};
use super::durable::Durable;
use super::{
    Boot, Config, ConfigError, Faithful, Kraft, Refusals, ReplicaKey, Role, Rule, Rules, Stored,
};
use crate::Instant;
use crate::random::Random;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

impl Kraft {
    /// A node that keeps every rule.
    ///
    /// # Errors
    /// Parameters that cannot work together, or a disk that cannot be this node's; each with its remedy.
    pub fn new(config: Config, boot: Boot, now: Instant) -> Result<Self, ConfigError> {
        Self::with_rules(config, boot, now, Faithful)
    }
}

impl<R: Rules> Kraft<R> {
    /// A node with some rules switched off.
    ///
    /// # Errors
    /// As [`Kraft::new`].
    pub fn with_rules(
        config: Config,
        boot: Boot,
        now: Instant,
        rules: R,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        let Boot {
            stored,
            directory,
            incarnation,
            seed,
        } = boot;
        if incarnation == 0 {
            return Err(ConfigError::IncarnationZero);
        }
        let stored = stored.unwrap_or_default();
        check(&config, &stored)?;
        let Stored { mut state, log } = stored;
        let mut durable = Durable::new(incarnation, log.last().index);
        // A raised generation is written before anything is said in this life.
        durable.changed = state.generation != config.generation;
        state.generation = config.generation;
        let peers = config.voters.ids().iter().map(|_| Peer::new(now)).collect();
        let mut kraft = Self {
            key: ReplicaKey::new(config.id, directory),
            random: Random::new(seed, config.id, incarnation),
            now,
            state,
            durable,
            high_watermark: log.base().index,
            applied: log.base().index,
            log,
            role: Role::Unattached,
            leader: None,
            due: None,
            armed_at: now,
            fetched: false,
            retries: 0,
            backing_off: false,
            peers,
            correlation: 0,
            reign: None,
            parked: Vec::new(),
            successors: Arc::default(),
            halted: false,
            refusals: Refusals::default(),
            outbox: VecDeque::with_capacity(4),
            config,
            rules,
        };
        kraft.begin();
        kraft.settle();
        Ok(kraft)
    }

    /// The state that follows from the disk, in the order of §5.2.
    fn begin(&mut self) {
        let votes = self.is_voter();
        let end = self.log.last().term;
        if self.state.epoch < end {
            self.raise_epoch(end);
            return self.become_unattached();
        }
        if self.state.leader == Some(self.config.id) {
            match (votes, self.keeps(Rule::RestartedLeaderResigns)) {
                (false, _) => {
                    self.raise_epoch((self.state.epoch + 1).min(MAX_EPOCH));
                    return self.become_unattached();
                }
                (true, true) => return self.begin_resigned(),
                (true, false) => self.state.leader = None,
            }
        }
        let own = self.state.voted.is_some_and(|voted| voted.names(self.key));
        match self.state.leader {
            None if own && votes => self.begin_candidacy(),
            Some(leader) if self.config.voters.place(leader).is_some() => {
                self.become_follower(leader)
            }
            _ => self.become_unattached(),
        }
    }
}

fn check(config: &Config, stored: &Stored) -> Result<(), ConfigError> {
    let Stored { state, log } = stored;
    if state.epoch > MAX_EPOCH {
        return Err(ConfigError::StoredEpoch(state.epoch));
    }
    let named = state.leader.or(state.voted.map(|voted| voted.id));
    if let Some(id) = named.filter(|_| state.epoch == 0) {
        return Err(ConfigError::StoredInEpochZero(id));
    }
    let last = log.last();
    if last.term > MAX_EPOCH || last.index > MAX_OFFSET {
        return Err(ConfigError::StoredLog {
            epoch: last.term,
            offset: last.index,
        });
    }
    if state.generation > config.generation {
        return Err(ConfigError::GenerationFell {
            recorded: state.generation,
            configured: config.generation,
        });
    }
    Ok(())
}
