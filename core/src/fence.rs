//! The guard a resource keeps: the highest token it has seen, and whose.
//!
//! A lease decides who is entitled; the token decides whether the write gets in. The guard's record is stored in the same
//! atomic write as the effect it admits: a guard that forgets admits the leader it had shut out.
//!
//! Order for a new leader: **fence first, then read, then write.** A leader that reads before it fenced can read a state
//! that its predecessor still changes (timeline LS-F5): the guard has not heard of the new token and lets the old one in.
//!
//! ```
//! use tenure::fence::{ElectionId, Fence, Holder, Pass, Refused};
//! use tenure::{NodeId, Token};
//!
//! let ledger = ElectionId(1);
//! let mut fence = Fence::unused(ledger);
//! let (anna, ben) = (NodeId(1), NodeId(2));
//! let old = Pass { election: ledger, token: Token::new(0, 33), holder: Holder { node: anna, incarnation: 7 } };
//! let new = Pass { election: ledger, token: Token::new(0, 34), holder: Holder { node: ben, incarnation: 3 } };
//!
//! let record = fence.admit(&old)?;        // store `record` together with the write
//! let record = fence.fence(&new)?;        // the new leader shuts the old one out, then reads
//! assert_eq!(fence.admit(&old), Err(Refused::Stale { highest: new.token }));
//! # let _ = record;
//! # Ok::<(), Refused>(())
//! ```

use crate::takeover::{Faithful, Rule, Rules};
use crate::{NodeId, Token};
use core::fmt;

/// Which election a token belongs to. A token of one election says nothing about another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElectionId(pub u64);

/// What a leader shows with every effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pass {
    /// The election that was won.
    pub election: ElectionId,
    /// The token of the tenure.
    pub token: Token,
    /// Who shows it. Tells two holders of one token apart, which only exist when a store regressed.
    pub holder: Holder,
}

/// One life of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Holder {
    /// The node.
    pub node: NodeId,
    /// The nonce of its life, as given to its machine.
    pub incarnation: u64,
}

/// What the resource stores with the write, or before it answers a fence.
#[must_use = "the guard forgets whom it shut out unless this is stored with the effect"]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The election this resource is guarded for.
    pub election: ElectionId,
    /// The highest token that was admitted or fenced.
    pub highest: Token,
    /// Who showed it; `None` before anybody did.
    pub holder: Option<Holder>,
}

/// Why an effect was refused. A refusal is final for this pass, except [`Closed`](Self::Closed), which is for the
/// operator; the holder should stop leading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refused {
    /// The guard restarted without its record and cannot know whom it had shut out. Reopen it with a token that the
    /// election now vouches for.
    Closed,
    /// Another holder already showed this very token: the election's store fell back. Raise the generation.
    Conflict {
        /// The holder that was admitted.
        holder: Holder,
    },
    /// The token is one that is never issued (counter 0 or the largest): the scheme's counter is exhausted, or the
    /// caller made it up. A token never wraps around.
    NeverIssued,
    /// A higher token was seen: this leader was overtaken.
    Stale {
        /// The highest token seen.
        highest: Token,
    },
    /// The pass belongs to another election.
    WrongElection {
        /// The election this resource is guarded for.
        guarded: ElectionId,
    },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the guard restarted without its record and is closed: reopen it with the token of the present leader"),
            Self::Conflict { holder } => write!(f, "node {} already showed this token: the election's store fell back; raise the generation", holder.node),
            Self::NeverIssued => f.write_str("this token is never issued: the counter is exhausted or made up"),
            Self::Stale { highest } => write!(f, "overtaken: token {highest} was seen; stop leading"),
            Self::WrongElection { guarded } => write!(f, "the resource is guarded for election {}: show a token of that one", guarded.0),
        }
    }
}

impl core::error::Error for Refused {}

/// The guard of one resource for one election.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fence<R = Faithful> {
    election: ElectionId,
    /// `None`: closed.
    seen: Option<Seen>,
    rules: R,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Seen {
    highest: Token,
    holder: Option<Holder>,
}

const NOBODY: Seen = Seen {
    highest: Token::NONE,
    holder: None,
};

impl Fence {
    /// The guard of a resource that nobody has ever written. Only for a resource known to be new, and its
    /// [`record`](Self::record) is stored when the resource is made: for one that lost its record use
    /// [`restore`](Self::restore) with `None`.
    #[must_use]
    pub fn unused(election: ElectionId) -> Self {
        Self::with_rules(election, Faithful)
    }

    /// The guard after a restart. Without its record it fails closed: it refuses everything until [`reopen`](Self::reopen).
    /// A record out of a backup is none: it does not know whom the guard has shut out since. The resource that was restored with
    /// it passes `None`.
    #[must_use]
    pub fn restore(election: ElectionId, record: Option<Record>) -> Self {
        let seen = record.filter(|record| record.election == election);
        Self {
            election,
            seen: seen.map(|record| Seen {
                highest: record.highest,
                holder: record.holder,
            }),
            rules: Faithful,
        }
    }
}

