//! Kafka's single ephemeral controller.

mod answers;
mod reports;
mod rest;
mod store;
mod storms;

use super::{common, config};
