//! The laws of the core, for sentinels: time, determinism, fingerprints, wild input, and what costs nothing.

use super::desk::Desk;
use super::plan::{MS, Plan, SEC, server};
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;
use tenure::random::Random;
use tenure::sentinel::data::{History, Mark, Origin};
use tenure::sentinel::{
    Boot, Config, Hello, Life, MAX_EPOCH, MAX_LEAP, MasterName, Message, Monitor, Refusal, Report,
    Role, RunId, Sentinel,
};
use tenure::{Duration, Election, Input, Instant, NodeId, Output, Ticket, Unknown};

const ME: NodeId = NodeId(1);

fn machine(at: u64) -> Sentinel {
    let plan = Plan::default();
    let boot = Boot {
        stored: Some(plan.file(ME)),
        incarnation: 5,
        seed: 1,
    };
    Sentinel::new(plan.config(ME), boot, Instant::from_micros(at)).unwrap()
}

fn drain(machine: &mut Sentinel) -> Vec<Output<Message, tenure::sentinel::File>> {
    std::iter::from_fn(|| machine.poll()).collect()
}

fn print(machine: &Sentinel, now: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    machine.fingerprint(Instant::from_micros(now), &mut hasher);
    hasher.finish()
}

#[test]
fn an_early_or_repeated_timeout_does_nothing() {
    // C2.
    let mut one = machine(SEC);
    for _ in 0..200 {
        let due = one.deadline().unwrap();
        let early = due - Duration::from_micros(1);
        let before = print(&one, early.as_micros());
        one.handle(early, Input::Timeout);
        assert_eq!((drain(&mut one), one.deadline()), (vec![], Some(due)));
        assert_eq!(print(&one, early.as_micros()), before);
        one.handle(due, Input::Timeout);
        drain(&mut one);
        assert!(one.deadline().unwrap() > due);
        one.handle(due, Input::Timeout);
        assert_eq!(drain(&mut one), []);
    }
    // A time that goes back is read as the latest.
    let due = one.deadline().unwrap();
    one.handle(Instant::ZERO, Input::Timeout);
    assert_eq!((drain(&mut one), one.deadline()), (vec![], Some(due)));
}

#[test]
fn a_fingerprint_is_free_of_absolute_time() {
    // C10: the same life, an hour later.
    let hour = 3_600 * SEC;
    let life = |from: u64| {
        let mut one = machine(from);
        let mut prints = Vec::new();
        for step in 1..600 {
            let now = from + step * 37 * MS;
            one.handle(Instant::from_micros(now), Input::Timeout);
            for output in drain(&mut one) {
                let Output::Send(to, Message::Ping { query }) = output else {
                    continue;
                };
                let life = Life::Pong;
                let pong = Message::Pong { query, life };
                one.handle(Instant::from_micros(now), Input::Peer(to, pong));
            }
            prints.push(print(&one, now));
        }
        prints
    };
    let (one, other) = (life(SEC), life(hour));
    assert_eq!(one, other);
    assert!(one.windows(2).any(|pair| pair[0] != pair[1]));
}

