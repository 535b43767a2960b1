//! A client of a store that does nothing but read, of one node in one way, one read after the other without a pause: many of
//! them are a load.

use super::client::{KEYS, Noted, heard, name};
use super::{Call, Operation, Range, Reading, Request, Said, Want};
use crate::linear::RegisterInput;
use crate::stats::Times;
use std::sync::Arc;

/// A reader.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    target: u16,
    reading: Reading,
    /// Whether what it reads is told to whoever judges histories.
    pub(crate) judged: bool,
    issued: u64,
    /// Since when it waits for the answer to what it issued last.
    since: Option<u64>,
    /// How long each answer took.
    pub(crate) times: Times,
}

impl Reader {
    pub(crate) fn new(target: u16, reading: Reading, judged: bool) -> Self {
        Self {
            target,
            reading,
            judged,
            issued: 0,
            since: None,
            times: Times::default(),
        }
    }

    /// What it asks for next, and of whom.
    pub(crate) fn ask(&mut self, now: u64) -> (u16, Call, Option<Noted>) {
        self.issued += 1;
        self.since = Some(now);
        let key = self.key();
        let get = Request::Do(Operation::Get(Range::Key(name(key))));
        let call = Call {
            number: self.issued,
            want: Want::Do(Arc::new(get), self.reading),
        };
        let noted = Noted::Asked(self.issued, key, RegisterInput::Read);
        (self.target, call, self.judged.then_some(noted))
    }

    /// A node says something. What to note of it, and whether it was the answer.
    pub(crate) fn said(&mut self, now: u64, number: u64, said: &Said) -> (Option<Noted>, bool) {
        let Some(since) = self.since.take_if(|_| number == self.issued) else {
            return (None, false);
        };
        let Said::Answered(Ok(answer)) = said else {
            return (self.judged.then_some(Noted::Refused(number)), false);
        };
        self.times.add(now - since);
        let (output, _) = heard(answer, RegisterInput::Read);
        let noted = output.filter(|_| self.judged);
        (noted.map(|output| Noted::Answered(number, output)), true)
    }

    /// Whether it waits for an answer.
    pub(crate) const fn waits(&self) -> bool {
        self.since.is_some()
    }

    /// The key of the read it issued last: all in turn.
    const fn key(&self) -> u64 {
        self.issued % KEYS
    }
}
