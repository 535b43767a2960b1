//! What becomes of reads that are counted and not named: "all up to number *n*, once the state has applied index *i*" answers
//! any number of them.

use alloc::collections::VecDeque;

/// What became of the reads up to a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Served {
    /// They may be answered once the host's state has applied `index`.
    Ready {
        /// The newest of them: all up to it that were not told of yet.
        upto: u64,
        /// Up to where the state must have come.
        index: u64,
    },
    /// The leadership they were asked in ended before they were confirmed. Ask again.
    LeaderLost {
        /// The newest of them: all up to it that were not told of yet.
        upto: u64,
    },
}

/// What the host was not told yet. Each is about a read that the host asked for, so that no peer can make it grow; and what
/// can be told as one is.
#[derive(Clone, Debug)]
pub(crate) struct Untold(VecDeque<Served>);

impl Untold {
    pub(crate) fn new() -> Self {
        Self(VecDeque::with_capacity(2))
    }

    /// Those up to `upto` may be answered from `index` on.
    pub(crate) fn ready(&mut self, upto: u64, index: u64) {
        if let Some(Served::Ready {
            upto: newest,
            index: highest,
        }) = self.0.back_mut()
        {
            *newest = upto;
            *highest = index.max(*highest);
        } else {
            self.0.push_back(Served::Ready { upto, index });
        }
    }

    /// Nobody leads any more by whom those up to `upto` could be confirmed.
    pub(crate) fn lost(&mut self, upto: u64) {
        if let Some(Served::LeaderLost { upto: newest }) = self.0.back_mut() {
            *newest = upto;
        } else {
            self.0.push_back(Served::LeaderLost { upto });
        }
    }

    pub(crate) fn poll(&mut self) -> Option<Served> {
        self.0.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_told_as_one_is() {
        let mut untold = Untold::new();
        untold.ready(1, 7);
        untold.ready(3, 5);
        untold.lost(4);
        untold.lost(6);
        untold.ready(7, 9);
        let told = core::iter::from_fn(|| untold.poll());
        assert!(told.eq([
            Served::Ready { upto: 3, index: 7 },
            Served::LeaderLost { upto: 6 },
            Served::Ready { upto: 7, index: 9 },
        ]));
    }
}
