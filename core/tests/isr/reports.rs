//! By hand: what was reported of Kafka's brokers and partitions, each with its rule and without.

use crate::bench::{AT, Bench, TOPIC, Trio, b, millis, places, without};
use tenure::isr::{
    Acks, Answer, ControllerConfig, Fault, Invariant, Message, Record, ReplicaConfig, ReplicaEvent,
    Rule, Switched,
};
use tenure::log::Position;
use tenure::{Instant, NodeId};

/// KB-FencedNeverLeads, of what is committed.
fn fenced_never_leads(bench: &Bench) -> bool {
    let partition = bench.partition();
    let active = |who: NodeId| bench.image().is_active(who);
    partition.leader.is_none_or(active)
        && partition
            .isr
            .iter()
            .all(|place| active(partition.replicas[place]))
}

/// KAFKA-13916, KAFKA-14140: broker 2 begins its controlled shutdown and is taken out of the ISR; its last questions make it look
/// caught up, and the leader proposes it again.
#[test]
fn who_is_about_to_go_does_not_come_back_into_the_isr() {
    for (rules, holds) in without(Rule::EligibleForIsr).into_iter().zip([true, false]) {
        for fenced in [false, true] {
            let mut bench = Bench::kafka(rules, 3, 2);
            // It leads something, so that it is not let go at once.
            bench.ask(tenure::isr::Request::CreateTopic {
                topic: tenure::isr::TopicId(2),
                partitions: 1,
                replication: 1,
                min_isr: 1,
                unclean: false,
            });
            bench.heartbeat(2, fenced, true);
            assert_eq!(bench.partition().isr, places(&[0, 1]));
            let wish = bench.wish(&[0, 1, 2]);
            let fault = holds.then_some(Fault::IneligibleReplica);
            assert_eq!(bench.fault(wish), fault);
            assert_eq!(fenced_never_leads(&bench), holds);
        }
    }
    assert_eq!(Rule::EligibleForIsr.protects(), Invariant::FencedNeverLeads);
}

/// KAFKA-19522: ISR and ELR are empty, the last known leader is fenced, and another broker's return makes an election.
#[test]
fn the_last_known_leader_is_elected_when_it_is_there() {
    for (rules, holds) in without(Rule::LastKnownIsActive)
        .into_iter()
        .zip([true, false])
    {
        let mut bench = Bench::kafka(rules, 2, 1);
        bench.fence(1);
        assert_eq!(
            (bench.leader(), bench.partition().isr),
            (Some(0), places(&[0]))
        );
        bench.fence(0);
        assert_eq!(
            (bench.leader(), bench.partition().elr),
            (None, places(&[0]))
        );
        // It is there again, without its disk's tail; and fenced.
        bench.register(0, 777, None);
        if holds {
            let partition = bench.partition();
            assert!(partition.isr.is_empty() && partition.elr.is_empty());
            assert_eq!(partition.last_known, Some(b(0)));
        }
        bench.beat(1);
        assert_eq!(bench.leader(), (!holds).then_some(0));
        assert_eq!(fenced_never_leads(&bench), holds);
        if holds {
            bench.beat(0);
            let partition = bench.partition();
            assert_eq!(
                (partition.leader, partition.isr),
                (Some(b(0)), places(&[0]))
            );
            // It is marked: what it lacks is lost.
            assert!(partition.recovering && partition.last_known.is_none());
        }
    }
    assert_eq!(
        Rule::LastKnownIsActive.protects(),
        Invariant::FencedNeverLeads
    );
}

