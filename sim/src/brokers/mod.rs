//! Kafka's brokers beside the quorum of its controllers: servers that register, lead partitions or follow, and serve producers
//! and consumers.
//!
//! Whoever leads the quorum decides by `Office` what becomes of brokers and partitions; what it decides are the records of
//! the quorum's log. `BrokerServer` is a broker with its replicas and what its disk has, in the process and by the clock of a
//! server of the world; it fetches the log and applies what is committed. `Customer` produces, consumes, and has topics made.
//!
//! # What is left out
//! A broker's own copy of the metadata log: each life fetches it from the beginning. Snapshots of it, so that no controller
//! lets entries go. Idempotent producers: what is tried again is another record. A broker flushes its logs and writes its high
//! watermarks down together, now and then. Several log directories: a broker has one disk, and ends when that fails.

mod client;
pub(crate) mod code;
mod disk;
mod office;
mod reader;
pub(crate) mod said;
mod server;
pub mod shown;

pub(crate) use client::Customer;
pub(crate) use office::{Away, Office};
pub(crate) use said::Said;
pub(crate) use server::{BrokerServer, Ended, News};

/// How many clients there are.
pub(crate) const CUSTOMERS: u16 = 2;

use tenure::Duration;
use tenure::isr::{Acks, BrokerConfig, ConfigError, ControllerConfig, ReplicaConfig, Switched};

/// Brokers, what they keep, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// How many brokers.
    pub count: usize,
    /// How many topics are made at the start.
    pub topics: u64,
    /// Of how many partitions each.
    pub partitions: u32,
    /// On how many brokers each partition is.
    pub replication: u8,
    /// `min.insync.replicas`.
    pub min_isr: u8,
    /// `unclean.leader.election.enable`.
    pub unclean: bool,
    /// `eligible.leader.replicas.version`: whether there are ELRs.
    pub elr: bool,
    /// What producers wait for.
    pub acks: Acks,
    /// `broker.session.timeout.ms`.
    pub session: Duration,
    /// `broker.heartbeat.interval.ms`.
    pub heartbeat: Duration,
    /// `replica.lag.time.max.ms`.
    pub lag: Duration,
    /// `replica.fetch.wait.max.ms`.
    pub wait: Duration,
    /// How often a topic is deleted and another one made; never when `None`.
    pub recreate: Option<Duration>,
    /// Which rules are kept.
    pub rules: Switched,
}

impl Params {
    /// How the controllers decide.
    #[must_use]
    pub fn controller(&self) -> ControllerConfig {
        ControllerConfig {
            session: self.session,
            check: eighth(self.session),
            elr: self.elr,
            ..ControllerConfig::KAFKA
        }
    }

    /// How brokers keep their registration.
    #[must_use]
    pub fn broker(&self) -> BrokerConfig {
        BrokerConfig {
            heartbeat: self.heartbeat,
            retry: self.retry(),
            patience: half(self.session),
        }
    }

    /// How replicas are kept in sync. On connections that keep the order, silence for four waits is the end of one: whoever
    /// waits asks anew.
    #[must_use]
    pub fn replica(&self) -> ReplicaConfig {
        ReplicaConfig {
            lag: self.lag,
            wait: self.wait,
            backoff: self.wait.scaled_up(2, 1),
            patience: self.wait.scaled_up(4, 1),
            elr: self.elr,
            ..ReplicaConfig::KAFKA
        }
    }

    /// How long whoever was refused waits before it asks again.
    pub(crate) fn retry(&self) -> Duration {
        self.heartbeat.scaled_up(1, 20)
    }

    /// How often a broker flushes its logs and writes its high watermarks down: `replica.high.watermark.checkpoint.interval.ms`
    /// is as long as ten waits.
    pub(crate) fn flush(&self) -> u64 {
        self.wait.scaled_up(10, 1).as_micros()
    }

    /// Whether machines can be built from it.
    ///
    /// # Errors
    /// Parameters that are impossible together.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.controller().check()?;
        self.broker().check()?;
        self.replica().check()
    }

    /// Within what time everybody is in sync again, once nothing is wrong and a controller leads: a session and a check until
    /// the former life of a broker is fenced, an answer that does not come, and the next heartbeat; then what a follower asked
    /// and is not answered, what its leader asked of the controller, and what it has to copy.
    /// In microseconds.
    #[must_use]
    pub fn in_sync_within(&self) -> u64 {
        let broker = self.session.scaled_up(2, 1) + self.heartbeat.scaled_up(2, 1);
        let replica = self.wait.scaled_up(40, 1) + self.lag;
        (broker + replica).as_micros()
    }
}

fn eighth(span: Duration) -> Duration {
    span.scaled_up(1, 8)
}

fn half(span: Duration) -> Duration {
    span.scaled_up(1, 2)
}
