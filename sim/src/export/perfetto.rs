//! Chrome's trace events, which ui.perfetto.dev opens. Times are virtual microseconds.
//!
//! The group is one process. Every node has a lane for each [`Aspect`], since slices of one lane must nest; messages are
//! flows between the lanes they leave and reach; faults and what a checker found broken are instants.

use super::lanes::{Aspect, Slice, anchor, slices};
use super::recording::Recording;
use super::{plan, words};
use crate::json::Writer;
use crate::physics::trace::{Event, Kind};
use crate::world::view::ActorKind;

const PROCESS: &str = "1";
/// The lane of the faults.
const FAULTS: usize = 1;

/// Writes a run.
pub(super) fn write(recording: &Recording) -> String {
    let scenario = &recording.scenario;
    let mut w = Writer::object();
    w.text("displayTimeUnit", "ms");
    w.open("otherData", '{');
    w.text("tool", concat!("tenure-sim ", env!("CARGO_PKG_VERSION")));
    w.text("title", &scenario.title.en);
    w.text("scheme", scenario.scheme());
    w.text("seed", &scenario.seed.to_string());
    w.text("hash", &recording.world.trace().digest());
    w.close('}');
    w.open("traceEvents", '[');
    names(&mut w, recording);
    let mut timed = timed(recording);
    timed.sort_by_key(|(at, rank, _)| (*at, *rank));
    for (_, _, event) in timed {
        w.comma();
        w.out.push_str(&event);
    }
    w.close(']');
    w.finish()
}

/// The lane of an actor's aspect.
fn lane(actor: u16, aspect: Aspect) -> usize {
    10 * (usize::from(actor) + 1) + aspect as usize
}

fn names(w: &mut Writer, recording: &Recording) {
    let (scheme, seed) = (recording.scenario.scheme(), recording.scenario.seed);
    meta(
        w,
        "process_name",
        0,
        "name",
        Ok(&format!("{scheme}, seed {seed}")),
    );
    let mut lanes = vec![(FAULTS, "faults".to_owned())];
    for (actor, (kind, name)) in (0..).zip(recording.world.actors()) {
        let aspects = match kind {
            ActorKind::Node => &Aspect::ALL[..],
            ActorKind::Server => &[Aspect::Process, Aspect::Messages],
            _ => &[Aspect::Messages],
        };
        let jobs = recording.scenario.jobs.is_some();
        for aspect in aspects
            .iter()
            .filter(|aspect| jobs || **aspect != Aspect::Work)
        {
            lanes.push((lane(actor, *aspect), format!("{name} {}", aspect.name())));
        }
    }
    for (lane, name) in lanes {
        meta(w, "thread_name", lane, "name", Ok(&name));
        meta(w, "thread_sort_index", lane, "sort_index", Err(lane));
    }
}

fn meta(w: &mut Writer, what: &str, lane: usize, field: &str, value: Result<&str, usize>) {
    w.comma();
    w.out.push('{');
    w.text("ph", "M");
    w.plain("pid", PROCESS);
    w.plain("tid", &lane.to_string());
    w.text("name", what);
    w.open("args", '{');
    match value {
        Ok(text) => w.text(field, text),
        Err(number) => w.plain(field, &number.to_string()),
    }
    w.close('}');
    w.close('}');
}

/// An event with its time and its rank among those of one instant: slices before the flows that bind to them, and long
/// slices before the short ones in them.
type Timed = (u64, u64, String);

const FLOW: u64 = u64::MAX - 3;
const ARRIVAL: u64 = u64::MAX - 2;
const INSTANT: u64 = u64::MAX - 1;
const COUNTER: u64 = u64::MAX;

