//! Kafka's brokers and partitions: what a controller decides of them, and what a partition's replicas make of it.
//!
//! A few controllers keep one ordered log of metadata; whichever of them leads the log decides who of many brokers leads each of
//! many partitions. Nobody votes for a partition's leader: it is whoever the log says, out of those that are known to have
//! everything, the *in-sync replicas*. That takes three machines, each as pure as an [`Election`](crate::Election) and driven the
//! same way, with `now` as an argument, one deadline, and outputs that are polled:
//!
//! - [`Controller`]: registrations, sessions, fencing, controlled shutdown; topics; who leads ([`Election`]); who is in sync. It
//!   stands on any ordered log: whoever leads that [claims](Controller::claim), appends what is put out, and tells what is
//!   committed.
//! - [`Broker`]: registers, is heard of, and goes in good order; and reads the log, of which it applies what is committed.
//! - [`Replica`]: leads one partition or follows, keeps the shape of its log ([`Shape`](crate::log::Shape)) and knows how much
//!   is committed.
//!
//! # Who leads, who takes over, what stops the old leader
//! **Who leads.** A partition: the broker that the metadata log names, in a leader epoch that rises whenever that is written.
//!
//! **Who takes over.** The first in the partition's order that is active and in sync; or, when nobody is in sync, who is known to
//! have all that was committed (the ELR of KIP-966); or the one that led last, or anybody where the topic allows it, and both
//! are marked, for they may lack something.
//! The controller sees to it when a broker is silent for a [session](ControllerConfig::session), registers anew, or is about to go.
//!
//! **What stops the old leader.** Epochs, each checked by whoever receives it, which makes this the best worked example of fencing
//! among the schemes here:
//!
//! | token | of whom | checked by |
//! |---|---|---|
//! | epoch of the metadata log | controllers | the log |
//! | broker epoch: the offset of a registration | brokers | the controller; leaders, of who follows |
//! | leader epoch | replicas, clients | replicas |
//! | partition epoch | who changes the ISR | the controller |
//!
//! And what is committed waits for everybody who may be in sync: an old leader that nobody told finds that it commits nothing.
//! It has no lease: it may believe for as long as nobody tells it, and its producers with `acks=1` believe it. **That is broken by
//! design**: what a leader alone acknowledged goes with it ([`Acks::Leader`]).
//!
//! # Invariants
//! Those of [`Invariant`] hold whatever the network, the host and the metadata log do, and are checked in `core/tests/isr`: by
//! random schedules, with every [`Rule`] switched off in turn, and by every public report that is cited there.
//! [`CleanNoLoss`](Invariant::CleanNoLoss) is the promise to who waits for all. It holds without ELR as long as nobody who is in
//! sync loses its disk's tail; with it, whoever loses it.
//!
//! # Where it is safer than Kafka
//! - Every prefix of what is decided at once keeps the invariants: a broker leaves before it is fenced, and is unfenced before it leads,
//!   however far one has read.
//! - A follower takes an answer to the question that is open, once. (Kafka has that from TCP.)
//! - What a leader asked of the ISR twice, and was refused, may still be granted by the first time: the high watermark waits for it,
//!   until another state of the partition settles that. For this a granted wish is always written, be it the state as it is.
//!
//! # What is left out
//! Listeners and endpoints, racks, reassignment and directories: a partition's replicas are the same for as long as it is there.
//! Quotas, transactions, the versions of features (the newest is meant). Snapshots of the metadata, and the beginnings of logs,
//! which retention cuts off. The follower that a consumer reads from (KIP-392). Who leads the metadata log.
//!
//! # At a glance
//! **What it costs.** A heartbeat of each broker every two seconds; a question of each follower every half second, when there is
//! nothing to copy. A takeover costs a session and a check (9 to 10.2 seconds), and a record for each partition.
//!
//! **When it suffices.** Many logs among the same machines, where a quorum for each would be too much: with f + 1 copies f
//! crashes lose nothing, where a vote needs 2f + 1. It needs somebody to decide, though, and that one needs a quorum.
//!
//! **What breaks it.** Disks that lose what was written last, on everybody who is in sync, without ELR; `acks=1`; elections that
//! are unclean, and allowed.

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
