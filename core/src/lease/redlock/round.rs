//! A round: one thing asked of several servers at once, and how many granted it.

use super::{MAX_SERVERS, Value};
use crate::lease::Claimant;
use crate::{Instant, Ticket};

/// Some of the servers, each a bit.
pub(super) type Servers = u16;

/// What a round is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(super) enum Kind {
    Set,
    Extend,
    Release,
    Look,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Set, Self::Extend, Self::Release, Self::Look];
}

/// One thing asked of several servers.
#[derive(Clone, Debug)]
pub(super) struct Round {
    pub(super) kind: Kind,
    pub(super) number: u64,
    /// The first send of all (LS-31).
    pub(super) sent: Instant,
    /// Those whose request the host was not told of yet.
    pub(super) untold: Servers,
    /// Those that have not answered.
    pub(super) open: Servers,
    pub(super) granted: Servers,
    /// Those that said for certain that their key is not the node's.
    pub(super) denied: Servers,
    /// Whether it is not waited for any more. Answers still count, from the send.
    pub(super) late: bool,
    /// Whether what it was for is done: what else is answered changes nothing.
    pub(super) settled: bool,
    /// Whom the first of them named, and how many named the same attempt.
    named: Option<Value>,
    votes: u32,
}

impl Round {
    pub(super) const fn new(kind: Kind, number: u64, sent: Instant, servers: Servers) -> Self {
        Self {
            kind,
            number,
            sent,
            untold: servers,
            open: servers,
            granted: 0,
            denied: 0,
            late: false,
            settled: false,
            named: None,
            votes: 0,
        }
    }

    /// Whether no more answers are waited for.
    pub(super) const fn is_over(&self) -> bool {
        self.open == 0 || self.late
    }

    /// Whether an answer of this server is awaited: it was asked, and did not answer yet.
    pub(super) const fn awaits(&self, server: u8) -> bool {
        self.open & !self.untold & (1 << server) != 0
    }

    /// A server names who holds its key.
    pub(super) fn name(&mut self, value: Value) {
        match &self.named {
            None => (self.named, self.votes) = (Some(value), 1),
            Some(first) if first.nonce == value.nonce => self.votes += 1,
            Some(_) => {}
        }
    }

    /// Whom so many servers name as the holder by one attempt.
    pub(super) fn holder(&mut self, majority: u32) -> Option<Claimant> {
        let named = self.named.take().filter(|_| self.votes >= majority);
        named.map(|value| value.claimant)
    }

    /// The number of a ticket, which says for what of which round it is, and to which server.
    pub(super) const fn ticket(number: u64, kind: Kind, server: u8) -> u64 {
        (number * Kind::ALL.len() as u64 + kind as u64) * MAX_SERVERS as u64 + server as u64
    }

    /// What a ticket is for: the round, the kind, the server.
    pub(super) fn asked(ticket: Ticket) -> (u64, Kind, u8) {
        let (rest, server) = (
            ticket.number / u64::from(MAX_SERVERS),
            ticket.number % u64::from(MAX_SERVERS),
        );
        let kinds = Kind::ALL.len() as u64;
        (
            rest / kinds,
            Kind::ALL[(rest % kinds) as usize],
            server as u8,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_says_what_it_is_for() {
        for kind in Kind::ALL {
            for (number, server) in [(0, 0), (7, 15), (1 << 57, 3)] {
                let ticket = Ticket {
                    incarnation: 1,
                    number: Round::ticket(number, kind, server),
                };
                assert_eq!(Round::asked(ticket), (number, kind, server));
            }
        }
    }
}
