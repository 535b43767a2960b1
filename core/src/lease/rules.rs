//! The rules an election over a store stands on, each of which can be switched off to see what it protects.

use crate::Instant;
use crate::listed::listed;
pub use crate::rules::Faithful;

listed! {
    /// A load-bearing rule. The documentation of each says what breaks when it is off; [`protects`](Self::protects) says it
    /// to programs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Rule {
        /// A tenure counts from the send of the request that was acknowledged (LS-R1, C5). Off (from its answer): believed
        /// leaders.
        ValidityFromSend,
        /// A tenure ends by the clock, whatever the store says or does not say (LS-R3). Off (when the store says so):
        /// believed leaders.
        DemoteByTimer,
        /// A record is the own one by the nonce of the attempt (LS-R4). Off (by the name): two processes of one name both
        /// hold it.
        Nonce,
        /// A record is released only as long as it is the own one (LS-39r). Off: it may be the successor's, and a third
        /// takes it beside that.
        CompareAndDelete,
        /// Before a waiter claims, it looks again whether its own place in the queue is still there (LS-13, LS-24). Off: one
        /// whose session ended while it waited believes beside the next.
        RecheckOwnRecord,
        /// A foreign record stands for the own lease time from its first sight, whatever times it names (LS-8). Off (as the
        /// record says): a clock that is wrong takes the lease of one who lives.
        OwnClockOnly,
        /// More than half of all that are configured must grant it (LS-38). Off (of those that answer): two holders.
        MajorityOfConfigured,
        /// Who takes a lock over from one that did not give it up waits for as long as that one may believe (LS-46, LS-48).
        /// Off: the server ended the session of who leads, who has yet to hear of it.
        OutwaitFormer,
        /// A session goes on from what its servers told their leader, which a later write proves. Off (from whatever a
        /// server answered): one that dies before it told keeps a believer whose session ends.
        ProvenAtLeader,
        /// Whatever a controller writes is checked against the epoch it was elected in (KZ-F1, KAFKA-6082). Off: what one
        /// that was overtaken had still to write is taken.
        GuardedWrites,
        /// An ephemeral node is the own one by its session (KAFKA-1029). Off (by the name in it): the node of a former life
        /// is taken for an election, and two have one epoch.
        OwnSession,
    }
}

/// What a rule protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Invariant {
    /// Two nodes never believe to lead at one instant.
    BelievedLeaders,
    /// Tokens rise from one established leader to the next.
    TokenRises,
    /// The store takes no write of a controller whose epoch is not the stored one.
    NoStaleWrite,
}

impl Invariant {
    /// Its name in tests, simulator and traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BelievedLeaders => "INV-S1",
            Self::TokenRises => "INV-E6",
            Self::NoStaleWrite => "KZ-NoStaleWrite",
        }
    }
}

impl Rule {
    /// What breaks first when the rule is off.
    #[must_use]
    pub const fn protects(self) -> Invariant {
        match self {
            Self::GuardedWrites => Invariant::NoStaleWrite,
            _ => Invariant::BelievedLeaders,
        }
    }

    /// What may break as a consequence, and in a schedule where the first is not looked at, before it: who believes too
    /// long may have taken office late.
    #[must_use]
    pub const fn follows(self) -> &'static [Invariant] {
        match self {
            // Who takes itself for elected writes as such.
            Self::OwnSession => &[Invariant::TokenRises, Invariant::NoStaleWrite],
            _ => &[Invariant::TokenRises],
        }
    }
}

impl crate::rules::Rule for Rule {
    fn place(self) -> u8 {
        self as u8
    }
}

/// Which rules of the family a machine keeps.
pub trait Rules: crate::rules::Rules<Rule> {}

impl<R: crate::rules::Rules<Rule>> Rules for R {}

/// From when on a request counts that was sent then and is acknowledged now: [`Rule::ValidityFromSend`].
pub(super) fn counts_from<R: Rules>(rules: &R, sent: Instant, now: Instant) -> Instant {
    if rules.keeps(Rule::ValidityFromSend) {
        sent
    } else {
        now
    }
}

/// Some rules are switched off: see [`Switched`](crate::rules::Switched).
pub type Switched = crate::rules::Switched<Rule>;
