//! One of everything that has bytes, made of parts: fixed ones for the record, or any.

use proptest::prelude::*;
use std::fmt::Debug;
use std::sync::Arc;
use tenure::log::Position;
use tenure::membership::{Member, Membership, Part};
use tenure::raft::{Better, Entries, LogWrite, Message, Record, Stored, Write};
use tenure::{Duration, Instant, NodeId};

/// What messages and writes are made of.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) term: u64,
    pub(crate) asked: u64,
    pub(crate) index: u64,
    pub(crate) number: u64,
    pub(crate) at: Position,
    pub(crate) sent: Instant,
    pub(crate) span: Duration,
    pub(crate) node: Option<NodeId>,
    pub(crate) generation: u32,
    pub(crate) membership: Arc<Membership>,
}

/// Fields that differ.
pub(crate) fn distinct() -> Parts {
    let members = [
        (1, Part::Outgoing),
        (2, Part::Voter),
        (3, Part::Incoming),
        (300, Part::Learner),
        (301, Part::OutgoingLearner),
    ];
    Parts {
        term: 300,
        asked: 299,
        index: 70_001,
        number: 5,
        at: Position::new(298, 70_000),
        sent: Instant::from_micros(1_234_567),
        span: Duration::from_millis(150),
        node: Some(NodeId(2)),
        generation: 1,
        membership: group(members.map(|(id, part)| Member {
            id: NodeId(id),
            part,
        })),
    }
}

pub(crate) fn group(members: impl IntoIterator<Item = Member>) -> Arc<Membership> {
    Arc::new(Membership::from_members(members).unwrap())
}

/// The entries there are.
fn entries(parts: &Parts) -> [Entries; 3] {
    let (term, count) = (parts.term, parts.number);
    let to = parts.membership.clone();
    [
        Entries::NONE,
        Entries::Run { term, count },
        Entries::Change { term, to },
    ]
}

/// One of each kind, more where a part of it is one of several.
pub(crate) fn messages(parts: &Parts) -> Vec<Message> {
    let Parts {
        term,
        asked,
        index,
        number,
        at,
        sent,
        span: promise,
        node: to,
        ..
    } = *parts;
    let (remainder, matched, commit, released) = (promise, index, asked, asked);
    let (last, prev, hint, after, round) = (at, at, at, at, number);
    let membership = parts.membership.clone();
    #[rustfmt::skip]
    let mut messages = vec![
        Message::RequestPreVote { term, last, sent, released },
        Message::PreVoteGranted { term, remainder, sent },
        Message::PreVoteRefused { asked, term, better: None },
        Message::PreVoteRefused { asked, term, better: Some(Better { last, remainder, sent }) },
        Message::RequestVote { term, last, released },
        Message::VoteGranted { term },
        Message::VoteRefused { asked, term },
        Message::Heartbeat { term, sent, round, commit },
        Message::HeartbeatAck { term, sent, round, promise, matched },
        Message::HeartbeatRefused { asked, term },
        Message::Release { term, to: None, orderly: false },
        Message::Release { term, to, orderly: true },
        Message::AppendAck { term, sent, promise, matched },
        Message::AppendRefused { term, sent, promise, prev: index, hint },
        Message::Commit { term, index },
        Message::InstallSnapshot { term, sent, last, membership: membership.clone() },
        Message::SuffixSnapshot { term, sent, base: prev, membership, last },
        Message::Fetch { term, sent, after },
        Message::ReadIndex { term, number },
        Message::ReadIndexAck { term, number, index },
        Message::NotMember { asked, index },
    ];
    #[rustfmt::skip]
    let carrying = |entries: Entries| [
        Message::Append { term, sent, prev, entries: entries.clone(), commit },
        Message::Suffix { term, sent, prev, entries, last },
    ];
    messages.extend(entries(parts).into_iter().flat_map(carrying));
    messages
}

pub(crate) fn record(parts: &Parts) -> Record {
    Record {
        term: parts.term,
        vote: parts.node,
        promise: parts.span,
        generation: parts.generation,
    }
}

