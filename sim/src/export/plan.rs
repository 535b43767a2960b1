//! The actions of a plan in words: what was asked for, and why nothing came of it.

use super::recording::{Before, Recording};
use super::words::{self, listed, ms, span, whole_ms};
use crate::fault::{Action, Damage, Who};
use crate::node::Status;
use crate::physics::clock::TRUE_PACE;
use crate::physics::disk::Takes;
use crate::physics::weather::{PPM, Weather};
use crate::scenario::{node_name, who_name};
use std::cmp::Ordering;
use tenure::NodeId;
use tenure::membership::ChangeError;
use tenure::raft::{ChangeRefused, ProposeError};

/// What was asked for, as in the file: `crash leader`.
pub(super) fn asked(recording: &Recording, place: usize) -> String {
    let Some(fault) = recording.scenario.faults.get(place) else {
        return String::new();
    };
    let name = Action::NAMES[fault.action.kind()];
    let letter = recording.scenario.server_letter();
    let named = |one: Who| who_name(letter, one);
    match &fault.action {
        Action::Crash(one)
        | Action::Restart(one)
        | Action::Pause(one)
        | Action::Resume(one)
        | Action::Resign(one)
        | Action::Campaign(one)
        | Action::Transfer(one)
        | Action::Failover(one)
        | Action::Evict(one)
        | Action::BackUp(one)
        | Action::Restore(one)
        | Action::PowerCut(one)
        | Action::Damage(one, _) => format!("{name} {}", named(*one)),
        Action::Cut(from, to) | Action::Heal(from, to) => {
            format!("{name} {} → {}", named(*from), named(*to))
        }
        Action::Partition(members) => format!("{name} {}", groups(letter, members)),
        Action::Delay(from, to, by) => {
            format!("{name} {} → {} by {}", named(*from), named(*to), ms(*by))
        }
        Action::Network(now) => format!("{name}: {}", weather(*now)),
        Action::Disk(one, time) => format!("{name} of {}: {}", named(*one), takes(*time)),
        Action::Clock(one, pace, jump) => {
            let mut said = Vec::new();
            said.extend(pace.map(rate));
            if *jump != 0 {
                let way = if *jump < 0 { "back" } else { "forward" };
                said.push(format!("{} {way}", ms(jump.unsigned_abs())));
            }
            format!("{name} of {}: {}", named(*one), listed(&said, "and"))
        }
        Action::Flap(one, other, rhythm) => format!(
            "{name} {} – {}: cut for {}, whole for {}",
            named(*one),
            named(*other),
            ms(rhythm.down),
            ms(rhythm.up)
        ),
        Action::Disconnect(one, other) => {
            format!("{name} {} – {}", named(*one), named(*other))
        }
        Action::Slow(one, 0) => format!("{name} {}: no more", named(*one)),
        Action::Slow(one, by) => {
            format!("{name} {}: {} for all that comes", named(*one), ms(*by))
        }
        Action::HealAll => name.to_owned(),
        Action::Change(voters, learners) => {
            let names = |nodes: &[u16]| {
                let names: Vec<String> = nodes.iter().map(|node| node_name(*node)).collect();
                listed(&names, "and")
            };
            let verb = |nodes: &[u16], does: &str| match nodes {
                [_] => format!("{} {does}s", names(nodes)),
                _ => format!("{} {does}", names(nodes)),
            };
            let mut said = format!("{name}: {}", verb(voters, "vote"));
            if !learners.is_empty() {
                said += &format!(", {}", verb(learners, "learn"));
            }
            said
        }
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
        Action::Disk(one, time) => on(*one, before, |_| format!("took {} before", takes(*time))),
        Action::Clock(one, ..) => on(*one, before, |_| "had such a clock already".into()),
        Action::Slow(one, _) => on(*one, before, |_| {
            "was no faster and no slower before".into()
        }),
        Action::Damage(one, damage) => on(*one, before, |_| {
            match damage {
                Damage::Wipe => "was down, with an empty disk",
                Damage::Lie => "had a disk that lied already",
                Damage::Fail => "had a disk that would fail a write already",
                Damage::Drop => "had a disk that would drop a write already",
            }
            .into()
        }),
        Action::Flap(one, other, _) => between(*one, *other, before)
            .unwrap_or_else(|| "the link flapped like this already".into()),
        Action::Disconnect(..) if !before.fifo => {
            "messages are datagrams: there is no connection to break".to_owned()
        }
        Action::Disconnect(one, other) => {
            between(*one, *other, before).unwrap_or_else(|| "the connection did not stand".into())
        }
        Action::Cut(from, to) | Action::Heal(from, to) => {
            let cut = matches!(fault.action, Action::Cut(..));
            between(*from, *to, before).unwrap_or_else(|| {
                let state = if cut { "was cut" } else { "carried" };
                format!("the link {state} already")
            })
        }
        Action::Partition(members) => members
            .iter()
            .filter(|(_, one)| *one != Who::Rest)
            .find_map(|(_, one)| found(*one, before).err())
            .unwrap_or_else(|| "the links were like this already".into()),
        Action::HealAll => "every link carried, and none was slow".to_owned(),
        Action::Delay(from, to, _) => between(*from, *to, before)
            .unwrap_or_else(|| "the link was no faster and no slower before".into()),
        Action::Network(_) => "everything was like this already".to_owned(),
        Action::Change(..) => match (before.leader, &before.change) {
            (None, _) => "nobody led".to_owned(),
            (Some(leader), Some(why)) => not_changed(leader, why),
            (Some(leader), None) => format!("{} could not begin it", node_name(leader)),
        },
        Action::Transfer(one) => match before.leader {
            None => "nobody led".to_owned(),
            Some(_) => on(*one, before, |_| {
                "led already, had no vote, or was to take over already".into()
            }),
        },
        Action::Failover(one) => on(*one, before, |_| "had no replica to take its place".into()),
        Action::Evict(one) => on(*one, before, |_| "had no record of the election".into()),
        Action::BackUp(one) => on(*one, before, |_| "kept nothing that could be copied".into()),
        Action::Restore(one) => on(*one, before, |_| "was never copied".into()),
        Action::PowerCut(one) => on(*one, before, |_| {
            "was down already, with all it kept on its disk".into()
        }),
    }
}

