//! The search for an order.
//!
//! The operations that were answered stand in a linked list in order of their questions; whatever is taken leaves the list
//! and comes back when the search backs out. The *level* is the earliest answer not yet explained: only what was asked
//! before it may be taken next. So what was taken beyond the level was under way at that answer, and a bit for each
//! operation under way (its place is used again after its answer) says with the level which of them were taken.
//!
//! A point of the search is known when it was reached before with no more operations of unknown outcome spent: what is left
//! to do from there is no less.

use super::{Model, Op};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hash, Hasher};

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
const NONE: u32 = u32::MAX;

/// The operations, made ready.
#[derive(Debug)]
pub(super) struct Search<'a, M: Model> {
    model: &'a M,
    operations: &'a [Op<M>],
    /// Those that were answered, in order of their answers.
    by_answer: Vec<u32>,
    /// Those that were answered, in order of their questions.
    by_question: Vec<u32>,
    /// Those of unknown outcome that may change something, in order of their questions.
    open: Vec<u32>,
    /// By operation: the one of unknown outcome before it that asks for the same.
    twin: Vec<u32>,
    /// By operation: its bit. Those of unknown outcome have bits of their own.
    bit: Vec<u32>,
    changes: Vec<bool>,
    /// How many bits the answered ones take.
    width: u32,
}

impl<'a, M: Model> Search<'a, M> {
    /// Operations in any order.
    pub(super) fn new(model: &'a M, operations: &'a [Op<M>]) -> Self {
        let places = || 0..operations.len() as u32;
        let operation = |place: &u32| &operations[*place as usize];
        let changes: Vec<bool> = operations
            .iter()
            .map(|operation| model.changes(&operation.input, operation.output()))
            .collect();
        let mut by_question: Vec<u32> = places()
            .filter(|place| operation(place).answer.is_some())
            .collect();
        let mut by_answer = by_question.clone();
        let mut open: Vec<u32> = places()
            .filter(|place| operation(place).answer.is_none() && changes[*place as usize])
            .collect();
        by_question.sort_by_key(|place| operation(place).asked);
        by_answer.sort_by_key(|place| operation(place).answered());
        open.sort_by_key(|place| operation(place).asked);

        let mut twin = vec![NONE; operations.len()];
        let mut newest: Vec<u32> = Vec::new();
        for place in &open {
            let input = &operation(place).input;
            match newest
                .iter_mut()
                .find(|twin| operation(twin).input == *input)
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

/// Which operation to try next.
#[derive(Clone, Copy, Debug)]
struct Next {
    /// In the list.
    listed: u32,
    /// Behind the list: a place in the operations of unknown outcome.
    open: u32,
}

/// Where the search can go back to.
#[derive(Debug)]
struct Frame<S> {
    next: Next,
    trail: usize,
    state: S,
}

/// The points of a search, each with the fewest operations of unknown outcome that were spent to reach it. What is not
/// there was not spent, so there are none for most histories.
#[derive(Debug)]
struct Seen<S>(HashMap<Point<S>, Vec<Box<[u64]>>, BuildHasherDefault<Mixer>>);

impl<S> Default for Seen<S> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<S: Clone + Eq + Hash> Seen<S> {
    fn is_new<M: Model<State = S>>(&mut self, walk: &Walk<'_, '_, M>) -> bool {
        let spent = &*walk.spent;
        match self.0.entry(walk.point()) {
            Entry::Vacant(place) => {
                place.insert(match spent {
                    [] => Vec::new(),
                    _ => vec![spent.into()],
                });
                true
            }
            Entry::Occupied(mut place) => {
                let within = |few: &[u64], many: &[u64]| {
                    few.iter().zip(many).all(|(few, many)| few & !many == 0)
                };
                let known = spent.is_empty() || place.get().iter().any(|few| within(few, spent));
                if !known {
                    place.get_mut().retain(|many| !within(spent, many));
                    place.get_mut().push(spent.into());
                }
                !known
            }
        }
    }
}

/// A point of the search, to be known again.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Point<S> {
    level: usize,
    taken: Taken,
    state: S,
}

/// Bits; nothing is allocated for few.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Taken {
    Few([u64; 2]),
    Many(Box<[u64]>),
}

/// The search where it stands.
#[derive(Debug)]
struct Walk<'a, 'b, M: Model> {
    search: &'b Search<'a, M>,
    state: M::State,
    level: usize,
    /// By operation, and one more for the head of the list.
    next: Vec<u32>,
    previous: Vec<u32>,
    taken: Vec<bool>,
    /// Those that were answered.
    bits: Vec<u64>,
    /// Those of unknown outcome.
    spent: Vec<u64>,
    /// What was taken, and the level before.
    trail: Vec<(u32, usize)>,
    steps: u64,
}

impl<'a, 'b, M: Model> Walk<'a, 'b, M> {
    fn new(search: &'b Search<'a, M>, state: M::State, steps: u64) -> Self {
        let count = search.operations.len();
        let (mut next, mut previous) = (vec![NONE; count + 1], vec![NONE; count + 1]);
        let mut last = count as u32;
        for place in &search.by_question {
            next[last as usize] = *place;
            previous[*place as usize] = last;
            last = *place;
        }
        Self {
            search,
            state,
            level: 0,
            next,
            previous,
            taken: vec![false; count],
            bits: vec![0; search.width.div_ceil(64) as usize],
            spent: vec![0; search.open.len().div_ceil(64)],
            trail: Vec::with_capacity(count),
            steps,
        }
    }

