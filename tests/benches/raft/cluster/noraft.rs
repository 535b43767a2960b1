//! `noraft` 0.4: no timers, no PreVote, no lease, and a vote check that looks at the last index alone, so that it may
//! replace what is committed. An anchor for speed, not a judge of right and wrong.

use super::{Cluster, Replicated};
use noraft::{
    Action, ClusterConfig, Log, LogEntries, LogPosition, Message, Node, NodeGeneration, NodeId,
    Term,
};
use tenure_counts::payloads::Payloads;

pub(crate) struct Noraft {
    nodes: Vec<Node>,
    /// How often a host would have armed the timer of each.
    armed: Vec<u64>,
    flight: Vec<(usize, Message)>,
    landed: Vec<(usize, Message)>,
    delivered: u64,
    /// What travels beside the messages, where there are clients.
    payloads: Option<Payloads>,
}

/// A voter that never ran; ids from 0.
pub(crate) fn node(voter: u64, voters: u64) -> Node {
    let mut config = ClusterConfig::new();
    config.voters.extend((0..voters).map(NodeId::new));
    let log = Log::new(config, LogEntries::new(LogPosition::ZERO));
    Node::restart(
        NodeId::new(voter),
        NodeGeneration::ZERO,
        Term::ZERO,
        None,
        log,
    )
}

impl Noraft {
    /// Does what a node asks: its records are durable at once.
    fn drain(&mut self, at: usize) {
        while let Some(action) = self.nodes[at].actions_mut().next() {
            match action {
                Action::SetElectionTimeout => self.armed[at] += 1,
                Action::SaveCurrentTerm | Action::SaveVotedFor | Action::AppendLogEntries(_) => {}
                Action::BroadcastMessage(message) => {
                    let others = (0..self.nodes.len()).filter(|to| *to != at);
                    self.flight.extend(others.map(|to| (to, message.clone())));
                }
                Action::SendMessage(to, message) => {
                    self.flight.push((to.get() as usize, message));
                }
                Action::InstallSnapshot(_) => unreachable!("no log was compacted"),
            }
        }
    }

    /// A whole flight lands before anybody is drained: the kindest way, for what is asked in between is merged.
    fn settle(&mut self) {
        self.drain(0);
        while !self.flight.is_empty() {
            std::mem::swap(&mut self.flight, &mut self.landed);
            self.delivered += self.landed.len() as u64;
            for (to, message) in self.landed.drain(..) {
                if let (Some(payloads), Message::AppendEntriesCall { from, entries, .. }) =
                    (&mut self.payloads, &message)
                {
                    let index = entries.prev_position().index.get();
                    payloads.carry(from.get() as usize, to, index, entries.len() as u64);
                }
                self.nodes[to].handle_message(&message);
            }
            for at in 0..self.nodes.len() {
                self.drain(at);
            }
        }
    }

    pub(crate) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }
}

impl Cluster for Noraft {
    const NAME: &'static str = "noraft 0.4";

    fn new(voters: usize) -> Self {
        let mut cluster = Self {
            nodes: (0..voters as u64)
                .map(|voter| node(voter, voters as u64))
                .collect(),
            armed: vec![0; voters],
            flight: Vec::with_capacity(voters * voters),
            landed: Vec::with_capacity(voters * voters),
            delivered: 0,
            payloads: None,
        };
        (0..voters).for_each(|at| cluster.drain(at));
        cluster
    }

    /// The followers learn that the leader's first entry is committed with the next round: until then it is no better
    /// than a leader that is not established.
    fn elect(&mut self) {
        self.nodes[0].handle_election_timeout();
        self.settle();
        self.heartbeat();
    }

    fn heartbeat(&mut self) {
        self.nodes[0].heartbeat();
        self.settle();
    }

    fn led(&self) -> bool {
        let leader = &self.nodes[0];
        let follows = |node: &Node| {
            node.voted_for() == Some(leader.id())
                && node.commit_index() == leader.log().last_position().index
        };
        leader.role().is_leader() && self.nodes.iter().all(follows)
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }
}

/// The followers hear that an entry is committed with the next message, unlike those of the two others.
impl Replicated for Noraft {
    fn replicating(voters: usize) -> Self {
        Self {
            payloads: Some(Payloads::new(voters)),
            ..Self::new(voters)
        }
    }

    fn replicate(&mut self, entries: u32) {
        for _ in 0..entries {
            let index = self.nodes[0].propose_command().index.get();
            if let Some(payloads) = &mut self.payloads {
                payloads.keep(0, index);
            }
        }
        self.settle();
    }

    fn committed(&self) -> u64 {
        let index = self.nodes[0].commit_index();
        let has = |node: &Node| node.log().last_position().index >= index;
        let index = index.get();
        let carried = self.payloads.as_ref();
        let carried = carried.is_none_or(|payloads| payloads.everywhere(index));
        if carried && self.nodes.iter().all(has) {
            index
        } else {
            0
        }
    }
}
