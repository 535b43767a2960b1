//! What a machine says, as JavaScript values. A counter of 64 bits is a bigint; a time is a number.

use super::read::MAX_SAFE;
use crate::object::{object, text};
use js_sys::{Array, Uint8Array};
use tenure::codec::Coded;
use tenure::log::Position;
use tenure::membership::Membership;
use tenure::raft::{
    Carries, Entries, Leased, LogWrite, Message, Refusal, Refusals, Role, Served, Write,
};
use tenure::{Event, Instant, Leader, NodeId, Output, Standing, Ticket, Token, Why};
use wasm_bindgen::JsValue;

/// What a call gives that refuses nothing: never an error.
///
/// A call that gives a lone reference is compiled into its caller by the V8 of Node.js 20, which then ends the process
/// ("Fatal error … unreachable code" in the deoptimizer) when the caller is deoptimised while the call is under way. One that
/// may throw gives several values, and is not.
pub(crate) type Given = Result<JsValue, JsValue>;

/// One output. `buffer` is where bytes are made; it never shrinks.
pub(crate) fn output(output: &Output<Message, Write>, buffer: &mut Vec<u8>) -> JsValue {
    match output {
        Output::Send(to, message) => {
            let carries = carries(message);
            let fields = [
                ("kind", text("send")),
                ("to", node(*to)),
                ("message", bytes(message, buffer)),
                ("carries", carries.unwrap_or(JsValue::UNDEFINED)),
            ];
            object(if fields[3].1.is_undefined() {
                &fields[..3]
            } else {
                &fields
            })
        }
        Output::Request(asked, write) => object(&[
            ("kind", text("request")),
            ("ticket", ticket(*asked)),
            ("write", bytes(write, buffer)),
            ("log", log(&write.log)),
        ]),
        Output::Event(news) => object(&[("kind", text("event")), ("event", event(*news))]),
    }
}

/// What became of reads.
pub(crate) fn served(served: Served) -> JsValue {
    match served {
        Served::Ready { upto, index } => object(&[
            ("kind", text("read")),
            ("outcome", text("ready")),
            ("upto", upto.into()),
            ("index", index.into()),
        ]),
        Served::LeaderLost { upto } => object(&[
            ("kind", text("read")),
            ("outcome", text("leader-lost")),
            ("upto", upto.into()),
        ]),
    }
}

pub(crate) fn leased(leased: Leased) -> JsValue {
    object(&[
        ("index", leased.index.into()),
        ("token", token(leased.tenure.token)),
        ("until", instant(leased.tenure.until)),
    ])
}

pub(crate) fn bytes(value: &impl Coded, buffer: &mut Vec<u8>) -> JsValue {
    buffer.clear();
    value.encode(buffer);
    Uint8Array::from(buffer.as_slice()).into()
}

/// The name of payloads that go with a message.
fn carries(message: &Message) -> Option<JsValue> {
    message.carries().map(|carries| match carries {
        Carries::Entries { after, entries } => span("entries", after, entries),
        Carries::Snapshot { last } => {
            object(&[("kind", text("snapshot")), ("last", position(last))])
        }
    })
}

fn log(log: &LogWrite) -> JsValue {
    match log {
        LogWrite::Keep => object(&[("kind", text("keep"))]),
        LogWrite::Append { after, entries } => span("append", *after, entries),
        LogWrite::Compact { upto, .. } => {
            object(&[("kind", text("compact")), ("upto", position(*upto))])
        }
        LogWrite::Install { last, .. } => {
            object(&[("kind", text("install")), ("last", position(*last))])
        }
    }
}

fn span(kind: &str, after: Position, entries: &Entries) -> JsValue {
    let change = matches!(entries, Entries::Change { .. });
    object(&[
        ("kind", text(kind)),
        ("after", position(after)),
        ("term", entries.term().into()),
        ("count", entries.count().into()),
        ("own", entries.own(after).into()),
        ("change", change.into()),
    ])
}

