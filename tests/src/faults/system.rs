//! What is asked of a group under a fault, whichever library it is of.

use super::network::Links;

/// A group; its nodes are known by their place.
pub trait System {
    /// A tick passes: what arrives is heard, what is due is done, and whoever believes to lead is given a write.
    fn tick(&mut self, links: &Links);

    /// Who believes to lead, each with the term.
    fn leaders(&self) -> Vec<(u64, usize)>;

    /// How far the group has come: rises when a majority confirmed something of a leader's term.
    fn committed(&self) -> u64;

    /// The highest term of any node.
    fn term(&self) -> u64;

    /// In how many ticks each has asked to be elected; nothing where nobody votes.
    fn asked(&self) -> &[u64];
}
