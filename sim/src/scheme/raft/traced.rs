//! What of messages and writes goes into the hash of the trace beside their events.

use crate::physics::trace::Trace;
use tenure::log::Position;
use tenure::membership::Membership;
use tenure::raft::{Entries, LogWrite, Message, Record, Write};

/// Feeds what the events of a message do not show into the trace: all but kind and term. What an election without a log
/// leaves empty is not fed.
pub(crate) fn fold(message: &Message, trace: &mut Trace) {
    match message {
        Message::RequestPreVote {
            term: _,
            last,
            sent,
            released,
        } => {
            fold_position(*last, trace);
            trace.mix(sent.as_micros());
            fold_some(*released, trace);
        }
        Message::PreVoteGranted {
            term: _,
            remainder,
            sent,
        } => {
            trace.mix(remainder.as_micros());
            trace.mix(sent.as_micros());
        }
        Message::RequestVote {
            term: _,
            last,
            released,
        } => {
            fold_position(*last, trace);
            fold_some(*released, trace);
        }
        Message::PreVoteRefused {
            asked: _,
            term,
            better,
        } => {
            trace.mix(*term);
            if let Some(better) = better {
                fold_position(better.last, trace);
                trace.mix(better.remainder.as_micros());
                trace.mix(better.sent.as_micros());
            }
        }
        Message::VoteRefused { asked: _, term } | Message::HeartbeatRefused { asked: _, term } => {
            trace.mix(*term);
        }
        Message::VoteGranted { term: _ } => {}
        // A round has the number of those before it in its term: the instant names it as well.
        Message::Heartbeat {
            term: _,
            sent,
            round: _,
            commit,
        } => {
            trace.mix(sent.as_micros());
            fold_some(*commit, trace);
        }
        Message::HeartbeatAck {
            term: _,
            sent,
            round: _,
            promise,
            matched,
        } => {
            trace.mix(sent.as_micros());
            trace.mix(promise.as_micros());
            fold_some(*matched, trace);
        }
        Message::Release {
            term: _,
            to,
            orderly: _,
        } => trace.mix(to.map_or(0, |node| node.0 + 1)),
        Message::Append {
            term: _,
            sent,
            prev,
            entries,
            commit,
        } => {
            trace.mix(sent.as_micros());
            fold_position(*prev, trace);
            fold_entries(entries, trace);
            trace.mix(*commit);
        }
        Message::AppendAck {
            term: _,
            sent,
            promise,
            matched,
        } => {
            trace.mix(sent.as_micros());
            trace.mix(promise.as_micros());
            trace.mix(*matched);
        }
        Message::AppendRefused {
            term: _,
            sent,
            promise,
            prev,
            hint,
        } => {
            trace.mix(sent.as_micros());
            trace.mix(promise.as_micros());
            trace.mix(*prev);
            fold_position(*hint, trace);
        }
        Message::Commit { term: _, index } | Message::NotMember { asked: _, index } => {
            trace.mix(*index);
        }
        Message::InstallSnapshot {
            term: _,
            sent,
            last,
            membership,
        } => {
            trace.mix(sent.as_micros());
            fold_position(*last, trace);
            fold_membership(membership, trace);
        }
        Message::Fetch {
            term: _,
            sent,
            after,
        } => {
            trace.mix(sent.as_micros());
            fold_position(*after, trace);
        }
        Message::Suffix {
            term: _,
            sent,
            prev,
            entries,
            last,
        } => {
            trace.mix(sent.as_micros());
            fold_position(*prev, trace);
            fold_entries(entries, trace);
            fold_position(*last, trace);
        }
        Message::SuffixSnapshot {
            term: _,
            sent,
            base,
            membership,
            last,
        } => {
            trace.mix(sent.as_micros());
            fold_position(*base, trace);
            fold_membership(membership, trace);
            fold_position(*last, trace);
        }
        Message::ReadIndex { term: _, number } => trace.mix(*number),
        Message::ReadIndexAck {
            term: _,
            number,
            index,
        } => {
            trace.mix(*number);
            trace.mix(*index);
        }
    }
}

/// Feeds what the event of a write does not show into the trace: all but term and vote.
pub(super) fn write(write: &Write, trace: &mut Trace) {
    let Record {
        promise,
        generation,
        ..
    } = write.record;
    trace.mix(promise.as_micros() ^ u64::from(generation) << 48);
    match &write.log {
        LogWrite::Keep => {}
        LogWrite::Append { after, entries } => {
            fold_position(*after, trace);
            fold_entries(entries, trace);
        }
        LogWrite::Compact { upto, membership } => {
            trace.mix(1);
            fold_position(*upto, trace);
            fold_membership(membership, trace);
        }
        LogWrite::Install { last, membership } => {
            trace.mix(2);
            fold_position(*last, trace);
            fold_membership(membership, trace);
        }
    }
}

fn fold_some(number: u64, trace: &mut Trace) {
    if number > 0 {
        trace.mix(number);
    }
}

fn fold_position(Position { term, index }: Position, trace: &mut Trace) {
    trace.mix(term);
    trace.mix(index);
}

fn fold_entries(entries: &Entries, trace: &mut Trace) {
    trace.mix(entries.term());
    trace.mix(entries.count());
    if let Entries::Change { to, .. } = entries {
        fold_membership(to, trace);
    }
}

fn fold_membership(membership: &Membership, trace: &mut Trace) {
    for member in membership.members() {
        trace.mix(member.id.0);
        trace.mix(member.part as u64);
    }
}
