//! One protocol in two vocabularies.
//!
//! What one side says and the other does not know is filled in by the one that carries it, from what it delivered: the send
//! times that this library's leaders want echoed, and the promise that a node of the `raft` crate keeps without naming it
//! (it grants no vote for an election timeout after it heard its leader). What has no counterpart is dropped: `Release`
//! and `Fetch` here, requests for snapshots there.

use raft::eraftpb::{Entry, Message as Theirs, MessageType as Kind};
use tenure::log::Position;
use tenure::raft::{Entries, Message as Ours};
use tenure::{Duration, Instant};

/// What the name of an entry stands for: whoever appended it, and the how-manieth of all it was.
pub(crate) type Payload = u64;

/// What a node of the other kind was asked last by one of ours, for its answers to name.
#[derive(Clone, Copy, Default)]
pub(crate) struct Asked {
    /// The newest request of a leader: its term, its send, its round.
    heartbeat: (u64, Instant, u64),
    /// The newest pre-vote: its term and its send.
    pre_vote: (u64, Instant),
    /// The term of the newest request for a vote.
    vote: u64,
    /// Up to where it acknowledged the log of the leader of that term.
    matched: (u64, u64),
}

/// The id of a place in the `raft` crate, where 0 is nobody.
pub(crate) fn id(place: usize) -> u64 {
    place as u64 + 1
}

fn theirs(kind: Kind, from: usize, to: usize, term: u64) -> Theirs {
    let mut message = Theirs::default();
    message.set_msg_type(kind);
    (message.from, message.to, message.term) = (id(from), id(to), term);
    message
}

/// What one of ours says, for a node of the other kind. `payload` names what an entry stands for; `known` is up to where the
/// receiver's log is known to agree, for the other kind takes a commit index on trust.
pub(crate) fn to_theirs(
    (from, to): (usize, usize),
    message: &Ours,
    known: u64,
    payload: impl Fn(u64) -> Option<Payload>,
    asked: &mut Asked,
) -> Option<Theirs> {
    Some(match *message {
        Ours::RequestPreVote {
            term, last, sent, ..
        } => {
            asked.pre_vote = (term, sent);
            let mut message = theirs(Kind::MsgRequestPreVote, from, to, term);
            (message.index, message.log_term) = (last.index, last.term);
            message
        }
        Ours::PreVoteGranted { term, .. } => {
            theirs(Kind::MsgRequestPreVoteResponse, from, to, term)
        }
        Ours::PreVoteRefused { term, .. } => {
            let mut message = theirs(Kind::MsgRequestPreVoteResponse, from, to, term);
            message.reject = true;
            message
        }
        Ours::RequestVote { term, last, .. } => {
            asked.vote = term;
            let mut message = theirs(Kind::MsgRequestVote, from, to, term);
            (message.index, message.log_term) = (last.index, last.term);
            message
        }
        Ours::VoteGranted { term } => theirs(Kind::MsgRequestVoteResponse, from, to, term),
        // Refused under a promise, this library's voter stays in its own term; the other kind answers in the asker's.
        Ours::VoteRefused { asked, term } => {
            let mut message = theirs(Kind::MsgRequestVoteResponse, from, to, term.max(asked));
            message.reject = true;
            message
        }
        Ours::Heartbeat {
            term,
            sent,
            round,
            commit,
        } => {
            asked.heartbeat = (term, sent, round);
            let mut message = theirs(Kind::MsgHeartbeat, from, to, term);
            message.commit = commit.min(known);
            message
        }
        Ours::Commit { term, index } => {
            let mut message = theirs(Kind::MsgHeartbeat, from, to, term);
            message.commit = index.min(known);
            message
        }
        Ours::HeartbeatAck { term, .. } => theirs(Kind::MsgHeartbeatResponse, from, to, term),
        Ours::HeartbeatRefused { term, .. } => theirs(Kind::MsgAppendResponse, from, to, term),
        Ours::Append {
            term,
            sent,
            prev,
            ref entries,
            commit,
        } => {
            let Entries::Run {
                term: written,
                count,
            } = *entries
            else {
                return None;
            };
            asked.heartbeat = (term, sent, asked.heartbeat.2);
            let mut message = theirs(Kind::MsgAppend, from, to, term);
            (message.index, message.log_term, message.commit) = (prev.index, prev.term, commit);
            for index in prev.index + 1..=prev.index + count {
                let mut entry = Entry::default();
                (entry.index, entry.term) = (index, written);
                entry.data = payload(index)?.to_le_bytes().to_vec().into();
                message.entries.push(entry);
            }
            message
        }
        Ours::AppendAck { term, matched, .. } => {
            let mut message = theirs(Kind::MsgAppendResponse, from, to, term);
            message.index = matched;
            message
        }
        Ours::AppendRefused {
            term, prev, hint, ..
        } => {
            let mut message = theirs(Kind::MsgAppendResponse, from, to, term);
            (message.index, message.reject) = (prev, true);
            (message.reject_hint, message.log_term) = (hint.index, hint.term);
            message
        }
        _ => return None,
    })
}

