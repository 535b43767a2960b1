//! Servers of a store of both kinds, by clients that do not know which: what one server answers, a group of replicas without
//! faults answers too, and a watch goes on at another replica where it was left.

use super::{Actor, World};
use crate::fault::{Action, Who};
use crate::packet::Packet;
use crate::physics::trace::{Event, Kind};
use crate::scenario::Scenario;
use crate::store::{
    Call, Change, Compare, Operation, Range, Reading, Refused, Request, Said, Server, Single, Told,
    Want, Watch,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use tenure::NodeId;
use tenure::random::Random;

/// A client of its own, which nobody else in the world is.
const CLIENT: u16 = 7;
/// Longer than anything takes that goes well, in microseconds.
const WHILE: u64 = 200_000;

/// A group of replicas in a world, spoken to through its network.
struct Group {
    world: World,
    /// To whom the next thing is said.
    target: usize,
    said: VecDeque<Told>,
    /// What has come already.
    seen: BTreeSet<u64>,
}

impl Group {
    fn new(seed: u64) -> Self {
        // Nobody else asks for anything.
        let json = format!(
            r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "raft": {{"log": true}}, "client": {{"every": "60min"}},
                "duration": "60min", "seed": "{seed}"}}"#
        );
        let mut world = World::new(&Scenario::parse(&json).unwrap());
        world.run_until(2_000_000);
        assert!(matches!(world.actors[usize::from(CLIENT)], Actor::Store(_)));
        Self {
            world,
            target: 0,
            said: VecDeque::new(),
            seen: BTreeSet::new(),
        }
    }

    fn leader(&self) -> usize {
        self.world.leader().unwrap().0
    }

    /// Another than these.
    fn other(&self, than: &[usize]) -> usize {
        (0..3).find(|node| !than.contains(node)).unwrap()
    }

    fn act(&mut self, action: fn(Who) -> Action, node: usize) {
        self.world.act(action(Who::Node(node as u16))).unwrap();
        self.wait(10 * WHILE);
    }

    /// Lets time pass, and hears what comes.
    fn wait(&mut self, span: u64) {
        let until = self.world.now() + span;
        while self.world.now() < until {
            // Shorter than any message is under way.
            self.world.run_until(self.world.now() + 1_000);
            let mut arriving: Vec<_> = (self.world.env.net.flights())
                .filter(|flight| flight.to == CLIENT && self.seen.insert(flight.id))
                .collect();
            arriving.sort_by_key(|flight| flight.id);
            for flight in arriving {
                if let Packet::Said { number, said } = &flight.payload {
                    self.said.push_back((CLIENT, *number, Said::clone(said)));
                }
            }
        }
    }

    fn call(&mut self, target: usize, number: u64, want: Want) -> Vec<Told> {
        self.target = target;
        talk(self, number, want)
    }

    fn put(&mut self, number: u64, key: &str) {
        let target = self.leader();
        let want = Want::Do(put(key, number, 0).into(), Reading::Log);
        self.call(target, number, want);
    }
}

impl Server for Group {
    fn hear(&mut self, _: u64, client: u16, call: &Call) {
        let packet = Packet::Call(call.clone());
        let env = &mut self.world.env;
        env.send_outside(usize::from(client), self.target, 0, packet);
        self.wait(WHILE);
    }

    fn poll(&mut self) -> Option<Told> {
        self.said.pop_front()
    }
}

/// Says something and hears everything that is said then.
fn talk(server: &mut impl Server, number: u64, want: Want) -> Vec<Told> {
    server.hear(0, CLIENT, &Call { number, want });
    std::iter::from_fn(|| server.poll()).collect()
}

fn put(key: &str, value: u64, lease: u64) -> Request {
    Request::Do(operation(key, value, lease))
}

fn operation(key: &str, value: u64, lease: u64) -> Operation {
    Operation::Put {
        key: key.into(),
        value: value.to_string().into(),
        lease,
    }
}

fn all() -> Range {
    Range::Prefix("".into())
}

