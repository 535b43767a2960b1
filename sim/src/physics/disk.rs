//! A disk, and what is kept on it as crash-safe hosts keep a record: each write goes to a new file, the file is synced, it
//! takes the record's name, and the directory is synced. Only then it is answered. What the disk holds is the fold of all
//! writes that were done.
//!
//! Writes are done in order, and a crash leaves what the steps that were done are good for. The disk may also fail a
//! write, drop one and say nothing, lose all it holds, or lie: then it answers at once and keeps what it was given in its
//! cache, which a crash empties.

use super::trace::Lost;
use tenure::random::Random;
use tenure::{Ticket, Unknown};

/// How long a write takes, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Takes {
    /// Until its file is appended to and synced.
    pub write: u64,
    /// From then until it has the record's name and the directory is synced. The name is taken half-way.
    pub rename: u64,
}

impl Takes {
    /// As a disk that renames in no time.
    #[must_use]
    pub const fn write(write: u64) -> Self {
        Self { write, rename: 0 }
    }

    /// All of it.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.write.saturating_add(self.rename)
    }
}

/// What a disk can hold.
pub trait Kept: Clone + Default {
    /// What changes it.
    type Write: Clone;

    /// Carries out one more write, whole. False for one that does not fit what is held, because another before it is
    /// missing: it changes nothing.
    fn fold(&mut self, write: &Self::Write) -> bool;

    /// Whether what was asked for after this write is not done when it fails: each rests on those before it.
    fn is_rested_on(_write: &Self::Write) -> bool {
        false
    }

    /// The power goes: of what was done, what a later write was to make durable is taken back, in part or whole.
    fn crash(&mut self, _draw: &mut Random) {}
}

/// The disk of one node, holding the fold of all writes.
#[derive(Clone, Debug)]
pub struct Disk<K: Kept> {
    durable: Option<K>,
    /// With the newest write that was answered and is in the cache alone, if any.
    cached: Option<(Ticket, K)>,
    /// Writes on their way, oldest first.
    writes: Vec<Write<K::Write>>,
    /// How long a write takes.
    pub takes: Takes,
    /// Whether it answers before it has written.
    pub lies: bool,
    /// Whether the next write to be done fails instead.
    pub fails: bool,
    /// Whether the next write to be done is answered without being done.
    pub drops: bool,
    /// Whether such a write is missing, and none came after it.
    missing: bool,
    /// Whether a write failed on which those that come after it rest: none of them is done.
    stopped: bool,
    /// Counts crashes: the completion of a write that a crash undid is recognised by it.
    era: u32,
}

#[derive(Clone, Debug)]
struct Write<W> {
    ticket: Ticket,
    what: W,
    /// When the disk turns to it.
    begins: u64,
    /// When its file is synced, when it has the record's name, and when the directory is synced.
    synced: u64,
    renamed: u64,
    done: u64,
}

/// How a write ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Which.
    pub ticket: Ticket,
    /// What is answered: [`Unknown`] when it failed.
    pub answer: Result<(), Unknown>,
    /// What became of it, when it is not on the disk.
    pub lost: Option<Lost>,
}

impl<K: Kept> Disk<K> {
    /// An empty disk.
    #[must_use]
    pub const fn new(takes: Takes) -> Self {
        Self {
            durable: None,
            cached: None,
            writes: Vec::new(),
            takes,
            lies: false,
            fails: false,
            drops: false,
            missing: false,
            stopped: false,
            era: 0,
        }
    }

    /// Starts a write at `now`; answers when it is done. One is done after another, and those that wait for the one that is
    /// under way are synced together: a disk that was slow for a while is not behind for long.
    pub fn write(&mut self, now: u64, ticket: Ticket, what: K::Write) -> u64 {
        let Takes { write, rename } = if self.lies {
            Takes::default()
        } else {
            self.takes
        };
        let (begins, synced, renamed, done) = match self.writes.last() {
            Some(last) if last.begins > now => (last.begins, last.synced, last.renamed, last.done),
            last => {
                let begins = last.map_or(now, |last| now.max(last.done));
                let synced = begins.saturating_add(write);
                let done = synced.saturating_add(rename);
                (begins, synced, synced + (done - synced) / 2, done)
            }
        };
        self.writes.push(Write {
            ticket,
            what,
            begins,
            synced,
            renamed,
            done,
        });
        done
    }

    /// Whether it is still at writes that were asked for while it was slower.
    #[must_use]
    pub fn lags(&self, now: u64) -> bool {
        let usual = self.takes.total().saturating_mul(self.writes.len() as u64);
        let last = self.writes.last();
        last.is_some_and(|last| last.done.saturating_sub(now) > usual)
    }

