//! A broker with its replicas, in the process and by the clock of a server of the world.

mod carry;

use super::Params;
use super::disk::Disk;
use super::reader::Reader;
use super::said::{Asker, Described, Produced, Said};
use crate::scheme::{StoreAsk, StoreSaid};
use crate::server::{Record, Serves, Service};
use crate::sorted::Sorted;
use std::collections::VecDeque;
use tenure::isr::{
    Acks, Answer, Broker, BrokerBoot, BrokerEvent, Consumed, Fault, PartitionId, ProduceFault,
    Replica, ReplicaEvent, Switched,
};
use tenure::log::{Position, Shape};
use tenure::{Instant, NodeId, Ticket};

/// What happened at a broker, for those who watch.
#[derive(Clone, Debug)]
pub(crate) enum News {
    /// A life begins: what it knew is on its disk alone.
    Began,
    /// Of the broker itself.
    Broker(BrokerEvent),
    /// Of a replica.
    Replica(PartitionId, ReplicaEvent, u64),
    /// What a replica has now: its log, how much of it is committed as far as it knows, and in which epoch it leads.
    Has(PartitionId, Shape, u64, Option<u64>),
    /// A leader took so many records, the last of them here.
    Wrote(PartitionId, Position, u64),
    /// A producer is told that it is in.
    Acknowledged(PartitionId, Position),
    /// A consumer that has read so many records is told this by who leads in that epoch.
    Consumed(PartitionId, u64, u64, Consumed),
    /// A partition is not kept any more.
    Removed(PartitionId),
    /// The metadata log is applied before this offset.
    Applied(u64),
    /// A write failed, and the process ends with it.
    DiskFailed,
    /// The end of a log is gone with the power of the machine or a write that failed, or all of it with the disk.
    Lost(PartitionId),
}

/// A producer that waits for all in sync.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    at: PartitionId,
    position: Position,
    client: u16,
    number: u64,
}

/// One life of a broker.
#[derive(Clone, Debug)]
struct Life {
    broker: Broker<Switched>,
    replicas: Sorted<PartitionId, Replica<Switched>>,
    reader: Reader,
    waiting: Vec<Waiting>,
    /// Which replicas were given something.
    touched: Sorted<PartitionId, ()>,
    /// Up to where it was told that it applied the log.
    applied: u64,
    flush_at: u64,
    /// Whether it was told to go.
    leaves: bool,
}

/// A broker, and what its disk has.
#[derive(Clone, Debug)]
pub(crate) struct BrokerServer {
    params: Params,
    me: u16,
    nodes: u16,
    /// Built when its clock is known. `None` until then, and when it stopped.
    life: Option<Box<Life>>,
    lives: u64,
    disk: Disk,
    said: VecDeque<(u16, Said)>,
    news: VecDeque<News>,
    /// Whether the process ends, and how.
    ended: Option<Ended>,
}

/// How a process ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It was told to go, and went in good order.
    InOrder,
    /// Its only disk failed.
    DiskFailed,
}

impl BrokerServer {
    /// The broker that is this actor, beside so many controllers.
    pub(crate) fn new(params: Params, me: usize, nodes: usize) -> Self {
        Self {
            params,
            me: me as u16,
            nodes: nodes as u16,
            life: None,
            lives: 0,
            disk: Disk::default(),
            said: VecDeque::new(),
            news: VecDeque::new(),
            ended: None,
        }
    }

    /// Whether what the process does is over, and how that came.
    pub(crate) const fn has_ended(&self) -> Option<Ended> {
        self.ended
    }

    /// Another disk takes the place of what it had while no process runs. False when there was nothing on it.
    pub(crate) fn wipe(&mut self) -> bool {
        let lost = self.disk.wipe();
        self.lose(lost.iter().flatten().copied());
        lost.is_some()
    }

    /// Its disk answers before it has written, from now on. False when it does already.
    pub(crate) fn lie(&mut self) -> bool {
        self.disk.lie()
    }

    /// What it flushes next fails. False when it will already.
    pub(crate) fn fail(&mut self) -> bool {
        self.disk.fail()
    }

    /// Whether its disk lies, or will fail.
    pub(crate) const fn is_damaged(&self) -> bool {
        self.disk.is_damaged()
    }

    fn lose(&mut self, lost: impl Iterator<Item = PartitionId>) {
        self.news.extend(lost.map(News::Lost));
    }

