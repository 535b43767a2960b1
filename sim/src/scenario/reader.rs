//! Holds a file against the table of its fields. What is wrong is a slip at a byte; the place is worked out only then.

use super::format::{END, Entry, FILE, Kind, Usual};
use super::names::ROLES;
use super::units::{parse_share, parse_span, write_span};
use super::{Refusal, parse_seed};
use crate::fault::Who;
use crate::json::{Field, Node, Value, line_and_column, path_to};

/// What is wrong, and where.
#[derive(Debug)]
pub(super) struct Slip {
    at: usize,
    code: &'static str,
    reason: String,
    remedy: String,
}

/// Boxed: slips are rare, and small results are cheap to hand on.
pub(super) type Read<T> = Result<T, Box<Slip>>;

/// An object that fits its table, or the lack of one: then every field has its default.
#[derive(Clone, Copy)]
pub(super) struct Part<'n> {
    fields: &'n [Field],
    entries: &'static [Entry],
}

/// What values are held against besides the table.
#[derive(Clone, Copy)]
struct Frame {
    nodes: u64,
    duration: u64,
}

impl Slip {
    #[cold]
    #[inline(never)]
    pub(super) fn new(at: usize, code: &'static str, reason: &str, remedy: &str) -> Box<Self> {
        Box::new(Self {
            at,
            code,
            reason: reason.to_owned(),
            remedy: remedy.to_owned(),
        })
    }

    /// The refusal of a file, with path and line.
    #[cold]
    #[inline(never)]
    pub(super) fn refuse(self, text: &str, root: Option<&Node>) -> Refusal {
        let mut place = root.map(|root| path_to(root, self.at)).unwrap_or_default();
        let (line, column) = line_and_column(text, self.at);
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
            code: self.code,
            place,
            reason: self.reason,
            remedy: self.remedy,
        }
    }
}

/// The whole file, if it fits.
#[inline(never)]
pub(super) fn file(root: &Node) -> Read<Part<'_>> {
    let part = Part {
        fields: fields(root)?,
        entries: &FILE,
    };
    // A count or duration that does not fit is refused before anything is held against it: it comes earlier in the table.
    let first = |name| part.read(name).and_then(|[first, _]| first).unwrap_or(0);
    let frame = Frame {
        nodes: first("nodes"),
        duration: first("duration"),
    };
    check(root, &Kind::Object(&FILE), frame)?;
    Ok(part)
}

/// Which node a value names, by its [`number`].
pub(super) fn who(number: u64) -> Who {
    match usize::try_from(number)
        .ok()
        .and_then(|place| place.checked_sub(FIRST_ROLE))
        .and_then(|place| ROLES.get(place))
    {
        Some((_, who)) => *who,
        None => Who::Node(number as u16),
    }
}

/// 2⁵³: from here on JavaScript rounds numbers, and says nothing.
const FIRST_INEXACT: u64 = 1 << 53;

/// Where the numbers of roles begin, above those of nodes.
const FIRST_ROLE: usize = 1 << 16;

impl<'n> Part<'n> {
    /// The value of a field, if it is there.
    #[inline(never)]
    pub(super) fn node(self, name: &str) -> Option<&'n Node> {
        self.fields
            .iter()
            .find(|field| field.name == name)
            .map(|field| &field.node)
    }

    /// The value of a field or its default, as a [`number`]; one of both there must be.
    #[inline(never)]
    pub(super) fn get(self, name: &str) -> u64 {
        self.ends(name)[0]
    }

    /// The two values of a field or its defaults, the first twice where there is one; some there must be.
    #[inline(never)]
    pub(super) fn ends(self, name: &str) -> [u64; 2] {
        let value = self.value(name);
        debug_assert!(value.is_some(), "{name} may be absent");
        value.unwrap_or_default()
    }

    /// The two values of a field or its defaults, the first twice where there is one.
    #[inline(never)]
    pub(super) fn value(self, name: &str) -> Option<[u64; 2]> {
        let value = self.read(name)?;
        // What does not read was refused when the file was held against the table.
        debug_assert!(value.iter().all(Option::is_some), "{name} does not read");
        Some(value.map(Option::unwrap_or_default))
    }

    /// Whom a field names.
    #[inline(never)]
    pub(super) fn who(self, name: &str) -> Who {
        who(self.get(name))
    }

    /// Which of these the name in a field stands for, by its place.
    pub(super) fn pick<T: Copy>(self, name: &str, of: &[T]) -> Option<T> {
        let picked = of.get(self.get(name) as usize).copied();
        debug_assert!(picked.is_some(), "{name} has more names than meanings");
        picked
    }

    /// As [`value`](Self::value), of what may not fit the table.
    #[inline(never)]
    fn read(self, name: &str) -> Option<[Option<u64>; 2]> {
        let entry = self.entry(name)?;
        let texts = match (self.node(name), &entry.usual) {
            (Some(node), _) => match items(node) {
                [first, second] => [word(first), word(second)],
                _ => [word(node); 2],
            },
            (None, Usual::Is(text)) => [*text; 2],
            (None, Usual::Are(first, second)) => [*first, *second],
            (None, _) => return None,
        };
        let kind = match entry.kind {
            Kind::Link | Kind::NameOrLink(_) => &END,
            _ => &entry.kind,
        };
        Some(texts.map(|text| number(kind, text)))
    }

    /// The entry of a field. Every name that is asked for is in the table: a slip of ours shows in the first test.
    fn entry(self, name: &str) -> Option<&'static Entry> {
        let entry = self.entries.iter().find(|entry| entry.name == name);
        debug_assert!(entry.is_some(), "the table has no {name}");
        entry
    }

    /// A text, or nothing.
    pub(super) fn text(self, name: &str) -> &'n str {
        debug_assert!(self.entry(name).is_some());
        self.node(name).map_or("", word)
    }

    /// The object in a field.
    #[inline(never)]
    pub(super) fn inner(self, name: &str) -> Self {
        let entries = match self.entry(name) {
            Some(Entry {
                kind: Kind::Object(entries),
                ..
            }) => *entries,
            Some(Entry {
                kind: Kind::List(Kind::Choice(entries), _),
                ..
            }) => *entries,
            _ => {
                debug_assert!(false, "{name} is no object");
                &[]
            }
        };
        Self {
            fields: self
                .node(name)
                .and_then(|node| fields(node).ok())
                .unwrap_or_default(),
            entries,
        }
    }

    /// The objects of a list.
    pub(super) fn each(self, name: &str) -> impl Iterator<Item = Self> {
        let Self { entries, .. } = self.inner(name);
        let items = self.node(name).map_or(&[][..], items);
        items.iter().map(move |node| {
            let fields = fields(node).unwrap_or_default();
            Self { fields, entries }
        })
    }

    /// The one action of a fault: the field that is there besides the first.
    #[inline(never)]
    pub(super) fn choice(self) -> Option<(&'static str, &'n Node)> {
        self.entries
            .iter()
            .skip(1)
            .find_map(|entry| self.node(entry.name).map(|node| (entry.name, node)))
    }
}

