//! The search for an order.
//!
//! The operations that were answered stand in a linked list in order of their questions; whatever is taken leaves the list
//! and comes back when the search backs out. The *level* is the earliest answer not yet explained: only what was asked
//! before it may be taken next. So what was taken beyond the level was under way at that answer, and a bit for each
//! operation under way (its place is used again after its answer) says with the level which of them were taken.
//!
//! A point of the search is known when it was reached before with no more operations of unknown outcome spent: what is left
//! to do from there is no less.

use super::points::Seen;
use super::walk::{Next, Walk};
use super::{Model, Op};

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// To the first order.
    First,
    /// To all ends that orders lead to.
    All,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found<S> {
    /// Orders, and what they lead to.
    Orders(Vec<End<S>>),
    /// No order goes beyond the answer of the operation `stuck`; the states in which one arrives there.
    None {
        /// A place in the operations.
        stuck: usize,
        /// In order of their discovery, at most [`TOLD`].
        states: Vec<S>,
    },
    /// The budget was used up.
    OutOfSteps,
}

/// What an order leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct End<S> {
    pub(super) state: S,
    /// The operations of unknown outcome that took effect: places in the operations, rising.
    pub(super) spent: Vec<usize>,
}

/// How many states are told of.
const TOLD: usize = 4;
/// No operation: the end of the list, and no twin.
pub(super) const NONE: u32 = u32::MAX;

/// The operations, made ready.
#[derive(Debug)]
pub(super) struct Search<'a, M: Model> {
    pub(super) model: &'a M,
    pub(super) operations: &'a [Op<M>],
    /// Those that were answered, in order of their answers.
    pub(super) by_answer: Vec<u32>,
    /// Those that were answered, in order of their questions.
    pub(super) by_question: Vec<u32>,
    /// Those of unknown outcome that may change something, and that an answer may tell of, in order of their questions.
    pub(super) open: Vec<u32>,
    /// By operation: the one of unknown outcome before it that comes to the same.
    pub(super) twin: Vec<u32>,
    /// By operation: its bit. Those of unknown outcome have bits of their own.
    pub(super) bit: Vec<u32>,
    pub(super) changes: Vec<bool>,
    /// By operation: what it [comes to](Model::comes_to), where its outcome is unknown.
    comes_to: Vec<Option<M::Input>>,
    /// How many bits the answered ones take.
    pub(super) width: u32,
}

impl<'a, M: Model> Search<'a, M> {
    /// What an operation asks for, as far as answers tell.
    pub(super) fn input(&self, place: u32) -> &M::Input {
        let plain = self.comes_to[place as usize].as_ref();
        plain.unwrap_or(&self.operations[place as usize].input)
    }

    /// Operations in any order.
    pub(super) fn new(model: &'a M, operations: &'a [Op<M>]) -> Self {
        let places = || 0..operations.len() as u32;
        let operation = |place: &u32| &operations[*place as usize];
        let changes: Vec<bool> = operations
            .iter()
            .map(|operation| model.changes(&operation.input, operation.output()))
            .collect();
        let comes_to: Vec<Option<M::Input>> = (operations.iter())
            .map(|one| match one.answer {
                None => model.comes_to(&one.input, operations),
                Some(_) => None,
            })
            .collect();
        let mut by_question: Vec<u32> = places()
            .filter(|place| operation(place).answer.is_some())
            .collect();
        let mut by_answer = by_question.clone();
        let mut open: Vec<u32> = places()
            .filter(|place| operation(place).answer.is_none() && changes[*place as usize])
            .filter(|place| comes_to[*place as usize].is_some())
            .collect();
        by_question.sort_by_key(|place| operation(place).asked);
        by_answer.sort_by_key(|place| operation(place).answered());
        open.sort_by_key(|place| operation(place).asked);

        let mut twin = vec![NONE; operations.len()];
        let mut newest: Vec<u32> = Vec::new();
        for place in &open {
            let input = &comes_to[*place as usize];
            match newest
                .iter_mut()
                .find(|twin| comes_to[**twin as usize] == *input)
            {
                Some(before) => twin[*place as usize] = std::mem::replace(before, *place),
                None => newest.push(*place),
            }
        }

        let mut bit = vec![NONE; operations.len()];
        let mut free: Vec<u32> = Vec::new();
        let mut width = 0;
        let mut answers = by_answer.iter().peekable();
        for place in &by_question {
            let asked = operation(place).asked;
            while let Some(done) =
                answers.next_if(|done| operation(done).answered().is_some_and(|at| at < asked))
            {
                // One that was answered before it was asked has no bit yet.
                if bit[*done as usize] != NONE {
                    free.push(bit[*done as usize]);
                }
            }
            bit[*place as usize] = free.pop().unwrap_or_else(|| {
                width += 1;
                width - 1
            });
        }
        for (number, place) in (0..).zip(&open) {
            bit[*place as usize] = number;
        }
        Self {
            model,
            operations,
            by_answer,
            by_question,
            open,
            twin,
            bit,
            changes,
            comes_to,
            width,
        }
    }

