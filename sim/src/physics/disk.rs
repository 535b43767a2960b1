//! A disk: writes take time, are done in order, and what was not done is lost in a crash.

use tenure::Ticket;

/// The disk of one node, holding one durable record.
#[derive(Clone, Debug)]
pub struct Disk<R> {
    durable: Option<R>,
    /// Writes on their way, oldest first, with the time each is done.
    writes: Vec<(Ticket, R, u64)>,
    /// How long a write takes.
    pub takes: u64,
    /// Counts crashes: the completion of a write that a crash undid is recognised by it.
    era: u32,
}

impl<R: Clone> Disk<R> {
    /// An empty disk.
    #[must_use]
    pub fn new(takes: u64) -> Self {
        Self {
            durable: None,
            writes: Vec::new(),
            takes,
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
        let done = begins.saturating_add(self.takes);
        self.writes.push((ticket, record, done));
        done
    }

    /// The oldest write is done, if it was of this era: its record is durable, and its ticket is returned.
    pub fn done(&mut self, era: u32) -> Option<Ticket> {
        if era != self.era {
            return None;
        }
        if self.writes.is_empty() {
            return None;
        }
        // Hardly ever more than one: moving the rest up costs nothing.
        let (ticket, record, _) = self.writes.remove(0);
        self.durable = Some(record);
        Some(ticket)
    }

    /// The power goes: every write that was not done is lost. Each lost ticket is told to `lost`.
    pub fn crash(&mut self, mut lost: impl FnMut(Ticket)) {
        for (ticket, _, _) in self.writes.drain(..) {
            lost(ticket);
        }
        self.era += 1;
    }

    /// What is read after a restart.
    #[must_use]
    pub const fn durable(&self) -> Option<&R> {
        self.durable.as_ref()
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
        assert_eq!(disk.done(0), Some(ticket(1)));
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
        disk.crash(|ticket| lost.push(ticket.number));
        assert_eq!(lost, [2]);
        assert_eq!(disk.durable(), Some(&'a'));
        disk.write(30, ticket(3), 'c');
        assert_eq!(
            disk.done(era),
            None,
            "the completion of the lost write does not complete the next one"
        );
        assert_eq!(disk.done(disk.era()), Some(ticket(3)));
    }
}
