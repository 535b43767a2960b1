//! Kafka's single ephemeral controller.

mod reports;
mod rest;
mod store;
mod storms;

use super::{common, config};