    /// The oldest write is over, if it was of this era: it is durable or said to be, or it failed.
    pub fn done(&mut self, era: u32) -> Option<Written> {
        if era != self.era || self.writes.is_empty() {
            return None;
        }
        // Hardly ever more than one: moving the rest up costs nothing.
        let Write { ticket, what, .. } = self.writes.remove(0);
        let (answer, lost) = if std::mem::take(&mut self.fails) || self.stopped {
            self.stopped |= K::is_rested_on(&what);
            (Err(Unknown), Some(Lost::Failed))
        } else if std::mem::take(&mut self.drops) {
            self.missing = true;
            (Ok(()), Some(Lost::Dropped))
        } else {
            self.missing = false;
            if self.lies {
                let mut held = self.durable().cloned().unwrap_or_default();
                held.fold(&what);
                self.cached = Some((ticket, held));
            } else {
                self.flush();
                self.keep(&what);
            }
            (Ok(()), None)
        };
        Some(Written {
            ticket,
            answer,
            lost,
        })
    }

    /// The power goes. What becomes of each write that was not answered is told to `told`: lost, in a way that it may be
    /// worth to name; or done, although nobody heard of it. Answers the newest ticket of those that are lost although
    /// they were answered.
    pub fn crash(
        &mut self,
        now: u64,
        draw: &mut Random,
        mut told: impl FnMut(Ticket, Result<(), Option<Lost>>),
    ) -> Option<Ticket> {
        let answered = self.cached.take().map(|(ticket, _)| ticket);
        let stopped = std::mem::take(&mut self.stopped);
        let mut first = true;
        for write in std::mem::take(&mut self.writes) {
            let begun = std::mem::take(&mut first);
            let left = if !begun || stopped {
                Err(None)
            } else if self.lies || now < write.synced {
                Err(Some(Lost::Torn))
            } else if now < write.renamed {
                Err(Some(Lost::Unnamed))
            } else if draw.below(2) == 0 {
                Err(Some(Lost::Renamed))
            } else {
                self.keep(&write.what);
                self.missing = false;
                Ok(())
            };
            told(write.ticket, left);
        }
        if let Some(held) = &mut self.durable {
            held.crash(draw);
        }
        self.era += 1;
        answered
    }

    /// From now on a write takes so long, and is done before it is answered; what is in the cache is written. False when
    /// all that was so before.
    pub fn mend(&mut self, takes: Takes) -> bool {
        let same = self.takes == takes && !self.is_damaged();
        self.takes = takes;
        (self.lies, self.fails, self.drops) = (false, false, false);
        self.flush();
        !same
    }

    /// All it holds is gone. False when that was nothing. Writes on their way are not: they go with a crash.
    pub fn wipe(&mut self) -> bool {
        self.flush();
        self.missing = false;
        self.durable.take().is_some()
    }

    /// What is read after a restart.
    #[must_use]
    pub fn durable(&self) -> Option<&K> {
        let cached = self.cached.as_ref().map(|(_, held)| held);
        cached.or(self.durable.as_ref())
    }

    /// Whether it lies, or will fail or drop a write.
    #[must_use]
    pub const fn is_damaged(&self) -> bool {
        self.lies || self.fails || self.drops
    }

    /// Whether the newest write that was answered is not in what is read, for it never reached the medium.
    #[must_use]
    pub const fn is_missing_one(&self) -> bool {
        self.missing
    }

    /// How many writes are on their way.
    #[must_use]
    pub const fn pending(&self) -> usize {
        self.writes.len()
    }

    /// The present era, to be handed to [`done`](Self::done).
    #[must_use]
    pub const fn era(&self) -> u32 {
        self.era
    }

    /// What is in the cache is written.
    fn flush(&mut self) {
        if let Some((_, held)) = self.cached.take() {
            self.durable = Some(held);
        }
    }

