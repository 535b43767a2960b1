//! What is shown of brokers: how each stands in the metadata, and what it has of the partition that clients use first.

use super::BrokerServer;
use crate::server::{Part, Serves};
use tenure::NodeId;
use tenure::isr::{Acks, Image, Partition, PartitionId, Places, Replica, Switched};

/// What the metadata says of a broker, in the codes of the JavaScript interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Registered {
    /// It is not registered.
    #[default]
    Unknown = 0,
    /// It may neither lead nor be in sync.
    Fenced = 1,
    /// It may.
    Unfenced = 2,
    /// It is about to go, in good order.
    ShuttingDown = 3,
}

impl Registered {
    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unregistered",
            Self::Fenced => "fenced",
            Self::Unfenced => "unfenced",
            Self::ShuttingDown => "controlled",
        }
    }
}

/// What a broker is to the partition that is shown, in the codes of the JavaScript interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Place {
    /// It keeps no copy.
    #[default]
    None = 0,
    /// It keeps one that is not in sync.
    Out = 1,
    /// It may lead when nobody is in sync: the ELR of KIP-966.
    Eligible = 2,
    /// It is in the ISR.
    InSync = 3,
    /// It leads, and is in the ISR.
    Leader = 4,
}

/// How a broker stands in the metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Whether it may lead.
    pub registered: Registered,
    /// Its broker epoch.
    pub epoch: Option<u64>,
    /// What it is to the partition.
    pub place: Place,
    /// The leader epoch of the partition, whoever leads.
    pub leader_epoch: Option<u64>,
}

impl Standing {
    pub(crate) fn of(image: &Image, broker: u16) -> Self {
        let broker = NodeId(broker.into());
        let registration = image.broker(broker);
        let partition = watched(image).map(|(_, partition)| partition);
        Self {
            registered: registration.map_or(Registered::Unknown, |own| {
                match (own.fenced, own.shutting_down) {
                    (true, _) => Registered::Fenced,
                    (_, true) => Registered::ShuttingDown,
                    _ => Registered::Unfenced,
                }
            }),
            epoch: registration.map(|own| own.epoch),
            place: partition.map_or(Place::None, |partition| place(partition, broker)),
            leader_epoch: partition.map(|partition| partition.leader_epoch),
        }
    }
}

fn place(partition: &Partition, broker: NodeId) -> Place {
    if partition.leader == Some(broker) {
        Place::Leader
    } else if partition.among(broker, partition.isr) {
        Place::InSync
    } else if partition.among(broker, partition.elr) {
        Place::Eligible
    } else if partition.place(broker).is_some() {
        Place::Out
    } else {
        Place::None
    }
}

/// The partition that is shown: the first that there is.
fn watched(image: &Image) -> Option<(PartitionId, &Partition)> {
    let (at, _, partition) = image.partitions().next()?;
    Some((at, partition))
}

/// What a broker knows of the partition that is shown: as it is told, late or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// Its broker epoch.
    pub(crate) epoch: Option<u64>,
    /// Of the partition.
    pub(crate) leader_epoch: Option<u64>,
    /// Who is in sync.
    pub(crate) isr: Vec<u16>,
    /// Who is eligible to lead when nobody is.
    pub(crate) elr: Vec<u16>,
}

impl BrokerServer {
    /// What it shows of its replica. Of one that is down that is what its disk has.
    pub(super) fn shown(&self) -> Serves {
        let image = self.broker().map(tenure::isr::Broker::image);
        let at = image.and_then(watched).map(|(at, _)| at);
        let replica = at.and_then(|at| self.replica(at));
        let kept = self.on_disk(at);
        let view = replica.and_then(Replica::view);
        let leader = view.and_then(|view| view.leader);
        let leads = replica.is_some_and(|replica| replica.leads().is_some());
        Serves {
            part: match replica {
                Some(_) if leads => Part::Leader,
                Some(_) => Part::Follower,
                None => Part::Broker,
            },
            follows: leader.filter(|_| !leads).map(|leader| leader.0 as u16),
            end: replica.map_or(kept.0, |replica| replica.log().last().index),
            committed: Some(replica.map_or(kept.1, Replica::high_watermark)),
            linked: self.broker().is_some_and(|broker| !broker.is_fenced()),
            copying: false,
            writable: leads && replica.is_some_and(|replica| self.takes(replica)),
        }
    }

    /// Whether what a producer has is taken where it leads.
    fn takes(&self, replica: &Replica<Switched>) -> bool {
        let enough = replica
            .view()
            .is_some_and(|view| view.isr.count() >= usize::from(view.min_isr));
        self.acks() == Acks::Leader || enough
    }

    /// The metadata as far as it is applied here, and how far that is; nothing when it is down.
    pub(crate) fn metadata(&self) -> Option<(u64, &Image)> {
        let broker = self.broker()?;
        Some((broker.next(), broker.image()))
    }

    /// What it knows; nothing when it is down.
    pub(crate) fn known(&self) -> Known {
        let Some(broker) = self.broker() else {
            return Known::default();
        };
        let partition = watched(broker.image()).map(|(_, partition)| partition);
        let all = |of: fn(&Partition) -> Places| {
            partition.map_or_else(Vec::new, |partition| {
                let places = of(partition).iter();
                let replicas = places.filter_map(|place| partition.replicas.get(place));
                // In the order of their names, and not of who is preferred.
                let mut all: Vec<u16> = replicas.map(|replica| replica.0 as u16).collect();
                all.sort_unstable();
                all
            })
        };
        Known {
            epoch: broker.epoch(),
            leader_epoch: partition.map(|partition| partition.leader_epoch),
            isr: all(|partition| partition.isr),
            elr: all(|partition| partition.elr),
        }
    }
}
