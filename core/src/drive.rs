//! The host's duties, in one place.
//!
//! A host that reads a clock, sends, writes and waits as [`Host`] says is driven by [`drive`] alone. Runtimes with a loop
//! of their own do the same three things: drain the outputs after every input, wait no longer than the deadline, and let
//! a timeout that is due pass before more input.

use crate::{Election, Event, Input, Instant, NodeId, Output, Ticket};

/// What a machine needs of the program around it.
pub trait Host<E: Election> {
    /// Monotonic time that counts suspend.
    fn now(&mut self) -> Instant;

    /// Sends to a peer; may fail silently.
    fn send(&mut self, to: NodeId, message: E::Peer);

    /// Asks the disk or the store. The answer comes back from [`wait`](Self::wait) as [`Input::Reply`]: when it was done
    /// for good (written *and* flushed), or as [`Unknown`](crate::Unknown) when that is not certain.
    fn request(&mut self, ticket: Ticket, request: E::Request);

    /// News for the application.
    fn event(&mut self, event: Event);

    /// All outputs were carried out: the time to look at the machine, apply what it has committed, answer reads, and hand
    /// over proposals that waited. What that makes it say is carried out next. Nothing to do for an election alone.
    fn settled(&mut self, machine: &mut E) {
        let _ = machine;
    }

    /// Waits for the next input, at most until `deadline` (for ever without one).
    fn wait(&mut self, deadline: Option<Instant>) -> Wake<E>;
}

/// Why a wait ended.
pub enum Wake<E: Election> {
    /// The deadline came; early is harmless.
    Deadline,
    /// Something arrived.
    Input(Input<E::Peer, E::Reply>),
    /// The program wants to stop. For a quick succession resign first, by [`Input::Resign`], and stop once
    /// [`settled`](Host::settled) has seen the machine lead no more, and give nothing up any more where it says so (`releasing`
    /// of the schemes over a store).
    Stop,
}

/// Runs a machine until the host stops it.
pub fn drive<E: Election>(machine: &mut E, host: &mut impl Host<E>) {
    loop {
        drain(machine, host);
        let woken = host.wait(machine.deadline());
        let now = host.now();
        // A flood of input must not keep a due timeout waiting: it could be the end of a tenure.
        if machine.deadline().is_some_and(|deadline| deadline <= now) {
            machine.handle(now, Input::Timeout);
            drain(machine, host);
        }
        match woken {
            Wake::Deadline => {}
            Wake::Input(input) => machine.handle(now, input),
            Wake::Stop => return,
        }
    }
}

/// Hands every queued output to the host, and what the host makes of them.
pub fn drain<E: Election>(machine: &mut E, host: &mut impl Host<E>) {
    carry_out(machine, host);
    host.settled(machine);
    carry_out(machine, host);
}

fn carry_out<E: Election>(machine: &mut E, host: &mut impl Host<E>) {
    while let Some(output) = machine.poll() {
        match output {
            Output::Event(event) => host.event(event),
            Output::Request(ticket, request) => host.request(ticket, request),
            Output::Send(to, message) => host.send(to, message),
        }
    }
}
