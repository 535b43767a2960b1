//! Where a search stands: what was taken, what is left, and the way back.

use super::Model;
use super::search::{End, NONE, Search};

/// Which operation to try next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    /// In the list.
    listed: u32,
    /// Behind the list: a place in the operations of unknown outcome.
    open: u32,
}

/// The search where it stands.
#[derive(Debug)]
pub(super) struct Walk<'a, 'b, M: Model> {
    pub(super) search: &'b Search<'a, M>,
    pub(super) state: M::State,
    pub(super) level: usize,
    /// By operation, and one more for the head of the list.
    next: Vec<u32>,
    previous: Vec<u32>,
    taken: Vec<bool>,
    /// Those that were answered.
    pub(super) bits: Vec<u64>,
    /// Those of unknown outcome.
    pub(super) spent: Vec<u64>,
    /// What was taken, and the level before.
    pub(super) trail: Vec<(u32, usize)>,
    pub(super) steps: u64,
}

impl<'a, 'b, M: Model> Walk<'a, 'b, M> {
    pub(super) fn new(search: &'b Search<'a, M>, state: M::State, steps: u64) -> Self {
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

    pub(super) fn first(&self) -> Next {
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
    pub(super) fn absorb(&mut self) -> Option<u32> {
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
    pub(super) fn try_from(&mut self, from: Next) -> Option<(u32, M::State, Next)> {
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
            .step(&self.state, self.search.input(place), operation.output())
    }

    fn is_past(&self, place: u32) -> bool {
        let operation = &self.search.operations[place as usize];
        operation.output().is_some_and(|output| {
            let model = self.search.model;
            model.is_past(&self.state, &operation.input, output)
        })
    }

    pub(super) fn take(&mut self, place: u32) {
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
    pub(super) fn undo(&mut self, trail: usize) {
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

    pub(super) fn end(&self) -> End<M::State> {
        let open = self.search.open.iter().map(|place| *place as usize);
        let mut spent: Vec<usize> = open.filter(|place| self.taken[*place]).collect();
        spent.sort_unstable();
        End {
            state: self.state.clone(),
            spent,
        }
    }
}
