//! A counter that is read, and added to: what the clients of the simulated leaders ask for.

use super::Model;

/// One number, 0 at first. Every answer is what it then holds: for an addition, the number after it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counter;

/// What is asked of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterInput {
    /// What it holds.
    Read,
    /// To hold this much more.
    Add(u64),
}

impl Model for Counter {
    type State = u64;
    type Input = CounterInput;
    type Output = u64;

    fn initial(&self) -> u64 {
        0
    }

    fn step(&self, state: &u64, input: &CounterInput, output: Option<&u64>) -> Option<u64> {
        let next = match input {
            CounterInput::Read => *state,
            CounterInput::Add(more) => state.saturating_add(*more),
        };
        output.is_none_or(|output| *output == next).then_some(next)
    }

    fn changes(&self, input: &CounterInput, _: Option<&u64>) -> bool {
        !matches!(input, CounterInput::Read | CounterInput::Add(0))
    }

    fn is_past(&self, state: &u64, input: &CounterInput, output: &u64) -> bool {
        match input {
            CounterInput::Read => output < state,
            CounterInput::Add(more) => *output < state.saturating_add(*more),
        }
    }

    fn settles(&self, input: &CounterInput, output: &u64) -> Option<u64> {
        (*input == CounterInput::Read).then_some(*output)
    }

    fn tell(&self, input: &CounterInput, output: Option<&u64>) -> String {
        let asked = match input {
            CounterInput::Read => "read".to_owned(),
            CounterInput::Add(more) => format!("add {more}"),
        };
        match (input, output) {
            (_, None) => format!("{asked} (outcome unknown)"),
            (CounterInput::Read, Some(value)) => format!("{asked} {value}"),
            (CounterInput::Add(_), Some(value)) => format!("{asked}, to {value}"),
        }
    }

    fn tell_state(&self, state: &u64) -> String {
        state.to_string()
    }
}
