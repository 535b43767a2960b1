//! The queue of candidates in etcd, in the world: each request is one call.

use super::candidate::Candidate;
use super::{ServerSaid, StoreAsk, StoreSaid};
use crate::server::{Record as Shown, Service};
use crate::store::etcd::{
    Command, Compare, Error, Etcd, Is, Member, Operation, Order, Reply, Said, Select, Target,
};
use crate::store::{Change, Range, Record};
use tenure::lease::Switched;
use tenure::lease::etcd::{self as core, KeyValue, Keys, LeaseId};
use tenure::{Duration, Ticket, Unknown};

/// How the keys of the candidates begin, before a slash; or the one key.
pub(super) const PREFIX: &str = "election";

impl Service for Etcd {
    fn ask(&mut self, now: u64, client: u16, ticket: Ticket, ask: &StoreAsk) {
        if let StoreAsk::Etcd(request) = ask {
            Self::ask(self, now, client, ticket, &command(request));
        }
    }

    fn poll(&mut self) -> Option<(u16, Ticket, StoreSaid)> {
        let (client, ticket, said) = Self::poll(self)?;
        Some((client, ticket, StoreSaid::Etcd(reply(said))))
    }

    fn records(&self, _now: u64) -> Vec<Shown> {
        let shown = |(place, record): (usize, Record)| Shown {
            key: record.key.to_string(),
            holder: record.value.lines().next().map(str::to_owned),
            token: record.created,
            ends: self.ends(record.lease),
            holds: place == 0,
        };
        self.queue().into_iter().enumerate().map(shown).collect()
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
        let Some(first) = self.queue().into_iter().next() else {
            return false;
        };
        self.delete(now, first.key);
        true
    }

    fn back_up(&mut self, _now: u64) -> bool {
        Self::back_up(self);
        true
    }

    fn restore(&mut self, now: u64) -> bool {
        Self::restore(self, now)
    }
}

impl Service for Member {
    fn ask(&mut self, now: u64, client: u16, ticket: Ticket, ask: &StoreAsk) {
        if let StoreAsk::Etcd(request) = ask {
            Self::ask(self, now, client, ticket, command(request));
        }
    }

    fn poll(&mut self) -> Option<(u16, Ticket, StoreSaid)> {
        let (client, ticket, said) = Self::poll(self)?;
        Some((client, ticket, StoreSaid::Etcd(reply(said))))
    }

    fn hear(&mut self, now: u64, from: u16, said: &ServerSaid) {
        #[cfg_attr(not(feature = "peers"), allow(irrefutable_let_patterns))]
        if let ServerSaid::Etcd(said) = said {
            Self::hear(self, now, from, said);
        }
    }

    fn poll_peer(&mut self) -> Option<(u16, ServerSaid)> {
        let (to, said) = Self::poll_peer(self)?;
        Some((to, ServerSaid::Etcd(said)))
    }

    fn leads(&self) -> bool {
        Self::leads(self)
    }

    fn records(&self, now: u64) -> Vec<Shown> {
        Service::records(self.etcd(), now)
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
        let first = self.etcd().queue().into_iter().next();
        first.is_some_and(|first| self.delete(now, first.key))
    }
}

/// Leases of nodes are above 0.
const fn number(lease: LeaseId) -> u64 {
    lease.0 as u64
}

fn command(request: &core::Request) -> Command {
    match request {
        core::Request::LeaseGrant { lease, ttl } => Command::LeaseGrant {
            lease: number(*lease),
            ttl: ttl.as_micros().div_ceil(1_000_000).cast_signed(),
        },
        core::Request::LeaseKeepAlive { lease } => Command::LeaseKeepAlive(number(*lease)),
        core::Request::LeaseRevoke { lease } => Command::LeaseRevoke(number(*lease)),
        core::Request::Txn(txn) => Command::Txn {
            compare: txn.when.iter().map(compare).collect(),
            success: vec![match &txn.then {
                core::Operation::Put { key, value, lease } => Operation::Put {
                    key: key.clone(),
                    value: value.clone(),
                    lease: number(*lease),
                },
                core::Operation::Delete(key) => Operation::Delete(Range::Key(key.clone())),
            }],
            failure: txn.otherwise.iter().map(look).collect(),
        },
        core::Request::Range(range) => Command::Do(Operation::Range(Select {
            keys: among(&range.keys),
            max_create_revision: range.max_create_revision,
            order: match range.order {
                core::Order::FirstCreated => Order::FirstCreated,
                core::Order::LastCreated => Order::LastCreated,
            },
            limit: range.limit,
        })),
        core::Request::Watch { keys, from } => Command::Watch {
            keys: among(keys),
            from: *from,
        },
        core::Request::WatchCancel { watch } => Command::WatchCancel(*watch),
    }
}

fn among(keys: &Keys) -> Range {
    match keys {
        Keys::One(key) => Range::Key(key.clone()),
        Keys::Prefix(prefix) => Range::Prefix(prefix.clone()),
    }
}

fn compare(compare: &core::Compare) -> Compare {
    Compare {
        key: compare.key.clone(),
        is: Is::Equal,
        target: Target::Create(compare.create_revision),
    }
}

fn look(key: &core::Key) -> Operation {
    Operation::Range(Select {
        keys: Range::Key(key.clone()),
        max_create_revision: 0,
        order: Order::Key,
        limit: 0,
    })
}

fn reply(said: Said) -> core::Reply {
    let (revision, result) = match said {
        Said::Answer { revision, result } => (revision, result),
        Said::Watched(changes) => {
            return core::Reply::Watched(changes.into_iter().map(told).collect());
        }
        Said::Compacted(_) => return core::Reply::WatchEnded,
    };
    match result {
        Ok(Reply::Granted(seconds)) => core::Reply::Granted(Duration::from_secs(seconds)),
        Ok(Reply::Alive(0)) => core::Reply::LeaseNotFound,
        Ok(Reply::Alive(seconds)) => core::Reply::Alive(Duration::from_secs(seconds)),
        Ok(Reply::Revoked) => core::Reply::Revoked,
        Ok(Reply::Txn { succeeded, done }) => core::Reply::Txn {
            revision,
            succeeded,
            found: done.into_iter().find_map(first),
        },
        Ok(Reply::Range { found, .. }) => core::Reply::Range {
            revision,
            found: found.into_iter().map(key_value).collect(),
        },
        Err(Error::LeaseExists) => core::Reply::LeaseExists,
        Err(Error::LeaseNotFound) => core::Reply::LeaseNotFound,
        // No candidate asks for what is answered so, but by a server that knows of no leader.
        Ok(Reply::Put | Reply::Deleted(_) | Reply::TimeToLive { .. })
        | Err(Error::DuplicateKey | Error::NoLeader) => core::Reply::NotDone,
    }
}

fn first(done: Reply) -> Option<KeyValue> {
    match done {
        Reply::Range { found, .. } => found.into_iter().next().map(key_value),
        _ => None,
    }
}

fn key_value(record: Record) -> KeyValue {
    KeyValue {
        key: record.key,
        value: record.value,
        create_revision: record.created,
        lease: LeaseId(record.lease as i64),
    }
}

fn told(change: Change) -> core::Change {
    match change {
        Change::Put(record) => core::Change::Put(key_value(record)),
        Change::Gone(key, revision) => core::Change::Delete { key, revision },
    }
}

impl Candidate for core::Etcd<Switched> {
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
        // Of what was granted: without slack it does not lead.
        self.budget().map_or(Duration::ZERO, |budget| budget.belief)
    }
}
