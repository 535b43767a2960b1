//! Holds a file against the table of its fields.

use super::format::{END, Entry, Kind, Usual};
use super::reader::{
    FIRST_BROKER, FIRST_ROLE, FIRST_SERVER, Frame, Part, Read, Slip, fields, number, word,
};
use super::units::{unsigned, write_span};
use super::{by_store, parse_seed, parts};
use crate::json::{Node, Value};

/// 2⁵³: from here on JavaScript rounds numbers, and says nothing.
const FIRST_INEXACT: u64 = 1 << 53;

impl Frame {
    /// Whether there is this node or server, by its number; roles there always are.
    fn has(self, number: u64) -> bool {
        let first = match self.scheme.server_letter() {
            'b' => FIRST_BROKER,
            _ => FIRST_SERVER,
        } as u64;
        if number >= FIRST_SERVER as u64 {
            let server = number.checked_sub(first);
            server.is_some_and(|server| self.servers.is_some_and(|servers| server < servers))
        } else {
            number < self.nodes || number >= FIRST_ROLE as u64
        }
    }
}

/// Holds a value against its kind.
#[inline(never)]
pub(super) fn check(node: &Node, kind: &Kind, frame: Frame) -> Read<()> {
    match kind {
        Kind::Object(entries) | Kind::Choice(entries) => check_object(node, kind, entries, frame),
        Kind::List(of, most) => {
            let items = list(node)?;
            // A rate for each node.
            let most = match of {
                Kind::Rate => frame.nodes as usize,
                _ => *most,
            };
            if items.len() > most {
                return Err(Slip::new(
                    node.at,
                    "too-many",
                    "more than can be run",
                    &("use at most ".to_owned() + &most.to_string()),
                ));
            }
            items.iter().try_for_each(|item| check(item, of, frame))
        }
        Kind::NameOrLink(name) if matches!(&node.value, Value::Text(text) if text == name) => {
            Ok(())
        }
        Kind::Link | Kind::NameOrLink(_) => check_two(node, &END, frame).map(drop),
        Kind::Range(least, most) => check_two(node, &Kind::Span(*least, *most), frame).map(drop),
        _ => check_word(node, kind, frame).map(drop),
    }
}

#[inline(never)]
fn check_object(node: &Node, kind: &Kind, entries: &'static [Entry], frame: Frame) -> Read<()> {
    let part = Part {
        fields: fields(node)?,
        entries,
    };
    if let Some(field) = part
        .fields
        .iter()
        .find(|field| entries.iter().all(|entry| entry.name != field.name))
    {
        let remedy = use_one_of("", entries.iter().map(|entry| entry.name).collect());
        return Err(Slip::new(
            field.at,
            "unknown-field",
            "this field is not known here",
            &remedy,
        ));
    }
    for entry in entries {
        match (part.node(entry.name), &entry.usual) {
            (Some(node), _) => check(node, &entry.kind, frame)?,
            (None, Usual::Needed(example)) => {
                let name = String::from("\"") + entry.name + "\"";
                let remedy = "add ".to_owned() + &name + ": " + example;
                return Err(Slip::new(
                    node.at,
                    "missing-field",
                    &(name + " is missing"),
                    &remedy,
                ));
            }
            _ => {}
        }
    }
    match kind {
        Kind::Choice(entries) => choose(node, part, &entries[1..]),
        _ => Ok(()),
    }
}

/// Holds an action against those there are: exactly one is named.
#[inline(never)]
pub(super) fn check_action(node: &Node, actions: &'static [Entry], frame: Frame) -> Read<()> {
    check_object(node, &Kind::Object(actions), actions, frame)?;
    let part = Part {
        fields: fields(node)?,
        entries: actions,
    };
    choose(node, part, actions)
}

fn choose(node: &Node, part: Part<'_>, actions: &[Entry]) -> Read<()> {
    let mut named = actions.iter().filter_map(|entry| part.node(entry.name));
    match (named.next(), named.next()) {
        (None, _) => Err(Slip::new(
            node.at,
            "no-action",
            "no action is named",
            "add one, as \"crash\": \"leader\"",
        )),
        (_, Some(second)) => Err(Slip::new(
            second.at,
            "two-actions",
            "more than one action is named",
            "write one entry for each",
        )),
        _ => Ok(()),
    }
}

#[inline(never)]
fn check_two(node: &Node, kind: &Kind, frame: Frame) -> Read<[u64; 2]> {
    match list(node)? {
        [first, second] => Ok([
            check_word(first, kind, frame)?,
            check_word(second, kind, frame)?,
        ]),
        _ => Err(Slip::new(
            node.at,
            "wrong-length",
            "two are expected here",
            "write a list of two",
        )),
    }
}

