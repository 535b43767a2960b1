//! Writes that came too late, and what became of all of them.

use super::Entry;
use crate::export::recording::Recording;
use crate::export::words::{count, ms, nodes, refused, span};
use crate::packet::code::{FENCE, REQUEST};
use crate::physics::trace::{Event, Kind};
use crate::resource::EPOCH_MOVED;
use std::collections::BTreeSet;

/// Writes of one term that met the same fate at one resource.
#[derive(Clone, Debug)]
struct Late {
    resource: u16,
    writer: u16,
    term: i64,
    fate: Fate,
    how: How,
    first: u64,
    last: u64,
    writes: u64,
    /// The highest term shown to the resource before, what was shown with it, and when.
    newest: (i64, Kind, u64),
}

/// What a resource did with a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Taken,
    Refused(i64),
    /// A fence that was refused.
    FenceRefused(i64),
    /// The store by which its writer was elected does not keep it.
    NotKept,
}

/// How a write came to be late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    /// Its writer had been frozen between its check and its write.
    OnWaking,
    /// It left in time and took long.
    OnItsWay,
    /// Its writer did not know better when it left.
    Unaware,
    /// Its writer leads nobody, and has no token to show.
    WithoutToken,
}

/// What is told of late writes, where the first of each kind arrives.
pub(super) fn entries(recording: &Recording) -> Vec<Entry> {
    late(recording)
        .iter()
        .map(|late| Entry::new(late.first, told(recording, late)))
        .collect()
}

fn late(recording: &Recording) -> Vec<Late> {
    let mut newest: Vec<(i64, Kind, u64)> = Vec::new();
    let mut all: Vec<Late> = Vec::new();
    let mut woke: BTreeSet<(u16, u64)> = BTreeSet::new();
    for event in &recording.events {
        let fate = match event.kind {
            Kind::Resume => {
                woke.insert((event.actor, event.at));
                continue;
            }
            Kind::WriteAccepted if event.a == 1 => Some(Fate::Taken),
            Kind::WriteRefused if event.a == EPOCH_MOVED as i64 => Some(Fate::NotKept),
            Kind::WriteRefused => {
                let fence = recording.cause(event).is_some_and(|cause| cause.a == FENCE);
                Some(if fence {
                    Fate::FenceRefused(event.a)
                } else {
                    Fate::Refused(event.a)
                })
            }
            Kind::WriteAccepted | Kind::Fenced | Kind::Read => None,
            _ => continue,
        };
        let resource = usize::from(event.actor);
        if newest.len() <= resource {
            newest.resize(resource + 1, (-1, Kind::End, 0));
        }
        let shown = &mut newest[resource];
        let Some(fate) = fate else {
            if event.term > shown.0 {
                *shown = (event.term, event.kind, event.at);
            }
            continue;
        };
        let writer = u16::try_from(event.other).unwrap_or(u16::MAX);
        let how = how(recording, event, shown.2, &woke);
        let known = all.iter_mut().find(|late| {
            late.resource == event.actor
                && (late.writer, late.term) == (writer, event.term)
                && (late.fate, late.how) == (fate, how)
        });
        match known {
            Some(late) => {
                late.writes += 1;
                late.last = event.at;
            }
            None => all.push(Late {
                resource: event.actor,
                writer,
                term: event.term,
                fate,
                how,
                first: event.at,
                last: event.at,
                writes: 1,
                newest: *shown,
            }),
        }
    }
    all
}

fn how(recording: &Recording, event: &Event, newest_at: u64, woke: &BTreeSet<(u16, u64)>) -> How {
    if event.term < 0 {
        return How::WithoutToken;
    }
    let sent = recording
        .cause(event)
        .and_then(|arrival| recording.cause(arrival));
    let Some(sent) = sent else {
        return How::Unaware;
    };
    if woke.contains(&(sent.actor, sent.at)) {
        How::OnWaking
    } else if sent.at <= newest_at {
        How::OnItsWay
    } else {
        How::Unaware
    }
}

