//! From a run that fails to a small scenario that fails for the same reason.
//!
//! The record of the run is shortened by delta debugging, and what remains is made simpler: an earlier end, plainer
//! surroundings, fewer nodes, milder actions, round times. A candidate counts only if the same rule breaks *first*: a
//! smaller scenario that fails for another reason is another story.
//!
//! A run hangs on every draw before it, so that a shorter record may miss its mark by a hair. Where a step fails, it is
//! tried under a few other seeds too.

mod ddmin;
mod simpler;
mod story;

use crate::check::Check;
use crate::export::Recording;
use crate::failure::Failure;
use crate::fault::Fault;
use crate::scenario::{Bilingual, Scenario};
use crate::world::World;
use ddmin::ddmin;

/// How many other seeds a step is tried under.
const SEEDS: u64 = 8;
/// The same for a step that may leave out most of it.
const MANY_SEEDS: u64 = 40;
/// How often the whole of it is gone through, if each time something became simpler.
const ROUNDS: usize = 8;
/// How long a candidate may take to fail after the run that it was made of did.
const GRACE: u64 = 400_000;
/// As few actions as a person takes in at a glance.
pub const FEW: usize = 6;
/// How often a run is asked whether it failed.
const SLICE: u64 = 50_000;

/// A scenario that fails, and can hardly be simpler.
#[derive(Clone, Debug)]
pub struct Minimised {
    /// It expects what breaks, and says so in its title.
    pub scenario: Scenario,
    /// What breaks, and when.
    pub failure: Failure,
    /// The same in a sentence, with the actions.
    pub sentence: String,
    /// How many actions there were to begin with.
    pub actions: usize,
    /// How many candidates were run.
    pub tries: u64,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How many candidates were run.
    pub tries: u64,
    /// How many actions are left.
    pub actions: usize,
}

/// Minimises a scenario that fails; nothing when it does not fail.
///
/// `go_on` is asked before each candidate; when it says no, the simplest so far is the result.
#[must_use]
pub fn minimise(scenario: &Scenario, go_on: impl FnMut(Progress) -> bool) -> Option<Minimised> {
    let failure = failure_of(scenario, None)?;
    let mut search = Search {
        check: failure.check,
        best: scenario.clone(),
        at: failure.at,
        tries: 1,
        go_on,
        stopped: false,
    };
    search.best.expect.clear();
    search.end();
    search.run();
    let (actions, tries) = (scenario.faults.len(), search.tries);
    let scenario = told(search.best, search.check)?;
    // What counts is the text that people keep: it is read back and run once more.
    let read = Scenario::parse(&scenario.to_json()).ok()?;
    let failure = failure_of(&read, None).filter(|failure| failure.check == search.check)?;
    let recording = Recording::of(read).ok()?;
    Some(Minimised {
        sentence: story::sentence(&recording, failure),
        scenario,
        failure,
        actions,
        tries: tries + 1,
    })
}

/// The first that breaks in a run, and when; the run ends with it. Histories are recorded if one of them is looked for.
fn failure_of(scenario: &Scenario, looked_for: Option<Check>) -> Option<Failure> {
    let mut world = World::new(scenario);
    if looked_for.is_none_or(Check::is_of_histories) {
        world.record_histories();
    }
    while world.now() < scenario.duration {
        world.run_until(world.now() + SLICE);
        let first = Failure::first(&world);
        if first.is_some() {
            return first;
        }
    }
    None
}

/// The search for something simpler.
struct Search<G> {
    check: Check,
    /// The simplest so far, and when it fails.
    best: Scenario,
    at: u64,
    tries: u64,
    go_on: G,
    stopped: bool,
}

impl<G: FnMut(Progress) -> bool> Search<G> {
    fn run(&mut self) {
        self.first_of(simpler::plainer);
        self.only_the_end();
        for round in 0..ROUNDS {
            let before = self.best.to_json();
            self.fewer_actions();
            self.fewer_still();
            while self.first_of(simpler::smaller) {}
            while self.first_of(simpler::plainer) {}
            while self.first_of(simpler::milder) {}
            if round > 0 {
                self.first_of(simpler::earlier);
                self.rounder();
            }
            if self.stopped || (round > 0 && self.best.to_json() == before) {
                break;
            }
        }
    }

