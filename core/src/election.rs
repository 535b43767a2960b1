//! The contract every scheme keeps: what goes into a machine, what comes out, and what a node may believe.
//!
//! A machine is a value. The host hands it inputs with the time at which they happened, drains its outputs and calls
//! again at its deadline. The laws (`C1` … `C10` of the design) that a host may rely on:
//!
//! - **C1** Whatever depends on a durable record stays inside the machine until the disk answered. A host that forgets,
//!   delays or repeats outputs loses progress, never safety.
//! - **C2** Time is an argument; there is one deadline. A spurious or repeated [`Input::Timeout`] does nothing, and a `now`
//!   that goes back is read as the latest one seen.
//! - **C3** Same seed and same inputs give the same outputs, on every target.
//! - **C4** Belief expires by itself: [`Election::standing`] shows a lapsed tenure before any message is read.
//! - **C5** Validity counts from the send of the request that was later acknowledged.
//! - **C6** Every request ends applied, not applied, or [`Unknown`].
//! - **C7** A new term has a new token, and the end of a term is reported exactly once before the next begins.
//! - **C8** Nothing allocates in the steady state, and no input a peer can send panics.
//! - **C9** Logs are shapes: payloads never enter the core.
//! - **C10** A machine has a fingerprint of its protocol state, free of absolute time and of random state.

use crate::listed::listed;
use crate::{Duration, Instant, NodeId, Token};
use core::fmt::Debug;
use core::hash::Hasher;

/// A leader election as a pure state machine.
pub trait Election: Clone {
    /// What nodes say to each other; [`core::convert::Infallible`] where there are no peers.
    type Peer: Clone + Debug + PartialEq;
    /// What is asked of the disk or the store.
    type Request: Clone + Debug + PartialEq;
    /// What the disk or the store answers when it did as asked.
    type Reply: Clone + Debug + PartialEq;

    /// Takes one input. Outputs are queued for [`poll`](Self::poll). `now` is read *after* the input arrived, and is never
    /// further behind the clock than [`grain`](Self::grain): a promise that begins too early ends too early.
    fn handle(&mut self, now: Instant, input: Input<Self::Peer, Self::Reply>);

    /// The next output, until `None`. Drain after every [`handle`](Self::handle): the deadline and the laws are
    /// stated for a drained machine.
    #[must_use]
    fn poll(&mut self) -> Option<Output<Self::Peer, Self::Request>>;

    /// When to call `handle(now, Input::Timeout)` at the latest; `None` when nothing is due. Changes with whatever changed the
    /// state: `handle`, a scheme's own calls such as a proposal or a read, and the drain after them. Ask once it is drained.
    #[must_use]
    fn deadline(&self) -> Option<Instant>;

    /// How far behind the clock the machine's bounds allow `now` to be: a tick, for a host that counts ticks.
    #[must_use]
    fn grain(&self) -> Duration;

    /// What the node may believe at `now`. This alone authorises; events are news about it. Ask again before each
    /// effect, with a fresh `now`: between two calls a tenure can lapse without any input.
    #[must_use]
    fn standing(&self, now: Instant) -> Standing;

    /// Feeds the protocol state into `hasher`, with instants relative to `now` and without random state (law C10):
    /// two machines that differ only in when they run have equal fingerprints.
    fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H);
}

/// What can happen to a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input<P, R> {
    /// Leave no gap: campaign now rather than at the election timeout. Nothing is skipped; a live leader is not
    /// disturbed. No effect on a leader.
    Campaign,
    /// A peer's message arrived.
    Peer(NodeId, P),
    /// The disk or the store answered the request with this ticket.
    Reply(Ticket, Result<R, Unknown>),
    /// Stop leading and free the followers at once. No effect on a node that does not lead.
    Resign {
        /// Who should campaign without waiting; any follower when `None`.
        to: Option<NodeId>,
    },
    /// The deadline came. Early, late or repeated calls are harmless.
    Timeout,
}

/// What a machine asks of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output<P, Q> {
    /// News for the application. Authorises nothing.
    Event(Event),
    /// Do this at the disk or the store and answer with [`Input::Reply`].
    Request(Ticket, Q),
    /// Send this to a peer. May be lost, late, repeated or reordered.
    Send(NodeId, P),
}

/// The name of a request. Tickets of one incarnation rise; a ticket of a former life is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket {
    /// The nonce the host gave this life of the machine.
    pub incarnation: u64,
    /// Counted from 1 within the incarnation.
    pub number: u64,
}

/// The third result of a request (law C6): it may or may not have been applied, now or later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unknown;

/// What a leader holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tenure {
    /// Goes with every effect, so that a guarded resource can refuse a leader that was overtaken.
    pub token: Token,
    /// The first instant, on this node's clock, at which it may no longer act unless it is renewed. It can end sooner, by
    /// resignation or a higher term: ask [`Election::standing`] again rather than keep this. [`Instant::FOREVER`] where
    /// the scheme was configured without a lease: then only the token protects.
    pub until: Instant,
}

/// What a node believes at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// This node leads, is established, and may act until the tenure ends.
    Leading(Tenure),
    /// Another leads.
    Following(Leader),
    /// Nobody is known to lead, or this node was elected and is not established yet.
    Unknown,
}

/// Whom a node follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Leader {
    /// Who leads.
    pub node: NodeId,
    /// The token of its term.
    pub token: Token,
}

/// News about the election, in the order it happened. For one node, [`Elected`](Self::Elected) and
/// [`Deposed`](Self::Deposed) alternate, and the tokens of successive elections rise strictly (law C7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Event {
    /// The term of this token is over for this node. Reported once for each [`Elected`](Self::Elected).
    Deposed(Token, Why),
    /// This node was chosen. It may not act yet.
    Elected(Token),
    /// This node may act: see [`Election::standing`].
    Established(Tenure),
    /// This node learned of another leader, or of none (`None`) after it had followed one.
    Following(Option<Leader>),
    /// A durable write ended [`Unknown`]: this incarnation acts no more. Restart from the durable record, with a
    /// fresh incarnation.
    Halted,
    /// This node leads on: the one it was to hand over to did not catch up in time. Try again, or another one.
    TransferDropped(NodeId),
}

listed! {
    /// Why a term ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Why {
        /// A durable write failed or its result is not known.
        DiskFailed,
        /// A peer named a higher term.
        HigherTerm,
        /// The tenure ended before a majority renewed it, or the leader was never established.
        Lapsed,
        /// The host asked for it, or it was elected for one task, which is done.
        Resigned,
        /// The group goes on without this node's vote, as was decided while it led.
        Removed,
        /// The host asked for it, and the successor it named has the whole log.
        Transferred,
        /// The store's record is not this node's any more: another took it, or somebody deleted it.
        Taken,
    }
}