fn wild(random: &mut Random) -> Message {
    let node = |random: &mut Random| {
        let known = [server(0, 0), server(0, 1), NodeId(1), NodeId(2), NodeId(3)];
        match random.below(4) {
            0 => NodeId(random.bits()),
            _ => known[random.below(5) as usize],
        }
    };
    let number = |random: &mut Random| match random.below(5) {
        0 => random.bits(),
        1 => MAX_EPOCH + random.below(3) - 1,
        2 => MAX_LEAP + random.below(3) - 1,
        _ => random.below(200),
    };
    let query = Ticket {
        incarnation: [5, 5, 5, 4][random.below(4) as usize],
        number: number(random),
    };
    let id = |random: &mut Random| RunId(random.below(5));
    let origin = Origin {
        node: node(random),
        incarnation: number(random),
        turn: 1,
    };
    let mark = Mark {
        origin,
        offset: number(random),
    };
    match random.below(14) {
        0 => Message::Ping { query },
        1 | 2 => Message::Pong {
            query,
            life: [Life::Pong, Life::Loading, Life::MasterDown, Life::Other]
                [random.below(4) as usize],
        },
        3 => Message::Info { query },
        4 | 5 => Message::Told {
            query,
            report: Report {
                role: [Role::Master, Role::Replica][random.below(2) as usize],
                run: id(random),
                master: (random.below(2) == 0).then(|| node(random)),
                link_down: (random.below(2) == 0).then(|| Duration::from_micros(number(random))),
                priority: number(random) as u32,
                offset: number(random),
            },
            replicas: (0..random.below(600)).map(|_| node(random)).collect(),
        },
        6 | 7 => Message::Ask {
            query,
            master: node(random),
            epoch: number(random),
            candidate: (random.below(2) == 0).then(|| id(random)),
        },
        8 | 9 => Message::Answer {
            query,
            master: node(random),
            down: random.below(2) == 0,
            leader: (random.below(2) == 0).then(|| id(random)),
            epoch: number(random),
        },
        10 => Message::Hello(Hello {
            sentinel: node(random),
            id: RunId(random.below(700)),
            current_epoch: number(random),
            name: MasterName(random.below(3) as u16),
            master: node(random),
            config_epoch: number(random),
        }),
        11 => Message::ReplicaOf(Some(node(random))),
        12 => Message::Closed,
        _ => match random.below(3) {
            0 => Message::Psync { last: Some(mark) },
            1 => Message::Stream {
                after: Some(mark),
                writes: Some((origin, number(random))),
            },
            _ => Message::Full(Arc::new(History::new())),
        },
    }
}

#[test]
fn wild_input_panics_nowhere_and_is_counted() {
    // C8.
    let mut refused = 0;
    for seed in 0..60 {
        let mut random = Random::from_seed(seed);
        let mut one = machine(SEC);
        let mut now = SEC;
        let mut asked: Vec<Ticket> = Vec::new();
        for _ in 0..2_000 {
            now += match random.below(50) {
                0 => random.below(40 * SEC),
                _ => random.below(100 * MS),
            };
            let input = match random.below(12) {
                0..=3 => Input::Timeout,
                4 => Input::Campaign,
                5 if random.below(20) == 0 => Input::Resign { to: None },
                6 | 7 => {
                    let ticket = match asked.pop() {
                        Some(ticket) if random.below(10) > 0 => ticket,
                        _ => Ticket {
                            incarnation: 5,
                            number: random.bits(),
                        },
                    };
                    let fails = random.below(400) == 0;
                    Input::Reply(ticket, if fails { Err(Unknown) } else { Ok(()) })
                }
                _ => {
                    let from = match random.below(5) {
                        0 => NodeId(random.bits()),
                        1 | 2 => server(0, random.below(4)),
                        _ => NodeId(random.below(5)),
                    };
                    Input::Peer(from, wild(&mut random))
                }
            };
            one.handle(Instant::from_micros(now), input);
            if random.below(20) == 0 {
                let _ = one.failover(Instant::from_micros(now), MasterName(0));
            }
            if random.below(200) == 0 {
                one.reset(Instant::from_micros(now), MasterName(0));
            }
            let mut sent = 0;
            for output in drain(&mut one) {
                match output {
                    Output::Request(ticket, file) => {
                        asked.push(ticket);
                        let epochs = file.masters.iter();
                        assert!(
                            epochs
                                .clone()
                                .all(|kept| kept.config_epoch <= file.current_epoch
                                    && kept.leader_epoch <= file.current_epoch)
                        );
                        assert!(
                            epochs
                                .clone()
                                .all(|kept| kept.replicas.len() <= 256
                                    && kept.sentinels.len() <= 256)
                        );
                        assert!(file.current_epoch <= MAX_EPOCH);
                    }
                    Output::Send(..) => sent += 1,
                    Output::Event(_) => {}
                }
            }
            assert!(sent < 4_000);
            print(&one, now);
            if one.is_halted() {
                break;
            }
        }
        refused += one.refusals().total();
    }
    assert!(refused > 10_000, "{refused}");
}

