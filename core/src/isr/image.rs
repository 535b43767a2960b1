//! What the metadata log says, applied record by record: the same at every controller and broker that is as far.

use super::places::{MAX_REPLICAS, Places};
use super::record::{Change, PartitionId, Record, TopicId};
use super::refuse::Refusal;
use super::rules::{Rule, Rules};
use crate::NodeId;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// No offset is as high: whatever is decided at once ends far below what can be counted.
pub(super) const MAX_OFFSET: u64 = u64::MAX / 2;

/// A broker that is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Registration {
    /// Who.
    pub broker: NodeId,
    /// Which of its lives.
    pub incarnation: u64,
    /// Its broker epoch: the offset at which it was registered.
    pub epoch: u64,
    /// Whether it may neither lead nor be in an ISR.
    pub fenced: bool,
    /// Whether it is about to go.
    pub shutting_down: bool,
}

impl Registration {
    /// Whether it may lead, and enter an ISR.
    #[must_use]
    pub const fn is_active(&self) -> bool {
        !self.fenced && !self.shutting_down
    }
}

/// A partition, as the log has it.
///
/// **Invariant** (KP-LeaderInIsr, KP-ElrDisjoint): the leader, if any, is in the ISR; ISR and ELR are apart; all are
/// replicas.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Partition {
    /// By whom it is kept, the preferred leader first.
    pub replicas: Arc<[NodeId]>,
    /// Who leads.
    pub leader: Option<NodeId>,
    /// Who led last, while nobody does and nobody is eligible.
    pub last_known: Option<NodeId>,
    /// Counted from 1: rises whenever the leader is written. The token of replicas and clients.
    pub leader_epoch: u64,
    /// Counted from 1: rises with every change. The token of who changes the ISR.
    pub partition_epoch: u64,
    /// Who is in sync.
    pub isr: Places,
    /// Who is eligible to lead when nobody is in sync (KIP-966).
    pub elr: Places,
    /// Whether the leader was elected though it may lack what was committed, and has yet to see to it.
    pub recovering: bool,
}

impl Partition {
    /// The place of a replica.
    #[must_use]
    pub fn place(&self, broker: NodeId) -> Option<usize> {
        self.replicas.iter().position(|replica| *replica == broker)
    }

    /// A replica as a set; none when it is no replica.
    #[must_use]
    pub fn only(&self, broker: NodeId) -> Places {
        self.place(broker).map_or(Places::NONE, Places::of)
    }

    /// Everybody who keeps it.
    #[must_use]
    pub fn all(&self) -> Places {
        Places::first(self.replicas.len())
    }

    /// Whether a replica is among some of them.
    #[must_use]
    pub fn among(&self, broker: NodeId, places: Places) -> bool {
        !self.only(broker).and(places).is_empty()
    }

    fn apply(&mut self, change: &Change, bump: bool) {
        self.partition_epoch = self.partition_epoch.saturating_add(1);
        if let Some(leader) = change.leader {
            self.leader = leader;
            self.leader_epoch = self.leader_epoch.saturating_add(u64::from(bump));
        }
        self.isr = change.isr.unwrap_or(self.isr);
        self.elr = change.elr.unwrap_or(self.elr);
        self.last_known = change.last_known.unwrap_or(self.last_known);
        self.recovering = change.recovering.unwrap_or(self.recovering);
    }
}

/// A topic, as the log has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Topic {
    /// Which.
    pub id: TopicId,
    /// `min.insync.replicas`.
    pub min_isr: u8,
    /// `unclean.leader.election.enable`.
    pub unclean: bool,
    /// Its partitions, by their index.
    pub partitions: Vec<Partition>,
}

/// All that is known of brokers and topics: the metadata image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Image {
    /// By rising id.
    brokers: Vec<Registration>,
    /// By rising id.
    topics: Vec<Topic>,
}

