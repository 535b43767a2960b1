//! What an exploration found: figures, and the shortest way to a violation.

use super::law::Law;
use super::model::{Action, Mail, Model, State};
use super::outline::Outline;
use super::setting::Cut;
use std::collections::HashSet;
use std::fmt;
use tenure::raft::{Message, Role};

/// The figures of an exploration.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// States that differ.
    pub unique: u64,
    /// States met, those met before included, and not those that an action left as they were.
    pub generated: u64,
    /// Actions that changed nothing.
    pub idle: u64,
    /// New states by number of actions that lead to them.
    pub levels: Vec<usize>,
    /// New states by the kind of action that led to them: tick, timeout, delivery, write, crash, campaign, resignation.
    pub actions: [u64; 7],
    /// How often each bound cut something off, in the order of [`Cut::ALL`].
    pub cuts: [u64; Cut::ALL.len()],
    /// States of single nodes.
    pub nodes: usize,
    /// The same without clock values, terms and names, when all is done.
    pub outlines: HashSet<Outline>,
    /// Messages that differ.
    pub messages: usize,
    /// Steps of single nodes: how often a machine was run. All others were looked up.
    pub steps: usize,
    /// Whether the search was told to stop.
    pub stopped: bool,
    /// Fingerprints of the joint states of the nodes, whatever the network holds, when asked for.
    pub projected: Option<HashSet<u64>>,
    /// How many states were asked whether they heal.
    pub healed: u64,
    /// The most inputs of machines that it took until one led that all name.
    pub slowest: u32,
    /// The shortest way to a violation, if there is one.
    pub counterexample: Option<Counterexample>,
}

/// A shortest way to a violation.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// What broke.
    pub law: Law,
    /// Which of the initial states it starts from ([`Model::initial`]).
    pub initial: usize,
    /// What happens, one after the other.
    pub path: Vec<Action>,
    /// The same in words; the passing of time is told when something comes of it.
    pub story: Vec<String>,
    /// Whether the plain model breaks the same invariant by the same actions.
    pub confirmed: bool,
}