/// What may be wanted. Leases last longer than any run: who keeps their time is another matter.
fn drawn(draw: &mut Random, number: u64) -> Want {
    let key = |draw: &mut Random| ["a", "b", "w/1", "w/2"][draw.below(4) as usize];
    let range = |draw: &mut Random| match draw.below(3) {
        0 => Range::Prefix("w/".into()),
        1 => all(),
        _ => Range::Key(key(draw).into()),
    };
    let lease = draw.below(4);
    let request = match draw.below(16) {
        0..4 => put(key(draw), number, 0),
        4 => put(key(draw), number, lease),
        5 | 6 => Request::Do(Operation::Delete(range(draw))),
        7..9 => Request::Txn {
            when: vec![Compare::Version(key(draw).into(), draw.below(3))],
            then: vec![
                operation(key(draw), number, lease),
                operation(key(draw), number, 0),
            ],
            otherwise: vec![Operation::Get(range(draw))],
        },
        9 => Request::Grant {
            lease,
            ttl: u64::MAX >> 2,
        },
        10 => Request::Revoke { lease },
        11 => Request::KeepAlive { lease },
        12 => return Want::Watch(Watch::From(range(draw), draw.below(12))),
        13 => return Want::Watch(Watch::Progress),
        14 => return Want::Watch(Watch::Cancel),
        _ => {
            let reading = [
                Reading::Log,
                Reading::Confirmed,
                Reading::Leased,
                Reading::Local,
            ];
            let get = Request::Do(Operation::Get(range(draw)));
            return Want::Do(get.into(), reading[draw.below(4) as usize]);
        }
    };
    Want::Do(request.into(), Reading::Log)
}

#[test]
fn a_group_without_faults_answers_as_one_server_does() {
    let (mut told, mut changes) = (0, 0);
    for seed in 0..24 {
        let mut draw = Random::new(seed, NodeId(9), 0);
        let (mut one, mut group) = (Single::default(), Group::new(seed));
        let mut watches = vec![(0, 0)];
        for number in 1..80 {
            let want = drawn(&mut draw, number);
            let anyone = draw.below(3) as usize;
            let (number, target) = match &want {
                Want::Do(_, Reading::Confirmed | Reading::Local) => (number, anyone),
                Want::Do(..) => (number, group.leader()),
                Want::Watch(Watch::From(..)) => {
                    watches.push((number, anyone));
                    (number, anyone)
                }
                // Of a watch there may be, at the server that serves it.
                Want::Watch(_) => watches[draw.below(watches.len() as u64) as usize],
            };
            let sorted = |said: Vec<Told>| {
                let mut by: BTreeMap<u64, Vec<Said>> = BTreeMap::new();
                for (client, number, said) in said {
                    assert_eq!(client, CLIENT);
                    by.entry(number).or_default().push(said);
                }
                by
            };
            let here = sorted(talk(&mut one, number, want.clone()));
            let there = sorted(group.call(target, number, want.clone()));
            assert_eq!(here, there, "seed {seed}, {number}: {want:?}");
            told += here.len();
            let watched = |said: &&Said| matches!(said, Said::Changed(..));
            changes += here.values().flatten().filter(watched).count();
        }
    }
    assert!(told > 1_500 && changes > 500, "{told} {changes}");
}

/// The revisions that a watch is told, and up to where.
fn revisions(told: &[Told], of: u64) -> Vec<(Vec<u64>, u64)> {
    let changed = |(_, number, said): &Told| match said {
        Said::Changed(changes, upto) if *number == of => {
            Some((changes.iter().map(Change::revision).collect(), *upto))
        }
        _ => None,
    };
    told.iter().filter_map(changed).collect()
}

