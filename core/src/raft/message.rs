//! What Raft nodes say to each other.
//!
//! Every answer names the term it answers (rule RL-1), and an acceptance is another variant than a refusal: an answer
//! about an old term cannot be taken for one about the present.

use crate::log::Position;
use crate::membership::Membership;
use crate::{Duration, Instant, NodeId};
use alloc::sync::Arc;

/// A message between two members. Instants in it are the sender's of the request; a peer echoes them and never reads
/// them as a time of its own.
///
/// Payloads are not in it (law C9). The host that carries a message attaches what it [`carries`](Self::carries) by name, or
/// drops the message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// "Would you vote for me in `term`?" Raises nobody's term (Raft thesis §9.6).
    RequestPreVote {
        /// The term the sender would campaign in: its own plus one.
        term: u64,
        /// The end of the sender's log.
        last: Position,
        /// When the question was asked, on the sender's clock: names the attempt.
        sent: Instant,
        /// The highest term whose leader is known to have stopped leading; 0 for none (RL-3).
        released: u64,
    },
    /// "I would."
    PreVoteGranted {
        /// The term that was named.
        term: u64,
        /// How long the voter is still bound by its promise to a leader, on its clock: it will not vote before.
        remainder: Duration,
        /// The attempt that is answered.
        sent: Instant,
    },
    /// "I would not", because of the log or of a live leader, or because the named term is not above the voter's.
    PreVoteRefused {
        /// The term that was named.
        asked: u64,
        /// The voter's own term. When it reaches `asked`, the sender adopts it (RL-8).
        term: u64,
        /// The voter's log, when that alone is why (RL-4).
        better: Option<Better>,
    },
    /// A candidate asks for a vote (Raft §5.2).
    RequestVote {
        /// The candidate's term.
        term: u64,
        /// The end of the candidate's log (Raft §5.4.1).
        last: Position,
        /// The highest term whose leader is known to have stopped leading; 0 for none (RL-3).
        released: u64,
    },
    /// The vote of `term` is the receiver's. Sent only after it is durable.
    VoteGranted {
        /// The term of the vote.
        term: u64,
    },
    /// The vote is refused.
    VoteRefused {
        /// The term of the request.
        asked: u64,
        /// The voter's own term.
        term: u64,
    },
    /// The leader of `term` is alive and asks for a promise (`AppendEntries` without entries, Raft §5.2).
    Heartbeat {
        /// The leader's term.
        term: u64,
        /// When the round was sent, on the leader's clock: the lease counts from here (law C5).
        sent: Instant,
        /// The number of the round within the term: reads wait for one that was sent after them.
        round: u64,
        /// Up to where the receiver's log is known to be committed.
        commit: u64,
    },
    /// The voter follows, and promises neither to vote nor to stand for `promise` from now on its clock.
    HeartbeatAck {
        /// The term of the heartbeat, which is also the voter's own.
        term: u64,
        /// When the round that is answered was sent.
        sent: Instant,
        /// The number of that round.
        round: u64,
        /// The length of the promise (law C5).
        promise: Duration,
        /// Up to where the voter's log agrees with the leader's, durable or not: what is beyond was lost on the way.
        matched: u64,
    },
    /// The term of the heartbeat, of the entries or of the snapshot is over.
    HeartbeatRefused {
        /// The term of the request.
        asked: u64,
        /// The voter's own, higher term.
        term: u64,
    },
    /// The leader of `term` stopped leading: promises to it bind nobody any more (RL-3).
    Release {
        /// The term that is over.
        term: u64,
        /// Who should campaign at once.
        to: Option<NodeId>,
        /// Whether the leader stopped of its own will, while a majority followed it: who is named then stands at once, and
        /// otherwise asks first, for it may not reach a majority either.
        orderly: bool,
    },
    /// Entries of the leader of `term` (Raft §5.3), and all that a heartbeat says.
    Append {
        /// The leader's term.
        term: u64,
        /// When it was sent, on the leader's clock (law C5).
        sent: Instant,
        /// The entry before them.
        prev: Position,
        /// They themselves.
        entries: Entries,
        /// The leader's commit index.
        commit: u64,
    },
    /// The entries are on the follower's disk, and it promises as in a [`HeartbeatAck`](Self::HeartbeatAck).
    AppendAck {
        /// The term of the entries' leader, which is also the follower's own.
        term: u64,
        /// When the newest of what is acknowledged was sent.
        sent: Instant,
        /// The length of the promise (law C5).
        promise: Duration,
        /// Up to where the follower's log agrees with the leader's and is durable.
        matched: u64,
    },
    /// The follower's log does not have the entry before them; it promises all the same.
    AppendRefused {
        /// The term of the entries' leader, which is also the follower's own.
        term: u64,
        /// When the refused message was sent.
        sent: Instant,
        /// The length of the promise (law C5).
        promise: Duration,
        /// The index of the entry that is missing.
        prev: u64,
        /// The last entry of the follower's log that may agree: one refusal skips a whole term (Raft §5.3).
        hint: Position,
    },
    /// The leader's commit index, told at once when it rises. Not answered.
    Commit {
        /// The leader's term.
        term: u64,
        /// Up to where the receiver's log is known to be committed.
        index: u64,
    },
    /// The entries that the follower needs are compacted away: it needs the snapshot that ends at `last` (Raft §7).
    InstallSnapshot {
        /// The leader's term.
        term: u64,
        /// When it was sent, on the leader's clock (law C5).
        sent: Instant,
        /// The last entry that it holds.
        last: Position,
        /// Who took part as of that entry.
        membership: Arc<Membership>,
    },
    /// A candidate that was refused for its log asks for what it lacks (RL-4).
    Fetch {
        /// The sender's term.
        term: u64,
        /// When it was asked, on the sender's clock: names the question.
        sent: Instant,
        /// An entry of the sender's log; what comes after it is asked for.
        after: Position,
    },
    /// What a candidate lacks, or the first of it (RL-5).
    Suffix {
        /// The voter's own term, which the candidate adopts with the entries.
        term: u64,
        /// The question that is answered.
        sent: Instant,
        /// The entry before them: the one that was named, or, when that is not in the voter's log, an earlier one of
        /// the voter's, which the candidate may have.
        prev: Position,
        /// They themselves.
        entries: Entries,
        /// The end of the voter's log: by it, not by the entries, the voter is more up to date.
        last: Position,
    },
    /// A follower asks up to where its state must have come before it may answer the reads that wait there (Raft §8).
    ReadIndex {
        /// The follower's term.
        term: u64,
        /// The number of the newest read that waits, counted by the follower from a start drawn for its present life;
        /// names the question.
        number: u64,
    },
    /// The answer to [`ReadIndex`](Self::ReadIndex), given once the leader is known to have led after it was asked.
    ReadIndexAck {
        /// The leader's term.
        term: u64,
        /// The number that was asked with.
        number: u64,
        /// The index that the state must have reached.
        index: u64,
    },
    /// The receiver is no member any more, as of the committed configuration at `index`.
    NotMember {
        /// The term of the request.
        asked: u64,
        /// The index of the configuration entry.
        index: u64,
    },
    /// What a candidate lacks is compacted away: it needs the voter's snapshot first, which ends at `base` (RL-5).
    SuffixSnapshot {
        /// The voter's own term, which the candidate adopts with the snapshot.
        term: u64,
        /// The question that is answered.
        sent: Instant,
        /// The last entry that the snapshot holds.
        base: Position,
        /// Who took part as of that entry.
        membership: Arc<Membership>,
        /// The end of the voter's log.
        last: Position,
    },
}

