//! A member of an ensemble of ZooKeeper, in the world.

use super::super::{ServerSaid, StoreAsk, StoreSaid};
use super::{queue, records, tick_time};
use crate::server::{Record, Service};
use crate::store::zookeeper::{Member, timing};
use tenure::{Duration, Ticket};

/// Member `place` of so many, whose sessions last for `ttl`.
pub(in super::super) fn member(place: u16, members: u16, ttl: Duration, seed: u64) -> Member {
    let tick = Duration::from_millis(tick_time(ttl).into());
    Member::new(place, members, timing(tick, ttl), seed)
}

impl Service for Member {
    fn ask(&mut self, now: u64, client: u16, ticket: Ticket, ask: &StoreAsk) {
        if let StoreAsk::Ensemble(call) = ask {
            Self::ask(self, now, client, ticket, call);
        }
    }

    fn poll(&mut self) -> Option<(u16, Ticket, StoreSaid)> {
        let (client, ticket, said) = Self::poll(self)?;
        Some((client, ticket, StoreSaid::Ensemble(said)))
    }

    fn hear(&mut self, now: u64, from: u16, said: &ServerSaid) {
        if let ServerSaid::ZooKeeper(said) = said {
            Self::hear(self, now, from, said);
        }
    }

    fn poll_peer(&mut self) -> Option<(u16, ServerSaid)> {
        let (to, said) = Self::poll_peer(self)?;
        Some((to, ServerSaid::ZooKeeper(said)))
    }

    fn hung_up(&mut self, _: u64, client: u16) {
        Self::hung_up(self, client);
    }

    fn connection(&mut self, now: u64, server: u16, stands: bool) {
        Self::connection(self, now, server, stands);
    }

    fn leads(&self) -> bool {
        Self::leads(self)
    }

    fn records(&self, _: u64) -> Vec<Record> {
        records(self.held(), |session| self.ends(session))
    }

    fn stale_write(&self) -> Option<u64> {
        super::controller::stale_write(self.held())
    }

    fn due(&self) -> Option<u64> {
        Self::due(self)
    }

    fn wake(&mut self, now: u64) {
        Self::wake(self, now);
    }

    fn restarted(&mut self, now: u64) {
        Self::restart(self, now);
    }

    fn evict(&mut self, now: u64) -> bool {
        let first = queue(self.held()).into_iter().next();
        first.is_some_and(|(path, _)| self.delete(now, path))
    }
}
