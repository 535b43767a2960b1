//! How long nobody led, by stage, and what the checks say.

use super::Entry;
use super::elections::Elections;
use crate::check::{Check, Outcome, Verdict};
use crate::export::recording::Recording;
use crate::export::words::{count, ms, nodes, span};
use crate::physics::trace::Kind;
use crate::report::millis;

/// The most spans that are told one by one.
const MOST_TOLD: usize = 20;

/// The spans in which no running node led, each by stage, those in which several believed to, and their sums.
pub(super) fn gaps(recording: &Recording, elections: &Elections) -> Vec<String> {
    let judges = recording.world.judges();
    let end = recording.scenario.duration;
    let by_store = recording.scenario.lease().is_some();
    let sentinels = recording.scenario.has_sentinels();
    let mut lines = told(judges.leaderless(), end, |from, until| {
        let stages = match stages(elections, from, until) {
            Some(stages) if by_store => stages.said_of_store(),
            Some(stages) => stages.said(),
            None => ended(recording, until, sentinels),
        };
        format!("{}, {}: {stages}.", span(from, until), ms(until - from))
    });
    lines.extend(told(judges.overlaps(), end, |from, until| {
        let lasted = format!("{}, {}", span(from, until), ms(until - from));
        if sentinels {
            return format!("{lasted}: more than one data server took writes.");
        }
        let mut leaders: Vec<u16> = recording
            .beliefs
            .iter()
            .filter(|belief| belief.from < until && belief.until > from)
            .map(|belief| belief.node)
            .collect();
        leaders.sort_unstable();
        leaders.dedup();
        format!("{lasted}: {} believed to lead at once.", nodes(&leaders))
    }));
    let belief = judges.belief();
    let (without, all, overlap) = (ms(belief.without_leader), millis(end), ms(belief.overlap));
    lines.push(if sentinels {
        format!(
            "In all, there was no master for {without} of {all}, and two or more took writes for {overlap}."
        )
    } else {
        format!("In all, nobody led for {without} of {all}, and two or more believed to for {overlap}.")
    });
    lines
}

fn told(spans: &[(u64, u64)], end: u64, say: impl Fn(u64, u64) -> String) -> Vec<String> {
    let mut lines: Vec<String> = spans
        .iter()
        .take(MOST_TOLD)
        .map(|(from, until)| say(*from, (*until).min(end)))
        .collect();
    if spans.len() > MOST_TOLD {
        lines.push(format!("And {} more.", spans.len() - MOST_TOLD));
    }
    lines
}

/// How a gap went that an election ended, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stages {
    detection: u64,
    election: u64,
    establishment: u64,
    /// In how many terms somebody stood.
    terms: u64,
    first_write: Option<u64>,
}

fn stages(elections: &Elections, from: u64, until: u64) -> Option<Stages> {
    let office = elections
        .offices
        .iter()
        .find(|office| office.established == Some(until))?;
    // Somebody may have noticed before the old leader had to stop.
    let noticed = elections
        .attempts
        .iter()
        .filter(|attempt| attempt.until >= from && attempt.from <= office.elected)
        .map(|attempt| attempt.from.max(from))
        .min()
        .unwrap_or(from);
    let elected = office.elected.max(noticed);
    let mut terms: Vec<u64> = elections
        .attempts
        .iter()
        .filter_map(|attempt| attempt.stood)
        .filter(|(at, _)| (from..=until).contains(at))
        .map(|(_, term)| term)
        .collect();
    terms.sort_unstable();
    terms.dedup();
    Some(Stages {
        detection: noticed - from,
        election: elected - noticed,
        establishment: until.saturating_sub(elected),
        terms: terms.len() as u64,
        first_write: office.first_write.map(|at| at - until),
    })
}

impl Stages {
    /// Who waits for a store notices nothing by itself.
    fn said_of_store(&self) -> String {
        let until = self.detection + self.election + self.establishment;
        let mut said = format!("{} until the store granted the lease", ms(until));
        if let Some(write) = self.first_write {
            said += &format!("; the first write {} later", ms(write));
        }
        said
    }

    fn said(&self) -> String {
        let mut said = format!(
            "{} until somebody noticed, {} for the election",
            ms(self.detection),
            ms(self.election)
        );
        if self.terms > 1 {
            said += &format!(" ({} terms)", self.terms);
        }
        said += &format!(", {} until established", ms(self.establishment));
        if let Some(write) = self.first_write {
            said += &format!("; the first write {} later", ms(write));
        }
        said
    }
}

