//! One controller over a log that commits at once, and a partition's replicas without a network: a test decides who says what.

use tenure::isr::{
    AlterPartition, Answer, Controller, ControllerConfig, ControllerOutput, Fault, Image, Member,
    Message, Partition, PartitionId, Places, Record, Replica, ReplicaBoot, ReplicaConfig,
    ReplicaEvent, ReplicaOutput, Request, Rule, Switched, TopicId, View,
};
use tenure::log::Shape;
use tenure::{Instant, NodeId, Ticket};

pub(crate) const TOPIC: TopicId = TopicId(0);
pub(crate) const AT: PartitionId = PartitionId {
    topic: TOPIC,
    index: 0,
};

pub(crate) fn b(id: u64) -> NodeId {
    NodeId(id)
}

pub(crate) fn millis(at: u64) -> Instant {
    Instant::from_millis(at)
}

/// The places of these, where broker `n` is at place `n`.
pub(crate) fn places(ids: &[usize]) -> Places {
    ids.iter()
        .fold(Places::NONE, |all, id| all.or(Places::of(*id)))
}

pub(crate) fn without(rule: Rule) -> [Switched; 2] {
    [Switched::default(), Switched::without(&[rule])]
}

/// A controller that leads, and its log.
pub(crate) struct Bench {
    pub(crate) controller: Controller<Switched>,
    pub(crate) log: Vec<Record>,
    pub(crate) now: u64,
    pub(crate) answers: Vec<Answer>,
    /// Whether what it appends is committed.
    pub(crate) commits: bool,
}

impl Bench {
    /// `brokers` that are there, and a topic with a partition on all of them: broker `n` at place `n`.
    pub(crate) fn new(
        config: ControllerConfig,
        rules: Switched,
        brokers: u64,
        min_isr: u8,
        unclean: bool,
    ) -> Self {
        let mut controller = Controller::with_rules(config, rules).unwrap();
        controller.claim(millis(0), 1, 0).unwrap();
        let mut bench = Self {
            controller,
            log: Vec::new(),
            now: 0,
            answers: Vec::new(),
            commits: true,
        };
        for id in 0..brokers {
            bench.join(id);
        }
        let created = bench.ask(Request::CreateTopic {
            topic: TOPIC,
            partitions: 1,
            replication: brokers as u8,
            min_isr,
            unclean,
        });
        assert_eq!(created, Answer::Done);
        bench
    }

    pub(crate) fn kafka(rules: Switched, brokers: u64, min_isr: u8) -> Self {
        Self::new(ControllerConfig::KAFKA, rules, brokers, min_isr, false)
    }

    pub(crate) fn drain(&mut self) {
        while let Some(output) = self.controller.poll() {
            match output {
                ControllerOutput::Append {
                    epoch,
                    offset,
                    records,
                } => {
                    assert_eq!(offset, self.log.len() as u64);
                    for (at, record) in (offset..).zip(&records) {
                        self.log.push(record.clone());
                        if self.commits {
                            self.controller
                                .committed(millis(self.now), epoch, at, record);
                        }
                    }
                }
                ControllerOutput::Answer(_, answer) => self.answers.push(answer),
            }
        }
    }

    pub(crate) fn ask(&mut self, request: Request) -> Answer {
        self.controller.request(millis(self.now), 0, &request);
        self.drain();
        self.answers.pop().expect("it is answered")
    }

    /// Some time passes, and everybody but these is heard of.
    pub(crate) fn pass(&mut self, until: u64, silent: &[u64]) {
        while self.now < until {
            self.now = (self.now + 1_000).min(until);
            let there: Vec<_> = self
                .image()
                .brokers()
                .iter()
                .map(|known| known.broker.0)
                .collect();
            for id in there.into_iter().filter(|id| !silent.contains(id)) {
                self.beat(id);
            }
            self.controller.timeout(millis(self.now));
            self.drain();
        }
    }

    pub(crate) fn register(&mut self, id: u64, incarnation: u64, clean: Option<u64>) -> Answer {
        self.ask(Request::Register {
            broker: b(id),
            incarnation,
            clean,
        })
    }

    /// A broker comes, and is unfenced.
    pub(crate) fn join(&mut self, id: u64) -> u64 {
        let Answer::Registered { epoch } = self.register(id, id + 100, None) else {
            panic!("it is registered");
        };
        self.beat(id);
        epoch
    }

    pub(crate) fn heartbeat(&mut self, id: u64, want_fence: bool, want_shutdown: bool) -> Answer {
        let offset = self.log.len() as u64;
        self.heartbeat_at(id, offset, want_fence, want_shutdown)
    }

    pub(crate) fn heartbeat_at(
        &mut self,
        id: u64,
        offset: u64,
        want_fence: bool,
        want_shutdown: bool,
    ) -> Answer {
        let epoch = self.epoch(id);
        self.ask(Request::Heartbeat {
            broker: b(id),
            epoch,
            offset,
            want_fence,
            want_shutdown,
        })
    }

    pub(crate) fn beat(&mut self, id: u64) -> Answer {
        self.heartbeat(id, false, false)
    }

    pub(crate) fn fence(&mut self, id: u64) {
        self.heartbeat(id, true, false);
    }

    pub(crate) fn image(&self) -> &Image {
        self.controller.image()
    }

    pub(crate) fn epoch(&self, id: u64) -> u64 {
        self.image().broker(b(id)).expect("it is registered").epoch
    }

    pub(crate) fn partition(&self) -> &Partition {
        self.image().partition(AT).expect("it is there")
    }

