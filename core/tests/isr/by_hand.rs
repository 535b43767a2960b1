//! By hand: what a controller decides, and what becomes of it at replicas.

use crate::bench::{AT, Bench, Trio, b, millis, places};
use tenure::isr::{
    Acks, Answer, BrokerConfig, ConfigError, Consumed, Controller, ControllerConfig, Election,
    Fate, Fault, MAX_PARTITIONS, PartitionId, ProduceFault, ReplicaConfig, Request, Switched,
    TopicId,
};
use tenure::{Duration, Instant};

fn bench(brokers: u64, min_isr: u8) -> Bench {
    Bench::kafka(Switched::default(), brokers, min_isr)
}

fn heartbeat(caught_up: bool, fenced: bool, may_stop: bool) -> Answer {
    Answer::Heartbeat {
        caught_up,
        fenced,
        may_stop,
    }
}

/// peers.md §5.9: a broker epoch is the offset of the registration; a broker is fenced until it has applied that, and is ready.
#[test]
fn a_broker_is_unfenced_when_it_knows_of_itself() {
    let mut bench = bench(2, 1);
    let offset = bench.log.len() as u64;
    assert_eq!(
        bench.register(7, 1, None),
        Answer::Registered { epoch: offset }
    );
    assert_eq!(
        bench.heartbeat_at(7, offset, false, false),
        heartbeat(false, true, false)
    );
    assert_eq!(
        bench.heartbeat_at(7, offset + 1, true, false),
        heartbeat(true, true, false)
    );
    assert_eq!(
        bench.heartbeat_at(7, offset + 1, false, false),
        heartbeat(true, false, false)
    );
    assert_eq!(
        bench.heartbeat(7, true, false),
        heartbeat(true, true, false)
    );
    for (broker, epoch, fault) in [
        (7, offset + 1, Fault::StaleBrokerEpoch),
        (8, 0, Fault::NotRegistered),
    ] {
        let asked = Request::Heartbeat {
            broker: b(broker),
            epoch,
            offset: 99,
            want_fence: false,
            want_shutdown: false,
        };
        assert_eq!(bench.ask(asked), Answer::Fault(fault));
    }
}

/// A broker that is silent for a session is fenced at the next check, and what it led is led by another; one that is heard of is
/// not. A new controller begins every session anew.
#[test]
fn a_silent_broker_is_fenced_and_others_lead() {
    let mut bench = bench(3, 2);
    assert_eq!(bench.controller.deadline(), Some(millis(9_000)));
    bench.pass(8_900, &[0]);
    assert_eq!(bench.leader(), Some(0));
    bench.pass(9_000, &[0]);
    assert_eq!(
        (bench.leader(), bench.partition().isr),
        (Some(1), places(&[1, 2]))
    );
    assert!(bench.image().broker(b(0)).unwrap().fenced);
    let end = bench.log.len() as u64;
    bench.now = 30_000;
    bench.controller.renounce();
    assert_eq!(bench.controller.deadline(), None);
    bench.controller.claim(millis(30_000), 2, end).unwrap();
    assert_eq!(bench.controller.deadline(), Some(millis(39_000)));
    bench.drain();
    assert_eq!(bench.partition().isr, places(&[1, 2]));
}

/// A controller dies after the log has kept the beginning of what it decided at once: that a broker may lead again, and not that
/// it does. The next one sees to that.
#[test]
fn a_new_controller_goes_on_with_what_the_last_one_began() {
    let mut bench = bench(2, 1);
    bench.fence(1);
    bench.fence(0);
    assert_eq!(bench.leader(), None);
    bench.beat(0);
    assert_eq!(bench.leader(), Some(0));
    let kept = bench.log.len() as u64 - 1;
    let mut next = Controller::new(ControllerConfig::KAFKA).unwrap();
    for (offset, record) in (0..kept).zip(&bench.log) {
        next.committed(millis(bench.now), 1, offset, record);
    }
    assert_eq!(next.image().partition(AT).unwrap().leader, None);
    next.claim(millis(bench.now), 2, kept).unwrap();
    let expected = next.expected().unwrap();
    assert_eq!(expected.partition(AT).unwrap().leader, Some(b(0)));
}

