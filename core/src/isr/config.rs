//! How controllers, brokers and replicas are configured, and how a life of each begins.

use crate::log::Shape;
use crate::{Duration, NodeId};
use core::fmt;

/// How a controller decides. The same on every controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerConfig {
    /// `broker.session.timeout.ms`: a broker that is silent for so long is fenced.
    pub session: Duration,
    /// How often it is looked whether one is; a broker is fenced up to so much late.
    pub check: Duration,
    /// `leader.imbalance.check.interval.seconds`: how often leadership goes back to preferred replicas; never when
    /// [`None`](Option::None), as with `auto.leader.rebalance.enable=false`.
    pub balance: Option<Duration>,
    /// `leader.imbalance.per.broker.percentage`: of the partitions that prefer a broker, how many in a hundred may be led by
    /// another without anything being done.
    pub imbalance: u8,
    /// How often partitions without a leader are looked at whose topic allows an unclean election.
    pub unclean: Duration,
    /// `eligible.leader.replicas.version`: whether there are ELRs (KIP-966).
    pub elr: bool,
}

impl ControllerConfig {
    /// The defaults of Kafka 4 with eligible leader replicas.
    pub const KAFKA: Self = Self {
        session: Duration::from_secs(9),
        check: Duration::from_millis(1_125),
        balance: Some(Duration::from_secs(300)),
        imbalance: 10,
        unclean: Duration::from_secs(300),
        elr: true,
    };

    /// Checks what can be useless.
    ///
    /// # Errors
    /// The parameter, with the remedy.
    pub fn check(&self) -> Result<(), ConfigError> {
        for (name, value) in [
            ("session", self.session),
            ("check", self.check),
            ("balance", self.balance.unwrap_or(self.check)),
            ("unclean", self.unclean),
        ] {
            positive(name, value)?;
        }
        if self.check > self.session {
            return Err(ConfigError::ChecksTooSeldom {
                check: self.check,
                session: self.session,
            });
        }
        if self.imbalance > 100 {
            return Err(ConfigError::Percentage(self.imbalance));
        }
        Ok(())
    }
}

/// How a broker keeps its registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokerConfig {
    /// `broker.heartbeat.interval.ms`.
    pub heartbeat: Duration,
    /// How long it waits before it asks again what was refused or not answered.
    pub retry: Duration,
    /// How long an answer may take.
    pub patience: Duration,
}

impl BrokerConfig {
    /// Kafka's defaults.
    pub const KAFKA: Self = Self {
        heartbeat: Duration::from_secs(2),
        retry: Duration::from_millis(100),
        patience: Duration::from_millis(4_500),
    };

    /// Checks what can be useless.
    ///
    /// # Errors
    /// The parameter, with the remedy.
    pub fn check(&self) -> Result<(), ConfigError> {
        positive("heartbeat", self.heartbeat)?;
        positive("retry", self.retry)?;
        positive("patience", self.patience)
    }
}

/// How a replica is kept in sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaConfig {
    /// `replica.lag.time.max.ms`: a follower that was not caught up for so long leaves the ISR.
    pub lag: Duration,
    /// `replica.fetch.wait.max.ms`: how long a leader keeps a question to which it has nothing to say.
    pub wait: Duration,
    /// How long a follower waits before it asks again what was refused.
    pub backoff: Duration,
    /// `replica.socket.timeout.ms`: how long an answer may take, of another replica or of the controller.
    pub patience: Duration,
    /// The most records that one answer brings.
    pub batch: u64,
    /// Whether there are ELRs, as the controllers have it.
    pub elr: bool,
}

impl ReplicaConfig {
    /// Kafka's defaults.
    pub const KAFKA: Self = Self {
        lag: Duration::from_secs(30),
        wait: Duration::from_millis(500),
        backoff: Duration::from_millis(1_000),
        patience: Duration::from_secs(30),
        batch: 10_000,
        elr: true,
    };

    /// Checks what can be useless together.
    ///
    /// # Errors
    /// The parameter, with the remedy.
    pub fn check(&self) -> Result<(), ConfigError> {
        for (name, value) in [
            ("lag", self.lag),
            ("wait", self.wait),
            ("backoff", self.backoff),
            ("patience", self.patience),
        ] {
            positive(name, value)?;
        }
        if self.batch == 0 {
            return Err(ConfigError::Zero("batch"));
        }
        if self.wait >= self.patience {
            return Err(ConfigError::WaitsTooLong {
                wait: self.wait,
                patience: self.patience,
            });
        }
        if self.wait >= self.lag {
            return Err(ConfigError::LagTooShort {
                lag: self.lag,
                wait: self.wait,
            });
        }
        Ok(())
    }
}

fn positive(name: &'static str, value: Duration) -> Result<(), ConfigError> {
    if value == Duration::ZERO {
        Err(ConfigError::Zero(name))
    } else {
        Ok(())
    }
}

/// How a life of a broker begins, and those of its replicas with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokerBoot {
    /// Who it is. Another life of the same broker has the same.
    pub broker: NodeId,
    /// A number that no other life of a broker had or will have.
    pub incarnation: u64,
    /// The proof that its last life went in good order: the broker epoch that [`Stopped`](super::BrokerEvent::Stopped) told
    /// it to keep. The host forgets it durably *before* it boots, so that it proves one life alone.
    pub clean: Option<u64>,
}

/// How a life of a replica begins: with what its disk has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaBoot {
    /// Whose replica it is.
    pub broker: NodeId,
    /// The incarnation of that broker.
    pub incarnation: u64,
    /// What its log has.
    pub log: Shape,
    /// How much of it was known to be committed when that was written down last.
    pub high_watermark: u64,
}

/// Why a configuration is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A parameter of this name is zero.
    Zero(&'static str),
    /// It is looked for silent brokers more seldom than they fall silent.
    ChecksTooSeldom {
        /// How often.
        check: Duration,
        /// After how long a broker is silent.
        session: Duration,
    },
    /// More than a hundred in a hundred.
    Percentage(u8),
    /// A leader keeps a question for longer than its asker waits.
    WaitsTooLong {
        /// For so long.
        wait: Duration,
        /// How long the asker waits.
        patience: Duration,
    },
    /// A follower counts as behind while its leader keeps its question.
    LagTooShort {
        /// After so long.
        lag: Duration,
        /// For how long it is kept.
        wait: Duration,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero(name) => write!(f, "{name} is zero: use at least one"),
            Self::ChecksTooSeldom { check, session } => write!(
                f,
                "silent brokers are looked for every {check}, and a session ends after {session}: lower check to an eighth of session"
            ),
            Self::Percentage(imbalance) => write!(
                f,
                "an imbalance of {imbalance} in a hundred is none: use at most 100"
            ),
            Self::WaitsTooLong { wait, patience } => write!(
                f,
                "a question is kept for {wait}, and its asker gives up on it after {patience}: lower wait, or raise patience"
            ),
            Self::LagTooShort { lag, wait } => write!(
                f,
                "a follower counts as behind after {lag}, and may wait for an answer for {wait}: raise lag, or lower wait"
            ),
        }
    }
}

impl core::error::Error for ConfigError {}
