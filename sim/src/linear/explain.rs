//! A small history that fails, made from a large one, and the reason in a sentence.
//!
//! Leaving an operation out is no fair way to make a history smaller: without the write nothing explains the read, and that
//! proves nothing. A history is only ever *weakened* here, so that whatever explained the large one would explain the
//! small one: the past becomes the one state it must have led to, a read is left out, and of any other operation the
//! outcome is declared unknown, so that it may help at any time, or not at all.

use super::search::{Extent, Found, Search};
use super::window::Window;
use super::{Model, Op};

/// How many steps an attempt to make it smaller may take: one that takes more is not made use of.
const ATTEMPT: u64 = 20_000;
/// How many attempts are made.
const ATTEMPTS: u32 = 2_000;

/// Operations that no order explains.
#[derive(Clone, Debug)]
pub struct Counterexample<M: Model> {
    /// What the object held before them.
    pub start: M::State,
    /// Those that cannot all be true, in order of their questions.
    pub operations: Vec<Op<M>>,
    /// How many others changed something: they may have taken effect at any time after they were asked, or never, and
    /// still nothing explains the above.
    pub others: usize,
    /// The place of the one whose answer no order reaches.
    pub stuck: usize,
    /// What the object may have held where that one had to take effect; some of it, when there is much.
    pub held: Vec<M::State>,
}

pub(super) fn minimised<M: Model>(
    model: &M,
    operations: &[Op<M>],
    steps: u64,
) -> Counterexample<M> {
    minimised_from(model, &model.initial(), operations, steps)
}

/// Makes operations smaller that have no order from a state on.
pub(super) fn minimised_from<M: Model>(
    model: &M,
    start: &M::State,
    operations: &[Op<M>],
    steps: u64,
) -> Counterexample<M> {
    let (start, mut operations) = without_past(model, start, operations)
        .unwrap_or_else(|| (start.clone(), operations.to_vec()));
    let fails = |operations: &[Op<M>], steps| match Search::new(model, operations).run(
        &start,
        steps,
        Extent::First,
    ) {
        Found::None { stuck, states } => Some((stuck, states)),
        _ => None,
    };
    // What was asked after the answer that no order reaches has no part in it.
    if let Some((stuck, _)) = fails(&operations, steps)
        && let Some(end) = operations[stuck].answered()
    {
        operations.retain(|operation| operation.asked <= end);
    }
    let answered = |operation: &Op<M>| operation.answer.is_some();
    operations.retain(|operation| {
        answered(operation) || model.changes(&operation.input, operation.output())
    });
    operations.sort_by_key(|operation| operation.asked);
    let mut attempts = ATTEMPTS;
    let mut chunk = operations.len().div_ceil(2);
    while chunk > 0 {
        let mut from = 0;
        let mut weaker_still = false;
        while from < operations.len() {
            let to = (from + chunk).min(operations.len());
            // Only what says less than before is an attempt.
            let says_something = operations[from..to].iter().any(answered);
            let weaker = weakened(model, &operations, from..to);
            attempts = attempts.saturating_sub(u32::from(says_something));
            if says_something && attempts > 0 && fails(&weaker, ATTEMPT).is_some() {
                from = to - (operations.len() - weaker.len());
                operations = weaker;
                weaker_still = true;
            } else {
                from = to;
            }
        }
        // What was needed before others went may not be any more.
        if chunk > 1 || !weaker_still {
            chunk /= 2;
        }
    }
    let (stuck, held) = fails(&operations, steps).unwrap_or_default();
    Counterexample {
        start,
        stuck: operations[..stuck]
            .iter()
            .filter(|operation| answered(operation))
            .count(),
        others: operations
            .iter()
            .filter(|operation| !answered(operation))
            .count(),
        operations: operations.into_iter().filter(answered).collect(),
        held,
    }
}

/// Goes through the history once, forgetting whatever past is settled; what is left when no order goes on.
fn without_past<M: Model>(
    model: &M,
    start: &M::State,
    operations: &[Op<M>],
) -> Option<(M::State, Vec<Op<M>>)> {
    // Instant, then questions before answers, then the place.
    let mut turns: Vec<(u64, bool, usize)> = Vec::with_capacity(2 * operations.len());
    for (place, operation) in operations.iter().enumerate() {
        turns.push((operation.asked, false, place));
        turns.extend(operation.answered().map(|at| (at, true, place)));
    }
    turns.sort_unstable();
    let mut window = Window::starting(model.clone(), start.clone(), 1);
    let mut numbers = vec![None; operations.len()];
    for (at, answer, place) in turns {
        let operation = &operations[place];
        match (&operation.answer, numbers[place]) {
            (Some((output, _)), Some(number)) if answer => {
                window.answered(number, output.clone(), at);
            }
            // An answer before its question: the window knows of no such thing.
            _ if answer => return None,
            (known, _) => {
                let number = window.asked(operation.client, operation.input.clone(), at);
                numbers[place] = Some(number);
                if known.is_none() {
                    window.lost(number);
                }
            }
        }
        if let Some(failing) = window.failing() {
            return Some(failing);
        }
    }
    None
}

/// The operations, with less said of some.
fn weakened<M: Model>(model: &M, operations: &[Op<M>], some: std::ops::Range<usize>) -> Vec<Op<M>> {
    let mut weaker = Vec::with_capacity(operations.len());
    for (place, operation) in operations.iter().enumerate() {
        let mut operation = operation.clone();
        if some.contains(&place) {
            if !model.changes(&operation.input, operation.output()) {
                continue;
            }
            operation.answer = None;
        }
        weaker.push(operation);
    }
    weaker
}

impl<M: Model> Counterexample<M> {
    /// The reason in a sentence, with clients and instants in the words of whoever tells it.
    #[must_use]
    pub fn tell(
        &self,
        model: &M,
        client: impl Fn(u32) -> String,
        instant: impl Fn(u64) -> String,
    ) -> String {
        let one = |operation: &Op<M>| {
            let what = model.tell(&operation.input, operation.output());
            let until = operation.answered().map_or_else(String::new, &instant);
            let who = client(operation.client);
            format!("{who}: {what} ({} to {until})", instant(operation.asked))
        };
        let all: Vec<String> = self.operations.iter().map(one).collect();
        let others = match self.others {
            0 => String::new(),
            1 => ", whether or not one other took effect".to_owned(),
            many => format!(", whichever of {many} others took effect"),
        };
        let held: Vec<String> = self
            .held
            .iter()
            .map(|state| model.tell_state(state))
            .collect();
        let stuck = self
            .operations
            .get(self.stuck)
            .map_or_else(String::new, |operation| {
                format!(
                    "; when it had to be \"{}\", it held {}",
                    model.tell(&operation.input, operation.output()),
                    held.join(" or ")
                )
            });
        format!(
            "It held {}; no order explains [{}]{others}{stuck}.",
            model.tell_state(&self.start),
            all.join("; ")
        )
    }
}