#[test]
fn a_watch_goes_on_at_another_server_where_it_was_left_and_is_forgotten_by_one_that_died() {
    let mut group = Group::new(3);
    let first = group.other(&[group.leader()]);
    let second = group.other(&[group.leader(), first]);
    group.put(1, "a");
    let told = group.call(first, 2, Want::Watch(Watch::From(all(), 1)));
    assert_eq!(revisions(&told, 2), [(vec![1], 1)]);
    group.act(Action::Crash, first);
    group.put(3, "b");
    group.put(4, "a");
    // Silence: it is the client's to notice.
    assert_eq!(group.call(first, 2, Want::Watch(Watch::Progress)), []);
    let told = group.call(second, 5, Want::Watch(Watch::From(all(), 2)));
    assert_eq!(revisions(&told, 5), [(vec![2, 3], 3)]);
    group.act(Action::Restart, first);
    assert_eq!(group.call(first, 2, Want::Watch(Watch::Progress)), []);
    let told = group.call(second, 5, Want::Watch(Watch::Progress));
    assert_eq!(revisions(&told, 5), [(vec![], 3)]);
    // Ahead of what a server has, it is told nothing twice.
    let told = group.call(first, 6, Want::Watch(Watch::From(all(), 4)));
    assert_eq!(revisions(&told, 6), []);
    let target = group.leader();
    let told = group.call(target, 7, Want::Do(put("a", 7, 0).into(), Reading::Log));
    assert_eq!(revisions(&told, 5), [(vec![4], 4)]);
    assert_eq!(revisions(&told, 6), [(vec![4], 4)]);
}

#[test]
fn a_server_that_hears_of_no_leader_tells_no_progress() {
    let mut group = Group::new(4);
    let alone = group.other(&[group.leader()]);
    group.call(alone, 1, Want::Watch(Watch::From(all(), 1)));
    assert_eq!(group.call(alone, 1, Want::Watch(Watch::Progress)).len(), 1);
    for node in (0..3).filter(|node| *node != alone) {
        group.act(Action::Crash, node);
    }
    assert_eq!(group.call(alone, 1, Want::Watch(Watch::Progress)), []);
}

/// What watchers of everything and of what does not change are told at a replica that was cut off while so much changed, and
/// then took over a snapshot; and the newest revision.
fn cut_off_for(puts: u64) -> (Vec<Told>, u64) {
    let mut group = Group::new(5);
    group.world.trace_mut().recording = true;
    let away = group.other(&[group.leader()]);
    group.put(1, "a");
    group.call(away, 2, Want::Watch(Watch::From(all(), 2)));
    let none = Range::Key("none".into());
    group.call(away, 3, Want::Watch(Watch::From(none, 2)));
    let rest = (0..3).filter(|node| *node != away);
    for node in rest {
        let (away, node) = (Who::Node(away as u16), Who::Node(node as u16));
        group.world.act(Action::Cut(away, node)).unwrap();
        group.world.act(Action::Cut(node, away)).unwrap();
    }
    for number in 4..4 + puts {
        group.put(number, "a");
    }
    assert_eq!(group.call(away, 2, Want::Watch(Watch::Progress)), []);
    group.world.act(Action::HealAll).unwrap();
    group.wait(10 * WHILE);
    let installed = |event: &Event| event.kind == Kind::Installed;
    assert!(group.world.trace().fresh.iter().any(installed));
    let told = std::iter::from_fn(|| group.poll()).collect();
    (told, puts + 1)
}

#[test]
fn a_replica_that_takes_over_a_snapshot_tells_its_watchers_what_that_remembers() {
    let (told, newest) = cut_off_for(60);
    let first = &revisions(&told, 2)[0];
    assert!(first.0.len() > 40 && first.0.last() == Some(&first.1));
    let seen: Vec<u64> = (revisions(&told, 2).into_iter())
        .flat_map(|(revisions, _)| revisions)
        .collect();
    assert!(seen.iter().copied().eq(2..=newest), "{seen:?}");
    assert_eq!(revisions(&told, 3), []);
}

#[test]
fn a_replica_that_takes_over_a_snapshot_that_has_forgotten_tells_its_watchers_so() {
    let (told, newest) = cut_off_for(200);
    let ended = told.into_iter().map(|(_, number, said)| match said {
        Said::Answered(Err(Refused::Compacted(oldest))) => (number, oldest),
        other => panic!("{other:?}"),
    });
    let ended: Vec<(u64, u64)> = ended.collect();
    let oldest = ended[0].1;
    assert!(oldest > 100 && oldest <= newest);
    assert_eq!(ended, [(2, oldest), (3, oldest)]);
}
