//! What a server shows that keeps data of its own, and no store by which nodes elect.

/// What it is among its like, and how far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serves {
    /// What it is.
    pub part: Part,
    /// The actor whose data it copies.
    pub follows: Option<u16>,
    /// How much data it has: the place of the last write in it.
    pub end: u64,
    /// How much of it is committed, as far as it knows; nothing where nothing is.
    pub committed: Option<u64>,
    /// Whether it is in touch with whom it follows; of a broker, whether it may lead as it heard last.
    pub linked: bool,
    /// Whether it copies all of it anew.
    pub copying: bool,
    /// Whether it takes writes.
    pub writable: bool,
}

/// What a server is, in the codes of the JavaScript interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Part {
    /// A store by which nodes elect.
    Store = 0,
    /// Clients write to it, and others copy from it.
    Master = 1,
    /// It copies from another.
    Replica = 2,
    /// A broker that leads the partition that is shown.
    Leader = 3,
    /// A broker with a replica of it that does not lead.
    Follower = 4,
    /// A broker without.
    Broker = 5,
}

impl Part {
    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Master => "master",
            Self::Replica => "replica",
            Self::Leader => "leader",
            Self::Follower => "follower",
            Self::Broker => "broker",
        }
    }
}
