//! Carries out what the machines of a broker put out: what is said, what is kept, and what became of it.

use super::{BrokerServer, Life, News};
use crate::brokers::Params;
use crate::brokers::disk::Disk;
use crate::brokers::reader::Reader;
use crate::brokers::said::{Asker, Produced, Said};
use std::collections::VecDeque;
use tenure::isr::{
    BrokerEvent, BrokerOutput, Fate, PartitionId, Replica, ReplicaBoot, ReplicaEvent,
    ReplicaOutput, Request, View,
};
use tenure::{Instant, NodeId, Ticket};

impl BrokerServer {
    /// Carries out all that is to be, until nothing is.
    pub(super) fn drain(&mut self, now: u64) {
        let at_now = Instant::from_micros(now);
        let mut over = None;
        loop {
            let mut quiet = !self.drain_broker(at_now, &mut over);
            while let Some((at, ())) = self.life.as_mut().and_then(|life| life.touched.pop_first())
            {
                quiet &= !self.drain_replica(at);
            }
            if quiet {
                break;
            }
        }
        if let Some(life) = &mut self.life
            && let Some(question) = life.reader.act(at_now)
        {
            self.said.push_back(question);
        }
        if let Some(life) = &mut self.life
            && life.broker.next() != life.applied
        {
            life.applied = life.broker.next();
            self.news.push_back(News::Applied(life.applied));
        }
        match over {
            Some(BrokerEvent::Stopped(epoch)) => self.stop(epoch),
            // Whoever runs the process starts it anew.
            Some(_) => {
                self.end();
                self.begin(now);
            }
            None => {}
        }
    }

    /// Whether the broker had anything to say; and whether that ends its life.
    fn drain_broker(&mut self, now: Instant, over: &mut Option<BrokerEvent>) -> bool {
        let Some(life) = &mut self.life else {
            return false;
        };
        let mut said = false;
        while let Some(output) = life.broker.poll() {
            said = true;
            match output {
                BrokerOutput::Ask(ticket, request) => {
                    ask(&mut self.said, &life.reader, Asker::Broker, ticket, request);
                }
                BrokerOutput::Assign(at, view) => {
                    let own = (self.me, self.lives);
                    assign(life, now, &self.params, own, &self.disk, at, &view);
                }
                BrokerOutput::Remove(at) => {
                    life.replicas.remove(&at);
                    life.touched.insert(at, ());
                    self.disk.remove(at);
                    self.news.push_back(News::Removed(at));
                }
                BrokerOutput::Event(event) => {
                    self.news.push_back(News::Broker(event));
                    if matches!(event, BrokerEvent::Stopped(_) | BrokerEvent::Replaced) {
                        *over = Some(event);
                    }
                }
            }
        }
        said
    }

    /// Whether a replica had anything to say.
    fn drain_replica(&mut self, at: PartitionId) -> bool {
        let Some(life) = &mut self.life else {
            return false;
        };
        let Some(replica) = life.replicas.get_mut(&at) else {
            // The partition is gone, and nobody is left to say what became of it.
            life.waiting.retain(|waiting| waiting.at != at);
            return false;
        };
        let mut said = false;
        while let Some(output) = replica.poll() {
            said = true;
            match output {
                ReplicaOutput::Send(to, message) => {
                    self.said
                        .push_back((to.0 as u16, Said::Replica(at, message)));
                }
                ReplicaOutput::Alter(ticket, asked) => {
                    let (asker, request) = (Asker::Replica(at), Request::AlterPartition(asked));
                    ask(&mut self.said, &life.reader, asker, ticket, request);
                }
                ReplicaOutput::Event(event) => {
                    if let ReplicaEvent::Truncated(last) = event {
                        self.disk.cut(at, last.index);
                    }
                    let epoch = replica.view().map_or(0, |view| view.leader_epoch);
                    self.news.push_back(News::Replica(at, event, epoch));
                }
            }
        }
        let (log, high_watermark) = (replica.log().clone(), replica.high_watermark());
        self.news
            .push_back(News::Has(at, log, high_watermark, replica.leads()));
        let mut waiting = std::mem::take(&mut life.waiting);
        waiting.retain(|waits| {
            if waits.at != at {
                return true;
            }
            let what = match replica.fate(waits.position) {
                Fate::Waiting => return true,
                Fate::Acknowledged => {
                    self.news.push_back(News::Acknowledged(at, waits.position));
                    Produced::Acknowledged(waits.position)
                }
                Fate::NotEnoughReplicas => Produced::NotEnoughReplicas,
                Fate::Unknown => Produced::Unknown,
            };
            let number = waits.number;
            self.said
                .push_back((waits.client, Said::Produced { number, what }));
            false
        });
        life.waiting = waiting;
        said
    }
}

fn ask(
    said: &mut VecDeque<(u16, Said)>,
    reader: &Reader,
    asker: Asker,
    ticket: Ticket,
    request: Request,
) {
    let asked = Said::Ask {
        asker,
        ticket,
        request,
    };
    said.push_back((reader.controller, asked));
}

/// A partition is kept here, and this is how it is now.
fn assign(
    life: &mut Life,
    now: Instant,
    params: &Params,
    (me, lives): (u16, u64),
    disk: &Disk,
    at: PartitionId,
    view: &View,
) {
    if !life.replicas.contains_key(&at) {
        let kept = disk.read(at);
        let boot = ReplicaBoot {
            broker: NodeId(me.into()),
            incarnation: u64::from(me) << 32 | lives,
            log: kept.log,
            high_watermark: kept.high_watermark,
        };
        let replica = Replica::with_rules(params.replica(), at, boot, now, params.rules);
        let Ok(replica) = replica else {
            return;
        };
        life.replicas.insert(at, replica);
    }
    let Some(replica) = life.replicas.get_mut(&at) else {
        return;
    };
    replica.assign(now, view);
    life.touched.insert(at, ());
}
