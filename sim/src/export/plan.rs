//! The actions of a plan in words: what was asked for, and why nothing came of it.

use super::recording::{Before, Recording};
use super::words::{ms, nodes, whole_ms};
use crate::fault::{Action, Who};
use crate::node::Status;
use crate::physics::network::{PPM, Weather};
use crate::world::view::node_name;

/// What was asked for, as in the file: `crash leader`.
pub(super) fn asked(recording: &Recording, place: usize) -> String {
    let Some(fault) = recording.scenario.faults.get(place) else {
        return String::new();
    };
    let name = Action::NAMES[fault.action.kind()];
    match &fault.action {
        Action::Crash(one)
        | Action::Restart(one)
        | Action::Pause(one)
        | Action::Resume(one)
        | Action::Resign(one)
        | Action::Campaign(one) => format!("{name} {}", who(*one)),
        Action::Cut(from, to) | Action::Heal(from, to) => {
            format!("{name} {} → {}", who(*from), who(*to))
        }
        Action::Partition(members) => format!("{name} {}", groups(members)),
        Action::Delay(from, to, by) => {
            format!("{name} {} → {} by {}", who(*from), who(*to), ms(*by))
        }
        Action::Network(now) => format!("{name}: {}", weather(*now)),
        Action::Disk(one, takes) => format!("{name} of {}: {} a write", who(*one), ms(*takes)),
        _ => name.to_owned(),
    }
}

/// Why an action had no effect.
pub(super) fn why_not(recording: &Recording, place: usize) -> String {
    let (Some(fault), Some(strike)) = (
        recording.scenario.faults.get(place),
        recording.strikes.get(place),
    ) else {
        return "it never came".to_owned();
    };
    let before = &strike.before;
    match &fault.action {
        Action::Crash(one) => on(*one, before, |_| "was down already".into()),
        Action::Restart(one) => on(*one, before, |_| "was running already".into()),
        Action::Pause(one) => on(*one, before, |status| match status {
            Status::Paused => "was frozen already".into(),
            _ => "was down".into(),
        }),
        Action::Resume(one) => on(*one, before, |_| "was not frozen".into()),
        Action::Resign(one) => on(*one, before, |status| match status {
            Status::Up => "did not lead".into(),
            _ => "did not run".into(),
        }),
        Action::Campaign(one) => on(*one, before, |status| match status {
            Status::Up => "leads, stands, or is bound by its promise to a leader".into(),
            _ => "did not run".into(),
        }),
        Action::Disk(one, takes) => on(*one, before, |_| {
            format!("took {} a write before", ms(*takes))
        }),
        Action::Cut(from, to) | Action::Heal(from, to) => {
            let cut = matches!(fault.action, Action::Cut(..));
            [*from, *to]
                .iter()
                .find_map(|one| found(*one, before).err())
                .unwrap_or_else(|| {
                    let state = if cut { "was cut" } else { "carried" };
                    format!("the link {state} already")
                })
        }
        Action::Partition(members) => members
            .iter()
            .filter(|(_, one)| *one != Who::Rest)
            .find_map(|(_, one)| found(*one, before).err())
            .unwrap_or_else(|| "the links were like this already".into()),
        Action::HealAll => "no link was cut".to_owned(),
        _ => "everything was like this already".to_owned(),
    }
}

/// What is the matter with the node an action is for.
fn on(one: Who, before: &Before, state: impl Fn(Status) -> String) -> String {
    match found(one, before) {
        Ok(node) => {
            let status = before.status.get(usize::from(node));
            let status = status.copied().unwrap_or(Status::Crashed);
            format!("{} {}", node_name(node), state(status))
        }
        Err(why) => why,
    }
}

