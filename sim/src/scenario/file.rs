//! Reading the file format, version 1.

use super::names::{MAX_DURATION, MAX_FAULTS, MAX_NODES, MIN_PERIOD, TAKEOVERS, rule_names};
use super::reader::{
    Fields, Read, Slip, flag, items, number, one_of, pair, quoted, share, span, text, wrong_type,
};
use super::{Clients, Refusal, Scenario, Title, VERSION, parse_seed};
use crate::app::Takeover;
use crate::check::{Check, Outcome};
use crate::fault::{Action, Fault, Who};
use crate::json::{self, Node, Value};
use crate::physics::network::Weather;
use crate::scheme::raft::Setup;
use tenure::Duration;
use tenure::raft::{Rule, Timing};

const FIELDS: [&str; 14] = [
    "tenure",
    "title",
    "seed",
    "scheme",
    "nodes",
    "raft",
    "rulesOff",
    "network",
    "disk",
    "client",
    "leaderWithin",
    "duration",
    "faults",
    "expect",
];
/// The fields of a fault: the time, and the actions, of which it has one.
const FAULT: [&str; 12] = [
    "at",
    "crash",
    "restart",
    "pause",
    "resume",
    "cut",
    "heal",
    "partition",
    "resign",
    "campaign",
    "network",
    "disk",
];

const USUAL_WEATHER: Weather = Weather {
    latency_min: 5_000,
    latency_max: 10_000,
    loss: 0,
    duplicate: 0,
};
const USUAL_CLIENTS: Clients = Clients {
    every: 25_000,
    think: 0,
    write_delay: 0,
    takeover: Takeover::FenceFirst,
};
const USUAL_DISK: u64 = 1_000;

