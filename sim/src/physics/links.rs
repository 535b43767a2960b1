//! The links between nodes, each in one direction: cut, or slower than the others, and what made them so.

use super::{Blame, NOBODY};

/// The links among some nodes.
#[derive(Clone, Debug)]
pub struct Links {
    nodes: usize,
    /// `cut[from * nodes + to]`: what cut it. Empty until the first cut.
    cut: Vec<Blame>,
    cuts: usize,
    /// By how much more than its latency a message takes, and since which action; as `cut`, empty while no link is delayed.
    delays: Vec<(u64, Blame)>,
    delayed: usize,
}

impl Links {
    /// Links that all carry, as fast as the weather lets them.
    pub(super) const fn new(nodes: usize) -> Self {
        Self {
            nodes,
            cut: Vec::new(),
            cuts: 0,
            delays: Vec::new(),
            delayed: 0,
        }
    }

    /// Cuts a link, for what is sent from now on. False when it was cut, or is none.
    pub(super) fn sever(&mut self, from: usize, to: usize, by: Blame) -> bool {
        if !self.knows(from, to) || self.is_cut(from, to) {
            return false;
        }
        if self.cut.is_empty() {
            self.cut.resize(self.nodes * self.nodes, NOBODY);
        }
        self.cut[from * self.nodes + to] = by;
        self.cuts += 1;
        true
    }

    /// Heals a link. False when it was not cut.
    pub(super) fn heal(&mut self, from: usize, to: usize) -> bool {
        if !self.is_cut(from, to) {
            return false;
        }
        self.cut[from * self.nodes + to] = NOBODY;
        self.cuts -= 1;
        true
    }

    /// Whether the link is cut in this direction.
    #[must_use]
    pub fn is_cut(&self, from: usize, to: usize) -> bool {
        self.cuts != 0 && self.cutter(from, to) != NOBODY
    }

    /// What cut the link in this direction.
    pub(crate) fn cutter(&self, from: usize, to: usize) -> Blame {
        let place = from * self.nodes + to;
        let cut = self.cut.get(place).filter(|_| self.knows(from, to));
        cut.copied().unwrap_or(NOBODY)
    }

    /// How many directions of links are cut.
    #[must_use]
    pub const fn cuts(&self) -> usize {
        self.cuts
    }

    /// Whatever is sent on the link in one direction from now on takes so much longer. False when it did, or there is no
    /// such link.
    pub(crate) fn set_delay(&mut self, from: usize, to: usize, delay: u64, by: Blame) -> bool {
        if !self.knows(from, to) || self.delay(from, to).0 == delay {
            return false;
        }
        self.delays.resize(self.nodes * self.nodes, (0, NOBODY));
        let change = &mut self.delays[from * self.nodes + to];
        let (former, _) = std::mem::replace(change, (delay, by));
        self.delayed = self.delayed + usize::from(delay > 0) - usize::from(former > 0);
        true
    }

    /// No link is delayed any more. False when none was.
    pub(crate) fn end_delays(&mut self) -> bool {
        self.delays.clear();
        std::mem::take(&mut self.delayed) > 0
    }

    /// By how much more than its latency a message between nodes takes, and what made it so.
    pub(crate) fn delay(&self, from: usize, to: usize) -> (u64, Blame) {
        let place = from * self.nodes + to;
        self.delays.get(place).copied().unwrap_or((0, NOBODY))
    }

    /// Whether any link is delayed.
    #[must_use]
    pub const fn has_delays(&self) -> bool {
        self.delayed > 0
    }

    /// Whether there is such a link.
    const fn knows(&self, from: usize, to: usize) -> bool {
        from != to && from < self.nodes && to < self.nodes
    }
}