/// Who is meant, or why there is nobody.
fn found(one: Who, before: &Before) -> Result<u16, String> {
    let with = |wanted: Status| {
        (0..)
            .zip(&before.status)
            .find(|(_, status)| **status == wanted)
            .map(|(node, _)| node)
    };
    match one {
        Who::Node(node) => Ok(node),
        Who::Leader => before.leader.ok_or_else(|| "nobody led".to_owned()),
        Who::Crashed => with(Status::Crashed).ok_or_else(|| "no node was down".to_owned()),
        Who::Paused => with(Status::Paused).ok_or_else(|| "no node was frozen".to_owned()),
        _ => (0..)
            .zip(&before.status)
            .find(|(node, status)| **status == Status::Up && Some(*node) != before.leader)
            .map(|(node, _)| node)
            .ok_or_else(|| "no follower was running".to_owned()),
    }
}

/// The network's behaviour.
pub(super) fn weather(weather: Weather) -> String {
    let Weather {
        latency_min,
        latency_max,
        loss,
        duplicate,
    } = weather;
    let mut said = if latency_min == latency_max {
        format!("latency {}", ms(latency_min))
    } else if latency_min.max(1) < 1_000 {
        format!("latency {}–{}", ms(latency_min), ms(latency_max))
    } else {
        format!("latency {}–{}", whole_ms(latency_min), ms(latency_max))
    };
    for (what, ppm) in [("lost", loss), ("doubled", duplicate)] {
        if ppm > 0 {
            said += &format!(", {} {what}", share(ppm));
        }
    }
    said
}

/// A share of all, in percent.
fn share(ppm: u32) -> String {
    let (whole, rest) = (ppm / (PPM / 100), ppm % (PPM / 100));
    if rest == 0 {
        format!("{whole} %")
    } else {
        let digits = format!("{rest:04}");
        format!("{whole}.{} %", digits.trim_end_matches('0'))
    }
}

fn groups(members: &[(u16, Who)]) -> String {
    let mut said = String::new();
    let mut last = None;
    for (group, one) in members {
        said += match last {
            None => "",
            Some(last) if last == *group => ", ",
            _ => " | ",
        };
        said += &who(*one);
        last = Some(*group);
    }
    said
}

fn who(one: Who) -> String {
    match one {
        Who::Node(node) => nodes(&[node]),
        Who::Leader => "leader".to_owned(),
        Who::Follower => "follower".to_owned(),
        Who::Crashed => "crashed".to_owned(),
        Who::Paused => "paused".to_owned(),
        Who::Rest => "rest".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn what_had_no_effect_says_why() {
        let cases = [
            (
                r#""at": "0ms", "crash": "leader""#,
                "crash leader",
                "nobody led",
            ),
            (
                r#""at": "1s", "resume": "n2""#,
                "resume n2",
                "n2 was not frozen",
            ),
            (
                r#""at": "1s", "restart": "crashed""#,
                "restart crashed",
                "no node was down",
            ),
            (
                r#""at": "1s", "restart": "n1""#,
                "restart n1",
                "n1 was running already",
            ),
            (
                r#""at": "1s", "heal": ["n1", "n2"]"#,
                "heal n1 → n2",
                "the link carried already",
            ),
            (
                r#""at": "1s", "heal": "all""#,
                "heal-all",
                "no link was cut",
            ),
            (
                r#""at": "1s", "partition": [["n1", "rest"]]"#,
                "partition n1, rest",
                "the links were like this already",
            ),
            (
                r#""at": "1s", "network": {"latency": ["500us", "3ms"], "loss": "2.5%"}"#,
                "network: latency 0.500 ms–3 ms, 2.5 % lost",
                "everything was like this already",
            ),
            (
                r#""at": "1s", "disk": {"node": "n3", "write": "1ms"}"#,
                "disk of n3: 1 ms a write",
                "n3 took 1 ms a write before",
            ),
        ];
        for (fault, words, why) in cases {
            let json = format!(
                r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "2s", "disk": {{"write": "1ms"}},
                    "network": {{"latency": ["500us", "3ms"], "loss": "2.5%"}}, "faults": [{{{fault}}}]}}"#
            );
            let recording = Recording::of(Scenario::parse(&json).unwrap()).unwrap();
            assert_eq!(asked(&recording, 0), words);
            assert!(!recording.strikes[0].effect, "{words}");
            assert_eq!(why_not(&recording, 0), why, "{words}");
        }
    }
}
