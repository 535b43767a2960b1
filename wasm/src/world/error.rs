//! Errors as plain objects.

use crate::object::{object, text};
use tenure_sim::Refusal;
use wasm_bindgen::JsValue;

/// What is thrown: where, why, and what to do.
pub(crate) struct WorldError(Refusal);

impl WorldError {
    #[inline(never)]
    pub(crate) fn new(code: &'static str, place: &str, reason: &str, remedy: &str) -> Self {
        Self(Refusal {
            code,
            place: place.to_owned(),
            reason: reason.to_owned(),
            remedy: remedy.to_owned(),
        })
    }
}

impl From<Refusal> for WorldError {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

impl From<WorldError> for JsValue {
    #[inline(never)]
    fn from(WorldError(refusal): WorldError) -> Self {
        object(&[
            ("code", text(refusal.code)),
            ("place", text(&refusal.place)),
            ("reason", text(&refusal.reason)),
            ("remedy", text(&refusal.remedy)),
        ])
    }
}
