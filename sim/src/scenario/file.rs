//! Reading the file format, version 1: what the table cannot say, and the scenario that comes of it.

use super::format::{Kind, MEMBER};
#[cfg(feature = "peers")]
use super::names::Peers;
use super::names::{Named, RULES, TAKEOVER_OF, THROUGH_OF};
use super::reader::{self, Frame, Part, Read, Slip, items, number, who, word};
use super::{Bilingual, Clients, Elects, Refusal, Scenario, VERSION};
#[cfg(feature = "peers")]
use super::{brokers, kraft, sentinel, zab};
use super::{by_store, parts};
use crate::app::{Takeover, Through};
use crate::check::{Check, Outcome};
use crate::fault::{Action, Fault, Flap, Who};
use crate::jobs::Jobs;
use crate::json::{self, Node, Value};
use crate::physics::clock::TRUE_PACE;
use crate::physics::disk::Takes;
use crate::physics::weather::Weather;
use crate::scheme::Unfit;
use tenure::Duration;
use tenure::raft::{Rule, Timing};

/// Reads and checks a file.
#[inline(never)]
pub(super) fn read(text: &str) -> Result<Scenario, Refusal> {
    let root = parse(text)?;
    scenario(&root).map_err(|slip| slip.refuse(text, Some(&root)))
}

/// Reads an action by itself, as it would stand in this scenario.
#[inline(never)]
pub(super) fn read_action(text: &str, scenario: &Scenario) -> Result<Action, Refusal> {
    let root = parse(text)?;
    let frame = Frame {
        nodes: scenario.nodes as u64,
        duration: scenario.duration,
        scheme: scenario.named(),
        servers: Some(scenario.servers() as u64).filter(|servers| *servers > 0),
    };
    let read = reader::lone_action(&root, frame).and_then(|part| match part.choice() {
        Some((name, node)) => action(part, name, node, scenario),
        // One is named: that was held against the table.
        None => Ok(Action::HealAll),
    });
    read.map_err(|slip| slip.refuse(text, Some(&root)))
}

#[inline(never)]
fn parse(text: &str) -> Result<Node, Refusal> {
    json::parse(text).map_err(|mistake| {
        Slip::new(mistake.at, "syntax", mistake.reason, "make it valid JSON").refuse(text, None)
    })
}

