//! What the world asks of a scheme beyond the contract of the core: how to start it, and what to show of it.
//!
//! The world runs any [`Election`]; one file a scheme says how that scheme's machine is built, how its messages are
//! named in the trace, and which facts about it the checkers are told. [`Machine`] is one of any scheme: the host is made
//! once for all of them.

mod any;
#[cfg(feature = "peers")]
pub mod kraft;
#[cfg_attr(not(feature = "stores"), path = "lease/none.rs")]
pub mod lease;
mod machine;
#[cfg(feature = "peers")]
pub mod particulars;
pub mod raft;
#[cfg(feature = "peers")]
pub mod sentinel;
#[cfg(feature = "peers")]
pub mod zab;

pub use any::{PeerSaid, Stored, Write};
pub use lease::{ServerSaid, StoreAsk, StoreSaid};
pub use machine::{Machine, Refusals, Setup, Unfit};
pub use tenure::lease::Budget;

use crate::check::Fact;
#[cfg(feature = "peers")]
use crate::check::broadcast::Act;
use crate::check::configurations::Configuration;
use crate::packet::Load;
use crate::packet::Packet;
use crate::physics::disk::Kept;
use crate::physics::trace::Trace;
use std::sync::Arc;
use tenure::fence::Holder;
use tenure::log::{Position, Shape};
#[cfg(not(target_family = "wasm"))]
use tenure::raft::ChangeRefused;
use tenure::{Election, Instant, Token};

/// What a machine asks its host for.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask<W> {
    /// Its own disk.
    Disk(W),
    /// A server of a store, by its number.
    Store(usize, StoreAsk),
}

/// What a machine is answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It is written.
    Written,
    /// A store says this.
    Store(StoreSaid),
}

/// A machine that a world can host, asking its host as hosts of a world are asked.
pub trait Hosted: Scheme<Request = Ask<<Self as Scheme>::Write>, Reply = Answer> {}

impl<M> Hosted for M where M: Scheme<Request = Ask<<M as Scheme>::Write>, Reply = Answer> {}

/// What a disk holds of a machine that may have a log.
pub trait Logged: Kept {
    /// The log, with what was appended to it and not synced yet.
    fn log(&self) -> &Shape;

    /// Up to where a crash leaves it.
    fn synced(&self) -> u64 {
        u64::MAX
    }
}

/// What a world asks of a scheme.
pub trait Scheme: Election {
    /// What its machines are built from.
    type Setup: Clone + std::fmt::Debug;
    /// What its disk is asked to write; nothing can be where it has no need of one.
    type Write: Clone + std::fmt::Debug;
    /// What its disk holds: the fold of its writes.
    type Stored: Logged<Write = Self::Write> + std::fmt::Debug;
    /// Its counts of what it refused.
    type Refusals: Copy + Default + PartialEq + std::fmt::Debug;

    /// Starts a life of node `node` from what its disk holds. `None` when the machine cannot be built from it.
    fn boot(
        setup: &Self::Setup,
        node: usize,
        life: u64,
        stored: Option<Self::Stored>,
        now: Instant,
    ) -> Option<Self>;

    /// What it shows of itself. Asked after every input: cheap.
    fn look(&self) -> Look;

    /// What else it shows, for drawing.
    fn detail(&self) -> Detail;

    /// What is particular to its scheme, for drawing; nothing where all that is to be shown is shown of every scheme.
    #[cfg(feature = "peers")]
    fn particulars(&self) -> particulars::Particulars {
        particulars::Particulars::default()
    }

    /// Who this life of it is to a guarded resource.
    fn holder(&self) -> Holder;

    /// What it refused so far.
    fn refusals(&self) -> Self::Refusals;

    /// The code of a reason for which more was refused than `before`.
    fn newly_refused(before: &Self::Refusals, now: &Self::Refusals) -> Option<u64>;

    /// The message as a packet.
    fn pack(message: Self::Peer) -> Packet;

    /// Its log, if it has one.
    fn log(&self) -> Option<&Shape>;

    /// Up to where the log is committed.
    fn committed(&self) -> u64;

    /// The host's state is as of this entry. Whether it has more to say since.
    fn applied(&mut self, _: Instant, _index: u64) -> bool {
        false
    }

    /// Appends an entry to the log; `None` when it may not.
    fn propose(&mut self, now: Instant) -> Option<Position>;

    /// The connection to another node ended, could not be made, or stands again. Told to those alone that
    /// [speak over connections](Setup::is_connected).
    fn connection(&mut self, _: Instant, _peer: usize, _stands: bool) {}

    /// What was decided in a tenure is kept in the store by which it was elected, where that is for those who lead. Whether it
    /// is to be said.
    fn keep(&mut self, _: Instant, _token: Token, _value: u64) -> bool {
        false
    }

    /// In which tenure something was decided that the store refused to keep.
    fn poll_refused(&mut self) -> Option<Token> {
        None
    }

    /// Who leads begins a change of who takes part; false when it may not.
    fn change(&mut self, _: Instant, _voters: &[u16], _learners: &[u16]) -> bool {
        false
    }

