//! A façade for hosts that count ticks instead of reading a clock, shaped like etcd's `Node`.
//!
//! Between two ticks time stands still for the machine, so its bounds must allow for a whole tick: the grain of the clock.
//! A host without a clock cannot notice that it was paused, either: while no tick comes, its lease does not age. Under this
//! façade a tenure is only as good as the ticks; effects must carry the token.

use core::fmt;

use crate::{Duration, Election, Input, Instant, NodeId, Output, Standing, Ticket, Unknown};

/// A machine whose time is counted in ticks.
#[derive(Clone, Debug)]
pub struct Ticked<E> {
    pub(crate) machine: E,
    pub(crate) now: Instant,
    tick: Duration,
}

/// The tick is longer than the grain the machine was configured for, or is no time at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickTooCoarse {
    /// The tick.
    pub tick: Duration,
    /// The grain of the machine.
    pub grain: Duration,
}

impl fmt::Display for TickTooCoarse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tick, grain } = self;
        write!(
            f,
            "a tick of {tick} does not fit a grain of {grain}: configure the machine's grain to at least one tick"
        )
    }
}

impl core::error::Error for TickTooCoarse {}

impl<E: Election> Ticked<E> {
    /// Wraps a machine that was built at `start`; each tick stands for `tick` of time.
    ///
    /// # Errors
    /// When the machine's bounds do not allow a clock this coarse: configure its grain to at least the tick.
    pub fn new(machine: E, start: Instant, tick: Duration) -> Result<Self, TickTooCoarse> {
        let grain = machine.grain();
        if tick > grain || tick == Duration::ZERO {
            return Err(TickTooCoarse { tick, grain });
        }
        Ok(Self {
            machine,
            now: start,
            tick,
        })
    }

    /// A tick passed.
    pub fn tick(&mut self) {
        self.now = self.now + self.tick;
        if self
            .machine
            .deadline()
            .is_some_and(|deadline| deadline <= self.now)
        {
            self.machine.handle(self.now, Input::Timeout);
        }
    }

    /// Campaign now: see [`Input::Campaign`].
    pub fn campaign(&mut self) {
        self.machine.handle(self.now, Input::Campaign);
    }

    /// A peer's message arrived.
    pub fn step(&mut self, from: NodeId, message: E::Peer) {
        self.machine.handle(self.now, Input::Peer(from, message));
    }

    /// The disk or the store answered.
    pub fn reply(&mut self, ticket: Ticket, result: Result<E::Reply, Unknown>) {
        self.machine.handle(self.now, Input::Reply(ticket, result));
    }

    /// Stop leading: see [`Input::Resign`].
    pub fn resign(&mut self, to: Option<NodeId>) {
        self.machine.handle(self.now, Input::Resign { to });
    }

    /// The next output, until `None`; drain after every call.
    #[must_use]
    pub fn poll(&mut self) -> Option<Output<E::Peer, E::Request>> {
        self.machine.poll()
    }

    /// What the node may believe, at the last tick.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.machine.standing(self.now)
    }

    /// The machine itself.
    #[must_use]
    pub fn machine(&self) -> &E {
        &self.machine
    }
}
