//! What lasts, as slices on lanes: one lane for each node and aspect, and on each lane slices nest.

use super::recording::Recording;
use super::words;
use crate::packet::code;
use crate::physics::trace::{Event, Kind};
use std::collections::{BTreeMap, VecDeque};

/// What a lane shows of its actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Aspect {
    /// Runs, is frozen, is down.
    Process,
    /// What it plays in the election.
    Role,
    /// Believes to lead.
    Belief,
    /// Its disk writes.
    Disk,
    /// What it sends and receives.
    Messages,
    /// The jobs it works at.
    Work,
}

impl Aspect {
    pub(super) const ALL: [Self; 6] = [
        Self::Process,
        Self::Role,
        Self::Belief,
        Self::Disk,
        Self::Messages,
        Self::Work,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Role => "role",
            Self::Belief => "belief",
            Self::Disk => "disk",
            Self::Messages => "messages",
            Self::Work => "work",
        }
    }
}

/// Something that lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) actor: u16,
    pub(super) aspect: Aspect,
    pub(super) from: u64,
    pub(super) until: u64,
    pub(super) name: String,
}

/// Everything that lasted in a run.
pub(super) fn slices(recording: &Recording) -> Vec<Slice> {
    let mut slices = Vec::new();
    for node in 0..recording.scenario.nodes {
        let node = node as u16;
        let own = recording.events.iter().filter(|event| event.actor == node);
        let end = recording.scenario.duration;
        process(node, own.clone(), end, None, &mut slices);
        role(node, own.clone(), end, &mut slices);
        disk(node, own.clone(), &mut slices);
        work(node, own, end, &mut slices);
    }
    // A server of a store runs from the start, and has no lives to count.
    for server in recording.scenario.nodes..recording.members() {
        let server = server as u16;
        let own = recording
            .events
            .iter()
            .filter(|event| event.actor == server);
        let end = recording.scenario.duration;
        process(server, own, end, Some(-1), &mut slices);
    }
    slices.extend(recording.beliefs.iter().map(|belief| Slice {
        actor: belief.node,
        aspect: Aspect::Belief,
        from: belief.from,
        until: belief.until,
        name: format!("leads term {}", belief.token.counter),
    }));
    messages(recording, &mut slices);
    slices
}

fn process<'a>(
    node: u16,
    events: impl Iterator<Item = &'a Event>,
    end: u64,
    first: Option<i64>,
    out: &mut Vec<Slice>,
) {
    let slice = |from, until, name| Slice {
        actor: node,
        aspect: Aspect::Process,
        from,
        until,
        name,
    };
    let up = |life| match life {
        ..0 => "up".to_owned(),
        life => format!("up, life {life}"),
    };
    let (mut since, mut life, mut frozen) = (0, first, None);
    for event in events {
        if matches!(event.kind, Kind::Resume | Kind::Crash)
            && let Some(froze) = frozen.take()
        {
            out.push(slice(froze, event.at, "paused".to_owned()));
        }
        match event.kind {
            Kind::Boot => {
                if event.at > since {
                    out.push(slice(since, event.at, "down".to_owned()));
                }
                (since, life) = (event.at, Some(event.a));
            }
            Kind::Crash => {
                if let Some(life) = life.take() {
                    out.push(slice(since, event.at, up(life)));
                }
                since = event.at;
            }
            Kind::Pause => frozen = Some(event.at),
            _ => {}
        }
    }
    if let Some(froze) = frozen {
        out.push(slice(froze, end, "paused".to_owned()));
    }
    let last = life.map_or_else(|| "down".to_owned(), up);
    if end > since {
        out.push(slice(since, end, last));
    }
}

fn role<'a>(node: u16, events: impl Iterator<Item = &'a Event>, end: u64, out: &mut Vec<Slice>) {
    let (mut since, mut now) = (0, String::new());
    let mut role = 0;
    let mut turn = |at: u64, next: String| {
        if next == now {
            return;
        }
        if at > since && !now.is_empty() {
            out.push(Slice {
                actor: node,
                aspect: Aspect::Role,
                from: since,
                until: at,
                name: std::mem::take(&mut now),
            });
        }
        (since, now) = (at, next);
    };
    for event in events {
        match event.kind {
            Kind::Boot => {
                role = 0;
                turn(event.at, words::role(0).to_owned());
            }
            Kind::Crash => turn(event.at, String::new()),
            Kind::Role => {
                role = event.a;
                let name = words::role(role);
                let said = match role {
                    0 | 5 => name.to_owned(),
                    _ => format!("{name}, term {}", event.term),
                };
                turn(event.at, said);
            }
            Kind::Following if role == 0 => {
                let said = match u16::try_from(event.other) {
                    Ok(leader) => {
                        format!("follows {}, term {}", words::nodes(&[leader]), event.term)
                    }
                    Err(_) => words::role(0).to_owned(),
                };
                turn(event.at, said);
            }
            _ => {}
        }
    }
    turn(end, String::from("over"));
}

