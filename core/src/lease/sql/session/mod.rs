//! A lock that belongs to a session of the database, and a row for the epoch.

mod api;
mod machine;

pub use api::{Call, Reply, Request, Row};
pub use machine::Session;
