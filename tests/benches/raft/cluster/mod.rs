//! Groups of one library each, under the same terms: one thread, a network and disks that take no time, messages moved by
//! value through one buffer that is kept.

pub(crate) mod noraft;
pub(crate) mod raft_rs;
pub(crate) mod tenure;

/// A group of voters. The first of them is the one that is elected.
pub(crate) trait Cluster {
    const NAME: &'static str;

    /// Newly built voters.
    fn new(voters: usize) -> Self;

    /// Makes the first voter the leader, and delivers until nobody says anything more.
    fn elect(&mut self);

    /// One round of heartbeats and the answers to it.
    fn heartbeat(&mut self);

    /// Whether the first voter leads, may act, and the others know.
    fn led(&self) -> bool;

    /// How many messages arrived so far.
    fn delivered(&self) -> u64;
}

/// Groups that replicate a log. Beside the machines that carry no payloads the driver carries them: 16 bytes an entry,
/// written once and copied once to each follower.
pub(crate) trait Replicated: Cluster {
    /// Newly built voters with a log.
    fn replicating(voters: usize) -> Self;

    /// Clients bring so many entries of 16 bytes to the leader, each with a call of its own; they travel together where
    /// the library lets them. Delivers until nobody says anything more.
    fn replicate(&mut self, entries: u32);

    /// How many entries, of clients or not, the leader knows to be committed and all others have.
    fn committed(&self) -> u64;

    /// Drops what a host would compact away by now.
    fn compact(&mut self) {}
}

/// Groups whose leader confirms reads.
pub(crate) trait Read: Replicated {
    /// Clients ask for so many reads, each with a call of its own. How many were confirmed.
    fn read(&mut self, reads: u32) -> u64;
}
