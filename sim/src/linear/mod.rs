//! Linearizability: whether what clients were answered can be explained by one order of their operations, in which each
//! takes effect at one instant between its question and its answer (INV-R1).
//!
//! The search is Wing and Gong's (1993): take any operation that nothing unexplained precedes, see whether the model
//! allows its answer, go on, and back out of dead ends; with Lowe's memory (2017) of what was tried. What keeps it cheap
//! here:
//!
//! - Objects are independent: a [`History`] is judged key by key (Herlihy and Wing's locality).
//! - What is remembered of a point of the search is as wide as the operations under way there, not as the history.
//! - An operation that changes nothing, such as a read, is taken as soon as it fits: that is never worse.
//! - An operation whose outcome nobody learned may take effect at any time after its question, or never. Of those that
//!   ask for the same, the earliest goes first; and to have spent more of them for the same is worth nothing. One that no
//!   answer tells of is left out, or is [as good as any other](Model::comes_to).
//! - An answer that can never be given any more, such as a lower number of a counter, ends a branch at once.
//!
//! The problem is NP-complete, so the search has a budget of steps. Beyond it the answer is [`Judgement::Unknown`], which
//! is no pass: whoever asks must treat it as a failure.
//!
//! ```
//! use tenure_sim::linear::{History, Judgement, Register, RegisterInput, RegisterOutput, DEFAULT_STEPS};
//!
//! let mut history = History::new();
//! let write = history.asked(0, "x", RegisterInput::Write(1), 10);
//! let read = history.asked(1, "x", RegisterInput::Read, 20);
//! history.answered(read, RegisterOutput::Value(1), 30)?;
//! history.answered(write, RegisterOutput::Done, 40)?;
//! let late = history.asked(1, "x", RegisterInput::Read, 50);
//! history.answered(late, RegisterOutput::Value(0), 60)?;
//! let (key, found) = history.judge(&Register, DEFAULT_STEPS).unwrap_err();
//! let Judgement::Broken(counterexample) = found else { panic!() };
//! assert_eq!(key, "x");
//! assert_eq!((counterexample.start, counterexample.operations.len()), (1, 1), "the late read alone");
//! # Ok::<(), tenure_sim::linear::NotUnderWay>(())
//! ```

mod counter;
mod explain;
mod history;
mod model;
mod points;
mod register;
mod search;
mod walk;
mod window;

pub use counter::{Counter, CounterInput};
pub use explain::Counterexample;
pub use history::{History, NotUnderWay, OperationId};
pub use model::{Model, Op, Operation};
pub use register::{Register, RegisterInput, RegisterOutput};
pub use window::Window;

use search::{Extent, Found, Search};

/// A budget of steps that histories of thousands of operations stay far below: a step is one try of one operation.
pub const DEFAULT_STEPS: u64 = 2_000_000;

/// What became of a history.
#[derive(Clone, Debug)]
pub enum Judgement<M: Model> {
    /// Some order explains every answer.
    Linearizable,
    /// None does; a small part that none does.
    Broken(Box<Counterexample<M>>),
    /// The budget was used up: not a pass.
    Unknown,
}

/// Judges the operations on one object, in any order.
#[must_use]
pub fn judge<M: Model>(model: &M, operations: &[Op<M>], steps: u64) -> Judgement<M> {
    let start = model.initial();
    match Search::new(model, operations).run(&start, steps, Extent::First) {
        Found::Orders(_) => Judgement::Linearizable,
        Found::None { .. } => {
            Judgement::Broken(Box::new(explain::minimised(model, operations, steps)))
        }
        Found::OutOfSteps => Judgement::Unknown,
    }
}

/// Whether some order explains every answer, without a counterexample; `None` when the budget is used up.
#[must_use]
pub fn is_linearizable<M: Model>(model: &M, operations: &[Op<M>], steps: u64) -> Option<bool> {
    match Search::new(model, operations).run(&model.initial(), steps, Extent::First) {
        Found::Orders(_) => Some(true),
        Found::None { .. } => Some(false),
        Found::OutOfSteps => None,
    }
}
