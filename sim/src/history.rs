//! Time travel: seek anywhere, intervene anywhere, take it back.
//!
//! A world is a value, so the past is kept as clones now and then, and any instant is the nearest clone and a replay
//! (law W2). An intervention is nothing but one more action in the scenario's plan: the run is recomputed from there,
//! and the scenario with its new plan reproduces it. A future that was left is its plan; to keep the plan is to keep it.

use crate::fault::{Action, Plan};
use crate::scenario::{MAX_EVENTS, Refusal, Scenario};
use crate::world::World;
use crate::world::view::{EVENT, event_numbers};

/// How many clones of the past are kept at most.
const MAX_SNAPSHOTS: usize = 128;
/// How much they may weigh together: about 100 bytes each.
const MAX_WEIGHT: usize = 1 << 20;
/// How many events lie between two of them at first.
const FIRST_STRIDE: u64 = 1_000;
/// How many interventions can be taken back.
const MAX_UNDO: usize = 100;

/// A run that can be looked at and changed anywhere.
#[derive(Clone, Debug)]
pub struct History {
    /// Its faults are those it came with; [`scenario`](Self::scenario) puts the present plan in.
    scenario: Scenario,
    /// The actions it came with and the interventions, in order of time.
    plan: Plan,
    /// The world at the horizon.
    head: World,
    /// The world at the cursor; `None` when that is the horizon.
    past: Option<World>,
    /// Clones in order of time. **Invariant:** the first is the very beginning.
    snapshots: Vec<World>,
    stride: u64,
    /// All events up to the horizon: as numbers, so that a page draws from this one copy.
    events: Vec<[f64; EVENT]>,
    /// Where recording ends, and the run with it.
    most_events: usize,
    undo: Vec<Fork>,
    redo: Vec<Fork>,
}

/// Another plan, and where it parts from the present one.
#[derive(Clone, Debug)]
struct Fork {
    at: u64,
    plan: Plan,
}

impl History {
    /// The run of a scenario, at its first instant.
    ///
    /// # Errors
    /// When its events or nodes are too many to keep.
    pub fn new(scenario: Scenario) -> Result<Self, Refusal> {
        scenario.travelable()?;
        let mut head = World::new(&scenario);
        let snapshots = vec![head.clone()];
        head.trace_mut().recording = true;
        let plan = Plan::new(scenario.faults.clone());
        // At once: a buffer that grows is there twice while it does.
        let events = Vec::with_capacity(scenario.expected_events() as usize);
        let mut history = Self {
            scenario,
            plan,
            head,
            past: None,
            snapshots,
            stride: FIRST_STRIDE,
            events,
            most_events: MAX_EVENTS,
            undo: Vec::new(),
            redo: Vec::new(),
        };
        history.advance(0);
        Ok(history)
    }

    /// The world at the cursor.
    #[must_use]
    pub fn world(&self) -> &World {
        self.past.as_ref().unwrap_or(&self.head)
    }

    /// The world at the horizon.
    #[must_use]
    pub const fn head(&self) -> &World {
        &self.head
    }

