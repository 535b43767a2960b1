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
