//! A lock that belongs to a session of the database, and a row for the epoch: no lease in the database, nothing written while
//! somebody leads.
//!
//! The lock is PostgreSQL's advisory lock of a session. It is the server's to keep, and it is gone with the session: when the
//! connection is closed by either side, by an operator (`pg_terminate_backend`), by a pool that finds it too old, by a restart
//! or a failover. **Whoever held it may not know.** So the lock alone makes nobody a leader here:
//!
//! - Whoever gets the lock draws an epoch in the row, in the same session, and commits that. It is the token.
//! - A leader asks every third of a lease, in that very session, whether session and row are its own still, and believes for a
//!   lease from the *send* of what was answered last (LS-R1). It writes nothing, and the server knows of no lease.
//! - Who leaves writes into the row that it has stopped. Whoever draws an epoch over a row where nobody says so waits for a
//!   lease from then on: no answer that the former holder has had, or will have, was sent later than that.
//!
//! **What is safe.** Two never believe at once, whatever becomes of sessions, connections and the lock: the row orders who
//! drew, under its row lock, and the wait is longer than a belief. What has to be trusted is that the database keeps what it has
//! committed, as for the [row](super). The lock only keeps others from drawing while somebody leads: without it
//! leaders change all the time, and never overlap (that is tested). Elections by a lock alone have no wait and no token, and are broken by
//! design: the lock is another's before its holder has heard that its session is over (LS-46, LS-48).
//!
//! **Why not a row lock**, `SELECT … FOR UPDATE` in a transaction that is held open. It ends just as unheard. An epoch that its own
//! transaction draws is rolled back when the session dies, so that the next holder draws the same one; and no other
//! connection can draw it, for the row is locked. A transaction that is open for days keeps `VACUUM` from cleaning up, and
//! `idle_in_transaction_session_timeout` ends it.
//!
//! **What bounds how long a dead one holds the lock.** A process that dies closes its connections, and the lock is free at
//! once. A machine that dies, or is cut off, says nothing: the server would notice by TCP's keep-alive, after two hours as systems
//! have it, or by `tcp_user_timeout`, only if it had something to say. So a session begins with `idle_session_timeout` of a lease
//! ([`OPEN`](super::text::OPEN)), which ends it whatever TCP believes. Safety does not depend on it.
//!
//! # Who leads, who takes over, what stops the old one
//! Whose epoch is in the row, while its session answers. Whoever gets the lock next takes over: after a resignation at once, and
//! after a crash when the server has noticed and a lease has passed. Who has lost its session and gets the lock again, before
//! anybody else, leads again at once, with another epoch (LS-47). The old one is stopped by its own clock, and at the resource
//! by the epoch.
//!
//! # What it costs
//! With a lease of 9 seconds a leader reads every 2.9 seconds, and a waiter tries the lock and reads every 0.75 seconds; each
//! has a connection of its own. One write a term, and one at its end. A takeover from a machine that is cut off takes up to two
//! leases where the row alone takes one ([`Config::budget`]).
//!
//! # When it suffices
//! When a database must not be written to every few seconds: a standby that is far away, a small disk, many elections. It needs
//! PostgreSQL 14 and direct connections.
//!
//! # What breaks it
//! - What breaks the [row](super): commits that are lost (LS-53), two primaries. The clock of the database may do what it likes.
//! - A pooler in transaction mode (LS-46), or a pool that hands the connection to others: the lock is another's session's.
//!   Probes find that out, and nobody leads for long. So does a proxy that sends what only reads to a standby.
//! - A connection that is half open (LS-48) costs a takeover the time for which the server lets it be idle.

mod api;
mod config;
mod machine;

pub use api::{Call, Reply, Request, Row};
pub use config::Config;
pub use machine::Session;
