//! A disk: writes take time, are done in order, and what was not done is lost in a crash. It may fail a write, lose all
//! it holds, or lie: then it answers at once and keeps what it was given in its cache, which a crash empties.

use tenure::{Ticket, Unknown};

/// The disk of one node, holding one durable record.
#[derive(Clone, Debug)]
pub struct Disk<R> {
    durable: Option<R>,
    /// The newest write that was answered and is in the cache alone, if any.
    cached: Vec<(Ticket, R, u64)>,
    /// Writes on their way, oldest first, with the time each is done.
    writes: Vec<(Ticket, R, u64)>,
    /// How long a write takes.
    pub takes: u64,
    /// Whether it answers before it has written.
    pub lies: bool,
    /// Whether the next write to be done fails instead.
    pub fails: bool,
    /// Counts crashes: the completion of a write that a crash undid is recognised by it.
    era: u32,
}

/// How a write ended: [`Unknown`] when it failed.
pub type Written = (Ticket, Result<(), Unknown>);

impl<R: Clone> Disk<R> {
    /// An empty disk.
    #[must_use]
    pub const fn new(takes: u64) -> Self {
        Self {
            durable: None,
            cached: Vec::new(),
            writes: Vec::new(),
            takes,
            lies: false,
            fails: false,
            era: 0,
        }
    }

    /// Starts a write at `now`; answers when it is done. Writes are done one after another: a slow one holds back those
    /// behind it.
    pub fn write(&mut self, now: u64, ticket: Ticket, record: R) -> u64 {
        let begins = self
            .writes
            .last()
            .map_or(now, |(_, _, done)| now.max(*done));
        let takes = if self.lies { 0 } else { self.takes };
        let done = begins.saturating_add(takes);
        self.writes.push((ticket, record, done));
        done
    }

    /// The oldest write is over, if it was of this era: its record is durable or said to be, or the write failed.
    pub fn done(&mut self, era: u32) -> Option<Written> {
        if era != self.era {
            return None;
        }
        if self.writes.is_empty() {
            return None;
        }
        // Hardly ever more than one: moving the rest up costs nothing.
        let write = self.writes.remove(0);
        let ticket = write.0;
        if std::mem::take(&mut self.fails) {
            return Some((ticket, Err(Unknown)));
        }
        self.cached.clear();
        self.cached.push(write);
        if !self.lies {
            self.flush();
        }
        Some((ticket, Ok(())))
    }

    /// The power goes: every write that was not done is lost, and told to `lost`. Answers the newest ticket of those that
    /// are lost although they were answered.
    pub fn crash(&mut self, mut lost: impl FnMut(Ticket)) -> Option<Ticket> {
        for (ticket, _, _) in self.writes.drain(..) {
            lost(ticket);
        }
        self.era += 1;
        self.cached.pop().map(|(ticket, ..)| ticket)
    }

    /// From now on a write takes so long, does not fail, and is answered when it is done; what is in the cache is written.
    /// False when all that was so before.
    pub fn mend(&mut self, takes: u64) -> bool {
        let same = self.takes == takes && !self.lies && !self.fails;
        self.takes = takes;
        (self.lies, self.fails) = (false, false);
        self.flush();
        !same
    }

    /// All it holds is gone. False when that was nothing. Writes on their way are not: they go with a crash.
    pub fn wipe(&mut self) -> bool {
        self.flush();
        self.durable.take().is_some()
    }

    /// What is read after a restart.
    #[must_use]
    pub fn durable(&self) -> Option<&R> {
        let cached = self.cached.last().map(|(_, record, _)| record);
        cached.or(self.durable.as_ref())
    }

    /// How many writes are on their way.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.writes.len()
    }

    /// The present era, to be handed to [`done`](Self::done).
    #[must_use]
    pub const fn era(&self) -> u32 {
        self.era
    }

    /// What is in the cache is written.
    #[cfg_attr(target_family = "wasm", inline(never))]
    fn flush(&mut self) {
        if let Some((_, record, _)) = self.cached.pop() {
            self.durable = Some(record);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket(number: u64) -> Ticket {
        Ticket {
            incarnation: 1,
            number,
        }
    }

    #[test]
    fn writes_are_done_one_after_another() {
        let mut disk = Disk::new(10);
        assert_eq!(disk.write(0, ticket(1), 'a'), 10);
        assert_eq!(disk.write(4, ticket(2), 'b'), 20);
        assert_eq!(disk.write(50, ticket(3), 'c'), 60);
        assert_eq!(disk.done(0), Some((ticket(1), Ok(()))));
        assert_eq!((disk.durable(), disk.pending()), (Some(&'a'), 2));
    }

    #[test]
    fn a_crash_loses_the_tail_and_nothing_else() {
        let mut disk = Disk::new(10);
        disk.write(0, ticket(1), 'a');
        disk.write(0, ticket(2), 'b');
        disk.done(0);
        let era = disk.era();
        let mut lost = Vec::new();
        assert_eq!(disk.crash(|ticket| lost.push(ticket.number)), None);
        assert_eq!(lost, [2]);
        assert_eq!(disk.durable(), Some(&'a'));
        disk.write(30, ticket(3), 'c');
        assert_eq!(
            disk.done(era),
            None,
            "the completion of the lost write does not complete the next one"
        );
        assert_eq!(disk.done(disk.era()), Some((ticket(3), Ok(()))));
    }

    #[test]
    fn a_failed_write_leaves_what_was_there_and_the_next_succeeds() {
        let mut disk = Disk::new(10);
        disk.write(0, ticket(1), 'a');
        disk.done(0);
        disk.fails = true;
        disk.write(20, ticket(2), 'b');
        disk.write(20, ticket(3), 'c');
        assert_eq!(disk.done(0), Some((ticket(2), Err(Unknown))));
        assert_eq!(disk.durable(), Some(&'a'));
        assert_eq!(disk.done(0), Some((ticket(3), Ok(()))));
        assert_eq!(disk.durable(), Some(&'c'));
    }

    #[test]
    fn what_a_lying_disk_answered_is_lost_in_a_crash_unless_it_was_mended() {
        for mended in [false, true] {
            let mut disk = Disk::new(10);
            disk.write(0, ticket(1), 'a');
            disk.done(0);
            disk.lies = true;
            for (number, record) in [(2, 'b'), (3, 'c')] {
                assert_eq!(disk.write(20, ticket(number), record), 20);
                disk.done(0);
            }
            assert_eq!(disk.durable(), Some(&'c'), "it reads from its cache");
            if mended {
                assert!(disk.mend(10) && !disk.mend(10));
            }
            let lost = disk.crash(|_| {});
            let (expected, left) = if mended {
                (None, 'c')
            } else {
                (Some(ticket(3)), 'a')
            };
            assert_eq!((lost, disk.durable()), (expected, Some(&left)));
        }
    }

    #[test]
    fn a_wiped_disk_is_empty_whatever_was_in_its_cache() {
        let mut disk = Disk::new(10);
        assert!(!disk.wipe());
        disk.lies = true;
        disk.write(0, ticket(1), 'a');
        disk.done(0);
        assert!(disk.wipe());
        assert_eq!((disk.crash(|_| {}), disk.durable()), (None, None));
    }
}