pub(crate) fn writes(parts: &Parts) -> Vec<Write> {
    let (last, upto, after) = (parts.at, parts.at, parts.at);
    let membership = parts.membership.clone();
    let mut logs = vec![
        LogWrite::Keep,
        LogWrite::Compact {
            upto,
            membership: membership.clone(),
        },
        LogWrite::Install { last, membership },
    ];
    logs.extend(entries(parts).map(|entries| LogWrite::Append { after, entries }));
    let record = record(parts);
    logs.into_iter().map(|log| Write { record, log }).collect()
}

/// A disk that was written all this, in its order.
fn folded(parts: &Parts, logs: impl IntoIterator<Item = LogWrite>) -> Stored {
    let mut stored = Stored::default();
    let record = record(parts);
    for log in logs {
        stored.apply(&Write { record, log }).unwrap();
    }
    stored
}

pub(crate) fn disks(parts: &Parts) -> Vec<Stored> {
    let membership = parts.membership.clone();
    let append = |after, entries| LogWrite::Append { after, entries };
    let run = |term, count| Entries::Run { term, count };
    let to = membership.clone();
    let log = [
        append(Position::START, run(1, 3)),
        append(Position::new(1, 3), run(3, 200)),
        append(Position::new(3, 203), Entries::Change { term: 3, to }),
        append(Position::new(3, 204), run(9, 1)),
    ];
    let compact = LogWrite::Compact {
        upto: Position::new(3, 100),
        membership: membership.clone(),
    };
    let install = LogWrite::Install {
        last: parts.at,
        membership,
    };
    vec![
        Stored::default(),
        folded(parts, [LogWrite::Keep]),
        folded(parts, log.clone()),
        folded(parts, log.into_iter().chain([compact])),
        folded(parts, [install]),
    ]
}

/// Integers of every length, the ends of their range among them.
fn integer() -> impl Strategy<Value = u64> {
    prop_oneof![
        (any::<u64>(), 0u32..64).prop_map(|(bits, shift)| bits >> shift),
        Just(u64::MAX),
    ]
}

/// A group of up to nine, the first of them a voter of both halves.
fn membership() -> impl Strategy<Value = Arc<Membership>> {
    let part = prop_oneof![
        Just(Part::Learner),
        Just(Part::Voter),
        Just(Part::Incoming),
        Just(Part::Outgoing),
        Just(Part::OutgoingLearner),
    ];
    let others = proptest::collection::btree_map(integer(), part, 0..8);
    (integer(), others).prop_map(|(first, mut others)| {
        others.insert(first, Part::Voter);
        group(others.into_iter().map(|(id, part)| Member {
            id: NodeId(id),
            part,
        }))
    })
}

fn parts() -> impl Strategy<Value = Parts> {
    let numbers = (integer(), integer(), integer(), integer(), integer());
    let node = proptest::option::of(integer().prop_map(NodeId));
    let rest = (integer(), node, any::<u32>(), membership());
    (numbers, rest).prop_map(|(numbers, (micros, node, generation, membership))| {
        let (term, asked, index, number, other) = numbers;
        Parts {
            term,
            asked,
            index,
            number,
            // A snapshot ends with an entry.
            at: Position::new(other.max(1), index.max(1)),
            sent: Instant::from_micros(micros),
            span: Duration::from_micros(other),
            node,
            generation,
            membership,
        }
    })
}

/// One of what `all` makes of any parts.
fn one<T: Clone + Debug>(all: fn(&Parts) -> Vec<T>) -> impl Strategy<Value = T> {
    let of = all(&distinct()).len();
    (0..of, parts()).prop_map(move |(which, parts)| all(&parts)[which].clone())
}

pub(crate) fn message() -> impl Strategy<Value = Message> {
    one(messages)
}

pub(crate) fn write() -> impl Strategy<Value = Write> {
    one(writes)
}

pub(crate) fn disk() -> impl Strategy<Value = Stored> {
    one(disks)
}