/// A disk writes one record after another: the slice of one begins when the one before it is done.
fn disk<'a>(node: u16, events: impl Iterator<Item = &'a Event>, out: &mut Vec<Slice>) {
    let mut waiting: VecDeque<&Event> = VecDeque::new();
    let mut free = 0;
    for event in events {
        let lost = match event.kind {
            Kind::Persist => {
                waiting.push_back(event);
                continue;
            }
            Kind::Persisted => false,
            Kind::PersistLost => true,
            _ => continue,
        };
        let Some(record) = waiting.pop_front() else {
            continue;
        };
        // Of several that a crash undid, only the first had begun.
        let from = record.at.max(free);
        if event.at > from || !lost {
            let vote = u16::try_from(record.b).map_or_else(
                |_| String::new(),
                |vote| format!(", vote {}", words::nodes(&[vote])),
            );
            let what = if lost { "lost: " } else { "" };
            out.push(Slice {
                actor: node,
                aspect: Aspect::Disk,
                from,
                until: event.at,
                name: format!("{what}term {}{vote}", record.term),
            });
        }
        free = event.at;
    }
}

/// A job, from its beginning until its effect leaves, or until it is stopped.
fn work<'a>(node: u16, events: impl Iterator<Item = &'a Event>, end: u64, out: &mut Vec<Slice>) {
    let mut begun: Option<&Event> = None;
    let mut close = |begun: Option<&Event>, until, how: &str| {
        out.extend(begun.map(|event| Slice {
            actor: node,
            aspect: Aspect::Work,
            from: event.at,
            until,
            name: format!("job {}{how}", event.a),
        }));
    };
    for event in events {
        match event.kind {
            Kind::JobStarted => begun = Some(event),
            Kind::JobStopped => close(begun.take(), event.at, ", stopped"),
            Kind::Crash => close(begun.take(), event.at, ", lost"),
            Kind::Send if event.a == code::FINISH => close(begun.take(), event.at, ""),
            _ => {}
        }
    }
    close(begun, end, "");
}

/// One slice for all that an actor sends and receives in one instant, so that slices of one lane never cross.
fn messages(recording: &Recording, out: &mut Vec<Slice>) {
    let mut batches: BTreeMap<u16, (u64, Vec<(String, u32)>)> = BTreeMap::new();
    for event in &recording.events {
        let Some(actor) = anchor(event) else {
            continue;
        };
        let what = words::message(event.a);
        let said = match event.kind {
            Kind::Send => format!("send {what}"),
            Kind::Deliver => format!("receive {what}"),
            _ => format!("{what} lost ({})", words::loss(event.b)),
        };
        let (at, batch) = batches.entry(actor).or_default();
        if *at != event.at {
            flush(actor, *at, batch, out);
            *at = event.at;
        }
        match batch.iter_mut().find(|(other, _)| *other == said) {
            Some((_, count)) => *count += 1,
            None => batch.push((said, 1)),
        }
    }
    for (actor, (at, batch)) in &mut batches {
        flush(*actor, *at, batch, out);
    }
}

fn flush(actor: u16, at: u64, batch: &mut Vec<(String, u32)>, out: &mut Vec<Slice>) {
    if batch.is_empty() {
        return;
    }
    let said: Vec<String> = batch
        .drain(..)
        .map(|(what, count)| match count {
            1 => what,
            _ => format!("{what} ×{count}"),
        })
        .collect();
    out.push(Slice {
        actor,
        aspect: Aspect::Messages,
        from: at,
        until: at + 1,
        name: said.join(", "),
    });
}

/// On whose lane an event about a message is shown: what was lost, on that of whom it did not reach.
pub(super) fn anchor(event: &Event) -> Option<u16> {
    match event.kind {
        Kind::Send | Kind::Deliver => Some(event.actor),
        Kind::Lose => u16::try_from(event.other).ok(),
        _ => None,
    }
}
