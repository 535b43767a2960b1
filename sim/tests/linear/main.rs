//! The checker of histories beside porcupine-rs and beside trying every order.

mod histories;

use histories::{Draw, Drawn, corrupted, explained, porcupine};
use std::fmt::Debug;
use std::hash::Hash;
use std::time::Duration;
use tenure::random::Random;
use tenure_sim::linear::{
    Counter, DEFAULT_STEPS, History, Judgement, Model, Op, Register, RegisterInput, RegisterOutput,
    Window, is_linearizable, judge,
};

/// Tries every order of the operations not taken yet.
fn any_order<M: Model>(
    model: &M,
    state: &M::State,
    operations: &[Op<M>],
    taken: &mut Vec<usize>,
) -> bool {
    let left = |place: &usize| !taken.contains(place);
    let places: Vec<usize> = (0..operations.len()).filter(left).collect();
    if places
        .iter()
        .all(|place| operations[*place].answer.is_none())
    {
        return true;
    }
    places.iter().any(|place| {
        let operation = &operations[*place];
        let first = places.iter().all(|other| {
            operations[*other]
                .answered()
                .is_none_or(|answered| answered >= operation.asked)
        });
        if !first {
            return false;
        }
        let Some(next) = model.step(state, &operation.input, operation.output()) else {
            return false;
        };
        taken.push(*place);
        let found = any_order(model, &next, operations, taken);
        taken.pop();
        found
    })
}

fn brute<M: Model>(model: &M, start: &M::State, operations: &[Op<M>]) -> bool {
    any_order(model, start, operations, &mut Vec::new())
}

/// The same history, told to a window as it happens.
fn in_windows<M: Model>(model: &M, operations: &[Op<M>]) -> Judgement<M> {
    let mut turns = Vec::new();
    for (place, operation) in operations.iter().enumerate() {
        turns.push((operation.asked, false, place));
        turns.extend(operation.answered().map(|at| (at, true, place)));
    }
    turns.sort_unstable();
    let mut window = Window::new(model.clone());
    let mut numbers = vec![0; operations.len()];
    for (at, answer, place) in turns {
        let operation = &operations[place];
        match &operation.answer {
            Some((output, _)) if answer => {
                window.answered(numbers[place], output.clone(), at);
            }
            known => {
                numbers[place] = window.asked(operation.client, operation.input.clone(), at);
                if known.is_none() {
                    window.lost(numbers[place]);
                }
            }
        }
    }
    window.judgement()
}

/// Each history as it was drawn, and with an answer changed; how many of those were explained still.
fn all_agree<M: Drawn>(seeds: u64, draw: Draw, brute_force: bool) -> u64
where
    M::State: Send + Sync + Debug + Hash,
    M::Input: Send + Sync,
    M::Output: Send + Sync,
{
    let model = M::default();
    let mut still = 0;
    for seed in 0..seeds {
        let mut random = Random::from_seed(seed);
        let good = explained(&model, draw, &mut random);
        assert_eq!(
            is_linearizable(&model, &good, DEFAULT_STEPS),
            Some(true),
            "{draw:?}, seed {seed}"
        );
        let bad = corrupted(&model, &good, &mut random);
        for (operations, known) in [(&good, Some(true)), (&bad, None)] {
            let ours = judge(&model, operations, DEFAULT_STEPS);
            let holds = match &ours {
                Judgement::Linearizable => true,
                Judgement::Broken(_) => false,
                Judgement::Unknown => panic!("{draw:?}, seed {seed}: out of steps"),
            };
            assert!(known.is_none_or(|known| known == holds), "seed {seed}");
            let theirs = porcupine::<M>(operations, Duration::from_secs(20));
            assert_eq!(theirs, Some(holds), "porcupine-rs, {draw:?}, seed {seed}");
            let grown = matches!(in_windows(&model, operations), Judgement::Linearizable);
            assert_eq!(grown, holds, "in windows, {draw:?}, seed {seed}");
            if brute_force {
                let every = brute(&model, &model.initial(), operations);
                assert_eq!(every, holds, "every order, {draw:?}, seed {seed}");
            }
            if let Judgement::Broken(small) = ours {
                assert!(small.operations.len() <= operations.len());
                assert!(small.stuck < small.operations.len(), "seed {seed}");
                // As long as every order can be tried.
                if small.operations.len() < 10 {
                    let alone = brute(&model, &small.start, &small.operations);
                    assert!(!alone, "the small one fails too: {draw:?}, seed {seed}");
                }
            } else if known.is_none() {
                still += 1;
            }
        }
    }
    still
}

