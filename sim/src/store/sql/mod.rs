//! A PostgreSQL server, as far as elections use one: a table of rows, transactions that hold row locks, sessions with
//! advisory locks, the statements of [`tenure::lease::sql::text`], an asynchronous standby, a backup.
//!
//! **As the real one** (15, compared statement by statement in `tests/stores`):
//! - Every statement sees what was committed before it, and what its own transaction changed (READ COMMITTED). A row that it
//!   changes is locked until the transaction ends, also when `ON CONFLICT … WHERE` found that it may not change it.
//! - A statement that meets the lock of another waits, and nothing bounds that. When the row was changed meanwhile, it is
//!   carried out on what it finds then, with `clock_timestamp()` as it is then. When the lock came and went without a change,
//!   an `UPDATE` is carried out as it was worked out *before* it waited, its times included; `INSERT … ON CONFLICT` looks at
//!   row and clock only once it has the lock, but for a row that is not there, whose values are older.
//! - `now()` is when the transaction began.
//! - An advisory lock belongs to the session: it outlives a rollback, is counted, and goes when the session ends, whose
//!   transaction is rolled back. A session ends when its connection is closed, when an operator says so, when it was idle for too
//!   long outside a transaction, and when the server restarts; of the last three its client hears with its next statement.
//! - What was committed survives a crash. A standby has it once it was streamed there, and locks are not: one that is
//!   promoted goes on from what had reached it, as does whoever restores a backup, without anybody's session.
//!
//! **Left out**: every other statement, and errors but for those that end a session; deadlocks, which take two rows; other levels
//! of isolation; who comes first of several that wait for one row (here who came first: there they race, once it was changed).

mod server;
mod sessions;
mod statement;
mod table;

pub use server::Server;
pub use statement::{Columns, Said, Session, Statement, Text, Values};
