//! What of messages and writes goes into the hash of the trace beside their events.

use crate::physics::trace::Trace;
use tenure::log::Position;
use tenure::zab::{Entries, Message, Packet, Request};

/// Feeds what the events of a message do not show into the trace: all but kind and epoch.
pub(crate) fn fold(message: &Message, trace: &mut Trace) {
    let (link, number, packet) = match message {
        Message::Notification(told) => {
            trace.mix(told.state as u64);
            trace.mix(told.round);
            trace.mix(told.vote.leader.0);
            fold_some(told.vote.zxid, trace);
            return;
        }
        Message::Packet {
            link,
            number,
            packet,
        } => (link, number, packet),
    };
    trace.mix(link.learner);
    trace.mix(link.leader);
    trace.mix(*number);
    match packet {
        Packet::LearnerInfo { accepted: _ }
        | Packet::LeaderInfo { epoch: _ }
        | Packet::NewLeader { epoch: _ }
        | Packet::Diff
        | Packet::AckNewLeader
        | Packet::UpToDate
        | Packet::Closed => {}
        Packet::AckEpoch { current, last } => {
            trace.mix(current.map_or(0, |epoch| epoch + 1));
            fold_position(*last, trace);
        }
        Packet::Trunc { to: last } | Packet::Snap { last } => fold_position(*last, trace),
        Packet::Proposal(entries) | Packet::Inform(entries) => fold_entries(entries, trace),
        Packet::Commit { upto: what }
        | Packet::Ack { upto: what }
        | Packet::Ping { round: what }
        | Packet::Sync { number: what } => trace.mix(*what),
    }
}

/// Feeds a step of the disk into the trace.
pub(super) fn write(request: &Request, trace: &mut Trace) {
    let mut step = |kind, what| {
        trace.mix(kind);
        trace.mix(what);
    };
    match request {
        Request::Accepted(epoch) => step(1, *epoch),
        Request::Current(epoch) => step(2, *epoch),
        Request::Append(entries) => {
            step(3, entries.epoch);
            fold_entries(entries, trace);
        }
        Request::Sync => step(4, 0),
        Request::Truncate { to } => {
            step(5, to.term);
            fold_position(*to, trace);
        }
        Request::Install { last } => {
            step(6, last.term);
            fold_position(*last, trace);
        }
        Request::Compact { upto } => {
            step(7, upto.term);
            fold_position(*upto, trace);
        }
        Request::Blank => step(8, 0),
    }
}

fn fold_entries(entries: &Entries, trace: &mut Trace) {
    fold_position(entries.after, trace);
    trace.mix(entries.count);
}

fn fold_position(at: Position, trace: &mut Trace) {
    trace.mix(at.term);
    trace.mix(at.index);
}

fn fold_some(at: Option<Position>, trace: &mut Trace) {
    match at {
        None => trace.mix(0),
        Some(at) => {
            trace.mix(1);
            fold_position(at, trace);
        }
    }
}
