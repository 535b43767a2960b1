//! How fast histories are judged, beside porcupine-rs in the same process:
//! `cargo run --release -p tenure-sim --example linear`.
//!
//! Each history is drawn so that an order explains it, then judged once so and once with an answer changed.

#[path = "../tests/linear/histories.rs"]
mod histories;

use histories::{Draw, Drawn, corrupted, explained, porcupine};
use std::fmt::Debug;
use std::hash::Hash;
use std::time::{Duration, Instant};
use tenure::random::Random;
use tenure_sim::linear::{Counter, DEFAULT_STEPS, Op, Register, is_linearizable};

/// How long porcupine-rs may take over one history.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sums over histories of one kind.
#[derive(Default)]
struct Sum {
    time: [Duration; 2],
    longest: [Duration; 2],
    unfinished: [u32; 2],
    rejected: u32,
}

fn main() {
    println!("µs a history: average (longest); u: not finished");
    let head = [
        "history",
        "ours, explained",
        "theirs",
        "ours, corrupted",
        "theirs",
    ];
    print_row(&head.map(str::to_owned));
    for (clients, operations, unanswered, rounds) in [
        (3, 12, 0, 200),
        (5, 30, 0, 200),
        (5, 60, 0, 200),
        (5, 300, 0, 100),
        (5, 3_000, 0, 20),
        (10, 1_000, 0, 20),
        (5, 30, 15, 50),
        (5, 30_000, 0, 2),
    ] {
        let draw = Draw {
            clients,
            operations,
            unanswered,
        };
        rows::<Register>("register", draw, rounds);
        rows::<Counter>("counter", draw, rounds);
    }
}

fn rows<M: Drawn>(name: &str, draw: Draw, rounds: u64)
where
    M::State: Send + Sync + Debug + Hash,
    M::Input: Send + Sync,
    M::Output: Send + Sync,
{
    let (mut good, mut bad) = (Sum::default(), Sum::default());
    for seed in 0..rounds {
        let mut random = Random::from_seed(seed);
        let operations = explained(&M::default(), draw, &mut random);
        good.add::<M>(&operations);
        bad.add::<M>(&corrupted(&M::default(), &operations, &mut random));
    }
    let unanswered = match draw.unanswered {
        0 => String::new(),
        many => format!(", 1/{many} lost"),
    };
    let history = format!("{name} {} x {}{unanswered}", draw.operations, draw.clients);
    let cells = [&good, &bad].map(|sum| [sum.cell(0, rounds), sum.cell(1, rounds)]);
    let [[first, second], [third, fourth]] = cells;
    let third = format!("{third} {} rejected", bad.rejected);
    print_row(&[history, first, second, third, fourth]);
}

fn print_row([history, cells @ ..]: &[String; 5]) {
    let [first, second, third, fourth] = cells;
    println!("{history:<32}{first:<24}{second:<28}{third:<40}{fourth}");
}

impl Sum {
    fn add<M: Drawn>(&mut self, operations: &[Op<M>])
    where
        M::State: Send + Sync + Debug + Hash,
        M::Input: Send + Sync,
        M::Output: Send + Sync,
    {
        let began = Instant::now();
        let ours = is_linearizable(&M::default(), operations, DEFAULT_STEPS);
        self.note(0, began.elapsed(), ours);
        let began = Instant::now();
        let theirs = porcupine::<M>(operations, PATIENCE);
        self.note(1, began.elapsed(), theirs);
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            assert_eq!(ours, theirs, "{operations:?}");
        }
        self.rejected += u32::from(ours == Some(false));
    }

    fn note(&mut self, whose: usize, took: Duration, judged: Option<bool>) {
        self.time[whose] += took;
        self.longest[whose] = self.longest[whose].max(took);
        self.unfinished[whose] += u32::from(judged.is_none());
    }

    fn cell(&self, whose: usize, rounds: u64) -> String {
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let average = micros(self.time[whose]) / rounds as f64;
        let longest = micros(self.longest[whose]);
        match self.unfinished[whose] {
            0 => format!("{average:.1} ({longest:.0})"),
            some => format!("{average:.1} ({longest:.0}) u {some}"),
        }
    }
}
