//! Connections between nodes, one for each pair, as TCP has them: nothing is overtaken or doubled, and a connection
//! breaks as a whole.
//!
//! A message that is lost, a cut of either direction, and a process that dies break it: what is in flight on it is lost in
//! both directions, and so is what is sent until it stands again. It stands again a round trip of the longest latency
//! after it broke, or after both directions carry and both processes are there, whichever is later.

use super::{Blame, NEVER, NOBODY};

/// The connections among some nodes.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    nodes: usize,
    pairs: Vec<Pair>,
    /// By direction: when the newest message on it arrives.
    newest: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Pair {
    /// From when on it stands; [`NEVER`] while it cannot.
    back: u64,
    /// What broke it last.
    by: Blame,
}

/// A connection that broke, or is to stand again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// Its ends, the lower first.
    pub(crate) ends: (u16, u16),
    /// Whether it broke just now.
    pub(crate) broke: bool,
    /// Whether that took a message in flight.
    pub(crate) hit: bool,
    /// When it stands again; [`NEVER`] while nobody knows.
    pub(crate) back: u64,
    /// What broke it.
    pub(crate) by: Blame,
}

impl Streams {
    /// Connections that stand wherever `carries` says so.
    pub(super) fn new(nodes: usize, carries: impl Fn(usize, usize) -> bool) -> Self {
        let pair = |place: usize| Pair {
            back: if carries(place / nodes, place % nodes) {
                0
            } else {
                NEVER
            },
            by: NOBODY,
        };
        Self {
            nodes,
            pairs: (0..nodes * nodes).map(pair).collect(),
            newest: vec![0; nodes * nodes],
        }
    }

    /// What broke the connection last, unless it stands.
    pub(super) fn broken(&self, now: u64, one: usize, other: usize) -> Option<Blame> {
        let pair = self.pairs.get(self.place(one, other))?;
        (pair.back > now).then_some(pair.by)
    }

    /// When a message arrives that would arrive at `at` if nothing were before it.
    pub(super) fn behind(&mut self, from: usize, to: usize, at: u64) -> u64 {
        match self.newest.get_mut(from * self.nodes + to) {
            Some(newest) => {
                *newest = at.max(*newest);
                *newest
            }
            None => at,
        }
    }

    /// Breaks the connection, which stands again at `back` as far as is known. False when it did not stand, and then only
    /// that is changed.
    pub(super) fn breaks(&mut self, now: u64, ends: (usize, usize), back: u64, by: Blame) -> bool {
        let (one, other) = ends;
        let place = self.place(one, other);
        for way in [one * self.nodes + other, other * self.nodes + one] {
            if let Some(newest) = self.newest.get_mut(way) {
                *newest = 0;
            }
        }
        let Some(pair) = self.pairs.get_mut(place) else {
            return false;
        };
        let stood = pair.back <= now;
        *pair = Pair { back, by };
        stood
    }

    /// The connection stands again at `back`. False when it stands, or was to stand already.
    pub(super) fn returns(&mut self, one: usize, other: usize, back: u64) -> bool {
        let place = self.place(one, other);
        match self.pairs.get_mut(place) {
            Some(pair) if pair.back == NEVER => {
                pair.back = back;
                true
            }
            _ => false,
        }
    }

    /// Whether the connection stands again just now.
    pub(super) fn is_back(&self, now: u64, one: usize, other: usize) -> bool {
        let pair = self.pairs.get(self.place(one, other));
        pair.is_some_and(|pair| pair.back == now)
    }

    fn place(&self, one: usize, other: usize) -> usize {
        one.min(other) * self.nodes + one.max(other)
    }
}
