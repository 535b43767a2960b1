//! A server of etcd, alone in its cluster, as far as elections ask it: [`Kv`] with the calls and answers of
//! [`tenure::lease::etcd`].
//!
//! As the real one: a lease is granted for two seconds at least; whoever watches is told of changes in order, and not at all
//! once they are forgotten; keys and leases survive a crash, and after it every lease begins anew (`Promote`); watches are
//! connections, and gone with it, as they are with the process of a client. Left out: a lease ends on the instant, where the
//! real one looks twice a second; there is no quota, and nobody else's keys.

use super::{Change, Compare, Done, Kv, Lessor, Operation, Range, Record, Refused, Request};
use std::collections::VecDeque;
use tenure::lease::etcd::{
    self, Change as Told, KeyValue, Keys, LeaseId, Operation as Step, Order, Reply, Txn,
};
use tenure::{Duration, Ticket};

/// The shortest lease, in microseconds: one and a half election timeouts of a second, rounded up to whole seconds.
const LEAST: u64 = 2_000_000;

/// A server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Etcd {
    kv: Kv,
    lessor: Lessor,
    watches: Vec<Watch>,
    said: VecDeque<(u16, Ticket, Reply)>,
}

/// Who is told of changes of which keys, and from which revision on.
#[derive(Clone, Debug)]
struct Watch {
    client: u16,
    ticket: Ticket,
    range: Range,
    from: u64,
}

impl Etcd {
    /// A client calls, at `now` on the clock of the server.
    pub(crate) fn call(&mut self, now: u64, client: u16, ticket: Ticket, call: &etcd::Request) {
        self.look_at_the_time(now);
        // Its former process is gone, and the connection with it.
        let lives = |watch: &Watch| {
            watch.client != client || watch.ticket.incarnation == ticket.incarnation
        };
        self.watches.retain(lives);
        if let Some(reply) = self.carry_out(now, client, ticket, call) {
            self.said.push_back((client, ticket, reply));
        }
        self.tell();
    }

    /// The next answer, to whom, and to which call.
    pub(crate) fn answered(&mut self) -> Option<(u16, Ticket, Reply)> {
        self.said.pop_front()
    }

    /// Every key, and when its lease ends.
    pub(crate) fn places(&self) -> Vec<(Record, Option<u64>)> {
        let all = self.kv.get(&Range::Prefix("".into()));
        all.into_iter()
            .map(|record| {
                let ends = self.lessor.ends(record.lease);
                (record, ends)
            })
            .collect()
    }

    /// When the next lease ends.
    pub(crate) fn due(&self) -> Option<u64> {
        self.lessor.due()
    }

    /// Lets leases end that are over at `now`.
    pub(crate) fn look_at_the_time(&mut self, now: u64) {
        while let Some(lease) = self.lessor.over(now, u64::MAX) {
            // It is known: only what was granted and not revoked has a time.
            let _ = self.apply(now, &Request::Revoke { lease });
        }
        self.tell();
    }

    /// The process died and is back.
    pub(crate) fn restarted(&mut self, now: u64) {
        self.watches.clear();
        self.said.clear();
        self.lessor = Lessor::promoted(now, &self.kv);
    }

    fn carry_out(
        &mut self,
        now: u64,
        client: u16,
        ticket: Ticket,
        call: &etcd::Request,
    ) -> Option<Reply> {
        Some(match call {
            etcd::Request::LeaseGrant { lease, ttl } => {
                let (lease, ttl) = (number(*lease), ttl.as_micros().max(LEAST));
                match self.apply(now, &Request::Grant { lease, ttl }) {
                    Ok(_) => Reply::Granted(Duration::from_micros(ttl)),
                    Err(_) => Reply::LeaseExists,
                }
            }
            etcd::Request::LeaseKeepAlive { lease } => {
                let lease = number(*lease);
                match self.apply(now, &Request::KeepAlive { lease }) {
                    Ok((_, Done::Lease(ttl))) => Reply::Alive(Duration::from_micros(ttl)),
                    _ => Reply::LeaseNotFound,
                }
            }
            etcd::Request::LeaseRevoke { lease } => {
                let lease = number(*lease);
                match self.apply(now, &Request::Revoke { lease }) {
                    Ok(_) => Reply::Revoked,
                    Err(_) => Reply::LeaseNotFound,
                }
            }
            etcd::Request::Txn(txn) => match self.apply(now, &transaction(txn)) {
                Ok((revision, Done::Txn(succeeded, done))) => Reply::Txn {
                    revision,
                    succeeded,
                    found: found(done),
                },
                Err(Refused::NoLease(_)) => Reply::LeaseNotFound,
                _ => Reply::NotDone,
            },
            etcd::Request::Range(range) => Reply::Range {
                revision: self.kv.revision(),
                found: self.find(range),
            },
            etcd::Request::Watch { keys, from } => {
                self.watches.push(Watch {
                    client,
                    ticket,
                    range: among(keys),
                    from: *from,
                });
                return None;
            }
            etcd::Request::WatchCancel { watch } => {
                self.watches
                    .retain(|open| (open.client, open.ticket) != (client, *watch));
                return None;
            }
        })
    }

