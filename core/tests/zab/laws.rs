//! What every scheme keeps: the laws C1 to C10, here of zab.

use super::desk::{CALM, Desk, QUICK, Weather};
use allocation_counter::measure;
use std::collections::VecDeque;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use tenure::log::Position;
use tenure::random::Random;
use tenure::zab::{
    Boot, Config, ConfigError, Ensemble, Entries, Faithful, Link, MAX_EPOCH, MAX_INDEX, Message,
    Notification, Packet, Phase, Refusal, Request, Role, State, Stored, Vote, Zab,
};
use tenure::{
    Duration, Election, Event, Input, Instant, NodeId, Output, Standing, Ticket, Unknown, Why,
};

fn machine(id: u64, stored: Option<Stored>, now: Instant) -> Zab {
    let ensemble = Ensemble::majority((0..3).map(NodeId)).unwrap();
    let config = Config {
        timing: QUICK,
        ..Config::new(NodeId(id), ensemble)
    };
    let boot = Boot {
        stored,
        incarnation: 1,
        seed: 1,
    };
    Zab::new(config, boot, now).unwrap()
}

fn print(machine: &Zab, now: Instant) -> u64 {
    let mut hasher = DefaultHasher::new();
    machine.fingerprint(now, &mut hasher);
    hasher.finish()
}

/// Numbers as peers do not send them.
fn number(random: &mut Random) -> u64 {
    let bits = random.bits();
    match random.below(8) {
        0 => u64::MAX,
        1 => MAX_EPOCH,
        2 => MAX_INDEX,
        3 => bits,
        _ => bits % 12,
    }
}

fn position(random: &mut Random) -> Position {
    Position::new(number(random), number(random))
}

fn entries(random: &mut Random) -> Entries {
    Entries {
        after: position(random),
        epoch: number(random),
        count: number(random),
    }
}

fn wild_packet(random: &mut Random) -> Packet {
    match random.below(17) {
        0 => Packet::LearnerInfo {
            accepted: number(random),
        },
        1 => Packet::LeaderInfo {
            epoch: number(random),
        },
        2 => Packet::AckEpoch {
            current: (random.below(2) == 0).then(|| number(random)),
            last: position(random),
        },
        3 => Packet::Diff,
        4 => Packet::Trunc {
            to: position(random),
        },
        5 => Packet::Snap {
            last: position(random),
        },
        6 | 7 => Packet::Proposal(entries(random)),
        8 => Packet::Commit {
            upto: number(random),
        },
        9 => Packet::Inform(entries(random)),
        10 => Packet::NewLeader {
            epoch: number(random),
        },
        11 => Packet::AckNewLeader,
        12 => Packet::Ack {
            upto: number(random),
        },
        13 => Packet::UpToDate,
        14 => Packet::Ping {
            round: number(random),
        },
        15 => Packet::Sync {
            number: number(random),
        },
        _ => Packet::Closed,
    }
}

/// Something nobody honest says, or something that was said, changed. `real` is a message that was.
fn wild(random: &mut Random, real: Option<Message>) -> Message {
    match (random.below(4), real) {
        (0, _) => Message::Notification(Notification {
            state: [
                State::Looking,
                State::Following,
                State::Leading,
                State::Observing,
            ][random.below(4) as usize],
            vote: Vote {
                leader: NodeId(random.below(4)),
                zxid: (random.below(5) > 0).then(|| position(random)),
                epoch: number(random),
            },
            round: number(random),
        }),
        (1 | 2, Some(Message::Packet { link, number, .. })) => Message::Packet {
            link,
            number: number + random.below(2),
            packet: wild_packet(random),
        },
        (_, Some(real)) if random.below(2) == 0 => real,
        _ => Message::Packet {
            link: Link {
                learner: number(random),
                leader: number(random) % 2,
            },
            number: number(random) % 3,
            packet: wild_packet(random),
        },
    }
}

