//! `omnipaxos` 0.2: leaders come of ballots that are told in heartbeats, and nobody votes.

use omnipaxos::macros::Entry;
use omnipaxos::messages::Message;
use omnipaxos::{ClusterConfig, OmniPaxos, ServerConfig};
use omnipaxos_storage::memory_storage::MemoryStorage;
use tenure_tests::faults::network::{Links, Network};
use tenure_tests::faults::system::System;

#[derive(Clone, Debug, Entry)]
struct Write;

pub(crate) struct Omni {
    nodes: Vec<OmniPaxos<Write, MemoryStorage<Write>>>,
    network: Network<Message<Write>>,
    out: Vec<Message<Write>>,
}

impl Omni {
    pub(crate) fn new(count: usize, hop: (u64, u64), seed: u64) -> Self {
        let ids = 1..=count as u64;
        let node = |pid| {
            let cluster = ClusterConfig {
                configuration_id: 1,
                nodes: ids.clone().collect(),
                flexible_quorum: None,
            };
            let server = ServerConfig {
                pid,
                election_tick_timeout: 10,
                resend_message_tick_timeout: 20,
                ..ServerConfig::default()
            };
            let built = cluster.build_for_server(server, MemoryStorage::default());
            built.unwrap_or_else(|error| panic!("node {pid}: {error:?}"))
        };
        Self {
            nodes: ids.clone().map(node).collect(),
            network: Network::new(hop, seed),
            out: Vec::new(),
        }
    }
}

impl System for Omni {
    fn tick(&mut self, links: &Links) {
        for (_, to, message) in self.network.tick(links) {
            self.nodes[to].handle_incoming(message);
        }
        for (at, node) in self.nodes.iter_mut().enumerate() {
            node.tick();
            node.take_outgoing_messages(&mut self.out);
            for message in self.out.drain(..) {
                let to = message.get_receiver() as usize - 1;
                self.network.send(at, to, message);
            }
        }
        for (_, at) in self.leaders() {
            let _ = self.nodes[at].append(Write);
        }
    }

    fn leaders(&self) -> Vec<(u64, usize)> {
        let leading = |(at, node): (usize, &OmniPaxos<_, _>)| {
            let ballot = node.get_promise();
            let own = ballot.pid == at as u64 + 1;
            let leads = own && node.get_current_leader() == Some((ballot.pid, true));
            leads.then_some((u64::from(ballot.n), at))
        };
        self.nodes.iter().enumerate().filter_map(leading).collect()
    }

    fn committed(&self) -> u64 {
        let all = self.nodes.iter().map(|node| node.get_decided_idx() as u64);
        all.max().unwrap_or_default()
    }

    fn term(&self) -> u64 {
        let all = self
            .nodes
            .iter()
            .map(|node| u64::from(node.get_promise().n));
        all.max().unwrap_or_default()
    }

    fn asked(&self) -> &[u64] {
        &[]
    }
}
