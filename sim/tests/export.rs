//! Traces for other tools: they parse, hold every event, and keep the rules of the tools they are for.

use serde_json::Value;
use std::collections::BTreeMap;
use tenure_sim::export::{Format, Recording};
use tenure_sim::physics::trace::{Event, KIND_NAMES, Kind};
use tenure_sim::{Scenario, schedule};

/// Crashes, pauses, cuts, losses, doubled messages, slow disks and faults without effect.
const STORMY: &str = r#"{
    "tenure": 1, "title": {"en": "A \"stormy\" run", "zh": "风暴"}, "scheme": "raft", "nodes": 5, "seed": "18446744073709551615",
    "duration": "9s", "network": {"latency": ["2ms", "30ms"], "loss": "2%", "duplicate": "3%"},
    "client": {"think": "20ms", "every": "25ms"},
    "faults": [
        {"at": "1s", "pause": "leader"}, {"at": "1s", "resume": "n1"}, {"at": "2200ms", "resume": "paused"},
        {"at": "3s", "crash": "leader"}, {"at": "3500ms", "restart": "crashed"}, {"at": "3500ms", "restart": "n1"},
        {"at": "4s", "disk": {"node": "n2", "write": "40ms"}}, {"at": "4500ms", "crash": "n2"},
        {"at": "5s", "partition": [["leader", "follower"], ["rest"]]}, {"at": "7s", "heal": "all"},
        {"at": "8s", "pause": "follower"}
    ]
}"#;

fn recordings() -> Vec<Recording> {
    let mut scenarios = vec![Scenario::parse(STORMY).unwrap()];
    let plain = STORMY.replace("\"nodes\"", "\"raft\": {\"safeMode\": false}, \"nodes\"");
    scenarios.push(Scenario::parse(&plain).unwrap());
    let alone = r#"{"tenure": 1, "scheme": "raft", "nodes": 1, "duration": "2s"}"#;
    scenarios.push(Scenario::parse(alone).unwrap());
    scenarios.extend((0..6).map(|seed| schedule::random(seed).unwrap()));
    scenarios
        .into_iter()
        .map(|scenario| Recording::of(scenario).unwrap())
        .collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text:.200}"))
}

#[test]
fn lines_are_json_and_the_first_gives_the_run_again() {
    for recording in recordings() {
        let written = Format::Jsonl.write(&recording);
        let mut lines = written.lines();
        let first = json(lines.next().unwrap());
        assert_eq!(
            (&first["trace"], &first["scheme"]),
            (&1.into(), &"raft".into())
        );
        let scenario = Scenario::parse(&first["scenario"].to_string()).unwrap();
        assert_eq!(first["seed"], scenario.seed.to_string());
        let again = Recording::of(scenario).unwrap();
        assert_eq!(first["hash"], again.world.trace().digest());
        assert!(Format::Jsonl.write(&again) == written);

        let events: Vec<Value> = lines.map(json).collect();
        assert_eq!(events.len(), recording.events.len());
        for (place, (line, event)) in events.iter().zip(&recording.events).enumerate() {
            assert_eq!(line["place"], place);
            assert_eq!(line["at"], event.at);
            assert_eq!(line["event"], KIND_NAMES[event.kind as usize]);
            if let Some(cause) = line.get("cause") {
                assert!(cause.as_u64().unwrap() < place as u64, "{line}");
            }
        }
    }
}

/// A slice, an arrow's end or another event of the Perfetto trace.
fn perfetto(recording: &Recording) -> Vec<Value> {
    let written = json(&Format::Perfetto.write(recording));
    written["traceEvents"].as_array().unwrap().clone()
}

fn number(event: &Value, field: &str) -> u64 {
    event[field]
        .as_u64()
        .unwrap_or_else(|| panic!("{field} in {event}"))
}

fn of<'a>(events: &'a [Value], phase: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["ph"] == phase)
}

#[test]
fn slices_of_one_lane_nest_and_every_lane_has_a_name() {
    for recording in recordings() {
        let events = perfetto(&recording);
        let named: Vec<u64> = of(&events, "M")
            .filter(|event| event["name"] == "thread_name")
            .map(|event| number(event, "tid"))
            .collect();
        // By lane: the ends of the slices that are open, outermost first.
        let mut open: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        let mut last = 0;
        for event in of(&events, "X") {
            let (from, lane) = (number(event, "ts"), number(event, "tid"));
            let until = from + number(event, "dur");
            assert!(from >= last, "in order of time: {event}");
            last = from;
            assert!(named.contains(&lane), "{event}");
            let lane = open.entry(lane).or_default();
            lane.retain(|end| *end > from);
            assert!(
                lane.last().is_none_or(|end| until <= *end),
                "{event} crosses the slice it begins in"
            );
            lane.push(until);
        }
        assert!(open.len() > recording.scenario.nodes * 3, "{open:?}");
    }
}