fn timed(recording: &Recording) -> Vec<Timed> {
    let mut out: Vec<Timed> = slices(recording).iter().map(slice).collect();
    for (place, event) in recording.events.iter().enumerate() {
        flow(recording, place, event, &mut out);
        if let Some(said) = remark(recording, event) {
            let actor = lane(event.actor, Aspect::Messages);
            out.push(instant(event.at, actor, &said, "t"));
        }
    }
    for (place, strike) in recording.strikes.iter().enumerate() {
        let asked = plan::asked(recording, place);
        let said = if strike.effect {
            asked
        } else {
            format!("{asked}: no effect, {}", plan::why_not(recording, place))
        };
        out.push(instant(strike.at, FAULTS, &said, "p"));
    }
    counter(recording, &mut out);
    out
}

fn begin(phase: &str, at: u64, lane: usize, name: &str) -> Writer {
    let mut w = Writer::object();
    w.text("ph", phase);
    w.plain("ts", &at.to_string());
    w.plain("pid", PROCESS);
    w.plain("tid", &lane.to_string());
    w.text("name", name);
    w
}

fn slice(slice: &Slice) -> Timed {
    let lasts = slice.until - slice.from;
    let mut w = begin(
        "X",
        slice.from,
        lane(slice.actor, slice.aspect),
        &slice.name,
    );
    w.plain("dur", &lasts.to_string());
    w.text("cat", slice.aspect.name());
    (slice.from, FLOW - 1 - lasts.min(FLOW - 1), w.finish())
}

/// A message that arrived or was noticed to be lost: an arrow from where it left. What is under way at the end has none.
fn flow(recording: &Recording, place: usize, event: &Event, out: &mut Vec<Timed>) {
    if !matches!(event.kind, Kind::Deliver | Kind::Lose) {
        return;
    }
    let Some(sent) = recording
        .cause(event)
        .filter(|cause| cause.kind == Kind::Send)
    else {
        return;
    };
    for (phase, rank, end) in [("s", FLOW, sent), ("f", ARRIVAL, event)] {
        let Some(actor) = anchor(end) else {
            continue;
        };
        let mut w = begin(
            phase,
            end.at,
            lane(actor, Aspect::Messages),
            words::message(event.a),
        );
        w.text("cat", "message");
        w.plain("id", &place.to_string());
        if phase == "f" {
            // To the slice around it, not to the next that begins.
            w.text("bp", "e");
        }
        out.push((end.at, rank, w.finish()));
    }
}

/// What is worth a mark on an actor's lane.
fn remark(recording: &Recording, event: &Event) -> Option<String> {
    let by = || u16::try_from(event.other).map_or_else(|_| String::new(), |by| recording.name(by));
    match event.kind {
        Kind::Violation => Some(format!("broken: {}", words::check(event.a))),
        Kind::WriteAccepted if event.a == 1 => Some(format!(
            "stale write of {}, term {}, taken",
            by(),
            event.term
        )),
        Kind::WriteRefused => Some(format!(
            "✕ {}, term {}: {}",
            by(),
            event.term,
            words::refused(event.a)
        )),
        Kind::JobDone if event.b == 1 => Some(format!("job {} again, of {}", event.a, by())),
        Kind::JobRefused => Some(format!(
            "✕ job {} of {}: {}",
            event.a,
            by(),
            words::refused(event.b)
        )),
        _ => None,
    }
}

fn instant(at: u64, lane: usize, name: &str, scope: &str) -> Timed {
    let mut w = begin("i", at, lane, name);
    w.text("s", scope);
    (at, INSTANT, w.finish())
}

/// How many nodes believe to lead.
fn counter(recording: &Recording, out: &mut Vec<Timed>) {
    let mut changes: Vec<(u64, i64)> = vec![(0, 0)];
    for belief in &recording.beliefs {
        changes.extend([(belief.from, 1), (belief.until, -1)]);
    }
    changes.sort_unstable();
    let mut leaders = 0;
    for at in changes.chunk_by(|one, other| one.0 == other.0) {
        leaders += at.iter().map(|(_, change)| change).sum::<i64>();
        let mut w = begin("C", at[0].0, 0, "believed leaders");
        w.open("args", '{');
        w.plain("leaders", &leaders.to_string());
        w.close('}');
        out.push((at[0].0, COUNTER, w.finish()));
    }
}
