//! A deterministic world to run Tenure's elections in: time, network, disks, faults, judges, scenarios.
//!
//! - **W1** The same scenario and seed give the same trace, to the byte, on every target: integer time, one seed, no
//!   order of hashes, no float in any decision.
//! - **W2** A [`World`] is a value. Time travel is the nearest snapshot and a replay ([`History`]).
//! - **W3** A fault that had no effect says so, and a check that was never exercised is not passed.
//!
//! ```
//! use tenure_sim::{Scenario, World};
//!
//! let scenario = Scenario::parse(r#"{
//!     "tenure": 1, "scheme": "raft", "nodes": 3, "duration": "5s",
//!     "faults": [{"at": "2s", "crash": "leader"}]
//! }"#)?;
//! let mut world = World::new(&scenario);
//! world.run();
//! assert!(world.leader().is_some());
//! # Ok::<(), tenure_sim::Refusal>(())
//! ```
//!
//! Floors: [`physics`] knows no protocol; [`node`] hosts any election; [`check`] knows neither; [`world`] brings them
//! together; scenarios, history and reports are what people do with a world.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod app;
#[cfg(feature = "peers")]
pub mod brokers;
pub mod check;
#[cfg(all(feature = "stores", feature = "peers", not(target_family = "wasm")))]
pub mod claims;
#[cfg(not(target_family = "wasm"))]
pub mod classic;
pub mod client;
pub mod explore;
#[cfg(not(target_family = "wasm"))]
pub mod export;
pub mod failure;
pub mod fault;
pub mod history;
pub mod jobs;
mod json;
pub mod linear;
#[cfg(not(target_family = "wasm"))]
pub mod marks;
pub mod measure;
#[cfg(not(target_family = "wasm"))]
pub mod minimise;
#[cfg(feature = "cli")]
pub mod mutants;
pub mod node;
pub mod packet;
pub mod physics;
pub mod report;
pub mod resource;
pub mod scenario;
#[cfg(not(target_family = "wasm"))]
pub mod schedule;
pub mod scheme;
pub mod server;
mod sorted;
pub mod stages;
pub mod stats;
pub mod store;
#[cfg(not(target_family = "wasm"))]
pub mod sweep;
pub mod world;

pub use history::History;
pub use scenario::{Refusal, Scenario};
pub use world::World;