/// Why who led did not begin a change of who takes part. The core names nodes by number, a scenario by name.
fn not_changed(leader: u16, why: &ChangeRefused) -> String {
    let name = |id: NodeId| node_name(id.0 as u16);
    let leader = node_name(leader);
    match why {
        ChangeRefused::Propose(ProposeError::NotLeader(_)) => {
            format!("{leader} did not lead any more")
        }
        ChangeRefused::Propose(ProposeError::Transferring) => {
            format!("{leader} was handing leadership over")
        }
        ChangeRefused::Uncommitted(_) | ChangeRefused::Target(ChangeError::Joint) => {
            "the change before it was still under way".to_owned()
        }
        ChangeRefused::NewLeader => format!("{leader} had committed nothing of its own term yet"),
        ChangeRefused::Target(ChangeError::Unchanged) => "it was so already".to_owned(),
        ChangeRefused::Behind(id) => format!(
            "{} was to vote and lacked too much of the log: as a learner it gets it first",
            name(*id)
        ),
        _ => format!("{leader} could not begin it: {why}"),
    }
}

/// What is the matter with the ends of a link.
fn between(one: Who, other: Who, before: &Before) -> Option<String> {
    match (found(one, before), found(other, before)) {
        (Ok(one), Ok(other)) if one == other => {
            Some(format!("{} has no link to itself", name(one, before)))
        }
        (one, other) => one.err().or(other.err()),
    }
}

/// What is the matter with the node an action is for.
fn on(one: Who, before: &Before, state: impl Fn(Status) -> String) -> String {
    match found(one, before) {
        Ok(actor) => {
            let all = before.status.iter().chain(&before.servers);
            let status = all.copied().nth(usize::from(actor));
            let status = status.unwrap_or(Status::Crashed);
            format!("{} {}", name(actor, before), state(status))
        }
        Err(why) => why,
    }
}

/// The name of a node or server.
fn name(actor: u16, before: &Before) -> String {
    let servers = (before.servers.len(), before.letter);
    words::actor(before.status.len(), servers, actor)
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
        Who::Server(server) => Ok(before.status.len() as u16 + server),
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
        fifo,
        replay,
        replay_min,
        replay_max,
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
    if replay > 0 {
        let after = span(replay_min, replay_max);
        said += &format!(", {} once more after {after}", share(replay));
    }
    if fifo {
        said += ", in order on connections";
    }
    said
}

/// How long a disk takes.
pub(super) fn takes(Takes { write, rename }: Takes) -> String {
    match rename {
        0 => format!("{} a write", ms(write)),
        _ => format!("{} a write and {} to rename", ms(write), ms(rename)),
    }
}