#[inline(never)]
fn scenario(root: &Node) -> Read<Scenario> {
    check_version(root)?;
    let file = reader::file(root)?;
    let scheme = Named::at(file.get("scheme"));
    parts::check(file, scheme)?;
    let elects = match scheme {
        Named::Raft => Elects::Raft,
        Named::Store(kind) => Elects::ByStore(by_store::lease(file, kind)?),
        #[cfg(feature = "peers")]
        Named::Peers(Peers::Zab) => Elects::Zab(zab::read(file)),
        #[cfg(feature = "peers")]
        Named::Peers(Peers::Sentinel) => Elects::Sentinel(sentinel::read(file)),
        #[cfg(feature = "peers")]
        Named::Peers(Peers::Kraft) => Elects::Kraft(kraft::read(file)),
    };
    let (nodes, seed) = (file.get("nodes") as usize, file.get("seed"));
    let mut off = Vec::new();
    for node in file.node("rulesOff").map_or(&[][..], items) {
        off.extend(
            number(&Kind::Name(&RULES), word(node))
                .filter(|_| scheme == Named::Raft)
                .and_then(|place| Rule::ALL.get(place as usize)),
        );
    }
    let raft = file.inner("raft");
    let [election_min, election_max] = raft.ends("electionTimeout").map(Duration::from_micros);
    let heartbeat = Duration::from_micros(raft.get("heartbeat"));
    let timing = Timing {
        election_min,
        election_max,
        heartbeat,
        rate_bound: raft.get("rateBound") as u32,
        ..Timing::default()
    };
    let client = file.inner("client");
    let mut scenario = Scenario {
        title: bilingual(file.inner("title")),
        lesson: bilingual(file.inner("lesson")),
        seed,
        nodes,
        timing,
        off,
        safe_mode: raft.get("safeMode") == 1,
        log: raft.get("log") == 1,
        outside: raft.get("outside") as usize,
        elects,
        weather: Weather::calm(0, 0),
        clocks: Vec::new(),
        disk: change_disk(Takes::default(), file.inner("disk")),
        clients: Clients {
            every: client.get("every"),
            think: client.get("think"),
            write_delay: client.get("writeDelay"),
            takeover: client
                .pick("takeover", &TAKEOVER_OF)
                .unwrap_or(Takeover::FenceFirst),
            through: client
                .pick("through", &THROUGH_OF)
                .unwrap_or(Through::Leader),
            watches: client.get("watches") == 1,
        },
        jobs: file.node("jobs").map(|_| {
            let jobs = file.inner("jobs");
            Jobs {
                every: jobs.get("every"),
                takes: jobs.get("takes"),
            }
        }),
        leader_within: match (file.value("leaderWithin"), &elects) {
            (Some([within, _]), _) => within,
            (None, Elects::Raft) => Scenario::usual().leader_within,
            (None, Elects::ByStore(lease)) => lease.timing.ttl.as_micros().saturating_mul(2),
            #[cfg(feature = "peers")]
            (None, Elects::Zab(params)) => params.leader_within(),
            #[cfg(feature = "peers")]
            (None, Elects::Sentinel(params)) => params.leader_within(),
            #[cfg(feature = "peers")]
            (None, Elects::Kraft(params)) => params.leader_within(),
        },
        duration: file.get("duration"),
        faults: Vec::new(),
        expect: Vec::new(),
    };
    match scenario.setup().check() {
        Ok(()) => {}
        Err(Unfit::Raft(error)) => return Err(unsafe_config(&file, root, &error)),
        Err(Unfit::Lease(error)) => return Err(by_store::unsafe_timing(file, root, &error)),
        #[cfg(feature = "peers")]
        Err(Unfit::Zab(error)) => return Err(zab::unfit(file, root, &error)),
        #[cfg(feature = "peers")]
        Err(Unfit::Sentinel(error)) => return Err(sentinel::unfit(file, root, &error)),
        #[cfg(feature = "peers")]
        Err(Unfit::Kraft(error)) => return Err(kraft::unfit(file, root, &error)),
    }
    #[cfg(feature = "peers")]
    zab::check_observers(&scenario, file, root)?;
    #[cfg(feature = "peers")]
    sentinel::check(&scenario, file, root)?;
    #[cfg(feature = "peers")]
    brokers::check(&scenario, file, root)?;
    if scenario.outside > 0 && (!scenario.log || scenario.outside >= nodes) {
        let node = file.node("raft").map_or(root.at, |node| node.at);
        return Err(Slip::new(
            node,
            "nobody-votes",
            "nodes can be outside only beside some that are not, which have a log",
            "set raft.log, and raft.outside below the number of nodes",
        ));
    }
    // The module for browsers has no room for clients that watch, and does not run a world as if it had none.
    let (able, reason, remedy) = if cfg!(target_family = "wasm") {
        let remedy = "run it with tenure-sim, or leave watches out";
        (false, "no clients that watch are here", remedy)
    } else {
        let remedy = "set raft.log, or leave watches out";
        (
            scenario.has_log(),
            "there is no store to watch without a log",
            remedy,
        )
    };
    if scenario.clients.watches && !able {
        let at = file.node("client").map_or(root.at, |node| node.at);
        return Err(Slip::new(at, "no-watches", reason, remedy));
    }
    if scenario.clients.pile_up() {
        return Err(Slip::new(
            file.node("client").map_or(root.at, |node| node.at),
            "too-many-writes",
            "so many writes would be on their way at once that a world cannot hold them",
            "shorten think or writeDelay, or lengthen every",
        ));
    }
    // What is read into the scenario in place needs no care when a later part is refused.
    complete(&mut scenario, file)?;
    Ok(scenario)
}

