//! What of messages and writes goes into the hash of the trace beside their events.

use crate::physics::trace::Trace;
use tenure::NodeId;
use tenure::kraft::{Body, Fetched, Head, LogWrite, Message, ReplicaKey, Write};
use tenure::log::Position;

/// Feeds what the events of a message do not show into the trace: all but kind and epoch.
pub(crate) fn fold(message: &Message, trace: &mut Trace) {
    trace.mix(message.correlation.incarnation);
    trace.mix(message.correlation.number);
    match &message.body {
        Body::Vote {
            voter,
            replica,
            last,
            ..
        } => {
            fold_key(*voter, trace);
            fold_key(*replica, trace);
            fold_position(*last, trace);
        }
        Body::VoteReply { head, .. }
        | Body::BeginQuorumEpochReply(head)
        | Body::EndQuorumEpochReply(head) => fold_head(*head, trace),
        Body::BeginQuorumEpoch { voter, .. } => fold_key(*voter, trace),
        Body::EndQuorumEpoch { successors, .. } => {
            successors.iter().for_each(|id| trace.mix(id.0));
        }
        Body::Fetch {
            after,
            replica,
            high_watermark,
            ..
        } => {
            fold_position(*after, trace);
            fold_key(*replica, trace);
            trace.mix(*high_watermark);
        }
        Body::FetchReply {
            head,
            after,
            content,
            high_watermark,
        } => {
            fold_head(*head, trace);
            fold_position(*after, trace);
            match *content {
                Fetched::Records { epoch, count } => {
                    trace.mix(epoch);
                    trace.mix(count);
                }
                Fetched::Diverging(at) | Fetched::Snapshot(at) => fold_position(at, trace),
            }
            trace.mix(*high_watermark);
        }
        Body::FetchSnapshot {
            snapshot, replica, ..
        } => {
            fold_position(*snapshot, trace);
            fold_key(*replica, trace);
        }
        Body::FetchSnapshotReply { head, snapshot } => {
            fold_head(*head, trace);
            fold_position(snapshot.unwrap_or(Position::START), trace);
        }
    }
}

/// Feeds what the event of a write does not show into the trace.
pub(super) fn write(write: &Write, trace: &mut Trace) {
    fold_leader(write.state.leader, trace);
    trace.mix(u64::from(write.state.generation));
    match write.log {
        LogWrite::Keep => trace.mix(0),
        LogWrite::Append {
            after,
            epoch,
            count,
        } => {
            trace.mix(1);
            fold_position(after, trace);
            trace.mix(epoch);
            trace.mix(count);
        }
        LogWrite::Truncate { to } => fold_step(2, to, trace),
        LogWrite::Compact { upto } => fold_step(3, upto, trace),
        LogWrite::Install { last } => fold_step(4, last, trace),
    }
}

fn fold_step(kind: u64, at: Position, trace: &mut Trace) {
    trace.mix(kind);
    fold_position(at, trace);
}

fn fold_head(head: Head, trace: &mut Trace) {
    trace.mix(head.code as u64);
    fold_leader(head.leader, trace);
}

fn fold_leader(leader: Option<NodeId>, trace: &mut Trace) {
    trace.mix(leader.map_or(0, |leader| leader.0 + 1));
}

fn fold_key(key: ReplicaKey, trace: &mut Trace) {
    trace.mix(key.id.0);
    trace.mix(key.directory.map_or(0, |directory| directory.0 + 1));
}

fn fold_position(at: Position, trace: &mut Trace) {
    trace.mix(at.term);
    trace.mix(at.index);
}
