//! One step beside what is usual: what is told late or of another life, what is decided and taken back, and every prefix of what is
//! decided at once.

use crate::bench::{AT, Bench, Trio, b, millis, places};
use tenure::isr::{
    Acks, Answer, Broker, BrokerBoot, BrokerConfig, BrokerEvent, BrokerOutput, ClaimError,
    Controller, ControllerConfig, ControllerOutput, Election, Fault, Image, Message, Record,
    Refusal, ReplicaConfig, Request, Switched,
};
use tenure::log::Position;
use tenure::{Duration, Instant, Ticket};

fn bench(min_isr: u8) -> Bench {
    Bench::kafka(Switched::default(), 3, min_isr)
}

fn fenced_leads(image: &Image) -> bool {
    let mut leads = image.partitions().map(|(_, _, partition)| partition.leader);
    leads.any(|leader| leader.is_some_and(|leader| !image.is_active(leader)))
}

/// Whoever stops reading anywhere sees no broker lead that may not.
#[test]
fn no_prefix_of_the_log_has_a_leader_that_is_fenced() {
    for elr in [false, true] {
        let config = ControllerConfig {
            elr,
            ..ControllerConfig::KAFKA
        };
        let mut bench = Bench::new(config, Switched::default(), 3, 2, true);
        for id in [0, 1, 2] {
            bench.fence(id);
        }
        for id in [2, 0, 1] {
            bench.beat(id);
        }
        bench.heartbeat(2, false, true);
        bench.pass(12_000, &[0]);
        bench.register(0, 900, None);
        bench.beat(0);
        bench.pass(30_000, &[0, 1]);
        let mut reader = Controller::new(config).unwrap();
        for (offset, record) in (0..).zip(&bench.log) {
            reader.committed(Instant::ZERO, 1, offset, record);
            let image = reader.image();
            assert!(!fenced_leads(image), "{offset}: {record:?}, {image:?}");
        }
        assert_eq!(
            (reader.image(), reader.refusals().total()),
            (bench.image(), 0)
        );
    }
}

/// What was decided and not handed over is taken back with the office; and who sees the log go another way holds none.
#[test]
fn a_controller_that_is_replaced_appends_nothing_more() {
    let mut bench = bench(2);
    bench.commits = false;
    let end = bench.log.len() as u64;
    let delete = Request::DeleteTopic { topic: AT.topic };
    bench.controller.request(millis(1), 7, &delete);
    bench.controller.renounce();
    let unknown = Answer::Fault(Fault::Unknown);
    assert_eq!(
        bench.controller.poll(),
        Some(ControllerOutput::Answer(7, unknown))
    );
    assert_eq!(bench.controller.poll(), None);
    assert!(bench.image().topic(AT.topic).is_some());
    bench.controller.claim(millis(2), 2, end).unwrap();
    assert_eq!(
        bench.controller.claim(millis(2), 2, end),
        Err(ClaimError::NotLater(2))
    );
    // Somebody else wrote where it would have.
    bench.controller.committed_to(millis(3), 2, end + 5);
    assert_eq!(bench.controller.epoch(), None);
}

/// In the middle of a batch another controller leads: who was about to go waits until everybody has read what that one knows.
#[test]
fn who_is_about_to_go_waits_under_the_next_controller_too() {
    let mut bench = bench(2);
    bench.heartbeat(0, false, true);
    let end = bench.log.len() as u64;
    bench.controller.renounce();
    bench.controller.claim(millis(1), 2, end).unwrap();
    bench.drain();
    let stops = |answer| match answer {
        Answer::Heartbeat { may_stop, .. } => may_stop,
        other => panic!("{other:?}"),
    };
    bench.heartbeat_at(1, end, false, false);
    bench.heartbeat_at(2, end - 1, false, false);
    assert!(!stops(bench.heartbeat(0, false, true)));
    bench.beat(2);
    assert!(stops(bench.heartbeat(0, false, true)));
}

/// What a leader wishes is written though nothing is different, and nobody begins to recover by asking for it.
#[test]
fn a_wish_that_is_granted_is_another_state() {
    let mut bench = bench(2);
    let wish = bench.wish(&[0, 1, 2]);
    let before = bench.partition().clone();
    bench.alter(wish.clone());
    let after = bench.partition().clone();
    assert_eq!(after.partition_epoch, before.partition_epoch + 1);
    assert_eq!(
        (after.isr, after.leader_epoch),
        (before.isr, before.leader_epoch)
    );
    assert_eq!(bench.fault(wish), Some(Fault::InvalidUpdateVersion));
    let mut wish = bench.wish(&[0]);
    wish.recovering = true;
    assert_eq!(bench.fault(wish), Some(Fault::InvalidRequest));
}

