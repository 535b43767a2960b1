//! A log with vector clocks, for ShiViz. Its first two lines tell ShiViz how to read the rest, and that it is one run.
//!
//! Every actor is a host that counts its own events. What is caused by an event elsewhere has seen all that one had seen.
//! What concerns links and plan happens at a host of its own, `world`.

use super::recording::Recording;
use super::words;
use crate::json::Writer;
use crate::physics::trace::{Event, KIND_NAMES, Kind};
use std::collections::BTreeMap;

const PATTERN: &str = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})";
const WORLD: &str = "world";

/// Writes a run.
pub(super) fn write(recording: &Recording) -> String {
    let hosts: Vec<String> = recording
        .world
        .actors()
        .into_iter()
        .map(|(_, name)| name)
        .chain([WORLD.to_owned()])
        .collect();
    let mut clocks = Clocks::of(recording, hosts.len());
    let mut out = format!("{PATTERN}\n\n");
    for (place, event) in recording.events.iter().enumerate() {
        let world = hosts.len() - 1;
        let elsewhere = from_elsewhere(recording, event, world);
        let host = host(event, world);
        let clock = clocks.tick(host, place as i64, elsewhere.then_some(event.cause));
        out += &said(recording, event);
        out.push('\n');
        out += &hosts[host];
        out.push(' ');
        let mut w = Writer::object();
        for (name, count) in hosts.iter().zip(clock).filter(|(_, count)| **count > 0) {
            w.plain(name, &count.to_string());
        }
        out += &w.finish();
        out.push('\n');
    }
    out
}

/// Where an event happens.
fn host(event: &Event, world: usize) -> usize {
    match event.kind {
        Kind::Cut | Kind::Heal | Kind::Healed | Kind::Lose | Kind::NoEffect | Kind::End => world,
        _ => usize::from(event.actor),
    }
}

/// Whether an event was caused by one at another host.
fn from_elsewhere(recording: &Recording, event: &Event, world: usize) -> bool {
    recording
        .cause(event)
        .is_some_and(|cause| host(cause, world) != host(event, world))
}

/// The vector clock of every host, and of every event that causes something elsewhere.
struct Clocks {
    now: Vec<Vec<u64>>,
    /// By place: how often an event causes something elsewhere.
    wanted: BTreeMap<i64, u32>,
    /// By place: the clock of such an event, and how often it is still asked for.
    kept: BTreeMap<i64, (Vec<u64>, u32)>,
}

impl Clocks {
    fn of(recording: &Recording, hosts: usize) -> Self {
        let mut wanted = BTreeMap::new();
        for event in &recording.events {
            if from_elsewhere(recording, event, hosts - 1) {
                *wanted.entry(event.cause).or_default() += 1;
            }
        }
        Self {
            now: vec![vec![0; hosts]; hosts],
            wanted,
            kept: BTreeMap::new(),
        }
    }

    /// The clock of the event at `place` on a host, caused by one elsewhere or by none.
    fn tick(&mut self, host: usize, place: i64, cause: Option<i64>) -> &[u64] {
        let now = &mut self.now[host];
        if let Some(cause) = cause
            && let Some((seen, left)) = self.kept.get_mut(&cause)
        {
            for (now, seen) in now.iter_mut().zip(seen) {
                *now = (*now).max(*seen);
            }
            *left -= 1;
            if *left == 0 {
                self.kept.remove(&cause);
            }
        }
        now[host] += 1;
        if let Some(wanted) = self.wanted.remove(&place) {
            self.kept.insert(place, (now.clone(), wanted));
        }
        &self.now[host]
    }
}

/// The event in one line.
fn said(recording: &Recording, event: &Event) -> String {
    let Event {
        at,
        kind,
        other,
        term,
        a,
        b,
        ..
    } = *event;
    let mut said = format!("{at} us: {}", KIND_NAMES[kind as usize]);
    let other = u16::try_from(other).map(|other| recording.name(other));
    match kind {
        Kind::Send | Kind::Deliver | Kind::Lose => said += &format!(" {}", words::message(a)),
        #[cfg(feature = "peers")]
        Kind::News => said += &format!(" {}", words::news(a)),
        Kind::Role => said += &format!(" {}", words::role(a)),
        Kind::Violation => said += &format!(" of {}", words::check(a)),
        Kind::NoEffect => said += &format!(" of faults[{a}]"),
        Kind::Deposed => said += &format!(": {}", words::deposed(a)),
        Kind::WriteRefused => said += &format!(": {}", words::refused(a)),
        Kind::WriteAccepted if a == 1 => said += ": stale",
        _ => {}
    }
    match (kind, other) {
        (Kind::Send, Ok(to)) => said += &format!(" to {to}"),
        (Kind::Deliver, Ok(from)) => said += &format!(" from {from}"),
        (Kind::Cut | Kind::Heal | Kind::Lose, Ok(to)) => {
            let why = if kind == Kind::Lose {
                words::loss(b)
            } else {
                ""
            };
            let link = format!(" {} to {to} {why}", recording.name(event.actor));
            said += link.trim_end();
        }
        (_, Ok(other)) => said += &format!(" {other}"),
        (_, Err(_)) => {}
    }
    if term >= 0 {
        said += &format!(", term {term}");
    }
    said
}