/// What a node of the other kind says, for one of ours, with the payloads of the entries; several messages where its entries
/// are of several terms.
pub(crate) fn to_ours(
    message: &Theirs,
    now: Instant,
    promise: Duration,
    asked: &mut Asked,
) -> Vec<(Ours, Vec<Payload>)> {
    let term = message.term;
    let last = Position::new(message.log_term, message.index);
    let (of, sent, round) = asked.heartbeat;
    let one = |message| vec![(message, Vec::new())];
    match message.get_msg_type() {
        Kind::MsgRequestPreVote => one(Ours::RequestPreVote {
            term,
            last,
            sent: now,
            released: 0,
        }),
        Kind::MsgRequestVote => one(Ours::RequestVote {
            term,
            last,
            released: 0,
        }),
        Kind::MsgRequestPreVoteResponse if message.reject => one(Ours::PreVoteRefused {
            asked: asked.pre_vote.0,
            term,
            better: None,
        }),
        Kind::MsgRequestPreVoteResponse => one(Ours::PreVoteGranted {
            term,
            remainder: Duration::ZERO,
            sent: asked.pre_vote.1,
        }),
        Kind::MsgRequestVoteResponse if message.reject => one(Ours::VoteRefused {
            asked: asked.vote,
            term,
        }),
        Kind::MsgRequestVoteResponse => one(Ours::VoteGranted { term }),
        Kind::MsgHeartbeat => one(Ours::Heartbeat {
            term,
            sent: now,
            round: 1,
            commit: message.commit,
        }),
        Kind::MsgHeartbeatResponse if term == of => {
            let matched = if asked.matched.0 == term {
                asked.matched.1
            } else {
                0
            };
            one(Ours::HeartbeatAck {
                term,
                sent,
                round,
                promise,
                matched,
            })
        }
        // It answers a leader of a lower term with its own, and nothing else in it.
        Kind::MsgAppendResponse if term > of => one(Ours::HeartbeatRefused { asked: of, term }),
        Kind::MsgAppendResponse if term == of && message.reject => one(Ours::AppendRefused {
            term,
            sent,
            promise,
            prev: message.index,
            hint: Position::new(message.log_term, message.reject_hint),
        }),
        Kind::MsgAppendResponse if term == of => {
            asked.matched = (term, message.index);
            one(Ours::AppendAck {
                term,
                sent,
                promise,
                matched: message.index,
            })
        }
        Kind::MsgAppend => appends(message, now),
        _ => Vec::new(),
    }
}

fn appends(message: &Theirs, now: Instant) -> Vec<(Ours, Vec<Payload>)> {
    let append = |prev: Position, written: u64, count: u64| Ours::Append {
        term: message.term,
        sent: now,
        prev,
        entries: Entries::Run {
            term: written,
            count,
        },
        commit: message.commit,
    };
    let mut prev = Position::new(message.log_term, message.index);
    let mut runs = Vec::new();
    for entries in message.entries.chunk_by(|one, next| one.term == next.term) {
        let payloads: Vec<Payload> = entries
            .iter()
            .map(|entry| payload_of(&entry.data))
            .collect();
        let (term, count) = (entries[0].term, payloads.len() as u64);
        runs.push((append(prev, term, count), payloads));
        prev = Position::new(term, prev.index + count);
    }
    if runs.is_empty() {
        runs.push((append(prev, 0, 0), Vec::new()));
    }
    runs
}

/// What an entry of the other kind stands for; its own empty entries are all alike.
pub(crate) fn payload_of(data: &[u8]) -> Payload {
    data.try_into().map_or(0, u64::from_le_bytes)
}
