//! The server: what it does of what it is asked, and what may be wrong with it.

use super::{Answer, Call, Lease, Metadata, Reason, Text, Trouble, Verb};
use crate::sorted::Sorted;
use std::collections::VecDeque;
use tenure::Ticket;

/// A server, with the etcd behind it.
#[derive(Clone, Debug, Default)]
pub struct Server {
    kept: Kept,
    trouble: Option<Trouble>,
    forbidden: Vec<(u16, Verb)>,
    /// What etcd does later, with when.
    late: Vec<(u64, u16, Call)>,
    said: VecDeque<(u16, Ticket, Answer)>,
}

/// What is in etcd.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    leases: Sorted<Text, Lease>,
    revision: u64,
    /// How many objects were created.
    created: u128,
}

impl Kept {
    /// An object.
    #[must_use]
    pub fn lease(&self, name: &str) -> Option<&Lease> {
        self.leases.get(name)
    }
}

impl Server {
    /// A client calls, at `now` in microseconds on the server's clock.
    pub fn ask(&mut self, now: u64, client: u16, ticket: Ticket, call: &Call) {
        self.wake(now);
        let permitted = self.permit(client, call.verb());
        let answer = match self.trouble {
            Some(Trouble::Overloaded) => Answer::Failure(Reason::TooManyRequests),
            _ if permitted.is_err() => Answer::Failure(Reason::Forbidden),
            Some(Trouble::Fails { done }) => {
                if done {
                    self.carry_out(client, call);
                }
                Answer::Failure(Reason::InternalError)
            }
            Some(Trouble::Late(after)) => {
                self.late.push((now + after, client, call.clone()));
                Answer::Failure(Reason::Timeout)
            }
            None => self.carry_out(client, call),
        };
        self.said.push_back((client, ticket, answer));
    }

    /// The next answer, to whom, and to which call.
    pub fn poll(&mut self) -> Option<(u16, Ticket, Answer)> {
        self.said.pop_front()
    }

    /// When something happens by itself.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        self.late.iter().map(|(at, ..)| *at).min()
    }

    /// Does what is late.
    pub fn wake(&mut self, now: u64) {
        while let Some(due) = self.due().filter(|due| *due <= now)
            && let Some(next) = self.late.iter().position(|(at, ..)| *at == due)
        {
            let (_, client, call) = self.late.remove(next);
            self.carry_out(client, &call);
        }
    }

    /// The process died, and is back. What was written is in etcd, and what was to be said is lost.
    pub fn restart(&mut self) {
        self.said.clear();
    }

    /// Something is wrong with it from now on, or nothing.
    pub const fn trouble(&mut self, trouble: Option<Trouble>) {
        self.trouble = trouble;
    }

    /// A client may not do this from now on.
    pub fn forbid(&mut self, client: u16, verb: Verb) {
        self.forbidden.push((client, verb));
    }

    /// Everybody may do everything again.
    pub fn forbid_nothing(&mut self) {
        self.forbidden.clear();
    }

    /// Other objects of the cluster are written, so many times.
    pub const fn write_elsewhere(&mut self, times: u64) {
        self.kept.revision += times;
    }

    /// Somebody deletes an object, past every rule. False when it is not there.
    pub fn delete(&mut self, name: &str) -> bool {
        let there = self.kept.leases.remove(name).is_some();
        self.kept.revision += u64::from(there);
        there
    }

    /// A snapshot of etcd.
    #[must_use]
    pub const fn kept(&self) -> &Kept {
        &self.kept
    }

    /// The cluster is restored from a snapshot: versions fall back.
    pub fn restore(&mut self, snapshot: Kept) {
        self.kept = snapshot;
        self.late.clear();
    }

    fn carry_out(&mut self, client: u16, call: &Call) -> Answer {
        self.judge(client, call).unwrap_or_else(Answer::Failure)
    }

    fn judge(&mut self, client: u16, call: &Call) -> Result<Answer, Reason> {
        match call {
            Call::Get(name) => {
                let lease = self.kept.leases.get(name).ok_or(Reason::NotFound)?;
                Ok(Answer::Object(lease.clone()))
            }
            Call::Create(lease) => {
                lease.spec.validate()?;
                if self.kept.leases.contains_key(&lease.metadata.name) {
                    return Err(Reason::AlreadyExists);
                }
                Ok(Answer::Created(self.kept.create(lease)))
            }
            Call::Update(lease) => self.update(client, lease),
            Call::Delete {
                name,
                uid,
                resource_version,
            } => {
                let present = self.kept.leases.get(name).ok_or(Reason::NotFound)?;
                let is = &present.metadata;
                if uid.is_some_and(|uid| is.uid != Some(uid))
                    || resource_version.is_some_and(|named| is.resource_version != Some(named))
                {
                    return Err(Reason::Conflict);
                }
                self.kept.leases.remove(name);
                self.kept.revision += 1;
                Ok(Answer::Deleted)
            }
        }
    }

    fn permit(&self, client: u16, verb: Verb) -> Result<(), Reason> {
        if self.forbidden.contains(&(client, verb)) {
            return Err(Reason::Forbidden);
        }
        Ok(())
    }

    fn update(&mut self, client: u16, lease: &Lease) -> Result<Answer, Reason> {
        let named = &lease.metadata;
        let Some(present) = self.kept.leases.get(&named.name) else {
            if named.uid.is_some() {
                return Err(Reason::Conflict);
            }
            lease.spec.validate()?;
            self.permit(client, Verb::Create)?;
            return Ok(Answer::Created(self.kept.create(lease)));
        };
        let is = &present.metadata;
        if named.uid.is_some() && named.uid != is.uid {
            return Err(Reason::Conflict);
        }
        if named.resource_version.ok_or(Reason::Invalid)? != is.resource_version.unwrap_or(0) {
            return Err(Reason::Conflict);
        }
        lease.spec.validate()?;
        let written = Lease {
            metadata: Metadata {
                uid: is.uid,
                ..named.clone()
            },
            spec: lease.spec.clone(),
        };
        if written == *present {
            return Ok(Answer::Object(written));
        }
        Ok(Answer::Object(self.kept.write(written)))
    }
}