/// KAFKA-18106: broker 0 leads and is the only one in sync; it crashes, and registers again without a proof of a clean shutdown.
#[test]
fn who_lost_its_tail_leaves_isr_and_elr_and_leads_no_more() {
    for (rules, holds) in without(Rule::UncleanLeaves).into_iter().zip([true, false]) {
        let mut bench = Bench::kafka(rules, 3, 2);
        let wish = bench.wish(&[0]);
        bench.alter(wish);
        assert_eq!(
            (bench.partition().isr, bench.partition().elr),
            (places(&[0]), places(&[1, 2]))
        );
        let before = bench.partition().leader_epoch;
        bench.pass(11_000, &[0]);
        bench.register(0, 777, None);
        let partition = bench.partition();
        // Those who were eligible have all that was committed, and one of them leads.
        assert!(partition.leader_epoch > before && fenced_never_leads(&bench));
        assert_eq!(
            partition.elr,
            if holds { places(&[2]) } else { places(&[0, 2]) }
        );
        assert_eq!(partition.leader, Some(b(1)));
        bench.fence(1);
        bench.fence(2);
        bench.beat(0);
        // KP-CleanNoLoss: elected as if nothing were missing.
        let (elected, marked) = (bench.leader() == Some(0), bench.partition().recovering);
        assert_eq!((elected, marked), (!holds, false));
    }
    assert_eq!(Rule::UncleanLeaves.protects(), Invariant::CleanNoLoss);
}

/// The same while its session goes on: it is back at once, and must not be listed as leader for a moment.
#[test]
fn a_broker_that_is_back_at_once_does_not_lead_on() {
    let mut bench = Bench::kafka(Switched::default(), 2, 1);
    let clean = bench.epoch(0);
    // Another life while this one is there: refused.
    assert_eq!(
        bench.register(0, 777, None),
        Answer::Fault(Fault::DuplicateRegistration)
    );
    assert_eq!(
        bench.register(0, 100, None),
        Answer::Registered { epoch: clean }
    );
    bench.fence(0);
    let first = bench.log.len();
    bench.register(0, 777, Some(clean));
    // With the proof, nothing is taken from it.
    assert_eq!(bench.log.len(), first + 1);
    assert_eq!(bench.epoch(0), first as u64);
}

/// KAFKA-14154: the leader of a partition knows a later epoch than the controller, which was replaced and does not know it.
#[test]
fn who_knows_a_later_epoch_looks_for_another_controller() {
    for (rules, holds) in without(Rule::LaterEpochIsNotController)
        .into_iter()
        .zip([true, false])
    {
        let mut bench = Bench::kafka(rules, 3, 2);
        for (leader_epoch, partition_epoch) in [(5, 0), (0, 5), (5, 5)] {
            let mut wish = bench.wish(&[0, 1]);
            wish.leader_epoch += leader_epoch;
            wish.partition_epoch += partition_epoch;
            let fault = if holds {
                Fault::NotController
            } else {
                Fault::FencedLeaderEpoch
            };
            assert_eq!(bench.fault(wish), Some(fault));
        }
        // What comes of it at the leader: it asks again, or never.
        let mut trio = Trio::new(ReplicaConfig::KAFKA, rules, 2);
        trio.tell(0, &[0, 1, 2], &[0, 1]);
        trio.talk(&[0, 1]);
        trio.replicas[0]
            .produce(millis(0), Acks::Leader, 1)
            .unwrap();
        trio.pass(31_000, &[0, 1]);
        assert_eq!(trio.asked.last().unwrap().2.isr.len(), 2);
        trio.answer(Answer::Fault(if holds {
            Fault::NotController
        } else {
            Fault::FencedLeaderEpoch
        }));
        trio.asked.clear();
        trio.pass(300_000, &[0, 1]);
        // KP-InSyncAgain.
        assert_eq!(!trio.asked.is_empty(), holds);
    }
    assert_eq!(
        Rule::LaterEpochIsNotController.protects(),
        Invariant::InSyncAgain
    );
}

/// KIP-903: a follower restarts with an empty disk between its question and the leader's request, which finds it registered and
/// unfenced.
#[test]
fn a_member_of_a_former_life_is_not_taken_for_the_present_one() {
    for (rules, holds) in without(Rule::BrokerEpochChecked)
        .into_iter()
        .zip([true, false])
    {
        let mut bench = Bench::kafka(rules, 3, 2);
        let wish = bench.wish(&[0, 1]);
        bench.alter(wish);
        let wish = bench.wish(&[0, 1, 2]);
        bench.fence(2);
        bench.register(2, 777, None);
        bench.beat(2);
        let fault = bench.fault(wish);
        assert_eq!(fault, holds.then_some(Fault::IneligibleReplica));
        // KP-CleanNoLoss: it is elected as one that has everything.
        bench.fence(0);
        bench.fence(1);
        assert_eq!(bench.leader() == Some(2), !holds);
        assert!(!bench.partition().recovering);
    }
    assert_eq!(Rule::BrokerEpochChecked.protects(), Invariant::CleanNoLoss);
}