/// KP-valid: while anybody is in sync, who is eligible is not preferred. And an unclean election leaves nobody eligible.
#[test]
fn who_is_eligible_is_no_candidate_beside_who_is_in_sync() {
    let mut bench = Bench::new(ControllerConfig::KAFKA, Switched::default(), 3, 3, false);
    bench.fence(0);
    bench.beat(0);
    let partition = bench.partition();
    assert_eq!(
        (partition.isr, partition.elr),
        (places(&[1, 2]), places(&[0]))
    );
    let prefer = Request::ElectLeader {
        at: AT,
        election: Election::Preferred,
    };
    let fault = Answer::Fault(Fault::PreferredNotAvailable);
    assert_eq!(bench.ask(prefer), fault);
    for id in [0, 1, 2] {
        bench.fence(id);
    }
    assert_eq!(bench.partition().elr, places(&[0, 1, 2]));

    let mut bench = Bench::new(ControllerConfig::KAFKA, Switched::default(), 3, 2, false);
    for id in [2, 1, 0] {
        bench.fence(id);
    }
    bench.beat(2);
    assert_eq!(
        (bench.leader(), bench.partition().elr),
        (None, places(&[0, 1]))
    );
    let unclean = Request::ElectLeader {
        at: AT,
        election: Election::Unclean,
    };
    assert_eq!(bench.ask(unclean), Answer::Elected { leader: b(2) });
    let partition = bench.partition();
    assert_eq!((partition.isr, partition.elr), (places(&[2]), places(&[])));
    assert!(partition.recovering);
}

/// What the log says of a registration that is not there any more contradicts it.
#[test]
fn a_record_of_a_former_registration_is_refused() {
    let mut bench = bench(2);
    let former = bench.epoch(1);
    bench.fence(1);
    bench.register(1, 900, None);
    let told = Record::ChangeBroker {
        broker: b(1),
        epoch: former,
        fenced: false,
        shutting_down: false,
    };
    let offset = bench.log.len() as u64;
    bench.controller.committed(millis(1), 1, offset, &told);
    let refused = bench.controller.refusals().count(Refusal::ImpossibleRecord);
    assert_eq!(refused, 1);
    assert!(!bench.image().is_active(b(1)));
}

fn trio(isr: &[usize]) -> Trio {
    let config = ReplicaConfig {
        elr: false,
        ..ReplicaConfig::KAFKA
    };
    let mut trio = Trio::new(config, Switched::default(), 1);
    trio.tell(0, isr, &[0, 1, 2]);
    trio
}

fn produce(trio: &mut Trio, count: u64) {
    let at = millis(trio.now);
    trio.replicas[0].produce(at, Acks::Leader, count).unwrap();
    trio.collect();
}

/// Records come once: repeated by the network, and to a question that is open no more, they are none.
#[test]
fn records_that_come_twice_are_taken_once() {
    let mut trio = trio(&[0, 1, 2]);
    trio.talk(&[0, 1, 2]);
    produce(&mut trio, 3);
    let said = trio.said.clone();
    let to_one = |one: &&(usize, usize, Message)| {
        one.1 == 1 && matches!(one.2, Message::Records { count: 3, .. })
    };
    let (from, to, records) = said.iter().find(to_one).unwrap();
    for _ in 0..3 {
        trio.deliver(*from, *to, records);
    }
    assert_eq!(trio.end(1), 3);
    assert_eq!(trio.replicas[1].refusals().count(Refusal::UnknownTicket), 2);
}

/// What is told of the partition late, or answered with a state that is over, changes nothing.
#[test]
fn an_earlier_state_of_the_partition_is_no_news() {
    let mut trio = trio(&[0, 1, 2]);
    let early = trio.view.clone();
    trio.alter(&[0, 1], &[0, 1, 2]);
    trio.tell(1, &[0, 1], &[0, 1, 2]);
    for id in 0..3 {
        trio.replicas[id].assign(millis(1), &early);
    }
    trio.collect();
    let leads = trio.replicas.iter().map(|replica| replica.leads());
    assert_eq!(leads.collect::<Vec<_>>(), [None, Some(2), None]);
    // 2 catches up, and is to come back.
    trio.pass(500, &[0, 1, 2]);
    assert_eq!(trio.asked.len(), 1);
    trio.answer(Answer::Altered {
        leader_epoch: 2,
        partition_epoch: 1,
        isr: places(&[1]),
        recovering: false,
    });
    let view = trio.replicas[1].view().unwrap();
    assert_eq!((view.isr, view.partition_epoch), (places(&[0, 1]), 3));
}