impl Kept {
    fn create(&mut self, lease: &Lease) -> Lease {
        self.created += 1;
        let mut lease = lease.clone();
        lease.metadata.uid = Some(self.created);
        self.write(lease)
    }

    fn write(&mut self, mut lease: Lease) -> Lease {
        self.revision += 1;
        lease.metadata.resource_version = Some(self.revision);
        let name = lease.metadata.name.clone();
        self.leases.insert(name, lease.clone());
        lease
    }
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::*;

    const ANNA: u16 = 0;
    const KUBECTL: u16 = 9;

    fn ask(server: &mut Server, now: u64, client: u16, call: Call) -> Answer {
        let ticket = Ticket {
            incarnation: 1,
            number: 1,
        };
        server.ask(now, client, ticket, &call);
        server.poll().expect("it answers at once").2
    }

    fn lease(holder: &str, seconds: i32) -> Lease {
        Lease {
            metadata: Metadata {
                name: "election".into(),
                ..Metadata::default()
            },
            spec: Spec {
                holder_identity: Some(holder.into()),
                lease_duration_seconds: Some(seconds),
                ..Spec::default()
            },
        }
    }

    fn create(server: &mut Server, holder: &str) -> Lease {
        let created = ask(server, 0, ANNA, Call::Create(lease(holder, 15)));
        let Answer::Created(lease) = created else {
            panic!("{created:?}")
        };
        lease
    }

    fn get(server: &mut Server) -> Answer {
        ask(server, 0, ANNA, Call::Get("election".into()))
    }

    fn update(server: &mut Server, lease: &Lease) -> Answer {
        ask(server, 0, ANNA, Call::Update(lease.clone()))
    }

    fn delete(server: &mut Server) -> Answer {
        let call = Call::Delete {
            name: "election".into(),
            uid: None,
            resource_version: None,
        };
        ask(server, 0, KUBECTL, call)
    }