/// Controlled shutdown: what it leads goes to others, it leaves the ISR, and goes when everybody who serves knows.
#[test]
fn a_broker_goes_when_everybody_knows_that_it_leads_nothing() {
    let mut bench = bench(3, 2);
    let before = bench.log.len() as u64;
    assert_eq!(
        bench.heartbeat(0, false, true),
        heartbeat(true, false, false)
    );
    assert_eq!(
        (bench.leader(), bench.partition().isr),
        (Some(1), places(&[1, 2]))
    );
    // 2 has not applied that.
    bench.beat(1);
    bench.heartbeat_at(2, before, false, false);
    assert_eq!(
        bench.heartbeat(0, false, true),
        heartbeat(true, false, false)
    );
    bench.beat(2);
    assert_eq!(bench.heartbeat(0, false, true), heartbeat(true, true, true));
    // One that leads nothing goes at once.
    assert_eq!(bench.heartbeat(2, false, true), heartbeat(true, true, true));
    assert_eq!(bench.partition().isr, places(&[1]));
}

/// peers.md §5.11: the checks in their order, each of which says more than the next.
#[test]
fn what_a_leader_asks_is_checked_in_order() {
    let mut bench = bench(3, 2);
    bench.fence(2);
    bench.register(9, 1, None);
    let good = bench.wish(&[0, 1]);
    let mut asked = good.clone();
    asked.isr.clear();
    let mut next = |asked: &tenure::isr::AlterPartition| bench.fault(asked.clone());
    // From the last to the first; each hides those before it.
    asked.isr.push(good.isr[0]);
    asked.isr.push(tenure::isr::Member {
        broker: b(2),
        epoch: None,
    });
    assert_eq!(next(&asked), Some(Fault::IneligibleReplica));
    asked.recovering = true;
    assert_eq!(next(&asked), Some(Fault::InvalidRequest));
    asked.recovering = false;
    asked.isr.push(tenure::isr::Member {
        broker: b(9),
        epoch: None,
    });
    assert_eq!(next(&asked), Some(Fault::InvalidRequest), "no replica");
    asked.isr.remove(0);
    asked.isr.pop();
    assert_eq!(
        next(&asked),
        Some(Fault::InvalidRequest),
        "without the leader"
    );
    asked.partition_epoch -= 1;
    assert_eq!(next(&asked), Some(Fault::InvalidUpdateVersion));
    asked.broker = b(1);
    asked.broker_epoch = good.isr[1].epoch.unwrap();
    assert_eq!(next(&asked), Some(Fault::InvalidRequest), "not the leader");
    asked.leader_epoch -= 1;
    assert_eq!(next(&asked), Some(Fault::FencedLeaderEpoch));
    asked.partition_epoch += 2;
    assert_eq!(next(&asked), Some(Fault::NotController));
    asked.at.index = 7;
    assert_eq!(next(&asked), Some(Fault::UnknownPartition));
    asked.broker_epoch += 1;
    assert_eq!(next(&asked), Some(Fault::StaleBrokerEpoch));
    assert_eq!(next(&good), None);
}

/// KP-any, KP-preferred and the balance.
#[test]
fn leadership_goes_back_to_who_is_preferred() {
    let mut bench = bench(3, 2);
    let prefer = Request::ElectLeader {
        at: AT,
        election: Election::Preferred,
    };
    assert_eq!(
        bench.ask(prefer.clone()),
        Answer::Fault(Fault::ElectionNotNeeded)
    );
    bench.fence(0);
    assert_eq!(
        bench.ask(prefer.clone()),
        Answer::Fault(Fault::PreferredNotAvailable)
    );
    bench.beat(0);
    // It is active, and not in sync.
    assert_eq!(
        bench.ask(prefer.clone()),
        Answer::Fault(Fault::PreferredNotAvailable)
    );
    let wish = bench.wish(&[0, 1, 2]);
    bench.alter(wish);
    let before = bench.partition().clone();
    assert_eq!(bench.ask(prefer), Answer::Elected { leader: b(0) });
    let after = bench.partition().clone();
    assert_eq!(
        (after.isr, after.leader_epoch),
        (before.isr, before.leader_epoch + 1)
    );
    // And by itself.
    bench.fence(0);
    bench.beat(0);
    let wish = bench.wish(&[0, 1, 2]);
    bench.alter(wish);
    bench.pass(299_000, &[]);
    assert_eq!(bench.leader(), Some(1));
    bench.pass(301_000, &[]);
    assert_eq!(bench.leader(), Some(0));
}