/// Why a voter refuses a pre-vote that it would else give: its log is more up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Better {
    /// The end of its log.
    pub last: Position,
    /// How long the voter is still bound by its promise to a leader, on its clock.
    pub remainder: Duration,
    /// The attempt that is answered.
    pub sent: Instant,
}

/// Entries of one term, or one entry that changes who takes part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Entries {
    /// So many entries; also none. The first of a term is its leader's own and has no payload: see [`own`](Self::own).
    Run {
        /// The term that wrote them.
        term: u64,
        /// How many.
        count: u64,
    },
    /// One configuration entry. It has no payload.
    Change {
        /// The term that wrote it.
        term: u64,
        /// Who takes part from this entry on.
        to: Arc<Membership>,
    },
}

impl Entries {
    /// No entry.
    pub const NONE: Self = Self::Run { term: 0, count: 0 };

    /// The term that wrote them.
    #[must_use]
    pub const fn term(&self) -> u64 {
        match self {
            Self::Run { term, .. } | Self::Change { term, .. } => *term,
        }
    }

    /// How many.
    #[must_use]
    pub const fn count(&self) -> u64 {
        match self {
            Self::Run { count, .. } => *count,
            Self::Change { .. } => 1,
        }
    }

    /// How many of them, from the first on, are the machine's own and have no payload, when they follow `after`: an entry
    /// that changes who takes part, and the one with which each leader opens its term. All others were proposed.
    #[must_use]
    pub const fn own(&self, after: Position) -> u64 {
        match self {
            Self::Change { .. } => 1,
            Self::Run { term, count } => (*count > 0 && after.term < *term) as u64,
        }
    }
}