    /// Searches from a state, with a budget of steps: a step is one try of one operation.
    pub(super) fn run(&self, start: &M::State, steps: u64, extent: Extent) -> Found<M::State> {
        let mut walk = Walk::new(self, start.clone(), steps);
        let mut frames: Vec<Frame<M::State>> = Vec::new();
        let mut seen = Seen::default();
        let mut ends = Vec::new();
        let mut furthest = Furthest::default();
        let mut past = walk.absorb();
        let mut fresh = true;
        let mut from = walk.first();
        loop {
            if walk.steps == 0 {
                return Found::OutOfSteps;
            }
            if fresh {
                fresh = false;
                if walk.level == self.by_answer.len() {
                    ends.push(walk.end());
                    if extent == Extent::First {
                        return Found::Orders(ends);
                    }
                } else {
                    furthest.arrive(&walk, past);
                }
            }
            let taken = match past.take() {
                None if walk.level < self.by_answer.len() => walk.try_from(from),
                _ => None,
            };
            if let Some((place, state, next)) = taken {
                frames.push(Frame {
                    next,
                    trail: walk.trail.len(),
                    state: std::mem::replace(&mut walk.state, state),
                });
                walk.take(place);
                past = walk.absorb();
                fresh = seen.is_new(&walk);
                if fresh {
                    from = walk.first();
                    continue;
                }
            }
            // A dead end, a known point, or an end: back.
            let Some(frame) = frames.pop() else {
                break;
            };
            walk.undo(frame.trail);
            walk.state = frame.state;
            from = frame.next;
            past = None;
        }
        if ends.is_empty() {
            Found::None {
                stuck: furthest.stuck as usize,
                states: furthest.states,
            }
        } else {
            Found::Orders(ends)
        }
    }
}

/// How far the search came.
#[derive(Debug)]
struct Furthest<S> {
    level: usize,
    /// The operation that was in the way there.
    stuck: u32,
    /// Whether its answer was past: that says more than that nothing led to it.
    past: bool,
    states: Vec<S>,
}

impl<S> Default for Furthest<S> {
    fn default() -> Self {
        Self {
            level: 0,
            stuck: NONE,
            past: false,
            states: Vec::new(),
        }
    }
}

impl<S: Clone + Eq> Furthest<S> {
    fn arrive<M: Model<State = S>>(&mut self, walk: &Walk<'_, '_, M>, past: Option<u32>) {
        if walk.level < self.level {
            return;
        }
        if walk.level > self.level || self.stuck == NONE || (past.is_some() && !self.past) {
            *self = Self {
                level: walk.level,
                stuck: past.unwrap_or(walk.search.by_answer[walk.level]),
                past: past.is_some(),
                states: Vec::new(),
            };
        }
        let same = !self.past || past == Some(self.stuck);
        if same && self.states.len() < TOLD && !self.states.contains(&walk.state) {
            self.states.push(walk.state.clone());
        }
    }
}

