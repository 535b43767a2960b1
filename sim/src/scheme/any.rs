//! What the nodes of any scheme say to each other, write, and keep on their disks. A further scheme of peers is a further variant
//! of each, and a line of [`among`].

#[cfg(feature = "peers")]
use super::kraft::{self, Machine as Kraft};
use super::raft::{self, Machine as Raft};
#[cfg(feature = "peers")]
use super::sentinel::{self, Machine as Sentinel};
#[cfg(feature = "peers")]
use super::zab::{self, Machine as Zab};
use super::{Logged, Scheme};
use crate::physics::disk::Kept;
use crate::physics::trace::Trace;
use tenure::log::Shape;
use tenure::random::Random;

/// What nodes of one scheme or another say to each other. Those that elect by a store say nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum PeerSaid {
    /// Raft.
    Raft(tenure::raft::Message),
    /// ZooKeeper's own election.
    #[cfg(feature = "peers")]
    Zab(tenure::zab::Message),
    /// Sentinels, and the data servers that they watch.
    #[cfg(feature = "peers")]
    Sentinel(tenure::sentinel::Message),
    /// The quorum of Kafka's controllers.
    #[cfg(feature = "peers")]
    Kraft(tenure::kraft::Message),
}

/// What a machine of one scheme or another has its disk write.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// Raft.
    Raft(tenure::raft::Write),
    /// ZooKeeper's own election.
    #[cfg(feature = "peers")]
    Zab(tenure::zab::Request),
    /// Sentinels.
    #[cfg(feature = "peers")]
    Sentinel(tenure::sentinel::File),
    /// The quorum of Kafka's controllers.
    #[cfg(feature = "peers")]
    Kraft(tenure::kraft::Write),
}

/// What a disk holds of a machine of one scheme or another: the fold of its writes.
#[derive(Clone, Debug)]
pub enum Stored {
    /// Raft.
    Raft(tenure::raft::Stored),
    /// ZooKeeper's own election.
    #[cfg(feature = "peers")]
    Zab(tenure::zab::Stored),
    /// Sentinels.
    #[cfg(feature = "peers")]
    Sentinel(tenure::sentinel::File),
    /// The quorum of Kafka's controllers.
    #[cfg(feature = "peers")]
    Kraft(tenure::kraft::Stored),
}

impl PeerSaid {
    /// The code of its kind in the trace.
    #[must_use]
    pub const fn kind(&self) -> u8 {
        match self {
            Self::Raft(message) => raft::message_kind(message),
            #[cfg(feature = "peers")]
            Self::Zab(message) => zab::message_kind(message),
            #[cfg(feature = "peers")]
            Self::Sentinel(message) => sentinel::message_kind(message),
            #[cfg(feature = "peers")]
            Self::Kraft(message) => kraft::message_kind(message),
        }
    }

    /// The term it speaks of.
    #[must_use]
    pub const fn term(&self) -> Option<u64> {
        match self {
            Self::Raft(message) => Some(message.term()),
            #[cfg(feature = "peers")]
            Self::Zab(message) => zab::code::epoch(message),
            #[cfg(feature = "peers")]
            Self::Sentinel(message) => sentinel::code::epoch(message),
            #[cfg(feature = "peers")]
            Self::Kraft(message) => kraft::code::epoch(message),
        }
    }

    /// Feeds every field that its events do not show into the hash of the trace.
    pub(crate) fn fold(&self, trace: &mut Trace) {
        match self {
            Self::Raft(message) => raft::fold(message, trace),
            #[cfg(feature = "peers")]
            Self::Zab(message) => zab::fold(message, trace),
            #[cfg(feature = "peers")]
            Self::Sentinel(message) => sentinel::fold(message, trace),
            #[cfg(feature = "peers")]
            Self::Kraft(message) => kraft::fold(message, trace),
        }
    }
}

impl Stored {
    /// A sentinel's file, if it is one.
    #[cfg(feature = "peers")]
    pub(crate) const fn sentinel(&self) -> Option<&tenure::sentinel::File> {
        match self {
            Self::Sentinel(file) => Some(file),
            _ => None,
        }
    }

    /// What Raft stores, if it is of Raft.
    #[must_use]
    pub fn raft(&self) -> Option<&tenure::raft::Stored> {
        match self {
            Self::Raft(stored) => Some(stored),
            #[cfg(feature = "peers")]
            Self::Zab(_) | Self::Sentinel(_) | Self::Kraft(_) => None,
        }
    }
}

impl Default for Stored {
    /// Of nobody yet: the first write says of which scheme it is.
    fn default() -> Self {
        Self::Raft(tenure::raft::Stored::default())
    }
}

impl Kept for Stored {
    type Write = Write;

