//! What a run showed, as text and as JSON.

use crate::app::RESOURCES;
use crate::check::{Check, Outcome, Verdict};
use crate::fault::Action;
use crate::json::Writer;
use crate::physics::trace::Kind;
use crate::resource::Resource;
use crate::scenario::Scenario;
use crate::stages::Failover;
use crate::world::{FaultCounts, World};

/// The report of a finished run.
#[derive(Clone, Debug)]
pub struct Report {
    scenario: Scenario,
    events: u64,
    hash: String,
    verdicts: Vec<Verdict>,
    failovers: Vec<Failover>,
    faults: FaultCounts,
    /// Places of the actions that had no effect.
    without_effect: Vec<u64>,
    /// Microseconds: two or more believed to lead, no running node led.
    overlap: u64,
    without_leader: u64,
    elections: u64,
    /// Votes and acts of terms that the judges had forgotten.
    unjudged: u64,
    resources: Vec<Resource>,
}

impl Report {
    /// Runs a scenario to its end.
    #[must_use]
    pub fn of(scenario: Scenario) -> Self {
        let mut world = World::new(&scenario);
        world.record_histories();
        let mut without_effect = Vec::new();
        world.trace_mut().recording = true;
        // In steps, so that what is recorded need not be kept.
        while world.now() < scenario.duration {
            world.run_until(world.now() + 1_000_000);
            let fresh = std::mem::take(&mut world.trace_mut().fresh);
            without_effect.extend(
                fresh
                    .iter()
                    .filter(|event| event.kind == Kind::NoEffect)
                    .map(|event| event.a as u64),
            );
        }
        let belief = world.judges().belief();
        Self {
            events: world.trace().count(),
            hash: world.trace().digest(),
            verdicts: Check::ALL
                .into_iter()
                .filter(|check| {
                    let expected = scenario.expect.iter().any(|(of, _)| of == check);
                    expected || world.judges().concerns(*check)
                })
                .map(|check| world.verdict(check))
                .collect(),
            failovers: world.stages().done().to_vec(),
            faults: world.faults(),
            without_effect,
            overlap: belief.overlap,
            without_leader: belief.without_leader,
            elections: world.counts().candidacies,
            unjudged: world.judges().unjudged(),
            resources: (0..RESOURCES)
                .filter_map(|place| world.resource(place).cloned())
                .collect(),
            scenario,
        }
    }

    /// The hash of the trace.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Whether every check said what was expected of it: what the scenario says, or else what
    /// [passes](Outcome::passes).
    #[must_use]
    pub fn as_expected(&self) -> bool {
        self.verdicts
            .iter()
            .all(|verdict| self.is_expected(verdict))
    }

    fn expected(&self, check: Check) -> Option<Outcome> {
        self.scenario
            .expect
            .iter()
            .find(|(of, _)| *of == check)
            .map(|(_, outcome)| *outcome)
    }

    /// Of each kind of action that was planned: its name, how many were, came, had an effect, and mattered.
    fn fared(&self) -> impl Iterator<Item = (&'static str, [u32; 4])> {
        let FaultCounts {
            armed,
            fired,
            effective,
            mattered,
        } = self.faults;
        let all = (0..Action::KINDS).filter(move |kind| armed[*kind] > 0);
        all.map(move |kind| {
            let counts = [armed[kind], fired[kind], effective[kind], mattered[kind]];
            (Action::NAMES[kind], counts)
        })
    }

    fn is_expected(&self, verdict: &Verdict) -> bool {
        match self.expected(verdict.check) {
            Some(outcome) => verdict.outcome == outcome,
            None => verdict.outcome.passes(),
        }
    }