impl<R: Rules> Fence<R> {
    /// As [`Fence::unused`], for a guard that keeps these rules. Without
    /// [`FenceAtResource`](Rule::FenceAtResource) it notes what it is shown, and admits it.
    #[must_use]
    pub fn with_rules(election: ElectionId, rules: R) -> Self {
        Self {
            election,
            seen: Some(NOBODY),
            rules,
        }
    }

    /// Opens a closed guard at the token of the present leader, as the election itself (not the leader alone) vouches for.
    /// On an open guard it can only raise the token.
    ///
    /// # Errors
    /// As [`fence`](Self::fence), except [`Refused::Closed`].
    pub fn reopen(&mut self, pass: &Pass) -> Result<Record, Refused> {
        self.pass(self.seen.unwrap_or(NOBODY), pass)
    }

    /// Whether the pass would be admitted now. Changes nothing.
    ///
    /// # Errors
    /// Why it would not.
    pub fn check(&self, pass: &Pass) -> Result<(), Refused> {
        self.judge(self.seen.ok_or(Refused::Closed)?, pass)
    }

    /// Admits an effect. Store the returned record in the same atomic write as the effect, before acknowledging it; when
    /// that write fails, drop this guard and [`restore`](Self::restore) from what is stored.
    ///
    /// The highest token is admitted again from the same holder, as often as it writes.
    ///
    /// # Errors
    /// Why the effect must not happen; the guard is then unchanged.
    pub fn admit(&mut self, pass: &Pass) -> Result<Record, Refused> {
        self.pass(self.seen.ok_or(Refused::Closed)?, pass)
    }

    /// Raises the guard to a new leader's token without an effect, so that it may read. Strict: the token must be above
    /// every one seen, or be the highest and shown by the same holder (a repeated fence is harmless). Store the returned
    /// record before answering.
    ///
    /// # Errors
    /// Why the leader must not go on; the guard is then unchanged.
    pub fn fence(&mut self, pass: &Pass) -> Result<Record, Refused> {
        self.admit(pass)
    }

    /// What is to be stored for this guard; `None` while closed.
    #[must_use]
    pub fn record(&self) -> Option<Record> {
        self.seen.map(|seen| self.stored(seen))
    }

    /// The highest token seen; `None` while closed.
    #[must_use]
    pub fn highest(&self) -> Option<Token> {
        self.seen.map(|seen| seen.highest)
    }

    fn pass(&mut self, seen: Seen, pass: &Pass) -> Result<Record, Refused> {
        self.judge(seen, pass)?;
        let seen = if pass.token < seen.highest {
            seen
        } else {
            Seen {
                highest: pass.token,
                holder: Some(pass.holder),
            }
        };
        self.seen = Some(seen);
        Ok(self.stored(seen))
    }

    fn stored(&self, seen: Seen) -> Record {
        Record {
            election: self.election,
            highest: seen.highest,
            holder: seen.holder,
        }
    }

