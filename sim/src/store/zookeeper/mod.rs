//! A server of ZooKeeper, as far as elections use one, alone ([`Server`]) or a member of an ensemble (`Member`): sessions, znodes,
//! watches. What is said here is of one that stands alone; the member says what is other.
//!
//! **As the real one** (3.8, compared command by command in `tests/stores`):
//! - A session ends by the server's clock alone, in the first whole tick after its time has passed since anything came from
//!   it; what it created as ephemeral goes with it, in one change. Its time is what the client asks for, from 2 ticks to 20.
//!   A client that comes back with the id and the password has it again, and its former connection is closed, though the
//!   password be wrong; one that has seen more than this server has is turned away.
//! - Every change has a *zxid*, one higher than the one before; so has every change that is refused, and every session that
//!   begins or ends. Its upper 32 bits are the epoch of a leader, 0 where there is none.
//! - A sequential znode is named by how often its parent had a child created, as 32 bits with a sign, so that the number
//!   begins anew with the parent. At the highest the count stays, and so does the name, which is then mostly taken.
//! - `cversion` counts children that came and went, which is not the number that names them.
//! - A watch tells of one change, on the connection it was asked on, and before the answer to the request that made the
//!   change; it is gone with the connection. `exists` watches what is not there yet, the other two do not.
//! - What is done together (`multi`) is one change, or none: then the answer is which part failed, and why.
//! - A container goes some time after its last child, when the server looks, once a minute.
//! - After a restart every session that was there begins anew, and no connection nor watch is left.
//!
//! **Left out**: access control, quotas, authentication, time to live of znodes, persistent and recursive watches, setting
//! watches again when a client comes back, data that is no text, local sessions, limits of size, of rate and of connections.
//! Nobody waits in a queue: a request is answered before the next is looked at. What the real server keeps in the order of
//! its hash tables is in the order of names here: children in a listing, and what a session takes along when it ends.

mod command;
#[cfg(feature = "peers")]
mod ensemble;
mod front;
mod image;
mod server;
mod sessions;
mod tree;
mod watches;

pub use command::{Command, Connect, Error, Event, Mode, Operation, Reply, Said, Stat, Version};
#[cfg(feature = "peers")]
pub use ensemble::{Asked, Call, Member, Peer, Told, Txn, timing};
pub use image::Image;
pub use server::Server;
pub use sessions::{Password, SessionId, password};
