//! What the leaders of atomic broadcast proposed, as their messages and disks show it: nobody's word about anybody else.

use crate::sorted::Sorted;
use tenure::log::Position;

/// How many entries are remembered, and up to a quarter more: those of the lowest epochs are forgotten first.
const KEPT: usize = 1 << 16;

/// How an epoch was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Begun {
    /// The index of the first entry.
    pub(super) first: u64,
    /// The index of the newest.
    pub(super) last: u64,
    /// Up to where its leader had delivered then.
    pub(super) delivered: u64,
}

/// What was proposed, by epoch.
#[derive(Clone, Debug, Default)]
pub(super) struct Proposals {
    epochs: Sorted<u64, Begun>,
    prints: Sorted<(u64, u64), u64>,
}

impl Proposals {
    /// The leader of an epoch proposes an entry for the first time, or shows it once more. Whether it begins with it.
    pub(super) fn proposed(&mut self, at: Position, print: u64, delivered: u64) -> bool {
        let Position { term: epoch, index } = at;
        let begins = !self.epochs.contains_key(&epoch);
        if begins {
            let begun = Begun {
                first: index,
                last: index,
                delivered,
            };
            self.epochs.insert(epoch, begun);
        }
        if let Some(begun) = self.epochs.get_mut(&epoch)
            && (begins || index == begun.last + 1)
        {
            begun.last = index;
            self.prints.insert((epoch, index), print);
            self.prints.keep_last(KEPT);
            self.epochs.keep_last(KEPT);
        }
        begins
    }

    /// How an epoch was begun, if anything was proposed in it that is remembered.
    pub(super) fn begun(&self, epoch: u64) -> Option<Begun> {
        self.epochs.get(&epoch).copied()
    }

    /// What was proposed under a name, if that is remembered.
    pub(super) fn print(&self, at: Position) -> Option<u64> {
        self.prints.get(&(at.term, at.index)).copied()
    }

    /// The epochs after one.
    pub(super) fn after(&self, epoch: u64) -> impl Iterator<Item = Begun> {
        let later = self.epochs.from(move |known| *known <= epoch);
        later.map(|(_, begun)| *begun)
    }
}
