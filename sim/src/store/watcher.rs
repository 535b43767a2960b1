//! A client of a store that watches: it reads some keys, follows their changes from there, and goes on at another server
//! from its next revision when one falls silent, or when it likes to. Where that revision is forgotten it reads anew.
//!
//! Now and then it writes, so that there is something to see which the other clients do not do: several changes in one
//! revision, keys that are deleted, and keys that go with their lease.

use super::{Call, Done, Operation, Range, Reading, Refused, Request, Said, Want, Watch};
use tenure::NodeId;
use tenure::random::Random;

/// How many there are, where there are any: one watches every key, the others those that they write themselves.
pub(crate) const WATCHERS: usize = 2;

/// After how long in silence it asks whether its watch goes on, in its periods.
const WONDERS: u64 = 3;
/// After how long in silence it looks for another server.
const PATIENCE: u64 = 8;
/// How long it is away at most.
const AWAY: u64 = 72;
/// Of so many periods it writes in one.
pub(crate) const WRITES_OF: u64 = 8;
/// What the keys that they write begin with.
const PREFIX: &str = "w";

/// A client that watches.
#[derive(Clone, Debug)]
pub(crate) struct Watcher {
    nodes: u16,
    every: u64,
    draw: Random,
    range: Range,
    /// Whom it reads of and watches at.
    target: u16,
    /// Whom it takes for the leader.
    leader: u16,
    issued: u64,
    /// The number of its read or its watch; 0 while it is away.
    number: u64,
    /// The first revision whose changes it does not know; 0 when it has to read.
    next: u64,
    heard_at: u64,
    /// Whether its watch told it anything yet. Who left before would never come to know of what it missed.
    told: bool,
    away_until: u64,
    /// The lease of the keys it writes.
    lease: u64,
}

impl Watcher {
    pub(crate) fn new(nodes: u16, every: u64, seed: u64, place: u64) -> Self {
        Self {
            nodes,
            every,
            draw: Random::new(seed, NodeId(200 + place), 1),
            range: Range::Prefix(if place == 0 { "" } else { PREFIX }.into()),
            target: 0,
            leader: 0,
            issued: 0,
            number: 0,
            next: 0,
            heard_at: 0,
            told: false,
            away_until: 0,
            lease: 0,
        }
    }

    /// The keys that it watches.
    pub(crate) const fn range(&self) -> &Range {
        &self.range
    }

    /// When it looks next what to do.
    pub(crate) const fn next_at(&self, now: u64) -> u64 {
        now.saturating_add(self.every)
    }

    /// Time has passed: what it says to whom.
    pub(crate) fn tick(&mut self, now: u64, me: u16, mut say: impl FnMut(u16, Call)) {
        if self.draw.below(WRITES_OF) == 0 {
            let request = self.write(me);
            self.issued += 1;
            let want = Want::Do(request.into(), Reading::Log);
            let number = self.issued;
            say(self.leader, Call { number, want });
        }
        if now < self.away_until {
            return;
        }
        let silent = now.saturating_sub(self.heard_at);
        let whim = self.draw.below(128);
        let leaves = self.told && whim < 4;
        if self.number == 0 || silent > self.every * PATIENCE || leaves {
            if self.number != 0 {
                let (number, want) = (self.number, Want::Watch(Watch::Cancel));
                say(self.target, Call { number, want });
                self.target = (self.target + 1) % self.nodes;
                (self.number, self.told) = (0, false);
            }
            if leaves && whim == 0 {
                self.away_until = now + self.draw.below(self.every * AWAY);
                return;
            }
            self.heard_at = now;
            let begins = self.begin();
            say(self.target, begins);
        } else if silent > self.every * WONDERS && self.next != 0 {
            let (number, want) = (self.number, Want::Watch(Watch::Progress));
            say(self.target, Call { number, want });
        }
    }

    /// It reads, if it has to, or watches.
    fn begin(&mut self) -> Call {
        self.issued += 1;
        self.number = self.issued;
        self.told = false;
        let range = self.range.clone();
        let want = match self.next {
            // Of whom it asks, it must not be older than what it saw elsewhere.
            0 => Want::Do(
                Request::Do(Operation::Get(range)).into(),
                Reading::Confirmed,
            ),
            next => Want::Watch(Watch::From(range, next)),
        };
        let number = self.number;
        Call { number, want }
    }

    fn write(&mut self, me: u16) -> Request {
        let lease = self.lease;
        let put = |key: u64, value: u64| Operation::Put {
            key: format!("{PREFIX}{key}").into(),
            value: value.to_string().into(),
            lease,
        };
        let (value, key) = (self.issued, self.draw.below(2));
        match self.draw.below(8) {
            0 => {
                // It is never kept alive. Granted or not, the next keys are to go with it.
                self.lease = u64::from(me) << 32 | self.issued;
                Request::Grant {
                    lease: self.lease,
                    ttl: self.every * 24,
                }
            }
            1 => Request::Do(Operation::Delete(Range::Prefix(PREFIX.into()))),
            _ => Request::Txn {
                when: vec![],
                then: vec![put(key, value), put(key + 1, value)],
                otherwise: vec![],
            },
        }
    }

    /// A server says something. Whether it is of its read or its watch, and taken for so; and what it says then.
    pub(crate) fn said(
        &mut self,
        now: u64,
        number: u64,
        said: &Said,
    ) -> (bool, Option<(u16, Call)>) {
        if number != self.number {
            // What it wrote, or a watch that it left.
            match said {
                Said::Elsewhere(Some(leader)) if *leader < self.nodes => self.leader = *leader,
                Said::Elsewhere(_) => self.leader = (self.leader + 1) % self.nodes,
                Said::Answered(Err(Refused::NoLease(_))) => self.lease = 0,
                _ => {}
            }
            return (false, None);
        }
        self.heard_at = now;
        match said {
            Said::Changed(_, upto) => {
                self.next = upto + 1;
                self.told = true;
                return (true, None);
            }
            Said::Answered(Ok(answer)) if matches!(answer.done, Done::Got(_)) => {
                self.next = answer.revision + 1;
            }
            Said::Answered(Err(Refused::Compacted(_))) => self.next = 0,
            // Nobody who could answer.
            _ => {
                self.target = (self.target + 1) % self.nodes;
                self.number = 0;
                return (false, None);
            }
        }
        let begins = self.begin();
        (true, Some((self.target, begins)))
    }
}