#[test]
fn every_flow_has_both_ends_each_in_a_slice() {
    for recording in recordings() {
        let events = perfetto(&recording);
        let mut slices: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
        for event in of(&events, "X") {
            let from = number(event, "ts");
            let lane = slices.entry(number(event, "tid")).or_default();
            lane.push((from, from + number(event, "dur")));
        }
        let ends = |phase| -> BTreeMap<u64, &Value> {
            let ends: Vec<_> = of(&events, phase)
                .map(|event| (number(event, "id"), event))
                .collect();
            let by_id: BTreeMap<_, _> = ends.iter().copied().collect();
            assert_eq!(by_id.len(), ends.len(), "an arrow has one end of each kind");
            by_id
        };
        let (begins, arrives) = (ends("s"), ends("f"));
        assert!(begins.keys().eq(arrives.keys()));
        for (id, begin) in &begins {
            let arrive = arrives[id];
            assert_eq!(begin["name"], arrive["name"]);
            assert!(number(begin, "ts") <= number(arrive, "ts"));
            for end in [begin, arrive] {
                let (at, lane) = (number(end, "ts"), number(end, "tid"));
                let lane = &slices[&lane];
                assert!(
                    lane.iter()
                        .any(|(from, until)| (*from..*until).contains(&at)),
                    "{end} is in no slice"
                );
            }
        }
        let delivered = recording
            .events
            .iter()
            .filter(|event| event.kind == Kind::Deliver);
        for (place, _) in recording
            .events
            .iter()
            .enumerate()
            .filter(|(_, event)| event.kind == Kind::Deliver)
        {
            assert!(
                begins.contains_key(&(place as u64)),
                "message {place} has an arrow"
            );
        }
        assert!(begins.len() >= delivered.count());
    }
}

#[test]
fn the_counter_follows_belief_and_every_fault_is_marked() {
    for recording in recordings() {
        let events = perfetto(&recording);
        let (mut since, mut now, mut overlap) = (0, 0, 0);
        for event in of(&events, "C") {
            let at = number(event, "ts");
            overlap += if now > 1 { at - since } else { 0 };
            (since, now) = (at, event["args"]["leaders"].as_u64().unwrap());
        }
        assert_eq!(overlap, recording.world.judges().belief().overlap);
        let marks: Vec<_> = of(&events, "i").filter(|event| event["s"] == "p").collect();
        assert_eq!(marks.len(), recording.strikes.len());
        for (mark, strike) in marks.iter().zip(&recording.strikes) {
            assert_eq!(number(mark, "ts"), strike.at);
            let idle = mark["name"].as_str().unwrap().contains("no effect");
            assert_eq!(idle, !strike.effect);
        }
    }
}

/// Host, text and clock of every event of a ShiViz log.
fn shiviz(log: &str) -> Vec<(String, String, BTreeMap<String, u64>)> {
    let mut lines = log.lines();
    let pattern = lines.next().unwrap();
    for group in ["(?<event>", "(?<host>", "(?<clock>"] {
        assert!(pattern.contains(group), "{pattern}");
    }
    assert_eq!(lines.next(), Some(""), "one run: nothing parts several");
    let rest: Vec<&str> = lines.collect();
    rest.chunks(2)
        .map(|event| {
            let (host, clock) = event[1].split_once(' ').unwrap();
            let clock = serde_json::from_str(clock).unwrap();
            (host.to_owned(), event[0].to_owned(), clock)
        })
        .collect()
}

/// The host that the log names and the event's own actor differ for what concerns links and plan.
fn at_world(event: &Event) -> bool {
    matches!(
        event.kind,
        Kind::Cut | Kind::Heal | Kind::Healed | Kind::Lose | Kind::NoEffect | Kind::End
    )
}

#[test]
fn hosts_count_their_own_events() {
    for recording in recordings() {
        let log = shiviz(&Format::Shiviz.write(&recording));
        assert_eq!(log.len(), recording.events.len());
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for ((host, text, clock), event) in log.iter().zip(&recording.events) {
            let count = counts.entry(host).or_default();
            *count += 1;
            assert_eq!(clock[host], *count, "{host}: {text}");
            let expected = if at_world(event) {
                "world".to_owned()
            } else {
                recording.name(event.actor)
            };
            assert_eq!(*host, expected);
            assert!(text.contains(KIND_NAMES[event.kind as usize]), "{text}");
        }
    }
}

#[test]
fn clocks_order_events_exactly_as_causes_do() {
    // Short: every pair of events is compared.
    let json = STORMY.replace("\"9s\"", "\"1300ms\"");
    let json = format!(
        "{}]}}",
        &json[..json.find(",\n        {\"at\": \"3s\"").unwrap()]
    )
    .replace(
        ", {\"at\": \"2200ms\", \"resume\": \"paused\"}",
        ", {\"at\": \"1200ms\", \"resume\": \"paused\"}",
    );
    let recording = Recording::of(Scenario::parse(&json).unwrap()).unwrap();
    let log = shiviz(&Format::Shiviz.write(&recording));
    let size = log.len();
    assert!(size > 500, "{size}");
    // Of each event, all that happened before it: what is before its cause, and before the last event at its host.
    let mut before: Vec<Vec<bool>> = Vec::with_capacity(size);
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, (host, _, _)) in log.iter().enumerate() {
        let mut own = vec![false; size];
        let cause = usize::try_from(recording.events[place].cause).ok();
        for earlier in [cause, last.get(host.as_str()).copied()]
            .into_iter()
            .flatten()
        {
            for (own, seen) in own.iter_mut().zip(&before[earlier]) {
                *own |= *seen;
            }
            own[earlier] = true;
        }
        before.push(own);
        last.insert(host, place);
    }
    let below = |one: &BTreeMap<String, u64>, other: &BTreeMap<String, u64>| {
        one.iter()
            .all(|(host, count)| other.get(host).is_some_and(|seen| seen >= count))
    };
    for (place, (_, text, clock)) in log.iter().enumerate() {
        for (earlier, (_, first, other)) in log
            .iter()
            .enumerate()
            .filter(|(earlier, _)| *earlier != place)
        {
            assert_eq!(
                below(other, clock),
                before[place][earlier],
                "{first} {other:?} before {text} {clock:?}"
            );
        }
    }
}
