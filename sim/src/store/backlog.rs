//! What a member of a cluster holds beside the shape of its log: what each entry is about, the state as of where the log
//! begins, and how far entries are carried out.
//!
//! An entry is known by its name (law C9): what is attached to a message is kept under that, whether its machine takes the
//! entry or not, and is carried out once the machine says that it is committed.

use crate::sorted::Sorted;
use std::sync::Arc;
use tenure::Ticket;
use tenure::log::{Position, Shape};

/// After how many entries a member lets them go and keeps the state.
const SNAPSHOT_EVERY: u64 = 64;

/// Who waits for an answer, and at which member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Whose {
    pub(super) member: u16,
    /// Which life of that member was asked: another knows the client no more.
    pub(super) life: u64,
    pub(super) client: u16,
    pub(super) ticket: Ticket,
}

/// What a member attaches to a message of its machine: `E` is what an entry is about, `S` is the state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Load<E, S> {
    /// What the entries are about, but for those of the machine itself.
    Entries(Vec<(Position, Arc<E>)>),
    /// The state as of an entry.
    State(Arc<State<S>>),
}

/// What is held as of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State<S> {
    last: Position,
    held: S,
}

/// What a member holds.
#[derive(Clone, Debug)]
pub(super) struct Backlog<E, S> {
    // On its disk.
    entries: Sorted<(u64, u64), Arc<E>>,
    /// The state as of where the log begins.
    state: Option<Arc<State<S>>>,
    /// The last entry that was carried out.
    applied: u64,
    // In its process.
    /// A state that came with a message, and may become that as of where the log begins.
    offered: Option<Arc<State<S>>>,
}

impl<E, S> Default for Backlog<E, S> {
    fn default() -> Self {
        Self {
            entries: Sorted::default(),
            state: None,
            applied: 0,
            offered: None,
        }
    }
}

impl<E, S: Clone> Backlog<E, S> {
    /// The last entry that was carried out.
    pub(super) const fn applied(&self) -> u64 {
        self.applied
    }

    /// The process is gone, and with it what was not written.
    pub(super) fn restart(&mut self) {
        self.offered = None;
    }

    /// An entry of this name is about that.
    pub(super) fn name(&mut self, at: Position, entry: Arc<E>) {
        self.entries.keep((at.index, at.term), entry);
    }

    /// Something came attached to a message.
    pub(super) fn take_in(&mut self, load: &Load<E, S>) {
        match load {
            Load::Entries(entries) => {
                for (name, entry) in entries {
                    self.name(*name, entry.clone());
                }
            }
            Load::State(state) => self.offered = Some(state.clone()),
        }
    }

    /// What is attached to a message that brings the entries of a term between two indices, both included; `None` where one is
    /// not at hand.
    pub(super) fn entries(&self, term: u64, first: u64, last: u64) -> Option<Load<E, S>> {
        let named = (first..=last).map(|index| {
            let entry = self.entries.get(&(index, term))?;
            Some((Position::new(term, index), entry.clone()))
        });
        Some(Load::Entries(named.collect::<Option<_>>()?))
    }

    /// What is attached to a message that brings the state as of an entry; `None` where it is not at hand.
    pub(super) fn state(&self, last: Position) -> Option<Load<E, S>> {
        let kept = [&self.state, &self.offered];
        let mut kept = kept.into_iter().flatten();
        let state = kept.find(|state| state.last == last)?;
        Some(Load::State(state.clone()))
    }

    /// The log begins there: perhaps with a state that another has sent, which is held from now on if it is newer.
    pub(super) fn begins(&mut self, base: Position) -> Option<S> {
        let state = self.offered.take_if(|state| state.last == base)?;
        let newer = (base.index > self.applied).then(|| state.held.clone());
        self.applied = self.applied.max(base.index);
        self.state = Some(state);
        self.entries.forget_before(&(base.index + 1, 0));
        newer
    }

    /// The next committed entry, which is carried out: what it is about, or nothing where `is_own` says that the machine made it
    /// for itself, by the term of the entry before. `None` when nothing is to be done, or what it is about is not at hand.
    pub(super) fn next(
        &mut self,
        log: &Shape,
        commit: u64,
        is_own: impl Fn(u64, u64) -> bool,
    ) -> Option<(Position, Option<Arc<E>>)> {
        if self.applied >= commit {
            return None;
        }
        let index = self.applied + 1;
        let term = log.term_at(index)?;
        let entry = if is_own(log.term_at(self.applied).unwrap_or(0), term) {
            None
        } else {
            Some(self.entries.get(&(index, term))?.clone())
        };
        self.applied = index;
        Some((Position::new(term, index), entry))
    }

    /// Up to where a log that begins at `base` may be let go: everything that is carried out, once there is much of it.
    pub(super) fn compactable(&self, base: Position) -> Option<u64> {
        (self.applied >= base.index + SNAPSHOT_EVERY).then_some(self.applied)
    }

    /// The log was let go up to the last entry that was carried out, as of which this is held.
    pub(super) fn compacted(&mut self, last: Position, held: S) {
        self.state = Some(Arc::new(State { last, held }));
        self.entries.forget_before(&(last.index + 1, 0));
    }
}