/// KP-valid: nobody but who is in sync, or eligible when nobody is, unless the topic allows it; and then it is marked.
#[test]
fn an_election_is_clean_unless_the_topic_allows_another() {
    for (rules, clean, allowed) in [
        (Switched::default(), true, false),
        (Switched::default(), true, true),
        (Switched::without(&[Rule::CleanElection]), false, false),
    ] {
        let mut bench = Bench::new(ControllerConfig::KAFKA, rules, 3, 1, allowed);
        bench.fence(1);
        bench.fence(2);
        assert_eq!(bench.partition().isr, places(&[0]));
        bench.pass(8_000, &[0, 2]);
        assert_eq!(bench.leader(), Some(0), "not yet");
        bench.pass(12_000, &[0, 2]);
        let elected = bench.leader() == Some(1);
        assert_eq!(elected, allowed || !clean);
        assert_eq!(bench.partition().recovering, allowed);
    }
    assert_eq!(Rule::CleanElection.protects(), Invariant::CleanNoLoss);
}

/// KP-EpochMonotone: the leader epoch rises with every write of the leader.
#[test]
fn another_leader_has_another_epoch() {
    for (rules, holds) in without(Rule::LeaderEpochRises)
        .into_iter()
        .zip([true, false])
    {
        let mut bench = Bench::kafka(rules, 3, 2);
        let first = bench.partition().clone();
        bench.fence(0);
        let second = bench.partition().clone();
        assert_eq!((first.leader, second.leader), (Some(b(0)), Some(b(1))));
        assert!(second.partition_epoch > first.partition_epoch);
        assert_eq!(second.leader_epoch > first.leader_epoch, holds);
    }
    assert_eq!(Rule::LeaderEpochRises.protects(), Invariant::EpochMonotone);
}

/// KC-NoStaleCommand: a broker hears of a decision that is never committed.
#[test]
fn a_broker_applies_what_is_committed() {
    use tenure::isr::{Broker, BrokerBoot, BrokerConfig, BrokerOutput};
    for (rules, holds) in without(Rule::AppliesCommitted)
        .into_iter()
        .zip([true, false])
    {
        let boot = BrokerBoot {
            broker: b(1),
            incarnation: 101,
            clean: None,
        };
        let mut broker =
            Broker::with_rules(BrokerConfig::KAFKA, boot, Instant::ZERO, rules).unwrap();
        let bench = Bench::kafka(Switched::default(), 3, 2);
        for (offset, record) in (0..).zip(&bench.log) {
            broker.metadata(millis(1), offset, record);
        }
        broker.high_watermark(millis(1), bench.log.len() as u64);
        while broker.poll().is_some() {}
        let change = tenure::isr::Change {
            leader: Some(Some(b(1))),
            ..Default::default()
        };
        let next = bench.log.len() as u64;
        broker.metadata(millis(2), next, &Record::ChangePartition { at: AT, change });
        let leads = std::iter::from_fn(|| broker.poll()).any(
            |output| matches!(output, BrokerOutput::Assign(_, view) if view.leader == Some(b(1))),
        );
        assert_eq!((leads, broker.next() > next), (!holds, !holds));
        broker.truncated(millis(3), next);
        broker.high_watermark(millis(3), next + 1);
        assert_eq!(
            broker.image().partition(AT).unwrap().leader == Some(b(0)),
            holds
        );
    }
    assert_eq!(Rule::AppliesCommitted.protects(), Invariant::NoStaleCommand);
}

const WITH_ELR: ReplicaConfig = ReplicaConfig::KAFKA;
const WITHOUT_ELR: ReplicaConfig = ReplicaConfig {
    elr: false,
    ..ReplicaConfig::KAFKA
};

