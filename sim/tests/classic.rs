//! The textbook elections: what they cost, what they promise under any schedule, what each of their rules protects, and
//! where each of them fails.

use tenure::Duration;
use tenure::random::Random;
use tenure_sim::check::Outcome;
use tenure_sim::classic::bench::{Bench, LATENCY, millis};
use tenure_sim::classic::{
    Algorithm, Cell, Classic, Law, Rule, Switched, Timing, Trial, ballot, bully, expected, ring,
};
use tenure_sim::physics::weather::Weather;

const CALM: Weather = Weather::calm(LATENCY / 2, LATENCY / 2);
const USUAL: Weather = Weather::calm(LATENCY / 10, LATENCY);

fn bully(off: &[Rule], guard: bool) -> bully::Setup {
    bully::Setup {
        guard,
        rules: Switched::without(off),
        ..bully::Setup::default()
    }
}

fn ring(off: &[Rule], order: Vec<usize>) -> ring::Setup {
    ring::Setup {
        timing: Timing::default(),
        order,
        rules: Switched::without(off),
    }
}

fn ballots(off: &[Rule]) -> ballot::Setup {
    ballot::Setup {
        rules: Switched::without(off),
        ..ballot::Setup::default()
    }
}

type Bullies = Bench<bully::Bully>;
type Rings = Bench<ring::Ring>;
type Ballots = Bench<ballot::Elector>;

fn shuffled(nodes: usize, seed: u64) -> Vec<usize> {
    let mut draws = Random::from_seed(seed);
    let mut order: Vec<usize> = (0..nodes).collect();
    for place in (1..nodes).rev() {
        order.swap(place, draws.below(place as u64 + 1) as usize);
    }
    order
}

// What they cost.

#[test]
fn a_bully_needs_as_many_messages_as_the_book_says() {
    for n in 2..=9 {
        let mut bench = Bullies::new(bully(&[], false), n, CALM, 1);
        bench.run_until(millis(1_000));
        let all = (n * n - 1) as u64;
        assert_eq!(bench.counts().election, all, "all {n} begin");
        assert_eq!(bench.agreed(), Some(n - 1));
        // The k-th highest alone begins: it and all above it ask all above them, and are answered; only a new leader has
        // to announce itself.
        for k in 1..=n {
            bench.crash(n - k);
            if k == 1 {
                bench.run_until(bench.now() + millis(1_000));
            }
            bench.count_anew();
            bench.restart(n - k);
            bench.run_until(bench.now() + millis(1_000));
            let announced = if k == 1 { n - 1 } else { 0 };
            let cost = (k * (k - 1) + announced) as u64;
            assert_eq!(bench.counts().election, cost, "{k} of {n}");
            assert_eq!(bench.agreed(), Some(n - 1));
        }
    }
}

fn ring_cost(order: Vec<usize>) -> u64 {
    let n = order.len();
    let mut bench = Rings::new(ring(&[], order), n, CALM, 1);
    bench.run_until(millis(1_000));
    assert_eq!(bench.agreed(), Some(n - 1));
    bench.counts().election - n as u64
}

#[test]
fn a_ring_needs_as_many_messages_as_the_book_says() {
    for n in 2..=12 {
        let rising = (0..n).collect();
        let falling = (0..n).rev().collect();
        assert_eq!(ring_cost(rising), (2 * n - 1) as u64, "the best of {n}");
        assert_eq!(ring_cost(falling), (n * (n + 1) / 2) as u64, "the worst");
    }
    let (n, rounds) = (10, 4_000);
    let sum: u64 = (0..rounds).map(|seed| ring_cost(shuffled(n, seed))).sum();
    let mean = sum as f64 / rounds as f64;
    let harmonic: f64 = (1..=n).map(|k| 1.0 / k as f64).sum();
    let book = n as f64 * harmonic;
    assert!((mean / book - 1.0).abs() < 0.02, "{mean} and {book}");
}

// What they promise under any schedule.