/// A follower that has all up to where the epoch begins, and not what was committed in it, does not enter the ISR.
#[test]
fn who_lacks_what_is_committed_does_not_enter_the_isr() {
    let mut trio = trio(&[0, 1]);
    trio.talk(&[0, 1]);
    produce(&mut trio, 20);
    trio.pass(1_000, &[0, 1]);
    assert_eq!(trio.replicas[0].high_watermark(), 20);
    let fetch = |number, index| Message::Fetch {
        ticket: Ticket {
            incarnation: 102,
            number,
        },
        epoch: 1,
        after: Position::new(u64::from(index > 0), index),
        broker_epoch: 102,
    };
    trio.deliver(2, 0, &fetch(50, 0));
    trio.deliver(2, 0, &fetch(51, 19));
    assert!(trio.asked.is_empty());
    trio.deliver(2, 0, &fetch(52, 20));
    assert_eq!(trio.asked.len(), 1);
}

/// Who has all that there was when it asked last was caught up then, and not when it says so.
#[test]
fn who_is_always_a_question_behind_is_caught_up_as_of_the_one_before() {
    let mut trio = trio(&[0, 1, 2]);
    trio.talk(&[0, 1]);
    produce(&mut trio, 10);
    trio.pass(1_000, &[0, 1]);
    let fetch = |number, index| Message::Fetch {
        ticket: Ticket {
            incarnation: 102,
            number,
        },
        epoch: 1,
        after: Position::new(u64::from(index > 0), index),
        broker_epoch: 102,
    };
    trio.deliver(2, 0, &fetch(50, 0));
    trio.pass(21_000, &[0, 1]);
    produce(&mut trio, 10);
    trio.deliver(2, 0, &fetch(51, 10));
    trio.pass(30_900, &[0, 1]);
    assert!(trio.asked.is_empty());
    trio.pass(31_200, &[0, 1]);
    let (_, _, asked) = trio.asked.last().expect("it lags");
    assert_eq!(asked.isr.len(), 2);
}

/// After an election that was unclean the logs, and how much of them is committed, are what the new leader has.
#[test]
fn a_high_watermark_is_cut_off_with_the_records() {
    let mut trio = trio(&[0, 1, 2]);
    produce(&mut trio, 9);
    trio.pass(2_000, &[0, 1, 2]);
    assert_eq!(trio.replicas[1].high_watermark(), 9);
    trio.restart(2, 2, 4, 2);
    trio.view.recovering = true;
    trio.tell(2, &[2], &[0, 1, 2]);
    trio.said
        .retain(|(_, _, message)| matches!(message, Message::Fetch { epoch: 2, .. }));
    for _ in 0..4 {
        trio.talk(&[0, 1, 2]);
        trio.pass(trio.now + 600, &[0, 1, 2]);
    }
    for id in 0..3 {
        let replica = &trio.replicas[id];
        assert_eq!((replica.log().last().index, id), (4, id));
        assert!(
            replica.high_watermark() <= 4,
            "{id}: {}",
            replica.high_watermark()
        );
    }
}

fn broker() -> (Broker, Ticket) {
    let boot = BrokerBoot {
        broker: b(1),
        incarnation: 9,
        clean: None,
    };
    let mut broker = Broker::new(BrokerConfig::KAFKA, boot, Instant::ZERO).unwrap();
    let Some(BrokerOutput::Ask(ticket, Request::Register { .. })) = broker.poll() else {
        panic!("it registers");
    };
    (broker, ticket)
}