impl Image {
    /// Nothing is known yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            brokers: Vec::new(),
            topics: Vec::new(),
        }
    }

    /// All brokers, by rising id.
    #[must_use]
    pub fn brokers(&self) -> &[Registration] {
        &self.brokers
    }

    /// All topics, by rising id.
    #[must_use]
    pub fn topics(&self) -> &[Topic] {
        &self.topics
    }

    /// A broker's registration.
    #[must_use]
    pub fn broker(&self, broker: NodeId) -> Option<&Registration> {
        let place = self.place_of_broker(broker).ok()?;
        self.brokers.get(place)
    }

    /// A topic.
    #[must_use]
    pub fn topic(&self, topic: TopicId) -> Option<&Topic> {
        let place = self.place_of_topic(topic).ok()?;
        self.topics.get(place)
    }

    /// A partition.
    #[must_use]
    pub fn partition(&self, at: PartitionId) -> Option<&Partition> {
        let index = usize::try_from(at.index).ok()?;
        self.topic(at.topic)?.partitions.get(index)
    }

    /// Every partition, with its topic.
    pub fn partitions(&self) -> impl Iterator<Item = (PartitionId, &Topic, &Partition)> {
        self.topics.iter().flat_map(|topic| {
            let numbered = (0u32..).zip(&topic.partitions);
            numbered.map(move |(index, partition)| {
                let topic_id = topic.id;
                let at = PartitionId {
                    topic: topic_id,
                    index,
                };
                (at, topic, partition)
            })
        })
    }

    /// Whether a broker may lead, and enter an ISR.
    #[must_use]
    pub fn is_active(&self, broker: NodeId) -> bool {
        self.broker(broker).is_some_and(Registration::is_active)
    }

    /// Whether a broker leads a partition.
    #[must_use]
    pub fn leads(&self, broker: NodeId) -> bool {
        self.partitions()
            .any(|(_, _, partition)| partition.leader == Some(broker))
    }

    /// Applies the record that the log has at `offset`.
    ///
    /// # Errors
    /// When it contradicts those before it, and nothing is changed: the log is not one.
    pub(super) fn apply(
        &mut self,
        offset: u64,
        record: &Record,
        rules: &impl Rules,
    ) -> Result<(), Refusal> {
        match *record {
            Record::RegisterBroker {
                broker,
                incarnation,
            } => {
                let registration = Registration {
                    broker,
                    incarnation,
                    epoch: offset,
                    fenced: true,
                    shutting_down: false,
                };
                match self.place_of_broker(broker) {
                    Ok(place) => self.brokers[place] = registration,
                    Err(place) => self.brokers.insert(place, registration),
                }
            }
            Record::ChangeBroker {
                broker,
                epoch,
                fenced,
                shutting_down,
            } => {
                let registration = self.brokers.iter_mut().find(|known| known.broker == broker);
                let known = registration.filter(|known| known.epoch == epoch);
                let known = known.ok_or(Refusal::ImpossibleRecord)?;
                known.fenced = fenced;
                known.shutting_down = shutting_down;
            }
            Record::CreateTopic {
                topic,
                min_isr,
                unclean,
            } => {
                let created = Topic {
                    id: topic,
                    min_isr,
                    unclean,
                    partitions: Vec::new(),
                };
                match self.place_of_topic(topic) {
                    Ok(_) => return Err(Refusal::ImpossibleRecord),
                    Err(place) => self.topics.insert(place, created),
                }
            }
            Record::CreatePartition {
                at,
                ref replicas,
                isr,
            } => {
                let topic = self.topic_mut(at.topic)?;
                let next = u32::try_from(topic.partitions.len());
                let count = replicas.len();
                let twice = || (1..count).any(|place| replicas[..place].contains(&replicas[place]));
                if next != Ok(at.index)
                    || !(1..=MAX_REPLICAS).contains(&count)
                    || !isr.within(Places::first(count))
                    || twice()
                {
                    return Err(Refusal::ImpossibleRecord);
                }
                topic.partitions.push(Partition {
                    replicas: replicas.clone(),
                    leader: isr
                        .iter()
                        .next()
                        .and_then(|place| replicas.get(place))
                        .copied(),
                    last_known: None,
                    leader_epoch: 1,
                    partition_epoch: 1,
                    isr,
                    elr: Places::NONE,
                    recovering: false,
                });
            }
            Record::ChangePartition { at, ref change } => {
                let topic = self.topic_mut(at.topic)?;
                let index = usize::try_from(at.index).unwrap_or(usize::MAX);
                let partition = topic.partitions.get_mut(index);
                let partition = partition.ok_or(Refusal::ImpossibleRecord)?;
                let all = partition.all();
                let is_replica = |who: Option<Option<NodeId>>| {
                    who.flatten()
                        .is_none_or(|who| partition.place(who).is_some())
                };
                let known = is_replica(change.leader) && is_replica(change.last_known);
                let mut sets = [change.isr, change.elr].into_iter().flatten();
                let within = sets.all(|set| set.within(all));
                if !known || !within {
                    return Err(Refusal::ImpossibleRecord);
                }
                partition.apply(change, rules.keeps(Rule::LeaderEpochRises));
            }
            Record::RemoveTopic { topic } => match self.place_of_topic(topic) {
                Ok(place) => drop(self.topics.remove(place)),
                Err(_) => return Err(Refusal::ImpossibleRecord),
            },
        }
        Ok(())
    }

    fn topic_mut(&mut self, topic: TopicId) -> Result<&mut Topic, Refusal> {
        let place = self.place_of_topic(topic);
        let topic = place.ok().and_then(|place| self.topics.get_mut(place));
        topic.ok_or(Refusal::ImpossibleRecord)
    }

    fn place_of_broker(&self, broker: NodeId) -> Result<usize, usize> {
        self.brokers
            .binary_search_by_key(&broker, |known| known.broker)
    }

    fn place_of_topic(&self, topic: TopicId) -> Result<usize, usize> {
        self.topics.binary_search_by_key(&topic, |known| known.id)
    }
}
