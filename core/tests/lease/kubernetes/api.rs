//! The API server, with the one object.

use crate::storm::Store;
use std::collections::VecDeque;
use tenure::lease::Rules;
use tenure::lease::kubernetes::{Kubernetes, Lease, Record, Reply, Request, Uid};
use tenure::random::Random;
use tenure::{Duration, Ticket};

/// How far the calendars of the hosts are apart: the second is an hour ahead.
const CALENDARS: [u64; 3] = [0, 3_600_000_000, 0];

/// The object as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) uid: Uid,
    pub(crate) version: u64,
    pub(crate) record: Record,
    renewed: u64,
}

#[derive(Default)]
pub(crate) struct Api {
    pub(crate) object: Option<Object>,
    /// Of the whole store.
    pub(crate) revision: u64,
    created: u128,
    /// Where the rest of the cluster writes, and calls are refused at times.
    busy: Option<Random>,
    /// Whether somebody deletes the object at times, or writes nobody into it.
    touched: bool,
    said: VecDeque<(usize, Ticket, Reply)>,
}

impl Api {
    pub(crate) fn busy(seed: u64) -> Self {
        Self {
            busy: Some(Random::from_seed(seed)),
            ..Self::default()
        }
    }

    pub(crate) fn touched(seed: u64) -> Self {
        Self {
            touched: true,
            ..Self::busy(seed)
        }
    }

    /// Answers at an instant of the caller's calendar.
    pub(crate) fn carry_out(&mut self, calendar: u64, request: Request) -> Reply {
        if let Some(random) = &mut self.busy {
            self.revision += random.below(3);
            if self.touched && random.below(1000) < 5 {
                self.revision += 1;
                match &mut self.object {
                    Some(object) if random.below(2) == 0 => {
                        (object.record.holder, object.version) = (None, self.revision);
                    }
                    object => *object = None,
                }
            }
            if random.below(1000) < 30 {
                return Reply::NotDone;
            }
        }
        match (request, &self.object) {
            (Request::Get, _) => self.seen(calendar),
            (Request::Create(_), Some(_)) => Reply::AlreadyExists,
            (Request::Create(record), None) => {
                self.created += 1;
                self.write(calendar, Uid(self.created), record)
            }
            (
                Request::Update {
                    uid,
                    version,
                    record,
                },
                Some(object),
            ) if (uid, version) == (object.uid, object.version) => {
                self.write(calendar, uid, record)
            }
            (Request::Update { .. }, _) => Reply::Conflict,
        }
    }

    pub(crate) fn write(&mut self, calendar: u64, uid: Uid, mut record: Record) -> Reply {
        // What the validation of the API refuses.
        if record.seconds == 0 {
            return Reply::NotDone;
        }
        record.acquired.get_or_insert(calendar as i64);
        // What changes nothing is not written.
        let same = |object: &&Object| (&object.record, object.renewed) == (&record, calendar);
        if self.object.as_ref().filter(same).is_none() {
            self.revision += 1;
            self.object = Some(Object {
                uid,
                version: self.revision,
                record,
                renewed: calendar,
            });
        }
        self.seen(calendar)
    }

    fn seen(&self, calendar: u64) -> Reply {
        let Some(object) = self.object.clone() else {
            return Reply::NotFound;
        };
        Reply::Object(Lease {
            uid: object.uid,
            version: object.version,
            record: object.record,
            age: Duration::from_micros(calendar.saturating_sub(object.renewed)),
        })
    }
}

impl<R: Rules> Store<Kubernetes<R>> for Api {
    fn ask(&mut self, now: u64, from: usize, ticket: Ticket, request: Request) {
        let reply = self.carry_out(now + CALENDARS[from], request);
        self.said.push_back((from, ticket, reply));
    }

    fn poll(&mut self) -> Option<(usize, Ticket, Reply)> {
        self.said.pop_front()
    }
}