fn event(event: Event) -> JsValue {
    match event {
        Event::Elected(won) => object(&[("kind", text("elected")), ("token", token(won))]),
        Event::Established(tenure) => object(&[
            ("kind", text("established")),
            ("token", token(tenure.token)),
            ("until", instant(tenure.until)),
        ]),
        Event::Deposed(over, why) => {
            let why = match why {
                Why::DiskFailed => "disk-failed",
                Why::HigherTerm => "higher-term",
                Why::Lapsed => "lapsed",
                Why::Removed => "removed",
                Why::Resigned => "resigned",
                Why::Transferred => "transferred",
                Why::Taken => "taken",
                _ => "other",
            };
            object(&[
                ("kind", text("deposed")),
                ("token", token(over)),
                ("why", text(why)),
            ])
        }
        Event::Following(of) => object(&[
            ("kind", text("following")),
            ("leader", of.map_or(JsValue::NULL, leader)),
        ]),
        Event::Halted => object(&[("kind", text("halted"))]),
        Event::TransferDropped(to) => {
            object(&[("kind", text("transfer-dropped")), ("to", node(to))])
        }
        _ => object(&[("kind", text("other"))]),
    }
}

pub(crate) fn standing(standing: Standing) -> JsValue {
    match standing {
        Standing::Leading(tenure) => object(&[
            ("kind", text("leading")),
            ("token", token(tenure.token)),
            ("until", instant(tenure.until)),
        ]),
        Standing::Following(of) => object(&[("kind", text("following")), ("leader", leader(of))]),
        Standing::Unknown => object(&[("kind", text("unknown"))]),
    }
}

pub(crate) fn role(role: Role) -> &'static str {
    match role {
        Role::Follower => "follower",
        Role::PreCandidate => "pre-candidate",
        Role::Candidate => "candidate",
        Role::Leader => "leader",
    }
}

pub(crate) fn membership(membership: &Membership) -> JsValue {
    let ids = |ids: &mut dyn Iterator<Item = NodeId>| ids.map(node).collect::<Array>().into();
    object(&[
        ("voters", ids(&mut membership.voters())),
        ("learners", ids(&mut membership.learners())),
        ("joint", membership.is_joint().into()),
    ])
}

/// How often each reason for a refusal applied, without those that never did. `TermLeap` is `term-leap`.
pub(crate) fn refusals(refusals: &Refusals) -> JsValue {
    let counted: Vec<_> = Refusal::ALL
        .into_iter()
        .map(|reason| (kebab(&format!("{reason:?}")), refusals.count(reason)))
        .filter(|(_, count)| *count > 0)
        .collect();
    let fields: Vec<_> = counted
        .iter()
        .map(|(name, count)| (name.as_str(), f64::from(*count).into()))
        .collect();
    object(&fields)
}

fn kebab(camel: &str) -> String {
    let mut name = String::new();
    for letter in camel.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

pub(crate) fn position(at: Position) -> JsValue {
    object(&[("term", at.term.into()), ("index", at.index.into())])
}

fn token(token: Token) -> JsValue {
    object(&[
        ("generation", f64::from(token.generation).into()),
        ("counter", token.counter.into()),
    ])
}

fn ticket(ticket: Ticket) -> JsValue {
    object(&[
        ("incarnation", ticket.incarnation.into()),
        ("number", ticket.number.into()),
    ])
}

fn leader(leader: Leader) -> JsValue {
    object(&[("node", node(leader.node)), ("token", token(leader.token))])
}

/// A node that JavaScript cannot name, since a group took it in that is not all JavaScript, is a bigint rather than another
/// node.
fn node(node: NodeId) -> JsValue {
    if node.0 <= MAX_SAFE {
        (node.0 as f64).into()
    } else {
        node.0.into()
    }
}

/// An instant; `Infinity` for one that no number counts to, 285 years away or never.
fn instant(instant: Instant) -> JsValue {
    counted(instant).unwrap_or(f64::INFINITY).into()
}

/// Its microseconds, when they are exact.
pub(crate) fn counted(instant: Instant) -> Option<f64> {
    let micros = instant.as_micros();
    (micros <= MAX_SAFE).then_some(micros as f64)
}