/// KP-ELR: who leaves the ISR while it is below its minimum stays eligible; from the ELR a leader is alone in sync, and when the
/// ISR has its minimum again the ELR is empty.
#[test]
fn who_is_eligible_leads_when_nobody_is_in_sync() {
    let mut bench = bench(3, 2);
    bench.fence(2);
    assert_eq!(
        (bench.partition().isr, bench.partition().elr),
        (places(&[0, 1]), places(&[]))
    );
    bench.fence(1);
    assert_eq!(
        (bench.partition().isr, bench.partition().elr),
        (places(&[0]), places(&[1]))
    );
    bench.fence(0);
    let partition = bench.partition();
    assert_eq!(
        (partition.leader, partition.isr, partition.elr),
        (None, places(&[]), places(&[0, 1]))
    );
    assert_eq!(partition.last_known, Some(b(0)));
    // Who is not eligible is not elected, though it is there.
    bench.beat(2);
    assert_eq!(bench.leader(), None);
    bench.beat(1);
    let partition = bench.partition();
    assert_eq!(
        (partition.leader, partition.isr, partition.elr),
        (Some(b(1)), places(&[1]), places(&[0]))
    );
    assert!(!partition.recovering && partition.last_known.is_none());
    let wish = bench.wish(&[1, 2]);
    bench.alter(wish);
    assert_eq!(
        (bench.partition().isr, bench.partition().elr),
        (places(&[1, 2]), places(&[]))
    );
}

/// KP-no-ELR: the last one in sync stays so.
#[test]
fn without_elr_the_last_one_stays_in_the_isr() {
    let config = ControllerConfig {
        elr: false,
        ..ControllerConfig::KAFKA
    };
    let mut bench = Bench::new(config, Switched::default(), 2, 2, false);
    bench.fence(1);
    bench.fence(0);
    let partition = bench.partition();
    assert_eq!(
        (partition.leader, partition.isr, partition.elr),
        (None, places(&[0]), places(&[]))
    );
    bench.beat(1);
    assert_eq!(bench.leader(), None);
    bench.beat(0);
    assert_eq!(bench.leader(), Some(0));
}

#[test]
fn topics_are_created_once_over_who_is_active_and_deleted() {
    let mut bench = bench(3, 2);
    let create = |topic, partitions, replication, min_isr| Request::CreateTopic {
        topic: TopicId(topic),
        partitions,
        replication,
        min_isr,
        unclean: false,
    };
    for (asked, fault) in [
        (create(0, 1, 1, 1), Fault::TopicExists),
        (create(1, 0, 1, 1), Fault::InvalidPartitions),
        (
            create(1, MAX_PARTITIONS + 1, 1, 1),
            Fault::InvalidPartitions,
        ),
        (create(1, 1, 0, 1), Fault::InvalidReplication),
        (create(1, 1, 4, 1), Fault::InvalidReplication),
        (create(1, 1, 1, 0), Fault::InvalidRequest),
        (
            Request::DeleteTopic { topic: TopicId(9) },
            Fault::UnknownPartition,
        ),
    ] {
        assert_eq!(bench.ask(asked), Answer::Fault(fault));
    }
    assert_eq!(bench.ask(create(1, 6, 2, 1)), Answer::Done);
    let image = bench.image();
    let topic = image.topic(TopicId(1)).unwrap();
    for id in 0..3 {
        let prefer = topic
            .partitions
            .iter()
            .filter(|partition| partition.replicas[0] == b(id));
        assert_eq!(prefer.count(), 2);
    }
    assert_eq!(
        bench.ask(Request::DeleteTopic { topic: TopicId(1) }),
        Answer::Done
    );
    let at = PartitionId {
        topic: TopicId(1),
        index: 0,
    };
    assert!(bench.image().partition(at).is_none());
}

fn trio(min_isr: u8) -> Trio {
    let config = ReplicaConfig {
        elr: false,
        ..ReplicaConfig::KAFKA
    };
    let mut trio = Trio::new(config, Switched::default(), min_isr);
    trio.tell(0, &[0, 1, 2], &[0, 1, 2]);
    trio.talk(&[0, 1, 2]);
    trio
}