#[test]
fn each_reason_to_refuse_is_counted_by_its_name() {
    let mut one = machine(SEC);
    let at = Instant::from_micros(SEC);
    let query = Ticket {
        incarnation: 5,
        number: 1,
    };
    let mut hear = |from: u64, message: Message, reason: Refusal| {
        let before = one.refusals().count(reason);
        one.handle(at, Input::Peer(NodeId(from), message));
        assert_eq!(one.refusals().count(reason), before + 1, "{reason:?}");
        drain(&mut one);
    };
    let life = Life::Pong;
    hear(100, Message::Pong { query, life }, Refusal::Unasked);
    hear(1, Message::Info { query }, Refusal::UnknownSender);
    hear(2, Message::Info { query }, Refusal::NotForSentinels);
    let ask = |epoch| Message::Ask {
        query,
        master: server(0, 0),
        epoch,
        candidate: Some(RunId(2)),
    };
    hear(2, ask(MAX_EPOCH + 1), Refusal::EpochTooHigh);
    hear(2, ask(MAX_LEAP + 1), Refusal::EpochLeap);
    hear(2, ask(0), Refusal::ImpossibleEpoch);
    let hello = |sentinel: u64, name: u16, master: NodeId, config_epoch| {
        Message::Hello(Hello {
            sentinel: NodeId(sentinel),
            id: RunId(sentinel),
            current_epoch: 3,
            name: MasterName(name),
            master,
            config_epoch,
        })
    };
    hear(2, hello(2, 0, server(0, 0), 4), Refusal::ImpossibleEpoch);
    hear(2, hello(2, 7, server(0, 0), 0), Refusal::UnknownMaster);
    hear(2, hello(2, 0, NodeId(1), 0), Refusal::ImpossibleAddress);
    hear(
        2,
        hello(100, 0, server(0, 1), 0),
        Refusal::ImpossibleAddress,
    );
    // The disk of a former life.
    let ticket = Ticket {
        incarnation: 4,
        number: 1,
    };
    one.handle(at, Input::Reply(ticket, Ok(())));
    assert_eq!(one.refusals().count(Refusal::UnknownTicket), 1);
    // A file that fills up.
    for node in 0..300 {
        let input = Input::Peer(NodeId(2), hello(5_000 + node, 0, server(0, 0), 0));
        one.handle(at, input);
    }
    assert!(one.refusals().count(Refusal::TooMany) > 40);
    drain(&mut one);
    // A disk that answers nothing, and strangers that all want a vote.
    let mut one = machine(SEC);
    for node in 0..20 {
        one.handle(at, Input::Peer(NodeId(9_000 + node), ask(7)));
    }
    assert_eq!(one.refusals().count(Refusal::NoRoom), 12);
}

#[test]
fn a_disk_that_never_answers_makes_nothing_grow() {
    let mut one = machine(SEC);
    let mut now = SEC;
    let mut said = 0;
    let mut size = None;
    for round in 0..5_000_u64 {
        now += 50 * MS;
        let ask = Message::Ask {
            query: Ticket {
                incarnation: 9,
                number: round,
            },
            master: server(0, 0),
            epoch: 2 + round,
            candidate: Some(RunId(2)),
        };
        let from = NodeId(2 + round % 2);
        let counted = allocation_counter::measure(|| {
            one.handle(Instant::from_micros(now), Input::Peer(from, ask));
            one.handle(Instant::from_micros(now), Input::Timeout);
            while let Some(output) = one.poll() {
                said += usize::from(matches!(output, Output::Send(_, Message::Answer { .. })));
            }
        });
        if round == 1_000 {
            size = Some(counted.bytes_current);
        }
        if round > 1_000 {
            assert!(counted.bytes_current <= size.unwrap().max(0));
        }
    }
    assert_eq!(said, 0);
}

