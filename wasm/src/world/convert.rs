//! Values of the simulator as JavaScript values.

use crate::object::{object, text};
use js_sys::Array;
use tenure_sim::check::Verdict;
use tenure_sim::scheme::Budget;
use tenure_sim::server::Record;
use tenure_sim::world::view::{ActorKind, Field};
use wasm_bindgen::JsValue;

/// A number that is small enough to be exact.
#[inline(never)]
pub(crate) fn number(number: u64) -> JsValue {
    JsValue::from_f64(number as f64)
}

pub(crate) fn field(field: Field) -> JsValue {
    match field {
        Field::Number(exact) => number(exact),
        Field::Text(word) => text(&word),
        Field::Flag(flag) => flag.into(),
        Field::Nothing => JsValue::NULL,
    }
}

pub(crate) fn verdict(verdict: &Verdict) -> JsValue {
    let tally = verdict.tally;
    object(&[
        ("check", text(verdict.check.name())),
        ("verdict", text(verdict.outcome.name())),
        ("exercised", number(tally.exercised)),
        ("broken", number(tally.broken)),
        (
            "firstBrokenAt",
            tally.first_broken_at.map_or(JsValue::NULL, number),
        ),
    ])
}

#[inline(never)]
pub(crate) fn names(names: &[&str]) -> Array {
    names.iter().map(|name| text(name)).collect()
}

pub(crate) fn record((record, ends): (Record, Option<u64>)) -> JsValue {
    object(&[
        ("key", text(&record.key)),
        (
            "holder",
            record.holder.as_deref().map_or(JsValue::NULL, text),
        ),
        (
            "token",
            match record.token {
                0 => JsValue::NULL,
                token => text(&token.to_string()),
            },
        ),
        ("ends", ends.map_or(JsValue::NULL, number)),
        ("holds", record.holds.into()),
    ])
}

pub(crate) fn budget(budget: &Budget) -> JsValue {
    let Budget {
        belief,
        takeover,
        outage,
        slack,
    } = *budget;
    object(
        &[
            ("belief", belief),
            ("takeover", takeover),
            ("outage", outage),
            ("slack", slack),
        ]
        .map(|(name, span)| (name, number(span.as_micros()))),
    )
}

pub(crate) fn actor(id: usize, (kind, name): (ActorKind, String)) -> JsValue {
    let (kind, fenced) = match kind {
        ActorKind::Node => ("node", None),
        ActorKind::Server => ("server", None),
        ActorKind::Client => ("client", None),
        ActorKind::Resource { fenced } => ("resource", Some(fenced)),
    };
    let fields = [
        ("id", number(id as u64)),
        ("kind", text(kind)),
        ("name", text(&name)),
        (
            "fenced",
            fenced.map_or(JsValue::UNDEFINED, JsValue::from_bool),
        ),
    ];
    object(if fenced.is_some() {
        &fields
    } else {
        &fields[..3]
    })
}
