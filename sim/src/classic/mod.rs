//! The textbook elections, **for teaching only**: bully, the ring of Chang and Roberts, and ballot leader election.
//!
//! Books explain leader election by the first two, and they show well why the schemes in the core look as they do: neither
//! has an epoch, a majority or anything durable, so that a cut or a slow node gives two leaders whom no resource can tell
//! apart. The third is what came of the lesson: it elects whom a quorum can talk to, where elections that go by who
//! campaigns first never come to rest.
//!
//! Nothing here is to be embedded. What each lacks is said at the head of its file:
//!
//! - [`bully`]: the highest number wins. Optionally with an epoch and a majority, to show what was missing.
//! - [`ring`]: the same, asked around a ring.
//! - [`ballot`]: heartbeat rounds, happiness and takeover, with a minimal promise of Sequence Paxos as the fence.
//! - [`raft`]: the core's own machine under the same faults, to compare with.
//!
//! [`bench`](mod@bench) is the small world they run in, [`table`] what `tenure-sim classics` prints. Their rules can be
//! switched off as those of the core ([`Rule`]).

pub mod ballot;
pub mod bench;
pub mod bully;
mod expected;
mod judge;
mod law;
pub mod raft;
pub mod ring;
mod rules;
pub mod table;
mod trial;

pub use expected::{Expected, expected};
pub use judge::Counts;
pub use law::Law;
pub use rules::{Rule, Switched};
pub use trial::{Algorithm, Cell, Trial};

use std::fmt::Debug;
use tenure::{Duration, Instant};

/// What a reign is known by, where an algorithm has such a thing: a ballot, an epoch or a term, and who made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// The number, which counts first.
    pub number: u64,
    /// Whose it is, where two may draw one number; 0 elsewhere.
    pub node: usize,
}

/// What can happen to a machine.
#[derive(Clone, Debug)]
pub enum Input<M> {
    /// It was just started, for the first time or again.
    Begin,
    /// A message of another node.
    Hear(usize, M),
    /// Its deadline came. Early or repeated calls do nothing.
    Timeout,
}

/// What a machine wants done, in this order: what it keeps is kept before what it says after that is heard.
#[derive(Clone, Debug)]
pub enum Output<M, R> {
    /// Send this to another node.
    Send(usize, M),
    /// Keep this on the disk instead of what is there. The bench's disk does at once: what a crash between a write and
    /// its answer breaks is tested on the schemes of the core, not here.
    Keep(R),
    /// News: a quorum agreed to what it was asked at that time under this mark. What a fence is there for.
    Acted(Mark, Instant),
}

/// What a node believes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It leads, until then at most.
    Leading(Option<Mark>, Instant),
    /// Another does.
    Following(usize, Option<Mark>),
    /// It knows of no leader.
    Unknown,
}

/// An election as a pure machine: one of a few nodes, numbered from 0.
pub trait Classic: Sized {
    /// What nodes say to each other.
    type Message: Clone + Debug;
    /// What a disk holds; nothing for the oldest of them.
    type Record: Clone + Debug;
    /// What all machines of a group are built from.
    type Setup: Clone;

    /// The machine of a node in one of its lives, counted from 1, with what its disk holds.
    fn boot(setup: &Self::Setup, seat: Seat, stored: Option<Self::Record>) -> Self;

    /// Takes one input, and adds what it wants done.
    fn handle(
        &mut self,
        now: Instant,
        input: Input<Self::Message>,
        out: &mut Vec<Output<Self::Message, Self::Record>>,
    );

    /// When to call with [`Input::Timeout`] at the latest; [`Instant::FOREVER`] when nothing is due.
    fn deadline(&self) -> Instant;

    /// What the node believes.
    fn standing(&self, now: Instant) -> Standing;

    /// Whether a message is part of an election: not what tells a leader that lives from one that died.
    fn elects(message: &Self::Message) -> bool;
}

/// Which node, of how many, in which of its lives.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    /// Its number.
    pub node: usize,
    /// How many there are.
    pub nodes: usize,
    /// Counted from 1.
    pub life: u64,
    /// When it starts.
    pub now: Instant,
}

impl Seat {
    /// All other nodes.
    fn others(self) -> impl Iterator<Item = usize> {
        (0..self.nodes).filter(move |other| *other != self.node)
    }

    /// More than half of all nodes.
    const fn majority(self) -> usize {
        self.nodes / 2 + 1
    }
}

/// How long the machines wait. A book says `T`; messages of the usual bench take up to 10 ms.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Between two signs of life of a leader, and between two rounds of heartbeats.
    pub beat: Duration,
    /// Without a sign for so long, the leader is taken for dead.
    pub suspect: Duration,
    /// An answer that takes longer does not come: `T`.
    pub answer: Duration,
    /// So long for an election of others to end: `T′`.
    pub outcome: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            beat: Duration::from_millis(50),
            suspect: Duration::from_millis(300),
            answer: Duration::from_millis(50),
            outcome: Duration::from_millis(200),
        }
    }
}