    fn held_by(answer: &Answer) -> (Option<u64>, Option<&str>) {
        match answer {
            Answer::Object(lease) | Answer::Created(lease) => (
                lease.metadata.resource_version,
                lease.spec.holder_identity.as_deref(),
            ),
            _ => (None, None),
        }
    }

    #[test]
    fn an_object_is_created_once_and_gets_uid_and_version() {
        let mut server = Server::default();
        assert_eq!(get(&mut server), Answer::Failure(Reason::NotFound));
        server.write_elsewhere(41);
        let created = create(&mut server, "anna");
        assert_eq!(created.metadata.resource_version, Some(42));
        assert!(created.metadata.uid.is_some());
        assert_eq!(get(&mut server), Answer::Object(created));
        let again = ask(&mut server, 0, ANNA, Call::Create(lease("ben", 15)));
        assert_eq!(again, Answer::Failure(Reason::AlreadyExists));
    }

    #[test]
    fn an_update_is_of_one_version_of_one_object() {
        let mut server = Server::default();
        let mut known = create(&mut server, "anna");
        let mut unnamed = known.clone();
        unnamed.metadata.resource_version = None;
        let refused = update(&mut server, &unnamed);
        assert_eq!(refused, Answer::Failure(Reason::Invalid));
        known.spec.holder_identity = Some("ben".into());
        let updated = update(&mut server, &known);
        assert_eq!(held_by(&updated), (Some(2), Some("ben")));
        let refused = update(&mut server, &known);
        assert_eq!(refused, Answer::Failure(Reason::Conflict));
        known.metadata.resource_version = Some(2);
        known.metadata.uid = Some(99);
        let refused = update(&mut server, &known);
        assert_eq!(refused, Answer::Failure(Reason::Conflict));
        known.metadata.uid = None;
        known.spec.holder_identity = Some("cleo".into());
        known.metadata.annotations = vec![("key".into(), "value".into())];
        let updated = update(&mut server, &known);
        assert_eq!(held_by(&updated), (Some(3), Some("cleo")));
        // What is not named is gone, but for the uid.
        known.metadata.resource_version = Some(3);
        known.metadata.annotations.clear();
        let Answer::Object(updated) = update(&mut server, &known) else {
            panic!("it is the present version")
        };
        assert!(updated.metadata.annotations.is_empty() && updated.metadata.uid.is_some());
    }

    #[test]
    fn an_update_of_what_is_not_there_creates_it_unless_it_names_a_uid() {
        let mut server = Server::default();
        let mut known = create(&mut server, "anna");
        assert_eq!(delete(&mut server), Answer::Deleted);
        assert_eq!(delete(&mut server), Answer::Failure(Reason::NotFound));
        let refused = update(&mut server, &known);
        assert_eq!(refused, Answer::Failure(Reason::Conflict));
        let uid = known.metadata.uid.take();
        let Answer::Created(created) = update(&mut server, &known) else {
            panic!("it may be created")
        };
        // A deletion is a write, too.
        assert_eq!(created.metadata.resource_version, Some(3));
        assert_ne!(created.metadata.uid, uid);
    }

    #[test]
    fn what_changes_nothing_is_not_written() {
        let mut server = Server::default();
        let mut known = create(&mut server, "anna");
        for _ in 0..2 {
            assert_eq!(update(&mut server, &known), Answer::Object(known.clone()));
        }
        known.spec.renew_time = Some(1);
        assert_eq!(held_by(&update(&mut server, &known)).0, Some(2));
    }

    #[test]
    fn what_is_invalid_is_refused_before_creating_and_after_the_version() {
        let mut server = Server::default();
        for seconds in [0, -1] {
            let invalid = ask(&mut server, 0, ANNA, Call::Create(lease("anna", seconds)));
            assert_eq!(invalid, Answer::Failure(Reason::Invalid));
        }
        let mut known = create(&mut server, "anna");
        known.spec.lease_transitions = Some(-1);
        let invalid = ask(&mut server, 0, ANNA, Call::Create(known.clone()));
        assert_eq!(invalid, Answer::Failure(Reason::Invalid));
        assert_eq!(
            update(&mut server, &known),
            Answer::Failure(Reason::Invalid)
        );
        known.metadata.resource_version = Some(7);
        assert_eq!(
            update(&mut server, &known),
            Answer::Failure(Reason::Conflict)
        );
        // What is not there is not wrong.
        known.metadata.resource_version = Some(1);
        known.spec = Spec::default();
        assert_eq!(held_by(&update(&mut server, &known)), (Some(2), None));
    }

