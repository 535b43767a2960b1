//! What a machine knows of its own disk: which of its requests are done, and up to where its log is there (law C1).
//!
//! Requests are done in ticket order, and a reply covers all before it. Those of a former life are not known here: what the
//! disk holds of them was read when this one began.

use crate::Ticket;
use alloc::collections::VecDeque;

/// The requests of one life to its disk, numbered from 1.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    incarnation: u64,
    /// The number of the newest that was made.
    issued: u64,
    /// The number of the newest that is done. **Invariant:** `done <= issued`.
    done: u64,
}

impl Requests {
    /// None yet, in this life.
    pub(crate) const fn new(incarnation: u64) -> Self {
        Self {
            incarnation,
            issued: 0,
            done: 0,
        }
    }

    pub(crate) const fn incarnation(&self) -> u64 {
        self.incarnation
    }

    /// One more is made: its ticket.
    pub(crate) const fn issue(&mut self) -> Ticket {
        self.issued += 1;
        Ticket {
            incarnation: self.incarnation,
            number: self.issued,
        }
    }

    /// The number of the newest; 0 before the first.
    #[inline]
    pub(crate) const fn newest(&self) -> u64 {
        self.issued
    }

    /// How many are open.
    pub(crate) const fn pending(&self) -> u64 {
        self.issued - self.done
    }

    /// How many are open up to the one with this number, and no number of a ticket, which is no protocol state (law C10).
    pub(crate) const fn pending_to(&self, number: u64) -> u64 {
        number.saturating_sub(self.done)
    }

    /// Whether the one with this number is done, and with it all before. True of 0.
    #[inline]
    pub(crate) const fn is_done(&self, number: u64) -> bool {
        number <= self.done
    }

    /// Whether a ticket is that of a request of this life.
    #[inline]
    pub(crate) const fn knows(&self, ticket: Ticket) -> bool {
        let Ticket {
            incarnation,
            number,
        } = ticket;
        incarnation == self.incarnation && number > 0 && number <= self.issued
    }

    /// The one with this number, of those that are known, is done, and with it all before. False when that is no news.
    #[inline]
    pub(crate) const fn settle(&mut self, number: u64) -> bool {
        let news = number > self.done;
        if news {
            self.done = number;
        }
        news
    }
}

/// Up to where the present log is on the disk.
#[derive(Clone, Debug)]
pub(crate) struct LogOnDisk {
    end: u64,
    /// Open requests that take it further, by their numbers, and up to where the present log is there once each is done.
    open: VecDeque<(u64, u64)>,
}

impl LogOnDisk {
    /// All of it, up to `end`.
    pub(crate) const fn new(end: u64) -> Self {
        Self {
            end,
            open: VecDeque::new(),
        }
    }

    /// Up to where it is there.
    #[inline]
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    /// Once the newest request is done, which has this number, it is there up to `end`.
    pub(crate) fn asked(&mut self, number: u64, end: u64) {
        if !self.grown(number, end) {
            // Mostly one is open; a machine at rest keeps room for no more than it needed.
            if self.open.capacity() == 0 {
                self.open.reserve_exact(1);
            }
            self.open.push_back((number, end));
        }
    }

    /// The same of a request that was asked for and has grown since. False when this is another.
    #[inline]
    pub(crate) fn grown(&mut self, number: u64, end: u64) -> bool {
        match self.open.back_mut() {
            Some((last, reaches)) if *last == number => {
                *reaches = end;
                true
            }
            _ => false,
        }
    }

    /// The request with this number is done, and with it all before.
    #[inline]
    pub(crate) fn settle(&mut self, number: u64) {
        while let Some((open, end)) = self.open.front().copied()
            && open <= number
        {
            self.end = end;
            self.open.pop_front();
        }
    }

    /// The log ends at `index` from now on, or goes on there in another way: what was asked for beyond counts for nothing.
    pub(crate) fn cut(&mut self, index: u64) {
        self.end = self.end.min(index);
        for (_, end) in &mut self.open {
            *end = (*end).min(index);
        }
    }

    /// What [`asked`](Self::asked) was told and is open.
    pub(crate) fn open(&self) -> impl ExactSizeIterator<Item = (u64, u64)> {
        self.open.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn a_reply_covers_all_requests_before_it_and_those_of_this_life_alone() {
        let mut requests = Requests::new(7);
        assert!(requests.is_done(0) && !requests.is_done(1));
        let [first, second, third] = [(); 3].map(|()| requests.issue());
        assert_eq!((requests.newest(), requests.pending()), (3, 3));
        assert!(requests.knows(first) && requests.knows(third));
        for (incarnation, number) in [(6, 1), (7, 0), (7, 4)] {
            assert!(!requests.knows(Ticket {
                incarnation,
                number
            }));
        }
        assert!(requests.settle(second.number));
        assert!(requests.is_done(first.number) && !requests.is_done(third.number));
        assert_eq!((requests.pending(), requests.pending_to(2)), (1, 0));
        // Repeated, or overtaken by a later one.
        assert!(!requests.settle(second.number) && !requests.settle(first.number));
        assert!(requests.settle(third.number));
        assert_eq!(requests.pending(), 0);
    }

    #[test]
    fn a_log_is_on_the_disk_up_to_what_was_asked_for_and_not_cut_off_since() {
        let mut log = LogOnDisk::new(4);
        log.asked(1, 6);
        log.asked(3, 9);
        log.asked(3, 10);
        assert_eq!(log.open().collect::<Vec<_>>(), [(1, 6), (3, 10)]);
        // Another leader's entries take the place of those after 5.
        log.cut(5);
        log.asked(4, 7);
        log.settle(2);
        assert_eq!(log.end(), 5);
        log.settle(3);
        assert_eq!((log.end(), log.open().len()), (5, 1));
        log.settle(4);
        assert_eq!((log.end(), log.open().len()), (7, 0));
        log.cut(2);
        assert_eq!(log.end(), 2);
    }
}
