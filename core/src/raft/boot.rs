//! How a life begins: from what the disk holds, which is looked at first.

use super::config::{MAX_INDEX, MAX_TERM, MAX_TIMEOUT};
use super::durable::Durable;
use super::refuse::Counter;
use super::{Boot, Config, ConfigError, Faithful, Raft, Role, Rule, Rules, Stored, change};
use crate::Instant;
use crate::random::Random;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

impl Raft {
    /// A voter that keeps every rule.
    ///
    /// With a durable record it first waits out the longest promise it may have given (law C5); without one it never ran.
    ///
    /// # Errors
    /// An unsafe pair of parameters, or a record or log that cannot be this node's; each with its remedy.
    pub fn new(config: Config, boot: Boot, now: Instant) -> Result<Self, ConfigError> {
        Self::with_rules(config, boot, now, Faithful)
    }
}

impl<R: Rules> Raft<R> {
    /// A voter with some rules switched off.
    ///
    /// # Errors
    /// As [`Raft::new`].
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
        let Stored {
            mut record,
            log,
            members,
        } = stored.unwrap_or_default();
        if record.term > MAX_TERM {
            return Err(ConfigError::RecordTerm(record.term));
        }
        if let Some(id) = record.vote.filter(|_| record.term == 0) {
            return Err(ConfigError::RecordVote(id));
        }
        if record.promise > MAX_TIMEOUT {
            return Err(ConfigError::RecordPromise(record.promise));
        }
        if record.generation > config.generation {
            let (recorded, configured) = (record.generation, config.generation);
            return Err(ConfigError::GenerationFell {
                recorded,
                configured,
            });
        }
        if log.last().term > record.term {
            return Err(ConfigError::LogBeyondRecord {
                log: log.last().term,
                record: record.term,
            });
        }
        if log.last().index > MAX_INDEX {
            return Err(ConfigError::LogTooLong(log.last().index));
        }
        let (change, end) = (members.newest_index(), log.last().index);
        if change > end {
            return Err(ConfigError::MembersBeyondLog { change, log: end });
        }
        let newest = members.newest().unwrap_or(config.voters.membership());
        let membership = change::in_force(&rules, newest.clone());
        let mut durable = Durable::new(incarnation, log.last().index);
        // A raised generation is written with the first record of this life, before anything is said in it.
        durable.changed = record.generation != config.generation;
        record.generation = config.generation;
        let mut raft = Self {
            random: Random::new(seed, config.id, incarnation),
            now,
            lease: config.timing.lease(config.timing.promise()),
            record,
            durable,
            commit: log.base().index,
            log,
            members,
            matched: 0,
            owed: None,
            acknowledged: 0,
            role: Role::Follower,
            leader: None,
            promise: None,
            heard: Box::default(),
            membership,
            progress: Vec::new(),
            unsent: false,
            cursor: 0,
            round: 0,
            reads: None,
            spoke: now,
            lacking: None,
            grants: 0,
            armed_at: now,
            due: None,
            began: now,
            until: Instant::ZERO,
            covered: false,
            established: false,
            transfer: None,
            excluded: 0,
            released: 0,
            yielded: false,
            failed: 0,
            halted: false,
            refusals: Counter::NEVER,
            // A follower at rest queues one piece of news or answer, and one record.
            outbox: VecDeque::with_capacity(2),
            config,
            rules,
        };
        if raft.keeps(Rule::PromiseOutlivesRestart) {
            raft.wait_out_promises();
        }
        raft.await_leader();
        Ok(raft)
    }
}
