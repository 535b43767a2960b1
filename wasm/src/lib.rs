//! Tenure for JavaScript, as WASM modules of two kinds with nothing in common but how a value crosses:
//!
//! - [`world`]: the simulator, for the page, whole or without elections over a store;
//! - [`machines`]: the protocols, for programs that elect.
//!
//! Times are integer microseconds in a JavaScript number. Nothing is ever rounded: a counter that may exceed 2⁵³ is text in
//! the one and a bigint in the other. Bad input is thrown with its place, reason and remedy, and never ends in a trap.

#[cfg(feature = "machines")]
pub mod machines;
mod object;
#[cfg(feature = "world")]
pub mod world;

// The standard library's allocator takes 2.5 KB more of a module after gzip, and is no faster.
#[cfg(target_family = "wasm")]
#[global_allocator]
static HEAP: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
