//! Who is connected: the transaction of each session, what it waits for, its advisory locks, and since when it is idle.

use super::statement::{Session, Statement, Text};
use crate::sorted::Sorted;

/// A session.
#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    /// Its transaction, if it began one.
    pub(super) transaction: Option<Transaction>,
    /// The statement that waits for a row.
    pub(super) waits: Option<Waiting>,
    /// How long it may be idle.
    pub(super) idle: Option<u64>,
    /// Since when it is.
    pub(super) since: u64,
}

/// A transaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transaction {
    pub(super) began: u64,
    /// How long the session might be idle then: a setting is rolled back, too.
    pub(super) idle: Option<u64>,
}

/// A statement that waits.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    /// In which order they came.
    pub(super) number: u64,
    pub(super) since: u64,
    /// How often its row was committed when it began to.
    pub(super) version: u64,
    pub(super) statement: Statement,
}

/// All sessions, and the advisory locks.
#[derive(Clone, Debug)]
pub(super) struct Sessions {
    pub(super) open: Sorted<Session, Open>,
    /// Who has it, and how often.
    locks: Sorted<Text, (Session, u32)>,
}

impl Sessions {
    pub(super) fn new() -> Self {
        Self {
            open: Sorted::default(),
            locks: Sorted::default(),
        }
    }

    /// Takes an advisory lock, if nobody else has it.
    pub(super) fn lock(&mut self, session: Session, name: &Text) -> bool {
        let (owner, times) = self.locks.keep(name.clone(), (session, 0));
        if *owner != session {
            return false;
        }
        *times += 1;
        true
    }

    /// Gives it up once.
    pub(super) fn unlock(&mut self, session: Session, name: &Text) -> bool {
        let Some((owner, times)) = self.locks.get_mut(name) else {
            return false;
        };
        if *owner != session {
            return false;
        }
        *times -= 1;
        if *times == 0 {
            self.locks.remove(name);
        }
        true
    }

    /// Who has it.
    pub(super) fn holder(&self, name: &str) -> Option<Session> {
        self.locks.get(name).map(|(owner, _)| *owner)
    }

    /// A session is over. False when it was not there.
    pub(super) fn end(&mut self, session: Session) -> bool {
        self.locks.retain(|_, (owner, _)| *owner != session);
        self.open.remove(&session).is_some()
    }

    /// All are over.
    pub(super) fn clear(&mut self) {
        self.open = Sorted::default();
        self.locks = Sorted::default();
    }

    /// When the next one will have been idle for too long.
    pub(super) fn due(&self) -> Option<u64> {
        self.open.iter().filter_map(|(_, open)| open.due()).min()
    }

    /// One that was idle for too long.
    pub(super) fn overdue(&self, now: u64) -> Option<Session> {
        let overdue = |open: &Open| open.due().is_some_and(|due| due <= now);
        let mut all = self.open.iter();
        all.find_map(|(session, open)| overdue(open).then_some(*session))
    }

    /// Who waits, in the order in which they came.
    pub(super) fn waiting(&self) -> Vec<Session> {
        let number = |open: &Open| open.waits.as_ref().map(|waits| waits.number);
        let waiting = |(session, open): (&Session, &Open)| Some((number(open)?, *session));
        let mut all: Vec<_> = self.open.iter().filter_map(waiting).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, session)| session).collect()
    }
}

impl Open {
    fn due(&self) -> Option<u64> {
        let idle = self.transaction.is_none() && self.waits.is_none();
        let bound = self.idle.filter(|_| idle)?;
        Some(self.since.saturating_add(bound))
    }
}
