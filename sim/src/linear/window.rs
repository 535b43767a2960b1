//! A history judged while it grows, in bounded memory.
//!
//! When nothing is under way and every order so far leads to one state, the past is that state: it is forgotten, but for
//! the operations of unknown outcome that may still take effect.

use super::explain::minimised_from;
use super::search::{End, Extent, Found, Search};
use super::{DEFAULT_STEPS, Judgement, Model, Op, Operation};

/// How many operations are kept at most. Beyond it, the judgement is not known.
const LIMIT: usize = 8_192;

/// The operations on one object since its state was last known.
#[derive(Clone, Debug)]
pub struct Window<M: Model> {
    model: M,
    start: M::State,
    kept: Vec<Kept<Op<M>>>,
    /// How many were asked so far: the number of the next.
    asked: u64,
    under_way: usize,
    answered: u64,
    /// How many operations there must be for an attempt to forget them, at least and next.
    stride: usize,
    attempt_at: usize,
    end: Option<Stopped>,
}

#[derive(Clone, Debug)]
struct Kept<O> {
    number: u64,
    under_way: bool,
    operation: O,
}

/// Why nothing more is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopped {
    /// What is kept has no order.
    Broken,
    /// What is kept was too much to judge.
    Unknown,
}

impl<M: Model> Window<M> {
    /// Nothing asked yet.
    #[must_use]
    pub fn new(model: M) -> Self {
        let start = model.initial();
        Self::starting(model, start, 256)
    }

    pub(super) fn starting(model: M, start: M::State, stride: usize) -> Self {
        Self {
            model,
            start,
            kept: Vec::new(),
            asked: 0,
            under_way: 0,
            answered: 0,
            stride,
            attempt_at: stride,
            end: None,
        }
    }

    /// A client asks something. The number is the operation's.
    pub fn asked(&mut self, client: u32, input: M::Input, at: u64) -> u64 {
        let number = self.asked;
        self.asked += 1;
        if self.end.is_none() {
            self.under_way += 1;
            self.kept.push(Kept {
                number,
                under_way: true,
                operation: Operation {
                    client,
                    input,
                    asked: at,
                    answer: None,
                },
            });
            if self.kept.len() > LIMIT {
                self.stop(Stopped::Unknown);
            }
        }
        number
    }

    /// The client is answered. False when the operation is not under way, or when nothing more is judged.
    pub fn answered(&mut self, number: u64, output: M::Output, at: u64) -> bool {
        let Some(place) = self.land(number) else {
            return false;
        };
        self.kept[place].operation.answer = Some((output, at));
        self.answered += 1;
        self.forget();
        true
    }

    /// The client learns that nothing was done. False as for an answer.
    pub fn refused(&mut self, number: u64) -> bool {
        let Some(place) = self.land(number) else {
            return false;
        };
        self.kept.remove(place);
        true
    }

    /// The client will never learn the outcome. False as for an answer.
    pub fn lost(&mut self, number: u64) -> bool {
        self.land(number).is_some()
    }

    /// How many answers were judged, or wait to be.
    #[must_use]
    pub const fn answers(&self) -> u64 {
        self.answered
    }

    /// What is kept for now.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.kept.len()
    }

    /// What there is to say if nothing more is answered.
    #[must_use]
    pub fn judgement(&self) -> Judgement<M> {
        if self.end == Some(Stopped::Unknown) {
            return Judgement::Unknown;
        }
        let operations = self.operations();
        if self.end.is_none() {
            let search = Search::new(&self.model, &operations);
            match search.run(&self.start, DEFAULT_STEPS, Extent::First) {
                Found::Orders(_) => return Judgement::Linearizable,
                Found::OutOfSteps => return Judgement::Unknown,
                Found::None { .. } => {}
            }
        }
        Judgement::Broken(Box::new(minimised_from(
            &self.model,
            &self.start,
            &operations,
            DEFAULT_STEPS,
        )))
    }

    /// What has no order, and the state it starts from.
    pub(super) fn failing(&self) -> Option<(M::State, Vec<Op<M>>)> {
        (self.end == Some(Stopped::Broken)).then(|| (self.start.clone(), self.operations()))
    }

    fn operations(&self) -> Vec<Op<M>> {
        self.kept
            .iter()
            .map(|kept| kept.operation.clone())
            .collect()
    }

    fn land(&mut self, number: u64) -> Option<usize> {
        let place = self
            .kept
            .binary_search_by_key(&number, |kept| kept.number)
            .ok()
            .filter(|place| self.end.is_none() && self.kept[*place].under_way)?;
        self.kept[place].under_way = false;
        self.under_way -= 1;
        Some(place)
    }

    fn forget(&mut self) {
        if self.under_way > 0 || self.kept.len() < self.attempt_at {
            return;
        }
        let operations = self.operations();
        let search = Search::new(&self.model, &operations);
        match search.run(&self.start, DEFAULT_STEPS, Extent::All) {
            Found::OutOfSteps => self.stop(Stopped::Unknown),
            Found::None { .. } => self.stop(Stopped::Broken),
            Found::Orders(ends) => {
                if let [End { state, spent }] = &*only_the_best(ends) {
                    self.start = state.clone();
                    let mut place = 0;
                    self.kept.retain(|kept| {
                        place += 1;
                        kept.operation.answer.is_none()
                            && spent.binary_search(&(place - 1)).is_err()
                    });
                }
                self.attempt_at = self.kept.len() + self.stride;
            }
        }
    }

    fn stop(&mut self, why: Stopped) {
        self.end = Some(why);
        self.under_way = 0;
        if why == Stopped::Unknown {
            self.kept = Vec::new();
        }
    }
}