    fn judge(&self, seen: Seen, pass: &Pass) -> Result<(), Refused> {
        if pass.election != self.election {
            return Err(Refused::WrongElection {
                guarded: self.election,
            });
        }
        if !pass.token.is_issued() {
            return Err(Refused::NeverIssued);
        }
        if !self.rules.keeps(Rule::FenceAtResource) {
            return Ok(());
        }
        if pass.token < seen.highest {
            return Err(Refused::Stale {
                highest: seen.highest,
            });
        }
        match seen.holder {
            Some(holder) if pass.token == seen.highest && pass.holder != holder => {
                Err(Refused::Conflict { holder })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;
    use std::vec::Vec;

    const ELECTION: ElectionId = ElectionId(5);

    fn holder(node: u64) -> Holder {
        Holder {
            node: NodeId(node),
            incarnation: 1,
        }
    }

    fn pass(counter: u64, node: u64) -> Pass {
        Pass {
            election: ELECTION,
            token: Token::new(0, counter),
            holder: holder(node),
        }
    }

    #[test]
    fn lower_is_stale_and_equal_depends_on_the_holder() {
        let mut fence = Fence::unused(ELECTION);
        assert!(fence.admit(&pass(34, 2)).is_ok());
        assert!(fence.admit(&pass(34, 2)).is_ok());
        assert_eq!(
            fence.admit(&pass(33, 1)),
            Err(Refused::Stale {
                highest: Token::new(0, 34)
            })
        );
        assert_eq!(
            fence.admit(&pass(34, 3)),
            Err(Refused::Conflict { holder: holder(2) })
        );
        assert_eq!(
            fence.fence(&pass(34, 3)),
            Err(Refused::Conflict { holder: holder(2) })
        );
        assert!(fence.fence(&pass(34, 2)).is_ok());
    }

    #[test]
    fn a_generation_outranks_every_counter() {
        let mut fence = Fence::unused(ELECTION);
        assert!(fence.admit(&pass(u64::MAX - 1, 1)).is_ok());
        let restored = Pass {
            election: ELECTION,
            token: Token::new(1, 1),
            holder: holder(2),
        };
        assert!(fence.admit(&restored).is_ok());
        assert!(matches!(
            fence.admit(&pass(u64::MAX - 1, 1)),
            Err(Refused::Stale { .. })
        ));
    }

    #[test]
    fn tokens_that_are_never_issued_are_refused() {
        let mut fence = Fence::unused(ELECTION);
        assert_eq!(fence.admit(&pass(0, 1)), Err(Refused::NeverIssued));
        assert_eq!(fence.admit(&pass(u64::MAX, 1)), Err(Refused::NeverIssued));
        let other = Pass {
            election: ElectionId(6),
            ..pass(1, 1)
        };
        assert_eq!(
            fence.admit(&other),
            Err(Refused::WrongElection { guarded: ELECTION })
        );
        assert_eq!(fence.highest(), Some(Token::NONE));
    }

    #[test]
    fn without_its_rule_it_admits_whom_it_would_refuse_and_still_knows_the_highest() {
        let off = crate::takeover::Switched::without(&[Rule::FenceAtResource]);
        let mut fence = Fence::with_rules(ELECTION, off);
        let highest = fence.admit(&pass(34, 2)).unwrap();
        assert_eq!(fence.admit(&pass(33, 1)), Ok(highest));
        assert_eq!(fence.admit(&pass(0, 1)), Err(Refused::NeverIssued));
        assert_eq!(fence.highest(), Some(Token::new(0, 34)));
    }

    #[test]
    fn without_its_record_it_fails_closed() {
        let mut fence = Fence::unused(ELECTION);
        let record = fence.admit(&pass(34, 2)).unwrap();
        let new = Fence::unused(ELECTION);
        assert_eq!(
            Fence::restore(ELECTION, new.record()),
            new,
            "a resource that restarts before its first write"
        );
        let mut kept = Fence::restore(ELECTION, Some(record));
        assert_eq!(kept, fence);
        assert!(matches!(
            kept.admit(&pass(33, 1)),
            Err(Refused::Stale { .. })
        ));

        let mut lost = Fence::restore(ELECTION, None);
        let foreign = Fence::restore(
            ELECTION,
            Some(Record {
                election: ElectionId(6),
                ..record
            }),
        );
        assert_eq!(lost, foreign, "the record of another election is no record");
        for attempt in [
            lost.admit(&pass(33, 1)),
            lost.admit(&pass(35, 3)),
            lost.fence(&pass(35, 3)),
        ] {
            assert_eq!(attempt, Err(Refused::Closed));
        }
        assert_eq!(lost.check(&pass(35, 3)), Err(Refused::Closed));
        assert!(lost.reopen(&pass(35, 3)).is_ok());
        assert!(matches!(
            lost.admit(&pass(34, 2)),
            Err(Refused::Stale { .. })
        ));
        assert!(lost.admit(&pass(35, 3)).is_ok());
    }

    #[test]
    fn refusals_say_what_to_do() {
        for (refused, told) in [
            (Refused::Closed, "reopen it"),
            (Refused::Conflict { holder: holder(2) }, "node 2 already"),
            (Refused::NeverIssued, "never issued"),
            (
                Refused::Stale {
                    highest: Token::new(1, 34),
                },
                "token 1:34 was seen; stop leading",
            ),
            (
                Refused::WrongElection { guarded: ELECTION },
                "guarded for election 5",
            ),
        ] {
            assert!(refused.to_string().contains(told), "{refused}");
        }
    }

    proptest! {
        /// INV-F2: once a token was admitted or fenced, no lower one is, across restarts with the record; a refusal
        /// changes nothing; `check` says what `admit` does.
        #[test]
        fn nothing_below_the_highest_gets_in(steps in prop::collection::vec((1u64..8, 1u64..4, 0u8..4), 1..60)) {
            let mut fence = Fence::unused(ELECTION);
            let mut record = None;
            let mut admitted: Vec<Pass> = Vec::new();
            for (counter, holder, action) in steps {
                let shown = pass(counter, holder);
                let expected = admitted.iter().all(|earlier| earlier.token < shown.token || *earlier == shown);
                prop_assert_eq!(fence.check(&shown).is_ok(), expected);
                let before = fence.clone();
                let outcome = match action {
                    0 => fence.fence(&shown),
                    1 => { fence = Fence::restore(ELECTION, record); if record.is_none() { fence = Fence::unused(ELECTION); } continue }
                    2 => fence.reopen(&shown),
                    _ => fence.admit(&shown),
                };
                prop_assert_eq!(outcome.is_ok(), expected);
                match outcome {
                    Ok(stored) => { record = Some(stored); admitted.retain(|earlier| earlier.token == shown.token); admitted.push(shown); }
                    Err(_) => prop_assert_eq!(&fence, &before),
                }
            }
        }
    }
}
