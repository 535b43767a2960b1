//! What lies on the disk of a node: what the machine stores, and what the host keeps with it under the machine's names (law
//! C9): the payloads of entries, and the state at which the log begins.

use crate::packet::Load;
use crate::physics::disk::Kept;
use crate::scheme::Logged;
use crate::store::replica::{Commands, Snapshot};
use std::sync::Arc;
use tenure::random::Random;

/// What lies on the disk.
#[derive(Clone, Debug, Default)]
pub struct Shelf<S> {
    /// What the machine stores.
    pub stored: S,
    /// The payloads of its entries.
    pub(crate) commands: Commands,
    /// The state as of where its log begins.
    pub(crate) snapshot: Option<Arc<Snapshot>>,
    /// One that was written for a log that is to begin there.
    beside: Option<Arc<Snapshot>>,
}

/// What is written in one, whole or not at all.
#[derive(Clone, Debug)]
pub struct Writing<W> {
    pub(super) write: W,
    pub(super) load: Option<Arc<Load>>,
}

impl<S: Logged> Kept for Shelf<S> {
    type Write = Writing<S::Write>;

    fn fold(&mut self, writing: &Self::Write) -> bool {
        if !self.stored.fold(&writing.write) {
            return false;
        }
        match writing.load.as_deref() {
            None => {}
            Some(Load::Commands(commands)) => self.commands.take_in(commands),
            Some(Load::State(snapshot)) => self.beside = Some(snapshot.clone()),
        }
        // It counts with the log that begins with it.
        let base = self.stored.log().base();
        if let Some(snapshot) = self.beside.take_if(|state| state.last == base) {
            self.commands.forget(base.index);
            self.snapshot = Some(snapshot);
        }
        true
    }

    fn is_rested_on(writing: &Self::Write) -> bool {
        S::is_rested_on(&writing.write)
    }

    fn crash(&mut self, draw: &mut Random) {
        self.stored.crash(draw);
        self.beside = None;
    }
}