/// Crashes, pauses, cuts in one direction or both, and loss, for some seconds; then everything is healed. Judged at the end.
fn storm<C: Classic>(bench: &mut Bench<C>, seed: u64) {
    let mut draws = Random::from_seed(seed ^ 0x5708);
    let nodes = bench.size() as u64;
    bench.weather(Weather {
        loss: draws.below(40_000) as u32,
        duplicate: draws.below(40_000) as u32,
        ..USUAL
    });
    while bench.now() < millis(8_000) {
        bench.run_until(bench.now() + 1_000 * (1 + draws.below(400)));
        let one = draws.below(nodes) as usize;
        let other = (one + 1 + draws.below(nodes - 1) as usize) % nodes as usize;
        match draws.below(16) {
            0..3 => bench.crash(one),
            3..6 => bench.restart(one),
            6 | 7 => bench.pause(one),
            8..11 => bench.resume(one),
            11 | 12 => bench.cut(one, other),
            13 => bench.cut_one_way(one, other),
            14 => {
                // Only one of them reaches all others.
                for low in 0..nodes as usize {
                    for high in low + 1..nodes as usize {
                        if low != one && high != one {
                            bench.cut(low, high);
                        }
                    }
                }
            }
            _ => bench.heal(),
        }
    }
    bench.heal();
    bench.weather(USUAL);
    for node in 0..nodes as usize {
        bench.restart(node);
        bench.resume(node);
    }
    let healed = bench.now();
    bench.run_until(healed + millis(5_000));
    bench.judge_again();
    bench.judge_connected(healed + millis(3_000));
}

/// How many seeds put each of these laws to the test; none of them may break.
fn holds<C: Classic>(
    make: impl Fn(usize, u64) -> C::Setup,
    laws: &[Law],
    seeds: u64,
) -> Vec<u64> {
    let mut exercised = vec![0; laws.len()];
    for seed in 0..seeds {
        let nodes = 3 + (seed % 3) as usize;
        let mut bench = Bench::<C>::new(make(nodes, seed), nodes, USUAL, seed);
        storm(&mut bench, seed);
        for (law, exercised) in laws.iter().zip(&mut exercised) {
            let outcome = bench.outcome(*law);
            assert_ne!(outcome, Outcome::Broken, "{} by seed {seed}", law.name());
            *exercised += u64::from(outcome == Outcome::Holds);
        }
    }
    let untested = laws.iter().zip(&exercised).find(|(_, count)| **count == 0);
    assert!(untested.is_none(), "{untested:?} never");
    exercised
}

const OF_BALLOTS: [Law; 5] = [
    Law::QuorumConnectedLeader,
    Law::MonotoneBallots,
    Law::UniqueBallot,
    Law::Fence,
    Law::LeaderAgain,
];

#[test]
fn ballots_keep_their_laws_under_any_schedule() {
    holds::<ballot::Elector>(|_, _| ballots(&[]), &OF_BALLOTS, 2_000);
}

#[test]
fn a_guarded_bully_keeps_its_laws_under_any_schedule() {
    holds::<bully::Bully>(|_, _| bully(&[], true), &OF_BALLOTS, 1_000);
}

#[test]
fn bully_and_ring_agree_again_once_everything_is_healed() {
    holds::<bully::Bully>(|_, _| bully(&[], false), &[Law::LeaderAgain], 1_000);
    holds::<ring::Ring>(
        |nodes, seed| ring(&[], shuffled(nodes, seed)),
        &[Law::LeaderAgain],
        1_000,
    );
}

#[test]
#[ignore = "50,000 schedules: a minute"]
fn the_same_of_many_more_schedules() {
    holds::<ballot::Elector>(|_, _| ballots(&[]), &OF_BALLOTS, 50_000);
    holds::<bully::Bully>(|_, _| bully(&[], true), &OF_BALLOTS, 50_000);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let mut bench = Ballots::new(ballots(&[]), 5, USUAL, seed);
        storm(&mut bench, seed);
        (bench.counts(), Law::ALL.map(|law| bench.tally(law)))
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

// What each rule protects.

/// The laws that break in some of many storms.
fn broken<C: Classic>(make: impl Fn(usize, u64) -> C::Setup, laws: &[Law]) -> Vec<Law> {
    let mut broken = Vec::new();
    for seed in 0..600 {
        let nodes = 3 + (seed % 3) as usize;
        let mut bench = Bench::<C>::new(make(nodes, seed), nodes, USUAL, seed);
        storm(&mut bench, seed);
        for law in laws {
            if bench.outcome(*law) == Outcome::Broken && !broken.contains(law) {
                broken.push(*law);
            }
        }
    }
    broken.sort_unstable();
    broken
}

#[test]
fn probe() {
    for rule in Rule::ALL {
        let off = [rule];
        let b = broken::<ballot::Elector>(|_, _| ballots(&off), &Law::ALL);
        let g = broken::<bully::Bully>(|_, _| bully(&off, true), &Law::ALL);
        let u = broken::<bully::Bully>(|_, _| bully(&off, false), &Law::ALL);
        let r = broken::<ring::Ring>(|n, s| ring(&off, shuffled(n, s)), &Law::ALL);
        println!("{rule:?} -> {:?}\n   ble {b:?}\n   guarded {g:?}\n   bully {u:?}\n   ring {r:?}", rule.protects());
    }
}
