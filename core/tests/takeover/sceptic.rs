//! A host that does everything a host may do at its worst: answers that are lost, late, doubtful and in any order; a watch of
//! which only one registration is told, and which breaks; work that a former leader begins while the list is read, and after.

use crate::host::{Host, config, item, token};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use tenure::random::Random;
use tenure::takeover::{Event, Input, Output, Reply, Request};
use tenure::{Duration, Ticket, Token, Unknown};

/// Of several registrations of one watch, which is told of changes.
#[derive(Clone, Copy, Debug)]
enum Told {
    Every,
    Last,
}

/// The table of the work, and what is on its way to and from it.
struct World {
    host: Host,
    random: Random,
    told: Told,
    /// Who owns what is begun and not finished.
    work: BTreeMap<u64, Token>,
    watches: Vec<Ticket>,
    asked: VecDeque<(Ticket, Request<u64>)>,
    answers: VecDeque<(Ticket, Result<Reply<u64>, Unknown>)>,
    resumed: BTreeSet<u64>,
    ready: u32,
}

impl World {
    fn new(seed: u64, told: Told) -> Self {
        let mut config = config();
        config.timing.limit = Duration::from_secs(36_000);
        let mut host = Host::with(config);
        host.lead(34, 360_000_000);
        let mut random = Random::from_seed(seed);
        let work = (0..random.below(6)).map(|key| (2 * key, token(33)));
        Self {
            host,
            told,
            work: work.collect(),
            random,
            watches: Vec::new(),
            asked: VecDeque::new(),
            answers: VecDeque::new(),
            resumed: BTreeSet::new(),
            ready: 0,
        }
    }

    fn collect(&mut self) {
        for said in self.host.says() {
            match said {
                Output::Request(ticket, _, request) => self.asked.push_back((ticket, request)),
                Output::Event(Event::Ready(_)) => self.ready += 1,
                other => panic!("{other:?}"),
            }
        }
    }

    fn carry_out(&mut self, ticket: Ticket, request: Request<u64>) {
        let reply = match request {
            Request::Fence(_) => Reply::Fenced,
            Request::Watch => {
                self.watches.push(ticket);
                let last = self.watches.iter().map(|ticket| ticket.number).max();
                if matches!(self.told, Told::Last) {
                    self.watches.retain(|ticket| Some(ticket.number) == last);
                }
                Reply::Watching
            }
            Request::Read(_) => Reply::Read,
            Request::List { after, limit } => {
                let rest = self.work.iter();
                let rest = rest.filter(|(key, _)| after.is_none_or(|after| **key > after));
                let items: Vec<_> = rest.map(|(key, owner)| item(*key, owner.counter)).collect();
                let more = items.len() > limit as usize;
                let items = items.into_iter().take(limit as usize).collect();
                Reply::Page { items, more }
            }
            Request::Claim { key, from } => match self.work.get_mut(&key) {
                None => Reply::Gone,
                Some(owner) if *owner == from => {
                    *owner = token(34);
                    Reply::Claimed
                }
                Some(owner) => Reply::Owned(*owner),
            },
            Request::Resume { key, .. } => {
                assert_eq!(
                    self.work.get(&key),
                    Some(&token(34)),
                    "only what is its own"
                );
                self.resumed.insert(key);
                Reply::Resumed
            }
            Request::Announce => Reply::Announced,
            Request::Drain(_) | Request::Stop => panic!("nothing has to stop"),
        };
        self.answers.push_back((ticket, Ok(reply)));
    }

    /// A former leader begins work, or goes on with it from another's hands: who watches is told.
    fn begun_by_others(&mut self) {
        let (key, owner) = (self.random.below(40), token(30 + self.random.below(4)));
        if let std::collections::btree_map::Entry::Vacant(place) = self.work.entry(key) {
            place.insert(owner);
            for watch in &self.watches {
                self.answers.push_back((*watch, Ok(Reply::Changed)));
            }
        }
    }

    fn storm(&mut self) {
        self.collect();
        let pick = |random: &mut Random, of: usize| random.below(of.max(1) as u64) as usize;
        match self.random.below(16) {
            0..5 => {
                let place = pick(&mut self.random, self.asked.len());
                if let Some((ticket, request)) = self.asked.remove(place) {
                    self.carry_out(ticket, request);
                }
            }
            5..10 => {
                let place = pick(&mut self.random, self.answers.len());
                // News of a watch is not lost: the watch itself may be.
                if let Some((ticket, result)) = self.answers.remove(place) {
                    let doubtful = self.random.below(8) == 0 && result != Ok(Reply::Changed);
                    let result = if doubtful { Err(Unknown) } else { result };
                    self.host.hand(Input::Reply(ticket, result));
                }
            }
            10 => {
                let place = pick(&mut self.random, self.asked.len());
                self.asked.remove(place);
            }
            11 => self.begun_by_others(),
            12 => {
                for watch in self.watches.drain(..) {
                    self.answers.push_back((watch, Err(Unknown)));
                }
            }
            _ => {
                let millis = 1 + self.random.below(120);
                self.pass(millis);
            }
        }
    }

    fn pass(&mut self, millis: u64) {
        self.host.now = self.host.now + Duration::from_millis(millis);
        self.host.look();
    }

    /// Everything is carried out and answered, in order, until nothing more is asked.
    fn calm(&mut self) {
        let mut quiet = 0;
        while quiet < 20 {
            self.collect();
            quiet += 1;
            while let Some((ticket, request)) = self.asked.pop_front() {
                self.carry_out(ticket, request);
                quiet = 0;
            }
            while let Some((ticket, result)) = self.answers.pop_front() {
                self.host.hand(Input::Reply(ticket, result));
                quiet = 0;
            }
            self.pass(60);
        }
    }
}

#[test]
fn nothing_that_others_began_is_left_behind_whatever_becomes_of_answers_and_watches() {
    let (mut late, mut taken) = (0, 0);
    for seed in 0..3_000 {
        for told in [Told::Every, Told::Last] {
            let mut world = World::new(seed, told);
            let steps = world.random.below(300);
            for _ in 0..steps {
                world.storm();
            }
            world.calm();
            late += u32::from(world.ready > 0 && !world.watches.is_empty());
            assert_eq!(world.ready, 1, "seed {seed}, {told:?}");
            // What is begun now is told of, or nobody ever would be.
            world.begun_by_others();
            world.calm();
            let left = world.work.iter().find(|(_, owner)| **owner != token(34));
            assert_eq!(left, None, "seed {seed}, {told:?}: left behind");
            assert!(world.work.keys().all(|key| world.resumed.contains(key)));
            taken += world.work.len();
        }
    }
    assert!(late > 1_000 && taken > 10_000, "{late} {taken}");
}
