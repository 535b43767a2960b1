//! A counterexample as a scenario: the schedule that the explorer found, played in a world before its judges.
//!
//! An exploration chooses when a message arrives, when a disk is done and when a timer fires. A world is told the same by
//! its faults: a delayed link, a slow disk, a host that campaigns, a process that is paused while its timer would fire. Each
//! act gets an instant of its own, so far from the next that what happens in between fits there, and so near that all of
//! them fit into one microsecond of the model, drawn out to a [`Stage::tick`].
//!
//! Not every schedule can be told exactly. What is handed out was run and breaks the same invariant; then every fault
//! that it breaks without is taken back.

use super::law::Law;
use super::model::{Action, Model};
use super::report::Counterexample;
use super::script::{Act, Post, Script};
use super::setting::{Setting, Unexplorable};
use crate::failure::Failure;
use crate::fault::{Action as Fate, Fault, Who};
use crate::physics::clock::TRUE_PACE;
use crate::physics::disk::Takes;
use crate::physics::weather::{PPM, Weather};
use crate::scenario::{Bilingual, Clients, Elects, Scenario};
use crate::world::World;
use std::fmt;
use tenure::Duration;
use tenure::raft::{Role, Rule, Timing};

/// Between two acts.
const STEP: u64 = 10_000;
/// Between something that is set up and the act that it is for.
const AHEAD: u64 = STEP / 2;
/// How long a message takes where no link is delayed.
const LATENCY: u64 = 1_000;
/// Longer than any run: what is lost in a counterexample, or never done.
const NEVER: u64 = 3_600_000_000;
/// How many seeds are tried: timers that nobody calls for fire when they draw.
const SEEDS: u64 = 8;

/// Why a counterexample comes out as no scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unstaged {
    /// No judge of a world finds it in a run that ends.
    Unseen(Law),
    /// The nodes of a world have no logs yet.
    Logs,
    /// The nodes of a world are configured alike.
    Timings,
    /// The setting cannot be explored.
    Setting(Unexplorable),
    /// Its schedule, told by faults, does not break the invariant.
    Differs,
}

impl fmt::Display for Unstaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unseen(law) => write!(f, "no run of a world shows this: {law}"),
            Self::Logs => f.write_str("the nodes of a world have no logs"),
            Self::Timings => f.write_str("the nodes of a world have one configuration"),
            Self::Setting(error) => error.fmt(f),
            Self::Differs => f.write_str(
                "told by the faults of a world, the schedule does not break the invariant there",
            ),
        }
    }
}

impl Counterexample {
    /// The same in a world: a scenario that breaks the same invariant, with no fault that it breaks without.
    ///
    /// # Errors
    /// When a world has not what it takes, or does not break the invariant.
    pub fn scenario(&self, setting: &Setting) -> Result<Scenario, Unstaged> {
        let check = self.law.check().ok_or(Unstaged::Unseen(self.law))?;
        if setting.logs.iter().any(|log| log.last().index > 0) {
            return Err(Unstaged::Logs);
        }
        let model = Model::new(setting).map_err(Unstaged::Setting)?;
        let stage = Stage {
            script: Script::of(&model, self.initial, &self.path),
            timing: one_timing(setting)?,
            rules: setting.off.clone(),
            unit: setting.clocks.as_ref().map_or(1, |clocks| clocks.unit),
            title: Bilingual {
                en: format!("Found by the explorer: {}", self.law),
                zh: format!("由穷举器找到：违反 {}", self.law.name()),
            },
        };
        let breaks = |scenario: &Scenario| {
            let failures = failures(scenario);
            failures.iter().any(|failure| failure.check == check)
        };
        let mut plays = (0..SEEDS).flat_map(|seed| {
            let of = |again| stage.scenario(seed + 1, again);
            [of(Again::First), of(Again::Last)]
        });
        let found = plays.find(breaks).ok_or(Unstaged::Differs)?;
        let mut scenario = least(found, breaks);
        scenario.expect = Failure::expected(&failures(&scenario));
        Ok(scenario)
    }
}

/// What breaks in a world.
fn failures(scenario: &Scenario) -> Vec<Failure> {
    let mut world = World::new(scenario);
    world.run();
    Failure::all(&world)
}

