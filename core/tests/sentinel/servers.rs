//! The data server: what it takes, what it passes on, and what it throws away.

use super::desk::Desk;
use super::plan::{MS, Plan, SEC, server};
use tenure::sentinel::data::{Config, ConfigError, Data, Input, Mark, Origin, Saved, WriteRefused};
use tenure::sentinel::{Invariant, Life, Message, Role};
use tenure::{Duration, Instant, NodeId, Ticket};

const M: NodeId = server(0, 0);
const R: NodeId = server(0, 1);

/// A master and its replicas, and nobody else.
fn servers(plan: Plan) -> Desk {
    let mut desk = Desk::new(Plan {
        sentinels: 0,
        ..plan
    });
    desk.run_for(3 * SEC);
    desk
}

fn write(desk: &mut Desk, id: NodeId, count: usize) {
    for _ in 0..count {
        assert!(desk.write(id).is_some());
        desk.run_for(10 * MS);
    }
}

#[test]
fn writes_come_to_all_replicas_in_order() {
    let mut desk = servers(Plan::default());
    write(&mut desk, M, 20);
    desk.run_for(100 * MS);
    for place in 1..=2 {
        assert_eq!(
            desk.data(server(0, place)).history(),
            desk.data(M).history()
        );
        assert!(
            desk.data(server(0, place))
                .is_linked(Instant::from_micros(desk.now))
        );
    }
    assert_eq!(desk.data(M).replicas(), [R, server(0, 2)]);
    let refused = desk.servers.get_mut(&R).unwrap().machine.as_mut().unwrap();
    let now = Instant::from_micros(desk.now);
    assert_eq!(refused.write(now), Err(WriteRefused::ReadOnly));
    // Over a network that loses and repeats, too: what it lacks a replica is sent when it next says what it has.
    desk.plan.loss = 300;
    desk.plan.repeated = 300;
    write(&mut desk, M, 200);
    desk.plan.loss = 0;
    desk.run_for(3 * SEC);
    for place in 1..=2 {
        assert_eq!(desk.data(server(0, place)).history().len(), 220);
        assert_eq!(desk.lost_at(server(0, place)), 0);
    }
}

#[test]
fn what_is_acknowledged_and_not_passed_on_is_lost_with_the_master() {
    // SEN-NoAckLoss, by design: nobody waits for a replica.
    let mut desk = Desk::new(Plan::default());
    desk.run_for(12 * SEC);
    desk.part(&[M], &[R, server(0, 2)]);
    write(&mut desk, M, 5);
    desk.crash(M);
    desk.heal();
    let replaced = |desk: &Desk| desk.told("+switch-master").len() == 3;
    assert!(desk.run_till(20 * SEC, replaced));
    desk.start(M);
    desk.run_for(40 * SEC);
    // The old master came back, follows, and has thrown its tail away.
    assert_eq!(desk.data(M).role(), Role::Replica);
    for place in 0..=2 {
        assert_eq!(desk.lost_at(server(0, place)), 5);
    }
    assert!(Invariant::NoAckLoss.broken_by_design().is_some());
    assert_eq!(desk.judge.broken(), []);
}

#[test]
fn two_take_writes_while_the_old_master_is_out_of_reach() {
    // SEN-SingleWritableMaster, by design; and how `min-replicas-to-write` bounds it.
    let schedule = |min_replicas| {
        let mut desk = Desk::new(Plan {
            min_replicas,
            ..Plan::default()
        });
        desk.run_for(12 * SEC);
        let others: Vec<_> = desk.all().into_iter().filter(|id| *id != M).collect();
        desk.part(&[M], &others);
        let cut = desk.now;
        let (mut both, mut acked) = (0, 0);
        while desk.now < cut + 40 * SEC {
            desk.run_for(100 * MS);
            both += usize::from(desk.writable(0).len() > 1);
            acked += usize::from(desk.write(M).is_some());
        }
        assert_eq!(desk.told("+switch-master").len(), 3);
        (both, acked)
    };
    let (both, acked) = schedule(0);
    assert!(both > 300 && acked == 400, "{both} {acked}");
    // The lag that is allowed is 10 s, of which up to one had passed.
    let (both, acked) = schedule(1);
    assert!((90..=101).contains(&acked) && both <= 101, "{both} {acked}");
}

#[test]
fn a_short_absence_is_made_good_in_part_and_a_long_one_in_full() {
    let mut desk = servers(Plan::default());
    desk.configure(M, |config| config.backlog = 10);
    desk.run_for(3 * SEC);
    let away = |desk: &mut Desk, count| {
        desk.part(&[M], &[R]);
        write(desk, M, count);
        desk.heal();
        let mut copied = false;
        for _ in 0..300 {
            desk.run_for(10 * MS);
            copied |= desk.data(R).is_copying();
        }
        assert_eq!(desk.data(R).history(), desk.data(M).history());
        copied
    };
    assert!(!away(&mut desk, 10));
    assert!(away(&mut desk, 11));
}

