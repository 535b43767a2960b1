//! The command line.

use crate::measure::What;
use crate::{
    Done, USAGE, bench, claims, classics, explore, measure, minimise, mutants, run, scale, schemes,
    sweep, trace, ttl,
};
use lexopt::prelude::{Long, Short, Value};
use std::fmt::Display;
use std::ops::Range;
use tenure::isr::Rule as BrokerRule;
use tenure::kraft::Rule as KraftRule;
use tenure::raft::Rule;
use tenure::sentinel::Rule as SentinelRule;
use tenure::zab::Rule as ZabRule;
use tenure_sim::export::Format;
use tenure_sim::measure::schemes::{Row, Trial};
use tenure_sim::measure::stages;
use tenure_sim::measure::{Setting, timing};
use tenure_sim::scenario::{
    broker_rule_names, kraft_rule_names, lease_rule_name, parse_seed, parse_span, rule_names,
    sentinel_rule_names, zab_rule_names,
};
use tenure_sim::schedule::{self, Among};
use tenure_sim::scheme::lease::Kind;
use tenure_sim::{Refusal, Scenario};

/// The shortest election timeout that is measured, in microseconds: a heartbeat is a third of it.
const MIN_TIMEOUT: u64 = 3;

/// The longest election timeout that is measured: each seed runs for many of them.
const MAX_TIMEOUT: u64 = 60_000_000;

/// What can be measured.
const MEASURES: &str = "failover, cold-start, minority, stale, jitter, reads";

/// Which seeds, on how many threads.
#[derive(Clone, Debug)]
pub(crate) struct Seeds {
    pub(crate) range: Range<u64>,
    pub(crate) threads: usize,
}

/// Options that several commands know.
struct Common {
    seeds: Option<u64>,
    from: u64,
    threads: usize,
}

impl Common {
    const fn new() -> Self {
        Self {
            seeds: None,
            from: 0,
            threads: 2,
        }
    }