#[inline(never)]
fn complete(scenario: &mut Scenario, file: Part<'_>) -> Read<()> {
    scenario.weather.fifo = scenario.setup().is_connected();
    change_weather(&mut scenario.weather, file.inner("network"))?;
    check_order(scenario, &scenario.weather, file.inner("network"))?;
    for node in file.node("clocks").map_or(&[][..], items) {
        let rate = number(&Kind::Rate, word(node)).unwrap_or_default();
        scenario.clocks.push(pace(rate));
    }
    let expect = file.inner("expect");
    for check in Check::ALL {
        if expect.node(check.name()).is_some() {
            let outcome = expect.pick(check.name(), &Outcome::ALL);
            scenario
                .expect
                .extend(outcome.map(|outcome| (check, outcome)));
        }
    }
    // In order of time, and of the file where times are equal.
    for part in file.each("faults") {
        let Some((name, node)) = part.choice() else {
            continue;
        };
        let (at, action) = (part.get("at"), action(part, name, node, scenario)?);
        let place = scenario.faults.partition_point(|other| other.at <= at);
        scenario.faults.insert(place, Fault { at, action });
    }
    Ok(())
}

#[inline(never)]
fn bilingual(part: Part<'_>) -> Bilingual {
    Bilingual {
        en: part.text("en").to_owned(),
        zh: part.text("zh").to_owned(),
    }
}

/// Before anything else: the rest of another version means something else.
#[inline(never)]
fn check_version(root: &Node) -> Read<()> {
    let found = match &root.value {
        Value::Object(fields) => fields.iter().find(|field| field.name == "tenure"),
        _ => return Ok(()),
    };
    match found {
        None => Err(Slip::new(
            root.at,
            "no-version",
            "the version of the format is missing",
            "add \"tenure\": 1",
        )),
        Some(field)
            if number(&Kind::Count(0, 0), word(&field.node)) == Some(u64::from(VERSION)) =>
        {
            Ok(())
        }
        Some(field) => {
            let reason = "this version of the format is not known";
            Err(Slip::new(
                field.node.at,
                "version",
                reason,
                "use version 1, or a newer Tenure",
            ))
        }
    }
}

/// What the core refuses, in the words of the file.
#[cold]
#[inline(never)]
fn unsafe_config(file: &Part<'_>, root: &Node, error: &tenure::raft::ConfigError) -> Box<Slip> {
    use tenure::raft::ConfigError as E;
    let (field, remedy) = match error {
        E::HeartbeatTooSlow { .. } => (
            "heartbeat",
            "lower raft.heartbeat or raise raft.electionTimeout",
        ),
        E::LeaseTooShort { .. } => (
            "rateBound",
            "lower raft.rateBound or raft.heartbeat, or raise raft.electionTimeout",
        ),
        E::RateBound(_) => ("rateBound", "use less than 100%"),
        _ => ("electionTimeout", error.remedy()),
    };
    let part = file.node("raft");
    let named = match part.map(|part| &part.value) {
        Some(Value::Object(fields)) => fields.iter().find(|other| other.name == field),
        _ => None,
    };
    let node = named.map(|named| &named.node).or(part).unwrap_or(root);
    Slip::new(node.at, error.code(), &error.reason().to_string(), remedy)
}

/// What is left out stays as it is.
#[inline(never)]
fn change_weather(weather: &mut Weather, part: Part<'_>) -> Read<()> {
    if let Some([low, high]) = part.value("latency") {
        (weather.latency_min, weather.latency_max) = (low, high);
    }
    if let Some([loss, _]) = part.value("loss") {
        weather.loss = loss as u32;
    }
    if let Some([duplicate, _]) = part.value("duplicate") {
        weather.duplicate = duplicate as u32;
    }
    if let Some([order, _]) = part.value("order") {
        weather.fifo = order == 1;
    }
    if let Some([replay, _]) = part.value("replay") {
        weather.replay = replay as u32;
    }
    if let Some([low, high]) = part.value("replayAfter") {
        (weather.replay_min, weather.replay_max) = (low, high);
    }
    for (name, low, high) in [
        ("latency", weather.latency_min, weather.latency_max),
        ("replayAfter", weather.replay_min, weather.replay_max),
    ] {
        if let Some(node) = part.node(name).filter(|_| high < low) {
            let reason = "the range ends before it begins";
            return Err(Slip::new(
                node.at,
                "empty-range",
                reason,
                "write the shorter time first",
            ));
        }
    }
    let named = ["duplicate", "replay", "order"]
        .iter()
        .find_map(|name| part.node(name));
    match named {
        Some(node) if weather.fifo && (weather.duplicate > 0 || weather.replay > 0) => {
            Err(Slip::new(
                node.at,
                "fifo-duplicates",
                "a connection that keeps the order never brings a message twice",
                "set duplicate and replay to 0%, or order to \"datagrams\"",
            ))
        }
        _ => Ok(()),
    }
}

