//! How values read in a trace, and how a message is written in a script.
//!
//! Everything is read off its `Debug` form, so that a message, event or record that is added to the protocol appears
//! without a change here. What a trace says shorter than `Debug` is said in [`Value::fmt`], and nowhere else.

use std::fmt::{self, Debug};
use tenure::log::{Position, Shape};
use tenure::raft::Message;
use tenure::{Duration, Instant, NodeId};

/// A value as a trace tells it.
pub(crate) fn words(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    let mut rest = text.as_str();
    Value::parse(&mut rest).to_string()
}

/// A message as a trace tells it. Rounds of heartbeats are told by when they were sent; by their numbers too where reads
/// may wait for them.
pub(crate) fn said(message: &Message, log: bool) -> String {
    let mut message = message.clone();
    if let Message::Heartbeat { round, .. } | Message::HeartbeatAck { round, .. } = &mut message
        && !log
    {
        *round = 0;
    }
    words(&message)
}

/// The shape of a log as a script writes it: `1x3,2x1`, after what was compacted away.
pub(crate) fn shape(log: &Shape) -> String {
    let runs: Vec<String> = log
        .runs()
        .map(|(term, count)| format!("{term}x{count}"))
        .collect();
    let runs = if runs.is_empty() {
        "none".into()
    } else {
        runs.join(",")
    };
    match log.base() {
        Position::START => runs,
        base => format!("{runs} after {}", words(&base)),
    }
}

/// Microseconds as a trace tells them.
pub(crate) fn time(micros: u64) -> String {
    match micros {
        u64::MAX => "forever".into(),
        _ if micros.is_multiple_of(1_000) => format!("{}ms", micros / 1_000),
        _ => format!("{}.{:03}ms", micros / 1_000, micros % 1_000),
    }
}

/// A value in the grammar of derived `Debug`.
enum Value {
    /// A number or a name alone.
    Plain(String),
    /// `Name(…)`, `(…)` or `[…]`.
    Items(String, Vec<Value>),
    /// `Name { … }`.
    Fields(String, Vec<(String, Value)>),
}

impl Value {
    fn parse(rest: &mut &str) -> Self {
        let name = take_while(rest, |c| c.is_alphanumeric() || c == '_');
        if take(rest, " { ") {
            let mut fields = Vec::new();
            loop {
                let field = take_while(rest, |c| c != ':');
                take(rest, ": ");
                fields.push((field, Self::parse(rest)));
                if !take(rest, ", ") {
                    break;
                }
            }
            take(rest, " }");
            return Self::Fields(name, fields);
        }
        let Some(close) = [('(', ")"), ('[', "]")]
            .into_iter()
            .find_map(|(open, close)| rest.starts_with(open).then_some(close))
        else {
            return Self::Plain(name);
        };
        *rest = &rest[1..];
        let mut items = Vec::new();
        while !take(rest, close) {
            items.push(Self::parse(rest));
            assert!(
                take(rest, ", ") || rest.starts_with(close),
                "not the Debug form of a value: {rest}"
            );
        }
        Self::Items(name, items)
    }

    fn number(&self) -> u64 {
        self.to_string().parse().expect("a number")
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(name) if name == "None" => f.write_str("none"),
            Self::Plain(name) => f.write_str(name),
            Self::Items(name, items) => match (name.as_str(), &items[..]) {
                ("Instant" | "Duration", [micros]) => f.write_str(&time(micros.number())),
                ("NodeId", [id]) => write!(f, "n{id}"),
                ("Some", [value]) => write!(f, "{value}"),
                _ => {
                    let items = items.iter().map(Self::to_string).collect::<Vec<_>>();
                    let space = if name.is_empty() { "" } else { " " };
                    write!(f, "{name}{space}{}", items.join(" "))
                }
            },
            Self::Fields(name, fields) => match (name.as_str(), &fields[..]) {
                ("Run", [(_, term), (_, count)]) if count.number() > 0 => {
                    write!(f, "{term}x{count}")
                }
                ("Run", _) => f.write_str("none"),
                ("Change", [(_, term), (_, to)]) => write!(f, "{term}x1 that makes it {to}"),
                // How many vote follows from who is in it.
                ("Membership", [(_, members), ..]) => write!(f, "{members}"),
                ("Member", [(_, id), (_, part)]) => match part.to_string().as_str() {
                    "Voter" => write!(f, "{id}"),
                    part => write!(f, "{id} ({part})"),
                },
                ("Position", [(_, term), (_, index)]) => write!(f, "{term}:{index}"),
                // The generation is 0 unless a test says otherwise.
                ("Token", [(_, generation), (_, counter)]) if generation.number() == 0 => {
                    write!(f, "{counter}")
                }
                ("Tenure", [(_, token), (_, until)]) => write!(f, "{token} until {until}"),
                ("Leader", [(_, node), (_, token)]) => write!(f, "{node} in {token}"),
                _ => {
                    // What the words for its fields say already.
                    let name = match name.as_str() {
                        "Record" | "Better" => "",
                        name => name,
                    };
                    f.write_str(name)?;
                    let told = fields
                        .iter()
                        .filter(|(field, value)| !says_nothing(field, &value.to_string()))
                        .map(|(field, value)| format!("{field} {value}"))
                        .collect::<Vec<_>>();
                    let space = if name.is_empty() { "" } else { " " };
                    write!(f, "{space}{}", told.join(", "))
                }
            },
        }
    }
}

