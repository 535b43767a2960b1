//! The account of a run in words: who was elected and why, what each fault did, who was turned away, how long nobody
//! led. Heartbeats are counted, not told.

mod elections;
mod faults;
mod jobs;
#[cfg(feature = "peers")]
mod partitions;
#[cfg(feature = "peers")]
mod peers;
#[cfg(feature = "peers")]
mod sentinels;
mod story;
mod summary;
mod writes;

use super::recording::Recording;
use super::words::{count, ms, span};
use crate::app::Through;
use crate::report::millis;
use crate::scenario::Scenario;
use elections::Elections;

/// Something worth telling, and when it happened.
#[derive(Clone, Debug)]
struct Entry {
    at: u64,
    text: String,
    /// The action it tells of, if it does.
    fault: Option<faults::Told>,
}

impl Entry {
    const fn new(at: u64, text: String) -> Self {
        Self {
            at,
            text,
            fault: None,
        }
    }
}

/// Tells a run to a person.
#[must_use]
pub fn explain(recording: &Recording) -> String {
    let elections = Elections::of(recording);
    let mut out = heading(recording);
    let mut entries = faults::entries(recording);
    entries.extend(led(recording, &elections));
    entries.extend(writes::entries(recording));
    entries.extend(jobs::entries(recording));
    #[cfg(feature = "peers")]
    entries.extend(partitions::entries(recording));
    entries.extend(summary::broken(recording));
    // Faults come after all else of their instant, but what they cause comes after them: both are in this order already.
    entries.sort_by_key(|entry| entry.at);
    out += "\nWhat happened\n";
    for entry in &faults::told_together(entries) {
        out += &wrapped(&format!("{:>9}  ", ms(entry.at)), &entry.text);
    }
    for (title, lines) in [
        (
            if recording.scenario.has_sentinels() {
                "How long there was no master"
            } else {
                "How long nobody led"
            },
            summary::gaps(recording, &elections),
        ),
        ("Writes", writes::summary(recording)),
        ("Jobs", jobs::summary(recording)),
        ("Verdicts", summary::verdicts(recording)),
    ] {
        if lines.is_empty() {
            continue;
        }
        out += &format!("\n{title}\n");
        for line in lines {
            out += &wrapped("  ", &line);
        }
    }
    out
}

/// Who led: a node, or a data server that sentinels named.
fn led(recording: &Recording, elections: &Elections) -> Vec<Entry> {
    #[cfg(feature = "peers")]
    if recording.scenario.has_sentinels() {
        return sentinels::entries(recording, elections);
    }
    story::entries(recording, elections)
}

fn heading(recording: &Recording) -> String {
    let scenario = &recording.scenario;
    let mut out = String::new();
    if !scenario.title.en.is_empty() {
        out += &format!("{}\n\n", scenario.title.en);
    }
    out += &wrapped("", &setting(scenario));
    if scenario.clients.through == Through::Anyone {
        out += &wrapped(
            "",
            "Clients write through every node in turn, whoever leads: it reads, thinks, and writes one more, without a token.",
        );
    }
    if let Some(jobs) = scenario.jobs {
        let said = format!(
            "A job falls due every {} and takes {}; whoever leads does them in order.",
            ms(jobs.every),
            ms(jobs.takes)
        );
        out += &wrapped("", &said);
    }
    let off = scenario.rules_off();
    if !off.is_empty() {
        out += &wrapped("", &format!("Rules switched off: {}.", off.join(", ")));
    }
    out
}

/// Who elects, how, and in what surroundings.
fn setting(scenario: &Scenario) -> String {
    let weather = super::plan::weather(scenario.weather);
    let (runs, seed) = (millis(scenario.duration), scenario.seed);
    if let Some(lease) = scenario.lease() {
        let timing = lease.timing;
        let nodes = count(scenario.nodes as u64, "node");
        let servers = count(scenario.servers() as u64, "server");
        return format!(
            "{nodes} elect over a store, {} with {servers}, for {runs}, seed {seed}. A lease lasts {}, its holder stops {} before \
             the end and renews it every {}; what fails is tried again within {}; {weather}.",
            lease.kind.name(),
            ms(timing.ttl.as_micros()),
            ms(timing.margin.as_micros()),
            ms(timing.renew.as_micros()),
            ms(timing.retry.as_micros()),
        );
    }
    #[cfg(feature = "peers")]
    if let Some(said) = peers::setting(scenario) {
        return said;
    }
    let timing = scenario.timing;
    let mode = if scenario.safe_mode {
        "with PreVote and leases"
    } else {
        "without PreVote and leases"
    };
    let group = match scenario.nodes {
        1 => "1 node runs".to_owned(),
        nodes => format!(
            "{nodes} nodes, of which {} run",
            match nodes - scenario.outside {
                voters if voters < nodes => format!(
                    "the first {voters} vote and {} are a majority,",
                    voters / 2 + 1
                ),
                voters => format!("{} are a majority,", voters / 2 + 1),
            }
        ),
    };
    format!(
        "{group} Raft {mode} for {runs}, seed {seed}. Election timeout {}, heartbeat every {}; {weather}; a disk takes {}.",
        span(
            timing.election_min.as_micros(),
            timing.election_max.as_micros()
        ),
        ms(timing.heartbeat.as_micros()),
        super::plan::takes(scenario.disk),
    )
}

/// A paragraph whose first line begins with `margin`, and the others under it.
fn wrapped(margin: &str, text: &str) -> String {
    const WIDTH: usize = 100;
    let indent = " ".repeat(margin.chars().count());
    let (mut out, mut line) = (String::new(), margin.to_owned());
    let mut fresh = true;
    // A number and its unit stay on one line.
    let glued = text.replace(" ms", "\u{a0}ms");
    for word in glued.split(' ') {
        if !fresh && line.chars().count() + 1 + word.chars().count() > WIDTH {
            out += line.trim_end();
            out.push('\n');
            line = indent.clone();
            fresh = true;
        }
        if !fresh {
            line.push(' ');
        }
        line += word;
        fresh = false;
    }
    out += line.trim_end();
    out.push('\n');
    out.replace('\u{a0}', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_hang_under_their_time() {
        let text = wrapped("  10 ms  ", &"word ".repeat(40));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("  10 ms  word") && lines[1].starts_with("         word"));
        assert!(
            lines
                .iter()
                .all(|line| line.len() <= 100 && !line.ends_with(' '))
        );
    }
}