    /// Whether a candidate fails for the same reason; then it is the simplest so far. What cannot be read back is none: it could
    /// not be kept.
    fn take(&mut self, candidate: Scenario) -> bool {
        let progress = Progress {
            tries: self.tries,
            actions: self.best.faults.len(),
        };
        self.stopped = self.stopped || !(self.go_on)(progress);
        if self.stopped {
            return false;
        }
        self.tries += 1;
        let Ok(mut candidate) = Scenario::parse(&candidate.to_json()) else {
            return false;
        };
        candidate.duration = candidate.duration.saturating_add(GRACE);
        match failure_of(&candidate, Some(self.check)) {
            Some(failure) if failure.check == self.check => {
                (self.best, self.at) = (candidate, failure.at);
                self.end();
                true
            }
            _ => false,
        }
    }

    /// As [`take`](Self::take), and under so many other seeds.
    fn take_anyhow(&mut self, candidate: &Scenario, seeds: u64) -> bool {
        let own = candidate.seed;
        std::iter::once(own)
            .chain((1..=seeds).filter(|seed| *seed != own))
            .any(|seed| self.take(candidate.clone().with_seed(seed)))
    }

    /// Ends the run just after it fails, and leaves out what would be done from then on.
    fn end(&mut self) {
        let at = self.at;
        self.best.duration = (at / 1_000 + 1) * 1_000;
        self.best.faults.retain(|fault| fault.at <= at);
    }

    fn with_faults(&self, faults: &[Fault]) -> Scenario {
        let mut scenario = self.best.clone();
        scenario.faults = faults.to_vec();
        scenario
    }

    fn fewer_actions(&mut self) {
        let faults = self.best.faults.clone();
        ddmin(&faults, |part| self.take(self.with_faults(part)));
        // Where much is left, another seed may do with a part of it.
        if self.best.faults.len() > FEW {
            self.only_the_end();
            let faults = self.best.faults.clone();
            ddmin(&faults, |part| {
                self.take_anyhow(&self.with_faults(part), SEEDS)
            });
        }
    }

    /// Single actions, under other seeds too.
    fn fewer_still(&mut self) {
        let mut place = self.best.faults.len();
        while place > 0 {
            place = (place - 1).min(self.best.faults.len().saturating_sub(1));
            let mut fewer = self.best.clone();
            if place < fewer.faults.len() {
                fewer.faults.remove(place);
                self.take_anyhow(&fewer, SEEDS);
            }
        }
    }

    /// Takes the first of these that fails; false when none does.
    fn first_of(&mut self, candidates: impl Fn(&Scenario) -> Vec<Scenario>) -> bool {
        (candidates(&self.best).into_iter()).any(|candidate| self.take_anyhow(&candidate, SEEDS))
    }

    /// Only the last actions: under many seeds, for much may become shorter at once.
    fn only_the_end(&mut self) {
        for candidate in simpler::endings(&self.best) {
            if self.take_anyhow(&candidate, MANY_SEEDS) {
                break;
            }
        }
    }

    /// Every instant as round as it can be.
    fn rounder(&mut self) {
        let mut instants: Vec<u64> = self.best.faults.iter().map(|fault| fault.at).collect();
        instants.dedup();
        for at in instants.into_iter().rev() {
            for unit in simpler::UNITS {
                if at % unit == 0 {
                    break;
                }
                let below = at / unit * unit;
                let near = [below, below + unit];
                let found = near.into_iter().any(|to| {
                    simpler::rounded(&self.best, at, to).is_some_and(|rounded| self.take(rounded))
                });
                if found {
                    break;
                }
            }
        }
    }
}

/// The scenario with a title and what it is to be expected of it; nothing when it does not break.
fn told(mut scenario: Scenario, check: Check) -> Option<Scenario> {
    let mut world = World::new(&scenario);
    world.record_histories();
    world.run();
    scenario.expect = Failure::expected(&Failure::all(&world));
    let failure = failure_of(&scenario, None).filter(|failure| failure.check == check)?;
    scenario.lesson = Bilingual::default();
    let (en, zh) = story::title(&scenario, failure);
    scenario.title = Bilingual { en, zh };
    Some(scenario)
}