/// A field that most messages of an election carry for nothing.
fn says_nothing(field: &str, value: &str) -> bool {
    match field {
        "generation" | "released" | "round" | "commit" | "matched" => value == "0",
        "better" => value == "none",
        "orderly" => value == "false",
        _ => false,
    }
}

fn take(rest: &mut &str, expected: &str) -> bool {
    let after = rest.strip_prefix(expected);
    *rest = after.unwrap_or(rest);
    after.is_some()
}

fn take_while(rest: &mut &str, belongs: impl Fn(char) -> bool) -> String {
    let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
    let (taken, after) = rest.split_at(end);
    *rest = after;
    taken.into()
}

/// `n3`.
pub(crate) fn node(word: &str) -> Result<NodeId, String> {
    let id = word.strip_prefix('n').and_then(|id| id.parse().ok());
    id.map(NodeId)
        .ok_or_else(|| format!("{word} is no node, which is n1, n2, …"))
}

/// `150ms` or `30us`.
pub(crate) fn span(word: &str) -> Result<Duration, String> {
    let ms = word.strip_suffix("ms").map(|number| (number, 1_000));
    let us = word.strip_suffix("us").map(|number| (number, 1));
    let micros = ms
        .or(us)
        .and_then(|(number, unit)| Some(number.parse::<u64>().ok()? * unit));
    micros
        .map(Duration::from_micros)
        .ok_or_else(|| format!("{word} is no time, which is 150ms or 30us"))
}

/// A message as it is written in a script: `Heartbeat term=3 sent=5ms`.
pub(crate) fn message(words: &[&str]) -> Result<Message, String> {
    let field = |name: &str| {
        words
            .iter()
            .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
            .ok_or_else(|| format!("{} needs {name}=…", words.join(" ")))
    };
    let number = |name| {
        let word = field(name)?;
        match word {
            "max" => Ok(u64::MAX),
            _ => word.parse().map_err(|_| format!("{word} is no number")),
        }
    };
    // What a script does not name is 0.
    let named = |name| field(name).map_or(Ok(0), |_| number(name));
    let term = || number("term");
    let asked = || number("asked");
    let sent = || Ok::<_, String>(Instant::ZERO + span(field("sent")?)?);
    let last = || {
        let word = field("last")?;
        let (term, index) = word.split_once(':').ok_or("last is term:index")?;
        let parse = |word: &str| word.parse().map_err(|_| format!("{word} is no number"));
        Ok::<_, String>(Position::new(parse(term)?, parse(index)?))
    };
    Ok(match words.first().copied().unwrap_or_default() {
        "RequestPreVote" => Message::RequestPreVote {
            term: term()?,
            last: last()?,
            sent: sent()?,
            released: named("released")?,
        },
        "PreVoteGranted" => Message::PreVoteGranted {
            term: term()?,
            remainder: span(field("remainder")?)?,
            sent: sent()?,
        },
        "PreVoteRefused" => Message::PreVoteRefused {
            asked: asked()?,
            term: term()?,
            better: None,
        },
        "RequestVote" => Message::RequestVote {
            term: term()?,
            last: last()?,
            released: named("released")?,
        },
        "VoteGranted" => Message::VoteGranted { term: term()? },
        "VoteRefused" => Message::VoteRefused {
            asked: asked()?,
            term: term()?,
        },
        "Heartbeat" => Message::Heartbeat {
            term: term()?,
            sent: sent()?,
            round: named("round")?,
            commit: named("commit")?,
        },
        "HeartbeatAck" => Message::HeartbeatAck {
            term: term()?,
            sent: sent()?,
            round: named("round")?,
            promise: span(field("promise")?)?,
            matched: named("matched")?,
        },
        "HeartbeatRefused" => Message::HeartbeatRefused {
            asked: asked()?,
            term: term()?,
        },
        "Release" => Message::Release {
            term: term()?,
            to: field("to").ok().map(node).transpose()?,
            orderly: false,
        },
        other => return Err(format!("{other} is no message")),
    })
}
