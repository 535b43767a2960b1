//! A key of one Redis server that ends by itself, and beside it a counter that rises with every change of hands.
//!
//! The usual recipe (`SET key value NX PX ttl`, compare and extend, compare and delete), with the counter that Redisson's
//! fenced lock adds. Each [`Request`] is one script, and the texts are [`TAKE`], [`RENEW`], [`RELEASE`], [`READ`] and
//! [`DELETE`]: `KEYS[1]` is the lock and `KEYS[2]` the counter, two keys of the election in one slot of a cluster (`{name}` and
//! `{name}:token`). The lock holds a [`Value`]; the counter is never deleted and never ends.
//!
//! # Where it is safer than the usual clients
//! - A tenure counts from the send of an acknowledged script (LS-R1) and ends by the clock; a renewal that fails is tried again
//!   until then, and nothing takes the lock anew meanwhile (LS-36).
//! - Lock and counter are changed, compared and read by one script, so that a token is that of the lock it came with. A holder
//!   never asks for its token again: Redisson's `getToken` reads the counter, which may be the successor's by then.
//! - What is given up is the own lock alone (LS-39r), until the server says so or the lease is over.
//! - A lock of its own, from an attempt whose result it never learned, is renewed before it counts (LS-R4).
//! - A counter that fell back below the own last token elects nobody; nor does one beyond [`MAX_TOKEN`], where a script's number
//!   loses digits.
//!
//! What is left out, on purpose: locks that are entered more than once, and waiters that are told by a channel (Redisson): a
//! message that is lost leaves the lock to the poll anyhow.
//!
//! # At a glance
//! **Who leads, who takes over, what stops the old leader.** Whoever's value the lock holds. Whoever asks first after the key
//! ended or was deleted. Its own clock, [`Timing::belief`](super::Timing::belief) after the send of its last renewal (1 % for
//! the clocks, 2 ms for what a server that counts in milliseconds rounds, and the margin); after that, the token at the
//! resource.
//!
//! **What it costs.** A holder runs a script each `renew` period, a waiter one each `retry` period: with a lease of nine
//! seconds a third of a write and one to two looks a second. A takeover takes a lease and a `retry` period, a hand-over a
//! `retry` period.
//!
//! **When it suffices.** Where a Redis is there already, and two leaders for a while cost work twice, or write only where the
//! token is checked, and somebody raises the generation when the server lost its data.
//!
//! **What breaks it.** A replica that is promoted before the lock has reached it, a restart without the last writes,
//! `FLUSHALL`, an eviction (use `noeviction`), a wall clock of the server that jumps forward: two hold the lock then. After the
//! last two the counter is where it was, and the guard refuses the older of them; after the others it may have fallen back with
//! the lock, so that both have one token. `WAIT` narrows the first and closes none. Raise the generation after each.

mod api;
mod keeper;
mod value;

pub use api::{DELETE, Found, READ, RELEASE, RENEW, Reply, Request, TAKE, milliseconds};
pub use keeper::{MAX_TOKEN, Redis, Server};
pub use value::Value;

use super::Config;
use crate::Duration;

/// What a server rounds: keys end at whole milliseconds.
const GRAIN: Duration = Duration::from_millis(1);

/// The same, where the store counts in milliseconds: drift is 2 ms at least, and what the pace of clocks makes. A machine
/// counts by this, and its budget is this one's.
#[must_use]
pub fn in_milliseconds(mut config: Config) -> Config {
    config.timing.grain = config.timing.grain.max(GRAIN);
    config
}