/// Nodes that speak over connections have them.
#[inline(never)]
fn check_order(scenario: &Scenario, weather: &Weather, part: Part<'_>) -> Read<()> {
    match part.node("order") {
        Some(node) if !weather.fifo && scenario.setup().is_connected() => Err(Slip::new(
            node.at,
            "needs-connections",
            "the nodes of this scheme speak over connections, which keep the order of what is said",
            "leave order out, or set it to \"fifo\"",
        )),
        _ => Ok(()),
    }
}

/// What is left out stays as it is.
fn change_disk(mut takes: Takes, part: Part<'_>) -> Takes {
    if let Some([write, _]) = part.value("write") {
        takes.write = write;
    }
    if let Some([rename, _]) = part.value("rename") {
        takes.rename = rename;
    }
    takes
}

/// The two ends of a link, which are two.
#[inline(never)]
fn link(part: Part<'_>, name: &str) -> Read<(Who, Who)> {
    let [from, to] = part.ends(name).map(who);
    match part.node(name) {
        Some(node) if from == to => Err(Slip::new(
            node.at,
            "no-link",
            "a node has no link to itself",
            "name two nodes",
        )),
        _ => Ok((from, to)),
    }
}

/// The pace of a clock that is off the true one by this, in two's complement.
const fn pace(rate: u64) -> u32 {
    TRUE_PACE.wrapping_add(rate as u32)
}

#[inline(never)]
fn action(part: Part<'_>, name: &str, node: &Node, scenario: &Scenario) -> Read<Action> {
    parts::check_action(name, node, scenario.named())?;
    #[cfg(feature = "peers")]
    let brokered = scenario.brokers().is_some();
    #[cfg(not(feature = "peers"))]
    let brokered = false;
    parts::check_server(part, name, node, brokered)?;
    if let Some((_, bare)) = Action::BARE.iter().find(|(bare, _)| *bare == name) {
        return Ok(bare(part.who(name)));
    }
    Ok(match name {
        "heal" if matches!(node.value, Value::Text(_)) => Action::HealAll,
        "cut" | "heal" | "disconnect" => {
            let (from, to) = link(part, name)?;
            match name {
                "cut" => Action::Cut(from, to),
                "heal" => Action::Heal(from, to),
                _ => Action::Disconnect(from, to),
            }
        }
        "flap" => {
            let flap = part.inner(name);
            let (one, other) = link(flap, "between")?;
            let (down, up) = (flap.get("down"), flap.get("up"));
            Action::Flap(one, other, Flap { down, up })
        }
        "slow" => {
            let slow = part.inner(name);
            Action::Slow(slow.who("node"), slow.get("by"))
        }
        "partition" => Action::Partition(partition(node, scenario.nodes + scenario.servers())?),
        "network" => {
            let mut weather = scenario.weather;
            change_weather(&mut weather, part.inner(name))?;
            check_order(scenario, &weather, part.inner(name))?;
            Action::Network(weather)
        }
        "change" => members(part.inner(name), node, scenario.log)?,
        "delay" => {
            let change = part.inner(name);
            let (from, to) = link(change, "link")?;
            Action::Delay(from, to, change.get("by"))
        }
        "clock" => {
            let change = part.inner(name);
            let pace = change.value("rate").map(|[rate, _]| pace(rate));
            let jump = change.value("jump").map_or(0, |[jump, _]| jump);
            Action::Clock(change.who("node"), pace, jump.cast_signed())
        }
        _ => {
            let change = part.inner(name);
            let takes = change_disk(scenario.disk, change);
            Action::Disk(change.who("node"), takes)
        }
    })
}