fn told(recording: &Recording, late: &Late) -> String {
    let resource = recording.name(late.resource);
    let what = match late.fate {
        Fate::FenceRefused(_) => count(late.writes, "fence"),
        _ => count(late.writes, "write"),
    };
    let when = match late.writes {
        1 => String::new(),
        _ => format!(" ({})", span(late.first, late.last)),
    };
    let (term, shown, at) = late.newest;
    let shown = match shown {
        Kind::Fenced => "fenced it",
        Kind::Read => "read it",
        _ => "written it",
    };
    let did = match late.fate {
        Fate::Taken => {
            let why = if resource == "fenced" {
                "its guard had not heard of the newer term"
            } else {
                "it checks nothing"
            };
            format!("takes {what} of a leader that was overtaken{when}: {why}")
        }
        Fate::Refused(reason) | Fate::FenceRefused(reason) => {
            format!("refuses {what}{when} as {}", refused(reason))
        }
        Fate::NotKept => {
            return format!(
                "{resource} keeps nothing of {what}{when} of {}, term {}: another was elected since, and the version of the \
                 epoch is not the one that goes with them.",
                nodes(&[late.writer]),
                late.term
            );
        }
    };
    let how = match late.how {
        How::OnWaking => "checked before its writer froze and sent when it woke",
        How::OnItsWay => "still on the way when it was overtaken",
        How::Unaware => "sent by a leader that did not know it was overtaken",
        How::WithoutToken => {
            return format!(
                "The resource {resource} {did}: {} has no token to show.",
                nodes(&[late.writer])
            );
        }
    };
    let since = if term > late.term {
        format!("; term {term} had {shown} at {}", ms(at))
    } else {
        String::new()
    };
    format!(
        "The resource {resource} {did}: {}, term {}, {how}{since}.",
        nodes(&[late.writer]),
        late.term
    )
}

/// What became of all writes.
pub(super) fn summary(recording: &Recording) -> Vec<String> {
    let events = |kind: Kind| {
        recording
            .events
            .iter()
            .filter(move |event| event.kind == kind)
    };
    let client = recording.client();
    // There are two clients of sentinels, who write at data servers.
    let sentinels = recording.scenario.has_sentinels();
    let asked = events(Kind::Send)
        .filter(|event| (sentinels || event.actor == client) && event.a == REQUEST)
        .count() as u64;
    let acknowledged = events(Kind::Acknowledged).count() as u64;
    let mut lines = vec![format!(
        "The {} asked {}; {} acknowledged.",
        if sentinels { "clients" } else { "client" },
        count(asked, "time"),
        match acknowledged {
            1 => "1 write was".to_owned(),
            _ => format!("{acknowledged} writes were"),
        }
    )];
    if sentinels {
        return lines;
    }
    let late = late(recording);
    let first = client + 1;
    for resource in [first, first + 1] {
        let taken = events(Kind::WriteAccepted).filter(|event| event.actor == resource);
        let stale = taken.clone().filter(|event| event.a == 1).count();
        let turned_away = late
            .iter()
            .filter(|late| late.resource == resource && matches!(late.fate, Fate::Refused(_)))
            .map(|late| late.writes)
            .sum::<u64>();
        let mut line = format!(
            "The resource {} took {}, {stale} of them stale, and refused {turned_away}.",
            recording.name(resource),
            count(taken.count() as u64, "write"),
        );
        let resource = recording.world.resource(usize::from(resource - first));
        if let Some(resource) = resource.filter(|resource| resource.lost() > 0) {
            line += &format!(
                " Of {} that it took, {} lost: others overwrote them, and it holds {}.",
                resource.accepted(),
                match resource.lost() {
                    1 => "1 is".to_owned(),
                    lost => format!("{lost} are"),
                },
                resource.value()
            );
        }
        lines.push(line);
    }
    lines
}
