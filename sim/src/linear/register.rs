//! A register that is read, written, and compared and swapped.

use super::{Model, Op};

/// One number, 0 at first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Register;

/// Stands for whatever nobody was shown.
const UNSEEN: u64 = u64::MAX;

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

    /// Where what it writes was read by nobody, and expected by nobody, it is as good as any other. It can be told from none at all
    /// by a compare-and-swap alone that found something else than it expected.
    fn comes_to(&self, input: &RegisterInput, operations: &[Op<Self>]) -> Option<RegisterInput> {
        let shows = |operation: &Op<Self>, value: u64| {
            let read = operation.output() == Some(&RegisterOutput::Value(value));
            read || matches!(operation.input, RegisterInput::CompareAndSwap(held, _) if held == value)
        };
        let is_shown = |value| operations.iter().any(|operation| shows(operation, value));
        let unseen = match *input {
            RegisterInput::Write(value) if !is_shown(value) => RegisterInput::Write(UNSEEN),
            RegisterInput::CompareAndSwap(held, value) if !is_shown(value) => {
                RegisterInput::CompareAndSwap(held, UNSEEN)
            }
            _ => return Some(*input),
        };
        if is_shown(UNSEEN) {
            return Some(*input);
        }
        let differs = (operations.iter())
            .any(|operation| operation.output() == Some(&RegisterOutput::Differs));
        differs.then_some(unseen)
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
        match *state {
            UNSEEN => "what nobody was shown".to_owned(),
            state => state.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{DEFAULT_STEPS, History, Judgement};

    /// Many writes of unknown outcome, reads of what was there before, and a compare-and-swap that answers.
    fn history(swaps: bool, last: RegisterOutput) -> History<u8, RegisterInput, RegisterOutput> {
        let mut history = History::new();
        for lost in 0..300 {
            history.asked(0, 0, RegisterInput::Write(100 + lost), 10 * lost);
            let read = history.asked(1, 0, RegisterInput::Read, 10 * lost + 1);
            history
                .answered(read, RegisterOutput::Value(0), 10 * lost + 2)
                .unwrap();
        }
        if swaps {
            let swap = history.asked(1, 0, RegisterInput::CompareAndSwap(0, 7), 4_000);
            history
                .answered(swap, RegisterOutput::Differs, 4_001)
                .unwrap();
        }
        let read = history.asked(1, 0, RegisterInput::Read, 5_000);
        history.answered(read, last, 5_001).unwrap();
        history
    }

    #[test]
    fn writes_that_nobody_saw_cost_nothing() {
        let judged = |swaps, last| {
            history(swaps, RegisterOutput::Value(last)).judge(&Register, DEFAULT_STEPS)
        };
        assert!(judged(false, 0).is_ok());
        assert!(judged(false, 250).is_ok(), "one of them took effect");
        assert!(matches!(judged(false, 9), Err((0, Judgement::Broken(_)))));
        // One of those that nobody saw was there when the swap looked.
        assert!(judged(true, 250).is_ok());
        assert!(matches!(judged(true, 9), Err((0, Judgement::Broken(_)))));
    }

    #[test]
    fn what_one_object_broke_is_not_hidden_by_what_another_leaves_open() {
        let mut history = history(true, RegisterOutput::Value(9));
        let read = history.asked(1, 1, RegisterInput::Read, 10);
        history
            .answered(read, RegisterOutput::Value(3), 11)
            .unwrap();
        let (key, found) = history.judge(&Register, 100).unwrap_err();
        assert!(key == 1 && matches!(found, Judgement::Broken(_)));
    }
}
