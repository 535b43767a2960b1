//! A row in a database, with an epoch that rises with every change of hands.
//!
//! | name | holder | metadata | nonce | epoch | expires |
//! |---|---|---|---|--:|---|
//!
//! The row is never deleted, so that its epoch, which is the token, never falls. Times are those of the database alone
//! ([`text`] has the statements). A candidate reads the row until it was given up or has expired, and takes it, which raises
//! the epoch; renews it, which does not; and gives it up, which raises it again.
//!
//! Two ways: by the row alone ([`Sql`]), or by a lock that belongs to a [`session`] of the database, with the row for the
//! epoch. Take the first, unless the database must not be written to every few seconds.
//!
//! What is left out, on purpose: `lockAtMostFor` and `lockAtLeastFor` of schedulers' locks (a job's own business); the name
//! as proof of holding (ShedLock's `locked_by` is the host's: two processes of one host are one owner there); clocks of
//! applications (LS-49). SQLite would serve the processes of one machine, with other words for clock and
//! times; MySQL has no `RETURNING`: neither is here.
//!
//! # Who leads, who takes over, what stops the old one
//! Whose nonce and epoch are in the row, until its `expires`; the holder counts from before it asked, and stops earlier.
//! Whoever first finds the row free takes over: after a resignation within a pause of the waiters, after a crash when it has
//! expired. The old one is stopped by its own clock, and at the resource by the epoch, which is below the new one's.
//!
//! # What it costs
//! With a lease of 9 seconds a holder makes a request every 2.9 seconds, each a small update (of a page that has room for it, so
//! that no index is touched), and each waiter reads every 0.75 seconds and writes nothing. A takeover is two statements.
//!
//! # When it suffices
//! When there is a database anyway, with one primary that keeps what it has committed. Where its standby is synchronous
//! (`synchronous_standby_names`, and `synchronous_commit` not below `on`) a failover keeps the row. The work that is protected is best
//! done in the same database. Each transaction of a leader begins with
//!
//! ```sql
//! SELECT FROM elections WHERE name = $1 AND epoch = $2 FOR SHARE
//! ```
//!
//! with the counter of its token as `$2`, and is rolled back when no row comes back: no late write gets in. Until it is over
//! nobody can take the row, or renew it: it has to be much shorter than a lease. This knows epochs alone: what a lost commit
//! leaves with one epoch twice, only a [guard](crate::fence) with a record of its own finds out.
//!
//! # What breaks it
//! - A standby that is promoted without the last commits, or a restore from a backup (LS-53): row and epoch fall back, two
//!   believe for less than a lease, and both have one epoch. Broken by design; the [guard](crate::fence) knows the holders apart, and
//!   refuses the second. Raise the generation then, on every node.
//! - A row that is deleted: the epoch begins anew. Nodes that led with a higher one refuse to lead with a lower; others do
//!   not know.
//! - A database clock that jumps forward ends the lease early: two believe until the next renewal. One that jumps back keeps
//!   everybody out for as long.
//! - Two primaries. Nothing here can tell them apart.
//!
//! A transaction that keeps the row locked delays everything and breaks nothing: what waited is carried out with the time at
//! which it got the row, or with an earlier one, and the holder has long stopped.

mod api;
mod row;
pub mod session;
pub mod text;

pub use api::{MAX_EPOCH, Reply, Request, Row};
pub use row::{Database, Sql};