/// What a host attaches to a [`Message`], by name, from what its disk holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries<'a> {
    /// The payloads of these entries, but for those of the machine's own ([`Entries::own`]).
    Entries {
        /// The entry before them.
        after: Position,
        /// They themselves; at least one.
        entries: &'a Entries,
    },
    /// The state as of this entry.
    Snapshot {
        /// The last entry of the snapshot.
        last: Position,
    },
}

impl Message {
    /// What a host attaches to the message; `None` when it is whole without. A message whose payloads are not at hand is
    /// dropped: to the protocol it was lost.
    #[must_use]
    pub const fn carries(&self) -> Option<Carries<'_>> {
        match self {
            Self::Append { prev, entries, .. } | Self::Suffix { prev, entries, .. } => {
                if entries.count() == 0 {
                    return None;
                }
                Some(Carries::Entries {
                    after: *prev,
                    entries,
                })
            }
            Self::InstallSnapshot { last, .. } | Self::SuffixSnapshot { base: last, .. } => {
                Some(Carries::Snapshot { last: *last })
            }
            _ => None,
        }
    }

    /// The term the message is about: the sender's own, or for a pre-vote the one it names.
    #[must_use]
    pub const fn term(&self) -> u64 {
        match *self {
            Self::RequestPreVote { term, .. }
            | Self::PreVoteGranted { term, .. }
            | Self::PreVoteRefused { term, .. }
            | Self::RequestVote { term, .. }
            | Self::VoteGranted { term }
            | Self::VoteRefused { term, .. }
            | Self::Heartbeat { term, .. }
            | Self::HeartbeatAck { term, .. }
            | Self::HeartbeatRefused { term, .. }
            | Self::Release { term, .. }
            | Self::Append { term, .. }
            | Self::AppendAck { term, .. }
            | Self::AppendRefused { term, .. }
            | Self::Commit { term, .. }
            | Self::InstallSnapshot { term, .. }
            | Self::Fetch { term, .. }
            | Self::Suffix { term, .. }
            | Self::SuffixSnapshot { term, .. }
            | Self::ReadIndex { term, .. }
            | Self::ReadIndexAck { term, .. } => term,
            Self::NotMember { asked, .. } => asked,
        }
    }

    /// The instant in it, and whether it is one of the sender's clock (a request) or of the receiver's (an echo).
    #[must_use]
    pub fn stamp(&self) -> Option<(Instant, Stamp)> {
        match *self {
            Self::RequestPreVote { sent, .. }
            | Self::Heartbeat { sent, .. }
            | Self::Append { sent, .. }
            | Self::InstallSnapshot { sent, .. }
            | Self::Fetch { sent, .. } => Some((sent, Stamp::Sender)),
            Self::PreVoteGranted { sent, .. }
            | Self::HeartbeatAck { sent, .. }
            | Self::AppendAck { sent, .. }
            | Self::AppendRefused { sent, .. }
            | Self::Suffix { sent, .. }
            | Self::SuffixSnapshot { sent, .. }
            | Self::PreVoteRefused {
                better: Some(Better { sent, .. }),
                ..
            } => Some((sent, Stamp::Receiver)),
            _ => None,
        }
    }

    /// The same message with another instant in it, if it carries one.
    #[must_use]
    pub fn stamped(mut self, at: Instant) -> Self {
        match &mut self {
            Self::RequestPreVote { sent, .. }
            | Self::Heartbeat { sent, .. }
            | Self::Append { sent, .. }
            | Self::InstallSnapshot { sent, .. }
            | Self::Fetch { sent, .. }
            | Self::PreVoteGranted { sent, .. }
            | Self::HeartbeatAck { sent, .. }
            | Self::AppendAck { sent, .. }
            | Self::AppendRefused { sent, .. }
            | Self::Suffix { sent, .. }
            | Self::SuffixSnapshot { sent, .. }
            | Self::PreVoteRefused {
                better: Some(Better { sent, .. }),
                ..
            } => *sent = at,
            _ => {}
        }
        self
    }

    /// The same message with other names in it.
    #[must_use]
    pub fn renamed(self, name: impl Fn(NodeId) -> NodeId) -> Self {
        match self {
            Self::Release { term, to, orderly } => Self::Release {
                term,
                to: to.map(name),
                orderly,
            },
            other => other,
        }
    }
}

