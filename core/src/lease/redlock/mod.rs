//! One key on each of N Redis servers that know nothing of each other (Redlock): who holds more than half of them leads.
//!
//! The steps of Redis's own text: one value is set on all servers at once, where the key is absent and with a time to live;
//! each has a short time to answer; who was granted more than half of all that are configured (LS-38), soon enough, holds the
//! lock for the lease less the time that took and the drift; else it is given up on all that may have granted it, also those
//! that seemed to fail (LS-31), and tried again after a random pause. A lock is held on by comparing and extending on more than
//! half, and nothing is set anew for that. How often is not limited: a leader leads until it is told otherwise.
//!
//! A tenure counts from the first send of its round (LS-R1). What servers *hold* never elects anybody, however many name the
//! node: only a round's own answers do (LS-33).
//!
//! With an even N it is half and one: one server fewer is as safe and as available.
//!
//! # There is no token
//! Each tenure has [`Token::NONE`](crate::Token::NONE): the values are random, and no number of one server can be compared with
//! that of another. So no resource can tell an older holder from a newer one, and nothing stops a leader that was frozen in the
//! middle of its work. A counter on each server would not help without agreement among them.
//!
//! # At a glance
//! **Who leads, who takes over, what stops the old leader.** Whoever's value more than half of the servers hold. Whoever asks
//! first after that ended or was given up; of several at once maybe nobody, and they try again after random pauses. Its own
//! clock, [`Timing::belief`](super::Timing::belief) after the first send of its last round (1 % for the clocks, 2 ms for what
//! servers that count in milliseconds round, and the margin). Nothing else.
//!
//! **What it costs.** N scripts each `renew` period for a holder, and N each `retry` period for a waiter: with a lease of nine
//! seconds and five servers two writes and five to ten looks a second. The failure of fewer than half of the servers costs
//! nothing but patience.
//!
//! **When it suffices.** Where several Redis servers are there already, and two leaders at once cost work twice and nothing
//! else. Where writes must not be stale, use a scheme with a token.
//!
//! **What breaks it.** A server that comes back without its key before every lease that it granted is over: keep it out for the
//! longest lease after a crash (*delayed restart*), or sync each write before the answer. A wall clock that jumps forward on a
//! server (LS-F3), an eviction or a deletion of one key (LS-34): then two hold more than half each. A leader that is frozen, or
//! whose writes are late (LS-F1, LS-F2), as with every lease; here no guard catches them.

mod api;
mod config;
mod machine;
mod round;

pub use super::redis::{DELETE, RELEASE, Value, milliseconds};
pub use api::{Command, EXTEND, LOOK, Reply, Request, SET};
pub use config::{Config, MAX_SERVERS};
pub use machine::Redlock;
