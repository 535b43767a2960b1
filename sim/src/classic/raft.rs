//! The core's Raft among the classics, to compare with: the same machine that the rest of this crate runs, on a disk that
//! writes at once.
//!
//! Without PreVote and `CheckQuorum` it is the Raft of the first paper: whoever misses the leader raises the term, and the
//! highest term wins. That is what never comes to rest in a chain.

use super::{Classic, Input, Mark, Output, Seat, Standing};
use crate::scheme::Scheme;
use crate::scheme::raft::{Machine, Setup};
use tenure::raft::{Message, Stored};
use tenure::{Election, Instant, NodeId};

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Nothing where the setup makes no machine.
    machine: Option<Machine>,
    stored: Stored,
}

type Outputs = Vec<Output<Message, Stored>>;

impl Node {
    fn feed(&mut self, now: Instant, input: tenure::Input<Message, ()>, out: &mut Outputs) {
        let Some(machine) = &mut self.machine else {
            return;
        };
        machine.handle(now, input);
        while let Some(output) = machine.poll() {
            match output {
                tenure::Output::Send(to, message) => {
                    out.push(Output::Send(to.0 as usize, message));
                }
                tenure::Output::Request(ticket, write) => {
                    let done = self.stored.apply(&write).map_err(|_| tenure::Unknown);
                    out.push(Output::Keep(self.stored.clone()));
                    machine.handle(now, tenure::Input::Reply(ticket, done));
                }
                tenure::Output::Event(_) => {}
            }
        }
    }
}

impl Classic for Node {
    type Message = Message;
    type Record = Stored;
    type Setup = Setup;

    fn boot(setup: &Setup, seat: Seat, stored: Option<Stored>) -> Self {
        Self {
            machine: Machine::boot(setup, seat.node, seat.life, stored.clone(), seat.now),
            stored: stored.unwrap_or_default(),
        }
    }

    fn handle(&mut self, now: Instant, input: Input<Message>, out: &mut Outputs) {
        let input = match input {
            Input::Begin | Input::Timeout => tenure::Input::Timeout,
            Input::Hear(from, message) => tenure::Input::Peer(NodeId(from as u64), message),
        };
        self.feed(now, input, out);
    }

    fn deadline(&self) -> Instant {
        let machine = self.machine.as_ref();
        machine
            .and_then(Election::deadline)
            .unwrap_or(Instant::FOREVER)
    }

    fn standing(&self, now: Instant) -> Standing {
        let mark = |token: tenure::Token| {
            Some(Mark {
                number: token.counter,
                node: 0,
            })
        };
        match self.machine.as_ref().map(|machine| machine.standing(now)) {
            Some(tenure::Standing::Leading(tenure)) => {
                Standing::Leading(mark(tenure.token), tenure.until)
            }
            Some(tenure::Standing::Following(leader)) => {
                Standing::Following(leader.node.0 as usize, mark(leader.token))
            }
            Some(tenure::Standing::Unknown) | None => Standing::Unknown,
        }
    }

    fn elects(message: &Message) -> bool {
        matches!(
            message,
            Message::RequestPreVote { .. }
                | Message::PreVoteGranted { .. }
                | Message::PreVoteRefused { .. }
                | Message::RequestVote { .. }
                | Message::VoteGranted { .. }
                | Message::VoteRefused { .. }
        )
    }
}