/// How fast or slow a clock runs.
fn rate(pace: u32) -> String {
    match pace.cmp(&TRUE_PACE) {
        Ordering::Less => format!("{} slow", share(TRUE_PACE - pace)),
        Ordering::Equal => "true".to_owned(),
        Ordering::Greater => format!("{} fast", share(pace - TRUE_PACE)),
    }
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

fn groups(letter: char, members: &[(u16, Who)]) -> String {
    let mut said = String::new();
    let mut last = None;
    for (group, one) in members {
        said += match last {
            None => "",
            Some(last) if last == *group => ", ",
            _ => " | ",
        };
        said += &who_name(letter, *one);
        last = Some(*group);
    }
    said
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
                "every link carried, and none was slow",
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
            (
                r#""at": "1s", "clock": {"node": "n1", "rate": "+0%"}"#,
                "clock of n1: true",
                "n1 had such a clock already",
            ),
            (
                r#""at": "1s", "slow": {"node": "n1", "by": "0ms"}"#,
                "slow n1: no more",
                "n1 was no faster and no slower before",
            ),
            (
                r#""at": "1s", "disconnect": ["n1", "n2"]"#,
                "disconnect n1 – n2",
                "messages are datagrams: there is no connection to break",
            ),
            (
                r#""at": "0ms", "flap": {"between": ["n1", "leader"], "down": "5ms", "up": "7ms"}"#,
                "flap n1 – leader: cut for 5 ms, whole for 7 ms",
                "nobody led",
            ),
            (
                r#""at": "1s", "cut": ["leader", "paused"]"#,
                "cut leader → paused",
                "no node was frozen",
            ),
            (
                r#""at": "0ms", "lie": "leader""#,
                "lie leader",
                "nobody led",
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

    #[test]
    fn a_change_that_is_not_begun_says_what_the_machine_said() {
        for (changes, words, why) in [
            (
                r#"{"at": "0ms", "change": {"voters": ["n1"]}}"#,
                "change: n1 votes",
                "nobody led",
            ),
            (
                r#"{"at": "2s", "change": {"voters": ["n1", "n2", "n3"]}}"#,
                "change: n1, n2 and n3 vote",
                "it was so already",
            ),
            (
                r#"{"at": "2s", "change": {"voters": ["n1", "n2", "n3"], "learners": ["n4"]}},
                   {"at": "2s", "change": {"voters": ["n1", "n2"], "learners": ["n3", "n4"]}}"#,
                "change: n1 and n2 vote, n3 and n4 learn",
                "the change before it was still under way",
            ),
            (
                r#"{"at": "4s", "change": {"voters": ["n1", "n2", "n3", "n4"]}}"#,
                "change: n1, n2, n3 and n4 vote",
                "n4 was to vote and lacked too much of the log: as a learner it gets it first",
            ),
        ] {
            let json = format!(
                r#"{{"tenure": 1, "scheme": "raft", "nodes": 4, "raft": {{"log": true, "outside": 1}},
                    "duration": "5s", "faults": [{changes}]}}"#
            );
            let recording = Recording::of(Scenario::parse(&json).unwrap()).unwrap();
            let last = recording.strikes.len() - 1;
            assert_eq!(asked(&recording, last), words);
            assert!(!recording.strikes[last].effect, "{words}");
            assert_eq!(why_not(&recording, last), why, "{words}");
        }
    }

    #[test]
    fn what_was_so_already_says_so() {
        for (fault, why) in [
            (r#""wipe": "n1""#, "n1 was down, with an empty disk"),
            (r#""lie": "n1""#, "n1 had a disk that lied already"),
            (
                r#""fail": "n1""#,
                "n1 had a disk that would fail a write already",
            ),
            (
                r#""drop": "n1""#,
                "n1 had a disk that would drop a write already",
            ),
            (
                r#""disconnect": ["n1", "n2"]"#,
                "the connection did not stand",
            ),
            (
                r#""flap": {"between": ["n1", "n2"], "down": "5ms", "up": "7ms"}"#,
                "the link flapped like this already",
            ),
        ] {
            let twice = format!(r#"{{"at": "1s", {fault}}}, {{"at": "1s", {fault}}}"#);
            let json = format!(
                r#"{{"tenure": 1, "scheme": "raft", "nodes": 3, "duration": "2s",
                    "network": {{"order": "fifo"}}, "faults": [{twice}]}}"#
            );
            let recording = Recording::of(Scenario::parse(&json).unwrap()).unwrap();
            assert!(recording.strikes[0].effect && !recording.strikes[1].effect);
            assert_eq!(why_not(&recording, 1), why);
        }
    }

    #[test]
    fn the_new_weather_the_clock_and_the_disk_are_told() {
        let calm = Weather::calm(1_000, 2_000);
        let replay = Weather {
            replay: PPM / 1_000,
            ..calm
        };
        let fifo = Weather { fifo: true, ..calm };
        for (said, expected) in [
            (
                weather(replay),
                "latency 1–2 ms, 0.1 % once more after 100–2000 ms",
            ),
            (weather(fifo), "latency 1–2 ms, in order on connections"),
            (rate(TRUE_PACE / 2), "50 % slow"),
            (rate(TRUE_PACE + 5_000), "0.5 % fast"),
            (
                takes(Takes {
                    write: 5_000,
                    rename: 20_000,
                }),
                "5 ms a write and 20 ms to rename",
            ),
        ] {
            assert_eq!(said, expected);
        }
    }
}
