//! Messages that cannot be true, refused by name and counted (law C8).
//!
//! A refusal here is about the message itself; a vote that is not given is an answer, not a refusal.

use super::config::{MAX_INDEX, MAX_LEAP, MAX_TERM};
use super::{Entries, Message};
use crate::listed::listed;
use crate::log::Position;
use crate::refusals::{self, Reason};

listed! {
    /// Why a message or reply was dropped.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Refusal {
        /// It answers a question this node never asked: a term it did not campaign or lead in, or a round it did not send.
        Unasked,
        /// It names a term above [`MAX_TERM`].
        TermTooHigh,
        /// It names a term more than [`MAX_LEAP`](super::MAX_LEAP) above the own one.
        TermLeap,
        /// It names term 0, in which nothing happens.
        TermZero,
        /// The sender is no member, or claims to be this node.
        UnknownSender,
        /// It claims to lead, or to have led, a term that has another leader.
        SecondLeader,
        /// The log it describes has an entry of a term above the sender's, or an end that no log has.
        ImpossibleLog,
        /// It claims to be bound by a promise longer than any of this group.
        ImpossiblePromise,
        /// The reply is to a request of a former life, or to one that was never made.
        UnknownTicket,
        /// The group reached [`MAX_TERM`]: this node campaigns no more.
        TermsExhausted,
        /// It brings entries, and this machine was configured without a log.
        NoLog,
        /// It contradicts an entry that is committed: the sender's log, or this node's, is damaged.
        ContradictsCommitted,
        /// It says that the leader of a term stopped that no leader before the sender's candidacy can have had.
        ImpossibleRelease,
        /// The sender is no member as far as is known here, and answers to enough such wait for the disk: this one was
        /// dropped.
        TooManyStrangers,
    }
}

impl Reason for Refusal {
    fn place(self) -> usize {
        self as usize
    }
}

/// How many inputs were refused, by reason.
pub type Refusals = refusals::Refusals<Refusal, { Refusal::ALL.len() }>;

/// The counts of a machine. A type of its own, so that what handles messages has a call to it and not its body.
#[derive(Clone, Debug)]
pub(super) struct Counter(refusals::Rarely<Refusal, { Refusal::ALL.len() }>);

impl Counter {
    pub(super) const NEVER: Self = Self(refusals::Rarely::NEVER);

    pub(super) fn add(&mut self, reason: Refusal) {
        self.0.add(reason);
    }

    pub(super) fn counts(&self) -> &Refusals {
        self.0.counts()
    }
}

/// What is wrong with a message to a node in term `own`, whatever else its state; `None` when nothing is.
pub(super) fn impossible(message: &Message, own: u64) -> Option<Refusal> {
    match message {
        // A candidate has heard of leaders of earlier terms alone.
        Message::RequestPreVote { term, released, .. }
        | Message::RequestVote { term, released, .. }
            if released >= term && *released > 0 =>
        {
            return Some(Refusal::ImpossibleRelease);
        }
        // No entry has such an index, and the first may be one.
        Message::NotMember { index, .. } if *index == 0 || *index > MAX_INDEX => {
            return Some(Refusal::ImpossibleLog);
        }
        _ => {}
    }
    // `asked` is the term an answer names; the voter's own term in a refusal may still be 0.
    let (named, highest, log) = match message {
        // A pre-candidate names its own term plus one; its log cannot reach the named term.
        Message::RequestPreVote { term, last, .. } => {
            (*term, *term, Some((*last, term.saturating_sub(1))))
        }
        Message::RequestVote { term, last, .. } => (*term, *term, Some((*last, *term))),
        Message::PreVoteRefused {
            asked,
            term,
            better: Some(better),
        } => (*asked, *asked.max(term), Some((better.last, *term))),
        Message::PreVoteRefused { asked, term, .. }
        | Message::VoteRefused { asked, term }
        | Message::HeartbeatRefused { asked, term } => (*asked, *asked.max(term), None),
        Message::InstallSnapshot { term, last, .. }
        | Message::Fetch {
            term, after: last, ..
        } => (*term, *term, Some((*last, *term))),
        Message::AppendRefused { term, hint, .. } => (*term, *term, Some((*hint, *term))),
        Message::Append {
            term,
            prev,
            entries,
            ..
        } => {
            if !fits(*prev, entries, *term) {
                return Some(Refusal::ImpossibleLog);
            }
            (*term, *term, Some((*prev, *term)))
        }
        Message::ReadIndexAck { index, .. } if *index > MAX_INDEX => {
            return Some(Refusal::ImpossibleLog);
        }
        Message::Suffix {
            term,
            prev,
            entries,
            last,
            ..
        } => {
            // What it brings is of the log that ends at `last`.
            if !fits(*prev, entries, *term) || !is_within(*prev, entries, *last) {
                return Some(Refusal::ImpossibleLog);
            }
            (*term, *term, Some((*prev, *term)))
        }
        Message::SuffixSnapshot {
            term, base, last, ..
        } => {
            if base.index == 0 || !is_within(*base, &Entries::NONE, *last) {
                return Some(Refusal::ImpossibleLog);
            }
            (*term, *term, Some((*base, *term)))
        }
        answer => (answer.term(), answer.term(), None),
    };
    if highest > MAX_TERM {
        return Some(Refusal::TermTooHigh);
    }
    if highest > own.saturating_add(MAX_LEAP) {
        return Some(Refusal::TermLeap);
    }
    if named == 0 {
        return Some(Refusal::TermZero);
    }
    let (last, own_term) = log?;
    let has_end = (last.term == 0) == (last.index == 0) && last.index <= MAX_INDEX;
    (last.term > own_term || !has_end).then_some(Refusal::ImpossibleLog)
}

