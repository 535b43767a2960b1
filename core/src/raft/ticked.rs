//! What a host that counts ticks asks of a Raft beyond what every scheme has, as etcd's `Node` offers it.

use super::{
    ChangeRefused, CompactError, Leased, ProposeError, Raft, ReadError, Rules, Served,
    TransferError,
};
use crate::NodeId;
use crate::log::Position;
use crate::membership::Target;
use crate::tick::Ticked;

impl<R: Rules> Ticked<Raft<R>> {
    /// Appends entries: see [`Raft::propose`].
    ///
    /// # Errors
    /// As there.
    pub fn propose(&mut self, count: u32) -> Result<Position, ProposeError> {
        self.machine.propose(self.now, count)
    }

    /// Begins a change of who takes part: see [`Raft::change`]. There is no second step for the host: a configuration counts
    /// from its entry on, and a joint one is left by itself.
    ///
    /// # Errors
    /// As there.
    pub fn change(&mut self, target: &Target) -> Result<Position, ChangeRefused> {
        self.machine.change(self.now, target)
    }

    /// Hands leadership over: see [`Raft::transfer`].
    ///
    /// # Errors
    /// As there.
    pub fn transfer(&mut self, to: NodeId) -> Result<(), TransferError> {
        self.machine.transfer(self.now, to)
    }

    /// Asks for a confirmed read: see [`Raft::read`].
    ///
    /// # Errors
    /// As there.
    pub fn read(&mut self) -> Result<u64, ReadError> {
        self.machine.read(self.now)
    }

    /// Asks for a read under the lease: see [`Raft::read_leased`]. Between two ticks a lease does not age here: what protects
    /// the read is the grain that the machine was configured for, and that ticks come.
    ///
    /// # Errors
    /// As there.
    pub fn read_leased(&mut self) -> Result<Leased, ReadError> {
        self.machine.read_leased(self.now)
    }

    /// What became of reads: see [`Raft::poll_read`].
    #[must_use]
    pub fn poll_read(&mut self) -> Option<Served> {
        self.machine.poll_read()
    }

    /// Drops what a snapshot holds: see [`Raft::compact`].
    ///
    /// # Errors
    /// As there.
    pub fn compact(&mut self, index: u64) -> Result<Position, CompactError> {
        self.machine.compact(self.now, index)
    }
}
