//! The queue of candidates in etcd, in the world: each request is one call.

use super::candidate::Candidate;
use super::{StoreAsk, StoreSaid};
use crate::server::{Record, Service};
use crate::store::etcd::Etcd;
use tenure::lease::{Switched, etcd as core_etcd};
use tenure::{Duration, Ticket, Unknown};

/// How the keys of the candidates begin, before a slash.
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

    fn records(&self, _now: u64) -> Vec<Record> {
        let mut places = self.places();
        places.sort_by_key(|(record, _)| record.created);
        (places.into_iter().enumerate())
            .map(|(place, (record, ends))| Record {
                key: record.key.to_string(),
                holder: record.value.lines().next().map(str::to_owned),
                token: record.created,
                ends,
                holds: place == 0,
            })
            .collect()
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

    fn evict(&mut self, now: u64) -> bool {
        let mut places = self.places();
        places.sort_by_key(|(record, _)| record.created);
        match places.first() {
            Some((first, _)) => {
                self.delete(now, first.key.clone());
                true
            }
            None => false,
        }
    }

    fn back_up(&mut self, _: u64) -> bool {
        Self::back_up(self);
        true
    }

    fn restore(&mut self, now: u64) -> bool {
        Self::restore(self, now)
    }
}

impl Candidate for core_etcd::Etcd<Switched> {
    fn ask(request: Self::Request) -> (usize, StoreAsk) {
        (0, StoreAsk::Etcd(request))
    }

    fn reply(said: StoreSaid) -> Result<Self::Reply, Unknown> {
        match said {
            StoreSaid::Etcd(reply) => Ok(reply),
            _ => Err(Unknown),
        }
    }

    fn belief(&self) -> Duration {
        let timing = self.config().common.timing;
        timing.belief(timing.ttl)
    }
}