#[test]
fn small_histories_agree_with_every_order_and_with_porcupine() {
    for (clients, unanswered) in [(2, 0), (3, 0), (4, 0), (3, 6), (4, 4)] {
        let draw = Draw {
            clients,
            operations: 7,
            unanswered,
        };
        let seeds = 60;
        for still in [
            all_agree::<Register>(seeds, draw, true),
            all_agree::<Counter>(seeds, draw, true),
        ] {
            assert!(still > 0 && still < seeds, "{draw:?}: {still} of {seeds}");
        }
    }
}

#[test]
fn larger_histories_agree_with_porcupine() {
    for (clients, operations, unanswered, seeds) in [
        (5, 60, 0, 60),
        (5, 300, 0, 20),
        (5, 60, 20, 40),
        (10, 200, 0, 20),
    ] {
        let draw = Draw {
            clients,
            operations,
            unanswered,
        };
        all_agree::<Register>(seeds, draw, false);
        all_agree::<Counter>(seeds, draw, false);
    }
}

#[test]
fn many_of_unknown_outcome_are_judged_within_the_budget() {
    let draw = Draw {
        clients: 6,
        operations: 2_000,
        unanswered: 30,
    };
    for seed in 0..5 {
        let good = explained(&Counter, draw, &mut Random::from_seed(seed));
        let unknown = good.iter().filter(|operation| operation.answer.is_none());
        assert!(unknown.count() > 80);
        let judged = is_linearizable(&Counter, &good, DEFAULT_STEPS);
        assert_eq!(judged, Some(true), "seed {seed}");
    }
}

#[test]
fn a_failing_history_becomes_a_small_one_and_a_sentence() {
    let draw = Draw {
        clients: 5,
        operations: 300,
        unanswered: 0,
    };
    let mut sizes = Vec::new();
    for seed in 0..20 {
        let mut random = Random::from_seed(seed);
        let bad = corrupted(
            &Counter,
            &explained(&Counter, draw, &mut random),
            &mut random,
        );
        if let Judgement::Broken(small) = judge(&Counter, &bad, DEFAULT_STEPS) {
            sizes.push(small.operations.len());
        }
    }
    sizes.sort_unstable();
    assert!(sizes.len() > 10 && sizes[sizes.len() / 2] <= 3, "{sizes:?}");
}

#[test]
fn the_sentence_names_what_cannot_be() {
    let mut history = History::new();
    let mut add = |client, asked, value, answered| {
        let id = history.asked(client, (), tenure_sim::linear::CounterInput::Add(1), asked);
        history.answered(id, value, answered).unwrap();
    };
    add(0, 0, 1, 10);
    add(1, 20, 2, 90);
    add(2, 30, 2, 40);
    add(2, 50, 3, 60);
    let Err(((), Judgement::Broken(small))) = history.judge(&Counter, DEFAULT_STEPS) else {
        panic!()
    };
    assert_eq!(
        small.tell(
            &Counter,
            |client| format!("n{}", client + 1),
            |at| format!("{at} ms")
        ),
        "It held 1; no order explains [n2: add 1, to 2 (20 ms to 90 ms); n3: add 1, to 2 (30 ms to 40 ms)], whether or \
         not one other took effect; when it had to be \"add 1, to 2\", it held 2."
    );
}

#[test]
fn a_stale_read_is_told_with_the_write_it_missed() {
    let mut history = History::new();
    let steps = [
        (0, RegisterInput::Write(1), RegisterOutput::Done, 0, 5),
        (1, RegisterInput::Read, RegisterOutput::Value(1), 6, 7),
        (0, RegisterInput::Write(2), RegisterOutput::Done, 8, 12),
        (1, RegisterInput::Read, RegisterOutput::Value(2), 9, 10),
        (2, RegisterInput::Read, RegisterOutput::Value(1), 11, 14),
    ];
    for (client, input, output, asked, answered) in steps {
        let id = history.asked(client, "x", input, asked);
        history.answered(id, output, answered).unwrap();
    }
    let Err(("x", Judgement::Broken(small))) = history.judge(&Register, DEFAULT_STEPS) else {
        panic!()
    };
    let text = small.tell(&Register, |client| client.to_string(), |at| at.to_string());
    assert_eq!(
        text,
        "It held 1; no order explains [1: read 2 (9 to 10); 2: read 1 (11 to 14)], whether or not one other took \
         effect; when it had to be \"read 1\", it held 2."
    );
}
