//! Plain objects and text of JavaScript.

use js_sys::{Object, Reflect};
use wasm_bindgen::JsValue;

/// A plain object.
#[inline(never)]
pub(crate) fn object(fields: &[(&str, JsValue)]) -> JsValue {
    let object = Object::new();
    for (name, value) in fields {
        // Setting a field of a fresh plain object does not fail.
        let _ = Reflect::set(&object, &text(name), value);
    }
    object.into()
}

#[inline(never)]
pub(crate) fn text(text: &str) -> JsValue {
    JsValue::from_str(text)
}
