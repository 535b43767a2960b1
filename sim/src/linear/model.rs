//! What an object may answer, one operation after the other, and what an operation is.

use std::fmt::Debug;
use std::hash::Hash;

/// A sequential object.
pub trait Model: Clone {
    /// What it holds.
    type State: Clone + Eq + Hash + Debug;
    /// What is asked of it.
    type Input: Clone + Eq + Debug;
    /// What it answers.
    type Output: Clone + Debug;

    /// What it holds before anything was asked of it.
    fn initial(&self) -> Self::State;

    /// What it holds afterwards, or `None` if it does not answer so. No output: the answer is not known, and every one is
    /// right.
    fn step(
        &self,
        state: &Self::State,
        input: &Self::Input,
        output: Option<&Self::Output>,
    ) -> Option<Self::State>;

    /// Whether this operation, with this answer, may change what the object holds, whatever that is. An operation that
    /// never does is taken as soon as it fits, and left out when its answer is not known.
    fn changes(&self, input: &Self::Input, output: Option<&Self::Output>) -> bool;

    /// Whether an answer can never be given any more once the object holds this. Worth knowing of objects that go one way:
    /// a counter never comes back. False is always right.
    fn is_past(&self, state: &Self::State, input: &Self::Input, output: &Self::Output) -> bool {
        let _ = (state, input, output);
        false
    }

    /// What the object held when it answered so, if the answer tells all of it, and the object goes one way: whatever answer
    /// is not [past](Self::is_past) by then is then yet to come. So one look parts all that was from all that will be,
    /// though something is always under way. Nothing is always right.
    fn settles(&self, input: &Self::Input, output: &Self::Output) -> Option<Self::State> {
        let _ = (input, output);
        None
    }

    /// What an operation whose outcome nobody learned comes to, as far as answers tell: of two that come to the same, one is as good
    /// as the other. Nothing where whatever order has it goes without it, too. Itself is always right.
    fn comes_to(&self, input: &Self::Input, operations: &[Op<Self>]) -> Option<Self::Input> {
        let _ = operations;
        Some(input.clone())
    }

    /// The operation in words: `read 5`, `write 3`.
    fn tell(&self, input: &Self::Input, output: Option<&Self::Output>) -> String;

    /// What it holds, in words.
    fn tell_state(&self, state: &Self::State) -> String;
}

/// An operation of a model.
pub type Op<M> = Operation<<M as Model>::Input, <M as Model>::Output>;

/// One operation of one client. Instants are of any clock that all clients share. An answer at the very instant of another
/// question does not precede it; one before its own question is explained by no order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation<I, O> {
    /// Who asked.
    pub client: u32,
    /// For what.
    pub input: I,
    /// When.
    pub asked: u64,
    /// The answer, and when it came; `None` when the client never learned the outcome. Certainly without effect is
    /// another thing: such an operation does not belong into a history.
    pub answer: Option<(O, u64)>,
}

impl<I, O> Operation<I, O> {
    /// What was answered.
    pub fn output(&self) -> Option<&O> {
        self.answer.as_ref().map(|(output, _)| output)
    }

    /// When the answer came.
    pub fn answered(&self) -> Option<u64> {
        self.answer.as_ref().map(|(_, at)| *at)
    }
}
