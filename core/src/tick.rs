//! A façade for hosts that count ticks instead of reading a clock, shaped like etcd's `Node`.
//!
//! A host without a clock cannot notice that it was paused: while no tick comes, time stands still for the machine, and so
//! does its lease. Under this façade a tenure is only as good as the ticks; effects must carry the token.

use crate::{Duration, Election, Input, Instant, NodeId, Output, Standing, Ticket, Unknown};

/// A machine whose time is counted in ticks.
#[derive(Clone, Debug)]
pub struct Ticked<E> {
    machine: E,
    now: Instant,
    tick: Duration,
}

impl<E: Election> Ticked<E> {
    /// Wraps a machine that was built at `start`; each tick stands for `tick` of time (at least a microsecond).
    #[must_use]
    pub fn new(machine: E, start: Instant, tick: Duration) -> Self {
        Self {
            machine,
            now: start,
            tick: tick.max(Duration::from_micros(1)),
        }
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
