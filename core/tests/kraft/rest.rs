//! Machines at rest and the laws of all schemes: the same outputs for the same inputs, no allocations, a fingerprint that
//! knows no clock.

use crate::desk::{Desk, MS};
use allocation_counter::measure;
use std::collections::VecDeque;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use tenure::kraft::{Boot, Config, DirectoryId, Kraft, Message, ReplicaKey, VoterSet};
use tenure::{Election, Input, Instant, NodeId, Output, Standing};

/// C3.
#[test]
fn the_same_seed_says_the_same() {
    let trace = |seed| {
        let mut desk = Desk::storm(seed, &[]);
        desk.run(15_000 * MS);
        desk.trace()
    };
    for seed in 0..6 {
        assert_eq!(trace(seed), trace(seed));
        assert_ne!(trace(seed), trace(seed + 6));
    }
}

/// Three machines, whose messages and writes take no time.
struct Ring {
    machines: Vec<Kraft>,
    queue: VecDeque<(usize, usize, Message)>,
    now: Instant,
}

impl Ring {
    fn new(origin: Instant) -> Self {
        let key = |id| ReplicaKey::new(NodeId(id), DirectoryId(id));
        let voters = VoterSet::new((0..3).map(key)).unwrap();
        let machine = |id| {
            let boot = Boot {
                stored: None,
                directory: DirectoryId(id),
                incarnation: 1,
                seed: 3,
            };
            Kraft::new(Config::new(NodeId(id), voters.clone()), boot, origin).unwrap()
        };
        Self {
            machines: (0..3).map(machine).collect(),
            queue: VecDeque::new(),
            now: origin,
        }
    }

    fn drain(&mut self, id: usize) {
        while let Some(output) = self.machines[id].poll() {
            match output {
                Output::Send(to, message) => self.queue.push_back((id, to.0 as usize, message)),
                Output::Request(ticket, _) => {
                    self.machines[id].handle(self.now, Input::Reply(ticket, Ok(())));
                }
                Output::Event(_) => {}
            }
        }
    }

    /// Handles what is due next, and what comes of it.
    fn step(&mut self) {
        let due = |machine: &Kraft| machine.deadline();
        let next = self.machines.iter().filter_map(due).min().unwrap();
        self.now = self.now.max(next);
        for id in 0..3 {
            if due(&self.machines[id]).is_some_and(|due| due <= self.now) {
                self.machines[id].handle(self.now, Input::Timeout);
            }
            self.drain(id);
        }
        while let Some((from, to, message)) = self.queue.pop_front() {
            let from = NodeId(from as u64);
            self.machines[to].handle(self.now, Input::Peer(from, message));
            self.drain(to);
        }
    }

    fn leader(&self) -> Option<usize> {
        let leads = |machine: &Kraft| matches!(machine.standing(self.now), Standing::Leading(_));
        self.machines.iter().position(leads)
    }

    fn fingerprints(&self) -> Vec<u64> {
        let print = |machine: &Kraft| {
            let mut hasher = DefaultHasher::new();
            machine.fingerprint(self.now, &mut hasher);
            hasher.finish()
        };
        self.machines.iter().map(print).collect()
    }
}

/// C8.
#[test]
fn nothing_allocates_in_the_steady_state() {
    let mut ring = Ring::new(Instant::ZERO);
    while ring.leader().is_none() {
        ring.step();
    }
    let leader = ring.leader().unwrap();
    let mut work = |rounds: u64| {
        for _ in 0..rounds {
            let now = ring.now;
            ring.machines[leader].propose(now, 3).unwrap();
            ring.drain(leader);
            for _ in 0..10 {
                ring.step();
            }
        }
        (ring.machines[leader].high_watermark(), ring.leader())
    };
    work(50);
    let counted = measure(|| {
        let (high_watermark, leads) = work(500);
        assert!(high_watermark > 1_000 && leads == Some(leader));
    });
    assert_eq!(counted.count_total, 0);
}

/// C10.
#[test]
fn a_fingerprint_knows_no_clock() {
    let mut early = Ring::new(Instant::ZERO);
    let mut late = Ring::new(Instant::from_millis(123_456_789));
    let mut seen = Vec::new();
    for _ in 0..300 {
        assert_eq!(early.fingerprints(), late.fingerprints());
        seen.push(early.fingerprints());
        early.step();
        late.step();
    }
    assert!(early.leader().is_some());
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() > 20, "it tells states apart: {}", seen.len());
}

/// C2: what is spurious, early or goes back in time changes nothing.
#[test]
fn a_spurious_timeout_does_nothing() {
    let mut ring = Ring::new(Instant::from_millis(5_000));
    for _ in 0..200 {
        ring.step();
        let before = ring.fingerprints();
        for id in 0..3 {
            for now in [ring.now, Instant::ZERO] {
                ring.machines[id].handle(now, Input::Timeout);
                assert_eq!(ring.machines[id].poll(), None);
            }
        }
        assert_eq!(ring.fingerprints(), before);
    }
}
