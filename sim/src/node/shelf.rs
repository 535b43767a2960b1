//! What lies on the disk of a node: what the machine stores, and what the host keeps with it under the machine's names (law
//! C9): the payloads of entries, and the state at which the log begins.

#[cfg(not(target_family = "wasm"))]
use crate::packet::Load;
use crate::physics::disk::Kept;
#[cfg(not(target_family = "wasm"))]
use crate::store::replica::{Commands, Snapshot};
#[cfg(not(target_family = "wasm"))]
use std::sync::Arc;

/// What lies on the disk.
#[derive(Clone, Debug, Default)]
pub struct Shelf<S> {
    /// What the machine stores.
    pub stored: S,
    /// The payloads of its entries.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) commands: Commands,
    /// The state as of where its log begins.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) snapshot: Option<Arc<Snapshot>>,
}

/// What is written in one, whole or not at all.
#[derive(Clone, Debug)]
pub struct Writing<W> {
    pub(super) write: W,
    #[cfg(not(target_family = "wasm"))]
    pub(super) load: Option<Arc<Load>>,
}

impl<S: Kept> Kept for Shelf<S> {
    type Write = Writing<S::Write>;

    fn fold(&mut self, writing: &Self::Write) -> bool {
        if !self.stored.fold(&writing.write) {
            return false;
        }
        #[cfg(not(target_family = "wasm"))]
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
