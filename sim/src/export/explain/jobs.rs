//! Jobs that were taken over, stopped, turned away or taken twice, and what became of all of them.

use super::Entry;
use crate::export::recording::Recording;
use crate::export::words::{count, ms, nodes, refused};
use crate::physics::trace::{Event, Kind};

/// The most that is told one by one.
const MOST_TOLD: usize = 30;

/// What is worth telling of single jobs.
pub(super) fn entries(recording: &Recording) -> Vec<Entry> {
    recording
        .events
        .iter()
        .filter_map(|event| Some(Entry::new(event.at, told(recording, event)?)))
        .take(MOST_TOLD)
        .collect()
}

fn told(recording: &Recording, event: &Event) -> Option<String> {
    let fenced = recording.client() + 1;
    let job = event.a;
    let by = || {
        let who = u16::try_from(event.other).unwrap_or(event.actor);
        format!("{}, term {}", nodes(&[who]), event.term)
    };
    let resource = recording.name(event.actor);
    Some(match event.kind {
        // The other resource is asked the same.
        Kind::JobClaimed if event.b >= 0 && event.actor == fenced => format!(
            "Job {job}, which term {} had begun, is taken over by {}, and begun anew.",
            event.b,
            by()
        ),
        Kind::JobStopped => format!(
            "{} stops job {job}: its term {} is over.",
            nodes(&[event.actor]),
            event.term
        ),
        Kind::JobDone if event.b == 1 => {
            let before = recording.events.iter().find(|first| {
                first.kind == Kind::JobDone && first.actor == event.actor && first.a == job
            });
            let before = before.map_or(0, |first| first.at);
            format!(
                "The resource {resource} takes the effect of job {job} again, of {}: it had taken it at {}.",
                by(),
                ms(before)
            )
        }
        Kind::JobRefused => format!(
            "The resource {resource} refuses job {job} of {}, as {}.",
            by(),
            refused(event.b)
        ),
        _ => return None,
    })
}

/// What became of all jobs; nothing when there are none.
pub(super) fn summary(recording: &Recording) -> Vec<String> {
    if recording.scenario.jobs.is_none() {
        return Vec::new();
    }
    let number = |kind: Kind, which: &dyn Fn(&Event) -> bool| {
        let of_kind = recording.events.iter().filter(|event| event.kind == kind);
        of_kind.filter(|event| which(event)).count() as u64
    };
    let first = recording.client() + 1;
    let mut lines = vec![format!(
        "{} fell due, {} begun, {} taken over, {} stopped where a term ended.",
        count(number(Kind::JobDue, &|_| true), "job"),
        number(Kind::JobStarted, &|_| true),
        number(Kind::JobClaimed, &|event| event.b >= 0
            && event.actor == first),
        number(Kind::JobStopped, &|_| true),
    )];
    for resource in [first, first + 1] {
        lines.push(format!(
            "The resource {} took {}, {} of them again, and turned {} away.",
            recording.name(resource),
            count(
                number(Kind::JobDone, &|event| event.actor == resource),
                "effect"
            ),
            number(Kind::JobDone, &|event| event.actor == resource
                && event.b == 1),
            number(Kind::JobRefused, &|event| event.actor == resource),
        ));
    }
    lines
}
