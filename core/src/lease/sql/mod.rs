//! A row in a database, with an epoch that rises with every change of hands.
//!
//! | name | holder | metadata | nonce | epoch | expires |
//! |---|---|---|---|--:|---|
//!
//! The row is never deleted, so that its epoch, which is the token, never falls. Times are those of the database alone
//! ([`text`] has the statements). A candidate takes the row when it was given up or has expired, which raises the epoch;
//! renews it, which does not; and gives it up, which raises it again.
//!
//! What is left out, on purpose: `lockAtMostFor` and `lockAtLeastFor` of schedulers' locks (a job's own business), and the
//! name as proof of holding (ShedLock's `locked_by` is the host's: two processes of one host are one owner there).

mod api;
mod row;
pub mod session;
pub mod text;

pub use api::{MAX_EPOCH, Reply, Request, Row};
pub use row::Sql;
