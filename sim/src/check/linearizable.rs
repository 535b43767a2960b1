//! INV-R1: what was answered can be explained by one counter that each addition and each reading meets at one instant.
//!
//! Three histories are judged. At each resource, an operation is a write that a node does for a client, from its departure
//! until the node hears the answer: an addition that answers the new number. Where the node dies before it hears, the
//! outcome is unknown. The reading of a new leader counts too, or of a node that does not lead.
//!
//! The client's own history begins where it sends its request, and ends where it hears the outcome and the new number; a
//! request that follows a redirection is one operation. So a write that was acknowledged and is not in the resource is
//! found, whoever is to blame.
//!
//! Whoever hears nothing gives up in the end, as where a node is frozen for good: the outcome is unknown.
//!
//! An onlooker counts as well, who looks after every write that got in and once at the end: what a resource shows, anybody
//! may see. The unfenced resource is judged as if it spoke for the write.
//!
//! Recording is off until asked for, and costs a branch then. It is no part of the trace: judged or not, a run is the same.

use crate::app::RESOURCES;
use crate::linear::{Counter, CounterInput, Judgement, Window};
use crate::packet::Outcome;
use crate::report::millis;
use crate::scenario::node_name;
use std::fmt::Debug;

/// The place of the client's history, after those of the resources.
pub(crate) const CLIENT: usize = RESOURCES;

/// How long somebody listens for an answer, in periods of the client.
const PATIENCE: u64 = 400;

/// Who looks at a resource after every write.
const ONLOOKER: u32 = u32::MAX;
/// The client.
const ITSELF: u32 = u32::MAX - 1;

/// Something that was done at a resource, for the histories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// A node's write left for it.
    Left { node: u16, request: u64 },
    /// The node heard that the write is in, and what the resource then held.
    Heard { request: u64, value: u64 },
    /// The leader heard that it is not.
    Refused { request: u64 },
    /// Nobody heard the answer.
    Unheard { request: u64 },
    /// A new leader reads it.
    Read { node: u16, value: u64 },
    /// An onlooker sees it.
    Shown { value: u64 },
    /// The client asks for a write.
    Asked { request: u64 },
    /// The client was answered, and does not ask elsewhere.
    Answered { request: u64, outcome: Outcome },
}

/// Listens to what is done. Behind a pointer, so that the judge is no part of a program that never asks for it: the module
/// for browsers has no room.
pub(crate) trait Listener: Debug + Send + Sync {
    fn note(&mut self, now: u64, history: usize, what: Use);
    /// What there is to say of a history if the run ends now, and the resource that speaks for it holds this.
    fn finding(&self, history: usize, now: u64, holds: u64) -> Finding;
    fn duplicate(&self) -> Box<dyn Listener>;
}

impl Clone for Box<dyn Listener> {
    fn clone(&self) -> Self {
        self.as_ref().duplicate()
    }
}

/// What a history shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Answers that were judged.
    pub(crate) exercised: u64,
    pub(crate) fate: Fate,
}

/// How a history fared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Some order explains every answer.
    Explained,
    /// None does: the instant of the answer that no order reaches, and the reason in a sentence.
    Broken(Option<u64>, String),
    /// It was too much to judge: that is no pass.
    Unknown,
}

/// Follows what is done.
#[derive(Clone, Debug)]
pub(crate) struct Linearizable {
    /// The resource that speaks for the client's writes.
    speaker: usize,
    /// After what time somebody who hears nothing gives up.
    patience: u64,
    histories: [Log; CLIENT + 1],
}

/// One history.
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
    asked: u64,
}

impl Linearizable {
    /// Nothing was done yet. `speaker` is the resource that speaks for the writes of the client, which asks every `period`.
    pub(crate) fn new(speaker: usize, period: u64) -> Self {
        let log = || Log {
            window: Window::new(Counter),
            under_way: Vec::new(),
        };
        Self {
            speaker,
            patience: period.saturating_mul(PATIENCE),
            histories: [log(), log(), log()],
        }
    }
}

impl Listener for Linearizable {
    fn note(&mut self, now: u64, history: usize, what: Use) {
        if let Use::Shown { value } = what
            && history == self.speaker
        {
            look(&mut self.histories[CLIENT].window, ONLOOKER, value, now);
        }
        let patience = self.patience;
        let Some(log) = self.histories.get_mut(history) else {
            return;
        };
        match what {
            Use::Left { node, request } => {
                log.give_up(now.saturating_sub(patience));
                log.begin(u32::from(node), request, now);
            }
            Use::Asked { request } => {
                log.give_up(now.saturating_sub(patience));
                log.begin(ITSELF, request, now);
            }
            Use::Heard { request, value }
            | Use::Answered {
                request,
                outcome: Outcome::Acknowledged(value),
            } => {
                if let Some(number) = log.land(request) {
                    log.window.answered(number, value, now);
                }
            }
            // Every other answer says that nothing was done.
            Use::Refused { request } | Use::Answered { request, .. } => {
                if let Some(number) = log.land(request) {
                    log.window.refused(number);
                }
            }
            Use::Unheard { request } => {
                if let Some(number) = log.land(request) {
                    log.window.lost(number);
                }
            }
            Use::Read { node, value } => look(&mut log.window, u32::from(node), value, now),
            Use::Shown { value } => look(&mut log.window, ONLOOKER, value, now),
        }
    }

    fn finding(&self, history: usize, now: u64, holds: u64) -> Finding {
        let mut window = self.histories[history].window.clone();
        let exercised = window.answers();
        look(&mut window, ONLOOKER, holds, now.saturating_add(1));
        let fate = match window.judgement() {
            Judgement::Linearizable => Fate::Explained,
            Judgement::Broken(small) => {
                let stuck = small.operations.get(small.stuck);
                let at = stuck.and_then(|operation| operation.answered());
                let reason = small.tell(&Counter, name_of, millis);
                Fate::Broken(at.map(|at| at.min(now)), reason)
            }
            Judgement::Unknown => Fate::Unknown,
        };
        Finding { exercised, fate }
    }

    fn duplicate(&self) -> Box<dyn Listener> {
        Box::new(self.clone())
    }
}

impl Log {
    fn begin(&mut self, who: u32, request: u64, now: u64) {
        let number = self.window.asked(who, CounterInput::Add(1), now);
        self.under_way.push(UnderWay {
            request,
            number,
            asked: now,
        });
    }

    /// Takes a write off the list; the number of its operation.
    fn land(&mut self, request: u64) -> Option<u64> {
        let place = self
            .under_way
            .iter()
            .position(|write| write.request == request)?;
        Some(self.under_way.swap_remove(place).number)
    }

    /// Nobody listens any more for answers to what was asked before this.
    fn give_up(&mut self, before: u64) {
        let Self { window, under_way } = self;
        under_way.retain(|write| {
            let listens = write.asked >= before;
            if !listens {
                window.lost(write.number);
            }
            listens
        });
    }
}

fn look(window: &mut Window<Counter>, client: u32, value: u64, now: u64) {
    let number = window.asked(client, CounterInput::Read, now);
    window.answered(number, value, now);
}

fn name_of(client: u32) -> String {
    match client {
        ONLOOKER => "an onlooker".to_owned(),
        ITSELF => "the client".to_owned(),
        node => node_name(node as u16),
    }
}
