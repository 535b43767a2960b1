//! Requests to a store that are under way, each with the instant of its own send (LS-R2).

use crate::{Duration, Instant, Ticket};
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

/// How many are remembered. An older one that is still open when there are more is forgotten: its answer changes nothing.
pub(super) const OPEN: usize = 8;

/// The requests of one life of a machine. `W` says what each of them was for.
#[derive(Clone, Debug)]
pub(super) struct Requests<W> {
    incarnation: u64,
    made: u64,
    open: Vec<Open<W>>,
}

/// A request that was not answered yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open<W> {
    number: u64,
    /// What it was for.
    pub(super) what: W,
    /// The `now` of the call that made it (C5).
    pub(super) sent: Instant,
    /// Whether it was given up on. Its answer still counts, from its own send.
    pub(super) late: bool,
    /// Whether the host was told of it, where a machine makes its calls only when the host asks for them.
    told: bool,
}

impl<W: Copy> Requests<W> {
    pub(super) const fn new(incarnation: u64) -> Self {
        Self {
            incarnation,
            made: 0,
            open: Vec::new(),
        }
    }

    /// A request is made: its ticket.
    pub(super) fn make(&mut self, now: Instant, what: W) -> Ticket {
        if self.open.len() == OPEN {
            self.open.remove(0);
        }
        self.made += 1;
        if self.open.len() == self.open.capacity() {
            // There are mostly two or three, and room for each is made once.
            self.open.reserve_exact(1);
        }
        self.open.push(Open {
            number: self.made,
            what,
            sent: now,
            late: false,
            told: false,
        });
        self.numbered(self.made)
    }

    /// The ticket of a request that is answered many times, or never: it is not kept here.
    pub(super) fn ticket(&mut self) -> Ticket {
        self.made += 1;
        self.numbered(self.made)
    }

    /// The request of this life with a number.
    pub(super) const fn numbered(&self, number: u64) -> Ticket {
        Ticket {
            incarnation: self.incarnation,
            number,
        }
    }

    /// The next request that the host was not told of, which it is now.
    pub(super) fn untold(&mut self) -> Option<(Ticket, W)> {
        let open = self.open.iter_mut().find(|open| !open.told)?;
        open.told = true;
        let (number, what) = (open.number, open.what);
        Some((self.numbered(number), what))
    }

    /// An answer came: to which request. `None` when to none that is open, such as one of a former life.
    pub(super) fn answered(&mut self, ticket: Ticket) -> Option<Open<W>> {
        if ticket.incarnation != self.incarnation {
            return None;
        }
        let place = self
            .open
            .iter()
            .position(|open| open.number == ticket.number)?;
        Some(self.open.remove(place))
    }

    /// A request that waited for `patience` and is given up on now; each of them once. Its result is unknown (C6).
    pub(super) fn overdue(&mut self, now: Instant, patience: Duration) -> Option<Open<W>> {
        let open = self
            .open
            .iter_mut()
            .find(|open| !open.late && open.sent + patience <= now)?;
        open.late = true;
        Some(*open)
    }

    /// When the next is given up on.
    pub(super) fn next_overdue(&self, patience: Duration) -> Option<Instant> {
        let sent = self
            .open
            .iter()
            .filter(|open| !open.late)
            .map(|open| open.sent);
        sent.min().map(|sent| sent + patience)
    }

    /// Whether an answer is waited for.
    pub(super) fn waits(&self) -> bool {
        self.open.iter().any(|open| !open.late)
    }

    /// Whether an answer of this kind is waited for.
    pub(super) fn waits_for(&self, which: impl Fn(W) -> bool) -> bool {
        self.open.iter().any(|open| !open.late && which(open.what))
    }

    /// What is under way, with times relative to `now`.
    pub(super) fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H)
    where
        W: Hash,
    {
        for open in &self.open {
            (open.what, now.since(open.sent), open.late).hash(hasher);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_micros(10);

    fn at(micros: u64) -> Instant {
        Instant::from_micros(micros)
    }

    #[test]
    fn each_keeps_its_own_send_and_is_answered_once() {
        let mut requests = Requests::new(7);
        let first = requests.make(at(1), 'a');
        let second = requests.make(at(5), 'b');
        let sent = |open: Option<Open<char>>| open.map(|open| (open.what, open.sent, open.late));
        assert_eq!(sent(requests.answered(second)), Some(('b', at(5), false)));
        assert_eq!(requests.answered(second), None);
        let former = Ticket {
            incarnation: 6,
            ..first
        };
        assert_eq!(requests.answered(former), None);
        assert_eq!(sent(requests.answered(first)), Some(('a', at(1), false)));
    }

    #[test]
    fn what_is_given_up_on_is_so_once_and_may_still_be_answered() {
        let mut requests = Requests::new(7);
        let first = requests.make(at(1), 'a');
        requests.make(at(5), 'b');
        assert_eq!(requests.next_overdue(PATIENCE), Some(at(11)));
        assert_eq!(requests.overdue(at(10), PATIENCE), None);
        assert_eq!(
            requests.overdue(at(11), PATIENCE).map(|open| open.what),
            Some('a')
        );
        assert_eq!(requests.overdue(at(11), PATIENCE), None);
        assert_eq!(requests.next_overdue(PATIENCE), Some(at(15)));
        assert!(requests.waits());
        assert_eq!(requests.answered(first).map(|open| open.late), Some(true));
    }

    #[test]
    fn the_host_is_told_once_and_what_is_answered_often_is_not_kept() {
        let mut requests = Requests::new(7);
        let first = requests.make(at(1), 'a');
        let watch = requests.ticket();
        let second = requests.make(at(2), 'b');
        assert!(requests.waits_for(|what| what == 'b'));
        assert_eq!(requests.untold(), Some((first, 'a')));
        assert_eq!(requests.untold(), Some((second, 'b')));
        assert_eq!(requests.untold(), None);
        assert_eq!(
            (requests.answered(watch), requests.numbered(2)),
            (None, watch)
        );
        requests.answered(second);
        assert!(!requests.waits_for(|what| what == 'b'));
    }

    #[test]
    fn the_oldest_is_forgotten_when_there_are_too_many() {
        let mut requests = Requests::new(7);
        let tickets: Vec<_> = (0..=OPEN as u64)
            .map(|micros| requests.make(at(micros), ()))
            .collect();
        assert_eq!(requests.answered(tickets[0]), None);
        assert!(
            tickets[1..]
                .iter()
                .all(|ticket| requests.answered(*ticket).is_some())
        );
    }
}
