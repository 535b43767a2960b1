//! Errors as plain objects.

use crate::convert::object;
use tenure_sim::Refusal;
use wasm_bindgen::JsValue;

/// What is thrown: where, why, and what to do.
pub(crate) struct WorldError(Refusal);

impl WorldError {
    pub(crate) fn new(code: &'static str, place: &str, reason: &str, remedy: &str) -> Self {
        Self(Refusal { code, place: place.to_owned(), reason: reason.to_owned(), remedy: remedy.to_owned() })
    }
}

impl From<Refusal> for WorldError {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

impl From<WorldError> for JsValue {
    fn from(WorldError(refusal): WorldError) -> Self {
        object([
            ("code", refusal.code.into()),
            ("place", refusal.place.into()),
            ("reason", refusal.reason.into()),
            ("remedy", refusal.remedy.into()),
        ])
    }
}