/// Whether a log of a node in `term` can have `entries` after `prev`.
fn fits(prev: Position, entries: &Entries, term: u64) -> bool {
    let end = prev.index.checked_add(entries.count());
    let ends = end.is_some_and(|end| end <= MAX_INDEX);
    let rises = entries.count() == 0 || entries.term() >= prev.term.max(1);
    ends && rises && entries.term() <= term
}

/// Whether a log that ends at `last` can have `entries` after `prev`.
fn is_within(prev: Position, entries: &Entries, last: Position) -> bool {
    let end = Position {
        term: entries.term().max(prev.term),
        index: prev.index.saturating_add(entries.count()),
    };
    let ends = last.index <= MAX_INDEX && (last.term == 0) == (last.index == 0);
    ends && end.index <= last.index && end.term <= last.term
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Instant;

    #[test]
    fn impossible_logs_are_named() {
        let fits = |last, term| {
            impossible(
                &Message::RequestVote {
                    term,
                    last,
                    released: 0,
                },
                1,
            )
            .is_none()
        };
        assert!(fits(Position::START, 1));
        assert!(fits(Position::new(2, 9), 2));
        assert!(!fits(Position::new(3, 9), 2));
        assert!(!fits(Position::new(0, 9), 2));
        assert!(!fits(Position::new(1, 0), 2));
        let ask = |term, last| {
            impossible(
                &Message::RequestPreVote {
                    term,
                    last,
                    sent: Instant::ZERO,
                    released: 0,
                },
                1,
            )
        };
        assert_eq!(ask(3, Position::new(2, 1)), None);
        assert_eq!(ask(3, Position::new(3, 1)), Some(Refusal::ImpossibleLog));
    }

    /// What is said of a log contradicts neither itself nor the term it is said in.
    #[test]
    fn impossible_entries_are_named() {
        let (term, sent) = (5, Instant::ZERO);
        let run = |of, count| Entries::Run { term: of, count };
        for ((of, index), entries, possible) in [
            ((0, 0), run(1, 1), true),
            ((3, 7), run(3, 2), true),
            ((3, 7), run(5, 2), true),
            ((3, 7), Entries::NONE, true),
            ((3, 7), run(2, 1), false),
            ((3, 7), run(6, 1), false),
            ((0, 0), run(0, 1), false),
            ((3, MAX_INDEX - 1), run(3, 1), true),
            ((3, MAX_INDEX - 1), run(3, 2), false),
            ((3, 7), run(3, u64::MAX), false),
        ] {
            let prev = Position::new(of, index);
            let refused = (!possible).then_some(Refusal::ImpossibleLog);
            let append = Message::Append {
                term,
                sent,
                prev,
                entries: entries.clone(),
                commit: 0,
            };
            assert_eq!(impossible(&append, term), refused, "{append:?}");
            let last = Position::new(term, MAX_INDEX);
            let suffix = Message::Suffix {
                term,
                sent,
                prev,
                entries,
                last,
            };
            assert_eq!(impossible(&suffix, term), refused, "{suffix:?}");
        }
        // What is brought of a log does not go beyond its end.
        for ((of, index), possible) in [
            ((3, 9), true),
            ((4, 9), true),
            ((4, 10), true),
            ((3, 8), false),
            ((2, 9), false),
            ((4, 8), false),
            ((4, MAX_INDEX), true),
            ((4, MAX_INDEX + 1), false),
            ((0, 9), false),
            ((4, 0), false),
        ] {
            let last = Position::new(of, index);
            let refused = (!possible).then_some(Refusal::ImpossibleLog);
            let suffix = Message::Suffix {
                term,
                sent,
                prev: Position::new(2, 7),
                entries: run(3, 2),
                last,
            };
            assert_eq!(impossible(&suffix, term), refused, "{suffix:?}");
            let members = [crate::NodeId(0)];
            let voters = crate::quorum::Voters::new(members).unwrap();
            let snapshot = |base| Message::SuffixSnapshot {
                term,
                sent,
                base,
                membership: alloc::sync::Arc::new(crate::membership::Membership::new(&voters)),
                last,
            };
            let based = snapshot(Position::new(3, 9));
            assert_eq!(impossible(&based, term), refused, "{based:?}");
            let nothing = snapshot(Position::START);
            assert_eq!(impossible(&nothing, term), Some(Refusal::ImpossibleLog));
        }
        for (index, refused) in [
            (MAX_INDEX, None),
            (MAX_INDEX + 1, Some(Refusal::ImpossibleLog)),
        ] {
            let number = 1;
            let answer = Message::ReadIndexAck {
                term,
                number,
                index,
            };
            assert_eq!(impossible(&answer, term), refused, "{answer:?}");
        }
    }

    #[test]
    fn impossible_releases_and_removals_are_named() {
        let (last, sent) = (Position::START, Instant::ZERO);
        for (term, released, refused) in [
            (5, 0, None),
            (5, 4, None),
            (5, 5, Some(Refusal::ImpossibleRelease)),
            (5, u64::MAX, Some(Refusal::ImpossibleRelease)),
            (0, 0, Some(Refusal::TermZero)),
            (0, 1, Some(Refusal::ImpossibleRelease)),
        ] {
            #[rustfmt::skip]
            let asks = [
                Message::RequestVote { term, last, released },
                Message::RequestPreVote { term, last, sent, released },
            ];
            for ask in asks {
                assert_eq!(impossible(&ask, 5), refused, "{ask:?}");
            }
        }
        for (asked, index, refused) in [
            (5, 1, None),
            (5, MAX_INDEX, None),
            (5, 0, Some(Refusal::ImpossibleLog)),
            (5, MAX_INDEX + 1, Some(Refusal::ImpossibleLog)),
            (0, 1, Some(Refusal::TermZero)),
            (MAX_TERM + 1, 1, Some(Refusal::TermTooHigh)),
        ] {
            let told = Message::NotMember { asked, index };
            assert_eq!(impossible(&told, 5), refused, "{told:?}");
        }
    }

    #[test]
    fn terms_near_the_maximum_are_refused_in_every_field() {
        let high = MAX_TERM + 1;
        for message in [
            Message::VoteGranted { term: high },
            Message::PreVoteRefused {
                asked: 1,
                term: high,
                better: None,
            },
            Message::HeartbeatRefused {
                asked: high,
                term: 1,
            },
            Message::Release {
                term: u64::MAX,
                to: None,
                orderly: false,
            },
            Message::RequestPreVote {
                term: u64::MAX,
                last: Position::START,
                sent: Instant::ZERO,
                released: 0,
            },
        ] {
            assert_eq!(
                impossible(&message, MAX_TERM),
                Some(Refusal::TermTooHigh),
                "{message:?}"
            );
        }
        assert_eq!(
            impossible(&Message::VoteGranted { term: MAX_TERM }, MAX_TERM - 1),
            None
        );
        assert_eq!(
            impossible(&Message::VoteGranted { term: MAX_TERM }, 7),
            Some(Refusal::TermLeap)
        );
        assert_eq!(
            impossible(&Message::VoteGranted { term: 7 + MAX_LEAP }, 7),
            None
        );
        assert_eq!(
            impossible(
                &Message::RequestVote {
                    term: 0,
                    last: Position::START,
                    released: 0
                },
                0
            ),
            Some(Refusal::TermZero)
        );
        assert_eq!(
            impossible(
                &Message::PreVoteRefused {
                    asked: 1,
                    term: 0,
                    better: None
                },
                0
            ),
            None
        );
        assert_eq!(
            impossible(&Message::VoteRefused { asked: 0, term: 1 }, 0),
            Some(Refusal::TermZero)
        );
    }
}
