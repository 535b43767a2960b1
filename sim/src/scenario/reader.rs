//! Reads values by the table of fields. What is wrong is a slip at a byte; the place is worked out only then.

use super::format::{END, Entry, FAULT, FILE, Kind, Usual};
use super::names::{Named, ROLES};
use super::units::{parse_share, parse_span, unsigned};
use super::{Refusal, fits, parse_seed};
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
    pub(super) fields: &'n [Field],
    pub(super) entries: &'static [Entry],
}

/// What values are held against besides the table.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) nodes: u64,
    pub(super) duration: u64,
    /// How they elect.
    pub(super) scheme: Named,
    /// How many servers the store has, if they elect by one.
    pub(super) servers: Option<u64>,
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
        entries: FILE,
    };
    // A count or duration that does not fit is refused before anything is held against it: it comes earlier in the table.
    let first = |name| part.read(name).and_then(|[first, _]| first).unwrap_or(0);
    let scheme = Named::at(first("scheme"));
    let frame = Frame {
        nodes: first("nodes"),
        duration: first("duration"),
        scheme,
        servers: scheme.servers(part),
    };
    fits::check(root, &Kind::Object(FILE), frame)?;
    Ok(part)
}

/// An action by itself, if it fits.
#[inline(never)]
pub(super) fn lone_action(root: &Node, frame: Frame) -> Read<Part<'_>> {
    fits::check_action(root, &FAULT[1..], frame)?;
    Ok(Part {
        fields: fields(root)?,
        entries: FAULT,
    })
}

/// Which node a value names, by its [`number`].
pub(super) fn who(number: u64) -> Who {
    if number >= FIRST_SERVER as u64 {
        return Who::Server(number as u16);
    }
    match usize::try_from(number)
        .ok()
        .and_then(|place| place.checked_sub(FIRST_ROLE))
        .and_then(|place| ROLES.get(place))
    {
        Some((_, who)) => *who,
        None => Who::Node(number as u16),
    }
}

/// Where the numbers of roles begin, above those of nodes.
pub(super) const FIRST_ROLE: usize = 1 << 16;
/// Where the numbers of servers begin, above those of roles; those of brokers above all others, as they have a name of their own.
pub(super) const FIRST_SERVER: usize = 1 << 17;
pub(super) const FIRST_BROKER: usize = FIRST_SERVER + FIRST_ROLE;

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

/// Every value is a number inside: a duration in microseconds, a share in parts per million, what has a
/// sign in two's complement, a name by its place, a node
/// by its place, above those by its role, and above those a server.
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
        Kind::Rate | Kind::Jump => {
            let negative = text.as_bytes().first() == Some(&b'-');
            let size = number(kind.size(), unsigned(text))?;
            Some(if negative { size.wrapping_neg() } else { size })
        }
        Kind::Name(names) => place(names),
        Kind::Server => {
            let place = |letter, first: usize| Some(called(text, letter)? + first as u64);
            place('s', FIRST_SERVER).or_else(|| place('b', FIRST_BROKER))
        }
        Kind::Node(roles) | Kind::Member(roles) => {
            let server = match kind {
                Kind::Member(_) => number(&Kind::Server, text),
                _ => None,
            };
            let role = || {
                let named = roles.contains(&text);
                let place = ROLES.iter().position(|(role, _)| named && *role == text)?;
                Some((place + FIRST_ROLE) as u64)
            };
            called(text, 'n').or_else(role).or(server)
        }
        _ => None,
    }
}

/// The place of a node or a server by its name: the letter, and a number from 1 on.
#[inline(never)]
fn called(text: &str, letter: char) -> Option<u64> {
    let digits = text.strip_prefix(letter)?;
    let number = parse_seed(digits).filter(|_| !digits.starts_with('0'))?;
    Some(number - 1).filter(|place| *place < FIRST_ROLE as u64)
}

pub(super) fn fields(node: &Node) -> Read<&[Field]> {
    match &node.value {
        Value::Object(fields) => Ok(fields),
        _ => Err(fits::wrong_type(node, "an object")),
    }
}
