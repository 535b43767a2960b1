//! A group under a fault, counted in ticks: a network, the faults, and what came of them, the same for this library and for
//! its peers. `tests/benches/faults` sets them side by side, `tests/tests/faults.rs` holds this library to its budgets.

pub mod network;
pub mod scenario;
pub mod system;
pub mod tenure;
