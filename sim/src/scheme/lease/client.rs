//! What stands between a machine and a cluster of servers, each of which answers for all: it asks one of them at a time, and
//! goes to another when that one is of no use.

use super::Balancer;
#[cfg(feature = "peers")]
use super::zookeeper::Library;
use crate::scheme::{Answer, Ask, PeerSaid, Write};
use tenure::{Input, Instant, Output};

/// The client of a store.
#[derive(Clone, Debug)]
pub(super) enum Client {
    /// Of etcd.
    Etcd(Balancer),
    /// Of ZooKeeper.
    #[cfg(feature = "peers")]
    ZooKeeper(Box<Library>),
}

impl Client {
    /// Something comes: what the machine hears of it.
    pub(super) fn hears(
        &mut self,
        now: Instant,
        input: Input<PeerSaid, Answer>,
    ) -> Option<Input<PeerSaid, Answer>> {
        match self {
            Self::Etcd(balancer) => {
                balancer.hears(now, &input);
                Some(input)
            }
            #[cfg(feature = "peers")]
            Self::ZooKeeper(library) => library.hears(now, input),
        }
    }

    /// What the machine is to hear besides.
    pub(super) fn tells(&mut self) -> Option<Input<PeerSaid, Answer>> {
        match self {
            Self::Etcd(balancer) => balancer.look(),
            #[cfg(feature = "peers")]
            Self::ZooKeeper(library) => library.tells(),
        }
    }

    /// What is still to be said before anything else.
    pub(super) fn poll(&mut self) -> Option<Output<PeerSaid, Ask<Write>>> {
        match self {
            Self::Etcd(balancer) => balancer.poll(),
            #[cfg(feature = "peers")]
            Self::ZooKeeper(library) => library.poll(),
        }
    }

    /// What is said of what the machine says.
    pub(super) fn routed(
        &mut self,
        output: Output<PeerSaid, Ask<Write>>,
    ) -> Option<Output<PeerSaid, Ask<Write>>> {
        match self {
            Self::Etcd(balancer) => Some(balancer.routed(output)),
            #[cfg(feature = "peers")]
            Self::ZooKeeper(library) => library.routed(output),
        }
    }

    /// When something happens by itself.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Etcd(_) => None,
            #[cfg(feature = "peers")]
            Self::ZooKeeper(library) => library.deadline(),
        }
    }

    /// The connection to a server ended, or stands again, without anything of the one before.
    #[cfg(feature = "peers")]
    pub(super) fn connection(&mut self, now: Instant, server: usize, stands: bool) {
        if let Self::ZooKeeper(library) = self
            && !stands
        {
            library.disconnected(now, server);
        }
    }
}
