//! What is thrown when an input is refused.

use crate::object::text;
use core::fmt::Display;
use js_sys::{Error, Reflect};
use tenure::codec::DecodeError;
use wasm_bindgen::JsValue;

/// A refusal: where, why, and what to do.
pub(crate) struct Refused {
    code: &'static str,
    place: String,
    reason: String,
    remedy: String,
}

impl Refused {
    #[inline(never)]
    pub(crate) fn new(code: &'static str, place: &str, reason: &str, remedy: &str) -> Self {
        Self {
            code,
            place: place.to_owned(),
            reason: reason.to_owned(),
            remedy: remedy.to_owned(),
        }
    }

    /// An error of the core, whose text names the remedy after a semicolon or a colon; `otherwise` where it names none.
    #[inline(never)]
    pub(crate) fn told(
        code: &'static str,
        place: &str,
        error: &dyn Display,
        otherwise: &str,
    ) -> Self {
        let told = error.to_string();
        // Byte by byte: the search of the standard library, and what it says of bad slices, take 2 KB of the module.
        let find = |mark: &[u8; 2]| told.as_bytes().windows(2).position(|pair| pair == mark);
        let cut = find(b"; ").or_else(|| find(b": "));
        let parts = cut.and_then(|cut| Some((told.get(..cut)?, told.get(cut + 2..)?)));
        let (reason, remedy) = parts.unwrap_or((&told, otherwise));
        Self::new(code, place, reason, remedy)
    }

    /// Bytes that are none of what they were given as.
    pub(crate) fn bytes(place: &str, error: &DecodeError) -> Self {
        let refused = Self::told(error.code(), place, error, error.remedy());
        match error {
            // The core says what to do about a disk, too.
            DecodeError::Damaged { .. } | DecodeError::Truncated { .. } if place == "message" => {
                Self {
                    remedy: String::from("drop it: to the machine it was lost"),
                    ..refused
                }
            }
            _ => refused,
        }
    }
}

impl From<Refused> for JsValue {
    #[inline(never)]
    fn from(refused: Refused) -> Self {
        let Refused {
            code,
            place,
            reason,
            remedy,
        } = refused;
        let error = Error::new(&format!("{place}: {reason}; {remedy}"));
        error.set_name("TenureError");
        for (name, value) in [
            ("code", code),
            ("place", &place),
            ("reason", &reason),
            ("remedy", &remedy),
        ] {
            // Setting a field of a fresh error does not fail.
            let _ = Reflect::set(&error, &text(name), &text(value));
        }
        error.into()
    }
}
