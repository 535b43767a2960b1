//! The table: each row as it is committed, as the transaction that has it locked sees it, and what became of it lately.

use super::statement::{Columns, Session, Text, Values};
use crate::sorted::Sorted;
use std::collections::VecDeque;

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) holder: Text,
    pub(super) metadata: Text,
    pub(super) nonce: Text,
    pub(super) epoch: i64,
    /// On the server's clock.
    pub(super) expires: i64,
}

impl Row {
    pub(super) fn columns(&self) -> Columns {
        Columns {
            holder: self.holder.clone(),
            metadata: self.metadata.clone(),
            nonce: self.nonce.clone(),
            epoch: self.epoch,
        }
    }

    /// Whether it is of this attempt, with this epoch.
    pub(super) fn is(&self, nonce: &Text, epoch: i64) -> bool {
        (&self.nonce, self.epoch) == (nonce, epoch)
    }
}

impl Values {
    /// The row that has them.
    pub(super) fn row(&self, epoch: i64, expires: i64) -> Row {
        Row {
            holder: self.holder.clone(),
            metadata: self.metadata.clone(),
            nonce: self.nonce.clone(),
            epoch,
            expires,
        }
    }
}

/// A row and its lock.
#[derive(Clone, Debug, Default)]
struct Slot {
    committed: Option<Row>,
    /// How often it was committed.
    version: u64,
    /// Whose transaction has it locked.
    owner: Option<Session>,
    /// What that has made of it.
    pending: Option<Row>,
}

/// A change that a standby may not have yet: when it was committed, of which row, and what that was before.
type Change = (u64, Text, Option<Row>);

/// All rows.
#[derive(Clone, Debug)]
pub(super) struct Table {
    slots: Sorted<Text, Slot>,
    /// How far behind the standby is.
    lag: u64,
    unstreamed: VecDeque<Change>,
    backup: Option<Sorted<Text, Row>>,
}

impl Table {
    pub(super) fn new(lag: u64) -> Self {
        Self {
            slots: Sorted::default(),
            lag,
            unstreamed: VecDeque::new(),
            backup: None,
        }
    }

    /// A row as it is committed.
    pub(super) fn committed(&self, name: &str) -> Option<&Row> {
        self.slots.get(name)?.committed.as_ref()
    }

    /// A row as a session sees it.
    pub(super) fn visible(&self, session: Session, name: &str) -> Option<&Row> {
        let slot = self.slots.get(name)?;
        match &slot.pending {
            Some(pending) if slot.owner == Some(session) => Some(pending),
            _ => slot.committed.as_ref(),
        }
    }

    /// Whether another has a row locked.
    pub(super) fn is_locked(&self, session: Session, name: &str) -> bool {
        let slot = self.slots.get(name);
        slot.is_some_and(|slot| slot.owner.is_some_and(|owner| owner != session))
    }

    /// How often a row was committed.
    pub(super) fn version(&self, name: &str) -> u64 {
        self.slots.get(name).map_or(0, |slot| slot.version)
    }

    /// A session locks a row that no other has locked.
    pub(super) fn lock(&mut self, session: Session, name: &Text) {
        self.slots.or_default(name.clone()).owner = Some(session);
    }

    /// A session, which has it locked, makes this of a row.
    pub(super) fn write(&mut self, name: &Text, row: Row) {
        self.slots.or_default(name.clone()).pending = Some(row);
    }

    /// The transaction of a session ends.
    pub(super) fn end(&mut self, now: u64, session: Session, commit: bool) {
        for (name, slot) in self.slots.iter_mut() {
            if slot.owner != Some(session) {
                continue;
            }
            slot.owner = None;
            if let Some(pending) = slot.pending.take()
                && commit
            {
                let before = slot.committed.replace(pending);
                slot.version += 1;
                self.unstreamed.push_back((now, name.clone(), before));
            }
        }
        let streamed = |(at, ..): &Change| at.saturating_add(self.lag) <= now;
        while self.unstreamed.front().is_some_and(streamed) {
            self.unstreamed.pop_front();
        }
    }

    /// The server ends, and with it every transaction.
    pub(super) fn forget_transactions(&mut self) {
        for (_, slot) in self.slots.iter_mut() {
            (slot.owner, slot.pending) = (None, None);
        }
    }

    /// What had not reached the standby is gone.
    pub(super) fn fail_over(&mut self, now: u64) {
        self.forget_transactions();
        while let Some((at, name, before)) = self.unstreamed.pop_back() {
            if at.saturating_add(self.lag) <= now {
                break;
            }
            let slot = self.slots.or_default(name);
            slot.committed = before;
        }
        self.unstreamed.clear();
    }

    /// What is committed is copied.
    pub(super) fn back_up(&mut self) {
        let committed =
            |(name, slot): (&Text, &Slot)| Some((name.clone(), slot.committed.clone()?));
        self.backup = Some(self.slots.iter().filter_map(committed).collect());
    }

    /// The copy takes the place of what there is. False without one.
    pub(super) fn restore(&mut self) -> bool {
        let Some(backup) = &self.backup else {
            return false;
        };
        let slot = |row: &Row| Slot {
            committed: Some(row.clone()),
            ..Slot::default()
        };
        self.slots = backup
            .iter()
            .map(|(name, row)| (name.clone(), slot(row)))
            .collect();
        self.unstreamed.clear();
        true
    }

    /// Rows are gone, deleted by hand. False when there is none.
    pub(super) fn clear(&mut self) -> bool {
        let any = self.slots.iter().any(|(_, slot)| slot.committed.is_some());
        self.slots = Sorted::default();
        self.unstreamed.clear();
        any
    }
}
