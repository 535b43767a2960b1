//! The file format, version 1: reading, checking and writing.

use super::units::{Percent, SEPARATOR, Seed, Span, explain};
use super::{Clients, Refusal, Scenario, Title, VERSION};
use crate::app::Takeover;
use crate::check::{Check, Outcome};
use crate::fault::{Action, Fault, Who};
use crate::physics::network::Weather;
use crate::scheme::raft::Setup;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use tenure::Duration;
use tenure::raft::{Rule, Timing};

/// The most nodes a scenario may have.
const MAX_NODES: u16 = 200;
/// The longest run: one hour.
const MAX_DURATION: u64 = 3_600_000_000;
/// The most actions a scenario may have.
const MAX_FAULTS: usize = 10_000;
/// The finest rhythm of heartbeats and clients: finer ones drown a run in events.
const MIN_PERIOD: u64 = 1_000;

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct File {
    tenure: u32,
    #[serde(default, skip_serializing_if = "TitleText::is_empty")]
    title: TitleText,
    seed: Option<Seed>,
    scheme: SchemeName,
    nodes: Option<u16>,
    #[serde(default)]
    raft: RaftPart,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rules_off: Vec<RuleName>,
    #[serde(default)]
    network: NetworkPart,
    #[serde(default)]
    disk: DiskPart,
    #[serde(default)]
    client: ClientPart,
    leader_within: Option<Span>,
    duration: Option<Span>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    faults: Vec<FaultPart>,
    #[serde(default, skip_serializing_if = "ExpectPart::is_empty")]
    expect: ExpectPart,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct TitleText {
    #[serde(default)]
    en: String,
    #[serde(default)]
    zh: String,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RaftPart {
    election_timeout: Option<[Span; 2]>,
    heartbeat: Option<Span>,
    rate_bound: Option<Percent>,
    safe_mode: Option<bool>,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct NetworkPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<[Span; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loss: Option<Percent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicate: Option<Percent>,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct DiskPart {
    write: Option<Span>,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ClientPart {
    every: Option<Span>,
    think: Option<Span>,
    write_delay: Option<Span>,
    takeover: Option<TakeoverName>,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ExpectPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    one_leader_per_term: Option<OutcomeName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    one_vote_per_term: Option<OutcomeName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_rises: Option<OutcomeName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    believed_leaders: Option<OutcomeName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stale_write_fenced: Option<OutcomeName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stale_write_unfenced: Option<OutcomeName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    leader_again: Option<OutcomeName>,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct DiskFault {
    node: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    write: Option<Span>,
}

/// One time and one action.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct FaultPart {
    at: Span,
    #[serde(skip_serializing_if = "Option::is_none")]
    crash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    restart: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pause: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resume: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<[String; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    heal: Option<Healed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partition: Option<Vec<Vec<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resign: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    campaign: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<NetworkPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disk: Option<DiskFault>,
}

/// `"all"`, or the two ends of one direction.
enum Healed {
    All,
    Link([String; 2]),
}

struct SchemeName;
struct RuleName(Rule);
struct TakeoverName(Takeover);
struct OutcomeName(Outcome);

/// Only the version: read before anything else, for the rest of another version means something else.
#[derive(Deserialize)]
struct VersionOnly {
    tenure: Option<u64>,
}

const TAKEOVERS: [(&str, Takeover); 2] = [("fence-first", Takeover::FenceFirst), ("read-first", Takeover::ReadFirst)];

impl TitleText {
    fn is_empty(&self) -> bool {
        self.en.is_empty() && self.zh.is_empty()
    }
}

impl ExpectPart {
    fn is_empty(&self) -> bool {
        Check::ALL.into_iter().all(|check| self.of(check).is_none())
    }

    const fn of(&self, check: Check) -> &Option<OutcomeName> {
        match check {
            Check::OneLeaderPerTerm => &self.one_leader_per_term,
            Check::OneVotePerTerm => &self.one_vote_per_term,
            Check::TokenRises => &self.token_rises,
            Check::BelievedLeaders => &self.believed_leaders,
            Check::StaleWriteFenced => &self.stale_write_fenced,
            Check::StaleWriteUnfenced => &self.stale_write_unfenced,
            Check::LeaderAgain => &self.leader_again,
        }
    }
}

/// Text that must be one of some names.
fn one_of<'de, D: Deserializer<'de>, T>(input: D, names: impl Iterator<Item = (String, T)>) -> Result<T, D::Error> {
    let text = String::deserialize(input)?;
    let mut known = String::new();
    for (name, value) in names {
        if name == text {
            return Ok(value);
        }
        if !known.is_empty() {
            known.push_str(", ");
        }
        known.push_str(&name);
    }
    let mut reason = String::from("\"");
    reason.extend(text.chars().take(40));
    reason.push_str("\" is not known here");
    Err(D::Error::custom(explain("unknown-name", &reason, &("use one of: ".to_owned() + &known))))
}

impl<'de> Deserialize<'de> for SchemeName {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        one_of(input, std::iter::once(("raft".to_owned(), Self)))
    }
}

impl<'de> Deserialize<'de> for RuleName {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        one_of(input, Rule::ALL.into_iter().map(|rule| (rule_name(rule), Self(rule))))
    }
}

impl<'de> Deserialize<'de> for TakeoverName {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        one_of(input, TAKEOVERS.into_iter().map(|(name, takeover)| (name.to_owned(), Self(takeover))))
    }
}

impl<'de> Deserialize<'de> for OutcomeName {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        one_of(input, Outcome::ALL.into_iter().map(|outcome| (outcome.name().to_owned(), Self(outcome))))
    }
}

impl<'de> Deserialize<'de> for Healed {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Healed;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"all\", or two nodes")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Healed, E> {
                match text {
                    "all" => Ok(Healed::All),
                    _ => Err(E::custom(explain("unknown-name", "this is neither \"all\" nor a link", "write \"all\", or the two ends of a direction, as [\"n1\", \"n2\"]"))),
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut ends: A) -> Result<Healed, A::Error> {
                let (from, to) = (ends.next_element()?, ends.next_element()?);
                match (from, to, ends.next_element::<String>()?) {
                    (Some(from), Some(to), None) => Ok(Healed::Link([from, to])),
                    _ => Err(A::Error::custom(explain("wrong-length", "a link has two ends", "write two nodes, as [\"n1\", \"n2\"]"))),
                }
            }
        }
        input.deserialize_any(Either)
    }
}

