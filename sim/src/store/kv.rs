//! What a store holds: a value that changes by requests alone, so that replicas that carry out the same requests in the
//! same order are equal. It knows no time: that a lease is over is a request like any other.

use super::{
    Answer, Change, Compare, Done, Key, LeaseId, Operation, Range, Record, Refused, Request, Value,
};
use crate::sorted::Sorted;
use std::collections::VecDeque;

/// How many changes are remembered for watchers.
pub(super) const REMEMBERED: usize = 64;

/// The records of a store, its leases, and its latest changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kv {
    revision: u64,
    records: Sorted<Key, Held>,
    leases: Sorted<LeaseId, Lease>,
    /// The latest changes, oldest first.
    changes: VecDeque<Change>,
    /// The revision after which every change is remembered.
    forgotten: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Held {
    value: Value,
    created: u64,
    modified: u64,
    version: u64,
    lease: LeaseId,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Lease {
    ttl: u64,
    keys: Sorted<Key, ()>,
}

impl Kv {
    /// An empty store whose first change has the revision after this.
    #[must_use]
    pub fn begins_in(revision: u64) -> Self {
        Self {
            revision,
            ..Self::default()
        }
    }

    /// The revision of the newest change; 0 when there was none.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// The oldest revision of which every change is remembered.
    #[must_use]
    pub const fn oldest(&self) -> u64 {
        self.forgotten + 1
    }

    /// How many records and remembered changes there are.
    pub(super) fn size(&self) -> usize {
        self.records.len() + self.changes.len()
    }

    /// The leases with how long each lasts, in order.
    pub fn leases(&self) -> impl Iterator<Item = (LeaseId, u64)> {
        self.leases.iter().map(|(id, lease)| (*id, lease.ttl))
    }

    /// How long a lease lasts, if there is one.
    #[must_use]
    pub fn ttl(&self, lease: LeaseId) -> Option<u64> {
        self.leases.get(&lease).map(|lease| lease.ttl)
    }

    /// The keys that go with a lease, in order.
    #[must_use]
    pub fn keys_of(&self, lease: LeaseId) -> Vec<Key> {
        let keys = self.leases.get(&lease).map(|lease| lease.keys.iter());
        let keys = keys.into_iter().flatten();
        keys.map(|(key, ())| key.clone()).collect()
    }

    /// What is answered to whoever keeps a lease alive.
    ///
    /// # Errors
    /// When there is no such lease.
    pub fn kept_alive(&self, lease: LeaseId) -> Result<Answer, Refused> {
        let known = self.leases.get(&lease).ok_or(Refused::NoLease(lease))?;
        Ok(Answer {
            revision: self.revision,
            done: Done::Lease(known.ttl),
        })
    }

    /// What is kept under some keys, in order.
    #[must_use]
    pub fn get(&self, range: &Range) -> Vec<Record> {
        self.within(range)
            .map(|(key, held)| held.record(key))
            .collect()
    }

    /// Every change of some keys from a revision on, oldest first.
    ///
    /// # Errors
    /// When some of them are forgotten.
    pub fn changes(
        &self,
        range: &Range,
        from: u64,
    ) -> Result<impl Iterator<Item = &Change>, Refused> {
        if from <= self.forgotten {
            return Err(Refused::Compacted(self.forgotten + 1));
        }
        let begins = self
            .changes
            .partition_point(|change| change.revision() < from);
        let newer = self.changes.range(begins..);
        Ok(newer.filter(|change| range.contains(change.key())))
    }

    /// Carries out a request, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be; nothing is changed then.
    pub fn apply(&mut self, request: &Request) -> Result<Answer, Refused> {
        let done = match request {
            Request::Do(operation) => {
                let mut done = self.operate(std::slice::from_ref(operation))?;
                done.remove(0)
            }
            Request::Txn {
                when,
                then,
                otherwise,
            } => {
                let so = when.iter().all(|compare| self.is_so(compare));
                let chosen = if so { then } else { otherwise };
                Done::Txn(so, self.operate(chosen)?)
            }
            Request::Grant { lease, ttl } => {
                if *lease == 0 || self.leases.contains_key(lease) {
                    return Err(Refused::LeaseTaken(*lease));
                }
                let keys = Sorted::default();
                self.leases.insert(*lease, Lease { ttl: *ttl, keys });
                Done::Lease(*ttl)
            }
            Request::KeepAlive { lease } => return self.kept_alive(*lease),
            Request::Revoke { lease } => {
                let ended = self.leases.remove(lease);
                let keys = ended.ok_or(Refused::NoLease(*lease))?.keys;
                // All in one revision, as in etcd.
                let revision = self.revision + 1;
                for (key, ()) in keys.iter() {
                    self.remove(key, revision);
                }
                Done::Revoked(keys.len())
            }
            #[cfg(feature = "peers")]
            Request::Metadata(_) => Done::Got(Vec::new()),
        };
        Ok(Answer {
            revision: self.revision,
            done,
        })
    }

    /// Carries out operations in order, all changes in one revision.
    fn operate(&mut self, operations: &[Operation]) -> Result<Vec<Done>, Refused> {
        self.admit(operations)?;
        let revision = self.revision + 1;
        let all = operations.iter();
        Ok(all
            .map(|operation| match operation {
                Operation::Get(range) => Done::Got(self.get(range)),
                Operation::Put { key, value, lease } => {
                    self.put(key, value, *lease, revision);
                    Done::Put
                }
                Operation::Delete(range) => {
                    let keys: Vec<Key> = self.within(range).map(|(key, _)| key.clone()).collect();
                    for key in &keys {
                        self.remove(key, revision);
                    }
                    Done::Deleted(keys.len())
                }
            })
            .collect())
    }

    /// Whether operations can be carried out: looked at before the first of them is.
    fn admit(&self, operations: &[Operation]) -> Result<(), Refused> {
        for (place, operation) in operations.iter().enumerate() {
            let Operation::Put { key, lease, .. } = operation else {
                continue;
            };
            if *lease != 0 && !self.leases.contains_key(lease) {
                return Err(Refused::NoLease(*lease));
            }
            let others = operations.iter().enumerate();
            let twice = others
                .filter(|(other, _)| *other != place)
                .any(|(_, other)| match other {
                    Operation::Put { key: again, .. } => again == key,
                    Operation::Delete(range) => range.contains(key),
                    Operation::Get(_) => false,
                });
            if twice {
                return Err(Refused::ChangedTwice);
            }
        }
        Ok(())
    }

    fn is_so(&self, compare: &Compare) -> bool {
        let number = |key: &Key, of: fn(&Held) -> u64| self.records.get(key).map_or(0, of);
        match compare {
            Compare::Created(key, revision) => number(key, |held| held.created) == *revision,
            Compare::Modified(key, revision) => number(key, |held| held.modified) == *revision,
            Compare::Version(key, version) => number(key, |held| held.version) == *version,
            Compare::Holds(key, value) => {
                let held = self.records.get(key);
                held.is_some_and(|held| held.value == *value)
            }
        }
    }

    fn put(&mut self, key: &Key, value: &Value, lease: LeaseId, revision: u64) {
        let before = self.records.get(key);
        let (created, version) =
            before.map_or((revision, 1), |held| (held.created, held.version + 1));
        if let Some(former) = before.map(|held| held.lease) {
            self.detach(key, former);
        }
        if let Some(lease) = self.leases.get_mut(&lease) {
            lease.keys.insert(key.clone(), ());
        }
        let held = Held {
            value: value.clone(),
            created,
            modified: revision,
            version,
            lease,
        };
        let record = held.record(key);
        self.records.insert(key.clone(), held);
        self.changed(Change::Put(record));
    }

    fn remove(&mut self, key: &Key, revision: u64) {
        if let Some(held) = self.records.remove(key) {
            self.detach(key, held.lease);
            self.changed(Change::Gone(key.clone(), revision));
        }
    }

    fn detach(&mut self, key: &Key, lease: LeaseId) {
        if let Some(lease) = self.leases.get_mut(&lease) {
            lease.keys.remove(key);
        }
    }

    fn changed(&mut self, change: Change) {
        self.revision = change.revision();
        self.changes.push_back(change);
        // Of a revision all or nothing is remembered.
        while self.changes.len() > REMEMBERED {
            let oldest = self.changes.pop_front();
            self.forgotten = oldest.map_or(self.forgotten, |change| change.revision());
        }
    }

    fn within(&self, range: &Range) -> impl Iterator<Item = (&Key, &Held)> {
        let begins = range.begins();
        let mut all = self.records.from(move |key| **key < *begins);
        std::iter::from_fn(move || all.next().filter(|(key, _)| range.contains(key)))
    }
}

impl Held {
    fn record(&self, key: &Key) -> Record {
        Record {
            key: key.clone(),
            value: self.value.clone(),
            created: self.created,
            modified: self.modified,
            version: self.version,
            lease: self.lease,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(key: &str, value: &str, lease: LeaseId) -> Operation {
        Operation::Put {
            key: key.into(),
            value: value.into(),
            lease,
        }
    }

    fn one(key: &str) -> Range {
        Range::Key(key.into())
    }

    fn done(kv: &mut Kv, operation: Operation) -> Answer {
        kv.apply(&Request::Do(operation)).unwrap()
    }

    fn numbers(kv: &Kv, key: &str) -> Option<(u64, u64, u64)> {
        let record = kv.get(&one(key)).pop()?;
        Some((record.created, record.modified, record.version))
    }

    #[test]
    fn revisions_count_changes_and_versions_begin_anew_with_the_key() {
        let mut kv = Kv::default();
        assert_eq!(done(&mut kv, put("a", "1", 0)).revision, 1);
        done(&mut kv, put("b", "1", 0));
        done(&mut kv, put("a", "2", 0));
        assert_eq!(numbers(&kv, "a"), Some((1, 3, 2)));
        let gone = done(&mut kv, Operation::Delete(one("a")));
        assert_eq!((gone.revision, gone.done), (4, Done::Deleted(1)));
        assert_eq!(numbers(&kv, "a"), None);
        done(&mut kv, put("a", "3", 0));
        assert_eq!(numbers(&kv, "a"), Some((5, 5, 1)));
        // What changes nothing has no revision of its own.
        assert_eq!(done(&mut kv, Operation::Delete(one("c"))).revision, 5);
        assert_eq!(done(&mut kv, Operation::Get(one("a"))).revision, 5);
    }

    #[test]
    fn a_transaction_is_one_revision_and_compares_what_was_before_it() {
        let mut kv = Kv::default();
        let create = |value: &str| Request::Txn {
            when: vec![Compare::Created("lock".into(), 0)],
            then: vec![put("lock", value, 0), put("log", value, 0)],
            otherwise: vec![Operation::Get(one("lock"))],
        };
        let first = kv.apply(&create("x")).unwrap();
        assert_eq!(first.revision, 1);
        assert_eq!(first.done, Done::Txn(true, vec![Done::Put, Done::Put]));
        let second = kv.apply(&create("y")).unwrap();
        let Done::Txn(false, answers) = second.done else {
            panic!("it was free twice")
        };
        let Done::Got(records) = &answers[0] else {
            panic!("not asked")
        };
        assert_eq!((&*records[0].value, second.revision), ("x", 1));
    }

    #[test]
    fn each_number_of_a_key_can_be_compared() {
        let mut kv = Kv::default();
        done(&mut kv, put("b", "0", 0));
        done(&mut kv, put("a", "1", 0));
        done(&mut kv, put("a", "2", 0));
        let key = || Key::from("a");
        for (compare, so) in [
            (Compare::Created(key(), 2), true),
            (Compare::Created(key(), 3), false),
            (Compare::Modified(key(), 3), true),
            (Compare::Modified(key(), 2), false),
            (Compare::Version(key(), 2), true),
            (Compare::Version(key(), 1), false),
            (Compare::Holds(key(), "2".into()), true),
            (Compare::Holds(key(), "1".into()), false),
            (Compare::Version("none".into(), 0), true),
            (Compare::Holds("none".into(), "".into()), false),
        ] {
            let told = kv.apply(&Request::Txn {
                when: vec![compare.clone()],
                then: vec![],
                otherwise: vec![],
            });
            assert_eq!(told.unwrap().done, Done::Txn(so, vec![]), "{compare:?}");
        }
    }

    #[test]
    fn a_transaction_that_cannot_be_whole_changes_nothing() {
        let mut kv = Kv::default();
        for (operations, why) in [
            (
                vec![put("a", "1", 0), put("a", "2", 0)],
                Refused::ChangedTwice,
            ),
            (
                vec![
                    put("a", "1", 0),
                    Operation::Delete(Range::Prefix("".into())),
                ],
                Refused::ChangedTwice,
            ),
            (
                vec![put("a", "1", 0), put("b", "1", 7)],
                Refused::NoLease(7),
            ),
        ] {
            let asked = Request::Txn {
                when: vec![],
                then: operations,
                otherwise: vec![],
            };
            assert_eq!(kv.apply(&asked), Err(why));
            assert_eq!(kv, Kv::default());
        }
    }

    #[test]
    fn keys_go_with_their_lease_in_one_revision() {
        let mut kv = Kv::default();
        let grant = Request::Grant { lease: 7, ttl: 50 };
        assert_eq!(kv.apply(&grant).unwrap().done, Done::Lease(50));
        assert_eq!(kv.apply(&grant), Err(Refused::LeaseTaken(7)));
        for key in ["a", "b", "c"] {
            done(&mut kv, put(key, "1", 7));
        }
        // Put anew without it, a key stays; deleted, it is not the lease's any more.
        done(&mut kv, put("b", "2", 0));
        done(&mut kv, Operation::Delete(one("c")));
        let over = kv.apply(&Request::Revoke { lease: 7 }).unwrap();
        assert_eq!((over.revision, over.done), (6, Done::Revoked(1)));
        assert!(numbers(&kv, "a").is_none() && numbers(&kv, "b").is_some());
        let late = [
            Request::Revoke { lease: 7 },
            Request::KeepAlive { lease: 7 },
        ];
        for request in late {
            assert_eq!(kv.apply(&request), Err(Refused::NoLease(7)));
        }
    }

    #[test]
    fn a_prefix_is_all_keys_that_begin_so_in_order() {
        let mut kv = Kv::default();
        for key in ["e/2", "d", "e/1", "f", "e/"] {
            done(&mut kv, put(key, key, 0));
        }
        let found = kv.get(&Range::Prefix("e/".into()));
        let keys: Vec<&str> = found.iter().map(|record| &*record.key).collect();
        assert_eq!(keys, ["e/", "e/1", "e/2"]);
        let gone = done(&mut kv, Operation::Delete(Range::Prefix("e/".into())));
        assert_eq!(gone.done, Done::Deleted(3));
    }

    #[test]
    fn a_watcher_sees_every_change_of_its_keys_once_or_is_told_that_it_cannot() {
        let mut kv = Kv::default();
        kv.apply(&Request::Grant { lease: 1, ttl: 9 }).unwrap();
        done(&mut kv, put("a", "1", 1));
        done(&mut kv, put("b", "1", 0));
        kv.apply(&Request::Revoke { lease: 1 }).unwrap();
        let seen = |kv: &Kv, from| -> Result<Vec<u64>, Refused> {
            let range = one("a");
            let changes = kv.changes(&range, from)?;
            Ok(changes.map(Change::revision).collect())
        };
        assert_eq!(seen(&kv, 1), Ok(vec![1, 3]));
        assert_eq!(seen(&kv, 2), Ok(vec![3]));
        assert_eq!(seen(&kv, 4), Ok(vec![]));
        for _ in 0..REMEMBERED {
            done(&mut kv, put("b", "1", 0));
        }
        assert_eq!(seen(&kv, 3), Err(Refused::Compacted(4)));
        assert_eq!(seen(&kv, 4), Ok(vec![]));
    }
}
