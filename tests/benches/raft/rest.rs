//! A million followers on one core, and nobody says anything. The host keeps one deadline a machine in a timing wheel: a
//! millisecond of it passes without a look at any machine that is not due. A library that counts ticks is called for each.

use crate::race::timed;
use crate::raft_rs;
use crate::table::{Better, Line, Target};
use std::hint::black_box;
use tenure::raft::Raft;
use tenure::{Duration, Election, Input, Instant, NodeId, Output};
use tenure_counts::{machine, voters};

const MACHINES: usize = 1_000_000;
const TICK: Duration = Duration::from_millis(1);
/// Longer than any machine of the default timing waits.
const SLOTS: u64 = 512;
/// A slice of the work to be timed: so many machines at least.
const SLICE: usize = 5_000;
/// How often it is all done.
const TRIES: usize = 3;

/// Who is due in which millisecond.
struct Wheel {
    slots: Vec<Vec<u32>>,
    now: Instant,
}

impl Wheel {
    fn new() -> Self {
        Self {
            slots: vec![Vec::new(); SLOTS as usize],
            now: Instant::ZERO,
        }
    }

    fn arm(&mut self, machine: u32, deadline: Option<Instant>) {
        if let Some(deadline) = deadline {
            let tick = deadline.as_micros().div_ceil(TICK.as_micros());
            self.slots[(tick % SLOTS) as usize].push(machine);
        }
    }

    /// A millisecond passes: who is due.
    fn tick(&mut self) -> Vec<u32> {
        self.now = self.now + TICK;
        let slot = self.now.as_micros() / TICK.as_micros() % SLOTS;
        std::mem::take(&mut self.slots[slot as usize])
    }
}

/// One in three of a group each, just built.
fn machines() -> Vec<Raft> {
    let voters = voters(3);
    let build = |seed| machine(&voters, NodeId(seed % 3), None, seed);
    (0..MACHINES as u64)
        .map(|seed| build(seed).unwrap_or_else(|error| panic!("{error}")))
        .collect()
}

/// Nanoseconds a machine and tick while nobody is due, and nanoseconds for one that is: its election timeout has come, it
/// asks the two others for pre-votes, and its next deadline goes into the wheel. The best millisecond counts: in each,
/// others are due, of whom nothing is in the caches any more.
fn wheel() -> [f64; 2] {
    let mut machines = machines();
    let mut wheel = Wheel::new();
    for (at, machine) in machines.iter().enumerate() {
        wheel.arm(at as u32, machine.deadline());
    }
    let first = machines.iter().filter_map(Raft::deadline).min();
    let quiet = first.map_or(0, |first| (first.as_micros() - 1) / TICK.as_micros());
    let idle = timed(|| {
        for _ in 0..quiet {
            assert!(black_box(wheel.tick()).is_empty());
        }
    });
    let (mut done, mut best) = (0, f64::INFINITY);
    while done < MACHINES {
        let due = wheel.tick();
        let busy = timed(|| {
            due.iter()
                .for_each(|at| time_out(*at, &mut machines, &mut wheel))
        });
        done += due.len();
        if due.len() >= SLICE {
            best = best.min(nanoseconds(busy, due.len()));
        }
    }
    let idle = nanoseconds(idle, MACHINES) / quiet as f64;
    [idle, best]
}

/// The deadline of a machine has come.
fn time_out(at: u32, machines: &mut [Raft], wheel: &mut Wheel) {
    let machine = &mut machines[at as usize];
    machine.handle(wheel.now, Input::Timeout);
    let mut asked = 0;
    while let Some(output) = machine.poll() {
        asked += u32::from(matches!(black_box(output), Output::Send(..)));
    }
    assert_eq!(asked, 2);
    wheel.arm(at, machine.deadline());
}

fn nanoseconds(took: std::time::Duration, times: usize) -> f64 {
    took.as_secs_f64() * 1e9 / times as f64
}

/// Nanoseconds for a tick of each, asked whether it wants anything. Nobody is due. The best slice counts.
fn ticked() -> f64 {
    let node = |at: u64| raft_rs::node(at % 3 + 1, 3, 1 << 20);
    let mut nodes: Vec<raft_rs::Node> = (0..MACHINES as u64).map(node).collect();
    let mut best = f64::INFINITY;
    for _ in 0..TRIES {
        for slice in nodes.chunks_mut(SLICE) {
            let took = timed(|| {
                for node in &mut *slice {
                    black_box(node.tick());
                    assert!(!black_box(node.has_ready()));
                }
            });
            best = best.min(nanoseconds(took, slice.len()));
        }
    }
    best
}

pub(crate) fn measure() -> Vec<Option<bool>> {
    let [mut idle, mut due] = [f64::INFINITY; 2];
    for _ in 0..TRIES {
        let [tick, timeout] = wheel();
        idle = idle.min(tick);
        due = due.min(timeout);
    }
    let peer = ticked();
    let line = |what, own, peers, most| {
        Line {
            what,
            unit: "ns",
            better: Better::Lower,
            own,
            peers,
            target: Some(Target::AtMost(most)),
        }
        .print()
    };
    let tick = vec![("raft 0.7, a tick", peer)];
    vec![
        line("a million at rest, one not due", idle, tick, 0.01),
        line("a million at rest, one due", due, Vec::new(), 150.0),
    ]
}
