//! The rules a takeover stands on, each of which can be switched off to see what it protects.

use crate::listed::listed;
pub use crate::rules::Faithful;

listed! {
    /// A load-bearing rule. The documentation of each says what breaks when it is off; [`protects`](Self::protects) says it
    /// to programs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Rule {
        /// A resource admits no effect under a token below the highest it has seen (LS-F1, LS-F2). It is the
        /// [guard](crate::fence::Fence) that keeps it. Off: what a leader that was overtaken still sends gets in.
        FenceAtResource,
        /// Every resource is fenced before anything is read (LS-F5). Off (the first effect raises the guard): what the
        /// predecessor writes after the read is overwritten.
        FenceBeforeRead,
        /// Work is taken from the owner it was listed with, as long as it has that one. Off (taken as it was listed): what
        /// its owner finished meanwhile is done again.
        CompareAndSwapOwner,
        /// Of work that must not be repeated, what came of it is asked and not tried. Off (all work is redone): its effect
        /// is there twice.
        IdempotentTakeover,
        /// Only the work of other terms is taken over. Off: what the leader works at itself is begun a second time, beside
        /// it.
        OnlyOthers,
    }
}

/// What a rule protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Invariant {
    /// A resource that has seen a token takes no effect under a lower one.
    NoStaleEffect,
    /// What is accepted is not lost: no write is made from a value that is older than the last.
    NoLostUpdate,
    /// The effect of work is there once, unless the work says that more often is bearable.
    EffectOnce,
    /// Nobody works at what somebody works at already.
    NoneConcurrent,
}

impl Invariant {
    /// Its name in tests, simulator and traces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoStaleEffect => "INV-F2",
            Self::NoLostUpdate => "INV-R1",
            Self::EffectOnce => "INV-F4",
            Self::NoneConcurrent => "INV-S1",
        }
    }
}

impl Rule {
    /// What breaks first when the rule is off.
    #[must_use]
    pub const fn protects(self) -> Invariant {
        match self {
            Self::FenceAtResource => Invariant::NoStaleEffect,
            Self::FenceBeforeRead => Invariant::NoLostUpdate,
            Self::CompareAndSwapOwner | Self::IdempotentTakeover => Invariant::EffectOnce,
            Self::OnlyOthers => Invariant::NoneConcurrent,
        }
    }

    /// What may break as a consequence, and in a schedule where the first is not looked at, before it.
    #[must_use]
    pub const fn follows(self) -> &'static [Invariant] {
        match self {
            // A stale write is made from a stale value, and a stale effect is one more.
            Self::FenceAtResource => &[Invariant::NoLostUpdate, Invariant::EffectOnce],
            // What the predecessor finishes after it was listed.
            Self::FenceBeforeRead => &[Invariant::EffectOnce],
            // Work that is begun twice has its effect twice.
            Self::OnlyOthers => &[Invariant::EffectOnce],
            // What it works at has another's name on it still, and is taken over again when it is listed again.
            Self::CompareAndSwapOwner => &[Invariant::NoneConcurrent],
            Self::IdempotentTakeover => &[],
        }
    }
}

impl crate::rules::Rule for Rule {
    fn place(self) -> u8 {
        self as u8
    }
}

/// Which rules of a takeover are kept.
pub trait Rules: crate::rules::Rules<Rule> {}

impl<R: crate::rules::Rules<Rule>> Rules for R {}

/// Some rules are switched off: see [`Switched`](crate::rules::Switched).
pub type Switched = crate::rules::Switched<Rule>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_follows_nothing_that_it_protects() {
        for rule in Rule::ALL {
            assert!(!rule.follows().contains(&rule.protects()), "{rule:?}");
            assert!(rule.protects().name().starts_with("INV-"));
        }
    }
}
