//! `raft` 0.7 in its safe mode: as its documentation has it, through `Ready`; and, for heartbeats, the bare machine inside.

use super::{Cluster, Read, Replicated};
use crate::raft_rs::{Node, drain, node};
use raft::StateRole;
use raft::prelude::Message;

/// Driven through `Ready`.
pub(crate) struct Ready {
    nodes: Vec<Node>,
    flight: Vec<Message>,
    landed: Vec<Message>,
    delivered: u64,
    /// How many reads the leader confirmed.
    confirmed: u64,
}

impl Ready {
    /// A whole flight lands before anybody is drained: the kindest way, for a `Ready` then holds more.
    fn settle(&mut self) {
        self.confirmed += drain(&mut self.nodes[0], &mut self.flight) as u64;
        while !self.flight.is_empty() {
            std::mem::swap(&mut self.flight, &mut self.landed);
            self.delivered += self.landed.len() as u64;
            for message in self.landed.drain(..) {
                let to = message.to as usize - 1;
                // What a node refuses is no error of the driver.
                let _ = self.nodes[to].step(message);
            }
            for node in &mut self.nodes {
                self.confirmed += drain(node, &mut self.flight) as u64;
            }
        }
    }

    /// With entries that wait put into one message.
    pub(crate) fn batched(mut self) -> Self {
        for node in &mut self.nodes {
            node.set_batch_append(true);
        }
        self
    }

    pub(crate) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }
}

impl Cluster for Ready {
    const NAME: &'static str = "raft 0.7, Ready";

    fn new(voters: usize) -> Self {
        Self {
            nodes: (1..=voters as u64)
                .map(|voter| node(voter, voters as u64, 10))
                .collect(),
            flight: Vec::with_capacity(voters * voters),
            landed: Vec::with_capacity(voters * voters),
            delivered: 0,
            confirmed: 0,
        }
    }

    fn elect(&mut self) {
        self.nodes[0]
            .campaign()
            .unwrap_or_else(|error| panic!("{error}"));
        self.settle();
    }

    fn heartbeat(&mut self) {
        self.nodes[0].tick();
        self.settle();
    }

    fn led(&self) -> bool {
        let leader = &self.nodes[0].raft;
        let follows = |node: &Node| {
            node.raft.leader_id == leader.id
                && node.raft.raft_log.committed == leader.raft_log.last_index()
        };
        leader.state == StateRole::Leader && self.nodes.iter().all(follows)
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }
}

/// It tells the followers at once that an entry is committed.
impl Replicated for Ready {
    fn replicating(voters: usize) -> Self {
        Self::new(voters)
    }

    fn replicate(&mut self, entries: u32) {
        for _ in 0..entries {
            self.nodes[0]
                .propose(Vec::new(), vec![7; 16])
                .unwrap_or_else(|error| panic!("{error}"));
        }
        self.settle();
    }

    fn committed(&self) -> u64 {
        let all = self.nodes.iter().map(|node| node.raft.raft_log.committed);
        all.min().unwrap_or_default()
    }

    fn compact(&mut self) {
        for node in &mut self.nodes {
            let index = node.raft.raft_log.committed;
            let compacted = node.store().wl().compact(index);
            compacted.unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

impl Read for Ready {
    fn read(&mut self, reads: u32) -> u64 {
        let before = self.confirmed;
        for read in 0..reads {
            self.nodes[0].read_index(read.to_le_bytes().to_vec());
        }
        self.settle();
        self.confirmed - before
    }
}

/// The machine inside `RawNode`, its queue of messages taken by hand. Nothing is made durable on this path, which
/// heartbeats alone can do without.
pub(crate) struct Bare(Ready);

impl Cluster for Bare {
    const NAME: &'static str = "raft 0.7, bare step";

    fn new(voters: usize) -> Self {
        Self(Ready::new(voters))
    }

    fn elect(&mut self) {
        self.0.elect();
    }

    fn heartbeat(&mut self) {
        let Ready {
            nodes,
            flight,
            landed,
            delivered,
            ..
        } = &mut self.0;
        nodes[0].raft.tick();
        flight.append(&mut nodes[0].raft.msgs);
        while !flight.is_empty() {
            std::mem::swap(flight, landed);
            *delivered += landed.len() as u64;
            for message in landed.drain(..) {
                let to = message.to as usize - 1;
                let _ = nodes[to].raft.step(message);
                flight.append(&mut nodes[to].raft.msgs);
            }
        }
    }

    fn led(&self) -> bool {
        self.0.led()
    }

    fn delivered(&self) -> u64 {
        self.0.delivered
    }
}
