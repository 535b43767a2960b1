//! Kafka's brokers and partitions.

mod broker;
mod config;
mod controller;
mod elect;
mod image;
mod places;
mod record;
mod refuse;
mod replica;
mod rules;
mod view;
mod words;

pub use broker::{Broker, BrokerEvent, BrokerOutput, MAX_AHEAD};
pub use config::{
    BrokerBoot, BrokerConfig, ConfigError, ControllerConfig, ReplicaBoot, ReplicaConfig,
};
pub use controller::{ClaimError, Controller, ControllerOutput, MAX_WAITING};
pub use image::{Image, Partition, Registration, Topic};
pub use places::{MAX_REPLICAS, Places};
pub use record::{Change, PartitionId, Record, TopicId};
pub use refuse::{Refusal, Refusals};
pub use replica::{
    Acks, Consumed, Fate, Message, ProduceFault, Replica, ReplicaEvent, ReplicaOutput,
};
pub use rules::{Faithful, Invariant, Rule, Rules, Switched};
pub use view::View;
pub use words::{AlterPartition, Answer, Election, Fault, MAX_PARTITIONS, Member, Request};