/// What all nodes are configured with; `None` without leases.
fn one_timing(setting: &Setting) -> Result<Option<Timing>, Unstaged> {
    let Some(clocks) = &setting.clocks else {
        return Ok(None);
    };
    let mut timings = clocks.timings.iter();
    let first = timings.next().copied();
    if timings.any(|other| Some(*other) != first) {
        return Err(Unstaged::Timings);
    }
    Ok(first)
}

/// Which arrival of a message counts that arrives more than once: in a world, both copies come at once.
#[derive(Clone, Copy, Debug)]
enum Again {
    First,
    Last,
}

/// What a scenario is made from.
struct Stage {
    script: Script,
    timing: Option<Timing>,
    rules: Vec<Rule>,
    unit: u64,
    title: Bilingual,
}

impl Stage {
    /// How long a microsecond of the model is in the world: all acts have room in one.
    fn tick(&self) -> u64 {
        let room = (self.script.acts.len() as u64 + 2) * STEP;
        room.next_multiple_of(10 * STEP)
    }

    /// When an act happens.
    fn at(&self, act: usize) -> u64 {
        let ticks = self.script.acts[act].tick;
        let whole = if self.timing.is_some() {
            ticks * self.tick()
        } else {
            0
        };
        whole + (act as u64 + 1) * STEP
    }

    fn scenario(&self, seed: u64, again: Again) -> Scenario {
        let last = self.script.acts.len().saturating_sub(1);
        let mut faults = Vec::new();
        if self.timing.is_some() {
            // Timers fire when the explorer says: between their acts, all processes are paused.
            let nodes = 0..self.script.rates.len();
            faults.extend(nodes.map(|place| (0, Fate::Pause(node(place)))));
        }
        for act in 0..self.script.acts.len() {
            self.links(act, again, &mut faults);
            self.disk(act, &mut faults);
            self.act(act, &mut faults);
        }
        faults.sort_by_key(|(at, _)| *at);
        let clock = |rate: &u64| (rate * u64::from(TRUE_PACE) / self.unit) as u32;
        let drifts = self.script.rates.iter().any(|rate| *rate != self.unit);
        Scenario {
            title: self.title.clone(),
            seed,
            nodes: self.script.rates.len(),
            timing: self.timing(),
            off: self.off(),
            safe_mode: self.timing.is_some(),
            log: false,
            outside: 0,
            elects: Elects::Raft,
            weather: WEATHER,
            clocks: if drifts {
                self.script.rates.iter().map(clock).collect()
            } else {
                Vec::new()
            },
            lesson: Bilingual::default(),
            disk: Takes::write(NEVER),
            clients: Clients {
                every: NEVER,
                ..Scenario::usual().clients
            },
            jobs: None,
            leader_within: NEVER,
            duration: self.at(last) + 2 * STEP,
            faults: faults
                .into_iter()
                .map(|(at, action)| Fault { at, action })
                .collect(),
            expect: Vec::new(),
        }
    }

    /// The same promise and heartbeat, drawn out. Timers that nobody calls for draw from so much that none fires.
    fn timing(&self) -> Timing {
        let long = Duration::from_micros(NEVER);
        match self.timing {
            Some(timing) => {
                let drawn = |span: Duration| span.as_micros() * self.tick();
                Timing {
                    election_min: Duration::from_micros(drawn(timing.election_min)),
                    election_max: long,
                    // A world reads its clocks with a grain: a lease has to have room for two rounds.
                    heartbeat: Duration::from_micros(drawn(timing.heartbeat) - STEP),
                    rate_bound: timing.rate_bound,
                    ..Timing::default()
                }
            }
            None => Timing {
                election_min: Duration::from_secs(60),
                election_max: Duration::from_secs(120),
                heartbeat: Duration::from_secs(20),
                ..Timing::default()
            },
        }
    }

    /// The rules that are off. Without safe mode nobody asks first anyhow.
    fn off(&self) -> Vec<Rule> {
        let mut off = self.rules.clone();
        off.retain(|rule| *rule != Rule::PreVote || self.timing.is_some());
        off.sort_unstable();
        off.dedup();
        off
    }