impl Serialize for SchemeName {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.serialize_str("raft")
    }
}

impl Serialize for RuleName {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.serialize_str(&rule_name(self.0))
    }
}

impl Serialize for TakeoverName {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        let name = TAKEOVERS.iter().find(|(_, takeover)| *takeover == self.0);
        output.serialize_str(name.map_or("", |(name, _)| name))
    }
}

impl Serialize for OutcomeName {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.serialize_str(self.0.name())
    }
}

impl Serialize for Healed {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All => output.serialize_str("all"),
            Self::Link(ends) => ends.serialize(output),
        }
    }
}

/// The name of a rule in files: its name in the core, in kebab case.
fn rule_name(rule: Rule) -> String {
    let mut name = String::new();
    for letter in format!("{rule:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// Reads and checks a file.
pub(super) fn read(json: &str) -> Result<Scenario, Refusal> {
    let VersionOnly { tenure } = serde_json::from_str(json).map_err(|error| refused(&error, ""))?;
    match tenure {
        None => return Err(Refusal::new("no-version", "tenure", "the version of the format is missing", "add \"tenure\": 1")),
        Some(version) if version != u64::from(VERSION) => {
            let reason = format!("version {version} of the format is not known");
            return Err(Refusal::new("version", "tenure", reason, "use version 1, or a newer Tenure"));
        }
        Some(_) => {}
    }
    let mut input = serde_json::Deserializer::from_str(json);
    let file: File = serde_path_to_error::deserialize(&mut input).map_err(|error| {
        let path = error.path().to_string();
        refused(error.inner(), if path == "." { "" } else { &path })
    })?;
    input.end().map_err(|error| refused(&error, ""))?;
    check(file)
}

/// An error of the parser, with the place and the line.
fn refused(error: &serde_json::Error, path: &str) -> Refusal {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let text = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
    let mut place = path.to_owned();
    if line > 0 {
        place.push_str(if path.is_empty() { "line " } else { " (line " });
        place.push_str(&format!("{line}, column {column}"));
        place.push_str(if path.is_empty() { "" } else { ")" });
    }
    let mut parts = text.split(SEPARATOR);
    if let (Some(code), Some(reason), Some(remedy)) = (parts.next(), parts.next(), parts.next()) {
        let code = ["bad-duration", "bad-percentage", "bad-seed", "unknown-name", "wrong-length"].into_iter().find(|known| *known == code);
        return Refusal::new(code.unwrap_or("wrong-value"), place, reason, remedy);
    }
    let (code, remedy) = if text.starts_with("unknown field") {
        ("unknown-field", "remove it, or write one of the expected names")
    } else if text.starts_with("missing field") {
        ("missing-field", "add it")
    } else if text.starts_with("duplicate field") {
        ("duplicate-field", "write it once")
    } else if error.is_data() {
        ("wrong-type", "write what is expected")
    } else {
        ("syntax", "make it valid JSON")
    };
    Refusal::new(code, place, text, remedy)
}

fn check(file: File) -> Result<Scenario, Refusal> {
    let nodes = file.nodes.unwrap_or(5);
    if nodes == 0 || nodes > MAX_NODES {
        return Err(Refusal::new("node-count", "nodes", format!("{nodes} nodes cannot be run"), format!("use 1 to {MAX_NODES}")));
    }
    let nodes = usize::from(nodes);
    let default = Timing::default();
    let [election_min, election_max] = match file.raft.election_timeout {
        Some([low, high]) => [low.0, high.0],
        None => [default.election_min.as_micros(), default.election_max.as_micros()],
    };
    let timing = Timing {
        election_min: Duration::from_micros(election_min),
        election_max: Duration::from_micros(election_max),
        heartbeat: file.raft.heartbeat.map_or(default.heartbeat, |span| Duration::from_micros(span.0)),
        rate_bound: file.raft.rate_bound.map_or(default.rate_bound, |share| share.0),
    };
    let off: Vec<Rule> = file.rules_off.iter().map(|rule| rule.0).collect();
    let seed = file.seed.map_or(1, |seed| seed.0);
    let setup = Setup::new(nodes, timing, file.raft.safe_mode.unwrap_or(true), &off, seed).map_err(|error| {
        let text = error.to_string();
        let (reason, remedy) = text.split_once(": ").or_else(|| text.split_once("; ")).unwrap_or((&text, "change it"));
        Refusal::new("unsafe-config", "raft", reason, remedy)
    })?;
    at_least("raft.heartbeat", timing.heartbeat.as_micros(), MIN_PERIOD, "1ms")?;

    let usual = Weather { latency_min: 5_000, latency_max: 10_000, loss: 0, duplicate: 0 };
    let weather = network("network", &file.network, usual)?;
    let disk_write = file.disk.write.map_or(1_000, |span| span.0);
    let clients = Clients {
        every: file.client.every.map_or(25_000, |span| span.0),
        think: file.client.think.map_or(0, |span| span.0),
        write_delay: file.client.write_delay.map_or(0, |span| span.0),
        takeover: file.client.takeover.map_or(Takeover::FenceFirst, |name| name.0),
    };
    at_least("client.every", clients.every, MIN_PERIOD, "1ms")?;
    let duration = file.duration.map_or(60_000_000, |span| span.0);
    if duration == 0 || duration > MAX_DURATION {
        return Err(Refusal::new("duration", "duration", "a run of this length cannot be made", "use more than 0ms and at most 60min"));
    }
    for (place, span) in [("disk.write", disk_write), ("client.think", clients.think), ("client.writeDelay", clients.write_delay), ("client.every", clients.every)] {
        at_most_an_hour(place, span)?;
    }
    if file.faults.len() > MAX_FAULTS {
        return Err(Refusal::new("too-many", "faults", "more actions than can be run", format!("use at most {MAX_FAULTS}")));
    }
    let mut faults = Vec::with_capacity(file.faults.len());
    for (place, part) in file.faults.iter().enumerate() {
        let place = format!("faults[{place}]");
        if part.at.0 > duration {
            return Err(Refusal::new("after-end", place + ".at", "this is after the end of the run", "set it earlier, or raise duration"));
        }
        let action = action(&place, part, nodes, weather, disk_write)?;
        faults.push(Fault { at: part.at.0, action });
    }
    faults.sort_by_key(|fault| fault.at);
    let expect = Check::ALL.into_iter().filter_map(|check| file.expect.of(check).as_ref().map(|name| (check, name.0))).collect();
    Ok(Scenario {
        title: Title { en: file.title.en, zh: file.title.zh },
        seed,
        nodes,
        timing,
        off,
        setup,
        weather,
        disk_write,
        clients,
        leader_within: file.leader_within.map_or(3_000_000, |span| span.0),
        duration,
        faults,
        expect,
    })
}

fn at_least(place: &str, micros: u64, least: u64, named: &str) -> Result<(), Refusal> {
    if micros < least {
        return Err(Refusal::new("too-small", place, "this is too short to be run", "use at least ".to_owned() + named));
    }
    Ok(())
}

fn at_most_an_hour(place: &str, micros: u64) -> Result<(), Refusal> {
    if micros > MAX_DURATION {
        return Err(Refusal::new("too-large", place, "this is longer than any run", "use at most 60min"));
    }
    Ok(())
}

fn network(place: &str, part: &NetworkPart, base: Weather) -> Result<Weather, Refusal> {
    let [latency_min, latency_max] = part.latency.map_or([base.latency_min, base.latency_max], |[low, high]| [low.0, high.0]);
    let latency = place.to_owned() + ".latency";
    // At latency zero, cause and effect would share an instant.
    at_least(&latency, latency_min, 1, "1us")?;
    at_most_an_hour(&latency, latency_max)?;
    if latency_max < latency_min {
        return Err(Refusal::new("empty-range", latency, "the range ends before it begins", "write the shorter latency first"));
    }
    let loss = part.loss.map_or(base.loss, |share| share.0);
    let duplicate = part.duplicate.map_or(base.duplicate, |share| share.0);
    Ok(Weather { latency_min, latency_max, loss, duplicate })
}

fn action(place: &str, part: &FaultPart, nodes: usize, weather: Weather, disk_write: u64) -> Result<Action, Refusal> {
    let named = |field: &str, name: &str, roles: &[(&str, Who)]| who(&format!("{place}.{field}"), name, nodes, roles);
    let running = [("leader", Who::Leader), ("follower", Who::Follower)];
    let crashed = [("crashed", Who::Crashed)];
    let paused = [("paused", Who::Paused)];
    let any = [("leader", Who::Leader), ("follower", Who::Follower), ("crashed", Who::Crashed), ("paused", Who::Paused)];
    let mut actions = Vec::new();
    if let Some(name) = &part.crash {
        actions.push(Action::Crash(named("crash", name, &[running[0], running[1], paused[0]])?));
    }
    if let Some(name) = &part.restart {
        actions.push(Action::Restart(named("restart", name, &crashed)?));
    }
    if let Some(name) = &part.pause {
        actions.push(Action::Pause(named("pause", name, &running)?));
    }
    if let Some(name) = &part.resume {
        actions.push(Action::Resume(named("resume", name, &paused)?));
    }
    if let Some([from, to]) = &part.cut {
        actions.push(link(place, "cut", from, to, nodes, &any).map(|(from, to)| Action::Cut(from, to))?);
    }
    match &part.heal {
        Some(Healed::All) => actions.push(Action::HealAll),
        Some(Healed::Link([from, to])) => {
            actions.push(link(place, "heal", from, to, nodes, &any).map(|(from, to)| Action::Heal(from, to))?);
        }
        None => {}
    }
    if let Some(groups) = &part.partition {
        actions.push(Action::Partition(partition(place, groups, nodes)?));
    }
    if let Some(name) = &part.resign {
        actions.push(Action::Resign(named("resign", name, &running)?));
    }
    if let Some(name) = &part.campaign {
        actions.push(Action::Campaign(named("campaign", name, &running)?));
    }
    if let Some(part) = &part.network {
        actions.push(Action::Network(network(&format!("{place}.network"), part, weather)?));
    }
    if let Some(DiskFault { node, write }) = &part.disk {
        let takes = write.map_or(disk_write, |span| span.0);
        at_most_an_hour(&format!("{place}.disk.write"), takes)?;
        actions.push(Action::Disk(named("disk.node", node, &any)?, takes));
    }
    match (actions.pop(), actions.is_empty()) {
        (Some(action), true) => Ok(action),
        (None, _) => Err(Refusal::new("no-action", place, "no action is named", "add one, as \"crash\": \"leader\"")),
        (Some(_), false) => Err(Refusal::new("two-actions", place, "more than one action is named", "write one entry for each")),
    }
}

fn link(place: &str, field: &str, from: &str, to: &str, nodes: usize, roles: &[(&str, Who)]) -> Result<(Who, Who), Refusal> {
    let place = format!("{place}.{field}");
    let (from, to) = (who(&format!("{place}[0]"), from, nodes, roles)?, who(&format!("{place}[1]"), to, nodes, roles)?);
    if from == to {
        return Err(Refusal::new("no-link", place, "a node has no link to itself", "name two nodes"));
    }
    Ok((from, to))
}

fn partition(place: &str, groups: &[Vec<String>], nodes: usize) -> Result<Vec<Vec<Who>>, Refusal> {
    let roles = [("leader", Who::Leader), ("follower", Who::Follower), ("rest", Who::Rest)];
    let mut named: Vec<Who> = Vec::new();
    let mut result = Vec::with_capacity(groups.len());
    for (number, group) in groups.iter().enumerate() {
        let mut members = Vec::with_capacity(group.len());
        for (member, name) in group.iter().enumerate() {
            let place = format!("{place}.partition[{number}][{member}]");
            let who = who(&place, name, nodes, &roles)?;
            if who != Who::Follower && named.contains(&who) {
                return Err(Refusal::new("named-twice", place, "this node is in two groups", "name each node once"));
            }
            named.push(who);
            members.push(who);
        }
        result.push(members);
    }
    let all_named = !named.iter().all(|who| matches!(who, Who::Node(_))) || named.len() == nodes;
    if !all_named || named.len() > nodes + 1 {
        let remedy = "name every node once, or add \"rest\" to one group";
        return Err(Refusal::new("incomplete", format!("{place}.partition"), "the groups do not hold every node", remedy));
    }
    Ok(result)
}

fn who(place: &str, name: &str, nodes: usize, roles: &[(&str, Who)]) -> Result<Who, Refusal> {
    if let Some((_, who)) = roles.iter().find(|(role, _)| *role == name) {
        return Ok(*who);
    }
    let number = name.strip_prefix('n').filter(|digits| !digits.starts_with(['0', '+'])).and_then(|digits| digits.parse::<u16>().ok());
    match number {
        Some(number) if (1..=nodes).contains(&usize::from(number)) => Ok(Who::Node(number - 1)),
        _ => {
            let mut reason = String::from("there is no node \"");
            reason.extend(name.chars().take(40));
            reason.push_str("\" here");
            let mut remedy = format!("use n1 to n{nodes}");
            for (role, _) in roles {
                remedy.push_str(", ");
                remedy.push_str(role);
            }
            Err(Refusal::new("unknown-node", place, reason, remedy))
        }
    }
}

/// Writes a file that reads back as the scenario.
pub(super) fn write(scenario: &Scenario) -> String {
    let span = |micros: u64| Some(Span(micros));
    let Timing { election_min, election_max, heartbeat, rate_bound } = scenario.timing;
    let expected = |check: Check| scenario.expect.iter().find(|(of, _)| *of == check).map(|(_, outcome)| OutcomeName(*outcome));
    let file = File {
        tenure: VERSION,
        title: TitleText { en: scenario.title.en.clone(), zh: scenario.title.zh.clone() },
        seed: Some(Seed(scenario.seed)),
        scheme: SchemeName,
        nodes: Some(scenario.nodes as u16),
        raft: RaftPart {
            election_timeout: Some([Span(election_min.as_micros()), Span(election_max.as_micros())]),
            heartbeat: span(heartbeat.as_micros()),
            rate_bound: Some(Percent(rate_bound)),
            safe_mode: Some(scenario.setup.safe_mode()),
        },
        rules_off: scenario.off.iter().map(|rule| RuleName(*rule)).collect(),
        network: network_part(scenario.weather),
        disk: DiskPart { write: span(scenario.disk_write) },
        client: ClientPart {
            every: span(scenario.clients.every),
            think: span(scenario.clients.think),
            write_delay: span(scenario.clients.write_delay),
            takeover: Some(TakeoverName(scenario.clients.takeover)),
        },
        leader_within: span(scenario.leader_within),
        duration: span(scenario.duration),
        faults: scenario.faults.iter().map(fault_part).collect(),
        expect: ExpectPart {
            one_leader_per_term: expected(Check::OneLeaderPerTerm),
            one_vote_per_term: expected(Check::OneVotePerTerm),
            token_rises: expected(Check::TokenRises),
            believed_leaders: expected(Check::BelievedLeaders),
            stale_write_fenced: expected(Check::StaleWriteFenced),
            stale_write_unfenced: expected(Check::StaleWriteUnfenced),
            leader_again: expected(Check::LeaderAgain),
        },
    };
    // Writing to memory, and every key is text: nothing here can fail.
    serde_json::to_string(&file).unwrap_or_default()
}

fn network_part(weather: Weather) -> NetworkPart {
    NetworkPart {
        latency: Some([Span(weather.latency_min), Span(weather.latency_max)]),
        loss: Some(Percent(weather.loss)),
        duplicate: Some(Percent(weather.duplicate)),
    }
}

fn fault_part(fault: &Fault) -> FaultPart {
    let mut part = FaultPart {
        at: Span(fault.at),
        crash: None,
        restart: None,
        pause: None,
        resume: None,
        cut: None,
        heal: None,
        partition: None,
        resign: None,
        campaign: None,
        network: None,
        disk: None,
    };
    match &fault.action {
        Action::Crash(who) => part.crash = Some(name(*who)),
        Action::Restart(who) => part.restart = Some(name(*who)),
        Action::Pause(who) => part.pause = Some(name(*who)),
        Action::Resume(who) => part.resume = Some(name(*who)),
        Action::Cut(from, to) => part.cut = Some([name(*from), name(*to)]),
        Action::Heal(from, to) => part.heal = Some(Healed::Link([name(*from), name(*to)])),
        Action::HealAll => part.heal = Some(Healed::All),
        Action::Partition(groups) => {
            part.partition = Some(groups.iter().map(|group| group.iter().map(|who| name(*who)).collect()).collect());
        }
        Action::Resign(who) => part.resign = Some(name(*who)),
        Action::Campaign(who) => part.campaign = Some(name(*who)),
        Action::Network(weather) => part.network = Some(network_part(*weather)),
        Action::Disk(who, takes) => part.disk = Some(DiskFault { node: name(*who), write: Some(Span(*takes)) }),
    }
    part
}

fn name(who: Who) -> String {
    match who {
        Who::Node(node) => format!("n{}", node + 1),
        Who::Leader => "leader".to_owned(),
        Who::Follower => "follower".to_owned(),
        Who::Crashed => "crashed".to_owned(),
        Who::Paused => "paused".to_owned(),
        Who::Rest => "rest".to_owned(),
    }
}