/// KAFKA-7128: replica 0 leads with ISR {0, 1} and has committed more than replica 1 knows; 1 leads, with a high watermark that
/// lags, and 2 has all up to that.
#[test]
fn a_follower_enters_the_isr_when_it_has_what_was_there_before_the_epoch() {
    for (rules, holds) in without(Rule::ReachesEpochStart)
        .into_iter()
        .zip([true, false])
    {
        let mut trio = lagging(rules);
        let question = trio.said.remove(0);
        trio.deliver(question.0, question.1, &question.2);
        let proposed = trio
            .asked
            .iter()
            .any(|(_, _, asked)| asked.isr.iter().any(|member| member.broker == b(2)));
        assert_eq!(proposed, !holds);
        if proposed {
            // Granted; and 1 dies before 2 has read.
            trio.tell(2, &[0, 2], &[2]);
            // KP-CleanNoLoss.
            assert!(trio.end(2) < 5);
        } else {
            trio.talk(&[1, 2]);
            assert_eq!(trio.end(2), 5);
            let (_, _, asked) = trio.asked.last().expect("it proposes when 2 has all");
            assert!(asked.isr.iter().any(|member| member.broker == b(2)));
        }
    }
    assert_eq!(Rule::ReachesEpochStart.protects(), Invariant::CleanNoLoss);
}

/// 1 leads with five records that 0 had committed, and knows of none that is: what is acknowledged by a question is committed
/// with that, and its asker does not know yet. 0 is in sync, and gone; 2 asks, with none.
fn lagging(rules: Switched) -> Trio {
    let mut trio = Trio::new(WITHOUT_ELR, rules, 1);
    trio.tell(0, &[0, 1], &[0, 1]);
    trio.talk(&[0, 1]);
    trio.replicas[0].produce(millis(1), Acks::All, 5).unwrap();
    trio.collect();
    while trio.replicas[0].high_watermark() < 5 {
        let (from, to, message) = trio.said.remove(0);
        trio.deliver(from, to, &message);
    }
    trio.said.clear();
    trio.tell(1, &[0, 1], &[1, 2]);
    assert_eq!((trio.replicas[1].high_watermark(), trio.end(1)), (0, 5));
    trio
}

/// KAFKA-14704: a follower has a tail that its leader has not; the answer that says so names a high watermark.
#[test]
fn an_answer_that_diverges_moves_no_high_watermark() {
    for (rules, holds) in without(Rule::DivergenceMovesNothing)
        .into_iter()
        .zip([true, false])
    {
        let mut trio = Trio::new(WITHOUT_ELR, rules, 1);
        trio.tell(0, &[0, 1, 2], &[0, 1, 2]);
        trio.talk(&[0, 1, 2]);
        // 0 alone has three records of epoch 1.
        trio.replicas[0]
            .produce(millis(1), Acks::Leader, 3)
            .unwrap();
        trio.tell(1, &[1, 2], &[1, 2]);
        trio.said.clear();
        trio.pass(31_000, &[1, 2]);
        trio.replicas[1]
            .produce(millis(31_001), Acks::All, 5)
            .unwrap();
        trio.collect();
        trio.pass(62_000, &[1, 2]);
        assert_eq!(trio.replicas[1].high_watermark(), 5);
        trio.events.clear();
        trio.alter(&[1, 2], &[0]);
        trio.talk(&[0, 1]);
        let watermarks: Vec<u64> = trio
            .events
            .iter()
            .filter_map(|(id, event)| match event {
                ReplicaEvent::HighWatermark(at) if *id == 0 => Some(*at),
                ReplicaEvent::Truncated(last) if *id == 0 => Some(last.index),
                _ => None,
            })
            .collect();
        // KR-HWMonotone: what was shown as committed is cut off.
        assert_eq!(watermarks, if holds { vec![0, 5] } else { vec![3, 0, 5] });
        assert_eq!(trio.replicas[0].log(), trio.replicas[1].log());
    }
    assert_eq!(
        Rule::DivergenceMovesNothing.protects(),
        Invariant::HighWatermarkMonotone
    );
}