/// Who is to take part: somebody votes, nobody is named twice, and there is a log for the change to be in.
#[inline(never)]
fn members(change: Part<'_>, node: &Node, log: bool) -> Read<Action> {
    let mut named: Vec<u16> = Vec::new();
    let mut voters = 0;
    for name in ["voters", "learners"] {
        for node in change.node(name).map_or(&[][..], items) {
            // What names nobody was refused when the file was held against the table.
            let member = number(&Kind::Node(&[]), word(node)).unwrap_or_default() as u16;
            if named.contains(&member) {
                return Err(Slip::new(
                    node.at,
                    "named-twice",
                    "this node is named before",
                    "name each node once, to vote or to learn",
                ));
            }
            named.push(member);
        }
        if name == "voters" {
            voters = named.len();
        }
    }
    if !log {
        return Err(Slip::new(
            node.at,
            "no-log",
            "who takes part is changed by an entry of a log, and there is none",
            "set raft.log to true",
        ));
    }
    if voters == 0 {
        return Err(Slip::new(
            node.at,
            "no-voters",
            "a group without voters decides nothing",
            "name at least one node in voters",
        ));
    }
    let learners = named.split_off(voters);
    Ok(Action::Change(named, learners))
}

/// The two ends of a link.
#[inline(never)]
fn partition(node: &Node, members: usize) -> Read<Vec<(u16, Who)>> {
    let mut named: Vec<(u16, Who)> = Vec::new();
    for (place, group) in (0..).zip(items(node)) {
        for node in items(group) {
            // What names nobody was refused when the file was held against the table.
            let Some(who) = number(&MEMBER, word(node)).map(who) else {
                continue;
            };
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
    let all_by_name = named
        .iter()
        .all(|(_, who)| matches!(who, Who::Node(_) | Who::Server(_)));
    let with_rest = named.iter().any(|(_, who)| *who == Who::Rest) && named.len() <= members + 1;
    let whole = all_by_name && named.len() == members;
    if !with_rest && !whole {
        let remedy = "name every node and server once, or add \"rest\" to one group";
        return Err(Slip::new(
            node.at,
            "incomplete",
            "the groups do not hold every node and server",
            remedy,
        ));
    }
    Ok(named)
}

#[cfg(test)]
mod tests {
    use super::super::format::{Entry, FILE, Usual};
    use super::super::units::write_span;
    use super::*;

    /// A value of a kind that differs from every default, as the writer writes it.
    fn sample(kind: &Kind) -> String {
        match kind {
            Kind::Text => "\"x\"".to_owned(),
            Kind::Flag => "false".to_owned(),
            Kind::Seed => "\"7\"".to_owned(),
            Kind::Count(..) => "3".to_owned(),
            // A little longer than the least there is.
            Kind::Span(least, _) => format!("\"{}\"", write_span(least + 7_000)),
            Kind::Moment => "\"7ms\"".to_owned(),
            Kind::Range(..) => "[\"200ms\",\"400ms\"]".to_owned(),
            Kind::Share => "\"0.5%\"".to_owned(),
            Kind::Rate => "\"-0.5%\"".to_owned(),
            Kind::Jump => "\"-7ms\"".to_owned(),
            Kind::Name(names) => format!("\"{}\"", names[names.len() - 1]),
            Kind::Rule => format!("\"{}\"", RULES[RULES.len() - 1]),
            Kind::Server => "\"s1\"".to_owned(),
            Kind::Node([]) => "\"n2\"".to_owned(),
            Kind::Node(roles) | Kind::Member(roles) => format!("\"{}\"", roles[roles.len() - 1]),
            Kind::Link => "[\"n2\",\"n3\"]".to_owned(),
            Kind::NameOrLink(name) => format!("\"{name}\""),
            Kind::List(Kind::List(..), _) => "[[\"n2\",\"leader\"],[\"rest\"]]".to_owned(),
            Kind::List(of, _) => format!("[{}]", sample(of)),
            Kind::Object(entries) | Kind::Choice(entries) => {
                let fields: Vec<String> = entries
                    .iter()
                    .map(|entry| match entry.name {
                        // Whoever votes does not learn.
                        "learners" => "\"learners\":[\"n3\"]".to_owned(),
                        name => format!("\"{name}\":{}", sample(&entry.kind)),
                    })
                    .collect();
                format!("{{{}}}", fields.join(","))
            }
        }
    }

    /// The fields of an object with samples in them, one after another: objects with one field, faults with one action.
    fn samples(
        entries: &[Entry],
        inside: &dyn Fn(String) -> String,
        all: &mut Vec<(String, String)>,
    ) {
        for entry in entries {
            let name = entry.name;
            match &entry.kind {
                // Without two of these no file is read at all; the third is for editors, and says nothing of the run.
                _ if matches!(name, "tenure" | "scheme" | "$schema") => {}
                Kind::Object(entries)
                    if entries
                        .iter()
                        .all(|entry| !matches!(entry.usual, Usual::Needed(_))) =>
                {
                    samples(
                        entries,
                        &|field| inside(format!("\"{name}\":{{{field}}}")),
                        all,
                    );
                }
                Kind::List(Kind::Choice(entries), _) => samples(
                    &entries[1..],
                    &|action| inside(format!("\"{name}\":[{{\"at\":\"7ms\",{action}}}]")),
                    all,
                ),
                kind => {
                    let value = match (name, &entry.usual) {
                        (_, Usual::Is("false")) => "true".to_owned(),
                        // Times that are safe with the usual others.
                        ("ttl", _) => "\"12s\"".to_owned(),
                        ("patience", _) => "\"500ms\"".to_owned(),
                        ("renewDeadline", _) => "\"7s\"".to_owned(),
                        ("preset", _) => "\"redsync\"".to_owned(),
                        ("fetchTimeout" | "requestTimeout" | "replicaLagTimeMax", _) => {
                            "\"7s\"".to_owned()
                        }
                        // No master has more replicas.
                        ("minReplicasToWrite", _) => "2".to_owned(),
                        _ => sample(kind),
                    };
                    // Some are outside of those that have a log.
                    let with = if name == "outside" {
                        "\"log\":true,"
                    } else {
                        ""
                    };
                    let field = format!("{with}\"{name}\":{value}");
                    // And what is watched is kept on one.
                    let beside = if name == "watches" {
                        "\"raft\":{\"log\":true},"
                    } else {
                        ""
                    };
                    all.push((beside.to_owned() + &inside(field.clone()), field));
                }
            }
        }
    }

    #[test]
    fn every_field_of_the_table_is_read_and_written_as_it_was() {
        let mut all = Vec::new();
        samples(FILE, &|field| field, &mut all);
        assert!(all.len() > 30, "{}", all.len());
        for (field, written) in all {
            // Some of it is of elections over a store alone, or of one scheme of them, or of one among peers.
            let has = |words: &[&str]| words.iter().any(|word| field.contains(word));
            let scheme = if has(&["\"renewDeadline\""]) {
                "kubernetes"
            } else if has(&["\"lease\"", "\"s1\""]) {
                "redlock"
            } else if has(&["\"zab\""]) {
                "zab"
            } else if has(&["\"sentinel\""]) {
                "sentinel"
            } else if has(&["\"kraft\"", "\"brokers\""]) {
                "kraft"
            } else {
                "raft"
            };
            let read = |field: &str| {
                // Who takes part is changed where there is a log.
                let log = if field.contains("\"change\"") {
                    r#","raft":{"log":true}"#
                } else {
                    ""
                };
                let text = format!(r#"{{"tenure":1,"scheme":"{scheme}"{log}{field}}}"#);
                super::read(&text)
                    .unwrap_or_else(|refusal| panic!("{text}: {refusal}"))
                    .to_json()
            };
            let (usual, other) = (read(""), read(&format!(",{field}")));
            assert!(other.contains(&written), "{field}: {other}");
            assert!(!usual.contains(&written), "{field} differs from no default");
        }
    }
}
