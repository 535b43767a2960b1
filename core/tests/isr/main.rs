//! Kafka's brokers and partitions: by hand, and under a hostile host, network and log, with the invariants judged from outside.

mod bench;
mod by_hand;
mod client;
mod cluster;
mod judge;
mod laws;
mod ledger;
mod mischief;
mod reports;
mod storms;