#[test]
fn a_tail_that_the_master_does_not_have_is_thrown_away() {
    let mut desk = servers(Plan::default());
    write(&mut desk, M, 10);
    desk.order(R, None);
    write(&mut desk, R, 3);
    write(&mut desk, M, 1);
    assert_eq!(desk.data(R).history().len(), 13);
    desk.order(R, Some(M));
    assert_eq!(desk.data(R).history().len(), 13);
    desk.run_for(4 * SEC);
    assert_eq!(desk.data(R).history(), desk.data(M).history());
    assert_eq!(desk.lost_at(R), 3);
    // A master that was made one twice does not name two writes alike.
    desk.order(R, None);
    write(&mut desk, R, 2);
    let names: std::collections::BTreeSet<_> = desk.acked.iter().collect();
    assert_eq!(names.len(), desk.acked.len());
}

#[test]
fn a_promoted_replica_goes_on_from_the_common_history() {
    let mut desk = servers(Plan::default());
    write(&mut desk, M, 10);
    desk.run_for(100 * MS);
    desk.order(R, None);
    desk.order(server(0, 2), Some(R));
    write(&mut desk, R, 5);
    desk.run_for(1_200 * MS);
    // No full copy was needed: what it had is a part of what the new one has.
    assert_eq!(desk.data(server(0, 2)).history(), desk.data(R).history());
    let runs: Vec<_> = desk.data(R).history().runs().collect();
    assert_eq!(
        runs.iter().map(|(_, count)| *count).collect::<Vec<_>>(),
        [10, 5]
    );
    assert_eq!((runs[0].0.node, runs[1].0.node), (M, R));
    // The old one follows, through a replica of it, too.
    desk.order(M, Some(server(0, 2)));
    desk.run_for(3 * SEC);
    assert_eq!(desk.data(M).history(), desk.data(R).history());
}

#[test]
fn a_restart_keeps_what_the_host_kept() {
    let mut desk = servers(Plan::default());
    write(&mut desk, M, 10);
    let before = desk.data(M).run();
    desk.restart(M);
    assert_ne!(desk.data(M).run(), before);
    assert_eq!(desk.data(M).history().len(), 10);
    write(&mut desk, M, 1);
    desk.run_for(3 * SEC);
    assert_eq!(desk.data(R).history().len(), 11);
    // A replica that comes back knows whom it follows.
    desk.crash(R);
    let saved = desk.servers[&R].saved.clone().without_data();
    assert_eq!(saved.replica_of, Some(M));
    desk.servers.get_mut(&R).unwrap().saved = saved;
    desk.start(R);
    desk.run_for(3 * SEC);
    assert_eq!(desk.data(R).history().len(), 11);
}

/// One server on its own.
fn alone(change: fn(&mut Config)) -> Data {
    let mut config = Config::new(M);
    change(&mut config);
    Data::new(config, Saved::default(), 1, Instant::ZERO).unwrap()
}

fn answers(data: &mut Data, at: u64, message: Message) -> Vec<Message> {
    data.handle(Instant::from_micros(at), Input::Peer(NodeId(1), message));
    std::iter::from_fn(|| data.poll())
        .map(|(_, message)| message)
        .collect()
}

#[test]
fn it_says_what_it_is() {
    let query = Ticket {
        incarnation: 1,
        number: 1,
    };
    let life = |data: &mut Data, at| {
        let told = answers(data, at, Message::Ping { query }).into_iter();
        let mut lives = told.filter_map(|message| match message {
            Message::Pong { life, .. } => Some(life),
            _ => None,
        });
        lives.next().unwrap()
    };
    let mut data = alone(|config| config.load = Duration::from_secs(2));
    assert_eq!(life(&mut data, 0), Life::Loading);
    assert_eq!(data.write(Instant::ZERO), Err(WriteRefused::Loading));
    assert_eq!(life(&mut data, 2 * SEC), Life::Pong);
    data.set_busy(true);
    assert_eq!(life(&mut data, 2 * SEC), Life::Other);
    assert_eq!(data.write(Instant::ZERO), Err(WriteRefused::Busy));
    data.set_busy(false);
    assert!(data.write(Instant::ZERO).is_ok());
    let mut data = alone(|config| {
        config.serves_stale = false;
        config.priority = 7;
    });
    data.replica_of(Instant::from_micros(SEC), Some(R));
    assert_eq!(life(&mut data, 2 * SEC), Life::MasterDown);
    let told = answers(&mut data, 3 * SEC, Message::Info { query });
    let mut reports = told.iter().filter_map(|message| match message {
        Message::Told { report, .. } => Some(report),
        _ => None,
    });
    let report = reports.next().unwrap();
    assert_eq!(
        (report.role, report.master, report.priority),
        (Role::Replica, Some(R), 7)
    );
    assert_eq!(report.link_down, Some(Duration::from_secs(2)));
    // Who is told to follow itself does, and learns nothing from it.
    data.replica_of(Instant::from_micros(4 * SEC), Some(M));
    assert!(std::iter::from_fn(|| data.poll()).all(|(to, _)| to != M));
    assert_eq!(data.role(), Role::Replica);
}

