//! One cell of the table: what was measured over its seeds, and what that means.

use super::expected::Expected;
use super::trial::Trial;
use crate::check::{Check, Judges, Tally};
use crate::fault::Fault;
use crate::stats::Times;
use crate::world::World;

/// What was measured of one scheme under one fault.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// How many seeds were run.
    pub runs: u64,
    /// By run: how long two or more believed to lead at once, by true time.
    pub two_leaders: Times,
    /// By run: how long no running node led, from the fault on.
    pub unavailable: Times,
    /// Stale writes that the fenced and the unfenced resource took.
    pub stale: [u64; 2],
    /// Stale writes that the guard turned away.
    pub turned_away: u64,
    /// Requests to the store, or messages between the nodes where there is none, from the fault on.
    pub requests: u64,
    /// How long they were counted, in microseconds.
    pub time: u64,
    /// Tenures whose token was compared with those before it.
    pub tokens: u64,
    /// Times a token did not rise, came back, or was shown by another.
    pub tokens_fell: u64,
    /// Runs in which nobody led when the fault was to begin, and which say nothing.
    pub never_led: u64,
    /// Runs at whose end nobody led, though everything was healed long before.
    pub left_without: u64,
    /// Actions that the fault is about and that changed something, and those of which somebody was shown something.
    pub effective: u64,
    /// See [`effective`](Self::effective).
    pub mattered: u64,
    /// The lowest seed that broke something.
    pub broken_by: Option<u64>,
}

/// What a cell shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing broke.
    Holds,
    /// Something broke that must not.
    Broken,
    /// Something broke, as it must be expected to.
    BrokenByDesign,
    /// The fault was none: nothing changed by it.
    NoEffect,
    /// The fault has nothing that it could be done to.
    NotApplicable,
}

impl Verdict {
    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Broken => "broken",
            Self::BrokenByDesign => "broken by design",
            Self::NoEffect => "no effect",
            Self::NotApplicable => "not applicable",
        }
    }
}

impl Cell {
    /// Runs a world to its end, with these faults from now on. Answers how many events that took.
    pub(super) fn run(
        &mut self,
        trial: Trial,
        mut world: World,
        seed: u64,
        plan: Vec<Fault>,
    ) -> u64 {
        let (from, events, before) = (world.now(), world.trace().count(), Sums::of(&world));
        world.set_plan(&crate::fault::Plan::new(plan));
        world.run();
        let after = Sums::of(&world);
        let judges = world.judges();
        let broken = |check: Check| judges.tally(check).broken;
        let two_leaders = judges.belief().overlap;
        let fell = tokens(judges, |tally| tally.broken);
        let left_without = u64::from(world.leader().is_none());
        if two_leaders + broken(Check::StaleWriteFenced) + fell + left_without > 0 {
            self.broken_by = Some(self.broken_by.map_or(seed, |by| by.min(seed)));
        }
        self.runs += 1;
        self.two_leaders.add(two_leaders);
        self.unavailable
            .add(after.without_leader - before.without_leader);
        self.stale[0] += broken(Check::StaleWriteFenced);
        self.stale[1] += broken(Check::StaleWriteUnfenced);
        self.turned_away += judges.stale_refused(0);
        self.requests += after.requests - before.requests;
        self.time += world.now() - from;
        self.tokens += judges.tally(Check::TokenRises).exercised;
        self.tokens_fell += fell;
        self.left_without += left_without;
        let faults = world.faults();
        let its = |fault: &&Fault| trial.is(&fault.action);
        if let Some(fault) = world.plan().iter().find(its) {
            let kind = fault.action.kind();
            self.effective += u64::from(faults.effective[kind]);
            self.mattered += u64::from(faults.mattered[kind]);
        }
        world.trace().count() - events
    }

    /// Adds others.
    pub fn merge(&mut self, other: Self) {
        self.runs += other.runs;
        self.two_leaders.merge(other.two_leaders);
        self.unavailable.merge(other.unavailable);
        for (stale, others) in self.stale.iter_mut().zip(other.stale) {
            *stale += others;
        }
        self.turned_away += other.turned_away;
        self.requests += other.requests;
        self.time += other.time;
        self.tokens += other.tokens;
        self.tokens_fell += other.tokens_fell;
        self.never_led += other.never_led;
        self.left_without += other.left_without;
        self.effective += other.effective;
        self.mattered += other.mattered;
        self.broken_by = self.broken_by.into_iter().chain(other.broken_by).min();
    }

    /// Requests a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.requests as f64 * 1e6 / self.time.max(1) as f64
    }

    /// What broke, in a few words; nothing where nothing did.
    #[must_use]
    pub fn broke(&self) -> Vec<&'static str> {
        let broke = [
            (self.two_leaders.quantiles().max > 0, "two leaders"),
            (self.stale[0] > 0, "stale writes past the guard"),
            (self.tokens_fell > 0, "tokens that did not rise"),
            (self.left_without > 0, "nobody at the end"),
            (self.never_led > 0, "nobody at the start"),
        ];
        let broke = broke.into_iter().filter(|(broke, _)| *broke);
        broke.map(|(_, what)| what).collect()
    }

    /// What it shows, held against what is expected.
    #[must_use]
    pub fn verdict(&self, trial: Trial, expected: Expected) -> Verdict {
        match expected {
            Expected::NotApplicable(_) => Verdict::NotApplicable,
            _ if self.effective == 0 && trial != Trial::None => Verdict::NoEffect,
            _ if !self.is_broken() => Verdict::Holds,
            Expected::Breaks(_) | Expected::MayBreak(_) if self.is_alive() => {
                Verdict::BrokenByDesign
            }
            Expected::Holds | Expected::Breaks(_) | Expected::MayBreak(_) => Verdict::Broken,
        }
    }

    /// Whether it shows what is expected of it. A fault without an effect shows nothing.
    #[must_use]
    pub fn is_as_expected(&self, trial: Trial, expected: Expected) -> bool {
        match (expected, self.verdict(trial, expected)) {
            (Expected::NotApplicable(_), _) => true,
            (_, Verdict::NoEffect) => false,
            (Expected::Holds, verdict) => verdict == Verdict::Holds,
            (Expected::Breaks(_), verdict) => verdict == Verdict::BrokenByDesign,
            (Expected::MayBreak(_), verdict) => verdict != Verdict::Broken,
        }
    }

    fn is_broken(&self) -> bool {
        !self.broke().is_empty()
    }

    /// Whether somebody led wherever somebody has to: no design excuses that nobody does.
    const fn is_alive(&self) -> bool {
        self.left_without == 0 && self.never_led == 0
    }
}

/// What is told of the time from the fault on.
struct Sums {
    without_leader: u64,
    requests: u64,
}

impl Sums {
    fn of(world: &World) -> Self {
        let counts = world.counts();
        Self {
            without_leader: world.judges().belief().without_leader,
            requests: if world.servers().next().is_some() {
                counts.asked
            } else {
                counts.messages
            },
        }
    }
}

/// Sums over the judges of tokens.
fn tokens(judges: &Judges, of: impl Fn(Tally) -> u64) -> u64 {
    [Check::TokenRises, Check::NeverRevives, Check::TokenHolder]
        .map(|check| of(judges.tally(check)))
        .iter()
        .sum()
}
