//! A client of a store: one request after the other, each of them once. What it is not told within its patience it never
//! learns, and asks the next node for the next thing.

use super::{Answer, Call, Compare, Done, Key, Operation, Range, Reading, Request, Said, Want};
use crate::linear::{RegisterInput, RegisterOutput};
use tenure::random::Random;
use tenure::{Duration, NodeId};

/// How many keys the clients share.
pub(crate) const KEYS: u64 = 3;
/// How many clients there are where there is a log.
pub(crate) const CLIENTS: usize = 3;

/// How long a client waits for an answer, in its periods.
const PATIENCE: u64 = 16;
/// How often it follows a redirection, for one request: nodes that point at each other would keep it going round.
const REDIRECTIONS: u8 = 3;

/// A client.
#[derive(Clone, Debug)]
pub struct StoreClient {
    nodes: u16,
    every: u64,
    draw: Random,
    /// Whom it takes for the leader.
    target: u16,
    issued: u64,
    open: Option<Open>,
    /// By key: what it held last, as far as this client knows, and the revision of that.
    known: [(u64, u64); KEYS as usize],
    /// The lease it keeps alive, if it has one.
    lease: u64,
    answered: [u32; Errand::KINDS],
}

/// What a client asks for, as people tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Errand {
    /// That something be kept, whatever is there or only if it is as it was.
    Write = 0,
    /// What is kept, read through the log.
    LogRead = 1,
    /// The same, once a majority confirmed who leads.
    ConfirmedRead = 2,
    /// The same, from who leads, while its lease lasts.
    LeasedRead = 3,
    /// That a lease be granted or kept alive.
    Lease = 4,
}

impl Errand {
    /// How many there are.
    pub const KINDS: usize = 5;

    const fn of(input: Option<RegisterInput>, reading: Reading) -> Self {
        match (input, reading) {
            (None, _) => Self::Lease,
            (Some(RegisterInput::Read), Reading::Log) => Self::LogRead,
            (Some(RegisterInput::Read), Reading::Confirmed) => Self::ConfirmedRead,
            (Some(RegisterInput::Read), Reading::Leased) => Self::LeasedRead,
            (Some(_), _) => Self::Write,
        }
    }
}

/// What it waits for.
#[derive(Clone, Debug)]
struct Open {
    call: Call,
    /// Whether it was asked of any node, not of whom is taken for the leader.
    anywhere: bool,
    since: u64,
    redirected: u8,
    errand: Errand,
    /// The lease it asks for; 0 for none.
    lease: u64,
    /// What of it concerns a key.
    key: u64,
    input: Option<RegisterInput>,
}

/// Something for the history of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noted {
    /// It was asked for.
    Asked(u64, u64, RegisterInput),
    /// It was answered.
    Answered(u64, RegisterOutput),
    /// Nothing was done, and nothing will be.
    Refused(u64),
}

impl StoreClient {
    pub(crate) fn new(nodes: u16, every: u64, seed: u64, place: u64) -> Self {
        Self {
            nodes,
            every,
            draw: Random::new(seed, NodeId(100 + place), 1),
            target: 0,
            issued: 0,
            open: None,
            known: [(0, 0); KEYS as usize],
            lease: 0,
            answered: [0; Errand::KINDS],
        }
    }

    /// How many of its requests were answered, of each [`Errand`].
    #[must_use]
    pub const fn answered(&self) -> [u32; Errand::KINDS] {
        self.answered
    }

    /// What it waits for, and since when.
    #[must_use]
    pub fn waits(&self) -> Option<(Errand, u64)> {
        self.open.as_ref().map(|open| (open.errand, open.since))
    }

    /// When it looks next whether to ask for something.
    pub(crate) fn next_at(&mut self, now: u64) -> u64 {
        let span = self.draw.duration(
            Duration::from_micros(self.every / 2 + 1),
            Duration::from_micros(self.every * 3 / 2 + 1),
        );
        now.saturating_add(span.as_micros())
    }

