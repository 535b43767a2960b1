//! What goes wrong by itself.

use crate::cluster::{CALM, Cluster, Event, MS};
use tenure::NodeId;
use tenure::isr::{Election, Invariant, PartitionId, Request, TopicId};

impl Cluster {
    pub(crate) fn mischief(&mut self) {
        if !self.weather.faults {
            return;
        }
        let after = 1 + self.random.below(400 * MS);
        self.push(after, Event::Fault);
        let me = self.random.below(self.hosts.len() as u64) as usize;
        match self.random.below(16) {
            0..3 if self.hosts[me].life.is_none() => self.start(me),
            0 | 1 => self.crash(me, false),
            2 => self.crash(me, self.weather.late > 0),
            3..5 if self.hosts[me].paused => self.resume(me),
            3..5 => self.hosts[me].paused = self.hosts[me].life.is_some(),
            5 => self.hosts[me].cut.0 = !self.hosts[me].cut.0,
            6 => self.hosts[me].cut.1 = !self.hosts[me].cut.1,
            7 => self.hosts[me].cut = (false, false),
            8 | 9 => {
                let (now, number) = (self.at(), self.hosts[me].lives);
                if !self.hosts[me].paused {
                    self.with(me, number, |life| life.broker.shut_down(now));
                }
            }
            10 | 11 => {
                let former = self.leader;
                let which = self.random.below(3) as usize;
                let stays = self.random.below(2) == 0;
                if let Some(epoch) = self.controllers[former].epoch() {
                    let after = self.random.below(2_000 * MS);
                    self.push(after, Event::Renounce(former, epoch));
                }
                self.elect(which, stays);
            }
            12 => {
                let topic = TopicId(1 + self.random.below(self.topics));
                let index = self.random.below(3) as u32;
                let election = match self.random.below(6) {
                    0 => Election::Unclean,
                    1 | 2 => Election::Any,
                    _ => Election::Preferred,
                };
                let at = PartitionId { topic, index };
                self.ask(Request::ElectLeader { at, election });
            }
            13 if self.random.below(4) == 0 => {
                let topic = TopicId(1 + self.random.below(self.topics));
                self.ask(Request::DeleteTopic { topic });
            }
            13 if self.topics < 8 => {
                self.create(2, 3, 2, false);
            }
            _ => {
                for me in 0..self.hosts.len() {
                    if self.hosts[me].life.is_none() && self.random.below(2) == 0 {
                        self.start(me);
                    }
                    self.resume(me);
                }
            }
        }
    }

    /// All is healed.
    pub(crate) fn calm(&mut self) {
        self.weather = CALM;
        for me in 0..self.hosts.len() {
            self.hosts[me].cut = (false, false);
            self.resume(me);
            // What it could not read meanwhile.
            self.push(1, Event::Feed(me));
            if self.hosts[me].life.is_none() {
                self.start(me);
            }
        }
    }

    /// Long after: everything that can be led is, and whoever is there is in sync.
    pub(crate) fn last_look(&mut self) {
        self.works = false;
        for me in 0..self.hosts.len() {
            // One that was about to go.
            if self.hosts[me].life.is_none() {
                self.start(me);
            }
        }
        self.run(5_000);
        let image = self.judge.image().clone();
        for (at, _, partition) in image.partitions() {
            let leads = partition.leader;
            let told = || format!("{at:?}: {partition:?}, {:?}", image.brokers());
            let all = partition.isr == partition.all() && leads.is_some();
            self.judge
                .check(self.now, Invariant::InSyncAgain, all, told);
            let Some(NodeId(leader)) = leads else {
                continue;
            };
            let Some(life) = &self.hosts[leader as usize].life else {
                continue;
            };
            let Some(replica) = life
                .replicas
                .get(&at)
                .filter(|replica| replica.leads().is_some())
            else {
                self.judge.broken(self.now, Invariant::InSyncAgain, told());
                continue;
            };
            let (log, high_watermark) = (replica.log().clone(), replica.high_watermark());
            let end = log.last().index;
            self.judge.check(
                self.now,
                Invariant::InSyncAgain,
                end == high_watermark,
                || format!("{at:?}: {end} records, and {high_watermark} committed"),
            );
            self.judge.at_the_end(self.now, at, &log);
            for host in &self.hosts {
                let Some(other) = host.life.as_ref().and_then(|life| life.replicas.get(&at)) else {
                    continue;
                };
                let same = other.log() == &log;
                self.judge
                    .check(self.now, Invariant::InSyncAgain, same, || {
                        format!("{at:?}: {:?} and {log:?}", other.log())
                    });
            }
        }
    }
}
