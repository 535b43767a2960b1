//! JSON: a reader that keeps the place of every value, so that a refusal can name the line, and a writer. Small on
//! purpose: they ride in the WASM module, of which a general library would be half.

#[cfg(not(target_family = "wasm"))]
mod indent;
mod read;
mod write;

#[cfg(not(target_family = "wasm"))]
pub(crate) use indent::indent;
pub(crate) use read::{Field, Node, Value, line_and_column, parse, path_to};
pub(crate) use write::Writer;
