//! What the kinds of messages are in the events of the trace.

use tenure::sentinel::Message;

pub(crate) const PING: i64 = 70;
pub(crate) const PONG: i64 = 71;
pub(crate) const INFO: i64 = 72;
pub(crate) const TOLD: i64 = 73;
pub(crate) const ASK: i64 = 74;
pub(crate) const ANSWER: i64 = 75;
pub(crate) const HELLO: i64 = 76;
pub(crate) const REPLICA_OF: i64 = 77;
pub(crate) const PSYNC: i64 = 78;
pub(crate) const STREAM: i64 = 79;
pub(crate) const FULL: i64 = 80;
pub(crate) const CLOSED: i64 = 81;

/// What they are called, from the first on.
#[cfg(not(target_family = "wasm"))]
pub(crate) const NAMES: [&str; 12] = [
    "ping",
    "pong",
    "info",
    "told",
    "is-master-down",
    "master-down-answer",
    "hello",
    "replicaof",
    "psync",
    "stream",
    "full-sync",
    "closed",
];

/// The code of a message in the trace.
#[must_use]
pub(crate) const fn message_kind(message: &Message) -> u8 {
    (match message {
        Message::Ping { .. } => PING,
        Message::Pong { .. } => PONG,
        Message::Info { .. } => INFO,
        Message::Told { .. } => TOLD,
        Message::Ask { .. } => ASK,
        Message::Answer { .. } => ANSWER,
        Message::Hello(_) => HELLO,
        Message::ReplicaOf(_) => REPLICA_OF,
        Message::Psync { .. } => PSYNC,
        Message::Stream { .. } => STREAM,
        Message::Full(_) => FULL,
        Message::Closed => CLOSED,
    }) as u8
}

/// The epoch that a message speaks of.
#[must_use]
pub(crate) const fn epoch(message: &Message) -> Option<u64> {
    match message {
        Message::Ask {
            epoch,
            candidate: Some(_),
            ..
        } => Some(*epoch),
        Message::Answer {
            leader: Some(_),
            epoch,
            ..
        } => Some(*epoch),
        Message::Hello(hello) => Some(hello.config_epoch),
        _ => None,
    }
}