    fn fold(&mut self, write: &Write) -> bool {
        match write {
            Write::Raft(write) => Raft::of(self).fold(write),
            #[cfg(feature = "peers")]
            Write::Zab(write) => Zab::of(self).fold(write),
            #[cfg(feature = "peers")]
            Write::Sentinel(write) => Sentinel::of(self).fold(write),
            #[cfg(feature = "peers")]
            Write::Kraft(write) => Kraft::of(self).fold(write),
        }
    }

    fn is_rested_on(write: &Write) -> bool {
        match write {
            Write::Raft(write) => <tenure::raft::Stored as Kept>::is_rested_on(write),
            #[cfg(feature = "peers")]
            Write::Zab(write) => <tenure::zab::Stored as Kept>::is_rested_on(write),
            #[cfg(feature = "peers")]
            Write::Sentinel(write) => <tenure::sentinel::File as Kept>::is_rested_on(write),
            #[cfg(feature = "peers")]
            Write::Kraft(write) => <tenure::kraft::Stored as Kept>::is_rested_on(write),
        }
    }

    fn crash(&mut self, draw: &mut Random) {
        match self {
            Self::Raft(stored) => Kept::crash(stored, draw),
            #[cfg(feature = "peers")]
            Self::Zab(stored) => Kept::crash(stored, draw),
            #[cfg(feature = "peers")]
            Self::Sentinel(stored) => Kept::crash(stored, draw),
            #[cfg(feature = "peers")]
            Self::Kraft(stored) => Kept::crash(stored, draw),
        }
    }
}

impl Logged for Stored {
    fn log(&self) -> &Shape {
        match self {
            Self::Raft(stored) => Logged::log(stored),
            #[cfg(feature = "peers")]
            Self::Zab(stored) => Logged::log(stored),
            #[cfg(feature = "peers")]
            Self::Sentinel(stored) => Logged::log(stored),
            #[cfg(feature = "peers")]
            Self::Kraft(stored) => Logged::log(stored),
        }
    }

    fn synced(&self) -> u64 {
        match self {
            Self::Raft(stored) => Logged::synced(stored),
            #[cfg(feature = "peers")]
            Self::Zab(stored) => Logged::synced(stored),
            #[cfg(feature = "peers")]
            Self::Sentinel(stored) => Logged::synced(stored),
            #[cfg(feature = "peers")]
            Self::Kraft(stored) => Logged::synced(stored),
        }
    }
}

/// A scheme of peers among the others: what is its own, and what is of any of them.
pub(super) trait Among: Scheme<Request = <Self as Scheme>::Write, Reply = ()> {
    /// What it says.
    fn says(message: Self::Peer) -> PeerSaid;
    /// What was said, if it is of this scheme.
    fn hears(said: PeerSaid) -> Option<Self::Peer>;
    /// The same, looked at.
    fn heard(said: &PeerSaid) -> Option<&Self::Peer>;
    /// What it has written.
    fn writes(write: <Self as Scheme>::Write) -> Write;
    /// What its disk holds, which is of this scheme from now on.
    fn of(stored: &mut Stored) -> &mut <Self as Scheme>::Stored;
    /// What a disk holds, if it is of this scheme.
    fn held(stored: Stored) -> Option<<Self as Scheme>::Stored>;
}

macro_rules! among {
    ($machine:ty, $variant:ident) => {
        // Where there is no other scheme, there is nothing else to be.
        #[allow(unreachable_patterns)]
        impl Among for $machine {
            fn says(message: Self::Peer) -> PeerSaid {
                PeerSaid::$variant(message)
            }

            fn hears(said: PeerSaid) -> Option<Self::Peer> {
                match said {
                    PeerSaid::$variant(message) => Some(message),
                    _ => None,
                }
            }

            fn heard(said: &PeerSaid) -> Option<&Self::Peer> {
                match said {
                    PeerSaid::$variant(message) => Some(message),
                    _ => None,
                }
            }

            fn writes(write: <Self as Scheme>::Write) -> Write {
                Write::$variant(write)
            }

            fn of(stored: &mut Stored) -> &mut <Self as Scheme>::Stored {
                if !matches!(stored, Stored::$variant(_)) {
                    *stored = Stored::$variant(Default::default());
                }
                match stored {
                    Stored::$variant(stored) => stored,
                    _ => unreachable!("it was made so"),
                }
            }

            fn held(stored: Stored) -> Option<<Self as Scheme>::Stored> {
                match stored {
                    Stored::$variant(stored) => Some(stored),
                    _ => None,
                }
            }
        }
    };
}

among!(Raft, Raft);
#[cfg(feature = "peers")]
among!(Zab, Zab);
#[cfg(feature = "peers")]
among!(Sentinel, Sentinel);
#[cfg(feature = "peers")]
among!(Kraft, Kraft);