/// C8: whatever a peer says, in whatever state, nothing panics, and what cannot be true is refused by name.
#[test]
fn c8_wild_input_is_refused() {
    let mut refused = [0u64; Refusal::ALL.len()];
    for seed in 0..400 {
        let mut desk = Desk::voters(3, Faithful);
        // Liars may break what honest nodes keep: no invariant is looked at.
        desk.judge.only = vec!["nothing"];
        desk.weather = Weather { old: 1_000, ..CALM };
        desk.random = Random::from_seed(seed);
        desk.start_all();
        for _ in 0..200 {
            let step = desk.random.below(20_000);
            desk.run_until(desk.now + step);
            let (from, to) = (desk.random.below(4), desk.random.below(3) as usize);
            let real = desk.any_old();
            let message = wild(&mut desk.random, real);
            desk.input(to, Input::Peer(NodeId(from), message));
            if let Some(leader) = desk.leader() {
                desk.propose(leader, 1);
            }
        }
        for node in &desk.nodes {
            for (place, reason) in Refusal::ALL.into_iter().enumerate() {
                let machine = node.machine.as_ref();
                refused[place] +=
                    machine.map_or(0, |machine| u64::from(machine.refusals().count(reason)));
            }
        }
    }
    for (reason, count) in Refusal::ALL.into_iter().zip(refused) {
        // Replies, the end of all epochs and late leaders have tests of their own.
        let elsewhere = matches!(
            reason,
            Refusal::UnknownTicket | Refusal::EpochsExhausted | Refusal::OlderEpoch
        );
        assert!(count > 0 || elsewhere, "{reason:?} was never refused");
    }
}

/// C3: same seed, same run.
#[test]
fn c3_same_seed_same_outputs() {
    for seed in 0..20 {
        let run = || super::storms::schedule(seed, Faithful, true).trace;
        assert_eq!(run(), run(), "seed {seed}");
    }
    let other = |seed| super::storms::schedule(seed, Faithful, true).trace;
    assert_ne!(other(1), other(2));
}

/// C1: a failed step of the disk ends this life; replies to others are none.
#[test]
fn c1_an_unknown_write_halts() {
    let mut desk = Desk::voters(3, Faithful);
    desk.start(0);
    desk.start(2);
    assert!(desk.run_till(200, |desk| desk.machine(2).phase()
        == Some(Phase::Promising)));
    let mut machine = desk.machine(2).clone();
    let now = desk.clock();
    let reply = |incarnation, number, result| {
        Input::Reply(
            Ticket {
                incarnation,
                number,
            },
            result,
        )
    };
    let before = print(&machine, now);
    for (incarnation, number) in [(7, 1), (1, 0), (1, 9)] {
        machine.handle(now, reply(incarnation, number, Err(Unknown)));
    }
    assert_eq!(machine.refusals().count(Refusal::UnknownTicket), 3);
    assert_eq!(print(&machine, now), before);
    machine.handle(now, reply(1, 1, Err(Unknown)));
    assert!(machine.halted());
    assert_eq!(machine.poll(), Some(Output::Event(Event::Halted)));
    assert_eq!((machine.poll(), machine.deadline()), (None, None));
    assert_eq!(machine.standing(now), Standing::Unknown);
    machine.handle(now, Input::Timeout);
    assert_eq!(machine.poll(), None);
}

/// C1: nothing is promised, told or acknowledged before the disk answered.
#[test]
fn c1_what_rests_on_the_disk_waits_for_it() {
    let mut desk = Desk::voters(3, Faithful);
    desk.start(0);
    desk.start(2);
    for place in [0, 2] {
        desk.nodes[place].stop_before = Some(|_| true);
    }
    desk.run(300);
    assert_eq!(desk.machine(2).phase(), Some(Phase::Promising));
    assert_eq!(
        (desk.machine(2).grants(), desk.machine(0).pending()),
        (0, 0)
    );
    desk.nodes[2].stop_before = Some(|request| matches!(request, Request::Current(_)));
    desk.run(300);
    assert_eq!(
        (desk.machine(0).pending(), desk.machine(2).grants()),
        (1, 1)
    );
    desk.nodes[0].stop_before = None;
    desk.run(300);
    assert_eq!(desk.machine(2).phase(), Some(Phase::Recording));
    assert!(desk.nodes[2].events.is_empty());
    desk.nodes[2].stop_before = None;
    desk.run(50);
    assert!(matches!(
        desk.nodes[2].events[..],
        [Event::Elected(_), Event::Established(_)]
    ));
}

