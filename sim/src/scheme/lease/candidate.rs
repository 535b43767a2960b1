//! What is the same of a machine of any scheme: how it hears, and what it says.

use super::{StoreAsk, StoreSaid};
use crate::scheme::{Answer, Ask, PeerSaid, Write};
use std::convert::Infallible;
use tenure::{Duration, Election, Input, Instant, Output, Unknown};

/// A machine of a scheme that elects by a store.
pub(super) trait Candidate: Election<Peer = Infallible> {
    /// Which server is asked, and what.
    fn ask(request: Self::Request) -> (usize, StoreAsk);

    /// What a store of its kind said; a store of another kind has said nothing.
    fn reply(said: StoreSaid) -> Result<Self::Reply, Unknown>;

    /// How long it believes after the send of a request that was acknowledged.
    fn belief(&self) -> Duration;
}

/// An input of a world.
pub(super) fn hear<C: Candidate>(machine: &mut C, now: Instant, input: Input<PeerSaid, Answer>) {
    let input = match input {
        // They have no peers.
        Input::Peer(..) => return,
        Input::Reply(ticket, Ok(Answer::Store(said))) => Input::Reply(ticket, C::reply(said)),
        Input::Reply(ticket, _) => Input::Reply(ticket, Err(Unknown)),
        Input::Campaign => Input::Campaign,
        Input::Resign { to } => Input::Resign { to },
        Input::Timeout => Input::Timeout,
    };
    machine.handle(now, input);
}

/// Its next output, for a world.
pub(super) fn said<C: Candidate>(machine: &mut C) -> Option<Output<PeerSaid, Ask<Write>>> {
    Some(match machine.poll()? {
        Output::Request(ticket, request) => {
            let (server, ask) = C::ask(request);
            Output::Request(ticket, Ask::Store(server, ask))
        }
        Output::Event(event) => Output::Event(event),
        Output::Send(_, never) => match never {},
    })
}