/// KIP-101: a follower restarts; its high watermark lags behind what it has, which is committed. Its leader dies before it has
/// asked.
#[test]
fn a_follower_cuts_off_what_the_epochs_say_and_not_what_its_high_watermark_says() {
    for (rules, holds) in without(Rule::TruncatesByEpoch)
        .into_iter()
        .zip([true, false])
    {
        let mut trio = Trio::new(WITHOUT_ELR, rules, 1);
        trio.tell(0, &[0, 1], &[0, 1]);
        trio.talk(&[0, 1]);
        trio.replicas[0].produce(millis(1), Acks::All, 5).unwrap();
        trio.collect();
        while trio.replicas[0].high_watermark() < 5 {
            let (from, to, message) = trio.said.remove(0);
            trio.deliver(from, to, &message);
        }
        // In good order: nothing is lost but what it knew of the high watermark.
        trio.restart(1, 2, 5, 0);
        trio.alter(&[0, 1], &[1]);
        trio.said.clear();
        trio.tell(1, &[1], &[1]);
        // KP-CleanNoLoss.
        assert_eq!(trio.end(1), if holds { 5 } else { 0 });
    }
    assert_eq!(Rule::TruncatesByEpoch.protects(), Invariant::CleanNoLoss);
}

/// A leader drops a follower that lags, and is not heard by the controller: the follower is still in sync for that.
#[test]
fn the_high_watermark_waits_for_who_may_be_in_sync() {
    for (rules, holds) in without(Rule::MaximalIsr).into_iter().zip([true, false]) {
        let mut trio = Trio::new(WITHOUT_ELR, rules, 1);
        trio.tell(0, &[0, 1], &[0, 1]);
        trio.talk(&[0, 1]);
        let at = trio.replicas[0].produce(millis(1), Acks::All, 5).unwrap();
        trio.collect();
        trio.said.clear();
        trio.pass(31_000, &[0]);
        assert_eq!(
            trio.asked.last().unwrap().2.isr.len(),
            1,
            "it wants to drop 1"
        );
        let acknowledged = trio.replicas[0].fate(at) == tenure::isr::Fate::Acknowledged;
        assert_eq!(acknowledged, !holds);
        // 0 dies; 1 is in sync, and is elected. KP-CleanNoLoss.
        trio.tell(1, &[1], &[1]);
        assert_eq!(trio.end(1), 0);
    }
    assert_eq!(Rule::MaximalIsr.protects(), Invariant::CleanNoLoss);
}

/// KIP-966: with two of three in sync at least, the high watermark stands still while the leader is alone, and so whoever is
/// eligible has all of it.
#[test]
fn nothing_is_committed_while_too_few_are_in_sync() {
    for (rules, holds) in without(Rule::MinIsrForHighWatermark)
        .into_iter()
        .zip([true, false])
    {
        let mut trio = Trio::new(WITH_ELR, rules, 2);
        trio.tell(0, &[0, 1, 2], &[0, 1, 2]);
        trio.talk(&[0, 1, 2]);
        trio.said.clear();
        // The others are dropped, with leave, and are eligible from then on.
        trio.alter(&[0], &[0]);
        trio.replicas[0]
            .produce(millis(1), Acks::Leader, 5)
            .unwrap();
        assert_eq!(trio.replicas[0].high_watermark(), if holds { 0 } else { 5 });
        let refused = trio.replicas[0].produce(millis(1), Acks::All, 1);
        assert_eq!(refused, Err(tenure::isr::ProduceFault::NotEnoughReplicas));
        // 0 dies, and one that is eligible is elected. KP-CleanNoLoss.
        trio.tell(1, &[1], &[1]);
        assert_eq!(trio.end(1), 0);
    }
    assert_eq!(
        Rule::MinIsrForHighWatermark.protects(),
        Invariant::CleanNoLoss
    );
}