#[test]
fn nothing_is_allocated_in_the_steady_state() {
    // C8: a sentinel whose master is well, with all its questions answered.
    let mut one = machine(SEC);
    let report = |node: NodeId| Report {
        role: if node == server(0, 0) {
            Role::Master
        } else {
            Role::Replica
        },
        run: RunId(node.0),
        master: (node != server(0, 0)).then_some(server(0, 0)),
        link_down: None,
        priority: 100,
        offset: 9,
    };
    let replicas: Arc<[NodeId]> = Arc::from([server(0, 1), server(0, 2)]);
    let mut now = SEC;
    let mut answers = Vec::with_capacity(64);
    let mut live = |one: &mut Sentinel, rounds: u64| {
        for _ in 0..rounds {
            now += 25 * MS;
            let at = Instant::from_micros(now);
            one.handle(at, Input::Timeout);
            while let Some(output) = one.poll() {
                let Output::Send(to, message) = output else {
                    continue;
                };
                let answer = match message {
                    Message::Ping { query } => Message::Pong {
                        query,
                        life: Life::Pong,
                    },
                    Message::Info { query } => Message::Told {
                        query,
                        report: report(to),
                        replicas: replicas.clone(),
                    },
                    Message::Hello(hello) if to.0 < 100 => Message::Hello(Hello {
                        sentinel: to,
                        id: RunId(to.0),
                        ..hello
                    }),
                    _ => continue,
                };
                answers.push((to, answer));
            }
            for (from, answer) in answers.drain(..) {
                one.handle(at, Input::Peer(from, answer));
            }
            while one.poll_news().is_some() {}
        }
    };
    live(&mut one, 4_000);
    let counted = allocation_counter::measure(|| live(&mut one, 40_000));
    assert_eq!(counted.count_total, 0);
    assert!(!one.master(MasterName(0)).unwrap().is_down());
}

#[test]
fn news_that_nobody_takes_are_forgotten() {
    let mut one = machine(SEC);
    for epoch in 1..2_000 {
        let ask = Message::Ask {
            query: Ticket {
                incarnation: 9,
                number: epoch,
            },
            master: server(0, 0),
            epoch,
            candidate: Some(RunId(2)),
        };
        one.handle(Instant::from_micros(SEC), Input::Peer(NodeId(2), ask));
    }
    let count = std::iter::from_fn(|| one.poll_news()).count();
    assert_eq!(count, 256);
}

#[test]
fn a_default_is_that_of_the_real_one() {
    let monitor = Monitor::new(MasterName(0), server(0, 0), 2);
    let config = Config::new(ME, monitor.clone());
    assert_eq!(monitor.down_after, Duration::from_secs(30));
    assert_eq!(monitor.failover_timeout, Duration::from_secs(180));
    assert_eq!(
        (monitor.parallel_syncs, monitor.reboot_down_after),
        (1, None)
    );
    // With them, a crash is made good in a little more than `down_after`.
    let mut desk = Desk::new(Plan {
        down_after: 30 * SEC,
        failover_timeout: 180 * SEC,
        ..Plan::default()
    });
    assert_eq!(desk.seats[&ME].config, config);
    desk.run_for(30 * SEC);
    desk.crash(server(0, 0));
    let died = desk.now;
    let replaced = |desk: &Desk| desk.told("+promoted-slave").len() == 1;
    assert!(desk.run_till(60 * SEC, replaced));
    let took = desk.told("+promoted-slave")[0].0 - died;
    assert!((29 * SEC..36 * SEC).contains(&took), "{took}");
}
