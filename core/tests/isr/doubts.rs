//! Requests that arrive twice, late, or for a life that is over: what a host or a network may do to a wish for another ISR.

use crate::bench::{Bench, Trio, b, millis, places};
use tenure::isr::{Acks, Answer, Fault, Message, ReplicaConfig, Switched};
use tenure::log::Position;
use tenure::{NodeId, Ticket};

/// Broker 0 leads, 1 is in sync with it, and 2 is not and catches up.
fn trio() -> Trio {
    let config = ReplicaConfig {
        elr: false,
        ..ReplicaConfig::KAFKA
    };
    let mut trio = Trio::new(config, Switched::default(), 1);
    trio.tell(0, &[0, 1, 2], &[0, 1, 2]);
    trio.alter(&[0, 1], &[0, 1, 2]);
    trio
}

fn who(trio: &Trio) -> Vec<NodeId> {
    let (_, _, asked) = trio.asked.last().expect("something was asked");
    asked.isr.iter().map(|member| member.broker).collect()
}

/// C1: a request that was refused comes a second time, by the network or the host, and is granted then. Who was refused counts
/// until another state of the partition is there, and the leader asks for one.
#[test]
fn a_wish_that_was_refused_once_may_be_granted_yet() {
    // What the controller makes of it: the second copy is as good as the first, once the broker is unfenced.
    let mut bench = Bench::kafka(Switched::default(), 3, 1);
    bench.fence(2);
    let wish = bench.wish(&[0, 1, 2]);
    assert_eq!(bench.fault(wish.clone()), Some(Fault::IneligibleReplica));
    bench.beat(2);
    assert_eq!(bench.fault(wish), None);
    assert_eq!(bench.partition().isr, places(&[0, 1, 2]));

    let mut trio = trio();
    trio.pass(500, &[0, 1, 2]);
    assert_eq!((trio.asked.len(), who(&trio).len()), (1, 3));
    trio.said.clear();
    trio.answer(Answer::Fault(Fault::IneligibleReplica));
    let at = millis(trio.now);
    trio.replicas[0].produce(at, Acks::All, 1).unwrap();
    trio.collect();
    trio.talk(&[0, 1]);
    trio.pass(900, &[0, 1]);
    assert_eq!(trio.replicas[0].high_watermark(), 0);
    trio.pass(2_000, &[0, 1]);
    assert_eq!(who(&trio), [b(0), b(1)]);
    trio.answer(Answer::Altered {
        leader_epoch: 1,
        partition_epoch: 3,
        isr: places(&[0, 1]),
        recovering: false,
    });
    trio.pass(3_000, &[0, 1]);
    assert_eq!(trio.replicas[0].high_watermark(), 1);
}

/// KIP-903: what is asked again is asked for the life of the broker that had caught up, not for the one that is there now.
#[test]
fn a_wish_is_repeated_for_the_life_it_was_for() {
    let mut trio = trio();
    trio.replicas[0]
        .produce(millis(0), Acks::Leader, 3)
        .unwrap();
    trio.collect();
    trio.talk(&[0, 1, 2]);
    trio.pass(500, &[0, 1, 2]);
    assert_eq!(trio.replicas[0].high_watermark(), 3);
    let epoch = |trio: &Trio| {
        let (_, _, asked) = trio.asked.last().expect("something was asked");
        asked
            .isr
            .iter()
            .find(|member| member.broker == b(2))
            .unwrap()
            .epoch
    };
    let (asked, first) = (trio.asked.len(), epoch(&trio));
    assert!(first.is_some());
    // 2 lost all it had, and is there again.
    let fetch = Message::Fetch {
        ticket: Ticket {
            incarnation: 900,
            number: 1,
        },
        epoch: 1,
        after: Position::new(0, 0),
        broker_epoch: 900,
    };
    trio.deliver(2, 0, &fetch);
    trio.pass(40_000, &[0, 1]);
    assert!(trio.asked.len() > asked, "it has asked again");
    assert_eq!(epoch(&trio), first);
}
