//! Tenure's machines for JavaScript.
//!
//! A [`Raft`] is one node of an election, and of a replicated log where it is configured with one. It does no I/O and reads
//! no clock: the program around it gives it time and messages, and carries out what [`Raft::poll`] asks. What leaves it,
//! messages and durable writes, is bytes (`tenure::codec`); what says something to the program is a small object.
//!
//! ```ts
//! const [seed] = crypto.getRandomValues(new BigUint64Array(1));
//! const raft = new Raft({ id: 0, voters: [0, 1, 2] }, { stored, incarnation, seed }, now());
//! raft.handlePeer(now(), from, bytes);                  // or handleTimeout, reply, campaign, resign, propose
//! for (let output = raft.poll(); output; output = raft.poll()) {
//!   if (output.kind === 'send') send(output.to, output.message);
//!   if (output.kind === 'request') raft.reply(now(), output.ticket, disk.write(output.write));
//! }
//! wake(raft.deadline());                                // at the latest: handleTimeout
//! if (raft.standing(now()).kind === 'leading') …        // before each effect, with its token
//! ```
//!
//! What the program owes, none of which a machine can check:
//! - `now` never runs back, counts the time that the computer sleeps, and is never further behind than `timing.grain`.
//!   The clocks of Node.js and of browsers mostly stand still during sleep: a leader that slept would wake up with a lease that
//!   did not age, beside its successor. Until its next message only the fencing token stops it.
//! - A write is answered when it is on the disk to stay, flushed; with `false` when that is not certain.
//! - Each life has a new incarnation, and starts from what its disk holds.
//!
//! After a trap, which would be a defect of this library, an instance is not to be used any more: restart from the disk.

mod config;
mod error;
mod output;
mod raft;
mod read;
mod stored;
mod types;

pub use raft::Raft;
pub use stored::Stored;