    pub(crate) fn leader(&self) -> Option<u64> {
        self.partition().leader.map(|leader| leader.0)
    }

    /// What the leader asks so that these are in sync.
    pub(crate) fn wish(&self, isr: &[u64]) -> AlterPartition {
        let partition = self.partition();
        let leader = partition.leader.expect("somebody leads");
        let member = |id: &u64| Member {
            broker: b(*id),
            epoch: Some(self.epoch(*id)),
        };
        AlterPartition {
            at: AT,
            broker: leader,
            broker_epoch: self.epoch(leader.0),
            leader_epoch: partition.leader_epoch,
            partition_epoch: partition.partition_epoch,
            isr: isr.iter().map(member).collect(),
            recovering: false,
        }
    }

    pub(crate) fn alter(&mut self, asked: AlterPartition) -> Answer {
        self.ask(Request::AlterPartition(asked))
    }

    pub(crate) fn fault(&mut self, asked: AlterPartition) -> Option<Fault> {
        match self.alter(asked) {
            Answer::Fault(fault) => Some(fault),
            _ => None,
        }
    }
}

/// The replicas of one partition, each at its broker.
pub(crate) struct Trio {
    pub(crate) replicas: Vec<Replica<Switched>>,
    pub(crate) view: View,
    pub(crate) now: u64,
    /// What was asked of the controller.
    pub(crate) asked: Vec<(usize, Ticket, AlterPartition)>,
    pub(crate) events: Vec<(usize, ReplicaEvent)>,
    /// What was said and not delivered.
    pub(crate) said: Vec<(usize, usize, Message)>,
    rules: Switched,
    config: ReplicaConfig,
}

impl Trio {
    pub(crate) fn new(config: ReplicaConfig, rules: Switched, min_isr: u8) -> Self {
        let view = View {
            at: AT,
            replicas: [b(0), b(1), b(2)].into(),
            broker_epoch: 0,
            leader: None,
            leader_epoch: 0,
            partition_epoch: 0,
            isr: places(&[0, 1, 2]),
            active: places(&[0, 1, 2]),
            min_isr,
            recovering: false,
        };
        let mut trio = Self {
            replicas: Vec::new(),
            view,
            now: 0,
            asked: Vec::new(),
            events: Vec::new(),
            said: Vec::new(),
            rules,
            config,
        };
        for id in 0..3 {
            let replica = trio.boot(id, 1, Shape::new(), 0);
            trio.replicas.push(replica);
        }
        trio
    }

    fn boot(&self, id: u64, life: u64, log: Shape, high_watermark: u64) -> Replica<Switched> {
        let boot = ReplicaBoot {
            broker: b(id),
            incarnation: life * 100 + id,
            log,
            high_watermark,
        };
        Replica::with_rules(self.config, AT, boot, millis(self.now), self.rules).unwrap()
    }

    /// Another life of one begins, with what its disk has.
    pub(crate) fn restart(&mut self, id: usize, life: u64, keeps: u64, high_watermark: u64) {
        let mut log = self.replicas[id].log().clone();
        log.truncate(keeps);
        self.replicas[id] = self.boot(id as u64, life, log, high_watermark);
    }

    /// The partition is another way from now on, as these hear.
    pub(crate) fn tell(&mut self, leader: usize, isr: &[usize], who: &[usize]) {
        self.view.leader = Some(b(leader as u64));
        self.view.leader_epoch += 1;
        self.alter(isr, who);
    }

    pub(crate) fn alter(&mut self, isr: &[usize], who: &[usize]) {
        self.view.partition_epoch += 1;
        self.view.isr = places(isr);
        for id in who {
            // By their first registration.
            self.view.broker_epoch = 100 + *id as u64;
            self.replicas[*id].assign(millis(self.now), &self.view);
        }
        self.collect();
    }

    pub(crate) fn collect(&mut self) {
        for id in 0..self.replicas.len() {
            while let Some(output) = self.replicas[id].poll() {
                match output {
                    ReplicaOutput::Send(to, message) => {
                        self.said.push((id, to.0 as usize, message))
                    }
                    ReplicaOutput::Alter(ticket, asked) => self.asked.push((id, ticket, asked)),
                    ReplicaOutput::Event(event) => self.events.push((id, event)),
                }
            }
        }
    }

    /// Delivers what is said between these until nothing is; the rest stays.
    pub(crate) fn talk(&mut self, among: &[usize]) {
        loop {
            let between = |(from, to, _): &(usize, usize, Message)| {
                among.contains(from) && among.contains(to)
            };
            let Some(place) = self.said.iter().position(between) else {
                return;
            };
            let (from, to, message) = self.said.remove(place);
            self.deliver(from, to, &message);
        }
    }

    pub(crate) fn deliver(&mut self, from: usize, to: usize, message: &Message) {
        self.replicas[to].message(millis(self.now), b(from as u64), message);
        self.collect();
    }

    /// Some time passes for these.
    pub(crate) fn pass(&mut self, until: u64, among: &[usize]) {
        while self.now < until {
            self.now = (self.now + 100).min(until);
            for id in among {
                self.replicas[*id].timeout(millis(self.now));
            }
            self.collect();
            self.talk(among);
        }
    }

    pub(crate) fn answer(&mut self, answer: Answer) {
        let (id, ticket, _) = self.asked.pop().expect("something was asked");
        self.replicas[id].answer(millis(self.now), ticket, answer);
        self.collect();
    }

    pub(crate) fn end(&self, id: usize) -> u64 {
        self.replicas[id].log().last().index
    }
}
