//! A small etcd: revisions, transactions, leases and watches as the real one has them, and what goes wrong there.

use crate::storm::Store;
use std::collections::{BTreeMap, VecDeque};
use tenure::lease::Rules;
use tenure::lease::etcd::{
    Change, Etcd, Key, KeyValue, Keys, LeaseId, Operation, Order, Range, Reply, Request, Txn, Value,
};
use tenure::random::Random;
use tenure::{Duration, Ticket};

/// What goes wrong at the store by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Faults {
    None,
    /// Its leader changes: leases begin anew, watches are lost or end, old revisions are forgotten. Leases may last longer
    /// than was asked for, and end up to half a second late.
    Usual,
    /// And leases are revoked early.
    Early,
}

pub(crate) struct Model {
    pub(crate) revision: u64,
    pub(crate) keys: BTreeMap<Key, KeyValue>,
    pub(crate) leases: BTreeMap<LeaseId, Lease>,
    pub(crate) watches: BTreeMap<(usize, Ticket), (Keys, u64)>,
    /// The shortest lease that is granted.
    pub(crate) least: Duration,
    changes: Vec<(u64, Change)>,
    compacted: u64,
    said: VecDeque<(usize, Ticket, Reply)>,
    random: Random,
    faults: Faults,
    next_fault: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    ttl: u64,
    ends: u64,
    /// When it is noticed to have ended.
    goes: u64,
}

impl Model {
    pub(crate) fn new(seed: u64, faults: Faults) -> Self {
        Self {
            revision: 0,
            keys: BTreeMap::new(),
            leases: BTreeMap::new(),
            watches: BTreeMap::new(),
            least: Duration::ZERO,
            changes: Vec::new(),
            compacted: 0,
            said: VecDeque::new(),
            random: Random::from_seed(seed ^ 0xe7cd),
            faults,
            next_fault: 0,
        }
    }

    fn put(&mut self, key: &Key, value: &Value, lease: LeaseId) {
        self.revision += 1;
        let before = self.keys.get(key);
        let kept = KeyValue {
            key: key.clone(),
            value: value.clone(),
            create_revision: before.map_or(self.revision, |kept| kept.create_revision),
            lease,
        };
        self.keys.insert(key.clone(), kept.clone());
        self.changes.push((self.revision, Change::Put(kept)));
    }

    /// Somebody writes it, whoever has it.
    pub(crate) fn overwrite(&mut self, key: &str, value: &str) {
        self.put(&key.into(), &value.into(), LeaseId::NONE);
        self.tell();
    }

    /// Somebody deletes it, whoever has it.
    pub(crate) fn delete(&mut self, key: &str) {
        self.revision += 1;
        self.gone(&key.into());
        self.tell();
    }

    fn gone(&mut self, key: &Key) {
        if self.keys.remove(key).is_some() {
            let gone = Change::Delete {
                key: key.clone(),
                revision: self.revision,
            };
            self.changes.push((self.revision, gone));
        }
    }

    /// A lease ends, and its keys go in one revision.
    pub(crate) fn revoke(&mut self, lease: LeaseId) -> Reply {
        if self.leases.remove(&lease).is_none() {
            return Reply::LeaseNotFound;
        }
        let with = self.keys.values().filter(|kept| kept.lease == lease);
        let keys: Vec<Key> = with.map(|kept| kept.key.clone()).collect();
        self.revision += u64::from(!keys.is_empty());
        for key in keys {
            self.gone(&key);
        }
        self.tell();
        Reply::Revoked
    }

    fn carry_out(&mut self, now: u64, from: usize, request: Request) -> Option<Reply> {
        Some(match request {
            Request::LeaseGrant { lease, ttl } => {
                if self.leases.contains_key(&lease) {
                    return Some(Reply::LeaseExists);
                }
                let more = match self.faults {
                    Faults::None => 0,
                    _ => self.random.below(3) * 1_000_000,
                };
                let ttl = ttl.max(self.least).as_micros() + more;
                self.leases.insert(lease, Lease::new(ttl));
                self.begin(now, lease);
                Reply::Granted(Duration::from_micros(ttl))
            }
            Request::LeaseKeepAlive { lease } => match self.leases.get(&lease) {
                Some(kept) if kept.ends > now => {
                    let ttl = kept.ttl;
                    self.begin(now, lease);
                    Reply::Alive(Duration::from_micros(ttl))
                }
                _ => Reply::LeaseNotFound,
            },
            Request::LeaseRevoke { lease } => self.revoke(lease),
            Request::Txn(txn) => self.transact(txn),
            Request::Range(range) => Reply::Range {
                revision: self.revision,
                found: self.find(&range),
            },
            Request::Watch { .. } => return None,
            Request::WatchCancel { watch } => {
                self.watches.remove(&(from, watch));
                return None;
            }
        })
    }