/// What ended a gap when no election did.
fn ended(recording: &Recording, until: u64, sentinels: bool) -> String {
    let woke = recording
        .events
        .iter()
        .find(|event| event.kind == Kind::Resume && event.at == until);
    match woke {
        Some(event) if sentinels => {
            format!("then {} goes on", recording.name(event.actor))
        }
        Some(event) => format!("then {} goes on and leads still", nodes(&[event.actor])),
        None if until == recording.scenario.duration => "then the run is over".to_owned(),
        None if sentinels => "then a master is there".to_owned(),
        None => "then a leader is there".to_owned(),
    }
}

/// The first time each rule was broken that writes do not tell of.
pub(super) fn broken(recording: &Recording) -> Vec<Entry> {
    recording
        .world
        .verdicts()
        .iter()
        .filter(|verdict| {
            !matches!(
                verdict.check,
                Check::StaleWriteFenced | Check::StaleWriteUnfenced
            )
        })
        .filter_map(|verdict| {
            Some(Entry::new(
                verdict.tally.first_broken_at?,
                format!(
                    "{} is {}. {}{}",
                    verdict.check.name(),
                    verdict.outcome.name(),
                    verdict.detail,
                    because(verdict)
                ),
            ))
        })
        .collect()
}

/// The reason of a verdict, where it has one.
fn because(verdict: &Verdict) -> String {
    let reason = verdict.reason.as_ref();
    reason.map_or_else(String::new, |reason| format!(" {reason}"))
}

/// What each check says, and what was expected of it.
pub(super) fn verdicts(recording: &Recording) -> Vec<String> {
    let expect = &recording.scenario.expect;
    recording
        .world
        .verdicts()
        .iter()
        .map(|verdict| {
            let tally = verdict.tally;
            let mut line = format!("{}: {}", verdict.check.name(), verdict.outcome.name());
            line += &match tally.exercised {
                0 => ", never put to the test.".to_owned(),
                tested => format!(", tested {}.", count(tested, "time")),
            };
            if let Some(at) = tally.first_broken_at {
                line += &format!(
                    " Broken {}, first at {}. {}",
                    count(tally.broken, "time"),
                    ms(at),
                    verdict.detail
                );
            }
            if verdict.outcome == Outcome::Undecided {
                line += &because(verdict);
            }
            let expected = expect
                .iter()
                .find(|(check, _)| *check == verdict.check)
                .map(|(_, outcome)| *outcome);
            match expected {
                Some(expected) if expected != verdict.outcome => {
                    line += &format!(" NOT AS EXPECTED: {}.", expected.name());
                }
                None if !verdict.outcome.passes() => line += " NOT AS EXPECTED.",
                _ => {}
            }
            line
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn stages_are_those_that_the_world_measures() {
        let json = r#"{"tenure": 1, "scheme": "raft", "nodes": 5, "duration": "4s", "faults": [{"at": "2s", "crash": "leader"}]}"#;
        let scenario = Scenario::parse(json).unwrap();
        for seed in 0..30 {
            let recording = Recording::of(scenario.clone().with_seed(seed)).unwrap();
            let elections = Elections::of(&recording);
            for failover in recording.world.stages().done() {
                let established = failover.established_at.unwrap();
                let stages = stages(&elections, failover.lost_at, established).unwrap();
                let lost = failover.lost_at;
                assert_eq!(
                    (
                        Some(lost + stages.detection),
                        Some(lost + stages.detection + stages.election),
                        stages.first_write.map(|write| established + write),
                        stages.terms
                    ),
                    (
                        failover.detected_at,
                        failover.elected_at,
                        failover.written_at,
                        u64::from(failover.terms)
                    ),
                    "{seed}"
                );
            }
        }
    }

    #[test]
    fn spans_beyond_the_most_are_counted() {
        let spans: Vec<(u64, u64)> = (0..25).map(|at| (at * 10, at * 10 + 5)).collect();
        let lines = told(&spans, 1000, |from, _| from.to_string());
        assert_eq!((lines.len(), lines[20].as_str()), (21, "And 5 more."));
    }
}
