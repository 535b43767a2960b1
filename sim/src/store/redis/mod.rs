//! A Redis server, as far as elections use one: strings with times to live, the conditional commands, the scripts of the
//! lease schemes, asynchronous replicas, a file of commands that is synced once a second.
//!
//! **As the real one** (7.0, compared command by command in `tests/stores`):
//! - Times to live are kept as instants of the *wall clock*, which may jump; a key is over once that clock is *past* its
//!   instant, in whole milliseconds. A key that is over is deleted when it is next looked at, or by a cycle that runs ten
//!   times a second; until then a clock that jumps back revives it. The time of `WAIT` is counted by that clock, too.
//! - A script is carried out alone but not whole: an error in the middle leaves what was done before it. Its numbers are
//!   floats: a token above 2⁵³ loses its last digits on the way out, though the counter has them.
//! - A master answers before its replicas have heard, and before the file is synced. A replica hides what is over by its own
//!   clock and deletes only what its master deletes. A promoted one goes on from what reached it; the old master throws
//!   away what it has and copies the new one.
//! - When memory is full, every command first evicts what the policy allows, and what needs memory is refused when that was
//!   not enough.
//!
//! **Left out**: values that are no strings, databases but the first, transactions, publish and subscribe, snapshots (`save`)
//! and rewriting of the file, partial resynchronisation (a replica's state is the same after a full one), replicas of
//! replicas, writable replicas, `min-replicas-to-write`. Which key is evicted, and which of those that are over are found by a
//! cycle, is drawn at random there; here a fault names the key ([`Server::evict`]), and a cycle finds all.

mod command;
mod execute;
mod keyspace;
mod replicated;
mod server;

pub use command::{Command, Error, Only, Reply, Script, Ttl, When};
pub use replicated::Replicated;
pub use server::{Memory, Persistence, Server, Tail};