/// Holds a value that is no list or object against its kind.
#[inline(never)]
fn check_word(node: &Node, kind: &Kind, frame: Frame) -> Read<u64> {
    // Whether something fits does not depend on its sign.
    let signed = matches!(kind, Kind::Rate | Kind::Jump);
    let kind = kind.size();
    let expected = match (kind, &node.value) {
        (Kind::Flag, Value::Flag(_)) | (Kind::Seed | Kind::Count(..), Value::Number(_)) => "",
        (Kind::Flag, _) => "true or false",
        (Kind::Count(..), _) => "a whole number",
        (_, Value::Text(_)) => "",
        (Kind::Seed, _) => "a whole number in quotes, as \"7\"",
        (Kind::Span(..) | Kind::Range(..) | Kind::Moment, _) => {
            "a duration in quotes, as \"150ms\""
        }
        (Kind::Share, _) => "a percentage in quotes, as \"0.5%\"",
        _ => "a text",
    };
    if !expected.is_empty() {
        return Err(wrong_type(node, expected));
    }
    let text = word(node);
    if matches!(node.value, Value::Number(_)) && parse_seed(text).is_none() {
        return Err(wrong_type(node, "a whole number"));
    }
    let slip =
        |code, matter, remedy: &str| Err(Slip::new(node.at, code, &quoted(text, matter), remedy));
    let size = if signed { unsigned(text) } else { text };
    let letter = frame.scheme.server_letter();
    match (kind, number(kind, size)) {
        (Kind::Rule, _) => {
            let names = frame.scheme.rules();
            if names.contains(&text) {
                Ok(0)
            } else if let Some(slip) = parts::check_rule(node.at, text, frame.scheme) {
                Err(slip)
            } else {
                let remedy = use_one_of("", names.to_vec());
                slip("unknown-name", " is not known here", &remedy)
            }
        }
        (Kind::Text, _) => Ok(0),
        (Kind::Seed, Some(seed))
            if seed >= FIRST_INEXACT && matches!(node.value, Value::Number(_)) =>
        {
            slip(
                "inexact-seed",
                " is too large for a number: JavaScript changes it",
                "write it in quotes",
            )
        }
        (Kind::Member(_) | Kind::Server, Some(number))
            if number >= FIRST_SERVER as u64 && frame.servers.is_none() =>
        {
            if number < FIRST_BROKER as u64 {
                return Err(by_store::misplaced(node.at, false));
            }
            slip(
                "needs-brokers",
                " is a broker, and there are none",
                "use the scheme kraft and name brokers, or leave it out",
            )
        }
        (Kind::Node(_) | Kind::Member(_) | Kind::Server, Some(number)) if frame.has(number) => {
            Ok(number)
        }
        (Kind::Node(roles) | Kind::Member(roles), _) => {
            let mut named = all_of('n', frame.nodes);
            if let (Kind::Member(_), Some(servers)) = (kind, frame.servers) {
                named.push_str(", ");
                named.push_str(&all_of(letter, servers));
            }
            let remedy = use_one_of(&named, roles.to_vec());
            slip("unknown-node", " is no node here", &remedy)
        }
        (Kind::Server, _) => {
            let servers = frame.servers.unwrap_or(0);
            let remedy = use_one_of(&all_of(letter, servers), Vec::new());
            slip("unknown-node", " is no server here", &remedy)
        }
        (Kind::Count(least, most), number) => match number {
            Some(number) if (*least..=*most).contains(&number) => Ok(number),
            _ => slip(
                "node-count",
                " is not a number that can be run",
                &("use ".to_owned() + &least.to_string() + " to " + &most.to_string()),
            ),
        },
        (Kind::Span(least, _), Some(number)) if number < *least => slip(
            "too-small",
            " is too short to be run",
            &("use at least ".to_owned() + &write_span(*least)),
        ),
        (Kind::Span(_, most), Some(number)) if number > *most => slip(
            "too-large",
            " is longer than any run",
            &("use at most ".to_owned() + &write_span(*most)),
        ),
        (Kind::Moment, Some(number)) if number > frame.duration => slip(
            "after-end",
            " is after the end of the run",
            "set it earlier, or raise duration",
        ),
        (_, Some(number)) => Ok(number),
        (Kind::Seed, None) => slip(
            "bad-seed",
            " is not a seed",
            "write a whole number below 2^64 in quotes, as \"7\"",
        ),
        (Kind::Share, None) => slip(
            "bad-percentage",
            " is not a percentage",
            "write a number from 0 to 100 and %, as \"0.5%\"",
        ),
        (Kind::Name(names), None) => slip(
            "unknown-name",
            " is not known here",
            &use_one_of("", names.to_vec()),
        ),
        (_, None) => slip(
            "bad-duration",
            " is not a duration",
            "write a number and one of us, ms, s, min, h, as \"150ms\"",
        ),
    }
}

fn list(node: &Node) -> Read<&[Node]> {
    match &node.value {
        Value::List(items) => Ok(items),
        _ => Err(wrong_type(node, "a list")),
    }
}

#[cold]
#[inline(never)]
pub(super) fn wrong_type(node: &Node, expected: &str) -> Box<Slip> {
    let found = match node.value {
        Value::Null => "null",
        Value::Flag(_) => "true or false",
        Value::Number(_) => "a number",
        Value::Text(_) => "a text",
        Value::List(_) => "a list",
        Value::Object(_) => "an object",
    };
    Slip::new(
        node.at,
        "wrong-type",
        &(found.to_owned() + " is not what is expected here"),
        &("write ".to_owned() + expected),
    )
}

/// A text of the file in quotes, not longer than fits a line, and what is the matter with it.
#[cold]
#[inline(never)]
fn quoted(text: &str, matter: &str) -> String {
    let mut quoted = String::from("\"");
    quoted.extend(text.chars().filter(|letter| !letter.is_control()).take(40));
    quoted.push('"');
    quoted.push_str(matter);
    quoted
}

/// So many names from the first on.
#[cold]
#[inline(never)]
fn all_of(letter: char, many: u64) -> String {
    let mut named = String::from(letter);
    named.push('1');
    if many > 1 {
        named.push_str(" to ");
        named.push(letter);
        named.push_str(&many.to_string());
    }
    named
}

#[cold]
#[inline(never)]
fn use_one_of<'t>(first: &'t str, mut names: Vec<&'t str>) -> String {
    if !first.is_empty() {
        names.insert(0, first);
    }
    "use one of: ".to_owned() + &names.join(", ")
}