    /// What is sent in an act arrives in others, or never.
    fn links(&self, act: usize, again: Again, faults: &mut Vec<(u64, Fate)>) {
        let from = self.script.acts[act].place;
        let ahead = self.at(act) - AHEAD;
        let mut twice = false;
        for to in (0..self.script.rates.len()).filter(|to| *to != from) {
            let on_link = |post: &&Post| (post.from, post.to) == (from, to);
            let posts = self.script.posts.iter().filter(on_link);
            // Both copies of what comes twice come at once. A world may say earlier what is said here in a later act.
            let next = posts.clone().find(|post| post.sent >= act);
            let sent = next.map_or(act, |post| post.sent);
            let arrives = posts
                .filter(|post| post.sent == sent)
                .inspect(|post| twice |= post.sent == act && post.arrives.len() > 1)
                .filter_map(|post| match again {
                    Again::First => post.arrives.first(),
                    Again::Last => post.arrives.last(),
                })
                .min();
            let delay = arrives.map_or(NEVER, |arrival| self.at(*arrival) - self.at(act) - LATENCY);
            faults.push((ahead, Fate::Delay(node(from), node(to), delay)));
        }
        if twice {
            let doubled = Weather {
                duplicate: PPM,
                ..WEATHER
            };
            faults.push((ahead, Fate::Network(doubled)));
            faults.push((self.at(act) + AHEAD / 2, Fate::Network(WEATHER)));
        }
    }

    /// What the disk is given in an act is done in another, or never.
    fn disk(&self, act: usize, faults: &mut Vec<(u64, Fate)>) {
        let place = self.script.acts[act].place;
        let mut busy = self.at(act);
        for write in self
            .script
            .writes
            .iter()
            .filter(|write| write.place == place)
        {
            let done = write.done.map(|done| match self.script.acts[done].action {
                // Just before the process dies: too late for it to hear of it.
                Action::Crash(..) => self.at(done) - AHEAD / 2,
                _ => self.at(done),
            });
            if write.asked == act {
                let takes = done.map_or(NEVER, |done| done.saturating_sub(busy));
                faults.push((
                    self.at(act) - AHEAD,
                    Fate::Disk(node(place), Takes::write(takes)),
                ));
                return;
            }
            if write.asked < act {
                busy = busy.max(done.unwrap_or(0));
            }
        }
    }

    fn act(&self, at: usize, faults: &mut Vec<(u64, Fate)>) {
        let Act {
            place,
            ref action,
            role,
            ..
        } = self.script.acts[at];
        let who = node(place);
        let now = self.at(at);
        let timed = self.timing.is_some();
        if timed && !matches!(action, Action::Crash(..)) {
            faults.push((now, Fate::Resume(who)));
        }
        match action {
            // Whoever follows stands when asked to; whoever stands does so again when its time is over.
            Action::Timeout(_) if role == Role::Follower => {
                faults.push((now, Fate::Campaign(who)));
            }
            Action::Timeout(_) if !timed => {
                faults.push((now, Fate::Clock(who, None, NEVER as i64)));
            }
            Action::Campaign(_) => faults.push((now, Fate::Campaign(who))),
            Action::Resign(_) => faults.push((now, Fate::Resign(who))),
            Action::Crash(_, done) => {
                // Of what the disk did last it does not hear any more.
                if *done > 0 && !timed {
                    faults.push((now - AHEAD, Fate::Pause(who)));
                }
                faults.push((now, Fate::Crash(who)));
                faults.push((now, Fate::Restart(who)));
            }
            _ => {}
        }
        if timed {
            faults.push((now, Fate::Pause(who)));
        }
    }
}

const WEATHER: Weather = Weather::calm(LATENCY, LATENCY);

const fn node(place: usize) -> Who {
    Who::Node(place as u16)
}

/// The scenario without the faults that it breaks without: in halves, in quarters, one by one, until none can go.
fn least(mut scenario: Scenario, breaks: impl Fn(&Scenario) -> bool) -> Scenario {
    let mut size = scenario.faults.len().max(1);
    loop {
        let mut gone = false;
        let mut end = scenario.faults.len();
        // From the end: what comes late is there for what comes later still.
        while end > 0 {
            let begin = end.saturating_sub(size);
            let mut without = scenario.clone();
            without.faults.drain(begin..end);
            if breaks(&without) {
                scenario = without;
                gone = true;
            }
            end = begin;
        }
        if size == 1 && !gone {
            return scenario;
        }
        size = (size / 2).max(1);
    }
}
