//! One thing a takeover needs done, until it is.

use super::words::{How, Policy, Request};
use crate::{Instant, Token};

/// The asks of one task whose answers count: the first, and the last few. Whatever is asked again is harmless when it is done
/// twice, so that a late answer to an earlier ask is as good as one to the last. The first is kept for what takes several times
/// as long as its answer is waited for: of the last alone, each would be forgotten before its answer comes.
const ASKS: usize = 4;

/// What is needed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum What<K> {
    Fence(u32),
    Watch,
    Read(u32),
    List,
    Claim { key: K, from: Token, policy: Policy },
    Resume { key: K, how: How },
    Announce,
    Drain(Instant),
    Stop,
}

#[derive(Clone, Debug)]
pub(super) struct Task<K> {
    /// `None` when it is done.
    what: Option<What<K>>,
    /// The numbers of the asks, the last first; 0 where there is none.
    asks: [u64; ASKS],
    /// When to ask, or to ask again.
    pub(super) next: Instant,
}

impl<K: Clone> Task<K> {
    /// To be asked at once.
    pub(super) const fn new(what: What<K>, now: Instant) -> Self {
        Self {
            what: Some(what),
            asks: [0; ASKS],
            next: now,
        }
    }

    pub(super) const fn what(&self) -> Option<&What<K>> {
        self.what.as_ref()
    }

    pub(super) const fn is_open(&self) -> bool {
        self.what.is_some()
    }

    /// The numbers of the first ask and of the last.
    pub(super) fn asked(&self) -> (u64, u64) {
        let asks = self.asks.iter().filter(|number| **number != 0);
        (asks.min().copied().unwrap_or(0), self.asks[0])
    }

    pub(super) fn done(&mut self) {
        self.what = None;
    }

    /// Something else is needed instead, from then on. Answers to what was asked before are no answers to it.
    pub(super) fn becomes(&mut self, what: What<K>, from: Instant) {
        *self = Self::new(what, from);
    }

    /// Whether an answer with this number is one to it.
    pub(super) fn asked_as(&self, number: u64) -> bool {
        self.is_open() && self.asks.contains(&number)
    }

    /// It is asked, with this number, and asked again at `next` if no answer comes.
    pub(super) fn ask(
        &mut self,
        number: u64,
        next: Instant,
        after: &Option<K>,
        limit: u32,
    ) -> Option<Request<K>> {
        let [.., third, first] = &mut self.asks;
        if *first == 0 {
            *first = *third;
        }
        self.asks[..ASKS - 1].rotate_right(1);
        self.asks[0] = number;
        self.next = next;
        Some(match self.what.as_ref()? {
            What::Fence(resource) => Request::Fence(*resource),
            What::Watch => Request::Watch,
            What::Read(resource) => Request::Read(*resource),
            What::List => Request::List {
                after: after.clone(),
                limit,
            },
            What::Claim { key, from, .. } => Request::Claim {
                key: key.clone(),
                from: *from,
            },
            What::Resume { key, how } => Request::Resume {
                key: key.clone(),
                how: *how,
            },
            What::Announce => Request::Announce,
            What::Drain(until) => Request::Drain(*until),
            What::Stop => Request::Stop,
        })
    }

    /// The answer with this number says that it was not done, or may not have been: it is asked again at `next`, unless it
    /// was asked again since.
    pub(super) fn again(&mut self, number: u64, next: Instant) {
        if self.asks[0] == number {
            self.next = next;
        }
    }
}
