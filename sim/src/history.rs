//! Time travel: seek anywhere, intervene anywhere, take it back.
//!
//! A world is a value, so the past is kept as clones now and then, and any instant is the nearest clone and a replay
//! (law W2). An intervention is nothing but one more action in the scenario's plan: the run is recomputed from there,
//! and the scenario with its new plan reproduces it. A future that was left is its plan; to keep the plan is to keep it.

use crate::fault::{Action, Fault};
use crate::physics::trace::Event;
use crate::scenario::{Refusal, Scenario};
use crate::world::World;
use std::sync::Arc;

/// How many clones of the past are kept at most.
const MAX_SNAPSHOTS: usize = 128;
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
    plan: Arc<Vec<Fault>>,
    /// The world at the horizon.
    head: World,
    /// The world at the cursor; `None` when that is the horizon.
    past: Option<World>,
    /// Clones in order of time. **Invariant:** the first is the very beginning.
    snapshots: Vec<World>,
    stride: u64,
    /// All events up to the horizon.
    events: Vec<Event>,
    undo: Vec<Fork>,
    redo: Vec<Fork>,
}

/// Another plan, and where it parts from the present one.
#[derive(Clone, Debug)]
struct Fork {
    at: u64,
    plan: Arc<Vec<Fault>>,
}

impl History {
    /// The run of a scenario, at its first instant.
    #[must_use]
    pub fn new(scenario: Scenario) -> Self {
        let mut head = World::new(&scenario);
        let snapshots = vec![head.clone()];
        head.trace_mut().recording = true;
        let plan = Arc::new(scenario.faults.clone());
        let mut history = Self {
            scenario,
            plan,
            head,
            past: None,
            snapshots,
            stride: FIRST_STRIDE,
            events: Vec::new(),
            undo: Vec::new(),
            redo: Vec::new(),
        };
        history.advance(0);
        history
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

    /// All events up to the horizon.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The scenario with every intervention: it reproduces this run.
    #[must_use]
    pub fn scenario(&self) -> Scenario {
        Scenario {
            faults: self.plan.as_ref().clone(),
            ..self.scenario.clone()
        }
    }

    /// Moves the cursor, forward beyond the horizon or back.
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

    /// Moves the cursor to the next event after it whose kind is wanted. False when there is none: the cursor is then at
    /// the end.
    pub fn seek_next(&mut self, wanted: impl Fn(&Event) -> bool) -> bool {
        let seen = self.world().trace().count() as usize;
        let known = self
            .events
            .get(seen..)
            .and_then(|events| events.iter().find(|event| wanted(event)));
        if let Some(at) = known.map(|event| event.at) {
            self.seek(at);
            return true;
        }
        self.past = None;
        let end = self.head.duration();
        while self.head.now() < end {
            let from = self.events.len();
            let next = self.head.next_at().unwrap_or(end);
            self.advance(next.min(end));
            if self.events[from..].iter().any(&wanted) {
                return true;
            }
        }
        false
    }

    /// Intervenes at the cursor. The future after it is computed anew; [`undo`](Self::undo) brings the former one back.
    ///
    /// # Errors
    /// At the end of the run there is no future to change.
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
        let mut plan = self.plan.as_ref().clone();
        let place = plan.partition_point(|fault| fault.at <= at);
        plan.insert(place, Fault { at, action });
        let former = std::mem::replace(&mut self.plan, Arc::new(plan));
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

    /// Runs the horizon forward.
    fn advance(&mut self, to: u64) {
        loop {
            let wanted = self
                .snapshots
                .last()
                .map_or(0, |last| last.trace().count() + self.stride);
            while self.head.trace().count() < wanted && self.head.step(to) {}
            if self.head.trace().count() < wanted {
                break;
            }
            self.collect();
            self.keep();
        }
        self.head.run_until(to);
        self.collect();
    }

    fn collect(&mut self) {
        self.events.append(&mut self.head.trace_mut().fresh);
    }

    fn keep(&mut self) {
        if self.snapshots.len() == MAX_SNAPSHOTS {
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