/// The items of a list; nothing of what is none.
pub(super) fn items(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(items) => items,
        _ => &[],
    }
}

/// A value that is no list or object, as it is written.
pub(super) fn word(node: &Node) -> &str {
    match &node.value {
        Value::Text(text) | Value::Number(text) => text,
        Value::Flag(true) => "true",
        Value::Flag(false) => "false",
        _ => "",
    }
}

/// Every value is a number inside: a duration in microseconds, a share in parts per million, a name by its place, a node
/// by its place or above those by its role.
#[inline(never)]
pub(super) fn number(kind: &Kind, text: &str) -> Option<u64> {
    let place = |names: &[&str]| {
        names
            .iter()
            .position(|name| *name == text)
            .map(|place| place as u64)
    };
    match kind {
        Kind::Flag => place(&["false", "true"]),
        Kind::Seed | Kind::Count(..) => parse_seed(text),
        Kind::Span(..) | Kind::Range(..) | Kind::Moment => parse_span(text),
        Kind::Share => parse_share(text).map(u64::from),
        Kind::Name(names) => place(names),
        Kind::Node(roles) => match text
            .strip_prefix('n')
            .filter(|digits| !digits.starts_with('0'))
            .and_then(parse_seed)
        {
            None if roles.contains(&text) => ROLES
                .iter()
                .position(|(role, _)| *role == text)
                .map(|place| (place + FIRST_ROLE) as u64),
            node => node
                .map(|node| node - 1)
                .filter(|node| *node < FIRST_ROLE as u64),
        },
        _ => None,
    }
}

fn fields(node: &Node) -> Read<&[Field]> {
    match &node.value {
        Value::Object(fields) => Ok(fields),
        _ => Err(wrong_type(node, "an object")),
    }
}

/// Holds a value against its kind.
#[inline(never)]
fn check(node: &Node, kind: &Kind, frame: Frame) -> Read<()> {
    match kind {
        Kind::Object(entries) | Kind::Choice(entries) => check_object(node, kind, entries, frame),
        Kind::List(of, most) => {
            let items = list(node)?;
            if items.len() > *most {
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
    if let Kind::Choice(_) = kind {
        let mut named = entries
            .iter()
            .skip(1)
            .filter_map(|entry| part.node(entry.name));
        match (named.next(), named.next()) {
            (None, _) => {
                return Err(Slip::new(
                    node.at,
                    "no-action",
                    "no action is named",
                    "add one, as \"crash\": \"leader\"",
                ));
            }
            (_, Some(second)) => {
                return Err(Slip::new(
                    second.at,
                    "two-actions",
                    "more than one action is named",
                    "write one entry for each",
                ));
            }
            _ => {}
        }
    }
    Ok(())
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
    match (kind, number(kind, text)) {
        (Kind::Text, _) => Ok(0),
        (Kind::Seed, Some(seed))
            if seed >= FIRST_INEXACT && matches!(node.value, Value::Number(_)) =>
        {
            slip(
                "bad-seed",
                " is too large for a number: JavaScript changes it",
                "write it in quotes",
            )
        }
        (Kind::Node(_), Some(number)) if number < frame.nodes || number >= FIRST_ROLE as u64 => {
            Ok(number)
        }
        (Kind::Node(roles), _) => slip(
            "unknown-node",
            " is no node here",
            &use_one_of(
                &("n1 to n".to_owned() + &frame.nodes.to_string()),
                roles.to_vec(),
            ),
        ),
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
            "write a number and one of us, ms, s, min, as \"150ms\"",
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
fn wrong_type(node: &Node, expected: &str) -> Box<Slip> {
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

#[cold]
#[inline(never)]
fn use_one_of<'t>(first: &'t str, mut names: Vec<&'t str>) -> String {
    if !first.is_empty() {
        names.insert(0, first);
    }
    "use one of: ".to_owned() + &names.join(", ")
}