/// acks=1 and acks=all, and what a consumer sees.
#[test]
fn a_record_is_committed_when_everybody_in_sync_has_it() {
    let mut trio = trio(2);
    let at = trio.replicas[0].produce(millis(1), Acks::All, 3).unwrap();
    assert_eq!((at.term, at.index), (1, 3));
    assert_eq!(trio.replicas[0].fate(at), Fate::Waiting);
    let all = |trio: &Trio| trio.replicas[0].consume(Some(1), 0);
    let nothing = Consumed::Records {
        written: 1,
        count: 0,
    };
    assert_eq!(all(&trio), nothing);
    trio.collect();
    trio.talk(&[0, 1]);
    assert_eq!(trio.replicas[0].fate(at), Fate::Waiting);
    trio.talk(&[0, 1, 2]);
    assert_eq!(trio.replicas[0].fate(at), Fate::Acknowledged);
    let three = Consumed::Records {
        written: 1,
        count: 3,
    };
    assert_eq!(all(&trio), three);
    assert_eq!(trio.replicas[0].consume(Some(1), 4), Consumed::OutOfRange);
    assert_eq!(trio.replicas[0].consume(Some(2), 0), Consumed::NotLeader);
    assert_eq!(trio.replicas[1].consume(None, 0), Consumed::NotLeader);
    assert_eq!(
        trio.replicas[1].produce(millis(1), Acks::All, 1),
        Err(ProduceFault::NotLeader)
    );
    for count in [0, u64::MAX] {
        assert_eq!(
            trio.replicas[0].produce(millis(1), Acks::Leader, count),
            Err(ProduceFault::Count)
        );
    }
    // Too few after it was appended.
    let at = trio.replicas[0].produce(millis(1), Acks::All, 1).unwrap();
    trio.collect();
    trio.talk(&[0, 1]);
    trio.alter(&[0], &[0]);
    assert_eq!(trio.replicas[0].fate(at), Fate::NotEnoughReplicas);
    assert_eq!(
        trio.replicas[0].produce(millis(1), Acks::All, 1),
        Err(ProduceFault::NotEnoughReplicas)
    );
    assert!(trio.replicas[0].produce(millis(1), Acks::Leader, 1).is_ok());
    // KIP-207: who comes to lead does not know how much is committed.
    trio.tell(1, &[0, 1], &[0, 1]);
    assert_eq!(trio.replicas[0].fate(at), Fate::Unknown);
    assert_eq!(trio.replicas[1].consume(Some(2), 9), Consumed::NotAvailable);
    assert_eq!(trio.replicas[1].consume(Some(1), 0), Consumed::Fenced);
}

/// A follower that lags leaves the ISR with the controller's leave, and comes back when it has caught up.
#[test]
fn a_follower_that_lags_leaves_the_isr_and_comes_back() {
    let mut trio = trio(1);
    trio.replicas[0]
        .produce(millis(1), Acks::Leader, 3)
        .unwrap();
    trio.collect();
    trio.pass(29_900, &[0, 1]);
    assert!(trio.asked.is_empty());
    trio.pass(31_000, &[0, 1]);
    let asked = trio.asked.last().unwrap().2.clone();
    assert_eq!(
        asked
            .isr
            .iter()
            .map(|member| member.broker)
            .collect::<Vec<_>>(),
        [b(0), b(1)]
    );
    assert_eq!(trio.replicas[0].high_watermark(), 0);
    let altered = |isr: &[usize], partition_epoch| Answer::Altered {
        leader_epoch: 1,
        partition_epoch,
        isr: places(isr),
        recovering: false,
    };
    trio.answer(altered(&[0, 1], 2));
    assert_eq!(trio.replicas[0].high_watermark(), 3);
    assert!(trio.asked.is_empty());
    trio.talk(&[0, 1, 2]);
    trio.pass(62_000, &[0, 1, 2]);
    let (_, _, asked) = trio.asked.last().expect("2 is there again");
    assert_eq!((asked.isr.len(), asked.partition_epoch), (3, 2));
    assert!(asked.isr.iter().all(|member| member.epoch.is_some()));
    // Proposed, it counts: the high watermark waits for it.
    trio.said.clear();
    trio.replicas[0]
        .produce(millis(62_000), Acks::Leader, 1)
        .unwrap();
    trio.collect();
    trio.talk(&[0, 1]);
    assert_eq!(trio.replicas[0].high_watermark(), 3);
}