    /// Whether it was told to go, and has not gone.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn is_leaving(&self) -> bool {
        self.life.as_ref().is_some_and(|life| life.leaves)
    }

    /// The broker that runs.
    pub(super) fn broker(&self) -> Option<&Broker<Switched>> {
        self.life.as_ref().map(|life| &life.broker)
    }

    /// Its replica of a partition, while it runs.
    pub(super) fn replica(&self, at: PartitionId) -> Option<&Replica<Switched>> {
        self.life.as_ref()?.replicas.get(&at)
    }

    /// How far what its disk has of a partition goes, or of the first, and the high watermark that was written down.
    pub(super) fn on_disk(&self, at: Option<PartitionId>) -> (u64, u64) {
        let at = at.or_else(|| self.disk.first());
        let kept = at.map(|at| self.disk.read(at));
        kept.map_or((0, 0), |kept| (kept.log.last().index, kept.high_watermark))
    }

    /// What its producers wait for.
    pub(super) const fn acks(&self) -> Acks {
        self.params.acks
    }

    /// The next thing to say, and to which actor.
    pub(crate) fn poll_brokers(&mut self) -> Option<(u16, Said)> {
        self.said.pop_front()
    }

    /// The next thing that happened.
    pub(crate) fn poll_news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// It is to go in good order. False when it is not there.
    pub(crate) fn shut_down(&mut self, now: u64) -> bool {
        let Some(life) = &mut self.life else {
            return false;
        };
        life.broker.shut_down(Instant::from_micros(now));
        life.leaves = true;
        self.drain(now);
        true
    }

    /// Somebody says something.
    pub(crate) fn hear(&mut self, now: u64, from: u16, said: &Said) {
        let Some(life) = &mut self.life else {
            return;
        };
        let at_now = Instant::from_micros(now);
        match said {
            Said::Metadata { .. } | Said::MetadataDiverges { .. } | Said::NoMetadata { .. } => {
                life.reader.hear(at_now, said, &mut life.broker);
            }
            Said::Answer {
                asker,
                ticket,
                answer,
                leader,
            } => {
                if *answer == Answer::Fault(Fault::NotController) && from == life.reader.controller
                {
                    life.reader.turn(*leader);
                }
                match asker {
                    Asker::Broker => life.broker.answer(at_now, *ticket, *answer),
                    Asker::Replica(at) => {
                        if let Some(replica) = life.replicas.get_mut(at) {
                            replica.answer(at_now, *ticket, *answer);
                            life.touched.insert(*at, ());
                        }
                    }
                    Asker::Client => {}
                }
            }
            Said::Replica(at, message) => {
                if let Some(replica) = life.replicas.get_mut(at) {
                    replica.message(at_now, NodeId(from.into()), message);
                    life.touched.insert(*at, ());
                }
            }
            Said::Produce { number, at } => self.produce(now, (from, *number), *at),
            Said::Consume {
                number,
                at,
                epoch,
                after,
            } => {
                let replica = life.replicas.get(at);
                let what = replica.map_or(Consumed::NotLeader, |replica| {
                    replica.consume(Some(*epoch), *after)
                });
                let number = *number;
                self.news
                    .push_back(News::Consumed(*at, *epoch, *after, what));
                self.said.push_back((from, Said::Consumed { number, what }));
            }
            Said::Describe { number } => {
                let all = life.broker.image().partitions();
                let partitions = all.map(|(at, _, partition)| Described {
                    at,
                    leader: partition.leader,
                    epoch: partition.leader_epoch,
                });
                let partitions = partitions.collect();
                let number = *number;
                self.said
                    .push_back((from, Said::Partitions { number, partitions }));
            }
            _ => {}
        }
        self.drain(now);
    }

    fn produce(&mut self, now: u64, (client, number): (u16, u64), at: PartitionId) {
        let Some(life) = &mut self.life else {
            return;
        };
        let acks = self.params.acks;
        let replica = life.replicas.get_mut(&at);
        let taken = replica.map_or(Err(ProduceFault::NotLeader), |replica| {
            replica.produce(Instant::from_micros(now), acks, 1)
        });
        let what = match taken {
            Ok(position) => {
                self.news.push_back(News::Wrote(at, position, 1));
                life.touched.insert(at, ());
                if acks == Acks::All {
                    let waiting = Waiting {
                        at,
                        position,
                        client,
                        number,
                    };
                    return life.waiting.push(waiting);
                }
                self.news.push_back(News::Acknowledged(at, position));
                Produced::Acknowledged(position)
            }
            Err(ProduceFault::NotEnoughReplicas) => Produced::NotEnoughReplicas,
            Err(_) => Produced::NotLeader,
        };
        self.said
            .push_back((client, Said::Produced { number, what }));
    }

    fn begin(&mut self, now: u64) {
        self.lives += 1;
        self.ended = None;
        let at_now = Instant::from_micros(now);
        let boot = BrokerBoot {
            broker: NodeId(self.me.into()),
            incarnation: u64::from(self.me) << 32 | self.lives,
            // Forgotten before it boots, so that it proves one life alone.
            clean: self.disk.proof.take(),
        };
        // What it cannot be configured with, a scenario cannot say.
        let Ok(mut broker) =
            Broker::with_rules(self.params.broker(), boot, at_now, self.params.rules)
        else {
            return;
        };
        broker.ready(at_now);
        let (retry, wait) = (self.params.retry(), self.params.wait);
        self.news.push_back(News::Began);
        self.life = Some(Box::new(Life {
            broker,
            replicas: Sorted::default(),
            reader: Reader::new(self.nodes, self.me, at_now, retry, wait),
            waiting: Vec::new(),
            touched: Sorted::default(),
            applied: 0,
            flush_at: now + self.params.flush(),
            leaves: false,
        }));
        self.drain(now);
    }

    /// The process is gone. What it wrote stays with the machine.
    fn end(&mut self) {
        if let Some(life) = self.life.take() {
            for (at, replica) in life.replicas.iter() {
                self.disk.leave(*at, replica.log());
            }
        }
        self.said.clear();
    }

    /// The process goes in good order, and leaves the proof of it, where its disk takes what replicas have.
    fn stop(&mut self, epoch: u64) {
        if self.flush() {
            self.end();
            self.disk.proof = Some(epoch);
            self.ended = Some(Ended::InOrder);
        }
    }

    /// All that replicas have is on the medium. False when the disk fails: the process ends, and what it was to write is gone.
    fn flush(&mut self) -> bool {
        if self.life.is_some() && self.disk.fails_now() {
            self.end();
            let lost = self.disk.lose_unflushed();
            self.lose(lost.into_iter());
            self.news.push_back(News::DiskFailed);
            self.ended = Some(Ended::DiskFailed);
            return false;
        }
        if let Some(life) = &self.life {
            for (at, replica) in life.replicas.iter() {
                self.disk
                    .flush(*at, replica.log(), replica.high_watermark());
            }
        }
        true
    }
}