    #[test]
    fn a_deletion_keeps_to_its_preconditions() {
        let mut server = Server::default();
        let known = create(&mut server, "anna");
        let delete = |uid, resource_version| Call::Delete {
            name: "election".into(),
            uid,
            resource_version,
        };
        for call in [delete(Some(99), None), delete(known.metadata.uid, Some(9))] {
            let refused = ask(&mut server, 0, KUBECTL, call);
            assert_eq!(refused, Answer::Failure(Reason::Conflict));
        }
        let gone = ask(&mut server, 0, KUBECTL, delete(known.metadata.uid, Some(1)));
        assert_eq!(gone, Answer::Deleted);
    }

    #[test]
    fn who_may_not_is_told_so_and_nothing_is_done() {
        let mut server = Server::default();
        let mut known = create(&mut server, "anna");
        server.forbid(ANNA, Verb::Update);
        known.spec.renew_time = Some(1);
        let refused = update(&mut server, &known);
        assert_eq!(refused, Answer::Failure(Reason::Forbidden));
        assert_eq!(held_by(&get(&mut server)).0, Some(1));
        server.forbid_nothing();
        // Who may update and not create does not create by an update.
        server.forbid(ANNA, Verb::Create);
        delete(&mut server);
        known.metadata.uid = None;
        let refused = update(&mut server, &known);
        assert_eq!(refused, Answer::Failure(Reason::Forbidden));
    }

    #[test]
    fn a_failure_leaves_open_whether_it_was_done() {
        let mut server = Server::default();
        let mut known = create(&mut server, "anna");
        known.spec.renew_time = Some(1);
        for (trouble, reason, version) in [
            (Trouble::Overloaded, Reason::TooManyRequests, 1),
            (Trouble::Fails { done: false }, Reason::InternalError, 1),
            (Trouble::Fails { done: true }, Reason::InternalError, 2),
        ] {
            server.trouble(Some(trouble));
            assert_eq!(update(&mut server, &known), Answer::Failure(reason));
            server.trouble(None);
            assert_eq!(held_by(&get(&mut server)).0, Some(version));
        }
    }

    #[test]
    fn what_is_late_is_judged_when_it_is_done() {
        let mut server = Server::default();
        let mut known = create(&mut server, "anna");
        known.spec.holder_identity = None;
        server.trouble(Some(Trouble::Late(1_000)));
        let answer = update(&mut server, &known);
        assert_eq!(
            (answer, server.due()),
            (Answer::Failure(Reason::Timeout), Some(1_000))
        );
        server.trouble(None);
        let mut after = server.clone();
        after.wake(999);
        assert_eq!(held_by(&get(&mut after)), (Some(1), Some("anna")));
        after.wake(1_000);
        assert_eq!(
            (held_by(&get(&mut after)), after.due()),
            ((Some(2), None), None)
        );
        // Another was first.
        known.spec.holder_identity = Some("ben".into());
        update(&mut server, &known);
        server.wake(1_000);
        assert_eq!(held_by(&get(&mut server)), (Some(2), Some("ben")));
    }

    #[test]
    fn a_restart_loses_answers_and_a_restore_versions() {
        let mut server = Server::default();
        let mut known = create(&mut server, "anna");
        let snapshot = server.kept().clone();
        known.spec.renew_time = Some(1);
        let ticket = Ticket {
            incarnation: 1,
            number: 2,
        };
        server.ask(0, ANNA, ticket, &Call::Update(known));
        server.restart();
        assert_eq!(server.poll(), None);
        assert_eq!(held_by(&get(&mut server)).0, Some(2));
        server.restore(snapshot);
        assert_eq!(held_by(&get(&mut server)).0, Some(1));
    }
}
