//! `raft` 0.7 in its safe mode. Its records are durable at once; its draws have no seed.

use crate::driver::{Node, drain, node};
use raft::StateRole;
use raft::prelude::{Message, MessageType};
use tenure_tests::faults::network::{Links, Network};
use tenure_tests::faults::system::System;

pub(crate) struct RaftRs {
    nodes: Vec<Node>,
    network: Network<Message>,
    out: Vec<Message>,
    last_asked: Vec<u64>,
    asked: Vec<u64>,
}

impl RaftRs {
    pub(crate) fn new(count: usize, hop: (u64, u64), seed: u64) -> Self {
        let ids = 1..=count as u64;
        Self {
            nodes: ids.map(|id| node(id, count as u64, 10)).collect(),
            network: Network::new(hop, seed),
            out: Vec::new(),
            last_asked: vec![0; count],
            asked: vec![0; count],
        }
    }

    fn drain(&mut self, at: usize) {
        let now = self.network.now();
        drain(&mut self.nodes[at], &mut self.out);
        for message in self.out.drain(..) {
            let asks = message.get_msg_type() == MessageType::MsgRequestPreVote;
            if asks && self.last_asked[at] < now {
                self.last_asked[at] = now;
                self.asked[at] += 1;
            }
            self.network.send(at, message.to as usize - 1, message);
        }
    }
}

impl System for RaftRs {
    fn tick(&mut self, links: &Links) {
        for (_, to, message) in self.network.tick(links) {
            // What a node refuses is no error of the network.
            let _ = self.nodes[to].step(message);
        }
        for at in 0..self.nodes.len() {
            self.nodes[at].tick();
            self.drain(at);
        }
        for (_, at) in self.leaders() {
            let _ = self.nodes[at].propose(Vec::new(), vec![7; 16]);
        }
    }

    fn leaders(&self) -> Vec<(u64, usize)> {
        let nodes = self.nodes.iter().enumerate();
        nodes
            .filter(|(_, node)| node.raft.state == StateRole::Leader)
            .map(|(at, node)| (node.raft.term, at))
            .collect()
    }

    fn committed(&self) -> u64 {
        let all = self.nodes.iter().map(|node| node.raft.raft_log.committed);
        all.max().unwrap_or_default()
    }

    fn term(&self) -> u64 {
        let all = self.nodes.iter().map(|node| node.raft.term);
        all.max().unwrap_or_default()
    }

    fn asked(&self) -> &[u64] {
        &self.asked
    }
}