    /// For people.
    #[must_use]
    pub fn to_text(&self) -> String {
        let Self { scenario, .. } = self;
        let mut out = String::new();
        if !scenario.title.en.is_empty() {
            out += &format!("{}\n", scenario.title.en);
        }
        out += &format!(
            "{} nodes, {} virtual, seed {}: {} events, trace {}\n\n",
            scenario.nodes,
            millis(scenario.duration),
            scenario.seed,
            self.events,
            self.hash
        );
        for verdict in &self.verdicts {
            let tally = verdict.tally;
            out += &format!(
                "{:<25}{:<18}{} tested",
                verdict.check.name(),
                verdict.outcome.name(),
                tally.exercised
            );
            if let Some(at) = tally.first_broken_at {
                out += &format!(", {} broken, first at {}", tally.broken, millis(at));
            }
            match self.expected(verdict.check) {
                Some(expected) if expected != verdict.outcome => {
                    out += &format!("  ✗ expected: {}", expected.name())
                }
                None if !verdict.outcome.passes() => out += "  ✗",
                _ => {}
            }
            out.push('\n');
            if verdict.tally.broken > 0 {
                out += &format!("  {}\n", verdict.detail);
            }
            if let Some(reason) = &verdict.reason {
                out += &format!("  {reason}\n");
            }
        }
        out += &format!(
            "\ntwo believed leaders {}, no leader {}, {} {}\n",
            millis(self.overlap),
            millis(self.without_leader),
            self.elections,
            if self.elections == 1 {
                "election"
            } else {
                "elections"
            }
        );
        if self.unjudged > 0 {
            out += &format!(
                "{} votes and acts of leaders were of terms too old to be judged\n",
                self.unjudged
            );
        }
        for resource in &self.resources {
            out += &self.fate_of(resource);
        }
        for failover in &self.failovers {
            let after = |at: Option<u64>| {
                at.map_or_else(|| "-".to_owned(), |at| millis(at - failover.lost_at))
            };
            out += &format!(
                "no leader from {}: noticed after {}, elected {}, established {}, first write {}\n",
                millis(failover.lost_at),
                after(failover.detected_at),
                after(failover.elected_at),
                after(failover.established_at),
                after(failover.written_at)
            );
        }
        for (name, [armed, fired, effective, mattered]) in self.fared() {
            out += &format!(
                "{name}: {armed} planned, {fired} came, {effective} had an effect, {mattered} mattered\n"
            );
        }
        for place in &self.without_effect {
            out += &format!("faults[{place}] had no effect\n");
        }
        out
    }

    /// What a resource took that is lost, or twice, in a line each; nothing when nothing is.
    fn fate_of(&self, resource: &Resource) -> String {
        let name = resource_name(resource);
        let mut out = String::new();
        if resource.lost() > 0 {
            out += &format!(
                "{name}: {} of {} writes that it took and acknowledged are lost, it holds {}\n",
                resource.lost(),
                resource.accepted(),
                resource.value()
            );
        }
        if self.scenario.jobs.is_some() {
            let (done, effects) = (resource.jobs().done(), resource.jobs().effects());
            out += &format!("{name}: {done} jobs done, {effects} effects taken\n");
        }
        out
    }

    /// For programs.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut w = Writer::object();
        let plain = |w: &mut Writer, name: &str, number: u64| w.plain(name, &number.to_string());
        w.plain(
            "asExpected",
            if self.as_expected() { "true" } else { "false" },
        );
        w.text("seed", &self.scenario.seed.to_string());
        plain(&mut w, "events", self.events);
        w.text("hash", &self.hash);
        w.open("verdicts", '[');
        for verdict in &self.verdicts {
            w.comma();
            w.out.push('{');
            w.text("check", verdict.check.name());
            w.text("verdict", verdict.outcome.name());
            if let Some(expected) = self.expected(verdict.check) {
                w.text("expected", expected.name());
            }
            plain(&mut w, "exercised", verdict.tally.exercised);
            plain(&mut w, "broken", verdict.tally.broken);
            w.plain("firstBrokenAt", &or_null(verdict.tally.first_broken_at));
            w.text("detail", verdict.detail);
            if let Some(reason) = &verdict.reason {
                w.text("reason", reason);
            }
            w.close('}');
        }
        w.close(']');
        w.open("resources", '[');
        for resource in &self.resources {
            w.comma();
            w.out.push('{');
            w.text("name", resource_name(resource));
            plain(&mut w, "taken", resource.accepted());
            plain(&mut w, "refused", resource.refused());
            plain(&mut w, "value", resource.value());
            plain(&mut w, "lost", resource.lost());
            if self.scenario.jobs.is_some() {
                plain(&mut w, "jobsDone", resource.jobs().done());
                plain(&mut w, "jobEffects", resource.jobs().effects());
            }
            w.close('}');
        }
        w.close(']');
        plain(&mut w, "twoBelievedLeaders", self.overlap);
        plain(&mut w, "withoutLeader", self.without_leader);
        plain(&mut w, "elections", self.elections);
        plain(&mut w, "unjudged", self.unjudged);
        w.open("failovers", '[');
        for failover in &self.failovers {
            w.comma();
            w.out.push('{');
            plain(&mut w, "lostAt", failover.lost_at);
            w.plain("detectedAt", &or_null(failover.detected_at));
            w.plain("electedAt", &or_null(failover.elected_at));
            w.plain("establishedAt", &or_null(failover.established_at));
            w.plain("writtenAt", &or_null(failover.written_at));
            plain(&mut w, "terms", u64::from(failover.terms));
            w.close('}');
        }
        w.close(']');
        w.open("faults", '{');
        for (name, [armed, fired, effective, mattered]) in self.fared() {
            w.open(name, '{');
            plain(&mut w, "armed", armed.into());
            plain(&mut w, "fired", fired.into());
            plain(&mut w, "effective", effective.into());
            plain(&mut w, "mattered", mattered.into());
            w.close('}');
        }
        w.close('}');
        w.open("withoutEffect", '[');
        for place in &self.without_effect {
            w.comma();
            w.out.push_str(&place.to_string());
        }
        w.close(']');
        w.finish()
    }
}