/// Where the search can go back to.
#[derive(Debug)]
struct Frame<S> {
    next: Next,
    trail: usize,
    state: S,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{Counter, CounterInput, Operation};

    fn add(asked: u64, answer: Option<(u64, u64)>) -> Operation<CounterInput, u64> {
        Operation {
            client: 0,
            input: CounterInput::Add(1),
            asked,
            answer,
        }
    }

    fn read(asked: u64, value: u64, answered: u64) -> Operation<CounterInput, u64> {
        Operation {
            input: CounterInput::Read,
            ..add(asked, Some((value, answered)))
        }
    }

    fn all(operations: &[Operation<CounterInput, u64>]) -> Found<u64> {
        Search::new(&Counter, operations).run(&0, 1_000, Extent::All)
    }

    fn end(state: u64, spent: &[usize]) -> End<u64> {
        End {
            state,
            spent: spent.to_vec(),
        }
    }

    #[test]
    fn nothing_asked_is_one_order() {
        assert_eq!(all(&[]), Found::Orders(vec![end(0, &[])]));
    }

    #[test]
    fn what_overlaps_may_come_in_either_order_and_what_does_not_may_not() {
        let overlapping = [add(0, Some((2, 10))), add(5, Some((1, 15)))];
        assert_eq!(all(&overlapping), Found::Orders(vec![end(2, &[])]));
        let apart = [add(0, Some((2, 4))), add(5, Some((1, 15)))];
        let stuck = Found::None {
            stuck: 0,
            states: vec![0],
        };
        assert_eq!(all(&apart), stuck);
        // At one instant: the question need not be later.
        let touching = [add(0, Some((2, 5))), add(5, Some((1, 15)))];
        assert_eq!(all(&touching), Found::Orders(vec![end(2, &[])]));
    }

    #[test]
    fn an_unknown_outcome_may_come_late_or_never() {
        let operations = [add(0, None), read(5, 0, 6), read(8, 1, 9)];
        assert_eq!(all(&operations), Found::Orders(vec![end(1, &[0])]));
        let never = [add(0, None), read(5, 0, 6)];
        assert_eq!(all(&never), Found::Orders(vec![end(0, &[])]));
        let not_before_it_was_asked = [add(7, None), read(5, 1, 6)];
        assert!(matches!(
            all(&not_before_it_was_asked),
            Found::None { stuck: 1, .. }
        ));
    }

    #[test]
    fn of_twins_the_earliest_goes_first() {
        let operations = [add(3, None), add(0, None), add(2, None), read(5, 2, 6)];
        assert_eq!(all(&operations), Found::Orders(vec![end(2, &[1, 2])]));
    }

    #[test]
    fn many_under_way_at_once() {
        // More than fit into the two words that are not allocated.
        let mut operations: Vec<_> = (0..150)
            .map(|k| add(k, Some((150 - k, 1_000 + k))))
            .collect();
        let found = Search::new(&Counter, &operations).run(&0, 1_000_000, Extent::First);
        assert_eq!(found, Found::Orders(vec![end(150, &[])]));
        operations[7].answer = Some((149, 1_007));
        let found = Search::new(&Counter, &operations).run(&0, 1_000_000, Extent::First);
        assert!(matches!(found, Found::None { .. }));
    }

    #[test]
    fn the_budget_ends_it() {
        let operations: Vec<_> = (0..20).map(|k| add(k, Some((20 - k, 1_000 + k)))).collect();
        let found = Search::new(&Counter, &operations).run(&0, 100, Extent::First);
        assert_eq!(found, Found::OutOfSteps);
    }

    #[test]
    fn an_answer_before_its_question_fits_nowhere() {
        let operations = [add(9, Some((1, 4))), add(10, Some((1, 12)))];
        assert!(matches!(all(&operations), Found::None { stuck: 0, .. }));
    }
}
