//! INV-R1: what leaders were answered at a resource can be explained by one counter that each addition and each reading
//! meets at one instant.
//!
//! An operation is a write that a leader does for a client, from its departure until the leader hears the answer, as a
//! client beside the leader would see it: an addition that answers the new number. Where the leader dies before it hears,
//! the outcome is unknown. A new leader's reading counts too, and so does that of an onlooker, who looks after every write
//! that got in: what a resource shows, anybody may see. The unfenced resource is judged as if it spoke for the write.
//!
//! Recording is off until asked for, and costs a branch then. It is no part of the trace: judged or not, a run is the same.

use super::Outcome;
use crate::app::{RESOURCES, Takeover};
use crate::linear::{Counter, CounterInput, Judgement, Window};
use crate::report::millis;
use crate::world::env::Use;
use crate::world::view::node_name;
use std::fmt::Debug;

/// The names of the checks, by resource.
pub const NAMES: [&str; RESOURCES] = ["linearizable-fenced", "linearizable-unfenced"];

/// Who looks at a resource after every write.
const ONLOOKER: u32 = u32::MAX;

/// Listens to what is done at the resources. Behind a pointer, so that the judge is no part of a program that never asks for
/// it: the module for browsers has no room.
pub(crate) trait Listener: Debug + Send + Sync {
    fn note(&mut self, now: u64, resource: usize, what: Use);
    /// What there is to say if the run ends now.
    fn findings(&self) -> [Finding; RESOURCES];
    fn duplicate(&self) -> Box<dyn Listener>;
}

impl Clone for Box<dyn Listener> {
    fn clone(&self) -> Self {
        self.as_ref().duplicate()
    }
}

/// Follows what is done at the resources.
#[derive(Clone, Debug)]
pub(crate) struct Linearizable {
    takeover: Takeover,
    resources: [Log; RESOURCES],
}

/// What is done at one.
#[derive(Clone, Debug)]
struct Log {
    window: Window<Counter>,
    under_way: Vec<UnderWay>,
}

/// A write whose answer is awaited.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    request: u64,
    /// Of the operation.
    number: u64,
    value: u64,
}

/// What the histories of a resource show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The name of the check.
    pub name: &'static str,
    /// How it fared. A history that was too much to judge is broken where the rule is promised, and not passed anywhere.
    pub outcome: Outcome,
    /// Answers that were judged.
    pub exercised: u64,
    /// The instant of the answer that no order reaches.
    pub broken_at: Option<u64>,
    /// The reason in a sentence, when it is broken.
    pub reason: Option<String>,
}

impl Linearizable {
    pub(crate) fn new(takeover: Takeover) -> Self {
        let log = || Log {
            window: Window::new(Counter),
            under_way: Vec::new(),
        };
        Self {
            takeover,
            resources: [log(), log()],
        }
    }
}

impl Listener for Linearizable {
    fn note(&mut self, now: u64, resource: usize, what: Use) {
        let Some(Log { window, under_way }) = self.resources.get_mut(resource) else {
            return;
        };
        let mut land = |request| {
            let place = under_way
                .iter()
                .position(|write| write.request == request)?;
            Some(under_way.swap_remove(place))
        };
        match what {
            Use::Left {
                node,
                request,
                value,
            } => {
                let number = window.asked(u32::from(node), CounterInput::Add(1), now);
                under_way.push(UnderWay {
                    request,
                    number,
                    value,
                });
            }
            Use::Heard { request } => {
                if let Some(write) = land(request) {
                    window.answered(write.number, write.value, now);
                }
            }
            Use::Refused { request } => {
                if let Some(write) = land(request) {
                    window.refused(write.number);
                }
            }
            Use::Unheard { request } => {
                if let Some(write) = land(request) {
                    window.lost(write.number);
                }
            }
            Use::Read { node, value } => look(window, u32::from(node), value, now),
            Use::Shown { value } => look(window, ONLOOKER, value, now),
        }
    }

    fn findings(&self) -> [Finding; RESOURCES] {
        let fenced = self.takeover == Takeover::FenceFirst;
        [self.finding(0, fenced), self.finding(1, false)]
    }

    fn duplicate(&self) -> Box<dyn Listener> {
        Box::new(self.clone())
    }
}

impl Linearizable {
    fn finding(&self, resource: usize, promised: bool) -> Finding {
        let window = &self.resources[resource].window;
        let broken = if promised {
            Outcome::Broken
        } else {
            Outcome::BrokenByDesign
        };
        let exercised = window.answers();
        let (outcome, broken_at, reason) = match window.judgement() {
            Judgement::Linearizable if exercised == 0 => (Outcome::NotExercised, None, None),
            Judgement::Linearizable => (Outcome::Holds, None, None),
            Judgement::Broken(small) => {
                let stuck = small.operations.get(small.stuck);
                let reason = small.tell(&Counter, name_of, millis);
                let at = stuck.and_then(|operation| operation.answered());
                (broken, at, Some(reason))
            }
            Judgement::Unknown => {
                let reason = "More is under way at once than can be judged: not known.".to_owned();
                (Outcome::Broken, None, Some(reason))
            }
        };
        Finding {
            name: NAMES[resource],
            outcome,
            exercised,
            broken_at,
            reason,
        }
    }
}

fn look(window: &mut Window<Counter>, client: u32, value: u64, now: u64) {
    let number = window.asked(client, CounterInput::Read, now);
    window.answered(number, value, now);
}

fn name_of(client: u32) -> String {
    match u16::try_from(client) {
        Ok(node) => node_name(node),
        Err(_) => "an onlooker".to_owned(),
    }
}