    /// Carries out a request of the store: its revision afterwards, and what was done.
    fn apply(&mut self, now: u64, request: &Request) -> Result<(u64, Done), Refused> {
        let answer = self.kv.apply(request)?;
        match (request, &answer.done) {
            (Request::Grant { lease, .. } | Request::KeepAlive { lease }, Done::Lease(ttl)) => {
                self.lessor.begin(now, *lease, *ttl);
            }
            (Request::Revoke { lease }, _) => self.lessor.end(*lease),
            _ => {}
        }
        Ok((answer.revision, answer.done))
    }

    /// Sorted and cut off as the real server does it.
    fn find(&self, range: &etcd::Range) -> Vec<KeyValue> {
        let bound = match range.max_create_revision {
            0 => u64::MAX,
            bound => bound,
        };
        let mut records = self.kv.get(&among(&range.keys));
        records.retain(|record| record.created <= bound);
        records.sort_by_key(|record| record.created);
        if range.order == Order::LastCreated {
            records.reverse();
        }
        records.truncate(range.limit as usize);
        records.into_iter().map(key_value).collect()
    }

    fn tell(&mut self) {
        let next = self.kv.revision() + 1;
        let (kv, said) = (&self.kv, &mut self.said);
        self.watches.retain_mut(|watch| {
            if watch.from >= next {
                return true;
            }
            let Ok(changes) = kv.changes(&watch.range, watch.from) else {
                said.push_back((watch.client, watch.ticket, Reply::WatchEnded));
                return false;
            };
            watch.from = next;
            let told: Vec<_> = changes.cloned().map(told).collect();
            if !told.is_empty() {
                said.push_back((watch.client, watch.ticket, Reply::Watched(told)));
            }
            true
        });
    }
}

/// Those of a node are above 0.
const fn number(lease: LeaseId) -> u64 {
    lease.0 as u64
}

fn among(keys: &Keys) -> Range {
    match keys {
        Keys::One(key) => Range::Key(key.clone()),
        Keys::Prefix(prefix) => Range::Prefix(prefix.clone()),
    }
}

fn transaction(txn: &Txn) -> Request {
    let compare = txn.when.iter();
    let get = txn.otherwise.iter();
    Request::Txn {
        when: compare
            .map(|when| Compare::Created(when.key.clone(), when.create_revision))
            .collect(),
        then: vec![match &txn.then {
            Step::Put { key, value, lease } => Operation::Put {
                key: key.clone(),
                value: value.clone(),
                lease: number(*lease),
            },
            Step::Delete(key) => Operation::Delete(Range::Key(key.clone())),
        }],
        otherwise: get
            .map(|key| Operation::Get(Range::Key(key.clone())))
            .collect(),
    }
}

/// What a transaction read, of one key.
fn found(done: Vec<Done>) -> Option<KeyValue> {
    done.into_iter().find_map(|done| match done {
        Done::Got(records) => records.into_iter().next().map(key_value),
        _ => None,
    })
}

fn key_value(record: Record) -> KeyValue {
    KeyValue {
        key: record.key,
        value: record.value,
        create_revision: record.created,
        lease: LeaseId(record.lease as i64),
    }
}

