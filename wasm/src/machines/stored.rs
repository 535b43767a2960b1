//! What a disk holds, for a host that keeps it.

use super::error::Refused;
use super::output::Given;
use super::{output, read};
use wasm_bindgen::prelude::*;

/// The fold of all writes: what a node starts from.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Stored {
    stored: tenure::raft::Stored,
}

#[wasm_bindgen]
impl Stored {
    /// What `bytes` say, which `bytes` gave; nothing yet without them.
    ///
    /// # Errors
    /// Bytes that were cut, altered or written for something else.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_optional_param_type = "Uint8Array")] bytes: &JsValue,
    ) -> Result<Stored, JsValue> {
        let stored = if bytes.is_undefined() {
            tenure::raft::Stored::default()
        } else {
            read::coded("stored", bytes)?
        };
        Ok(Self { stored })
    }

    /// Carries out one more write, in the order in which they were asked for.
    ///
    /// # Errors
    /// A write that does not fit what is stored: one of them is damaged or another node's. Nothing is changed then.
    pub fn apply(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "Uint8Array")] write: &JsValue,
    ) -> Result<(), JsValue> {
        let write = read::coded("write", write)?;
        let mut next = self.stored.clone();
        next.apply(&write).map_err(|error| {
            let remedy = "restore it; what is stored, or the write, is another node's";
            Refused::told("does-not-fit", "write", &error, remedy)
        })?;
        self.stored = next;
        Ok(())
    }

    /// The whole, as one frame: a few dozen bytes, and a few more for each term that wrote to the log.
    #[wasm_bindgen(unchecked_return_type = "Uint8Array")]
    pub fn bytes(&self) -> Given {
        Ok(output::bytes(&self.stored, &mut Vec::new()))
    }

    /// The end of the log.
    #[wasm_bindgen(getter, unchecked_return_type = "Position")]
    pub fn last(&self) -> Given {
        Ok(output::position(self.stored.log.last()))
    }
}
