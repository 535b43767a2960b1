//! The trace as JSON lines. The first line holds all that the run can be derived from; the rest is a check on it.

use super::recording::Recording;
use super::words;
use crate::json::Writer;
use crate::physics::trace::{Event, KIND_NAMES, Kind};

/// The version of the lines.
const VERSION: u32 = 1;

/// Writes a run.
pub(super) fn write(recording: &Recording) -> String {
    let mut out = header(recording);
    out.push('\n');
    for (place, event) in recording.events.iter().enumerate() {
        out.push_str(&line(recording, place, event));
        out.push('\n');
    }
    out
}

fn header(recording: &Recording) -> String {
    let Recording {
        scenario, world, ..
    } = recording;
    let mut w = Writer::object();
    w.plain("trace", &VERSION.to_string());
    w.text("core", env!("CARGO_PKG_VERSION"));
    w.text("scheme", scenario.scheme());
    w.text("seed", &scenario.seed.to_string());
    w.plain("events", &world.trace().count().to_string());
    w.text("hash", &world.trace().digest());
    w.plain("scenario", &scenario.to_json());
    w.finish()
}

fn line(recording: &Recording, place: usize, event: &Event) -> String {
    let mut w = Writer::object();
    w.plain("place", &place.to_string());
    w.plain("at", &event.at.to_string());
    w.text("event", KIND_NAMES[event.kind as usize]);
    if of_an_actor(event.kind) {
        w.text("actor", &recording.name(event.actor));
    }
    if let Ok(other) = u16::try_from(event.other) {
        w.text("other", &recording.name(other));
    }
    number(&mut w, "term", event.term);
    particulars(&mut w, recording, event);
    number(&mut w, "cause", event.cause);
    w.finish()
}

/// What the two numbers of an event mean, by its kind.
fn particulars(w: &mut Writer, recording: &Recording, event: &Event) {
    let Event { a, b, .. } = *event;
    match event.kind {
        Kind::Send | Kind::Deliver => {
            w.text("message", words::message(a));
            number(w, "flight", b);
        }
        Kind::Lose => {
            w.text("message", words::message(a));
            w.text("why", words::loss(b));
        }
        Kind::Boot => number(w, "incarnation", a),
        Kind::Persist => {
            number(w, "ticket", a);
            if let Ok(vote) = u16::try_from(b) {
                w.text("vote", &recording.name(vote));
            }
        }
        Kind::Persisted => number(w, "ticket", a),
        Kind::PersistLost => {
            number(w, "ticket", a);
            w.text("why", words::lost(b));
        }
        Kind::Role => w.text("role", words::role(a)),
        // A tenure without an end has no number to show.
        Kind::Established if a != i64::MAX => number(w, "until", a),
        Kind::Deposed => w.text("why", words::deposed(a)),
        Kind::WriteAccepted => {
            w.plain("stale", if a == 1 { "true" } else { "false" });
            number(w, "value", b);
        }
        Kind::WriteRefused => w.text("why", words::refused(a)),
        Kind::Acknowledged => number(w, "request", a),
        Kind::Violation => w.text("check", words::check(a)),
        Kind::NoEffect => number(w, "fault", a),
        Kind::Refusal => number(w, "reason", a),
        #[cfg(feature = "peers")]
        Kind::News => w.text("news", words::news(a)),
        Kind::Serves => {
            number(w, "writable", a);
            number(w, "told", b);
        }
        Kind::JobDue | Kind::JobStarted | Kind::JobStopped => number(w, "job", a),
        Kind::JobClaimed => {
            number(w, "job", a);
            number(w, "from", b);
        }
        Kind::JobDone => {
            number(w, "job", a);
            w.plain("again", if b == 1 { "true" } else { "false" });
        }
        Kind::JobRefused => {
            number(w, "job", a);
            w.text("why", words::refused(b));
        }
        _ => {}
    }
}

/// Whether it happened to somebody: the others concern the world.
pub(super) const fn of_an_actor(kind: Kind) -> bool {
    !matches!(kind, Kind::NoEffect | Kind::Healed | Kind::End)
}

fn number(w: &mut Writer, name: &str, number: i64) {
    if number >= 0 {
        w.plain(name, &number.to_string());
    }
}
