//! Values of the simulator as JavaScript values.

use js_sys::{Object, Reflect};
use tenure_sim::check::Verdict;
use tenure_sim::world::view::{ActorKind, Field};
use wasm_bindgen::JsValue;

/// A plain object.
pub(crate) fn object(fields: impl IntoIterator<Item = (&'static str, JsValue)>) -> JsValue {
    let object = Object::new();
    for (name, value) in fields {
        // Setting a field of a fresh plain object does not fail.
        let _ = Reflect::set(&object, &name.into(), &value);
    }
    object.into()
}

pub(crate) fn field(field: Field) -> JsValue {
    match field {
        Field::Number(number) => JsValue::from_f64(number as f64),
        Field::Text(text) => text.into(),
        Field::Flag(flag) => flag.into(),
        Field::Nothing => JsValue::NULL,
    }
}

pub(crate) fn verdict(verdict: &Verdict) -> JsValue {
    let tally = verdict.tally;
    object([
        ("check", verdict.check.name().into()),
        ("verdict", verdict.outcome.name().into()),
        ("exercised", JsValue::from_f64(tally.exercised as f64)),
        ("broken", JsValue::from_f64(tally.broken as f64)),
        ("firstBrokenAt", tally.first_broken_at.map_or(JsValue::NULL, |at| JsValue::from_f64(at as f64))),
        ("detail", verdict.detail.into()),
    ])
}

pub(crate) fn actor(id: usize, (kind, name): (ActorKind, String)) -> JsValue {
    let (kind, fenced) = match kind {
        ActorKind::Node => ("node", None),
        ActorKind::Client => ("client", None),
        ActorKind::Resource { fenced } => ("resource", Some(fenced)),
    };
    let fenced = fenced.map(|fenced| ("fenced", fenced.into()));
    object([("id", JsValue::from_f64(id as f64)), ("kind", kind.into()), ("name", name.into())].into_iter().chain(fenced))
}
