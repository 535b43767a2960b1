//! What Raft nodes say to each other.
//!
//! Every answer names the term it answers (rule RL-1), and an acceptance is another variant than a refusal: an answer
//! about an old term cannot be taken for one about the present.

use crate::log::Position;
use crate::{Duration, Instant, NodeId};

/// A message between two voters. Instants in it are the sender's of the request; a peer echoes them and never reads
/// them as a time of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// "Would you vote for me in `term`?" Raises nobody's term (Raft thesis §9.6).
    RequestPreVote {
        /// The term the sender would campaign in: its own plus one.
        term: u64,
        /// The end of the sender's log.
        last: Position,
        /// When the question was asked, on the sender's clock: names the attempt.
        sent: Instant,
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
    },
    /// A candidate asks for a vote (Raft §5.2).
    RequestVote {
        /// The candidate's term.
        term: u64,
        /// The end of the candidate's log (Raft §5.4.1).
        last: Position,
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
    },
    /// The voter follows, and promises neither to vote nor to stand for `promise` from now on its clock.
    HeartbeatAck {
        /// The term of the heartbeat, which is also the voter's own.
        term: u64,
        /// The round that is answered.
        sent: Instant,
        /// The length of the promise (law C5).
        promise: Duration,
    },
    /// The heartbeat's term is over.
    HeartbeatRefused {
        /// The term of the heartbeat.
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
    },
}

impl Message {
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
            | Self::Release { term, .. } => term,
        }
    }

    /// The instant in it, and whether it is one of the sender's clock (a request) or of the receiver's (an echo).
    #[must_use]
    pub const fn stamp(&self) -> Option<(Instant, Stamp)> {
        match *self {
            Self::RequestPreVote { sent, .. } | Self::Heartbeat { sent, .. } => {
                Some((sent, Stamp::Sender))
            }
            Self::PreVoteGranted { sent, .. } | Self::HeartbeatAck { sent, .. } => {
                Some((sent, Stamp::Receiver))
            }
            _ => None,
        }
    }

    /// The same message with another instant in it, if it carries one.
    #[must_use]
    pub const fn stamped(mut self, at: Instant) -> Self {
        match &mut self {
            Self::RequestPreVote { sent, .. }
            | Self::Heartbeat { sent, .. }
            | Self::PreVoteGranted { sent, .. }
            | Self::HeartbeatAck { sent, .. } => *sent = at,
            _ => {}
        }
        self
    }

    /// The same message with other names in it.
    #[must_use]
    pub fn renamed(self, name: impl Fn(NodeId) -> NodeId) -> Self {
        match self {
            Self::Release { term, to } => Self::Release {
                term,
                to: to.map(name),
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
        let (term, asked, last) = (7, 6, Position::START);
        let (sent, later) = (Instant::from_millis(5), Instant::from_millis(9));
        let span = Duration::from_millis(1);
        let (promise, remainder) = (span, span);
        for (message, stamp) in [
            (
                Message::RequestPreVote { term, last, sent },
                Some(Stamp::Sender),
            ),
            (
                Message::PreVoteGranted {
                    term,
                    remainder,
                    sent,
                },
                Some(Stamp::Receiver),
            ),
            (Message::PreVoteRefused { asked, term }, None),
            (Message::RequestVote { term, last }, None),
            (Message::VoteGranted { term }, None),
            (Message::VoteRefused { asked, term }, None),
            (Message::Heartbeat { term, sent }, Some(Stamp::Sender)),
            (
                Message::HeartbeatAck {
                    term,
                    sent,
                    promise,
                },
                Some(Stamp::Receiver),
            ),
            (Message::HeartbeatRefused { asked, term }, None),
            (Message::Release { term, to: None }, None),
        ] {
            assert_eq!(message.term(), term, "{message:?}");
            let at = |instant| stamp.map(|whose| (instant, whose));
            assert_eq!(message.stamp(), at(sent), "{message:?}");
            assert_eq!(message.stamped(later).stamp(), at(later), "{message:?}");
        }
    }
}