    fn transact(&mut self, txn: Txn) -> Reply {
        let succeeded = txn.when.is_none_or(|compare| {
            let kept = self.keys.get(&compare.key);
            kept.map_or(0, |kept| kept.create_revision) == compare.create_revision
        });
        let mut found = None;
        match txn.then {
            _ if !succeeded => found = txn.otherwise.and_then(|key| self.keys.get(&key).cloned()),
            Operation::Put { lease, .. } if !self.leases.contains_key(&lease) => {
                return Reply::LeaseNotFound;
            }
            Operation::Put { key, value, lease } => self.put(&key, &value, lease),
            Operation::Delete(key) => {
                self.revision += u64::from(self.keys.contains_key(&key));
                self.gone(&key);
            }
        }
        Reply::Txn {
            revision: self.revision,
            succeeded,
            found,
        }
    }

    fn find(&self, range: &Range) -> Vec<KeyValue> {
        let created = |kept: &&KeyValue| {
            range.max_create_revision == 0 || kept.create_revision <= range.max_create_revision
        };
        let among = |kept: &&KeyValue| among(&range.keys, &kept.key);
        let mut found: Vec<_> = self.keys.values().filter(created).filter(among).collect();
        found.sort_by_key(|kept| kept.create_revision);
        if range.order == Order::LastCreated {
            found.reverse();
        }
        found
            .into_iter()
            .take(range.limit as usize)
            .cloned()
            .collect()
    }

    fn begin(&mut self, now: u64, lease: LeaseId) {
        let late = match self.faults {
            Faults::None => 0,
            _ => self.random.below(500_000),
        };
        if let Some(lease) = self.leases.get_mut(&lease) {
            lease.ends = now + lease.ttl;
            lease.goes = lease.ends + late;
        }
    }

    /// Tells who watches of what is new.
    pub(crate) fn tell(&mut self) {
        for ((who, ticket), (keys, from)) in &mut self.watches {
            let news = self.changes.iter().filter(|(revision, _)| revision >= from);
            let news = news.filter(|(_, change)| match change {
                Change::Put(kept) => among(keys, &kept.key),
                Change::Delete { key, .. } => among(keys, key),
            });
            let news: Vec<_> = news.map(|(_, change)| change.clone()).collect();
            *from = self.revision + 1;
            if !news.is_empty() {
                self.said.push_back((*who, *ticket, Reply::Watched(news)));
            }
        }
    }

    /// It is empty, and as of an earlier revision: restored from a snapshot.
    pub(crate) fn restore(&mut self, revision: u64) {
        let faults = self.faults;
        *self = Self {
            revision,
            ..Self::new(0, faults)
        };
    }

    /// Its leader changes.
    fn change_leader(&mut self, now: u64) {
        for lease in self.leases.keys().copied().collect::<Vec<_>>() {
            self.begin(now, lease);
        }
        self.compacted = self.revision;
        for watch in self.watches.keys().copied().collect::<Vec<_>>() {
            match self.random.below(3) {
                0 => drop(self.watches.remove(&watch)),
                1 => self.end_watch(watch),
                _ => {}
            }
        }
    }

    pub(crate) fn end_watch(&mut self, watch: (usize, Ticket)) {
        self.watches.remove(&watch);
        self.said.push_back((watch.0, watch.1, Reply::WatchEnded));
    }
}

impl Lease {
    fn new(ttl: u64) -> Self {
        Self {
            ttl,
            ends: 0,
            goes: 0,
        }
    }
}

fn among(keys: &Keys, key: &str) -> bool {
    match keys {
        Keys::One(one) => **one == *key,
        Keys::Prefix(prefix) => key.starts_with(&**prefix),
    }
}

impl<R: Rules> Store<Etcd<R>> for Model {
    fn ask(&mut self, now: u64, from: usize, ticket: Ticket, request: Request) {
        if let Request::Watch { keys, from: first } = &request {
            if *first <= self.compacted {
                return self.said.push_back((from, ticket, Reply::WatchEnded));
            }
            self.watches.insert((from, ticket), (keys.clone(), *first));
        }
        if let Some(reply) = self.carry_out(now, from, request) {
            self.said.push_back((from, ticket, reply));
        }
        self.tell();
    }

    fn poll(&mut self) -> Option<(usize, Ticket, Reply)> {
        self.said.pop_front()
    }

    fn due(&self) -> Option<u64> {
        let ends = self.leases.values().map(|lease| lease.goes).min();
        let fault = Some(self.next_fault).filter(|_| self.faults != Faults::None);
        ends.into_iter().chain(fault).min()
    }

    fn wake(&mut self, now: u64) {
        while let Some((lease, _)) = self.leases.iter().find(|(_, lease)| lease.goes <= now) {
            let lease = *lease;
            self.revoke(lease);
        }
        if self.faults != Faults::None && self.next_fault <= now {
            if self.next_fault != 0 {
                let leases: Vec<_> = self.leases.keys().copied().collect();
                let chosen = leases.get(self.random.below(leases.len() as u64) as usize);
                match chosen {
                    Some(lease) if self.faults == Faults::Early && self.random.below(2) == 0 => {
                        self.revoke(*lease);
                    }
                    _ => self.change_leader(now),
                }
            }
            self.next_fault = now + 1 + self.random.below(60_000_000);
        }
    }
}