impl Report {
    /// How deep the search went.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// Whether every state within the bounds of the setting was met: the bounds on depth, states and messages cut
    /// nothing, and nobody stopped it.
    #[must_use]
    pub fn exhausted(&self) -> bool {
        let unmet = [Cut::Depth, Cut::States, Cut::Messages];
        self.counterexample.is_none()
            && !self.stopped
            && unmet.iter().all(|cut| self.cuts[*cut as usize] == 0)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} states, {} generated, depth {}, {}",
            self.unique,
            self.generated,
            self.depth(),
            match (&self.counterexample, self.exhausted()) {
                (Some(_), _) => "a violation",
                (None, true) => "exhausted, clean",
                (None, false) => "not exhausted, clean so far",
            }
        )?;
        writeln!(
            f,
            "{} node states, {} messages, {} steps of a machine",
            self.nodes, self.messages, self.steps
        )?;
        if self.healed > 0 {
            writeln!(
                f,
                "{} states healed, each with one leader that all name after {} inputs at most",
                self.healed, self.slowest
            )?;
        }
        let mut before = "actions left out, each beyond a bound:";
        for cut in Cut::ALL {
            let count = self.cuts[cut as usize];
            if count > 0 {
                write!(f, "{before} {count} of {}", cut.name())?;
                before = ",";
            }
        }
        if before != "," {
            write!(f, "no action was left out")?;
        }
        if let Some(example) = &self.counterexample {
            write!(f, "\n{example}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, after {} actions", self.law, self.path.len())?;
        for line in &self.story {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

impl Counterexample {
    /// Replays the actions from an initial state over the machines themselves.
    pub(super) fn replay(
        model: &Model,
        law: Law,
        (initial, actions): (usize, Vec<Action>),
    ) -> Self {
        // The plain way keeps every message: a reduction that dropped one too many cannot hide here.
        let model = &model.keeping_inert();
        let mut story = Vec::new();
        let mut broken = None;
        let mut state = model.initial().into_iter().nth(initial);
        let mut time = 0;
        let stuck = |state: &Option<State>| {
            law == Law::LeaderAgain
                && state
                    .as_ref()
                    .is_some_and(|state| state.heal(model).is_none())
        };
        for action in &actions {
            let Some(before) = state.take() else { break };
            time += u64::from(*action == Action::Tick);
            if let Ok(after) = model.step(&before, action) {
                tell(&mut story, time, &before, action, &after);
                broken = after.broken();
                state = Some(after);
            }
        }
        Self {
            law,
            initial,
            path: actions,
            story,
            confirmed: broken == Some(law) || stuck(&state),
        }
    }
}

/// Adds what an action did. Ticks in a row take one line, and are told only when the next thing happens.
fn tell(story: &mut Vec<String>, time: u64, before: &State, action: &Action, after: &State) {
    let what = match action {
        Action::Tick => {
            let believed = |state: &State| state.believers().count();
            if believed(before) == believed(after) {
                return;
            }
            "time passes".to_owned()
        }
        Action::Timeout(place) => format!("node {place} times out"),
        Action::Deliver(mail) => format!("node {} hears {}", mail.to, Told(mail)),
        Action::Written(place) => format!("the disk of node {place} did a write"),
        Action::Crash(place, done) => {
            format!("node {place} crashes after {done} open writes and starts again")
        }
        Action::Campaign(place) => format!("the host of node {place} campaigns"),
        Action::Resign(place) => format!("the host of node {place} resigns"),
    };
    let mut line = format!("t={time:<3} {what}");
    if let Some(place) = action.place() {
        let (old, new) = (before.node(place), after.node(place));
        let state = |node: &super::node::Node| (node.machine.term(), node.machine.role());
        if state(old) != state(new) {
            let (term, role) = state(new);
            line += match role {
                Role::Follower => ", follows",
                Role::PreCandidate => ", asks for pre-votes",
                Role::Candidate => ", stands",
                Role::Leader => ", leads",
            };
            line += &format!(" in term {term}");
        }
        // Requests come before what they lead to.
        let mut said: Vec<&Mail> = after.mails().collect();
        said.retain(|mail| !before.mails().any(|old| old == *mail));
        said.sort_by_key(|mail| (matches!(mail.message, Message::Heartbeat { .. }), mail.to));
        let said: Vec<String> = said
            .into_iter()
            .map(|mail| format!("{} to {}", Told(mail).name(), mail.to))
            .collect();
        if !said.is_empty() {
            line += &format!("; says {}", said.join(", "));
        }
    }
    let believers: Vec<String> = after
        .believers()
        .map(|(place, term)| format!("{place} (term {term})"))
        .collect();
    if !believers.is_empty() {
        line += &format!("; believing: {}", believers.join(", "));
    }
    story.push(line);
}

/// A message in words.
struct Told<'a>(&'a Mail);

impl Told<'_> {
    fn name(&self) -> String {
        let message = &self.0.message;
        let name = match message {
            Message::RequestPreVote { .. } => "RequestPreVote",
            Message::PreVoteGranted { .. } => "PreVoteGranted",
            Message::PreVoteRefused { .. } => "PreVoteRefused",
            Message::RequestVote { .. } => "RequestVote",
            Message::VoteGranted { .. } => "VoteGranted",
            Message::VoteRefused { .. } => "VoteRefused",
            Message::Heartbeat { .. } => "Heartbeat",
            Message::HeartbeatAck { .. } => "HeartbeatAck",
            Message::HeartbeatRefused { .. } => "HeartbeatRefused",
            Message::Release { .. } => "Release",
            // What is said of a log alone, which no node has here.
            _ => "a message",
        };
        format!("{name} {}", message.term())
    }
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of node {}", self.name(), self.0.from)?;
        match self.0.age() {
            Some(age) if age > 0 => write!(f, " (sent {age} ago)"),
            _ => Ok(()),
        }
    }
}
