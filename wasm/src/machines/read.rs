//! JavaScript values as what the core takes: whole, exact and within bounds, or refused with their place.

use super::error::Refused;
use crate::object::text;
use js_sys::{Array, Number, Reflect, Uint8Array};
use tenure::codec::{Coded, DecodeError};
use tenure::{Instant, NodeId};
use wasm_bindgen::{JsCast, JsValue};

/// The largest number that is a whole number and the only one of its value.
pub(crate) const MAX_SAFE: u64 = (1 << 53) - 1;

/// A whole number, also as a bigint.
#[inline(never)]
pub(crate) fn whole(place: &str, value: &JsValue, most: u64) -> Result<u64, Refused> {
    let read = match value.as_f64() {
        Some(_) => safe(value),
        None if value.is_bigint() => u64::try_from(value.clone()).ok(),
        None => None,
    };
    read.filter(|number| *number <= most).ok_or_else(|| {
        let bigint = if most > MAX_SAFE {
            ", as a bigint when it is 2^53 or more"
        } else {
            ""
        };
        let remedy = format!("give a whole number from 0 to {most}{bigint}");
        Refused::new("not-a-whole-number", place, &not_taken(value), &remedy)
    })
}

#[inline(never)]
pub(crate) fn small(place: &str, value: &JsValue) -> Result<u32, Refused> {
    let number = whole(place, value, u64::from(u32::MAX))?;
    // Within bounds, as was just checked.
    Ok(number as u32)
}

/// A whole number that is a number of JavaScript.
#[inline(never)]
fn safe(value: &JsValue) -> Option<u64> {
    let number = value.as_f64()?;
    let whole = number as u64;
    (whole as f64 == number && whole <= MAX_SAFE).then_some(whole)
}

#[inline(never)]
pub(crate) fn node(place: &str, value: &JsValue) -> Result<NodeId, Refused> {
    safe(value).map(NodeId).ok_or_else(|| {
        let remedy = "give a whole number from 0 to 2^53 - 1";
        Refused::new("not-a-node", place, &not_taken(value), remedy)
    })
}

/// Microseconds.
#[inline(never)]
pub(crate) fn micros(place: &str, value: &JsValue) -> Result<u64, Refused> {
    safe(value).ok_or_else(|| {
        let remedy = "give microseconds as a whole number from 0 to 2^53 - 1: Math.floor of what a clock reads";
        Refused::new("not-a-time", place, &not_taken(value), remedy)
    })
}

pub(crate) fn now(value: &JsValue) -> Result<Instant, Refused> {
    micros("now", value).map(Instant::from_micros)
}

#[inline(never)]
pub(crate) fn flag(place: &str, value: &JsValue) -> Result<bool, Refused> {
    value
        .as_bool()
        .ok_or_else(|| Refused::new("not-a-flag", place, &not_taken(value), "give true or false"))
}

/// The most bytes that are copied into the module's memory at once: what a disk holds has no limit of its own.
const MAX_COPIED: usize = 1 << 26;

/// One frame. Nothing is copied that is longer than any.
#[inline(never)]
pub(crate) fn coded<T: Coded>(place: &str, value: &JsValue) -> Result<T, Refused> {
    let Some(bytes) = value.dyn_ref::<Uint8Array>() else {
        let remedy = "give a Uint8Array";
        return Err(Refused::new("not-bytes", place, &not_taken(value), remedy));
    };
    let (length, limit) = (u64::from(bytes.length()), T::MAX_BYTES.min(MAX_COPIED));
    let decoded = if length > limit as u64 {
        Err(DecodeError::TooLong { length, limit })
    } else {
        T::decode(&bytes.to_vec())
    };
    decoded.map_err(|error| Refused::bytes(place, &error))
}

/// An object whose fields are all known.
pub(crate) struct Fields<'a> {
    place: &'a str,
    object: &'a JsValue,
}

