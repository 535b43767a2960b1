//! The server: its keys, the time of its leases, and who watches.

use super::command::{Command, Compare, Error, Is, Operation, Order, Reply, Said, Select, Target};
use crate::store::{Done, Key, Kv, LeaseId, Lessor, Range, Refused, Request};
use crate::store::{Operation as Step, Record};
use std::collections::VecDeque;
use tenure::Ticket;

/// The shortest lease, in seconds: one and a half election timeouts of a second, rounded up.
const LEAST: i64 = 2;
const SECOND: u64 = 1_000_000;

/// A server. Times are microseconds of its own clock.
#[derive(Clone, Debug)]
pub struct Etcd {
    kv: Kv,
    /// The time of its leases; `None` while another member of the cluster keeps it.
    lessor: Option<Lessor>,
    watches: Vec<Watch>,
    said: VecDeque<(u16, Ticket, Said)>,
    snapshot: Option<Kv>,
}

/// Who is told of changes of which keys, and from which revision on.
#[derive(Clone, Debug)]
struct Watch {
    client: u16,
    ticket: Ticket,
    range: Range,
    from: u64,
}

impl Default for Etcd {
    fn default() -> Self {
        Self {
            kv: Kv::begins_in(1),
            lessor: Some(Lessor::default()),
            watches: Vec::new(),
            said: VecDeque::new(),
            snapshot: None,
        }
    }
}

impl Etcd {
    /// A client calls. Whatever is said of that bears the ticket, which is given to nothing else.
    pub fn ask(&mut self, now: u64, client: u16, ticket: Ticket, command: &Command) {
        self.wake(now);
        self.take(now, client, ticket, command);
    }

    /// Carries out a call, and looks at no lease.
    pub(super) fn take(&mut self, now: u64, client: u16, ticket: Ticket, command: &Command) {
        // Its former process is gone, and the connection with it.
        let lives = |watch: &Watch| {
            watch.client != client || watch.ticket.incarnation == ticket.incarnation
        };
        self.watches.retain(lives);
        match command {
            Command::Watch { keys, from } => self.watches.push(Watch {
                client,
                ticket,
                range: keys.clone(),
                from: match from {
                    0 => self.kv.revision() + 1,
                    from => *from,
                },
            }),
            Command::WatchCancel(watch) => self
                .watches
                .retain(|open| (open.client, open.ticket) != (client, *watch)),
            command => {
                let answer = self.answer(now, command);
                self.say(client, ticket, answer);
            }
        }
        self.tell();
    }

    /// Carries out a call that has an answer, and tells nobody.
    pub(super) fn answer(&mut self, now: u64, command: &Command) -> Said {
        let result = self.carry_out(now, command);
        let revision = self.kv.revision();
        Said::Answer { revision, result }
    }

    pub(super) fn say(&mut self, client: u16, ticket: Ticket, said: Said) {
        self.said.push_back((client, ticket, said));
    }

    /// The next thing to be said, to whom, and of which call.
    pub fn poll(&mut self) -> Option<(u16, Ticket, Said)> {
        self.said.pop_front()
    }