/// C2 and C10: a timeout that is early does nothing, a `now` that goes back is the latest one, and only what is relative counts.
#[test]
fn c2_c10_time_is_relative() {
    let mut prints = Vec::new();
    for origin in [0, 77_000_000] {
        let at = |millis| Instant::from_micros(origin) + Duration::from_millis(millis);
        let mut zab = machine(2, None, at(0));
        let mut seen = Vec::new();
        for millis in [1, 3, 12, 14, 40, 41, 90] {
            let now = at(millis);
            let before = print(&zab, now);
            let due = zab.deadline().is_some_and(|deadline| deadline <= now);
            zab.handle(now, Input::Timeout);
            while zab.poll().is_some() {}
            assert_eq!(before != print(&zab, now), due, "at {millis}");
            zab.handle(at(0), Input::Timeout);
            assert!(zab.deadline().is_some_and(|deadline| deadline > now));
            seen.push(print(&zab, now));
        }
        prints.push(seen);
    }
    assert_eq!(prints[0], prints[1]);
}

/// C4: belief expires by itself, within the limit, and is then over.
#[test]
fn c4_a_leader_that_hears_nothing_stops_to_believe() {
    let mut desk = Desk::voters(3, Faithful);
    desk.start_all();
    assert!(desk.run_whole(500).is_some());
    let Standing::Leading(tenure) = desk.machine(2).standing(desk.clock()) else {
        panic!("2 leads");
    };
    let sync = QUICK.sync() + QUICK.tick;
    assert!(tenure.until <= desk.clock() + sync, "it is bounded");
    let mut machine = desk.machine(2).clone();
    let before = Instant::from_micros(tenure.until.as_micros() - 1);
    assert!(matches!(machine.standing(before), Standing::Leading(_)));
    assert_eq!(machine.standing(tenure.until), Standing::Unknown);
    // Whatever comes first: it is deposed, once.
    machine.handle(tenure.until, Input::Campaign);
    let events = std::iter::from_fn(|| machine.poll()).filter(|output| {
        matches!(output, Output::Event(Event::Deposed(token, Why::Lapsed)) if *token == tenure.token)
    });
    assert_eq!(events.count(), 1);
    assert_eq!(machine.role(), Role::Looking);
}

/// C7: an orderly end is reported once, and the next epoch has a higher token.
#[test]
fn c7_who_resigns_is_followed_by_a_higher_token() {
    let mut desk = Desk::voters(3, Faithful);
    desk.start_all();
    assert!(desk.run_whole(500).is_some());
    desk.input(0, Input::Resign { to: None });
    assert!(desk.is_whole(), "only who leads resigns");
    desk.input(
        2,
        Input::Resign {
            to: Some(NodeId(0)),
        },
    );
    assert!(matches!(
        desk.nodes[2].events[..],
        [_, _, Event::Deposed(_, Why::Resigned)]
    ));
    assert!(desk.run_whole(500).is_some());
    let leader = desk.leader().unwrap();
    let Standing::Leading(tenure) = desk.machine(leader).standing(desk.clock()) else {
        panic!("{leader} leads");
    };
    assert_eq!(tenure.token.counter, 2);
    assert_eq!(desk.judge.broken, None);
}

