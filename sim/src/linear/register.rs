//! A register that is read, written, and compared and swapped.

use super::Model;

/// One number, 0 at first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Register;

/// What is asked of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterInput {
    /// What it holds.
    Read,
    /// To hold this.
    Write(u64),
    /// To hold the second if it holds the first.
    CompareAndSwap(u64, u64),
}

/// What a register answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterOutput {
    /// To a read.
    Value(u64),
    /// To a write, and to a compare-and-swap that found what it expected.
    Done,
    /// To a compare-and-swap that did not.
    Differs,
}

impl Model for Register {
    type State = u64;
    type Input = RegisterInput;
    type Output = RegisterOutput;

    fn initial(&self) -> u64 {
        0
    }

    fn step(
        &self,
        state: &u64,
        input: &RegisterInput,
        output: Option<&RegisterOutput>,
    ) -> Option<u64> {
        let (answer, next) = match *input {
            RegisterInput::Read => (RegisterOutput::Value(*state), *state),
            RegisterInput::Write(value) => (RegisterOutput::Done, value),
            RegisterInput::CompareAndSwap(expected, value) if expected == *state => {
                (RegisterOutput::Done, value)
            }
            RegisterInput::CompareAndSwap(..) => (RegisterOutput::Differs, *state),
        };
        output
            .is_none_or(|output| *output == answer)
            .then_some(next)
    }

    fn changes(&self, input: &RegisterInput, output: Option<&RegisterOutput>) -> bool {
        *input != RegisterInput::Read && output != Some(&RegisterOutput::Differs)
    }

    fn tell(&self, input: &RegisterInput, output: Option<&RegisterOutput>) -> String {
        let asked = match input {
            RegisterInput::Read => "read".to_owned(),
            RegisterInput::Write(value) => format!("write {value}"),
            RegisterInput::CompareAndSwap(expected, value) => {
                format!("swap {expected} for {value}")
            }
        };
        match output {
            Some(RegisterOutput::Value(value)) => format!("{asked} {value}"),
            Some(RegisterOutput::Differs) => format!("{asked} (it differs)"),
            Some(RegisterOutput::Done) => asked,
            None => format!("{asked} (outcome unknown)"),
        }
    }

    fn tell_state(&self, state: &u64) -> String {
        state.to_string()
    }
}