    /// When the next lease ends.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        self.lessor.as_ref().and_then(Lessor::due)
    }

    /// Lets leases end that are over at `now`.
    pub fn wake(&mut self, now: u64) {
        while let Some(lease) = self.over(now, u64::MAX) {
            // It is known: only what was granted and not revoked has a time.
            let _ = self.revoke(lease);
        }
        self.tell();
    }

    /// A lease that is over, which is not named again before so long has passed.
    pub(super) fn over(&mut self, now: u64, again: u64) -> Option<LeaseId> {
        self.lessor.as_mut()?.over(now, again)
    }

    /// It keeps the time of leases from now on, each of which begins anew; or another does.
    pub(super) fn keep_leases(&mut self, now: u64, keeps: bool) {
        self.lessor = keeps.then(|| Lessor::promoted(now, &self.kv));
    }

    /// Whether it keeps the time of leases.
    pub(super) const fn keeps_leases(&self) -> bool {
        self.lessor.is_some()
    }

    /// What it holds is this from now on, as of a later time.
    pub(super) fn install(&mut self, kv: Kv) {
        self.kv = kv;
        self.tell();
    }

    /// The process is gone, and with it who watched, and what was to be said.
    pub(super) fn disconnect(&mut self) {
        self.watches.clear();
        self.said.clear();
    }

    /// Who watches is told that there is no leader, and nothing more.
    pub(super) fn end_watches(&mut self) {
        for Watch { client, ticket, .. } in std::mem::take(&mut self.watches) {
            let over = self.refused(Error::NoLeader);
            self.say(client, ticket, over);
        }
    }

    /// Whether anybody watches.
    pub(super) const fn is_watched(&self) -> bool {
        !self.watches.is_empty()
    }

    /// An answer that says why nothing was done.
    pub(super) const fn refused(&self, why: Error) -> Said {
        Said::Answer {
            revision: self.kv.revision(),
            result: Err(why),
        }
    }

    /// The process died and is back.
    pub fn restart(&mut self, now: u64) {
        self.disconnect();
        self.keep_leases(now, true);
    }

    /// What it holds is copied, as by `etcdctl snapshot save`.
    pub fn back_up(&mut self) {
        self.snapshot = Some(self.kv.clone());
    }

    /// It begins anew with what was copied last: revisions fall back, and every lease begins anew. False when nothing was.
    pub fn restore(&mut self, now: u64) -> bool {
        let Some(snapshot) = self.snapshot.clone() else {
            return false;
        };
        self.kv = snapshot;
        self.restart(now);
        true
    }

    /// Somebody deletes a key.
    pub fn delete(&mut self, now: u64, key: Key) {
        self.wake(now);
        // There is nothing about it that could be refused.
        let _ = self.apply(&Request::Do(Step::Delete(Range::Key(key))));
        self.tell();
    }

    /// Every key, first created first.
    #[must_use]
    pub fn queue(&self) -> Vec<Record> {
        let mut all = self.kv.get(&Range::Prefix("".into()));
        all.sort_by_key(|record| record.created);
        all
    }

    /// When a lease ends.
    #[must_use]
    pub fn ends(&self, lease: LeaseId) -> Option<u64> {
        self.lessor.as_ref()?.ends(lease)
    }

    /// What it holds.
    #[must_use]
    pub const fn kv(&self) -> &Kv {
        &self.kv
    }

    fn carry_out(&mut self, now: u64, command: &Command) -> Result<Reply, Error> {
        match command {
            Command::Do(operation) => {
                let mut done = self.operate(std::slice::from_ref(operation))?;
                Ok(done.remove(0))
            }
            Command::Txn {
                compare,
                success,
                failure,
            } => {
                for side in [success, failure] {
                    once(side)?;
                }
                let succeeded = compare.iter().all(|compare| self.is_so(compare));
                let done = self.operate(if succeeded { success } else { failure })?;
                Ok(Reply::Txn { succeeded, done })
            }
            Command::LeaseGrant { lease, ttl } => {
                let (lease, seconds) = (*lease, (*ttl).max(LEAST).unsigned_abs());
                let ttl = seconds.saturating_mul(SECOND);
                self.apply(&Request::Grant { lease, ttl })?;
                self.begin(now, lease, ttl);
                Ok(Reply::Granted(seconds))
            }
            Command::LeaseRevoke(lease) => self.revoke(*lease),
            Command::LeaseKeepAlive(lease) => {
                let ttl = self.kv.ttl(*lease).unwrap_or(0);
                if ttl > 0 {
                    self.begin(now, *lease, ttl);
                }
                Ok(Reply::Alive(ttl / SECOND))
            }
            Command::LeaseTimeToLive(lease) => Ok(self.time_to_live(now, *lease)),
            // They have no answer.
            Command::Watch { .. } | Command::WatchCancel(_) => Ok(Reply::Put),
        }
    }

    fn revoke(&mut self, lease: LeaseId) -> Result<Reply, Error> {
        self.apply(&Request::Revoke { lease })?;
        if let Some(lessor) = &mut self.lessor {
            lessor.end(lease);
        }
        Ok(Reply::Revoked)
    }

    fn begin(&mut self, now: u64, lease: LeaseId, ttl: u64) {
        if let Some(lessor) = &mut self.lessor {
            lessor.begin(now, lease, ttl);
        }
    }

    fn time_to_live(&self, now: u64, lease: LeaseId) -> Reply {
        let Some(ttl) = self.kv.ttl(lease) else {
            return Reply::TimeToLive {
                left: -1,
                granted: 0,
                keys: vec![],
            };
        };
        let left = self.ends(lease).unwrap_or(now).saturating_sub(now);
        Reply::TimeToLive {
            left: (left / SECOND).cast_signed(),
            granted: ttl / SECOND,
            keys: self.kv.keys_of(lease),
        }
    }

    /// Carries out operations in one revision: looking does not depend on how it is sorted.
    fn operate(&mut self, operations: &[Operation]) -> Result<Vec<Reply>, Error> {
        let then = operations.iter().map(step).collect();
        let request = Request::Txn {
            when: vec![],
            then,
            otherwise: vec![],
        };
        let Done::Txn(_, done) = self.apply(&request)? else {
            return Ok(vec![]);
        };
        let both = operations.iter().zip(done);
        Ok(both
            .map(|(operation, done)| match (operation, done) {
                (Operation::Range(select), Done::Got(records)) => select.choose(records),
                (_, Done::Deleted(count)) => Reply::Deleted(count),
                _ => Reply::Put,
            })
            .collect())
    }

    fn apply(&mut self, request: &Request) -> Result<Done, Error> {
        let answer = self.kv.apply(request).map_err(|refused| match refused {
            Refused::LeaseTaken(_) => Error::LeaseExists,
            Refused::ChangedTwice => Error::DuplicateKey,
            Refused::NoLease(_) | Refused::Compacted(_) => Error::LeaseNotFound,
        })?;
        Ok(answer.done)
    }

    fn is_so(&self, compare: &Compare) -> bool {
        let record = self.kv.get(&Range::Key(compare.key.clone())).pop();
        let number = |of: fn(&Record) -> u64| record.as_ref().map_or(0, of);
        let order = match &compare.target {
            Target::Create(revision) => number(|record| record.created).cmp(revision),
            Target::Modified(revision) => number(|record| record.modified).cmp(revision),
            Target::Version(version) => number(|record| record.version).cmp(version),
            Target::Value(value) => match &record {
                Some(record) => record.value.cmp(value),
                None => return false,
            },
        };
        match compare.is {
            Is::Equal => order.is_eq(),
            Is::Unequal => order.is_ne(),
            Is::Greater => order.is_gt(),
            Is::Less => order.is_lt(),
        }
    }

    /// Who watches is told what changed.
    pub(super) fn tell(&mut self) {
        let next = self.kv.revision() + 1;
        let (kv, said) = (&self.kv, &mut self.said);
        self.watches.retain_mut(|watch| {
            if watch.from >= next {
                return true;
            }
            let changes = match kv.changes(&watch.range, watch.from) {
                Ok(changes) => changes,
                Err(_) => {
                    let over = Said::Compacted(kv.oldest());
                    said.push_back((watch.client, watch.ticket, over));
                    return false;
                }
            };
            watch.from = next;
            let told: Vec<_> = changes.cloned().collect();
            if !told.is_empty() {
                said.push_back((watch.client, watch.ticket, Said::Watched(told)));
            }
            true
        });
    }
}