    /// The cursor.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.world().now()
    }

    /// The furthest instant that was computed in the present future.
    #[must_use]
    pub const fn horizon(&self) -> u64 {
        self.head.now()
    }

    /// All events up to the horizon, as [`event_numbers`].
    #[must_use]
    pub fn events(&self) -> &[[f64; EVENT]] {
        &self.events
    }

    /// Whether there is no room for more events: the horizon stays where it is.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.events.len() >= self.most_events
    }

    /// Whether there is an intervention to take back.
    #[must_use]
    pub const fn can_undo(&self) -> bool {
        !self.undo.is_empty()
    }

    /// Whether there is one to make again.
    #[must_use]
    pub const fn can_redo(&self) -> bool {
        !self.redo.is_empty()
    }

    /// The scenario with every intervention: it reproduces this run.
    #[must_use]
    pub fn scenario(&self) -> Scenario {
        Scenario {
            faults: self.plan.to_vec(),
            ..self.scenario.clone()
        }
    }

    /// Reads an action as it may stand in the faults of the scenario, without its time.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn parse_action(&self, json: &str) -> Result<Action, Refusal> {
        self.scenario.parse_action(json)
    }

    /// Moves the cursor, forward beyond the horizon or back. Not beyond the last event there is room for.
    pub fn seek(&mut self, to: u64) {
        let to = to.min(self.head.duration());
        if to >= self.head.now() {
            self.past = None;
            return self.advance(to);
        }
        let near = self.past.take_if(|past| past.now() <= to);
        let snapshot = self.snapshots.iter().rev().find(|world| world.now() <= to);
        let mut world = match (near, snapshot) {
            (Some(near), Some(snapshot)) if near.trace().count() < snapshot.trace().count() => {
                snapshot.clone()
            }
            (Some(near), _) => near,
            (None, Some(snapshot)) => snapshot.clone(),
            (None, None) => return,
        };
        world.set_plan(&self.plan);
        world.trace_mut().recording = false;
        world.run_until(to);
        self.past = Some(world);
    }

    /// Moves the cursor to the next event after it whose kind is in the mask, bit `k` for kind `k`. False when there is
    /// none: the cursor is then at the end.
    pub fn seek_next(&mut self, mask: u64) -> bool {
        let [mut seen, end] = [self.world().trace().count(), self.head.duration()];
        loop {
            let wanted = self
                .events
                .iter()
                .skip(seen as usize)
                .find(|event| mask >> event[1] as u64 & 1 == 1);
            if let Some(at) = wanted.map(|event| event[0] as u64) {
                self.seek(at);
                return true;
            }
            self.past = None;
            if self.head.now() >= end || self.is_full() {
                return false;
            }
            seen = self.head.trace().count();
            self.advance(self.head.next_at().unwrap_or(end));
        }
    }

    /// Intervenes at the cursor. The future after it is computed anew; [`undo`](Self::undo) brings the former one back.
    ///
    /// # Errors
    /// At the end of the run there is no future to change, and a plan has its bound.
    pub fn act(&mut self, action: Action) -> Result<(), Refusal> {
        let at = self.now();
        if at >= self.head.duration() {
            return Err(Refusal::new(
                "at-end",
                "act",
                "the run is over: nothing happens after its end",
                "go back in time first",
            ));
        }
        if self.past.is_none() && self.is_full() {
            return Err(Refusal::new(
                "full",
                "act",
                "there is no room to keep what would happen",
                "go back in time first",
            ));
        }
        let former = self.plan.clone();
        self.plan.insert(at, action)?;
        if let Some(world) = self.past.take() {
            let count = world.trace().count();
            self.events.truncate(count as usize);
            self.snapshots
                .retain(|snapshot| snapshot.trace().count() <= count);
            self.head = world;
            self.head.trace_mut().recording = true;
        }
        self.head.set_plan(&self.plan);
        self.advance(at);
        if self.undo.len() == MAX_UNDO {
            self.undo.remove(0);
        }
        self.undo.push(Fork { at, plan: former });
        self.redo.clear();
        Ok(())
    }

    /// Takes the last intervention back. The former future is there again up to the horizon, and the cursor stays.
    /// False when there is none.
    pub fn undo(&mut self) -> bool {
        let Some(fork) = self.undo.pop() else {
            return false;
        };
        let left = self.change(fork);
        self.redo.push(left);
        true
    }

    /// Intervenes again as before it was taken back. False when there is nothing to redo.
    pub fn redo(&mut self) -> bool {
        let Some(fork) = self.redo.pop() else {
            return false;
        };
        let left = self.change(fork);
        self.undo.push(left);
        true
    }

    /// Goes over to another plan; answers the one that was left.
    fn change(&mut self, fork: Fork) -> Fork {
        let (cursor, horizon) = (self.now(), self.horizon());
        let Fork { at, plan } = fork;
        let left = Fork {
            at,
            plan: std::mem::replace(&mut self.plan, plan),
        };
        // What was done at that very instant differs too; before the beginning nothing was.
        self.snapshots
            .retain(|snapshot| snapshot.now() < at || snapshot.trace().count() == 0);
        if let Some(snapshot) = self.snapshots.last() {
            self.head = snapshot.clone();
        }
        self.head.set_plan(&self.plan);
        self.head.trace_mut().recording = true;
        self.events.truncate(self.head.trace().count() as usize);
        self.past = None;
        self.advance(horizon);
        self.seek(cursor);
        left
    }

    /// Runs the horizon forward, as far as there is room.
    fn advance(&mut self, to: u64) {
        loop {
            let wanted = self
                .snapshots
                .last()
                .map_or(0, |last| last.trace().count() + self.stride)
                .min(self.most_events as u64);
            while self.head.trace().count() < wanted && self.head.step(to) {}
            if self.head.trace().count() < wanted {
                break;
            }
            self.collect();
            if self.is_full() {
                return;
            }
            self.keep();
        }
        self.head.run_until(to);
        self.collect();
    }

    fn collect(&mut self) {
        let fresh = &mut self.head.trace_mut().fresh;
        for event in fresh.iter() {
            self.events.push(event_numbers(event));
        }
        fresh.clear();
    }

    fn keep(&mut self) {
        let weight: usize = self.snapshots.iter().map(World::weight).sum();
        if self.snapshots.len() == MAX_SNAPSHOTS || weight + self.head.weight() > MAX_WEIGHT {
            let mut place = 0;
            self.snapshots.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.stride *= 2;
        }
        self.snapshots.push(self.head.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Who;
    use crate::physics::trace::Kind;

    fn history(rest: &str) -> History {
        let json = format!(r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, {rest}}}"#);
        History::new(Scenario::parse(&json).unwrap()).unwrap()
    }

    #[test]
    fn a_full_history_ends_calmly_and_the_past_can_still_be_changed() {
        let mut history = history(r#""duration": "20s""#);
        history.most_events = 5_000;
        history.seek(20_000_000);
        let full = (history.horizon(), history.events().len());
        assert!(
            history.is_full() && full.0 < 20_000_000 && full.1 < 5_100,
            "{full:?}"
        );
        history.seek(20_000_000);
        assert!(!history.seek_next(1 << Kind::End as u64));
        assert_eq!((history.horizon(), history.events().len()), full);
        assert_eq!(history.act(Action::HealAll).unwrap_err().code, "full");

        history.seek(1_000_000);
        history.act(Action::Crash(Who::Leader)).unwrap();
        assert!(!history.is_full());
        history.seek(20_000_000);
        assert!(history.is_full() && history.undo());
        assert!(history.events().len() < 5_100);
    }

    #[test]
    fn heavy_worlds_are_kept_less_often() {
        // What comes to a frozen node stays with it, in every clone.
        let mut history = history(
            r#""duration": "60s", "raft": {"heartbeat": "1ms"}, "client": {"every": "60s"}, "faults": [{"at": "1s", "pause": "follower"}]"#,
        );
        history.seek(60_000_000);
        let weight: usize = history.snapshots.iter().map(World::weight).sum();
        assert!(history.head().weight() > 50_000);
        assert!(weight <= MAX_WEIGHT + history.head().weight(), "{weight}");
        assert!(history.snapshots.len() > 4);
    }

    #[test]
    fn a_plan_has_its_bound() {
        let mut history = history(r#""duration": "20s""#);
        for _ in 0..crate::fault::MAX_FAULTS {
            history.plan.insert(0, Action::HealAll).unwrap();
        }
        assert_eq!(history.act(Action::HealAll).unwrap_err().code, "too-many");
        assert!(!history.can_undo());
    }

    #[test]
    fn the_end_of_patience_is_found_where_it_breaks() {
        let mut history = history(r#""duration": "20s", "leaderWithin": "10ms""#);
        let mask = 1 << Kind::Violation as u64;
        for _known in [false, true] {
            assert!(history.seek_next(mask));
            assert_eq!(
                (history.now(), history.world().trace().count() > 0),
                (10_001, true)
            );
            history.seek(20_000_000);
            history.seek(0);
        }
    }
}
