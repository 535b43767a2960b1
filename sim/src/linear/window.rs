//! A history judged while it grows, in bounded memory.
//!
//! When nothing is under way and every order so far leads to one state, the past is that state: it is forgotten, but for
//! the operations of unknown outcome that may still take effect. Where something is always under way, a look at an object
//! that goes one way [settles](Model::settles) as much.

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
        if self.kept.len() < self.attempt_at {
            return;
        }
        let Some(past) = self.past() else {
            return;
        };
        self.attempt_at = self.kept.len() + self.stride;
        let operations: Vec<Op<M>> = past
            .iter()
            .map(|place| self.kept[*place].operation.clone())
            .collect();
        let search = Search::new(&self.model, &operations);
        match search.run(&self.start, DEFAULT_STEPS, Extent::All) {
            Found::OutOfSteps => self.stop(Stopped::Unknown),
            Found::None { .. } => {
                self.keep(|place, _| past.binary_search(&place).is_ok());
                self.stop(Stopped::Broken);
            }
            Found::Orders(ends) => {
                if let [End { state, spent }] = &*only_the_best(ends) {
                    self.start = state.clone();
                    self.keep(|place, kept| match past.binary_search(&place) {
                        Ok(number) => {
                            kept.operation.answer.is_none() && spent.binary_search(&number).is_err()
                        }
                        Err(_) => true,
                    });
                    self.attempt_at = self.kept.len() + self.stride;
                }
            }
        }
    }

    /// Of what is kept, that which can have no part in what is to come: everything when nothing is under way, or else what
    /// was before the last look that settles it, and before whatever is under way. Rising places.
    fn past(&self) -> Option<Vec<usize>> {
        let Some(first) = self.kept.iter().find(|kept| kept.under_way) else {
            return Some((0..self.kept.len()).collect());
        };
        let (look, held) = self.kept.iter().rev().find_map(|kept| {
            let Operation {
                input,
                asked,
                answer: Some((output, answered)),
                ..
            } = &kept.operation
            else {
                return None;
            };
            let at_once = asked == answered && *asked < first.operation.asked;
            let held = self.model.settles(input, output).filter(|_| at_once)?;
            Some((*asked, held))
        })?;
        let is_past = |operation: &Op<M>| match &operation.answer {
            _ if operation.asked > look => false,
            Some((_, answered)) if *answered <= look => true,
            Some((output, _)) => self.model.is_past(&held, &operation.input, output),
            None => true,
        };
        let places = (0..self.kept.len()).filter(|place| is_past(&self.kept[*place].operation));
        Some(places.collect())
    }

    fn keep(&mut self, keeps: impl Fn(usize, &Kept<Op<M>>) -> bool) {
        let mut place = 0;
        self.kept.retain(|kept| {
            place += 1;
            keeps(place - 1, kept)
        });
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
    use crate::linear::{
        Counter, CounterInput, Register, RegisterInput, RegisterOutput, is_linearizable,
    };
    use tenure::random::Random;

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

    /// Clients that always have something under way, and an onlooker; now and then an answer is wrong.
    fn pipelined(random: &mut Random, length: u64) -> Vec<Op<Counter>> {
        let mut all = Vec::new();
        let mut value = 0;
        for k in 0..length {
            let effect = 10 * k + 10;
            value += 1;
            let operation = |client, input, asked, answer| Operation {
                client,
                input,
                asked,
                answer,
            };
            let wrong = u64::from(random.below(2 * length) == 0);
            let answer = (value + wrong, effect + 1 + random.below(30));
            let known = random.below(20) > 0;
            let asked = effect - 1 - random.below(30).min(effect - 1);
            all.push(operation(
                k as u32,
                CounterInput::Add(1),
                asked,
                Some(answer).filter(|_| known),
            ));
            if random.below(3) == 0 {
                let seen = (value, effect + 5);
                all.push(operation(99, CounterInput::Read, effect + 5, Some(seen)));
            }
        }
        all
    }

    #[test]
    fn what_a_look_settles_is_forgotten_and_the_judgement_is_that_of_the_whole() {
        let mut random = Random::from_seed(3);
        let (mut broken, mut most) = (0, 0);
        for _ in 0..300 {
            let operations = pipelined(&mut random, 60);
            let mut turns: Vec<(u64, bool, usize)> = Vec::new();
            for (place, operation) in operations.iter().enumerate() {
                turns.push((operation.asked, false, place));
                let over = operation.answered().unwrap_or(operation.asked + 40);
                turns.push((over, true, place));
            }
            turns.sort_unstable();
            let mut window = Window::starting(Counter, 0, 1);
            let mut numbers = vec![0; operations.len()];
            for (at, over, place) in turns {
                let operation = &operations[place];
                match &operation.answer {
                    _ if !over => {
                        numbers[place] = window.asked(operation.client, operation.input, at);
                    }
                    Some((output, _)) => drop(window.answered(numbers[place], *output, at)),
                    None => drop(window.lost(numbers[place])),
                }
                most = most.max(window.kept());
            }
            let whole = is_linearizable(&Counter, &operations, DEFAULT_STEPS).unwrap();
            let found = matches!(window.judgement(), Judgement::Linearizable);
            assert_eq!(found, whole);
            broken += u32::from(!whole);
        }
        assert!((50..250).contains(&broken), "{broken}");
        assert!(most < 40, "{most}");
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