type Role = (&'static str, Who);
const RUNNING: [Role; 2] = [("leader", Who::Leader), ("follower", Who::Follower)];
const CRASHED: [Role; 1] = [("crashed", Who::Crashed)];
const PAUSED: [Role; 1] = [("paused", Who::Paused)];
const ALIVE: [Role; 3] = [RUNNING[0], RUNNING[1], PAUSED[0]];
const ANY: [Role; 4] = [RUNNING[0], RUNNING[1], PAUSED[0], CRASHED[0]];
const GROUPED: [Role; 3] = [RUNNING[0], RUNNING[1], ("rest", Who::Rest)];

/// Reads and checks a file.
pub(super) fn read(text: &str) -> Result<Scenario, Refusal> {
    let root = json::parse(text).map_err(|mistake| {
        Slip::new(mistake.at, "syntax", mistake.reason, "make it valid JSON").refuse(text, None)
    })?;
    scenario(&root).map_err(|slip| slip.refuse(text, Some(&root)))
}

fn scenario(root: &Node) -> Read<Scenario> {
    check_version(root)?;
    let file = Fields::of(root, &FIELDS)?;
    one_of(
        file.need(
            "scheme",
            "the scheme is missing",
            "add \"scheme\": \"raft\"",
        )?,
        &["raft"],
    )?;
    let seed = file.or("seed", 1, seed)?;
    let nodes = file.or("nodes", 5, node_count)?;
    let off = file.or("rulesOff", Vec::new(), rules_off)?;
    let (timing, safe_mode) = file.or("raft", (Timing::default(), true), raft)?;
    let setup = Setup::new(nodes, timing, safe_mode, &off, seed).map_err(|error| {
        let at = file.get("raft").map_or(root.at, |node| node.at);
        // The core says what is wrong, and after a colon or semicolon what to do.
        let text = error.to_string();
        let sign = text
            .bytes()
            .position(|byte| byte == b':' || byte == b';')
            .unwrap_or(text.len());
        let reason = text.get(..sign).unwrap_or(&text);
        let remedy = text.get(sign + 1..).map_or("change it", str::trim_start);
        Slip::new(at, "unsafe-config", reason, remedy)
    })?;
    let mut scenario = Scenario {
        title: Title::default(),
        seed,
        nodes,
        timing,
        off,
        setup,
        weather: USUAL_WEATHER,
        disk_write: file.or("disk", USUAL_DISK, disk)?,
        clients: file.or("client", USUAL_CLIENTS, client)?,
        leader_within: file.or("leaderWithin", 3_000_000, short_span)?,
        duration: file.or("duration", 60_000_000, duration)?,
        faults: Vec::new(),
        expect: Vec::new(),
    };
    // What is read into the scenario in place needs no care when a later part is refused.
    complete(&mut scenario, file)?;
    Ok(scenario)
}

fn complete(scenario: &mut Scenario, file: Fields<'_>) -> Read<()> {
    if let Some(node) = file.get("network") {
        scenario.weather = network(node, USUAL_WEATHER)?;
    }
    if let Some(node) = file.get("title") {
        let fields = Fields::of(node, &["en", "zh"])?;
        for (name, title) in [
            ("en", &mut scenario.title.en),
            ("zh", &mut scenario.title.zh),
        ] {
            if let Some(node) = fields.get(name) {
                title.push_str(text(node)?);
            }
        }
    }
    if let Some(node) = file.get("faults") {
        faults(node, scenario)?;
    }
    if let Some(node) = file.get("expect") {
        expect(node, &mut scenario.expect)?;
    }
    Ok(())
}

/// Before anything else: the rest of another version means something else.
fn check_version(root: &Node) -> Read<()> {
    let Value::Object(fields) = &root.value else {
        return Err(wrong_type(root, "an object"));
    };
    let Some(field) = fields.iter().find(|field| field.name == "tenure") else {
        return Err(Slip::new(
            root.at,
            "no-version",
            "the version of the format is missing",
            "add \"tenure\": 1",
        ));
    };
    match number(&field.node) {
        Ok(version) if version == u64::from(VERSION) => Ok(()),
        _ => {
            let remedy = format!("use version {VERSION}, or a newer Tenure");
            Err(Slip::new(
                field.node.at,
                "version",
                "this version of the format is not known",
                &remedy,
            ))
        }
    }
}

/// A JSON number does not hold 64 bits everywhere, so a seed is a text; a small number is read too.
fn seed(node: &Node) -> Read<u64> {
    if let Value::Number(_) = node.value {
        return number(node);
    }
    let text = text(node)?;
    let remedy = "write a whole number below 2^64 in quotes, as \"7\"";
    parse_seed(text)
        .ok_or_else(|| Slip::new(node.at, "bad-seed", &quoted(text, " is not a seed"), remedy))
}

fn node_count(node: &Node) -> Read<usize> {
    match usize::try_from(number(node)?) {
        Ok(count) if (1..=MAX_NODES).contains(&count) => Ok(count),
        _ => Err(Slip::new(
            node.at,
            "node-count",
            "so many nodes cannot be run",
            &format!("use 1 to {MAX_NODES}"),
        )),
    }
}

fn rules_off(node: &Node) -> Read<Vec<Rule>> {
    let names = rule_names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut off = Vec::new();
    for node in items(node)? {
        off.push(Rule::ALL[one_of(node, &names)?]);
    }
    Ok(off)
}

fn raft(node: &Node) -> Read<(Timing, bool)> {
    let fields = Fields::of(
        node,
        &["electionTimeout", "heartbeat", "rateBound", "safeMode"],
    )?;
    let mut timing = Timing::default();
    if let Some(node) = fields.get("electionTimeout") {
        let (low, high) = pair(node)?;
        (timing.election_min, timing.election_max) = (
            Duration::from_micros(short_span(low)?),
            Duration::from_micros(short_span(high)?),
        );
    }
    timing.heartbeat =
        Duration::from_micros(fields.or("heartbeat", timing.heartbeat.as_micros(), period)?);
    timing.rate_bound = fields.or("rateBound", timing.rate_bound, share)?;
    Ok((timing, fields.or("safeMode", true, flag)?))
}

fn network(node: &Node, base: Weather) -> Read<Weather> {
    let fields = Fields::of(node, &["latency", "loss", "duplicate"])?;
    let mut weather = base;
    if let Some(node) = fields.get("latency") {
        let (low, high) = pair(node)?;
        (weather.latency_min, weather.latency_max) = (short_span(low)?, short_span(high)?);
        if weather.latency_min == 0 {
            // Cause and effect would share an instant.
            return Err(Slip::new(
                low.at,
                "too-small",
                "a latency of zero cannot be run",
                "use at least 1us",
            ));
        }
        if weather.latency_max < weather.latency_min {
            return Err(Slip::new(
                node.at,
                "empty-range",
                "the range ends before it begins",
                "write the shorter latency first",
            ));
        }
    }
    weather.loss = fields.or("loss", base.loss, share)?;
    weather.duplicate = fields.or("duplicate", base.duplicate, share)?;
    Ok(weather)
}

fn disk(node: &Node) -> Read<u64> {
    Fields::of(node, &["write"])?.or("write", USUAL_DISK, short_span)
}

fn client(node: &Node) -> Read<Clients> {
    let fields = Fields::of(node, &["every", "think", "writeDelay", "takeover"])?;
    Ok(Clients {
        every: fields.or("every", USUAL_CLIENTS.every, period)?,
        think: fields.or("think", USUAL_CLIENTS.think, short_span)?,
        write_delay: fields.or("writeDelay", USUAL_CLIENTS.write_delay, short_span)?,
        takeover: match fields.get("takeover") {
            Some(node) => TAKEOVERS[one_of(node, &TAKEOVERS.map(|(name, _)| name))?].1,
            None => USUAL_CLIENTS.takeover,
        },
    })
}

/// A duration that is not longer than any run.
fn short_span(node: &Node) -> Read<u64> {
    let span = span(node)?;
    if span > MAX_DURATION {
        return Err(Slip::new(
            node.at,
            "too-large",
            "this is longer than any run",
            "use at most 60min",
        ));
    }
    Ok(span)
}

/// A duration after which something happens again and again: a finer one would drown a run in events.
fn period(node: &Node) -> Read<u64> {
    let span = short_span(node)?;
    if span < MIN_PERIOD {
        return Err(Slip::new(
            node.at,
            "too-small",
            "this is too short to be run",
            "use at least 1ms",
        ));
    }
    Ok(span)
}

fn duration(node: &Node) -> Read<u64> {
    let span = short_span(node)?;
    if span == 0 {
        return Err(Slip::new(
            node.at,
            "too-small",
            "a run of no length shows nothing",
            "use more than 0ms",
        ));
    }
    Ok(span)
}

fn expect(node: &Node, expected: &mut Vec<(Check, Outcome)>) -> Read<()> {
    let fields = Fields::of(node, &Check::ALL.map(Check::name))?;
    for check in Check::ALL {
        if let Some(node) = fields.get(check.name()) {
            expected.push((
                check,
                Outcome::ALL[one_of(node, &Outcome::ALL.map(Outcome::name))?],
            ));
        }
    }
    Ok(())
}

/// In order of time, and of the file where times are equal.
fn faults(node: &Node, scenario: &mut Scenario) -> Read<()> {
    let items = items(node)?;
    if items.len() > MAX_FAULTS {
        return Err(Slip::new(
            node.at,
            "too-many",
            "more actions than can be run",
            &format!("use at most {MAX_FAULTS}"),
        ));
    }
    for node in items {
        let fault = fault(node, scenario)?;
        let place = scenario
            .faults
            .partition_point(|other| other.at <= fault.at);
        scenario.faults.insert(place, fault);
    }
    Ok(())
}

fn fault(node: &Node, scenario: &Scenario) -> Read<Fault> {
    let fields = Fields::of(node, &FAULT)?;
    let when = fields.need("at", "the time is missing", "add \"at\", as \"2s\"")?;
    let at = span(when)?;
    if at > scenario.duration {
        return Err(Slip::new(
            when.at,
            "after-end",
            "this is after the end of the run",
            "set it earlier, or raise duration",
        ));
    }
    let mut named = FAULT
        .iter()
        .skip(1)
        .filter_map(|name| fields.get(name).map(|node| (*name, node)));
    match (named.next(), named.next()) {
        (Some((name, node)), None) => Ok(Fault {
            at,
            action: action(name, node, scenario)?,
        }),
        (None, _) => Err(Slip::new(
            node.at,
            "no-action",
            "no action is named",
            "add one, as \"crash\": \"leader\"",
        )),
        (Some(_), Some((_, second))) => Err(Slip::new(
            second.at,
            "two-actions",
            "more than one action is named",
            "write one entry for each",
        )),
    }
}

fn action(name: &str, node: &Node, scenario: &Scenario) -> Read<Action> {
    let nodes = scenario.nodes;
    Ok(match name {
        "crash" => Action::Crash(who(node, nodes, &ALIVE)?),
        "restart" => Action::Restart(who(node, nodes, &CRASHED)?),
        "pause" => Action::Pause(who(node, nodes, &RUNNING)?),
        "resume" => Action::Resume(who(node, nodes, &PAUSED)?),
        "resign" => Action::Resign(who(node, nodes, &RUNNING)?),
        "campaign" => Action::Campaign(who(node, nodes, &RUNNING)?),
        "heal" if matches!(&node.value, Value::Text(text) if text == "all") => Action::HealAll,
        "cut" | "heal" => {
            let (from, to) = pair(node)?;
            let (from, to) = (who(from, nodes, &ANY)?, who(to, nodes, &ANY)?);
            if from == to {
                return Err(Slip::new(
                    node.at,
                    "no-link",
                    "a node has no link to itself",
                    "name two nodes",
                ));
            }
            if name == "cut" {
                Action::Cut(from, to)
            } else {
                Action::Heal(from, to)
            }
        }
        "partition" => Action::Partition(partition(node, nodes)?),
        "network" => Action::Network(network(node, scenario.weather)?),
        _ => {
            let fields = Fields::of(node, &["node", "write"])?;
            let node = fields.need("node", "the node is missing", "add \"node\", as \"n1\"")?;
            Action::Disk(
                who(node, nodes, &ANY)?,
                fields.or("write", scenario.disk_write, short_span)?,
            )
        }
    })
}

fn partition(node: &Node, nodes: usize) -> Read<Vec<(u16, Who)>> {
    let mut named: Vec<(u16, Who)> = Vec::new();
    for (place, group) in (0..).zip(items(node)?) {
        for node in items(group)? {
            let who = who(node, nodes, &GROUPED)?;
            // Followers are told apart when the action comes: each name is another one.
            if who != Who::Follower && named.iter().any(|(_, other)| *other == who) {
                return Err(Slip::new(
                    node.at,
                    "named-twice",
                    "this is in two groups",
                    "name each node once",
                ));
            }
            named.push((place, who));
        }
    }
    let all_by_name = named.iter().all(|(_, who)| matches!(who, Who::Node(_)));
    let with_rest = named.iter().any(|(_, who)| *who == Who::Rest) && named.len() <= nodes + 1;
    let complete = with_rest || (all_by_name && named.len() == nodes);
    if !complete {
        let remedy = "name every node once, or add \"rest\" to one group";
        return Err(Slip::new(
            node.at,
            "incomplete",
            "the groups do not hold every node",
            remedy,
        ));
    }
    Ok(named)
}

fn who(node: &Node, nodes: usize, roles: &[Role]) -> Read<Who> {
    let name = text(node)?;
    if let Some((_, who)) = roles.iter().find(|(role, _)| *role == name) {
        return Ok(*who);
    }
    let digits = name
        .strip_prefix('n')
        .filter(|digits| !digits.starts_with(['0', '+']));
    match digits.and_then(|digits| digits.parse::<u16>().ok()) {
        Some(number) if (1..=nodes).contains(&usize::from(number)) => Ok(Who::Node(number - 1)),
        _ => {
            let mut remedy = format!("use n1 to n{nodes}");
            for (role, _) in roles {
                remedy.push_str(", ");
                remedy.push_str(role);
            }
            Err(Slip::new(
                node.at,
                "unknown-node",
                &quoted(name, " is no node here"),
                &remedy,
            ))
        }
    }
}
