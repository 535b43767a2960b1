//! Reads values out of a file. What is wrong with one is a slip at a byte; the place is worked out only then.

use super::Refusal;
use super::units::{parse_share, parse_span};
use crate::json::{Field, Node, Value, line_and_column, path_to};

/// What is wrong, and where. Boxed, for it is rare: results stay small.
#[derive(Debug)]
pub(super) struct Slip(Box<Found>);

#[derive(Debug)]
struct Found {
    at: usize,
    code: &'static str,
    reason: String,
    remedy: String,
}

pub(super) type Read<T> = Result<T, Slip>;

/// The fields of an object, all of them known.
#[derive(Clone, Copy)]
pub(super) struct Fields<'n> {
    at: usize,
    fields: &'n [Field],
}

impl Slip {
    #[cold]
    pub(super) fn new(at: usize, code: &'static str, reason: &str, remedy: &str) -> Self {
        Self(Box::new(Found {
            at,
            code,
            reason: reason.to_owned(),
            remedy: remedy.to_owned(),
        }))
    }

    /// The refusal of a file, with path and line.
    #[cold]
    pub(super) fn refuse(self, text: &str, root: Option<&Node>) -> Refusal {
        let Found {
            at,
            code,
            reason,
            remedy,
        } = *self.0;
        let mut place = root.map(|root| path_to(root, at)).unwrap_or_default();
        let (line, column) = line_and_column(text, at);
        let (before, after) = if place.is_empty() {
            ("line ", "")
        } else {
            (" (line ", ")")
        };
        for part in [
            before,
            &line.to_string(),
            ", column ",
            &column.to_string(),
            after,
        ] {
            place.push_str(part);
        }
        Refusal {
            code,
            place,
            reason,
            remedy,
        }
    }
}

impl<'n> Fields<'n> {
    /// The fields of an object that has no others than these.
    pub(super) fn of(node: &'n Node, known: &[&str]) -> Read<Self> {
        let Value::Object(fields) = &node.value else {
            return Err(wrong_type(node, "an object"));
        };
        match fields
            .iter()
            .find(|field| !known.contains(&field.name.as_str()))
        {
            Some(field) => Err(Slip::new(
                field.at,
                "unknown-field",
                "this field is not known here",
                &use_one_of(known),
            )),
            None => Ok(Self {
                at: node.at,
                fields,
            }),
        }
    }

    pub(super) fn get(self, name: &str) -> Option<&'n Node> {
        self.fields
            .iter()
            .find(|field| field.name == name)
            .map(|field| &field.node)
    }

    /// A field that must be there, for a reason.
    pub(super) fn need(self, name: &str, reason: &str, remedy: &str) -> Read<&'n Node> {
        self.get(name)
            .ok_or_else(|| Slip::new(self.at, "missing-field", reason, remedy))
    }

    /// Reads a field, or takes the default.
    pub(super) fn or<T>(self, name: &str, default: T, read: fn(&Node) -> Read<T>) -> Read<T> {
        self.get(name).map_or(Ok(default), read)
    }
}

pub(super) fn items(node: &Node) -> Read<&[Node]> {
    match &node.value {
        Value::List(items) => Ok(items),
        _ => Err(wrong_type(node, "a list")),
    }
}

pub(super) fn pair(node: &Node) -> Read<(&Node, &Node)> {
    match items(node)? {
        [first, second] => Ok((first, second)),
        _ => Err(Slip::new(
            node.at,
            "wrong-length",
            "two are expected here",
            "write a list of two",
        )),
    }
}

pub(super) fn text(node: &Node) -> Read<&str> {
    match &node.value {
        Value::Text(text) => Ok(text),
        _ => Err(wrong_type(node, "a text")),
    }
}

pub(super) fn flag(node: &Node) -> Read<bool> {
    match node.value {
        Value::Flag(flag) => Ok(flag),
        _ => Err(wrong_type(node, "true or false")),
    }
}

pub(super) fn number(node: &Node) -> Read<u64> {
    let parsed = match &node.value {
        Value::Number(number) => number.parse().ok(),
        _ => None,
    };
    parsed.ok_or_else(|| wrong_type(node, "a whole number"))
}

/// A duration in microseconds.
pub(super) fn span(node: &Node) -> Read<u64> {
    let text = text(node)?;
    parse_span(text).ok_or_else(|| {
        Slip::new(
            node.at,
            "bad-duration",
            &quoted(text, " is not a duration"),
            "write a number and one of us, ms, s, min, as \"150ms\"",
        )
    })
}

/// A share in parts per million.
pub(super) fn share(node: &Node) -> Read<u32> {
    let text = text(node)?;
    parse_share(text).ok_or_else(|| {
        Slip::new(
            node.at,
            "bad-percentage",
            &quoted(text, " is not a percentage"),
            "write a number from 0 to 100 and %, as \"0.5%\"",
        )
    })
}

/// One of some names, by its place among them.
pub(super) fn one_of(node: &Node, names: &[&str]) -> Read<usize> {
    let text = text(node)?;
    let place = names.iter().position(|name| *name == text);
    place.ok_or_else(|| {
        Slip::new(
            node.at,
            "unknown-name",
            &quoted(text, " is not known here"),
            &use_one_of(names),
        )
    })
}

#[cold]
pub(super) fn wrong_type(node: &Node, expected: &str) -> Slip {
    let found = match node.value {
        Value::Null => "null is",
        Value::Flag(_) => "true or false is",
        Value::Number(_) => "this number is",
        Value::Text(_) => "a text is",
        Value::List(_) => "a list is",
        Value::Object(_) => "an object is",
    };
    Slip::new(
        node.at,
        "wrong-type",
        &(found.to_owned() + " not what is expected here"),
        &("write ".to_owned() + expected),
    )
}

/// A text of the file in quotes, not longer than fits a line, and what is the matter with it.
#[cold]
pub(super) fn quoted(text: &str, matter: &str) -> String {
    let mut quoted = String::from("\"");
    quoted.extend(text.chars().filter(|letter| !letter.is_control()).take(40));
    quoted.push('"');
    quoted.push_str(matter);
    quoted
}

#[cold]
fn use_one_of(names: &[&str]) -> String {
    let mut text = String::from("use one of");
    for (place, name) in names.iter().enumerate() {
        text.push_str(if place == 0 { ": " } else { ", " });
        text.push_str(name);
    }
    text
}