/// Without those ends that another matches with fewer operations spent: what is left to it can do all that they can.
fn only_the_best<S: Eq>(mut ends: Vec<End<S>>) -> Vec<End<S>> {
    ends.sort_by_key(|end| end.spent.len());
    let mut best: Vec<End<S>> = Vec::new();
    for end in ends {
        let matched = best.iter().any(|other| {
            other.state == end.state
                && other
                    .spent
                    .iter()
                    .all(|place| end.spent.binary_search(place).is_ok())
        });
        if !matched {
            best.push(end);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{Counter, CounterInput, Register, RegisterInput, RegisterOutput};

    /// One that adds, after the other.
    fn add(window: &mut Window<Counter>, at: u64, value: u64) {
        let number = window.asked(0, CounterInput::Add(1), at);
        assert!(window.answered(number, value, at + 1));
    }

    #[test]
    fn a_long_history_is_kept_short() {
        let mut window = Window::new(Counter);
        for k in 0..100_000 {
            add(&mut window, 10 * k, k + 1);
            assert!(window.kept() <= 256);
        }
        assert!(matches!(window.judgement(), Judgement::Linearizable));
        add(&mut window, 2_000_000, 100_000);
        let Judgement::Broken(found) = window.judgement() else {
            panic!()
        };
        assert_eq!((found.start, found.operations.len()), (100_000, 1));
        assert_eq!(window.answers(), 100_001);
    }

    #[test]
    fn a_lost_one_stays_until_it_shows() {
        let mut window = Window::starting(Counter, 0, 1);
        let lost = window.asked(9, CounterInput::Add(1), 0);
        assert!(window.lost(lost) && !window.lost(lost));
        add(&mut window, 10, 1);
        add(&mut window, 20, 2);
        assert_eq!(window.kept(), 1, "it may still come");
        add(&mut window, 30, 4);
        assert_eq!(window.kept(), 0, "it came");
        add(&mut window, 40, 6);
        assert!(matches!(window.judgement(), Judgement::Broken(_)), "once");
    }

    #[test]
    fn nothing_is_forgotten_while_an_answer_may_come() {
        let mut window = Window::starting(Counter, 0, 1);
        let slow = window.asked(9, CounterInput::Add(1), 0);
        add(&mut window, 10, 2);
        add(&mut window, 20, 3);
        assert_eq!(window.kept(), 3);
        assert!(window.answered(slow, 1, 30));
        assert_eq!(window.kept(), 0);
    }

    #[test]
    fn what_was_refused_never_was() {
        let mut window = Window::starting(Counter, 0, 1);
        let refused = window.asked(9, CounterInput::Add(1), 0);
        assert!(window.refused(refused) && window.kept() == 0);
        add(&mut window, 10, 1);
        assert!(matches!(window.judgement(), Judgement::Linearizable));
    }

    #[test]
    fn two_possible_states_are_both_kept_in_mind() {
        let mut window = Window::starting(Register, 0, 1);
        let ask = |window: &mut Window<Register>, input, at| window.asked(0, input, at);
        let one = ask(&mut window, RegisterInput::Write(1), 0);
        let two = ask(&mut window, RegisterInput::Write(2), 0);
        window.answered(one, RegisterOutput::Done, 5);
        window.answered(two, RegisterOutput::Done, 5);
        assert_eq!(window.kept(), 2);
        let read = ask(&mut window, RegisterInput::Read, 7);
        window.answered(read, RegisterOutput::Value(1), 8);
        assert_eq!(window.kept(), 0);
        let read = ask(&mut window, RegisterInput::Read, 9);
        window.answered(read, RegisterOutput::Value(2), 10);
        assert!(matches!(window.judgement(), Judgement::Broken(_)));
    }

    #[test]
    fn too_much_under_way_is_not_known() {
        let mut window = Window::new(Counter);
        for at in 0..=LIMIT as u64 {
            window.asked(0, CounterInput::Add(1), at);
        }
        assert!(matches!(window.judgement(), Judgement::Unknown));
    }
}
