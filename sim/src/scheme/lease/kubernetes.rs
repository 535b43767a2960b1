//! The `Lease` object of Kubernetes, in the world: each request is one call.

use super::{StoreAsk, StoreSaid};
use crate::server::Service;
use crate::store::kubernetes::{Answer, Call, Lease, Metadata, Reason, Server, Spec, Text};
use std::collections::VecDeque;
use tenure::lease::kubernetes::{self as core, Record, Reply, Request, Uid, annotation};
use tenure::lease::{Claimant, Identity, Nonce};
use tenure::{Duration, Ticket, Unknown};

/// The object of the election.
const NAME: &str = "election";
/// By how much the calendars of every other host are wrong: an hour.
const WRONG: u64 = 3_600_000_000;

/// An API server, and what its clients make of requests and answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cluster {
    api: Server,
    said: VecDeque<(u16, Ticket, StoreSaid)>,
}

impl Service for Cluster {
    fn ask(&mut self, now: u64, client: u16, ticket: Ticket, ask: &StoreAsk) {
        if let StoreAsk::Kubernetes(request) = ask {
            self.api
                .ask(now, client, ticket, &call(calendar(now, client), request));
            self.listen(now);
        }
    }

    fn poll(&mut self) -> Option<(u16, Ticket, StoreSaid)> {
        self.said.pop_front()
    }

    fn due(&self) -> Option<u64> {
        self.api.due()
    }

    fn wake(&mut self, now: u64) {
        self.api.wake(now);
    }

    fn restarted(&mut self, _: u64) {
        self.api.restarted();
        self.said.clear();
    }
}

impl Cluster {
    fn listen(&mut self, now: u64) {
        while let Some((client, ticket, answer)) = self.api.poll() {
            let reply = reply(calendar(now, client), answer);
            let said = StoreSaid::Kubernetes(reply);
            self.said.push_back((client, ticket, said));
        }
    }
}

/// What the calendar of a client's host shows.
fn calendar(now: u64, client: u16) -> i64 {
    (now + u64::from(client % 2) * WRONG) as i64
}

/// The call that a request is made with, at a time of the host's calendar.
fn call(calendar: i64, request: &Request) -> Call {
    let lease = |uid: Option<Uid>, version, record| Lease {
        metadata: Metadata {
            name: NAME.into(),
            uid: uid.map(|uid| uid.0),
            resource_version: version,
            annotations: annotations(record),
        },
        spec: spec(calendar, record),
    };
    match request {
        Request::Get => Call::Get(NAME.into()),
        Request::Create(record) => Call::Create(lease(None, None, record)),
        Request::Update {
            uid,
            version,
            record,
        } => Call::Update(lease(Some(*uid), Some(*version), record)),
    }
}

fn spec(calendar: i64, record: &Record) -> Spec {
    let holder = record
        .holder
        .as_ref()
        .map_or("", |holder| holder.identity.name());
    Spec {
        holder_identity: Some(holder.into()),
        lease_duration_seconds: Some(i32::try_from(record.seconds).unwrap_or(i32::MAX)),
        acquire_time: Some(record.acquired.unwrap_or(calendar)),
        renew_time: Some(calendar),
        lease_transitions: Some(i32::try_from(record.transitions).unwrap_or(i32::MAX)),
    }
}

/// In order of key.
fn annotations(record: &Record) -> Vec<(Text, Text)> {
    let Some(holder) = &record.holder else {
        return Vec::new();
    };
    let metadata = Some(holder.metadata()).filter(|text| !text.is_empty());
    let noted = [
        (annotation::HOLDER, Some(holder.identity.name().into())),
        (annotation::METADATA, metadata.map(Text::from)),
        (annotation::NONCE, Some(record.nonce.to_string().into())),
        (
            annotation::SINCE,
            record.since.map(|since| since.to_string().into()),
        ),
    ];
    let there = |(key, value): (&str, Option<Text>)| Some((key.into(), value?));
    noted.into_iter().filter_map(there).collect()
}

/// What a client makes of an answer, at a time of its host's calendar.
fn reply(calendar: i64, answer: Answer) -> Result<Reply, Unknown> {
    Ok(match answer {
        Answer::Object(lease) | Answer::Created(lease) => {
            Reply::Object(seen(calendar, &lease).ok_or(Unknown)?)
        }
        // Nobody asks for that.
        Answer::Deleted => return Err(Unknown),
        Answer::Failure(reason) => match reason {
            Reason::NotFound => Reply::NotFound,
            Reason::AlreadyExists => Reply::AlreadyExists,
            Reason::Conflict => Reply::Conflict,
            Reason::Forbidden | Reason::Invalid | Reason::TooManyRequests => Reply::NotDone,
            Reason::InternalError | Reason::Timeout => return Err(Unknown),
        },
    })
}

fn seen(calendar: i64, lease: &Lease) -> Option<core::Lease> {
    let renewed = lease.spec.renew_time.unwrap_or(0);
    Some(core::Lease {
        uid: Uid(lease.metadata.uid?),
        version: lease.metadata.resource_version?,
        record: record(lease),
        age: Duration::from_micros(u64::try_from(calendar.saturating_sub(renewed)).unwrap_or(0)),
    })
}

fn record(lease: &Lease) -> Record {
    let (metadata, spec) = (&lease.metadata, &lease.spec);
    let holder = spec.holder_identity.as_deref().unwrap_or_default();
    let noted = |key: &str| {
        let mut all = metadata.annotations.iter();
        all.find(|(known, _)| **known == *key)
            .map(|(_, value)| &**value)
    };
    // What was noted for another says nothing of this one.
    let its = noted(annotation::HOLDER) == Some(holder);
    let about = |key| noted(key).filter(|_| its);
    let nonce = about(annotation::NONCE).and_then(|text| u128::from_str_radix(text, 16).ok());
    let number = |value: Option<i32>| value.and_then(|value| u32::try_from(value).ok());
    Record {
        holder: Identity::new(holder).ok().map(|identity| {
            let claimant = Claimant::new(identity);
            let metadata = about(annotation::METADATA).unwrap_or_default();
            claimant.clone().with_metadata(metadata).unwrap_or(claimant)
        }),
        nonce: Nonce(nonce.unwrap_or(0)),
        seconds: number(spec.lease_duration_seconds).unwrap_or(0),
        transitions: number(spec.lease_transitions).unwrap_or(0),
        acquired: spec.acquire_time,
        since: about(annotation::SINCE).and_then(|text| text.parse().ok()),
    }
}