    fn first(&self) -> Next {
        Next {
            listed: self.next[self.search.operations.len()],
            open: 0,
        }
    }

    /// The answer that only what was asked before may precede.
    fn horizon(&self) -> Option<u64> {
        let place = *self.search.by_answer.get(self.level)?;
        self.search.operations[place as usize].answered()
    }

    /// Takes every operation that fits and changes nothing: whatever order goes on from here, they may as well come now.
    /// Answers the first operation whose answer is past.
    fn absorb(&mut self) -> Option<u32> {
        let mut place = self.first().listed;
        while place != NONE && self.may(place) {
            let next = self.next[place as usize];
            if !self.search.changes[place as usize] && self.outcome(place).is_some() {
                self.take(place);
            } else if self.is_past(place) {
                return Some(place);
            }
            place = next;
        }
        None
    }

    /// The first operation from there on that may be taken and fits, the state after it, and what to try after it.
    fn try_from(&mut self, from: Next) -> Option<(u32, M::State, Next)> {
        let mut at = from;
        while at.listed != NONE && self.may(at.listed) {
            let place = at.listed;
            at.listed = self.next[place as usize];
            // What changes nothing and fits was taken already.
            if self.search.changes[place as usize]
                && let Some(state) = self.outcome(place)
            {
                return Some((place, state, at));
            }
            if self.steps == 0 {
                return None;
            }
        }
        at.listed = NONE;
        while let Some(place) = self.search.open.get(at.open as usize).copied() {
            if !self.may(place) {
                break;
            }
            at.open += 1;
            let twin = self.search.twin[place as usize];
            if self.taken[place as usize] || (twin != NONE && !self.taken[twin as usize]) {
                continue;
            }
            if let Some(state) = self.outcome(place) {
                return Some((place, state, at));
            }
            if self.steps == 0 {
                return None;
            }
        }
        None
    }

    fn may(&self, place: u32) -> bool {
        self.horizon()
            .is_some_and(|horizon| self.search.operations[place as usize].asked <= horizon)
    }

    fn outcome(&mut self, place: u32) -> Option<M::State> {
        self.steps = self.steps.saturating_sub(1);
        let operation = &self.search.operations[place as usize];
        self.search
            .model
            .step(&self.state, &operation.input, operation.output())
    }

    fn is_past(&self, place: u32) -> bool {
        let operation = &self.search.operations[place as usize];
        operation.output().is_some_and(|output| {
            let model = self.search.model;
            model.is_past(&self.state, &operation.input, output)
        })
    }

    fn take(&mut self, place: u32) {
        self.trail.push((place, self.level));
        self.taken[place as usize] = true;
        self.flip(place);
        if self.search.operations[place as usize].answer.is_none() {
            return;
        }
        let (before, after) = (self.previous[place as usize], self.next[place as usize]);
        self.next[before as usize] = after;
        if after != NONE {
            self.previous[after as usize] = before;
        }
        while let Some(place) = self.search.by_answer.get(self.level).copied()
            && self.taken[place as usize]
        {
            self.flip(place);
            self.level += 1;
        }
    }

    /// Gives back what was taken since the trail was that long, the newest first.
    fn undo(&mut self, trail: usize) {
        while self.trail.len() > trail
            && let Some((place, level)) = self.trail.pop()
        {
            while self.level > level {
                self.level -= 1;
                self.flip(self.search.by_answer[self.level]);
            }
            self.taken[place as usize] = false;
            self.flip(place);
            if self.search.operations[place as usize].answer.is_none() {
                continue;
            }
            let (before, after) = (self.previous[place as usize], self.next[place as usize]);
            self.next[before as usize] = place;
            if after != NONE {
                self.previous[after as usize] = place;
            }
        }
    }

    fn flip(&mut self, place: u32) {
        let bit = self.search.bit[place as usize];
        let bits = match self.search.operations[place as usize].answer {
            Some(_) => &mut self.bits,
            None => &mut self.spent,
        };
        bits[bit as usize / 64] ^= 1 << (bit % 64);
    }

    fn point(&self) -> Point<M::State> {
        let taken = match *self.bits {
            [] => Taken::Few([0, 0]),
            [low] => Taken::Few([low, 0]),
            [low, high] => Taken::Few([low, high]),
            _ => Taken::Many(self.bits.as_slice().into()),
        };
        Point {
            level: self.level,
            taken,
            state: self.state.clone(),
        }
    }

    fn end(&self) -> End<M::State> {
        let open = self.search.open.iter().map(|place| *place as usize);
        let mut spent: Vec<usize> = open.filter(|place| self.taken[*place]).collect();
        spent.sort_unstable();
        End {
            state: self.state.clone(),
            spent,
        }
    }
}

/// A quick hash: nobody chooses histories to make it collide, and no decision rests on its order.
#[derive(Clone, Copy, Debug, Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }
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