    /// A write reaches the medium.
    fn keep(&mut self, what: &K::Write) {
        self.durable.get_or_insert_default().fold(what);
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

    /// All that was ever written, in order.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Tape(String);

    impl Kept for Tape {
        type Write = char;

        fn fold(&mut self, write: &char) -> bool {
            self.0.push(*write);
            true
        }
    }

    fn held(disk: &Disk<Tape>) -> Option<&str> {
        disk.durable().map(|tape| tape.0.as_str())
    }

    fn disk() -> Disk<Tape> {
        Disk::new(Takes::write(10))
    }

    fn answer(disk: &mut Disk<Tape>) -> Option<(u64, bool)> {
        let written = disk.done(disk.era())?;
        Some((written.ticket.number, written.answer.is_ok()))
    }

    /// What a crash at a time leaves of each write, and what was lost although it was answered.
    fn crash(
        disk: &mut Disk<Tape>,
        now: u64,
        seed: u64,
    ) -> (Vec<Result<(), Option<Lost>>>, Option<u64>) {
        let mut left = Vec::new();
        let answered = disk.crash(now, &mut Random::from_seed(seed), |_, how| left.push(how));
        (left, answered.map(|ticket| ticket.number))
    }

    #[test]
    fn writes_are_done_one_after_another() {
        let mut disk = disk();
        assert_eq!(disk.write(0, ticket(1), 'a'), 10);
        assert_eq!(disk.write(4, ticket(2), 'b'), 20);
        assert_eq!(disk.write(50, ticket(3), 'c'), 60);
        assert_eq!(answer(&mut disk), Some((1, true)));
        assert_eq!((held(&disk), disk.pending()), (Some("a"), 2));
    }

    #[test]
    fn writes_that_wait_are_synced_together() {
        let mut disk = disk();
        assert_eq!(disk.write(0, ticket(1), 'a'), 10);
        assert_eq!(disk.write(4, ticket(2), 'b'), 20);
        assert_eq!(disk.write(9, ticket(3), 'c'), 20);
        // The disk is at them.
        assert_eq!(disk.write(12, ticket(4), 'd'), 30);
    }

    #[test]
    fn a_crash_loses_the_tail_and_nothing_else() {
        let mut disk = disk();
        disk.write(0, ticket(1), 'a');
        disk.write(0, ticket(2), 'b');
        disk.write(0, ticket(3), 'c');
        disk.done(0);
        let era = disk.era();
        let torn_and_not_begun = vec![Err(Some(Lost::Torn)), Err(None)];
        assert_eq!(crash(&mut disk, 15, 1), (torn_and_not_begun, None));
        assert_eq!(held(&disk), Some("a"));
        disk.write(30, ticket(4), 'd');
        assert_eq!(
            disk.done(era),
            None,
            "the completion of the lost write does not complete the next one"
        );
        assert_eq!(answer(&mut disk), Some((4, true)));
    }

    #[test]
    fn what_a_crash_leaves_depends_on_the_steps_that_were_done() {
        let after = |now: u64, seed: u64| {
            let mut disk = Disk::new(Takes {
                write: 10,
                rename: 20,
            });
            disk.write(0, ticket(1), 'a');
            disk.done(0);
            assert_eq!(disk.write(100, ticket(2), 'b'), 130);
            let (left, _) = crash(&mut disk, now, seed);
            (left[0], held(&disk).unwrap().to_owned())
        };
        assert_eq!(after(109, 1), (Err(Some(Lost::Torn)), "a".to_owned()));
        assert_eq!(after(110, 1), (Err(Some(Lost::Unnamed)), "a".to_owned()));
        assert_eq!(after(119, 1), (Err(Some(Lost::Unnamed)), "a".to_owned()));
        let drawn: Vec<_> = (0..40).map(|seed| after(120, seed)).collect();
        let survived = drawn
            .iter()
            .filter(|left| **left == (Ok(()), "ab".to_owned()))
            .count();
        let undone = (Err(Some(Lost::Renamed)), "a".to_owned());
        let undone = drawn.iter().filter(|left| **left == undone).count();
        assert_eq!(survived + undone, 40);
        assert!(survived > 9 && undone > 9, "{survived} {undone}");
    }

    #[test]
    fn a_failed_write_leaves_what_was_there_and_the_next_succeeds() {
        let mut disk = disk();
        disk.write(0, ticket(1), 'a');
        disk.done(0);
        disk.fails = true;
        disk.write(20, ticket(2), 'b');
        disk.write(20, ticket(3), 'c');
        assert_eq!(answer(&mut disk), Some((2, false)));
        assert_eq!(held(&disk), Some("a"));
        assert_eq!(answer(&mut disk), Some((3, true)));
        assert_eq!(held(&disk), Some("ac"));
    }

    #[test]
    fn a_dropped_write_is_answered_and_missing_until_another_comes() {
        let mut disk = disk();
        disk.write(0, ticket(1), 'a');
        disk.done(0);
        disk.drops = true;
        disk.write(20, ticket(2), 'b');
        assert_eq!(answer(&mut disk), Some((2, true)));
        assert!(disk.is_missing_one() && !disk.is_damaged());
        assert_eq!(held(&disk), Some("a"), "without a crash, too");
        disk.write(40, ticket(3), 'c');
        assert_eq!(answer(&mut disk), Some((3, true)));
        assert_eq!((held(&disk), disk.is_missing_one()), (Some("ac"), false));
    }

    #[test]
    fn what_a_lying_disk_answered_is_lost_in_a_crash_unless_it_was_mended() {
        for mended in [false, true] {
            let mut disk = disk();
            disk.write(0, ticket(1), 'a');
            disk.done(0);
            disk.lies = true;
            for (number, record) in [(2, 'b'), (3, 'c')] {
                assert_eq!(disk.write(20, ticket(number), record), 20);
                disk.done(0);
            }
            assert_eq!(held(&disk), Some("abc"), "it reads from its cache");
            if mended {
                assert!(disk.mend(Takes::write(10)) && !disk.mend(Takes::write(10)));
            }
            let (expected, left) = if mended {
                (None, "abc")
            } else {
                (Some(3), "a")
            };
            assert_eq!(crash(&mut disk, 30, 1), (vec![], expected));
            assert_eq!(held(&disk), Some(left));
        }
    }

    #[test]
    fn a_wiped_disk_is_empty_whatever_was_in_its_cache() {
        let mut disk = disk();
        assert!(!disk.wipe());
        disk.lies = true;
        disk.write(0, ticket(1), 'a');
        disk.done(0);
        assert!(disk.wipe());
        assert_eq!((crash(&mut disk, 1, 1).1, held(&disk)), (None, None));
    }
}