fn told(change: Change) -> Told {
    match change {
        Change::Put(record) => Told::Put(key_value(record)),
        Change::Gone(key, revision) => Told::Delete { key, revision },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket(number: u64) -> Ticket {
        Ticket {
            incarnation: 1,
            number,
        }
    }

    fn grant(server: &mut Etcd, now: u64, lease: i64) -> Reply {
        let lease = LeaseId(lease);
        let ttl = Duration::from_secs(3);
        ask(server, now, etcd::Request::LeaseGrant { lease, ttl })
    }

    fn create(server: &mut Etcd, now: u64, lease: i64) -> Reply {
        let key: etcd::Key = format!("e/{lease}").into();
        let txn = Txn {
            when: Some(etcd::Compare {
                key: key.clone(),
                create_revision: 0,
            }),
            then: Step::Put {
                key: key.clone(),
                value: "x".into(),
                lease: LeaseId(lease),
            },
            otherwise: Some(key),
        };
        ask(server, now, etcd::Request::Txn(txn))
    }

    fn ask(server: &mut Etcd, now: u64, call: etcd::Request) -> Reply {
        server.call(now, 1, ticket(1), &call);
        server.answered().expect("it answers at once").2
    }

    fn created(server: &Etcd, max_create_revision: u64, order: Order, limit: u32) -> Vec<u64> {
        let found = server.find(&etcd::Range {
            keys: Keys::Prefix("e/".into()),
            max_create_revision,
            order,
            limit,
        });
        found.iter().map(|key| key.create_revision).collect()
    }

    #[test]
    fn a_key_is_created_once_and_only_under_a_lease_that_is_there() {
        let mut server = Etcd::default();
        assert_eq!(create(&mut server, 0, 7), Reply::LeaseNotFound);
        let ttl = Duration::from_secs(3);
        assert_eq!(grant(&mut server, 0, 7), Reply::Granted(ttl));
        assert_eq!(grant(&mut server, 0, 7), Reply::LeaseExists);
        let first = create(&mut server, 0, 7);
        assert!(matches!(
            first,
            Reply::Txn {
                revision: 1,
                succeeded: true,
                found: None
            }
        ));
        let Reply::Txn {
            succeeded, found, ..
        } = create(&mut server, 0, 7)
        else {
            panic!("the lease is there")
        };
        assert_eq!(
            (succeeded, found.map(|key| (key.create_revision, key.lease))),
            (false, Some((1, LeaseId(7))))
        );
    }

    #[test]
    fn candidates_come_in_the_order_they_were_created_in() {
        let mut server = Etcd::default();
        for lease in [9, 8, 7] {
            grant(&mut server, 0, lease);
            create(&mut server, 0, lease);
        }
        assert_eq!(created(&server, 0, Order::FirstCreated, 2), [1, 2]);
        assert_eq!(created(&server, 0, Order::LastCreated, 9), [3, 2, 1]);
        assert_eq!(created(&server, 2, Order::LastCreated, 1), [2]);
    }

    #[test]
    fn who_watches_is_told_that_a_lease_took_its_key_along() {
        let mut server = Etcd::default();
        grant(&mut server, 0, 7);
        create(&mut server, 0, 7);
        let watch = |from| etcd::Request::Watch {
            keys: Keys::One("e/7".into()),
            from,
        };
        server.call(1, 2, ticket(5), &watch(2));
        assert_eq!((server.answered(), server.due()), (None, Some(3_000_000)));
        server.look_at_the_time(2_999_999);
        assert_eq!(server.answered(), None);
        server.look_at_the_time(3_000_000);
        let gone = Told::Delete {
            key: "e/7".into(),
            revision: 2,
        };
        let told = server.answered();
        assert_eq!(told, Some((2, ticket(5), Reply::Watched(vec![gone]))));
        // From the past on it is told what it missed; and nothing more after it was cancelled.
        server.call(4_000_000, 2, ticket(6), &watch(2));
        assert!(server.answered().is_some());
        for number in [5, 6] {
            let watch = ticket(number);
            server.call(
                4_000_000,
                2,
                ticket(7),
                &etcd::Request::WatchCancel { watch },
            );
        }
        grant(&mut server, 4_000_000, 7);
        create(&mut server, 4_000_000, 7);
        assert_eq!(server.answered(), None);
    }

    #[test]
    fn a_restart_keeps_keys_begins_leases_anew_and_loses_watches() {
        let mut server = Etcd::default();
        grant(&mut server, 0, 7);
        create(&mut server, 0, 7);
        let keys = Keys::Prefix("e/".into());
        server.call(1, 2, ticket(5), &etcd::Request::Watch { keys, from: 2 });
        server.restarted(9_000_000);
        assert_eq!(created(&server, 0, Order::FirstCreated, 9), [1]);
        assert_eq!(server.due(), Some(12_000_000));
        server.look_at_the_time(12_000_000);
        assert_eq!(server.answered(), None);
        assert_eq!(created(&server, 0, Order::FirstCreated, 9), []);
    }
}
