//! Who creates topics, produces and consumes.

use crate::cluster::{Cluster, Event, MS};
use tenure::isr::{Acks, Consumed, PartitionId, Request, TopicId};

impl Cluster {
    pub(crate) fn create(
        &mut self,
        partitions: u32,
        replication: u8,
        min_isr: u8,
        unclean: bool,
    ) -> TopicId {
        self.topics += 1;
        let topic = TopicId(self.topics);
        self.ask(Request::CreateTopic {
            topic,
            partitions,
            replication,
            min_isr,
            unclean,
        });
        topic
    }

    /// Somebody writes or reads somewhere.
    pub(crate) fn work(&mut self) {
        if !self.works {
            return;
        }
        let after = 1 + self.random.below(20 * MS);
        self.push(after, Event::Work);
        let all: Vec<PartitionId> = self.judge.image().partitions().map(|(at, ..)| at).collect();
        let Some(at) = all
            .get(self.random.below(all.len() as u64) as usize)
            .copied()
        else {
            return;
        };
        let leader = self
            .judge
            .image()
            .partition(at)
            .and_then(|partition| partition.leader);
        // Also to whoever led before.
        let anybody = self.random.below(self.hosts.len() as u64);
        let to = match leader {
            Some(leader) if self.random.below(3) > 0 => leader.0,
            _ => anybody,
        };
        let to = to as usize;
        match self.random.below(8) {
            0..4 => {
                let count = 1 + self.random.below(3);
                self.produce(to, at, Acks::All, count);
            }
            4 | 5 => {
                self.produce(to, at, Acks::Leader, 1);
            }
            _ => self.consume(to, at),
        }
    }

    fn consume(&mut self, from: usize, at: PartitionId) {
        let Some(life) = self.hosts[from]
            .life
            .as_ref()
            .filter(|_| !self.hosts[from].paused)
        else {
            return;
        };
        let Some(replica) = life.replicas.get(&at) else {
            return;
        };
        let after = self.random.below(replica.high_watermark() + 2);
        if let Consumed::Records { written, count } = replica.consume(None, after) {
            assert!(after + count <= replica.high_watermark());
            assert!(count == 0 || replica.log().term_at(after + 1) == Some(written));
        }
    }
}
