//! What clients asked and were answered, by object, as it happens.

use super::{Judgement, Model, Operation, judge};
use std::collections::BTreeMap;
use std::fmt;

/// A history over many objects.
#[derive(Clone, Debug)]
pub struct History<K, I, O> {
    operations: Vec<Entry<K, I, O>>,
}

#[derive(Clone, Debug)]
struct Entry<K, I, O> {
    key: K,
    operation: Operation<I, O>,
    without_effect: bool,
}

/// An operation of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationId(usize);

/// An answer to an operation that has one already, is of another history, or was asked later than that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotUnderWay(pub OperationId);

impl fmt::Display for NotUnderWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "operation {} of this history: no such operation is under way at that instant; answer each once, with the id \
             its question gave and at no earlier instant",
            self.0.0
        )
    }
}

impl std::error::Error for NotUnderWay {}

impl<K, I, O> Default for History<K, I, O> {
    fn default() -> Self {
        Self {
            operations: Vec::new(),
        }
    }
}

impl<K: Ord + Clone, I: Clone, O: Clone> History<K, I, O> {
    /// Nothing asked yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A client asks something of an object. Until it is answered the outcome is unknown: it may take effect at any time
    /// from now on.
    pub fn asked(&mut self, client: u32, key: K, input: I, at: u64) -> OperationId {
        self.operations.push(Entry {
            key,
            operation: Operation {
                client,
                input,
                asked: at,
                answer: None,
            },
            without_effect: false,
        });
        OperationId(self.operations.len() - 1)
    }

    /// The client is answered.
    ///
    /// # Errors
    /// When the operation is not under way.
    pub fn answered(&mut self, id: OperationId, output: O, at: u64) -> Result<(), NotUnderWay> {
        self.under_way(id, at)?.operation.answer = Some((output, at));
        Ok(())
    }

    /// The client learns that nothing was done, and that nothing will be.
    ///
    /// # Errors
    /// When the operation is not under way.
    pub fn refused(&mut self, id: OperationId) -> Result<(), NotUnderWay> {
        self.under_way(id, u64::MAX)?.without_effect = true;
        Ok(())
    }

    /// The operations on each object, without those that certainly had no effect.
    fn by_key(&self) -> BTreeMap<K, Vec<Operation<I, O>>> {
        let mut parts: BTreeMap<K, Vec<Operation<I, O>>> = BTreeMap::new();
        for entry in self.operations.iter().filter(|entry| !entry.without_effect) {
            let part = parts.entry(entry.key.clone()).or_default();
            part.push(entry.operation.clone());
        }
        parts
    }

    /// Judges each object by itself, each with this budget.
    ///
    /// # Errors
    /// The first object that is not linearizable, or else the first that is not known to be.
    pub fn judge<M: Model<Input = I, Output = O>>(
        &self,
        model: &M,
        steps: u64,
    ) -> Result<(), (K, Judgement<M>)> {
        let mut unknown = None;
        for (key, operations) in self.by_key() {
            match judge(model, &operations, steps) {
                Judgement::Linearizable => {}
                Judgement::Unknown => unknown = unknown.or(Some(key)),
                broken @ Judgement::Broken(_) => return Err((key, broken)),
            }
        }
        unknown.map_or(Ok(()), |key| Err((key, Judgement::Unknown)))
    }

    fn under_way(&mut self, id: OperationId, at: u64) -> Result<&mut Entry<K, I, O>, NotUnderWay> {
        self.operations
            .get_mut(id.0)
            .filter(|entry| {
                entry.operation.answer.is_none()
                    && !entry.without_effect
                    && entry.operation.asked <= at
            })
            .ok_or(NotUnderWay(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{Counter, CounterInput, DEFAULT_STEPS};

    #[test]
    fn objects_are_judged_apart() {
        let mut history = History::new();
        for (key, answer) in [("a", 1), ("b", 2), ("c", 1)] {
            let id = history.asked(0, key, CounterInput::Add(1), 0);
            history.answered(id, answer, 5).unwrap();
        }
        let (key, judgement) = history.judge(&Counter, DEFAULT_STEPS).unwrap_err();
        assert!(key == "b" && matches!(judgement, Judgement::Broken(_)));
    }

    #[test]
    fn what_was_refused_does_not_count() {
        let mut history = History::new();
        let refused = history.asked(0, (), CounterInput::Add(1), 0);
        let read = history.asked(1, (), CounterInput::Read, 2);
        history.answered(read, 1, 3).unwrap();
        assert!(history.judge(&Counter, DEFAULT_STEPS).is_ok());
        history.refused(refused).unwrap();
        assert!(history.judge(&Counter, DEFAULT_STEPS).is_err());
    }

    #[test]
    fn nothing_is_answered_twice_or_before_it_was_asked() {
        let mut history = History::new();
        let add = history.asked(0, (), CounterInput::Add(1), 7);
        assert_eq!(history.answered(add, 1, 6), Err(NotUnderWay(add)));
        history.answered(add, 1, 7).unwrap();
        assert_eq!(history.answered(add, 1, 8), Err(NotUnderWay(add)));
        assert_eq!(history.refused(add), Err(NotUnderWay(add)));
        let foreign = OperationId(9);
        let error = history.answered(foreign, 1, 8).unwrap_err().to_string();
        assert!(error.contains("operation 9") && error.contains("answer each once"));
    }
}
