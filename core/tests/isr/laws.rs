//! The laws that every machine keeps: the same again, nothing allocated, nothing believed that cannot be.

use crate::bench::{AT, Bench, b, millis, places};
use crate::storms::storm;
use allocation_counter::measure;
use std::hash::{DefaultHasher, Hasher};
use tenure::isr::{
    Acks, AlterPartition, Answer, Broker, BrokerBoot, BrokerConfig, BrokerOutput, Change,
    Controller, ControllerConfig, ControllerOutput, Election, Fault, MAX_AHEAD, MAX_WAITING,
    Member, Message, PartitionId, Places, Record, Refusal, Replica, ReplicaBoot, ReplicaConfig,
    ReplicaOutput, Request, Switched, TopicId, View,
};
use tenure::log::{Position, Shape};
use tenure::random::Random;
use tenure::{Duration, Instant, NodeId, Ticket};

/// C3.
#[test]
fn the_same_seed_is_the_same_again() {
    let (one, hash) = storm(11, Switched::default());
    assert_eq!((one, hash), storm(11, Switched::default()));
    assert_ne!(hash, storm(12, Switched::default()).1);
}

fn views(leader: u64) -> View {
    View {
        at: AT,
        replicas: [b(0), b(1)].into(),
        broker_epoch: 1,
        leader: Some(b(leader)),
        leader_epoch: 1,
        partition_epoch: 1,
        isr: places(&[0, 1]),
        active: places(&[0, 1]),
        min_isr: 1,
        recovering: false,
    }
}

fn replica(id: u64, at: u64) -> Replica {
    let boot = ReplicaBoot {
        broker: b(id),
        incarnation: id,
        log: Shape::new(),
        high_watermark: 0,
    };
    let mut replica = Replica::new(ReplicaConfig::KAFKA, AT, boot, millis(at)).unwrap();
    replica.assign(millis(at), &views(0));
    replica
}

/// Two replicas talk, and the leader writes.
fn talk(pair: &mut [Replica; 2], now: &mut u64, rounds: u64) {
    for round in 0..rounds {
        *now += 10;
        let at = millis(*now);
        if round % 3 == 0 {
            let acks = if round % 2 == 0 {
                Acks::All
            } else {
                Acks::Leader
            };
            pair[0].produce(at, acks, 2).unwrap();
        }
        for id in [0, 1] {
            pair[id].timeout(at);
            while let Some(output) = pair[id].poll() {
                if let ReplicaOutput::Send(to, message) = output {
                    pair[to.0 as usize].message(at, b(id as u64), &message);
                }
            }
        }
    }
}

/// C8: replicas that follow and lead, a broker that is heard of, and the controller that hears it.
#[test]
fn nothing_allocates_in_the_steady_state() {
    let (mut pair, mut now) = ([replica(0, 0), replica(1, 0)], 0);
    talk(&mut pair, &mut now, 100);
    let counted = measure(|| talk(&mut pair, &mut now, 10_000));
    assert_eq!(counted.count_total, 0);
    assert!(pair[0].high_watermark() > 6_000);

    let mut bench = Bench::kafka(Switched::default(), 3, 2);
    let epoch = bench.epoch(1);
    let offset = bench.log.len() as u64;
    let request = Request::Heartbeat {
        broker: b(1),
        epoch,
        offset,
        want_fence: false,
        want_shutdown: false,
    };
    let mut beat = |at: u64| {
        bench.controller.request(millis(at), at, &request);
        while bench.controller.poll().is_some() {}
    };
    beat(1);
    let counted = measure(|| (2..5_000).for_each(&mut beat));
    assert_eq!(counted.count_total, 0);

    let mut broker = registered();
    let mut due = Instant::ZERO;
    let mut lives = |times: u64| {
        for _ in 0..times {
            due = broker.deadline().expect("it always has one");
            broker.timeout(due);
            while let Some(output) = broker.poll() {
                if let BrokerOutput::Ask(ticket, _) = output {
                    broker.answer(due, ticket, BEATS);
                }
            }
        }
    };
    lives(10);
    let counted = measure(|| lives(5_000));
    assert_eq!(counted.count_total, 0);
}