fn or_null(at: Option<u64>) -> String {
    at.map_or_else(|| "null".to_owned(), |at| at.to_string())
}

const fn resource_name(resource: &Resource) -> &'static str {
    if resource.fenced() {
        "fenced"
    } else {
        "unfenced"
    }
}

/// A time in milliseconds, to the microsecond where it is not whole.
#[must_use]
pub fn millis(micros: u64) -> String {
    let (whole, rest) = (micros / 1_000, micros % 1_000);
    if rest == 0 {
        format!("{whole} ms")
    } else {
        format!("{whole}.{rest:03} ms")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(expect: &str) -> Report {
        let json = format!(
            r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "5s",
                 "faults": [{{"at": "2s", "crash": "leader"}}, {{"at": "2s", "resume": "n1"}}], "expect": {{{expect}}}}}"#
        );
        Report::of(Scenario::parse(&json).unwrap())
    }

    #[test]
    fn expectations_decide() {
        assert!(report("").as_expected());
        assert!(report(r#""believed-leaders": "holds""#).as_expected());
        assert!(!report(r#""believed-leaders": "broken""#).as_expected());
        assert!(
            !report(r#""stale-write-fenced": "holds""#).as_expected(),
            "not exercised is no pass"
        );
    }

    #[test]
    fn the_text_tells_and_the_json_is_json() {
        let report = report(r#""believed-leaders": "broken""#);
        let text = report.to_text();
        for part in [
            "3 nodes, 5000 ms",
            "✗ expected: broken",
            "no leader from 2000 ms",
            "crash: 1 planned, 1 came, 1 had an effect, 1 mattered",
            "faults[1] had no effect",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        let json = report.to_json();
        assert!(crate::json::parse(&json).is_ok());
        assert!(json.contains("\"withoutEffect\":[1]") && json.contains("\"asExpected\":false"));
    }

    #[test]
    fn every_verdict_can_be_expected_that_of_histories_and_of_a_workload_that_is_not_there_too() {
        for (expect, as_expected) in [
            (
                r#""linearizable-fenced": "holds", "linearizable-client": "holds""#,
                true,
            ),
            (r#""linearizable-fenced": "not-exercised""#, false),
            (r#""linearizable-unfenced": "broken-by-design""#, false),
            (r#""jobs-lost": "not-exercised""#, true),
            (r#""jobs-lost": "holds""#, false),
        ] {
            let report = report(expect);
            assert_eq!(report.as_expected(), as_expected, "{expect}");
            for (check, _) in &report.scenario.expect {
                assert!(report.to_text().contains(check.name()));
                assert!(report.to_json().contains(check.name()));
            }
        }
        assert!(
            !report("").to_text().contains("jobs-lost"),
            "nobody asked for it"
        );
    }

    #[test]
    fn lost_writes_and_jobs_are_counted() {
        let told = |rest: &str| {
            let json = format!(
                r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "5s", {rest}}}"#
            );
            let report = Report::of(Scenario::parse(&json).unwrap());
            (report.to_text(), report.to_json())
        };
        let (text, json) = told(r#""client": {"think": "30ms", "through": "anyone"}"#);
        assert!(text.contains("writes that it took and acknowledged are lost, it holds"));
        assert!(text.contains("\n  It held ") && json.contains("\"reason\":\"It held "));
        assert!(json.contains("\"lost\":") && !json.contains("jobsDone"));
        let (text, json) = told(r#""jobs": {"every": "500ms", "takes": "50ms"}"#);
        assert!(
            text.contains("fenced: 9 jobs done, 9 effects taken"),
            "{text}"
        );
        assert!(json.contains("\"jobsDone\":9,\"jobEffects\":9") && !text.contains("lost, it"));
    }

    #[test]
    fn times_are_written_exactly() {
        assert_eq!(
            (millis(1_500_000).as_str(), millis(1_001).as_str()),
            ("1500 ms", "1.001 ms")
        );
    }
}