    /// Takes an option, if it is a common one.
    fn take(&mut self, option: &str, parser: &mut lexopt::Parser) -> Result<bool, Refusal> {
        match option {
            "seeds" => self.seeds = Some(number(parser, "--seeds", 1, u64::MAX)?),
            "from" => self.from = number(parser, "--from", 0, u64::MAX)?,
            "threads" => self.threads = number(parser, "--threads", 1, 64)? as usize,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn seeds(&self, usual: u64) -> Result<Seeds, Refusal> {
        let count = self.seeds.unwrap_or(usual);
        let Some(end) = self.from.checked_add(count) else {
            return Err(refusal(
                "bad-number",
                "--from",
                "so many seeds from there on go beyond the last one",
                &format!("use at most {}", u64::MAX - count),
            ));
        };
        Ok(Seeds {
            range: self.from..end,
            threads: self.threads,
        })
    }
}

/// Options that say in what schedules are made.
#[derive(Default)]
struct Schemes {
    kind: Option<Kind>,
    peers: Option<Among>,
    off: Vec<String>,
    loses: bool,
    servers: Option<u8>,
}

impl Schemes {
    /// Takes an option, if it is one of these.
    fn take(&mut self, option: &str, parser: &mut lexopt::Parser) -> Result<bool, Refusal> {
        match option {
            "scheme" => {
                let name = text(parser, "--scheme")?;
                self.kind = Kind::ALL.into_iter().find(|kind| kind.name() == name);
                self.peers = Among::named(&name);
                if self.kind.is_none() && self.peers.is_none() && name != "raft" {
                    let names = Kind::ALL.map(Kind::name).join(", ");
                    return Err(refusal(
                        "unknown-name",
                        "--scheme",
                        &format!("{name} is not known"),
                        &format!("use one of raft, {names}, zab, sentinel, kraft, kafka"),
                    ));
                }
            }
            "off" => self.off.push(text(parser, "--off")?),
            "store-loses" => self.loses = true,
            "servers" => self.servers = Some(number(parser, "--servers", 1, 9)? as u8),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn setting(self) -> Result<schedule::Setting, Refusal> {
        let Some(kind) = self.kind else {
            if self.loses || self.servers.is_some() {
                let named = if self.loses {
                    "--store-loses"
                } else {
                    "--servers"
                };
                return Err(refusal(
                    "needs-store",
                    named,
                    "only an election over a store has this",
                    "name an election over a store with --scheme",
                ));
            }
            if let Some(peers) = self.peers {
                let off = self.off.iter();
                return Ok(schedule::Setting::among(match peers {
                    Among::Zab(_) => Among::Zab(
                        off.map(|name| named(name, "--off", &zab_rule_names(), &ZabRule::ALL))
                            .collect::<Result<_, _>>()?,
                    ),
                    Among::Sentinel(_) => Among::Sentinel(
                        off.map(|name| {
                            named(name, "--off", &sentinel_rule_names(), &SentinelRule::ALL)
                        })
                        .collect::<Result<_, _>>()?,
                    ),
                    Among::Kafka(_) => Among::Kafka(
                        off.map(|name| {
                            named(name, "--off", &broker_rule_names(), &BrokerRule::ALL)
                        })
                        .collect::<Result<_, _>>()?,
                    ),
                    Among::Kraft(_) => Among::Kraft(
                        off.map(|name| named(name, "--off", &kraft_rule_names(), &KraftRule::ALL))
                            .collect::<Result<_, _>>()?,
                    ),
                }));
            }
            let off = self.off.iter().map(|name| rule_named(name, "--off"));
            return Ok(schedule::Setting {
                off: off.collect::<Result<_, _>>()?,
                ..schedule::Setting::default()
            });
        };
        let servers = self.servers.unwrap_or(kind.servers());
        let cluster = kind.is_cluster() && !servers.is_multiple_of(2);
        if servers != kind.servers() && !(cluster && servers <= kind.most_servers()) {
            let most = kind.most_servers();
            return Err(refusal(
                "cluster-size",
                "--servers",
                "the store of this scheme is no cluster of so many servers, of which a majority has to agree",
                &format!("leave it out, or use an odd number up to {most}"),
            ));
        }
        let rules = kind.scheme().rules();
        let names: Vec<_> = rules.iter().copied().map(lease_rule_name).collect();
        let off = (self.off.iter()).map(|name| named(name, "--off", &names, rules));
        Ok(schedule::Setting {
            by_store: Some(schedule::ByStore {
                off: off.collect::<Result<_, _>>()?,
                loses: self.loses,
                servers,
                ..schedule::ByStore::of(kind)
            }),
            ..schedule::Setting::default()
        })
    }
}

/// Reads the command line and does what it says.
pub(crate) fn dispatch() -> Done {
    let mut parser = lexopt::Parser::from_env();
    match parser.next().map_err(|error| slip(&error))? {
        Some(Value(command)) => match command.to_str() {
            Some("run") => run_command(&mut parser),
            Some("trace") => trace_command(&mut parser),
            Some("explore") => explore::command(&mut parser),
            Some("sweep") => sweep_command(&mut parser),
            Some("minimise") => minimise_command(&mut parser),
            Some("mutants") => seeds_command(&mut parser, 10_000, mutants::mutants),
            Some("schedule") => schedule_command(&mut parser),
            Some("schema") => schema_command(&mut parser),
            Some("measure") => measure_command(&mut parser),
            Some("schemes") => schemes_command(&mut parser),
            Some("stages") => stages_command(&mut parser),
            Some("claims") => claims_command(&mut parser),
            Some("ttl") => ttl_command(&mut parser),
            Some("classics") => seeds_command(&mut parser, 200, classics::classics),
            Some("bench") => seeds_command(&mut parser, 10_000, bench::bench),
            Some("scale") => scale_command(&mut parser),
            Some("help") => help(),
            _ => Err(unknown(&command.to_string_lossy())),
        },
        Some(Long("help") | Short('h')) | None => help(),
        Some(Long("version") | Short('V')) => {
            println!("tenure-sim {}", env!("CARGO_PKG_VERSION"));
            Ok(true)
        }
        Some(other) => Err(slip(&other.unexpected())),
    }
}

pub(crate) fn help() -> Done {
    print!("{USAGE}");
    Ok(true)
}

fn run_command(parser: &mut lexopt::Parser) -> Done {
    let (mut file, mut seed, mut form) = (None, None, None);
    let mut choose = |chosen| match form.replace(chosen) {
        Some(other) if other != chosen => Err(refusal(
            "bad-argument",
            "run",
            "only one of --explain, --json and --hash can be printed",
            "leave the others out",
        )),
        _ => Ok(()),
    };
    while let Some(arg) = parser.next().map_err(|error| slip(&error))? {
        match arg {
            Long("explain") => choose(run::Form::Story)?,
            Long("json") => choose(run::Form::Json)?,
            Long("hash") => choose(run::Form::Hash)?,
            Long("seed") => seed = Some(number(parser, "--seed", 0, u64::MAX)?),
            Long("help") | Short('h') => return help(),
            Value(path) if file.is_none() => file = Some(path),
            other => return Err(slip(&other.unexpected())),
        }
    }
    let file = file.ok_or_else(|| no_file("run"))?;
    run::run(file.as_ref(), seed, form.unwrap_or(run::Form::Text))
}

fn trace_command(parser: &mut lexopt::Parser) -> Done {
    let (mut file, mut seed, mut format) = (None, None, Format::default());
    while let Some(arg) = parser.next().map_err(|error| slip(&error))? {
        match arg {
            Long("seed") => seed = Some(number(parser, "--seed", 0, u64::MAX)?),
            Long("format") => {
                let name = text(parser, "--format")?;
                format = Format::named(&name).ok_or_else(|| {
                    refusal(
                        "unknown-name",
                        "--format",
                        &format!("{name} is not known"),
                        "use one of jsonl, perfetto, shiviz",
                    )
                })?;
            }
            Long("help") | Short('h') => return help(),
            Value(path) if file.is_none() => file = Some(path),
            other => return Err(slip(&other.unexpected())),
        }
    }
    let file = file.ok_or_else(|| no_file("trace"))?;
    trace::trace(file.as_ref(), seed, format)
}

fn schema_command(parser: &mut lexopt::Parser) -> Done {
    match parser.next().map_err(|error| slip(&error))? {
        Some(Long("help") | Short('h')) => help(),
        Some(other) => Err(slip(&other.unexpected())),
        None => {
            print!("{}", Scenario::json_schema());
            Ok(true)
        }
    }
}

fn no_file(command: &str) -> Refusal {
    refusal(
        "missing-argument",
        command,
        "no file is named",
        "name a scenario file, or - for the standard input",
    )
}

fn sweep_command(parser: &mut lexopt::Parser) -> Done {
    let mut common = Common::new();
    let (mut wishes, mut file) = (sweep::Wishes::default(), None);
    let mut schemes = Schemes::default();
    while let Some(arg) = parser.next().map_err(|error| slip(&error))? {
        match arg {
            Long("help") | Short('h') => return help(),
            Long("twice") => wishes.twice = true,
            Long("minimise") => file = Some(text(parser, "--minimise")?),
            Long(option) => {
                let option = option.to_owned();
                if !common.take(&option, parser)? && !schemes.take(&option, parser)? {
                    return Err(unknown(&format!("--{option}")));
                }
            }
            other => return Err(slip(&other.unexpected())),
        }
    }
    wishes.setting = schemes.setting()?;
    wishes.minimise = file.as_ref().map(AsRef::as_ref);
    sweep::sweep(&common.seeds(10_000)?, wishes)
}

fn schedule_command(parser: &mut lexopt::Parser) -> Done {
    let seed = number(parser, "SEED", 0, u64::MAX)?;
    let mut schemes = Schemes::default();
    while let Some(arg) = parser.next().map_err(|error| slip(&error))? {
        match arg {
            Long("help") | Short('h') => return help(),
            Long(option) => {
                let option = option.to_owned();
                if !schemes.take(&option, parser)? {
                    return Err(unknown(&format!("--{option}")));
                }
            }
            other => return Err(slip(&other.unexpected())),
        }
    }
    sweep::schedule(seed, &schemes.setting()?)
}

fn minimise_command(parser: &mut lexopt::Parser) -> Done {
    let (mut file, mut seed, mut out) = (None, None, None);
    while let Some(arg) = parser.next().map_err(|error| slip(&error))? {
        match arg {
            Long("help") | Short('h') => return help(),
            Long("seed") => seed = Some(number(parser, "--seed", 0, u64::MAX)?),
            Long("out") => out = Some(text(parser, "--out")?),
            Value(path) if file.is_none() => file = Some(path),
            other => return Err(slip(&other.unexpected())),
        }
    }
    let file = file.ok_or_else(|| no_file("minimise"))?;
    minimise::command(file.as_ref(), seed, out.as_ref().map(AsRef::as_ref))
}

/// A command that is told its seeds and no more.
fn seeds_command(
    parser: &mut lexopt::Parser,
    usual: u64,
    command: impl FnOnce(&Seeds) -> Done,
) -> Done {
    let mut common = Common::new();
    while let Some(arg) = parser.next().map_err(|error| slip(&error))? {
        match arg {
            Long("help") | Short('h') => return help(),
            Long(option) => {
                let option = option.to_owned();
                if !common.take(&option, parser)? {
                    return Err(unknown(&format!("--{option}")));
                }
            }
            other => return Err(slip(&other.unexpected())),
        }
    }
    command(&common.seeds(usual)?)
}

fn measure_command(parser: &mut lexopt::Parser) -> Done {
    let mut common = Common::new();
    let (mut what, mut nodes, mut setting) = (None, None, Setting::default());
    while let Some(arg) = parser.next().map_err(|error| slip(&error))? {
        match arg {
            Long("help") | Short('h') => return help(),
            Long("nodes") => nodes = Some(number(parser, "--nodes", 1, 200)? as usize),
            Long("no-safe-mode") => setting.safe_mode = false,
            Long("log") => setting.log = true,
            Long("timeout") => {
                let text = text(parser, "--timeout")?;
                let range = text
                    .split_once("..")
                    .and_then(|(low, high)| Some((parse_span(low)?, parse_span(high)?)));
                let Some((low, high)) = range else {
                    return Err(refusal(
                        "bad-range",
                        "--timeout",
                        "this is not a range of durations",
                        "write it as 150ms..300ms",
                    ));
                };
                // The heartbeat goes by it, and may not vanish.
                if low < MIN_TIMEOUT {
                    return Err(refusal(
                        "too-small",
                        "--timeout",
                        "so short a timeout leaves no time for heartbeats",
                        "use at least 3us",
                    ));
                }
                if high > MAX_TIMEOUT {
                    return Err(refusal(
                        "too-large",
                        "--timeout",
                        "so long a timeout takes too long to measure",
                        "use at most 1min",
                    ));
                }
                setting.timing = timing(low, high);
            }
            Long(option) => {
                let option = option.to_owned();
                if !common.take(&option, parser)? {
                    return Err(unknown(&format!("--{option}")));
                }
            }
            Value(name) if what.is_none() => {
                let name = name.to_string_lossy().into_owned();
                what = Some(What::named(&name).ok_or_else(|| unknown_of(&name, MEASURES))?);
            }
            other => return Err(slip(&other.unexpected())),
        }
    }
    let what = what.ok_or_else(|| {
        refusal(
            "missing-argument",
            "measure",
            "nothing to measure is named",
            &format!("name one of {MEASURES}"),
        )
    })?;
    setting.nodes = nodes.unwrap_or(if what == What::Minority { 5 } else { 3 });
    if what == What::Minority && setting.nodes < 3 {
        return Err(refusal(
            "too-few-nodes",
            "--nodes",
            "so few nodes have no minority",
            "use at least 3",
        ));
    }
    measure::measure(what, setting, &common.seeds(what.usual_seeds())?)
}

fn schemes_command(parser: &mut lexopt::Parser) -> Done {
    let mut common = Common::new();
    let mut wishes = schemes::Wishes {
        rows: Row::all().collect(),
        trials: Trial::ALL.to_vec(),
        json: false,
    };
    while let Some(arg) = parser.next().map_err(|error| slip(&error))? {
        match arg {
            Long("help") | Short('h') => return help(),
            Long("scheme") => {
                wishes.rows = some_of(parser, "--scheme", Row::all().collect(), Row::name)?
            }
            Long("fault") => {
                wishes.trials = some_of(parser, "--fault", Trial::ALL.to_vec(), Trial::name)?
            }
            Long("json") => wishes.json = true,
            Long(option) => {
                let option = option.to_owned();
                if !common.take(&option, parser)? {
                    return Err(unknown(&format!("--{option}")));
                }
            }
            other => return Err(slip(&other.unexpected())),
        }
    }
    schemes::schemes(&common.seeds(1_000)?, wishes)
}

fn stages_command(parser: &mut lexopt::Parser) -> Done {
    let (mut common, mut json) = (Common::new(), false);
    let mut rows: Vec<stages::Row> = stages::Row::all().collect();
    while let Some(arg) = parser.next().map_err(|error| slip(&error))? {
        match arg {
            Long("help") | Short('h') => return help(),
            Long("scheme") => {
                let all = stages::Row::all().collect();
                rows = some_of(parser, "--scheme", all, stages::Row::name)?;
            }
            Long("json") => json = true,
            Long(option) => {
                let option = option.to_owned();
                if !common.take(&option, parser)? {
                    return Err(unknown(&format!("--{option}")));
                }
            }
            other => return Err(slip(&other.unexpected())),
        }
    }
    crate::stages::stages(&common.seeds(200)?, &rows, json)
}

fn claims_command(parser: &mut lexopt::Parser) -> Done {
    let (mut common, mut json) = (Common::new(), false);
    let mut named: Option<String> = None;
    while let Some(arg) = parser.next().map_err(|error| slip(&error))? {
        match arg {
            Long("help") | Short('h') => return help(),
            Long("claim") => named = Some(text(parser, "--claim")?),
            Long("json") => json = true,
            Long(option) => {
                let option = option.to_owned();
                if !common.take(&option, parser)? {
                    return Err(unknown(&format!("--{option}")));
                }
            }
            other => return Err(slip(&other.unexpected())),
        }
    }
    let mut wanted = tenure_sim::claims::all();
    if let Some(named) = named {
        let names: Vec<&str> = wanted.iter().map(|claim| claim.name).collect();
        let places = some_named(&named, "--claim", &names)?;
        let mut place = 0;
        wanted.retain(|_| {
            place += 1;
            places.contains(&(place - 1))
        });
    }
    claims::claims(&common.seeds(20)?, wanted, json)
}

fn ttl_command(parser: &mut lexopt::Parser) -> Done {
    let (mut common, mut json) = (Common::new(), false);
    let mut kinds = vec![Kind::Etcd, Kind::Sql];
    while let Some(arg) = parser.next().map_err(|error| slip(&error))? {
        match arg {
            Long("help") | Short('h') => return help(),
            Long("scheme") => kinds = some_of(parser, "--scheme", Kind::ALL.to_vec(), Kind::name)?,
            Long("json") => json = true,
            Long(option) => {
                let option = option.to_owned();
                if !common.take(&option, parser)? {
                    return Err(unknown(&format!("--{option}")));
                }
            }
            other => return Err(slip(&other.unexpected())),
        }
    }
    ttl::ttl(&common.seeds(1_000)?, &kinds, json)
}

/// Those that are named, with commas between, in the order of all.
fn some_of<T: Copy>(
    parser: &mut lexopt::Parser,
    place: &str,
    all: Vec<T>,
    name: fn(T) -> &'static str,
) -> Result<Vec<T>, Refusal> {
    let text = text(parser, place)?;
    let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
    let places = some_named(&text, place, &names)?;
    Ok(places.into_iter().map(|place| all[place]).collect())
}

/// The places of those that are named, with commas between, in the order of all.
fn some_named(text: &str, place: &str, names: &[&str]) -> Result<Vec<usize>, Refusal> {
    let named: Vec<&str> = text.split(',').collect();
    for wanted in &named {
        if !names.contains(wanted) {
            return Err(refusal(
                "unknown-name",
                place,
                &format!("{wanted} is not known"),
                &format!("use some of {}", names.join(", ")),
            ));
        }
    }
    let is_named = |place: &usize| named.contains(&names[*place]);
    Ok((0..names.len()).filter(is_named).collect())
}

fn scale_command(parser: &mut lexopt::Parser) -> Done {
    let (mut nodes, mut minutes) = (None, None);
    while let Some(arg) = parser.next().map_err(|error| slip(&error))? {
        match arg {
            Long("help") | Short('h') => return help(),
            Long("nodes") => nodes = Some(number(parser, "--nodes", 1, 1_001)?),
            Long("minutes") => minutes = Some(number(parser, "--minutes", 1, 1_440)?),
            other => return Err(slip(&other.unexpected())),
        }
    }
    match (nodes, minutes) {
        (None, None) => scale::scale(),
        (Some(nodes), Some(minutes)) => scale::row(scale::Size { nodes, minutes }),
        _ => Err(refusal(
            "missing-argument",
            "scale",
            "a run has both a number of nodes and a duration",
            "write --nodes N --minutes M",
        )),
    }
}

/// A rule of the scheme, by its name in files.
pub(crate) fn rule(parser: &mut lexopt::Parser, place: &str) -> Result<Rule, Refusal> {
    rule_named(&text(parser, place)?, place)
}

fn rule_named(name: &str, place: &str) -> Result<Rule, Refusal> {
    named(name, place, &rule_names(), &Rule::ALL)
}

fn named<R: Copy>(name: &str, place: &str, names: &[&str], all: &[R]) -> Result<R, Refusal> {
    let known = names.iter().position(|known| *known == name);
    known.map(|known| all[known]).ok_or_else(|| {
        let remedy = format!("use one of {}", names.join(", "));
        refusal(
            "unknown-name",
            place,
            &format!("{name} is no rule"),
            &remedy,
        )
    })
}

pub(crate) fn text(parser: &mut lexopt::Parser, place: &str) -> Result<String, Refusal> {
    let value = parser
        .value()
        .map_err(|_| refusal("missing-argument", place, "the value is missing", "add it"))?;
    Ok(value.to_string_lossy().into_owned())
}

pub(crate) fn number(
    parser: &mut lexopt::Parser,
    place: &str,
    low: u64,
    high: u64,
) -> Result<u64, Refusal> {
    let text = text(parser, place)?;
    parse_seed(&text)
        .filter(|number| (low..=high).contains(number))
        .ok_or_else(|| {
            let reason = format!("\"{text}\" is not a number that can be used here");
            refusal(
                "bad-number",
                place,
                &reason,
                &format!("use a whole number from {low} to {high}"),
            )
        })
}

pub(crate) fn unknown(what: &str) -> Refusal {
    refusal(
        "unknown-name",
        "command line",
        &format!("{what} is not known"),
        "see tenure-sim --help",
    )
}

/// As [`unknown`], where there are only these.
pub(crate) fn unknown_of(what: &str, known: &str) -> Refusal {
    refusal(
        "unknown-name",
        "command line",
        &format!("{what} is not known"),
        &format!("use one of {known}"),
    )
}

pub(crate) fn slip(error: &dyn Display) -> Refusal {
    refusal(
        "bad-argument",
        "command line",
        &error.to_string(),
        "see tenure-sim --help",
    )
}

pub(crate) fn refusal(code: &'static str, place: &str, reason: &str, remedy: &str) -> Refusal {
    Refusal {
        code,
        place: place.to_owned(),
        reason: reason.to_owned(),
        remedy: remedy.to_owned(),
    }
}
