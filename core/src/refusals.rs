//! How often a machine refused what cannot be true, by reason (law C8).

use alloc::boxed::Box;
use core::marker::PhantomData;

/// A reason to refuse an input: one of the enum that a scheme has of them.
pub trait Reason: Copy {
    /// Its place in the enum.
    fn place(self) -> usize;
}

/// How many inputs were refused, by reason, of which there are `N`. Counts only rise, and saturate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusals<R, const N: usize> {
    counts: [u32; N],
    of: PhantomData<fn(R)>,
}

impl<R, const N: usize> Refusals<R, N> {
    const NONE: Self = Self {
        counts: [0; N],
        of: PhantomData,
    };
}

impl<R, const N: usize> Default for Refusals<R, N> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<R: Reason, const N: usize> Refusals<R, N> {
    /// How often `reason` applied.
    #[must_use]
    pub fn count(&self, reason: R) -> u32 {
        self.counts.get(reason.place()).copied().unwrap_or(0)
    }

    /// The place of the first reason for which more was refused than when the count stood at `before`; `None` where nothing was.
    #[must_use]
    pub fn risen_since(&self, before: &Self) -> Option<usize> {
        let pairs = self.counts.iter().zip(&before.counts);
        pairs.into_iter().position(|(now, then)| now > then)
    }

    /// How many were refused in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(*count)).sum()
    }

    pub(crate) fn add(&mut self, reason: R) {
        if let Some(count) = self.counts.get_mut(reason.place()) {
            *count = count.saturating_add(1);
        }
    }
}

/// The counts of a machine that has no room for them before the first: there are many of it, and few ever refuse anything.
#[derive(Clone, Debug)]
pub(crate) struct Rarely<R, const N: usize>(Option<Box<Refusals<R, N>>>);

impl<R: Reason, const N: usize> Rarely<R, N> {
    /// Nothing was refused.
    pub(crate) const NEVER: Self = Self(None);

    pub(crate) fn add(&mut self, reason: R) {
        self.0.get_or_insert_default().add(reason);
    }

    pub(crate) fn counts(&self) -> &Refusals<R, N> {
        self.0.as_deref().unwrap_or(&Refusals::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{isr, kraft, lease, raft, sentinel, takeover, zab};

    fn are_counted_apart<R: Reason, const N: usize>(reasons: [R; N]) {
        let mut counter = Rarely::<R, N>::NEVER;
        assert_eq!(counter.counts().total(), 0);
        for (times, reason) in reasons.into_iter().enumerate() {
            for _ in 0..times {
                let before = *counter.counts();
                counter.add(reason);
                let risen = counter.counts().risen_since(&before);
                assert_eq!(risen, Some(reason.place()));
            }
            assert_eq!(counter.counts().risen_since(counter.counts()), None);
        }
        for (times, reason) in reasons.into_iter().enumerate() {
            assert_eq!(counter.counts().count(reason) as usize, times);
        }
        assert_eq!(counter.counts().total() as usize, N * (N - 1) / 2);
    }

    #[test]
    fn the_reasons_of_every_scheme_are_counted_apart() {
        are_counted_apart(raft::Refusal::ALL);
        are_counted_apart(zab::Refusal::ALL);
        are_counted_apart(kraft::Refusal::ALL);
        are_counted_apart(sentinel::Refusal::ALL);
        are_counted_apart(isr::Refusal::ALL);
        are_counted_apart(takeover::Refusal::ALL);
        are_counted_apart(lease::Refusal::ALL);
    }

    #[test]
    fn counts_saturate() {
        let mut refusals = Refusals {
            counts: [u32::MAX; lease::Refusal::ALL.len()],
            of: PhantomData,
        };
        refusals.add(lease::Refusal::TooLong);
        assert_eq!(refusals.count(lease::Refusal::TooLong), u32::MAX);
    }
}