/// KIP-101, KIP-320: a question of an earlier epoch, in which its asker had more, arrives in a later one of the same leader.
#[test]
fn what_was_said_in_another_epoch_does_not_count() {
    for (rules, holds) in without(Rule::LeaderEpochFences)
        .into_iter()
        .zip([true, false])
    {
        let mut trio = Trio::new(WITHOUT_ELR, rules, 1);
        trio.tell(0, &[0, 1, 2], &[0, 1, 2]);
        trio.talk(&[0, 1, 2]);
        trio.replicas[0]
            .produce(millis(1), Acks::Leader, 5)
            .unwrap();
        trio.collect();
        // 2 has it, and a question of its which says so is late.
        trio.talk(&[0, 2]);
        let late = Message::Fetch {
            ticket: tenure::Ticket {
                incarnation: 102,
                number: 9,
            },
            epoch: 1,
            after: Position::new(1, 5),
            broker_epoch: 102,
        };
        assert_eq!((trio.end(2), trio.replicas[0].high_watermark()), (5, 0));
        // 1 leads, which has none of it; 2 cuts it off. 0 does not hear of that.
        trio.said.clear();
        trio.tell(1, &[0, 1, 2], &[1, 2]);
        trio.talk(&[1, 2]);
        assert_eq!(trio.end(2), 0);
        // 1 dies before it wrote anything; 0 leads again, with 2.
        trio.said.clear();
        trio.tell(0, &[0, 2], &[0, 2]);
        trio.said.clear();
        trio.deliver(2, 0, &late);
        // KP-CleanNoLoss: committed with 0 alone; it dies, and 2 is in sync.
        assert_eq!(trio.replicas[0].high_watermark(), if holds { 0 } else { 5 });
        trio.tell(2, &[2], &[2]);
        assert_eq!(trio.end(2), 0);
    }
    assert_eq!(Rule::LeaderEpochFences.protects(), Invariant::CleanNoLoss);
}

/// KAFKA-15345, KAFKA-17333: a controller leads when it has applied all that comes before its epoch, and answers when what it
/// decided is committed. KAFKA-13104: when it gives up, it takes back what is not.
#[test]
fn a_controller_decides_on_what_is_committed_and_takes_back_what_is_not() {
    use tenure::isr::{ClaimError, Controller};
    let mut bench = Bench::kafka(Switched::default(), 3, 2);
    let mut other = Controller::new(ControllerConfig::KAFKA).unwrap();
    let end = bench.log.len() as u64;
    assert_eq!(
        other.claim(millis(0), 2, end),
        Err(ClaimError::NotCaughtUp(0))
    );
    for (offset, record) in (0..).zip(&bench.log) {
        other.committed(millis(0), 1, offset, record);
    }
    assert_eq!(other.image(), bench.image());
    assert_eq!(other.claim(millis(0), 2, end), Ok(()));
    assert_eq!(other.claim(millis(0), 2, end), Err(ClaimError::NotLater(2)));
    // The former one goes on, and nothing of it is committed.
    bench.commits = false;
    let before = bench.image().clone();
    bench.controller.request(
        millis(0),
        7,
        &tenure::isr::Request::DeleteTopic { topic: TOPIC },
    );
    bench.drain();
    assert!(
        bench.answers.is_empty() && bench.controller.expected().unwrap().topic(TOPIC).is_none()
    );
    // What it merely read then rests on that, too.
    let epoch = bench.epoch(1);
    let beat = tenure::isr::Request::Heartbeat {
        broker: b(1),
        epoch,
        offset: end,
        want_fence: false,
        want_shutdown: false,
    };
    bench.controller.request(millis(0), 8, &beat);
    bench.drain();
    assert!(bench.answers.is_empty());
    // Another's record at that place: it does not lead.
    let record = Record::ChangeBroker {
        broker: b(1),
        epoch,
        fenced: true,
        shutting_down: false,
    };
    bench.controller.committed(millis(0), 2, end, &record);
    bench.drain();
    assert_eq!(bench.answers, [Answer::Fault(Fault::Unknown); 2]);
    assert!(bench.controller.epoch().is_none() && before.topic(TOPIC).is_some());
    assert!(bench.controller.image().topic(TOPIC).is_some());
    assert_eq!(bench.ask(beat), Answer::Fault(Fault::NotController));
}
