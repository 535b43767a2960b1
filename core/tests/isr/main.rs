//! Kafka's brokers and partitions: by hand, and under a hostile host, network and log, with the invariants judged from outside.

mod client;
mod cluster;
mod judge;
mod ledger;
mod mischief;
mod storms;
