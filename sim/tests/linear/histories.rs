//! Random histories, and the same question put to porcupine-rs.

use porcupine_rs::{CheckResult, check_operations_timeout};
use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;
use std::time::Duration;
use tenure::random::Random;
use tenure_sim::linear::{
    Counter, CounterInput, Model, Op, Operation, Register, RegisterInput, RegisterOutput,
};

/// How a history is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw {
    pub(crate) clients: usize,
    pub(crate) operations: usize,
    /// Of how many operations one is never answered; 0: each is.
    pub(crate) unanswered: u64,
}

/// A model whose operations can be drawn, and whose answers can be made up.
pub(crate) trait Drawn: Model + Default + Send + Sync + 'static {
    fn input(&self, random: &mut Random) -> Self::Input;
    /// What it answers, and holds then.
    fn apply(&self, state: &Self::State, input: &Self::Input) -> (Self::Output, Self::State);
    fn other(&self, output: &Self::Output, random: &mut Random) -> Self::Output;
}

impl Drawn for Register {
    fn input(&self, random: &mut Random) -> RegisterInput {
        let mut value = || 1 + random.below(5);
        let (one, other) = (value(), value());
        match random.below(5) {
            0 | 1 => RegisterInput::Write(one),
            2 => RegisterInput::CompareAndSwap(one, other),
            _ => RegisterInput::Read,
        }
    }

    fn apply(&self, state: &u64, input: &RegisterInput) -> (RegisterOutput, u64) {
        match *input {
            RegisterInput::Read => (RegisterOutput::Value(*state), *state),
            RegisterInput::Write(value) => (RegisterOutput::Done, value),
            RegisterInput::CompareAndSwap(from, to) if from == *state => (RegisterOutput::Done, to),
            RegisterInput::CompareAndSwap(..) => (RegisterOutput::Differs, *state),
        }
    }

    fn other(&self, output: &RegisterOutput, random: &mut Random) -> RegisterOutput {
        match output {
            RegisterOutput::Value(_) => RegisterOutput::Value(random.below(6)),
            RegisterOutput::Done | RegisterOutput::Differs => RegisterOutput::Differs,
        }
    }
}

impl Drawn for Counter {
    fn input(&self, random: &mut Random) -> CounterInput {
        match random.below(3) {
            0 => CounterInput::Read,
            _ => CounterInput::Add(1 + random.below(2)),
        }
    }

    fn apply(&self, state: &u64, input: &CounterInput) -> (u64, u64) {
        let next = match input {
            CounterInput::Read => *state,
            CounterInput::Add(more) => state + more,
        };
        (next, next)
    }

    fn other(&self, output: &u64, random: &mut Random) -> u64 {
        (output + random.below(5)).saturating_sub(2)
    }
}

/// A history that some order explains: each operation takes effect at an instant between question and answer. No two
/// things happen at one instant.
pub(crate) fn explained<M: Drawn>(model: &M, draw: Draw, random: &mut Random) -> Vec<Op<M>> {
    let mut operations: Vec<Op<M>> = Vec::new();
    let mut state = model.initial();
    // By client: its operation, and the answer once it took effect.
    let mut busy: Vec<Option<(usize, Option<M::Output>)>> = vec![None; draw.clients];
    let mut now = 0;
    while operations.len() < draw.operations || busy.iter().any(Option::is_some) {
        now += 1;
        let client = random.below(draw.clients as u64) as usize;
        let lost = draw.unanswered > 0 && random.below(draw.unanswered) == 0;
        busy[client] = match busy[client].take() {
            None if operations.len() < draw.operations => {
                operations.push(Operation {
                    client: client as u32,
                    input: model.input(random),
                    asked: now,
                    answer: None,
                });
                Some((operations.len() - 1, None))
            }
            // Lost before it took effect, or after.
            Some(_) if lost => None,
            Some((place, None)) => {
                let (output, next) = model.apply(&state, &operations[place].input);
                state = next;
                Some((place, Some(output)))
            }
            Some((place, Some(output))) => {
                operations[place].answer = Some((output, now));
                None
            }
            None => None,
        };
    }
    operations
}

/// Changes an answer, mostly of the later half. It may still be explained.
pub(crate) fn corrupted<M: Drawn>(
    model: &M,
    operations: &[Op<M>],
    random: &mut Random,
) -> Vec<Op<M>> {
    let mut corrupted = operations.to_vec();
    let half = operations.len() / 2;
    for _ in 0..8 {
        let place = half + random.below((operations.len() - half) as u64) as usize;
        if let Some((output, _)) = &mut corrupted[place].answer {
            *output = model.other(output, random);
            break;
        }
    }
    corrupted
}

/// One of our models, as porcupine-rs wants it.
#[derive(Clone, Debug)]
struct Theirs<M>(PhantomData<M>);

impl<M: Drawn> porcupine_rs::Model for Theirs<M>
where
    M::State: Send + Sync + Debug + Hash,
    M::Input: Send + Sync,
    M::Output: Send + Sync,
{
    type State = M::State;
    type Op = (M::Input, Option<M::Output>);
    type Metadata = ();

    fn init() -> Self::State {
        M::default().initial()
    }

    fn step(state: &Self::State, (input, output): &Self::Op) -> (bool, Self::State) {
        match M::default().step(state, input, output.as_ref()) {
            Some(next) => (true, next),
            None => (false, state.clone()),
        }
    }
}

/// What porcupine-rs says; `None` when it did not finish. An operation of unknown outcome returns after everything else.
pub(crate) fn porcupine<M: Drawn>(operations: &[Op<M>], patience: Duration) -> Option<bool>
where
    M::State: Send + Sync + Debug + Hash,
    M::Input: Send + Sync,
    M::Output: Send + Sync,
{
    let theirs: Vec<_> = operations
        .iter()
        .map(|operation| porcupine_rs::Operation::<Theirs<M>> {
            client_id: Some(operation.client),
            call_time: operation.asked as i64,
            return_time: operation.answered().map_or(i64::MAX, |at| at as i64),
            op: (operation.input.clone(), operation.output().cloned()),
            metadata: None,
        })
        .collect();
    match check_operations_timeout(&theirs, patience) {
        CheckResult::Ok => Some(true),
        CheckResult::Illegal => Some(false),
        CheckResult::Unknown => None,
    }
}