/// What is said to a former life of a broker, or told twice, is nothing to the present one.
#[test]
fn a_broker_hears_what_is_for_this_life_of_it() {
    let (mut broker, ticket) = broker();
    let log = [
        Record::RegisterBroker {
            broker: b(1),
            incarnation: 8,
        },
        Record::CreateTopic {
            topic: AT.topic,
            min_isr: 1,
            unclean: false,
        },
        Record::CreatePartition {
            at: AT,
            replicas: [b(1)].into(),
            isr: places(&[0]),
        },
        Record::RegisterBroker {
            broker: b(1),
            incarnation: 9,
        },
    ];
    for (offset, record) in (0..).zip(&log[..3]) {
        broker.metadata(millis(1), offset, record);
    }
    broker.high_watermark(millis(1), 3);
    broker.metadata(millis(1), 1, &log[1]);
    assert_eq!(broker.refusals().count(Refusal::ImpossibleRecord), 1);
    assert_eq!(
        (broker.poll(), broker.epoch(), broker.next()),
        (None, None, 3)
    );
    broker.metadata(millis(1), 3, &log[3]);
    broker.high_watermark(millis(1), 4);
    assert!(
        matches!(broker.poll(), Some(BrokerOutput::Assign(AT, view)) if view.broker_epoch == 3)
    );
    assert_eq!(broker.epoch(), Some(3));
    broker.metadata(millis(1), 0, &log[0]);
    assert_eq!((broker.epoch(), broker.view(AT).is_some()), (Some(3), true));

    // The first question is overdue: its answer is late.
    broker.timeout(millis(5_000));
    let Some(BrokerOutput::Ask(second, _)) = broker.poll() else {
        panic!("it asks again");
    };
    let registered = Answer::Registered { epoch: 3 };
    broker.answer(millis(5_000), ticket, registered);
    assert_eq!(broker.refusals().count(Refusal::UnknownTicket), 1);
    assert_eq!(broker.poll(), None);
    broker.answer(millis(5_001), second, registered);
    let registered = BrokerOutput::Event(BrokerEvent::Registered(3));
    assert_eq!(broker.poll(), Some(registered));
    // It may go, and does not want to.
    let Some(BrokerOutput::Ask(beat, Request::Heartbeat { .. })) = broker.poll() else {
        panic!("it is heard of");
    };
    let may_stop = Answer::Heartbeat {
        caught_up: true,
        fenced: true,
        may_stop: true,
    };
    broker.answer(millis(5_002), beat, may_stop);
    assert_eq!(broker.poll(), None);
    assert!(broker.is_fenced());
    let due = broker.deadline().unwrap();
    broker.timeout(due);
    let Some(BrokerOutput::Ask(beat, Request::Heartbeat { .. })) = broker.poll() else {
        panic!("it is heard of again");
    };
    let unfenced = Answer::Heartbeat {
        caught_up: true,
        fenced: false,
        may_stop: false,
    };
    broker.answer(due, beat, unfenced);
    assert!(!broker.is_fenced());
}

/// C10: two controllers that fence at other times have other fingerprints.
#[test]
fn a_fingerprint_knows_when_brokers_are_looked_after() {
    use std::hash::{DefaultHasher, Hasher};
    // Nothing else that is due tells when it began to lead.
    let config = ControllerConfig {
        balance: None,
        unclean: Duration::from_millis(100),
        ..ControllerConfig::KAFKA
    };
    let of = |claimed: u64| {
        let mut controller = Controller::new(config).unwrap();
        let registered = Record::RegisterBroker {
            broker: b(1),
            incarnation: 1,
        };
        let unfenced = Record::ChangeBroker {
            broker: b(1),
            epoch: 0,
            fenced: false,
            shutting_down: false,
        };
        controller.committed(millis(claimed), 1, 0, &registered);
        controller.committed(millis(claimed), 1, 1, &unfenced);
        controller.claim(millis(claimed), 2, 2).unwrap();
        let beat = Request::Heartbeat {
            broker: b(1),
            epoch: 0,
            offset: 2,
            want_fence: false,
            want_shutdown: false,
        };
        controller.request(millis(2_000), 1, &beat);
        while controller.poll().is_some() {}
        let mut hasher = DefaultHasher::new();
        controller.fingerprint(millis(2_000), &mut hasher);
        let print = hasher.finish();
        while controller.image().is_active(b(1)) {
            let due = controller.deadline().unwrap();
            controller.timeout(due);
            while let Some(output) = controller.poll() {
                if let ControllerOutput::Append {
                    offset, records, ..
                } = output
                {
                    controller.committed(due, 2, offset, &records[0]);
                    return (print, due);
                }
            }
        }
        panic!("it is fenced");
    };
    let ((one, fences), (other, later)) = (of(1_000), of(1_500));
    assert_ne!(fences, later);
    assert_ne!(one, other);
    assert_eq!(of(1_000), of(1_000));
}