/// What was asked twice and is refused may still be granted by the first: until another state of the partition is there, the high
/// watermark waits for who was proposed, and the leader asks for such a state.
#[test]
fn a_wish_that_may_still_be_granted_counts() {
    let mut trio = trio(1);
    trio.alter(&[0, 1], &[0, 1, 2]);
    trio.pass(40_000, &[0, 1, 2]);
    let asked = trio.asked.len();
    assert!(asked > 1, "it has asked again");
    assert_eq!(trio.asked.last().unwrap().2.isr.len(), 3);
    trio.said.clear();
    trio.answer(Answer::Fault(Fault::IneligibleReplica));
    trio.replicas[0]
        .produce(millis(40_000), Acks::Leader, 1)
        .unwrap();
    trio.collect();
    trio.pass(40_900, &[0, 1]);
    assert_eq!(trio.replicas[0].high_watermark(), 0);
    trio.pass(41_100, &[0, 1]);
    let last = trio.asked.last().unwrap().2.clone();
    assert_eq!((last.isr.len(), last.partition_epoch), (2, 2));
    trio.answer(Answer::Altered {
        leader_epoch: 1,
        partition_epoch: 3,
        isr: places(&[0, 1]),
        recovering: false,
    });
    trio.talk(&[0, 1]);
    trio.pass(42_000, &[0, 1]);
    assert_eq!(trio.replicas[0].high_watermark(), 1);
}

/// A leader that may lack what was committed says so to the controller first, and leads alone until that knows.
#[test]
fn a_leader_that_recovers_says_when_it_has() {
    let mut trio = trio(1);
    trio.view.recovering = true;
    trio.tell(1, &[1], &[1]);
    let (_, ticket, asked) = trio.asked.last().unwrap().clone();
    assert!(!asked.recovering && asked.isr.len() == 1);
    // Not to a question of another.
    let wrong = tenure::Ticket {
        number: ticket.number + 1,
        ..ticket
    };
    let answer = Answer::Altered {
        leader_epoch: 2,
        partition_epoch: 9,
        isr: places(&[1]),
        recovering: false,
    };
    trio.replicas[1].answer(millis(1), wrong, answer);
    assert!(trio.replicas[1].view().unwrap().recovering);
    trio.answer(answer);
    assert!(!trio.replicas[1].view().unwrap().recovering);
}

#[test]
fn what_is_useless_is_refused_with_its_remedy() {
    let controller = ControllerConfig {
        check: Duration::from_secs(10),
        ..ControllerConfig::KAFKA
    };
    let replica = ReplicaConfig {
        wait: Duration::from_secs(30),
        ..ReplicaConfig::KAFKA
    };
    let lag = ReplicaConfig {
        lag: Duration::from_millis(500),
        ..ReplicaConfig::KAFKA
    };
    for (error, told) in [
        (controller.check().unwrap_err(), "an eighth of session"),
        (
            replica.check().unwrap_err(),
            "lower wait, or raise patience",
        ),
        (lag.check().unwrap_err(), "raise lag, or lower wait"),
        (ConfigError::Zero("heartbeat"), "use at least one"),
        (ConfigError::Percentage(101), "at most 100"),
    ] {
        assert!(error.to_string().contains(told), "{error}");
    }
    let broker = BrokerConfig {
        heartbeat: Duration::ZERO,
        ..BrokerConfig::KAFKA
    };
    assert_eq!(broker.check(), Err(ConfigError::Zero("heartbeat")));
    let percentage = ControllerConfig {
        imbalance: 101,
        ..ControllerConfig::KAFKA
    };
    assert_eq!(percentage.check(), Err(ConfigError::Percentage(101)));
    let batch = ReplicaConfig {
        batch: 0,
        ..ReplicaConfig::KAFKA
    };
    assert_eq!(batch.check(), Err(ConfigError::Zero("batch")));
    let _: Instant = millis(0);
}
