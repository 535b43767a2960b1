//! The textbook elections: what they cost, what they promise under any schedule, what each of their rules protects, and
//! where each of them fails.

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
                bench.run_until(bench.now() + millis(1_020));
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

/// None of these laws breaks by any seed, and each is put to the test.
fn holds<C: Classic>(make: impl Fn(usize, u64) -> C::Setup, laws: &[Law], seeds: u64) {
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
#[ignore = "50,000 schedules each: a minute of processor time"]
fn the_same_of_many_more_schedules() {
    holds::<ballot::Elector>(|_, _| ballots(&[]), &OF_BALLOTS, 50_000);
    holds::<bully::Bully>(|_, _| bully(&[], true), &OF_BALLOTS, 50_000);
    holds::<bully::Bully>(|_, _| bully(&[], false), &[Law::LeaderAgain], 50_000);
    holds::<ring::Ring>(
        |nodes, seed| ring(&[], shuffled(nodes, seed)),
        &[Law::LeaderAgain],
        50_000,
    );
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

/// Three or five nodes with a leader; then the links are cut that `cuts` names, of the leader and any other.
fn under<C: Classic>(
    setup: C::Setup,
    nodes: usize,
    seed: u64,
    cuts: impl Fn(&mut Bench<C>, usize, usize),
) -> Bench<C> {
    let mut bench = Bench::<C>::new(setup, nodes, USUAL, seed);
    bench.run_until(millis(3_000));
    let leader = bench.leader().unwrap();
    let other = (leader + 1 + seed as usize % (nodes - 1)) % nodes;
    cuts(&mut bench, leader, other);
    bench.run_until(millis(13_000));
    bench.judge_connected(millis(8_000));
    bench.judge_again();
    bench
}

/// The leader and another lose each other.
fn chain<C: Classic>(bench: &mut Bench<C>, leader: usize, other: usize) {
    bench.cut(leader, other);
}

/// Only another than the leader reaches everybody.
fn star<C: Classic>(bench: &mut Bench<C>, _: usize, centre: usize) {
    for low in 0..bench.size() {
        for high in low + 1..bench.size() {
            if low != centre && high != centre {
                bench.cut(low, high);
            }
        }
    }
}

/// Another than the leader is cut off for a while.
fn alone<C: Classic>(bench: &mut Bench<C>, _: usize, lonely: usize) {
    for other in (0..bench.size()).filter(|other| *other != lonely) {
        bench.cut(lonely, other);
    }
    bench.run_until(bench.now() + millis(3_000));
    bench.heal();
}

/// The leader dies, and a little later whoever is highest then.
fn two_deaths<C: Classic>(bench: &mut Bench<C>, leader: usize, other: usize) {
    bench.crash(leader);
    bench.run_until(bench.now() + millis(250) + other as u64 * millis(7));
    let next = (0..bench.size()).rev().find(|node| bench.runs(*node));
    bench.run_until_it(bench.now() + millis(200), |bench| {
        next.is_some_and(|next| bench.follows(next).is_none())
    });
    bench.run_until(bench.now() + millis(12));
    bench.crash(next.unwrap());
}

/// How a law fares in some runs, with all rules and without one.
fn with_and_without<C: Classic>(
    rule: Rule,
    run: impl Fn(&[Rule], u64) -> Bench<C>,
) -> [Outcome; 2] {
    [&[][..], &[rule]].map(|off| {
        let outcomes = (0..60).map(|seed| run(off, seed).outcome(rule.protects()));
        let outcomes: Vec<_> = outcomes.collect();
        let found = [Outcome::Broken, Outcome::Holds].into_iter();
        let mut found = found.filter(|outcome| outcomes.contains(outcome));
        found.next().unwrap_or(Outcome::NotExercised)
    })
}

#[test]
fn each_rule_protects_what_it_names() {
    for rule in Rule::ALL {
        let outcomes = match rule {
            Rule::AnswerStops => with_and_without(rule, |off, seed| {
                under::<bully::Bully>(bully(off, false), 5, seed, |bench, leader, _| {
                    bench.crash(leader);
                })
            }),
            Rule::AskAgain => with_and_without(rule, |off, seed| {
                under::<bully::Bully>(bully(off, false), 5, seed, two_deaths)
            }),
            Rule::RingRepair => with_and_without(rule, |off, seed| {
                under::<ring::Ring>(ring(off, shuffled(5, seed)), 5, seed, |bench, leader, _| {
                    bench.crash(leader)
                })
            }),
            Rule::SwallowLower => with_and_without(rule, |off, seed| {
                let order = shuffled(6, seed);
                let mut bench = Rings::new(ring(off, order), 6, CALM, seed);
                bench.run_until(millis(1_000));
                bench.judge_messages(6 * 7 / 2 + 6);
                bench
            }),
            Rule::OwnBallotOnly | Rule::AllUnhappy => with_and_without(rule, |off, seed| {
                under::<ballot::Elector>(ballots(off), 3, seed, chain)
            }),
            Rule::QuorumOutbids => with_and_without(rule, |off, seed| {
                under::<ballot::Elector>(ballots(off), 5, seed, alone)
            }),
            // The others in any schedule: see below that they hold with all rules on.
            _ => continue,
        };
        assert_ne!(outcomes[0], Outcome::Broken, "{rule:?} on");
        assert_eq!(outcomes[1], Outcome::Broken, "{rule:?} off");
    }
}

#[test]
fn without_a_rule_what_it_names_breaks_in_any_schedule_and_nothing_undeclared() {
    let rules = [
        Rule::MajorityGrants,
        Rule::EpochKept,
        Rule::RestartTimer,
        Rule::HighestBallot,
        Rule::FreshBallot,
        Rule::PromiseKept,
        Rule::RefuseLower,
        Rule::RefusalHeard,
        Rule::MajorityPromises,
    ];
    for rule in rules {
        let off = [rule];
        let broken = match rule {
            Rule::MajorityGrants | Rule::EpochKept => {
                broken::<bully::Bully>(|_, _| bully(&off, true), &OF_BALLOTS)
            }
            Rule::RestartTimer => broken::<ring::Ring>(
                |nodes, seed| ring(&off, shuffled(nodes, seed)),
                &[Law::LeaderAgain, Law::QuorumConnectedLeader],
            ),
            _ => broken::<ballot::Elector>(|_, _| ballots(&off), &OF_BALLOTS),
        };
        assert!(broken.contains(&rule.protects()), "{rule:?}: {broken:?}");
        let undeclared = |law: &&Law| **law != rule.protects() && !rule.follows().contains(law);
        assert_eq!(broken.iter().find(undeclared), None, "{rule:?}");
    }
}

// Where they fail, and where they do not.

#[test]
fn told_on_ballots_never_come_to_rest_in_a_chain() {
    // haraldng/omnipaxos#1: p1 and p3 only hear each other's ballots through p2.
    for seed in 0..40 {
        let run = |off| under::<ballot::Elector>(ballots(off), 3, seed, chain);
        let gossip = run(&[Rule::OwnBallotOnly]);
        assert!(gossip.counts().led > 20, "{}", gossip.counts().led);
        assert_eq!(gossip.outcome(Law::QuorumConnectedLeader), Outcome::Broken);
        let direct = run(&[]);
        assert_eq!(direct.counts().led, 1);
        assert_eq!(direct.outcome(Law::QuorumConnectedLeader), Outcome::Holds);
    }
}

#[test]
fn the_one_node_that_reaches_a_quorum_comes_to_lead() {
    for seed in 0..40 {
        let bench = under::<ballot::Elector>(ballots(&[]), 5, seed, star);
        let other = bench.leader().unwrap();
        assert_eq!(bench.in_office(), Some(other));
        assert_eq!(bench.agreed(), Some(other), "all four follow it");
        assert_eq!(bench.counts().led, 2);
    }
}

#[test]
fn an_epoch_and_a_majority_are_what_the_bully_lacks() {
    // The leader and another on one side, three on the other.
    fn split<C: Classic>(bench: &mut Bench<C>, leader: usize, other: usize) {
        bench.count_anew();
        for rest in (0..bench.size()).filter(|rest| ![leader, other].contains(rest)) {
            bench.cut(leader, rest);
            bench.cut(other, rest);
        }
    }
    for seed in 0..60 {
        let run = |guard| under::<bully::Bully>(bully(&[], guard), 5, seed, split);
        let (bare, guarded) = (run(false), run(true));
        assert!(bare.counts().two_leaders > millis(9_000));
        assert_eq!(guarded.counts().two_leaders, 0, "seed {seed}");
        assert_eq!(guarded.outcome(Law::Fence), Outcome::Holds);
        for bench in [bare, guarded] {
            assert!(bench.in_office().is_some_and(|leader| leader < 4));
        }
    }
}

#[test]
fn what_was_promised_stops_a_leader_that_is_cut_off() {
    let mut tested = 0;
    for seed in 0..40 {
        let bench = under::<ballot::Elector>(ballots(&[]), 5, seed, |bench, leader, _| {
            for other in (0..5).filter(|other| *other != leader) {
                bench.cut(leader, other);
            }
        });
        assert!(bench.counts().two_leaders > millis(9_000), "it believes on");
        assert_eq!(bench.outcome(Law::Fence), Outcome::Holds);
        tested += bench.tally(Law::Fence).exercised;
    }
    assert!(tested > 0);
}

#[test]
fn every_cell_of_the_table_shows_what_is_expected() {
    for algorithm in Algorithm::ALL {
        for trial in Trial::ALL {
            let mut cell = Cell::default();
            for seed in 0..40 {
                cell.run(algorithm, trial, seed);
            }
            let broke: Vec<_> = cell.broke().collect();
            let expected = expected(algorithm, trial);
            assert!(
                cell.is_as_expected(expected),
                "{} under {}: {broke:?}, expected {expected:?}",
                algorithm.name(),
                trial.name()
            );
        }
    }
}