impl Service for BrokerServer {
    fn ask(&mut self, _: u64, _: u16, _: Ticket, _: &StoreAsk) {}

    fn poll(&mut self) -> Option<(u16, Ticket, StoreSaid)> {
        None
    }

    /// No election goes by what it keeps.
    fn records(&self, _: u64) -> Vec<Record> {
        Vec::new()
    }

    fn serves(&self, _: u64) -> Option<Serves> {
        Some(self.shown())
    }

    fn due(&self) -> Option<u64> {
        let Some(life) = &self.life else {
            // It is started at once; or it stopped.
            return (self.lives == 0).then_some(0);
        };
        let replicas = life.replicas.iter();
        let replicas = replicas.filter_map(|(_, replica)| replica.deadline());
        let machines = replicas.chain(life.broker.deadline());
        let due = machines.min().unwrap_or(Instant::FOREVER);
        let due = due.min(life.reader.due());
        Some(due.as_micros().min(life.flush_at))
    }

    fn wake(&mut self, now: u64) {
        if self.lives == 0 {
            self.begin(now);
        }
        let at_now = Instant::from_micros(now);
        let Some(life) = &mut self.life else {
            return;
        };
        life.broker.timeout(at_now);
        for (at, replica) in life.replicas.iter_mut() {
            if replica.deadline().is_some_and(|due| due <= at_now) {
                replica.timeout(at_now);
                life.touched.insert(*at, ());
            }
        }
        if life.flush_at <= now {
            life.flush_at = now + self.params.flush();
            if !self.flush() {
                return;
            }
        }
        self.drain(now);
    }

    fn died(&mut self) {
        self.end();
    }

    fn restarted(&mut self, now: u64) {
        self.end();
        self.begin(now);
    }

    fn cut_power(&mut self, _: u64) -> bool {
        self.end();
        let lost = self.disk.cut_power();
        let any = !lost.is_empty();
        self.news.extend(lost.into_iter().map(News::Lost));
        any
    }
}