    /// Why it would not begin that change now; nothing when it would.
    #[cfg(not(target_family = "wasm"))]
    fn refuses_change(
        &self,
        _: Instant,
        _voters: &[u16],
        _learners: &[u16],
    ) -> Option<ChangeRefused> {
        None
    }

    /// Who leads hands over; false when it may not.
    fn transfer(&mut self, _: Instant, _to: usize) -> bool {
        false
    }

    /// Who takes part from an entry of this write on, with its index and term.
    fn configured(_: &Self::Write) -> Option<(u64, u64, Configuration)> {
        None
    }

    /// Whether what is read is an entry, for want of another way to know that it is not stale.
    fn reads_by_entry(&self) -> bool {
        false
    }

    /// Whether clients are shown what it has, stale as it may be.
    fn shows(&self, _: Instant) -> bool {
        true
    }

    /// Asks for a read that a majority confirms: its number; `None` when nobody could.
    fn read(&mut self, now: Instant) -> Option<u64>;

    /// Up to where the state must have come for a read that the lease allows now; `None` without one.
    fn read_leased(&mut self, _: Instant) -> Option<u64> {
        None
    }

    /// All reads up to a number may be answered once the state has come up to an index; or not at all.
    fn poll_read(&mut self) -> Option<(u64, Option<u64>)>;

    /// The host has a snapshot as of `index`.
    fn compact(&mut self, now: Instant, index: u64);

    /// What a message has of the log.
    fn carried(message: &Self::Peer) -> Carried;

    /// What a write changes of the log.
    fn changed(write: &Self::Write) -> Carried;

    /// The message with what the host attached, as a packet.
    fn load(message: Self::Peer, load: Arc<Load>) -> Packet;

    /// The message in a packet and what is attached to it.
    fn unload(packet: Packet) -> Option<(Self::Peer, Option<Arc<Load>>)>;

    /// What a message that leaves `node` for `to` tells the checkers.
    fn said(&self, node: usize, to: usize, message: &Self::Peer) -> Option<Fact>;

    /// The epoch as a member of which it logs and acknowledges; none of those that have no epochs, or when it is in none.
    #[cfg(feature = "peers")]
    fn acting_epoch(&self) -> Option<u64> {
        None
    }

    /// What it does that rests on its disk when this message leaves it.
    #[cfg(feature = "peers")]
    fn acts(&self, _: &Self::Peer) -> Option<Act> {
        None
    }

    /// The epochs on a disk: accepted and current.
    #[cfg(feature = "peers")]
    fn epochs(_: &Self::Stored) -> Option<(u64, u64)> {
        None
    }

    /// What a write records.
    fn recorded(write: &Self::Write) -> Recorded;

    /// What is recorded on a disk.
    fn stored(stored: &Self::Stored) -> Recorded;

    /// Feeds what the event of a write does not show into the trace.
    fn fold(write: &Self::Write, trace: &mut Trace);
}

/// What a message or a write has of the log, to which a host attaches what it keeps under those names (law C9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// Nothing.
    Nothing,
    /// Entries.
    Entries {
        /// The entry before them.
        after: Position,
        /// The term that wrote them.
        term: u64,
        /// How many.
        count: u64,
    },
    /// The state as of an entry, with which the log begins from then on.
    State(Position),
    /// The same, and nothing that the log has is left in it; no state where it is as of the start.
    Anew(Position),
    /// Nothing after this entry is left.
    Cut(Position),
}

/// What is recorded of an election, to be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Its term.
    pub term: u64,
    /// Its vote.
    pub vote: Option<u16>,
}

/// What a node is doing, in the codes of the JavaScript interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum RoleCode {
    /// Follows, or waits for somebody to follow.
    Follower = 0,
    /// Asks whether it would be voted for.
    PreCandidate = 1,
    /// Asks for votes.
    Candidate = 2,
    /// Leads, and may not act yet.
    Elected = 3,
    /// Leads and may act.
    Established = 4,
    /// Acts no more until it is started again.
    Halted = 5,
    /// Looks for a leader, or to be one, by votes that bind nobody.
    Looking = 6,
    /// Follows without a vote.
    Observer = 7,
}

impl RoleCode {
    /// Whether it leads, also where it may not act yet.
    #[must_use]
    pub const fn leads(self) -> bool {
        matches!(self, Self::Elected | Self::Established)
    }
}

/// What a machine shows of itself. Instants are on its own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// What it is doing.
    pub role: RoleCode,
    /// Its term.
    pub term: u64,
    /// Whom it voted for in that term.
    pub vote: Option<u16>,
    /// Whom it follows.
    pub leader: Option<u16>,
}

/// The rest of what a machine shows of itself, for drawing. Instants are on its own clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// When its timer was armed.
    pub armed_at: Instant,
    /// A leader's lease: from, until.
    pub lease: Option<(Instant, Instant)>,
    /// A voter's promise: since, until, the term it was given to.
    pub promise: Option<(Instant, Instant, Option<u64>)>,
    /// Records the disk has not answered.
    pub pending: u64,
    /// Votes or pre-votes of the present attempt.
    pub grants: usize,
    /// The end of its log: term and index.
    pub last: (u64, u64),
}