    /// Time has passed: whom to ask, for what, under which number; if it waits for nothing.
    pub(crate) fn tick(&mut self, now: u64, me: u16) -> Option<(u16, Call, Option<Noted>)> {
        if let Some(open) = &self.open {
            if now.saturating_sub(open.since) < self.every.saturating_mul(PATIENCE) {
                return None;
            }
            // Nobody answers: the outcome stays unknown, and another node is tried.
            self.open = None;
            self.target = (self.target + 1) % self.nodes;
        }
        self.issued += 1;
        let number = self.issued;
        // Of all clients together: no value is written twice.
        let value = u64::from(me) << 32 | number;
        let key = self.draw.below(KEYS);
        let (held, revision) = self.known[key as usize];
        let (request, input) = match self.draw.below(16) {
            0..6 => {
                let get = Operation::Get(Range::Key(name(key)));
                (Request::Do(get), Some(RegisterInput::Read))
            }
            6..11 => (
                Request::Do(put(key, value, 0)),
                Some(RegisterInput::Write(value)),
            ),
            11..14 => {
                // What is not there was changed in no revision, and holds nothing.
                let swap = Request::Txn {
                    when: vec![Compare::Modified(name(key), revision)],
                    then: vec![put(key, value, 0)],
                    otherwise: vec![],
                };
                (swap, Some(RegisterInput::CompareAndSwap(held, value)))
            }
            _ if self.lease != 0 => (Request::KeepAlive { lease: self.lease }, None),
            _ => {
                let (lease, ttl) = (value, self.every.saturating_mul(40));
                (Request::Grant { lease, ttl }, None)
            }
        };
        let reads = input == Some(RegisterInput::Read);
        let (reading, anywhere) = match self.draw.below(5) {
            1 if reads => (Reading::Leased, false),
            2 if reads => (Reading::Confirmed, false),
            3 if reads => (Reading::Confirmed, true),
            4 if reads => (Reading::Local, true),
            _ => (Reading::Log, false),
        };
        // What may be stale says nothing of the order of operations.
        let input = input.filter(|_| reading != Reading::Local);
        let lease = match request {
            Request::Grant { lease, .. } => lease,
            _ => 0,
        };
        let call = Call {
            number,
            want: Want::Do(request.into(), reading),
        };
        self.open = Some(Open {
            call: call.clone(),
            anywhere,
            since: now,
            redirected: 0,
            errand: Errand::of(input, reading),
            lease,
            key,
            input,
        });
        let noted = input.map(|input| Noted::Asked(number, key, input));
        let target = if anywhere {
            self.draw.below(u64::from(self.nodes)) as u16
        } else {
            self.target
        };
        Some((target, call, noted))
    }

    /// A node says something. What to note of it, and what to ask of whom instead.
    pub(crate) fn said(
        &mut self,
        number: u64,
        said: &Said,
    ) -> (Option<Noted>, Option<(u16, Call)>) {
        let Some(open) = self.open.as_mut().filter(|open| open.call.number == number) else {
            return (None, None);
        };
        match said {
            Said::Elsewhere(_) if open.anywhere => {
                self.open = None;
                (Some(Noted::Refused(number)), None)
            }
            Said::Elsewhere(who) => {
                self.target = match who {
                    Some(leader) if *leader < self.nodes => *leader,
                    _ => (self.target + 1) % self.nodes,
                };
                open.redirected += 1;
                if who.is_some() && open.redirected <= REDIRECTIONS {
                    return (None, Some((self.target, open.call.clone())));
                }
                let refused = open.input.map(|_| Noted::Refused(number));
                self.open = None;
                (refused, None)
            }
            Said::Answered(result) => {
                self.answered[open.errand as usize] += 1;
                let noted = match (result, open.input) {
                    (Ok(answer), Some(input)) => {
                        let (output, knows) = heard(answer, input);
                        if let Some(knows) = knows {
                            self.known[open.key as usize] = knows;
                        }
                        output.map(|output| Noted::Answered(number, output))
                    }
                    (Err(_), Some(_)) => Some(Noted::Refused(number)),
                    (result, None) => {
                        match result {
                            Ok(_) if open.lease != 0 => self.lease = open.lease,
                            Ok(_) => {}
                            Err(_) => self.lease = 0,
                        }
                        None
                    }
                };
                self.open = None;
                (noted, None)
            }
            #[cfg(not(target_family = "wasm"))]
            Said::Changed(..) => (None, None),
        }
    }
}

pub(super) fn name(key: u64) -> Key {
    format!("k{key}").into()
}

fn put(key: u64, value: u64, lease: u64) -> Operation {
    Operation::Put {
        key: name(key),
        value: value.to_string().into(),
        lease,
    }
}

/// What an answer says of a key, and what the key then holds, with its revision.
pub(super) fn heard(
    answer: &Answer,
    input: RegisterInput,
) -> (Option<RegisterOutput>, Option<(u64, u64)>) {
    match (&answer.done, input) {
        (Done::Got(records), RegisterInput::Read) => {
            let found = records.first();
            let value = found.map_or(Some(0), |record| record.value.parse().ok());
            let revision = found.map_or(0, |record| record.modified);
            (
                value.map(RegisterOutput::Value),
                value.map(|value| (value, revision)),
            )
        }
        (Done::Put, RegisterInput::Write(value)) => {
            (Some(RegisterOutput::Done), Some((value, answer.revision)))
        }
        (Done::Txn(true, _), RegisterInput::CompareAndSwap(_, value)) => {
            (Some(RegisterOutput::Done), Some((value, answer.revision)))
        }
        (Done::Txn(false, _), RegisterInput::CompareAndSwap(..)) => {
            (Some(RegisterOutput::Differs), None)
        }
        _ => (None, None),
    }
}
