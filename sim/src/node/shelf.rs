//! What lies on the disk of a node: what the machine stores, and what the host keeps with it under the machine's names (law
//! C9): the payloads of entries, and the state at which the log begins.

use crate::packet::Load;
use crate::physics::disk::Kept;
use crate::store::replica::{Commands, Snapshot};
use std::sync::Arc;

/// What lies on the disk.
#[derive(Clone, Debug, Default)]
pub struct Shelf<S> {
    /// What the machine stores.
    pub stored: S,
    /// The payloads of its entries.
    pub(crate) commands: Commands,
    /// The state as of where its log begins.
    pub(crate) snapshot: Option<Arc<Snapshot>>,
}

/// What is written in one, whole or not at all.
#[derive(Clone, Debug)]
pub struct Writing<W> {
    pub(super) write: W,
    pub(super) load: Option<Arc<Load>>,
}

impl<S: Kept> Kept for Shelf<S> {
    type Write = Writing<S::Write>;

    fn fold(&mut self, writing: &Self::Write) -> bool {
        if !self.stored.fold(&writing.write) {
            return false;
        }
        match writing.load.as_deref() {
            None => {}
            Some(Load::Commands(commands)) => self.commands.take_in(commands),
            Some(Load::State(snapshot)) => {
                self.commands.forget(snapshot.last.index);
                self.snapshot = Some(snapshot.clone());
            }
        }
        true
    }
}