impl Select {
    /// Of the keys that there are those that are asked for, sorted, and cut off at last.
    fn choose(&self, mut found: Vec<Record>) -> Reply {
        let count = found.len();
        if self.max_create_revision > 0 {
            found.retain(|record| record.created <= self.max_create_revision);
        }
        match self.order {
            Order::Key => {}
            Order::FirstCreated => found.sort_by_key(|record| record.created),
            Order::LastCreated => found.sort_by_key(|record| std::cmp::Reverse(record.created)),
        }
        let limit = match self.limit {
            0 => usize::MAX,
            limit => limit as usize,
        };
        let more = found.len() > limit;
        found.truncate(limit);
        Reply::Range { found, count, more }
    }
}

fn step(operation: &Operation) -> Step {
    match operation {
        Operation::Range(select) => Step::Get(select.keys.clone()),
        Operation::Put { key, value, lease } => Step::Put {
            key: key.clone(),
            value: value.clone(),
            lease: *lease,
        },
        Operation::Delete(keys) => Step::Delete(keys.clone()),
    }
}

/// Whether no key is put twice, or put and deleted.
fn once(side: &[Operation]) -> Result<(), Error> {
    let changes = |operation: &Operation, key: &Key| match operation {
        Operation::Put { key: other, .. } => other == key,
        Operation::Delete(keys) => keys.contains(key),
        Operation::Range(_) => false,
    };
    for operation in side {
        if let Operation::Put { key, .. } = operation {
            let all = side.iter().filter(|other| changes(other, key));
            if all.count() > 1 {
                return Err(Error::DuplicateKey);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Change;

    fn ticket(number: u64) -> Ticket {
        Ticket {
            incarnation: 1,
            number,
        }
    }

    fn ask(server: &mut Etcd, now: u64, command: Command) -> (u64, Result<Reply, Error>) {
        server.ask(now, 1, ticket(1), &command);
        match server.poll() {
            Some((1, _, Said::Answer { revision, result })) => (revision, result),
            other => panic!("{other:?}"),
        }
    }

    fn grant(server: &mut Etcd, now: u64, lease: LeaseId) -> Result<Reply, Error> {
        ask(server, now, Command::LeaseGrant { lease, ttl: 3 }).1
    }

    fn put(key: &str, lease: LeaseId) -> Operation {
        Operation::Put {
            key: key.into(),
            value: "x".into(),
            lease,
        }
    }

    fn create(server: &mut Etcd, now: u64, lease: LeaseId) -> (u64, Result<Reply, Error>) {
        let key: Key = format!("e/{lease}").into();
        let absent = Compare {
            key: key.clone(),
            is: Is::Equal,
            target: Target::Create(0),
        };
        let txn = Command::Txn {
            compare: vec![absent],
            success: vec![put(&key, lease)],
            failure: vec![Operation::Range(select(Range::Key(key)))],
        };
        ask(server, now, txn)
    }

    const fn select(keys: Range) -> Select {
        Select {
            keys,
            max_create_revision: 0,
            order: Order::Key,
            limit: 0,
        }
    }

    fn found(server: &mut Etcd, select: Select) -> (Vec<(u64, Key)>, bool) {
        let look = Command::Do(Operation::Range(select));
        let Ok(Reply::Range { found, more, .. }) = ask(server, 0, look).1 else {
            panic!("not found")
        };
        let keys = found.into_iter();
        (keys.map(|key| (key.created, key.key)).collect(), more)
    }

    #[test]
    fn a_key_is_created_once_and_only_under_a_lease_that_is_there() {
        let mut server = Etcd::default();
        let none = create(&mut server, 0, 7);
        assert_eq!(none, (1, Err(Error::LeaseNotFound)));
        assert_eq!(grant(&mut server, 0, 7), Ok(Reply::Granted(3)));
        assert_eq!(grant(&mut server, 0, 7), Err(Error::LeaseExists));
        let (revision, first) = create(&mut server, 0, 7);
        let done = vec![Reply::Put];
        let succeeded = true;
        assert_eq!((revision, first), (2, Ok(Reply::Txn { succeeded, done })));
        let Ok(Reply::Txn { succeeded, done }) = create(&mut server, 0, 7).1 else {
            panic!("the lease is there")
        };
        let Reply::Range { found, .. } = &done[0] else {
            panic!("it looks then")
        };
        let known = (found[0].created, found[0].lease);
        assert_eq!((succeeded, known), (false, (2, 7)));
    }

    #[test]
    fn candidates_come_in_the_order_they_were_created_in_and_in_that_of_keys_within_one_revision() {
        let mut server = Etcd::default();
        for lease in [9, 8] {
            grant(&mut server, 0, lease).unwrap();
            create(&mut server, 0, lease).1.unwrap();
        }
        let both = Command::Txn {
            compare: vec![],
            success: vec![put("e/b", 0), put("e/a", 0)],
            failure: vec![],
        };
        ask(&mut server, 0, both).1.unwrap();
        let mut look = |order, max_create_revision, limit| {
            let (found, more) = found(
                &mut server,
                Select {
                    order,
                    max_create_revision,
                    limit,
                    ..select(Range::Prefix("e/".into()))
                },
            );
            let keys: Vec<_> = found.iter().map(|(_, key)| key[2..].to_owned()).collect();
            (keys.concat(), more)
        };
        assert_eq!(look(Order::FirstCreated, 0, 0), ("98ab".into(), false));
        assert_eq!(look(Order::LastCreated, 0, 3), ("ab8".into(), true));
        assert_eq!(look(Order::LastCreated, 3, 1), ("8".into(), true));
        assert_eq!(look(Order::Key, 3, 9), ("89".into(), false));
    }

    #[test]
    fn of_a_key_that_is_not_there_every_number_is_0_and_no_value_is_anything() {
        let mut server = Etcd::default();
        ask(&mut server, 0, Command::Do(put("a", 0))).1.unwrap();
        for (key, is, target, so) in [
            ("a", Is::Equal, Target::Create(2), true),
            ("a", Is::Less, Target::Modified(2), false),
            ("a", Is::Greater, Target::Version(0), true),
            ("a", Is::Unequal, Target::Value("y".into()), true),
            ("none", Is::Less, Target::Version(1), true),
            ("none", Is::Unequal, Target::Value("y".into()), false),
        ] {
            let key = key.into();
            let compare = Compare { key, is, target };
            assert_eq!(server.is_so(&compare), so, "{compare:?}");
        }
    }

    #[test]
    fn a_side_that_is_not_carried_out_must_be_possible_but_needs_no_leases() {
        let mut server = Etcd::default();
        let mut txn = |failure| {
            let compare = vec![];
            let success = vec![Operation::Delete(Range::Prefix("".into()))];
            let txn = Command::Txn {
                compare,
                success,
                failure,
            };
            ask(&mut server, 0, txn).1
        };
        assert!(txn(vec![put("a", 7)]).is_ok());
        let twice = txn(vec![put("a", 0), Operation::Delete(Range::Key("a".into()))]);
        assert_eq!(twice, Err(Error::DuplicateKey));
    }

    #[test]
    fn a_lease_says_what_is_left_of_it_and_what_is_none_says_so() {
        let mut server = Etcd::default();
        let ttl = 1;
        let least = ask(&mut server, 0, Command::LeaseGrant { lease: 7, ttl });
        assert_eq!(least.1, Ok(Reply::Granted(2)));
        ask(&mut server, 0, Command::Do(put("a", 7))).1.unwrap();
        let mut told = |now, lease| ask(&mut server, now, Command::LeaseTimeToLive(lease)).1;
        let time = |left, granted, keys| {
            Ok(Reply::TimeToLive {
                left,
                granted,
                keys,
            })
        };
        assert_eq!(told(500_000, 7), time(1, 2, vec!["a".into()]));
        assert_eq!(told(500_000, 8), time(-1, 0, vec![]));
        let mut alive = |now| ask(&mut server, now, Command::LeaseKeepAlive(7)).1;
        assert_eq!(alive(1_900_000), Ok(Reply::Alive(2)));
        assert_eq!(alive(3_900_000), Ok(Reply::Alive(0)));
    }

    #[test]
    fn who_watches_is_told_that_a_lease_took_its_key_along() {
        let mut server = Etcd::default();
        grant(&mut server, 0, 7).unwrap();
        create(&mut server, 0, 7).1.unwrap();
        let watch = |from| Command::Watch {
            keys: Range::Key("e/7".into()),
            from,
        };
        server.ask(1, 2, ticket(5), &watch(0));
        assert_eq!((server.poll(), server.due()), (None, Some(3_000_000)));
        server.wake(2_999_999);
        assert_eq!(server.poll(), None);
        server.wake(3_000_000);
        let gone = Said::Watched(vec![Change::Gone("e/7".into(), 3)]);
        assert_eq!(server.poll(), Some((2, ticket(5), gone)));
        // From the past on it is told what it missed; and nothing more after it was cancelled.
        server.ask(4_000_000, 2, ticket(6), &watch(3));
        assert!(server.poll().is_some());
        for number in [5, 6] {
            let cancel = Command::WatchCancel(ticket(number));
            server.ask(4_000_000, 2, ticket(7), &cancel);
        }
        ask(&mut server, 4_000_000, Command::Do(put("e/7", 0)))
            .1
            .unwrap();
        assert_eq!(server.poll(), None);
        // What is forgotten cannot be told.
        for _ in 0..99 {
            ask(&mut server, 4_000_000, Command::Do(put("a", 0)))
                .1
                .unwrap();
        }
        server.ask(4_000_000, 2, ticket(8), &watch(3));
        let over = Said::Compacted(server.kv().oldest());
        assert_eq!(server.poll(), Some((2, ticket(8), over)));
    }

    #[test]
    fn a_restart_keeps_keys_begins_leases_anew_and_loses_watches() {
        let mut server = Etcd::default();
        grant(&mut server, 0, 7).unwrap();
        create(&mut server, 0, 7).1.unwrap();
        let keys = Range::Prefix("e/".into());
        let watch = Command::Watch {
            keys: keys.clone(),
            from: 0,
        };
        server.ask(1, 2, ticket(5), &watch);
        server.restart(9_000_000);
        assert_eq!(found(&mut server, select(keys.clone())).0.len(), 1);
        assert_eq!(server.due(), Some(12_000_000));
        server.wake(12_000_000);
        assert_eq!(server.poll(), None);
        assert_eq!(found(&mut server, select(keys)).0.len(), 0);
    }
}