#[test]
fn disks_that_cannot_be_this_nodes_are_refused() {
    let ensemble = Ensemble::majority((0..3).map(NodeId)).unwrap();
    let start = |accepted, current, runs: &[(u64, u64)], synced, incarnation| {
        let log = tenure::log::Shape::from_runs(runs.iter().copied()).unwrap();
        let stored = Stored {
            accepted,
            current,
            log,
            synced,
            beside: None,
            blank: false,
        };
        let boot = Boot {
            stored: Some(stored),
            incarnation,
            seed: 1,
        };
        let config = Config::new(NodeId(1), ensemble.clone());
        Zab::new(config, boot, Instant::ZERO).err()
    };
    assert_eq!(start(2, 2, &[(1, 3)], 3, 1), None);
    assert_eq!(start(2, 2, &[], 0, 0), Some(ConfigError::IncarnationZero));
    let fell = |accepted, below| Some(ConfigError::AcceptedFell { accepted, below });
    assert_eq!(start(1, 2, &[], 0, 1), fell(1, 2));
    assert_eq!(start(1, 1, &[(3, 1)], 1, 1), fell(1, 3));
    let high = MAX_EPOCH + 1;
    assert_eq!(
        start(high, 0, &[], 0, 1),
        Some(ConfigError::EpochTooHigh(high))
    );
    let long = Position::new(1, MAX_INDEX + 1);
    assert_eq!(
        start(1, 1, &[(1, MAX_INDEX + 1)], 1, 1),
        Some(ConfigError::LogTooLong(long))
    );
    for synced in [2, 4] {
        assert_eq!(
            start(1, 1, &[(1, 3)], synced, 1),
            Some(ConfigError::NotACrashedDisk)
        );
    }
}

/// The last epoch is not passed: nobody leads, and nothing breaks.
#[test]
fn the_end_of_all_epochs_is_refused() {
    let mut desk = Desk::voters(3, Faithful);
    for place in 0..3 {
        desk.give(place, MAX_EPOCH, MAX_EPOCH, &[]);
    }
    desk.start_all();
    desk.run(500);
    assert_eq!((desk.leader(), desk.judge.broken.clone()), (None, None));
    assert!(desk.machine(2).refusals().count(Refusal::EpochsExhausted) > 0);
}

/// Three machines, whose messages and writes are done at once.
struct Ring {
    machines: Vec<Zab>,
    inputs: VecDeque<(usize, Input<Message, ()>)>,
    now: Instant,
}

impl Ring {
    fn settle(&mut self) {
        loop {
            for place in 0..3 {
                while let Some(output) = self.machines[place].poll() {
                    match output {
                        Output::Request(ticket, _) => {
                            self.inputs.push_back((place, Input::Reply(ticket, Ok(()))));
                        }
                        Output::Send(to, message) => {
                            let from = NodeId(place as u64);
                            let to = to.0 as usize;
                            self.inputs.push_back((to, Input::Peer(from, message)));
                        }
                        Output::Event(_) => {}
                    }
                }
            }
            match self.inputs.pop_front() {
                Some((place, input)) => self.machines[place].handle(self.now, input),
                None => return,
            }
        }
    }

    fn rounds(&mut self, rounds: u64) {
        for _ in 0..rounds {
            self.now = self.now + Duration::from_millis(5);
            for place in 0..3 {
                self.machines[place].handle(self.now, Input::Timeout);
            }
            self.settle();
            if self.machines[2].propose(self.now, 3).is_ok() {
                let _ = self.machines[0].sync(self.now);
                let _ = self.machines[2].sync(self.now);
            }
            self.settle();
            for machine in &mut self.machines {
                while machine.poll_sync().is_some() {}
            }
        }
    }
}

/// C8: pings, proposals and syncs allocate nothing.
#[test]
fn c8_nothing_allocates_in_the_steady_state() {
    let now = Instant::from_millis(5);
    let mut ring = Ring {
        machines: (0..3).map(|id| machine(id, None, now)).collect(),
        inputs: VecDeque::with_capacity(64),
        now,
    };
    ring.rounds(100);
    assert_eq!(ring.machines[2].phase(), Some(Phase::Broadcasting));
    let before = ring.machines[0].committed();
    let counted = measure(|| ring.rounds(1_000));
    assert_eq!(ring.machines[0].committed(), before + 3_000);
    assert_eq!(counted.count_total, 0);
}
