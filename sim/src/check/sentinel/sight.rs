//! What is known from outside: who runs, who can reach whom, and since when a master has been well.

use crate::check::sentinel::Machine;
use crate::scheme::sentinel::Setup;
use crate::sorted::Sorted;
use tenure::NodeId;
use tenure::sentinel::{MasterName, Role};

/// How the world is now.
pub(crate) struct Links<'a> {
    /// Whether an actor runs.
    pub(crate) runs: &'a dyn Fn(usize) -> bool,
    /// Whether the link from one to another carries.
    pub(crate) carries: &'a dyn Fn(usize, usize) -> bool,
    /// Whether nothing makes it slower, nor the two at its ends, than when all is well.
    pub(crate) swift: &'a dyn Fn(usize, usize) -> bool,
    /// How long a message may take.
    pub(crate) slowest: u64,
}

/// What is known.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    sentinels: usize,
    actors: usize,
    down_after: u64,
    slowest: u64,
    /// When something last went from a sentinel to another that ran, and when the other way; for ever while it does. What comes
    /// to one that is frozen is read when it goes on.
    reached: Vec<[u64; 2]>,
    /// Since when a sentinel and a server could talk, and the server ran; for ever where they cannot. By sentinel, server.
    healthy: Vec<u64>,
    tried: Sorted<(usize, MasterName), u64>,
}

impl Sight {
    pub(super) fn new(setup: &Setup) -> Self {
        let sentinels = setup.nodes;
        let actors = sentinels + setup.params.servers();
        Self {
            sentinels,
            actors,
            down_after: setup.params.down_after.as_micros(),
            slowest: 0,
            reached: vec![[u64::MAX; 2]; sentinels * sentinels],
            healthy: vec![0; sentinels * actors],
            tried: Sorted::default(),
        }
    }

    pub(super) fn links(&mut self, now: u64, links: &Links<'_>) {
        self.slowest = self.slowest.max(links.slowest);
        for one in 0..self.sentinels {
            for other in 0..self.actors {
                let both = (links.carries)(one, other) && (links.carries)(other, one);
                if other < self.sentinels {
                    let goes = [(links.carries)(one, other), (links.carries)(other, one)];
                    let last = &mut self.reached[one * self.sentinels + other];
                    for (last, goes) in last.iter_mut().zip(goes) {
                        if one == other || goes && (links.runs)(other) {
                            *last = u64::MAX;
                        } else if *last == u64::MAX {
                            *last = now;
                        }
                    }
                }
                let well = both && (links.runs)(other) && (links.swift)(one, other);
                let since = &mut self.healthy[one * self.actors + other];
                if !well {
                    *since = u64::MAX;
                } else if *since == u64::MAX {
                    *since = now;
                }
            }
        }
    }

    /// A sentinel begins an attempt.
    pub(super) fn tried(&mut self, now: u64, node: usize, name: MasterName) {
        self.tried.insert((node, name), now);
    }

    /// Whether it has reached no majority since it began: one after the other is enough.
    pub(super) fn is_alone(&self, now: u64, node: usize, name: MasterName) -> bool {
        let tried = self.tried.get(&(node, name)).copied().unwrap_or(now);
        let since = tried.saturating_sub(self.slowest);
        let row = node * self.sentinels;
        let met = |other: &usize| (self.reached[row + other].iter()).all(|last| *last >= since);
        (0..self.sentinels).filter(met).count() <= self.sentinels / 2
    }

    /// Whether the master that it watches has been well, for it, for longer than it takes to see that.
    pub(super) fn is_healthy(
        &self,
        now: u64,
        node: usize,
        machine: &Machine,
        name: MasterName,
    ) -> bool {
        let Some(master) = machine.master(name) else {
            return false;
        };
        // What says that it is a replica is none.
        if (master.report()).is_some_and(|report| report.role == Role::Replica) {
            return false;
        }
        let NodeId(watched) = master.watched();
        let since = self.healthy[node * self.actors + watched as usize];
        let settled = 6_000_000 + self.down_after + 2 * self.slowest;
        since.saturating_add(settled) < now
    }
}
