//! An ordered log with one leader at a time, as controllers need one: what it takes is committed later, or never.

use tenure::isr::Record;

/// What is at one offset.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) epoch: u64,
    /// Nothing where the log keeps something of its own.
    pub(crate) record: Option<Record>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) epoch: u64,
    pub(crate) entries: Vec<Entry>,
    /// How many of them are committed.
    pub(crate) committed: u64,
    /// How often its end was cut off.
    pub(crate) cuts: u64,
}

impl Ledger {
    pub(crate) fn end(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Appends as the leader of `epoch` asks; false when it is not the leader, or expected another end.
    pub(crate) fn append(&mut self, epoch: u64, offset: u64, records: Vec<Record>) -> bool {
        if epoch != self.epoch || offset != self.end() {
            return false;
        }
        let entry = |record| Entry {
            epoch,
            record: Some(record),
        };
        self.entries.extend(records.into_iter().map(entry));
        true
    }

    /// Another leads: what is not committed stays, or does not. Where its epoch begins.
    pub(crate) fn lead(&mut self, stays: bool) -> u64 {
        if !stays && self.committed < self.end() {
            self.entries.truncate(self.committed as usize);
            self.cuts += 1;
        }
        self.epoch += 1;
        self.entries.push(Entry {
            epoch: self.epoch,
            record: None,
        });
        self.committed = self.end();
        self.end()
    }
}