/// Whose clock the instant in a message is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stamp {
    /// The receiver's: an echo of what it sent.
    Receiver,
    /// The sender's: to be echoed.
    Sender,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The term and the instant of every message, the latter on whose clock.
    #[test]
    fn each_message_names_its_term_and_its_instant() {
        let (term, asked, index, number) = (7, 6, 3, 1);
        let (round, commit, matched, released) = (1, 2, 3, 4);
        let (sent, later) = (Instant::from_millis(5), Instant::from_millis(9));
        let span = Duration::from_millis(1);
        let (promise, remainder) = (span, span);
        let last = Position::new(6, 3);
        let better = Some(Better {
            last,
            remainder,
            sent,
        });
        let (prev, hint, after, entries) = (last, last, last, Entries::Run { term: 7, count: 2 });
        let voters = crate::quorum::Voters::new([NodeId(1)]).unwrap();
        let membership = Arc::new(Membership::new(&voters));
        #[rustfmt::skip]
        let messages = [
            (Message::RequestPreVote { term, last, sent, released }, Some(Stamp::Sender)),
            (Message::PreVoteGranted { term, remainder, sent }, Some(Stamp::Receiver)),
            (Message::PreVoteRefused { asked, term, better: None }, None),
            (Message::PreVoteRefused { asked, term, better }, Some(Stamp::Receiver)),
            (Message::RequestVote { term, last, released }, None),
            (Message::VoteGranted { term }, None),
            (Message::VoteRefused { asked, term }, None),
            (Message::Heartbeat { term, sent, round, commit }, Some(Stamp::Sender)),
            (Message::HeartbeatAck { term, sent, round, promise, matched }, Some(Stamp::Receiver)),
            (Message::HeartbeatRefused { asked, term }, None),
            (Message::Release { term, to: None, orderly: false }, None),
            (Message::Append { term, sent, prev, entries: entries.clone(), commit }, Some(Stamp::Sender)),
            (Message::AppendAck { term, sent, promise, matched }, Some(Stamp::Receiver)),
            (Message::AppendRefused { term, sent, promise, prev: 3, hint }, Some(Stamp::Receiver)),
            (Message::Commit { term, index }, None),
            (Message::InstallSnapshot { term, sent, last, membership: membership.clone() }, Some(Stamp::Sender)),
            (Message::Fetch { term, sent, after }, Some(Stamp::Sender)),
            (Message::Suffix { term, sent, prev, entries, last }, Some(Stamp::Receiver)),
            (Message::SuffixSnapshot { term, sent, base: last, membership, last }, Some(Stamp::Receiver)),
            (Message::ReadIndex { term, number }, None),
            (Message::ReadIndexAck { term, number, index }, None),
            (Message::NotMember { asked: term, index }, None),
        ];
        for (message, stamp) in messages {
            assert_eq!(message.term(), term, "{message:?}");
            let at = |instant| stamp.map(|whose| (instant, whose));
            assert_eq!(message.stamp(), at(sent), "{message:?}");
            let stamped = message.clone().stamped(later);
            assert_eq!(stamped.stamp(), at(later), "{message:?}");
        }
    }
}
