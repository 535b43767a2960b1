//! What outlives the leaders: a lease, the table of the jobs, and the resources with their guards.

use super::judge::Judge;
use super::{LEASE, RESOURCES};
use tenure::fence::{ElectionId, Fence, Pass, Refused};
use tenure::takeover::{Item, Policy, Reply, Switched};
use tenure::{Ticket, Token};

pub(crate) const ELECTION: ElectionId = ElectionId(9);

/// Who has the lease, and until when.
#[derive(Default)]
pub(crate) struct Lease {
    holder: Option<(usize, u64)>,
    token: u64,
    until: u64,
}

impl Lease {
    /// A life of a node wants it, or wants it on: the token, if it has it now.
    pub(crate) fn want(&mut self, now: u64, who: (usize, u64)) -> Option<Token> {
        if self.until <= now {
            self.token += 1;
            self.holder = Some(who);
        } else if self.holder != Some(who) {
            return None;
        }
        self.until = now + LEASE;
        Some(Token::new(0, self.token))
    }

    pub(crate) fn release(&mut self, now: u64, token: Token) {
        if token.counter == self.token {
            self.until = self.until.min(now);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Waiting,
    Begun,
    Done,
    Doubtful,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) state: State,
    pub(crate) policy: Policy,
    owner: Token,
}

/// The jobs. No guard: what keeps two from having one job is the compare-and-swap of its owner.
pub(crate) struct Table {
    pub(crate) jobs: Vec<Job>,
    /// Every job before this one was begun.
    first: usize,
    /// Every job before this one is finished.
    settled: usize,
    /// Whether statements name the owner they expect.
    pub(crate) swaps: bool,
    /// The last wish of the latest leader that had one, and the job it got.
    granted: (Token, u64, Option<u64>),
    /// Who is told of what others begin.
    pub(crate) watcher: Option<(usize, u64, Ticket, Token)>,
}

impl Table {
    pub(crate) const fn new(swaps: bool) -> Self {
        Self {
            jobs: Vec::new(),
            first: 0,
            settled: 0,
            swaps,
            granted: (Token::NONE, 0, None),
            watcher: None,
        }
    }

    pub(crate) fn add(&mut self, policy: Policy) {
        self.jobs.push(Job {
            state: State::Waiting,
            policy,
            owner: Token::NONE,
        });
    }

    /// Gives the next job to whoever wishes one; the same wish gets the same job, and an older one gets none.
    pub(crate) fn begin(&mut self, by: Token, wish: u64) -> Option<(u64, Policy)> {
        let (token, last, job) = self.granted;
        if token == by && wish <= last {
            let key = job.filter(|_| wish == last)?;
            let job = &self.jobs[key as usize];
            let has = (job.state, job.owner) == (State::Begun, by);
            return has.then_some((key, job.policy));
        }
        let key = self.first;
        let job = self.jobs.get_mut(key)?;
        self.first += 1;
        (job.state, job.owner) = (State::Begun, by);
        if by >= token {
            self.granted = (by, wish, Some(key as u64));
        }
        Some((key as u64, job.policy))
    }

    /// Whether all there are are finished.
    pub(crate) fn is_settled(&mut self) -> bool {
        let over = |job: &Job| matches!(job.state, State::Done | State::Doubtful);
        while self.jobs.get(self.settled).is_some_and(over) {
            self.settled += 1;
        }
        self.settled == self.jobs.len()
    }

    pub(crate) fn list(&mut self, after: Option<u64>, limit: u32) -> Reply<u64> {
        self.is_settled();
        let from = after.map_or(self.settled, |after| self.settled.max(after as usize + 1));
        let begun = (from..self.first).filter(|key| self.jobs[*key].state == State::Begun);
        let item = |key: usize| Item {
            key: key as u64,
            owner: self.jobs[key].owner,
            policy: self.jobs[key].policy,
        };
        let mut items: Vec<_> = begun.map(item).take(limit as usize + 1).collect();
        let more = items.len() > limit as usize;
        items.truncate(limit as usize);
        Reply::Page { items, more }
    }

    pub(crate) fn claim(&mut self, key: u64, from: Token, by: Token) -> Reply<u64> {
        let job = &mut self.jobs[key as usize];
        if job.state != State::Begun {
            Reply::Gone
        } else if job.owner == from {
            job.owner = by;
            Reply::Claimed
        } else {
            Reply::Owned(job.owner)
        }
    }

    /// The job is over for its owner.
    pub(crate) fn settle(&mut self, key: u64, by: Token, state: State) {
        let job = &mut self.jobs[key as usize];
        if job.state == State::Begun && (job.owner == by || !self.swaps) {
            job.state = state;
        }
    }
}

/// A counter behind a guard. An effect raises it, from the value that its writer has read or written last.
pub(crate) struct Resource {
    pub(crate) place: u64,
    guard: Fence<Switched>,
    pub(crate) value: u64,
    /// The last token under which each of its jobs had an effect. That of one run is taken once (INV-F4), and that of an
    /// idempotent job is there or not.
    effects: Vec<Token>,
}

impl Resource {
    pub(crate) fn new(place: u64, rules: Switched) -> Self {
        Self {
            place,
            guard: Fence::with_rules(ELECTION, rules),
            value: 0,
            effects: Vec::new(),
        }
    }

    pub(crate) fn fence(&mut self, judge: &mut Judge, pass: &Pass) -> Reply<u64> {
        match self.guard.fence(pass) {
            Ok(_) => {
                judge.shown(self.place, pass.token);
                Reply::Fenced
            }
            Err(refused) => Reply::Refused(refused),
        }
    }

    /// The effect of a job, of this policy: the value as it is then.
    pub(crate) fn effect(
        &mut self,
        judge: &mut Judge,
        pass: &Pass,
        (job, policy): (u64, Policy),
        value: u64,
    ) -> Result<u64, Refused> {
        let _ = self.guard.admit(pass)?;
        let place = (job / RESOURCES) as usize;
        if self.effects.len() <= place {
            self.effects.resize(place + 1, Token::NONE);
        }
        judge.admitted(self.place, pass.token, job);
        let same_run = self.effects[place] == pass.token;
        let same_effect = policy == Policy::Idempotent && self.effects[place] != Token::NONE;
        if !same_run && !same_effect {
            judge.takes_effect(job, self.value, value);
            (self.effects[place], self.value) = (pass.token, value);
        }
        Ok(self.value)
    }
}