const BEATS: Answer = Answer::Heartbeat {
    caught_up: true,
    fenced: false,
    may_stop: false,
};

fn registered() -> Broker {
    let boot = BrokerBoot {
        broker: b(1),
        incarnation: 9,
        clean: None,
    };
    let mut broker = Broker::new(BrokerConfig::KAFKA, boot, Instant::ZERO).unwrap();
    let Some(BrokerOutput::Ask(ticket, _)) = broker.poll() else {
        panic!("it registers");
    };
    broker.answer(millis(1), ticket, Answer::Registered { epoch: 4 });
    broker.ready(millis(1));
    while broker.poll().is_some() {}
    broker
}

fn print(machine: impl Fn(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    machine(&mut hasher);
    hasher.finish()
}

/// C10: two that differ in nothing but when they run have one fingerprint.
#[test]
fn a_fingerprint_knows_no_time() {
    let of = |from: u64, rounds: u64| {
        let (mut pair, mut now) = ([replica(0, from), replica(1, from)], from);
        talk(&mut pair, &mut now, rounds);
        let prints = [0, 1].map(|id| {
            print(|hasher| {
                let at = millis(now + 3);
                pair[id].fingerprint(at, hasher);
            })
        });
        let mut controller = Controller::new(ControllerConfig::KAFKA).unwrap();
        controller.claim(millis(from), 1, 0).unwrap();
        let register = Request::Register {
            broker: b(1),
            incarnation: 1,
            clean: None,
        };
        controller.request(millis(from + rounds), 1, &register);
        (
            prints,
            print(|hasher| controller.fingerprint(millis(from + rounds + 1), hasher)),
        )
    };
    assert_eq!(of(0, 50), of(777_777, 50));
    assert_ne!(of(0, 50), of(0, 51));
    let broker = registered();
    let later = print(|hasher| broker.fingerprint(millis(900), hasher));
    assert_ne!(print(|hasher| broker.fingerprint(millis(1), hasher)), later);
}

fn position(random: &mut Random) -> Position {
    let one = |random: &mut Random| match random.below(5) {
        0 => 0,
        1 => u64::MAX - random.below(2),
        _ => random.below(12),
    };
    Position::new(one(random), one(random))
}

fn number(random: &mut Random) -> u64 {
    position(random).index
}

fn answer(random: &mut Random) -> Answer {
    match random.below(6) {
        0 => Answer::Registered {
            epoch: number(random),
        },
        1 => Answer::Heartbeat {
            caught_up: true,
            fenced: random.below(2) == 0,
            may_stop: random.below(4) == 0,
        },
        2 => Answer::Altered {
            leader_epoch: number(random),
            partition_epoch: number(random),
            isr: Places(random.bits() as u16),
            recovering: random.below(2) == 0,
        },
        3 => Answer::Done,
        4 => Answer::Elected {
            leader: b(number(random)),
        },
        _ => Answer::Fault(Fault::ALL[random.below(Fault::ALL.len() as u64) as usize]),
    }
}

fn view(random: &mut Random) -> View {
    View {
        at: PartitionId {
            index: u32::from(random.below(20) == 0),
            ..AT
        },
        replicas: match random.below(8) {
            0 => (0..random.below(20)).map(|_| b(random.below(4))).collect(),
            _ => [b(0), b(1)].into(),
        },
        broker_epoch: number(random),
        leader: Some(b(random.below(4))).filter(|_| random.below(4) > 0),
        leader_epoch: number(random),
        partition_epoch: number(random),
        isr: Places(random.bits() as u16),
        active: Places(random.bits() as u16),
        min_isr: random.bits() as u8,
        recovering: random.below(3) == 0,
    }
}

/// C8, C2: whatever a replica is told, it does not panic, and is not due when it has done what is.
#[test]
fn wild_messages_are_survived_by_a_replica() {
    let (mut refused, mut random) = (0, Random::from_seed(5));
    for _ in 0..2_000 {
        let mut replica = replica(random.below(2), 0);
        let (mut now, mut tickets) = (Instant::ZERO, vec![]);
        for _ in 0..60 {
            now = now + Duration::from_millis(random.below(900));
            let ticket = Ticket {
                incarnation: random.below(3),
                number: random.below(20),
            };
            let asked: Option<&Ticket> = tickets.last();
            let ticket = asked
                .copied()
                .filter(|_| random.below(2) == 0)
                .unwrap_or(ticket);
            let (epoch, high_watermark) = (number(&mut random), number(&mut random));
            let message = match random.below(4) {
                0 => Message::Fetch {
                    ticket,
                    epoch,
                    after: position(&mut random),
                    broker_epoch: number(&mut random),
                },
                1 => Message::Records {
                    ticket,
                    epoch,
                    written: number(&mut random),
                    count: number(&mut random),
                    high_watermark,
                },
                2 => Message::Diverging {
                    ticket,
                    epoch,
                    at: position(&mut random),
                    high_watermark,
                },
                _ => Message::Refused {
                    ticket,
                    epoch,
                    fault: Fault::NotLeader,
                },
            };
            match random.below(8) {
                0 => replica.assign(now, &view(&mut random)),
                1 => replica.timeout(now),
                2 => replica.answer(now, ticket, answer(&mut random)),
                3 => drop(replica.produce(now, Acks::All, number(&mut random))),
                _ => replica.message(now, b(random.below(4)), &message),
            }
            while let Some(output) = replica.poll() {
                match output {
                    ReplicaOutput::Send(_, Message::Fetch { ticket, .. })
                    | ReplicaOutput::Alter(ticket, _) => {
                        tickets.push(ticket);
                    }
                    _ => {}
                }
            }
            replica.timeout(now);
            while replica.poll().is_some() {}
            assert!(replica.deadline().is_none_or(|due| due > now), "C2");
            assert!(replica.high_watermark() <= replica.log().last().index);
            let _ = replica.consume(None, number(&mut random));
            let _ = replica.fate(position(&mut random));
        }
        refused += replica.refusals().total();
    }
    assert!(refused > 1_000, "{refused}");
}

fn id(random: &mut Random) -> PartitionId {
    PartitionId {
        topic: TopicId(random.below(3)),
        index: random.below(3) as u32,
    }
}

fn record(random: &mut Random) -> Record {
    let broker = b(random.below(4));
    match random.below(6) {
        0 => Record::RegisterBroker {
            broker,
            incarnation: random.below(10),
        },
        1 => Record::ChangeBroker {
            broker,
            epoch: random.below(30),
            fenced: random.below(2) == 0,
            shutting_down: random.below(4) == 0,
        },
        2 => Record::CreateTopic {
            topic: TopicId(random.below(3)),
            min_isr: random.bits() as u8,
            unclean: random.below(2) == 0,
        },
        3 => Record::CreatePartition {
            at: id(random),
            replicas: (0..random.below(20)).map(|_| b(random.below(4))).collect(),
            isr: Places(random.bits() as u16),
        },
        4 => Record::ChangePartition {
            at: id(random),
            change: Change {
                leader: Some(Some(b(random.below(5)))),
                isr: Some(Places(random.below(16) as u16)),
                elr: Some(Places(random.below(16) as u16)),
                last_known: Some(Some(b(random.below(5)))),
                recovering: Some(true),
            },
        },
        _ => Record::RemoveTopic {
            topic: TopicId(random.below(3)),
        },
    }
}

/// C8, C2: the same of a broker, and of a controller over a log that says anything.
#[test]
fn wild_records_and_requests_are_survived() {
    let (mut refused, mut random) = (0, Random::from_seed(6));
    for _ in 0..500 {
        let mut broker = registered();
        let mut controller = Controller::new(ControllerConfig::KAFKA).unwrap();
        let (mut now, mut last) = (Instant::ZERO, None);
        for offset in 0..100 {
            now = now + Duration::from_millis(random.below(2_000));
            let told = record(&mut random);
            broker.metadata(now, offset, &told);
            match random.below(6) {
                0 => broker.truncated(now, random.below(100)),
                1 => broker.high_watermark(now, number(&mut random).min(offset + 1)),
                2 => broker.answer(
                    now,
                    last.unwrap_or(Ticket {
                        incarnation: 9,
                        number: 1,
                    }),
                    answer(&mut random),
                ),
                3 => broker.shut_down(now),
                _ => broker.timeout(now),
            }
            while let Some(output) = broker.poll() {
                if let BrokerOutput::Ask(ticket, _) = output {
                    last = Some(ticket);
                }
            }
            broker.timeout(now);
            while let Some(output) = broker.poll() {
                if let BrokerOutput::Ask(ticket, _) = output {
                    last = Some(ticket);
                }
            }
            assert!(broker.deadline().is_none_or(|due| due > now), "C2");
            match random.below(12) {
                0 => controller.renounce(),
                1 | 2 => drop(controller.claim(now, number(&mut random), controller.next())),
                3 => controller.committed(now, number(&mut random), number(&mut random), &told),
                4 => controller.committed_to(now, number(&mut random), number(&mut random)),
                _ => controller.request(now, offset, &request(&mut random)),
            }
            while let Some(output) = controller.poll() {
                if let ControllerOutput::Append {
                    offset,
                    records,
                    epoch,
                } = output
                    && random.below(2) == 0
                {
                    for (at, record) in (offset..).zip(&records) {
                        controller.committed(now, epoch, at, record);
                    }
                }
            }
            controller.timeout(now);
            while controller.poll().is_some() {}
            assert!(controller.deadline().is_none_or(|due| due > now), "C2");
        }
        refused += broker.refusals().total() + controller.refusals().total();
    }
    assert!(refused > 1_000, "{refused}");
}

fn request(random: &mut Random) -> Request {
    let broker = b(random.below(4));
    match random.below(7) {
        0 => Request::Register {
            broker,
            incarnation: random.below(9),
            clean: Some(number(random)),
        },
        1 | 2 => Request::Heartbeat {
            broker,
            epoch: random.below(30),
            offset: number(random),
            want_fence: random.below(4) == 0,
            want_shutdown: random.below(4) == 0,
        },
        3 => Request::AlterPartition(AlterPartition {
            at: id(random),
            broker,
            broker_epoch: random.below(30),
            leader_epoch: number(random),
            partition_epoch: number(random),
            isr: (0..random.below(40))
                .map(|_| Member {
                    broker: b(random.below(9)),
                    epoch: None,
                })
                .collect(),
            recovering: random.below(4) == 0,
        }),
        4 => Request::CreateTopic {
            topic: TopicId(random.below(3)),
            partitions: random.below(3) as u32 * (1 + random.below(2) as u32 * 2_000),
            replication: random.below(5) as u8,
            min_isr: random.below(3) as u8,
            unclean: random.below(2) == 0,
        },
        5 => Request::DeleteTopic {
            topic: TopicId(random.below(9)),
        },
        _ => Request::ElectLeader {
            at: id(random),
            election: [Election::Any, Election::Preferred, Election::Unclean]
                [random.below(3) as usize],
        },
    }
}

/// What waits is bounded: for what is committed at a controller, and beyond it at a broker.
#[test]
fn what_waits_is_bounded() {
    let mut bench = Bench::kafka(Switched::default(), 2, 1);
    bench.commits = false;
    let register = |incarnation| Request::Register {
        broker: NodeId(50),
        incarnation,
        clean: None,
    };
    for call in 0..=MAX_WAITING as u64 {
        bench.controller.request(millis(1), call, &register(1));
    }
    bench.drain();
    // What there is no room to remember is refused at once.
    assert_eq!(bench.answers, [Answer::Fault(Fault::Busy)]);

    let mut broker = registered();
    for offset in 0..=MAX_AHEAD as u64 {
        let told = Record::RegisterBroker {
            broker: NodeId(50),
            incarnation: offset,
        };
        broker.metadata(millis(1), offset, &told);
    }
    assert_eq!(broker.refusals().count(Refusal::TooFarAhead), 1);
    broker.high_watermark(millis(1), 10);
    assert_eq!(broker.next(), 10);
}
