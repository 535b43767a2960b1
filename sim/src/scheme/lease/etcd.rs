//! The queue of candidates in etcd, in the world: each request is one call.

use super::{StoreAsk, StoreSaid};
use crate::server::Service;
use crate::store::etcd::Etcd;
use tenure::Ticket;

/// How the keys of the candidates begin, before a slash; or the one key.
pub(super) const PREFIX: &str = "election";

impl Service for Etcd {
    fn ask(&mut self, now: u64, client: u16, ticket: Ticket, ask: &StoreAsk) {
        if let StoreAsk::Etcd(call) = ask {
            self.call(now, client, ticket, call);
        }
    }

    fn poll(&mut self) -> Option<(u16, Ticket, StoreSaid)> {
        let (client, ticket, reply) = self.answered()?;
        Some((client, ticket, StoreSaid::Etcd(reply)))
    }

    fn due(&self) -> Option<u64> {
        Self::due(self)
    }

    fn wake(&mut self, now: u64) {
        self.look_at_the_time(now);
    }

    fn restarted(&mut self, now: u64) {
        Self::restarted(self, now);
    }
}
