//! What a schedule is chosen by: the present of a world, as the physics shows it, and what lies ahead.

use crate::node::Status;
use crate::packet::Packet;
use crate::physics::NEVER;
use crate::physics::network::{Fate, Flight};
use crate::scheme::{RoleCode, Scheme};
use crate::server::Server;
use crate::world::World;
use tenure::{Election, Instant};

/// How much of a promise may be left to one who stands: a fifth of the usual election timeout (RL-10).
const EARLY: u64 = 30_000;

/// The present.
pub(super) struct Sight {
    pub(super) now: u64,
    pub(super) nodes: Vec<Seen>,
    /// What the servers of the store are doing, where there are some.
    pub(super) servers: Vec<Status>,
    /// Which of them leads the others, where they are a cluster.
    pub(super) head: Option<usize>,
    /// Who leads: established first, else elected.
    pub(super) leader: Option<usize>,
    /// How many directions of links are cut.
    pub(super) cuts: usize,
    /// Whether nodes talk over connections.
    pub(super) connected: bool,
}

/// A node. Times are true ones; 0 for what is not.
pub(super) struct Seen {
    pub(super) status: Status,
    /// When its belief to lead ends.
    pub(super) believes_until: u64,
    /// When the promise ends that it gave last.
    pub(super) promised_until: u64,
    /// Whether it would stand if it was asked to: it neither leads nor stands, and hardly any of its promise is left.
    pub(super) free: bool,
    /// When it is to be called again.
    pub(super) deadline: u64,
    /// How long its disk takes for a write, and whether one is on its way.
    pub(super) disk: (u64, bool),
}

impl Sight {
    pub(super) fn of(world: &World) -> Self {
        let now = world.now();
        let nodes = (0..world.nodes()).filter_map(|node| world.node(node));
        let nodes = nodes.map(|node| {
            let when = |instant: Instant| match node.clock().when(instant) {
                NEVER => 0,
                at => at,
            };
            let machine = node.machine();
            let promise = machine.and_then(|machine| machine.detail().promise);
            let promised_until = promise.map_or(0, |(_, until, _)| when(until));
            Seen {
                status: node.status(),
                free: node.look().role == RoleCode::Follower && promised_until < now + EARLY,
                believes_until: (node.leads_at(now).map(|(_, until)| until))
                    .filter(|until| *until != NEVER)
                    .unwrap_or(0),
                promised_until,
                deadline: machine.and_then(Election::deadline).map_or(0, when),
                disk: (node.disk().takes.total(), node.disk().pending() > 0),
            }
        });
        Self {
            now,
            nodes: nodes.collect(),
            servers: world.servers().map(|server| server.status()).collect(),
            head: world.servers().position(Server::leads),
            leader: world.acting_leader(),
            cuts: world.env.net.links.cuts(),
            connected: world.env.net.weather().fifo,
        }
    }

    /// The nodes in this state.
    pub(super) fn with(&self, status: Status) -> Vec<usize> {
        (0..self.nodes.len())
            .filter(|node| self.nodes[*node].status == status)
            .collect()
    }

    /// Whether some node is in this state.
    pub(super) fn any(&self, status: Status) -> bool {
        self.nodes.iter().any(|node| node.status == status)
    }

    /// The running nodes that do not lead.
    pub(super) fn others(&self) -> Vec<usize> {
        let mut others = self.with(Status::Up);
        others.retain(|node| Some(*node) != self.leader);
        others
    }
}

/// A message of the election that will arrive.
pub(super) fn mail(world: &World) -> impl Iterator<Item = &Flight<Packet>> {
    let now = world.now();
    world.env.net.flights().filter(move |flight| {
        flight.arrives > now
            && flight.fate == Fate::Arrives
            && matches!(
                flight.payload,
                Packet::Peer(_)
                    | Packet::Loaded(..)
                    | Packet::AskStore { .. }
                    | Packet::StoreSaid { .. }
            )
    })
}