#[test]
fn too_few_replicas_and_it_takes_no_writes() {
    let mut data = alone(|config| config.min_replicas = 1);
    assert_eq!(
        data.write(Instant::ZERO),
        Err(WriteRefused::NotEnoughReplicas)
    );
    answers(&mut data, 0, Message::Psync { last: None });
    assert!(data.write(Instant::ZERO).is_ok());
    assert!(data.is_writable(Instant::from_micros(10 * SEC)));
    let late = Instant::from_micros(10 * SEC + 1);
    assert!(!data.is_writable(late));
    assert_eq!(data.write(late), Err(WriteRefused::NotEnoughReplicas));
}

/// A partial resync from an offset that both have, and a history that they have not.
#[test]
fn a_tail_of_another_history_is_no_part_of_it_at_whatever_offset() {
    let mut desk = servers(Plan::default());
    write(&mut desk, M, 10);
    desk.run_for(100 * MS);
    desk.order(R, None);
    write(&mut desk, R, 2);
    write(&mut desk, M, 5);
    desk.order(R, Some(M));
    desk.run_for(4 * SEC);
    assert_eq!(desk.data(R).history(), desk.data(M).history());
    assert_eq!(desk.lost_at(R), 2);
}

/// Who copies everything does not count for `min-replicas-to-write`; and who is not sure of its own data passes none on.
#[test]
fn who_does_not_agree_yet_does_not_count() {
    let mut data = alone(|config| config.min_replicas = 1);
    let origin = Origin {
        node: R,
        incarnation: 1,
        turn: 1,
    };
    let last = Some(Mark { origin, offset: 7 });
    let told = answers(&mut data, 0, Message::Psync { last });
    assert!(matches!(told[..], [Message::Full(_)]));
    assert_eq!(
        data.write(Instant::ZERO),
        Err(WriteRefused::NotEnoughReplicas)
    );
    answers(&mut data, 0, Message::Psync { last: None });
    assert!(data.write(Instant::ZERO).is_ok());
    while data.poll().is_some() {}
    data.replica_of(Instant::from_micros(SEC), Some(R));
    let told = answers(&mut data, 2 * SEC, Message::Psync { last: None });
    assert!(
        !told
            .iter()
            .any(|one| matches!(one, Message::Stream { .. } | Message::Full(_)))
    );
}

#[test]
fn what_cannot_be_configured_is_refused_with_the_remedy() {
    let refused = |change: fn(&mut Config), incarnation| {
        let mut config = Config::new(M);
        change(&mut config);
        let error = Data::new(config, Saved::default(), incarnation, Instant::ZERO).err()?;
        assert!(error.to_string().contains("; "), "{error}");
        Some(error)
    };
    let second = Duration::from_secs(1);
    assert_eq!(refused(|_| {}, 1), None);
    assert_eq!(refused(|_| {}, 0), Some(ConfigError::IncarnationZero));
    let link = refused(|config| config.link_timeout = Duration::from_secs(1), 1);
    assert_eq!(link, Some(ConfigError::LinkTimeout(second)));
    let lag = |config: &mut Config| {
        config.min_replicas = 1;
        config.max_lag = Duration::from_secs(1);
    };
    assert_eq!(refused(lag, 1), Some(ConfigError::MaxLag(second)));
    let many = refused(|config| config.min_replicas = 1_000, 1);
    assert_eq!(many, Some(ConfigError::MinReplicas(1_000)));
}

#[test]
fn wild_input_does_no_harm() {
    let mut data = alone(|_| {});
    let origin = Origin {
        node: R,
        incarnation: u64::MAX,
        turn: u32::MAX,
    };
    let mark = Mark {
        origin,
        offset: u64::MAX,
    };
    let full = Message::Full(std::sync::Arc::default());
    let stream = |after, count| Message::Stream {
        after,
        writes: Some((origin, count)),
    };
    // A master takes nothing from anybody.
    for message in [full.clone(), stream(None, u64::MAX), stream(Some(mark), 1)] {
        assert!(answers(&mut data, 0, message).is_empty());
    }
    assert!(data.history().is_empty());
    let told = answers(&mut data, 0, Message::Psync { last: Some(mark) });
    assert!(matches!(told[..], [Message::Full(_)]));
    // A replica cannot be made to count beyond the end.
    data.replica_of(Instant::ZERO, Some(NodeId(1)));
    answers(&mut data, 1, stream(None, u64::MAX));
    assert_eq!(data.history().len(), u64::MAX);
    let end = data.history().last();
    answers(&mut data, 2, stream(end, 5));
    assert_eq!(data.history().len(), u64::MAX);
    data.replica_of(Instant::from_micros(3), None);
    assert_eq!(data.write(Instant::from_micros(3)), Err(WriteRefused::Full));
    // Nobody can make it remember without end.
    let mut data = alone(|_| {});
    for node in 0..100_000 {
        let from = NodeId(1_000 + node);
        data.handle(
            Instant::ZERO,
            Input::Peer(from, Message::Psync { last: None }),
        );
        while data.poll().is_some() {}
    }
    assert!(data.replicas().len() <= tenure::sentinel::MAX_REPLICAS);
}