impl<'a> Fields<'a> {
    pub(crate) fn of(place: &'a str, object: &'a JsValue, known: &[&str]) -> Result<Self, JsValue> {
        if !object.is_object() {
            let remedy = format!("give an object with {}", listed(known));
            return Err(Refused::new("not-an-object", place, &not_taken(object), &remedy).into());
        }
        for key in Reflect::own_keys(object)?.iter() {
            let name = key.as_string().unwrap_or_else(|| String::from("a symbol"));
            if !known.contains(&name.as_str()) {
                let remedy = format!("remove it; there are {}", listed(known));
                let place = format!("{place}.{name}");
                return Err(Refused::new(
                    "unknown-field",
                    &place,
                    "there is no such field",
                    &remedy,
                )
                .into());
            }
        }
        Ok(Self { place, object })
    }

    /// The place and the value of the field of that name; `None` when it is absent or undefined.
    #[inline(never)]
    fn field(&self, name: &str) -> Result<Option<(String, JsValue)>, JsValue> {
        let value = Reflect::get(self.object, &text(name))?;
        Ok((!value.is_undefined()).then(|| (format!("{}.{name}", self.place), value)))
    }

    /// The field of that name, as `read` reads it; `None` when it is absent or undefined.
    pub(crate) fn read<T, E: Into<JsValue>>(
        &self,
        name: &str,
        read: impl FnOnce(&str, &JsValue) -> Result<T, E>,
    ) -> Result<Option<T>, JsValue> {
        match self.field(name)? {
            Some((place, value)) => read(&place, &value).map(Some).map_err(Into::into),
            None => Ok(None),
        }
    }

    /// The same of a field that must be there.
    pub(crate) fn need<T, E: Into<JsValue>>(
        &self,
        name: &str,
        read: impl FnOnce(&str, &JsValue) -> Result<T, E>,
    ) -> Result<T, JsValue> {
        self.read(name, read)?.ok_or_else(|| self.missing(name))
    }

    #[inline(never)]
    fn missing(&self, name: &str) -> JsValue {
        let place = format!("{}.{name}", self.place);
        Refused::new("missing-field", &place, "it is not there", "give it").into()
    }
}

#[inline(never)]
fn listed(names: &[&str]) -> String {
    let mut text = String::new();
    for name in names {
        if !text.is_empty() {
            text.push_str(", ");
        }
        text.push_str(name);
    }
    text
}

/// The elements of an array, `most` of them at most and one more that tells of the others.
pub(crate) fn list<T>(
    place: &str,
    value: &JsValue,
    most: usize,
    read: impl Fn(&str, &JsValue) -> Result<T, Refused>,
) -> Result<Vec<T>, Refused> {
    let Some(array) = value.dyn_ref::<Array>() else {
        return Err(Refused::new(
            "not-a-list",
            place,
            &not_taken(value),
            "give an array",
        ));
    };
    let elements = array.iter().take(most + 1).enumerate();
    elements
        .map(|(at, element)| read(&format!("{place}[{at}]"), &element))
        .collect()
}

/// What a value is, for whoever gave it. A number is written by JavaScript: Rust's way of writing floats takes 6 KB.
#[inline(never)]
pub(crate) fn not_taken(value: &JsValue) -> String {
    let told = match value.dyn_ref::<Number>() {
        Some(number) => number.to_string_with_radix(10).ok().map(String::from),
        None => None,
    };
    let kind = value.js_typeof().as_string();
    match (told, value.as_string(), kind) {
        (Some(number), ..) => format!("the number {number} is not one that can be taken"),
        (_, Some(text), _) => format!("the string \"{}\" cannot be taken", begun(&text)),
        _ if value.is_null() => String::from("null cannot be taken"),
        (.., kind) => format!("this {} cannot be taken", kind.unwrap_or_default()),
    }
}

/// As much of a text as fits a line.
#[inline(never)]
fn begun(text: &str) -> String {
    let plain = text.chars().filter(|letter| !letter.is_control());
    plain.take(40).collect()
}
