//! A process that elects by a lease, takes over, and works at jobs: a host as the core's contract asks for one.

use super::stores::ELECTION;
use super::{Ask, LANES, LEASE, MARGIN, RENEW, RESOURCES, Say};
use std::collections::VecDeque;
use tenure::fence::{Holder, Pass, Refused};
use tenure::random::Random;
use tenure::takeover::{
    Because, Config, Event, How, Input, Output, Reply, Request, Switched, Takeover,
};
use tenure::{Duration, Instant, NodeId, Standing, Tenure, Ticket, Token};

/// A request or an effect that was not answered is sent again after this.
const RESEND: u64 = 40_000;

/// A job that is worked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) job: u64,
    pass: Pass,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Working(u64),
    /// The effect was sent then, with this value.
    Writing(u64, u64),
    Finishing(u64),
}

pub(crate) struct Process {
    pub(crate) life: u64,
    held: Option<Tenure>,
    /// The highest token it ever held: none comes back.
    highest: Token,
    /// When it asks for the lease next, and with which send each answer comes is told in the answer.
    ask_lease: u64,
    pub(crate) takeover: Takeover<u64, Switched>,
    pub(crate) runs: Vec<Run>,
    /// What it has read of each resource in this tenure, or written last.
    values: [Option<u64>; RESOURCES as usize],
    /// The wish for a job: its number, and when it was sent; never, while it has none.
    wish: (u64, Option<u64>),
    /// The drain that is to be answered when nothing runs.
    draining: Option<Ticket>,
    pub(crate) out: VecDeque<Ask>,
    /// Jobs that were begun since somebody looked.
    pub(crate) began: Vec<u64>,
    pub(crate) readies: u64,
    pub(crate) resigned: Vec<Because>,
    /// How many items were taken over.
    pub(crate) taken: u64,
}

fn at(micros: u64) -> Instant {
    Instant::from_micros(micros)
}

impl Process {
    pub(crate) fn new(node: usize, life: u64, rules: Switched) -> Self {
        let holder = Holder {
            node: NodeId(node as u64),
            incarnation: life,
        };
        let mut config = Config::new(ELECTION, holder, RESOURCES as u32);
        config.page = 2;
        config.timing.patience = Duration::from_micros(RESEND);
        config.timing.retry = Duration::from_millis(10);
        config.timing.limit = Duration::from_secs(2);
        config.timing.drain = Duration::from_millis(100);
        Self {
            life,
            held: None,
            highest: Token::NONE,
            ask_lease: 0,
            takeover: Takeover::with_rules(config, rules).unwrap(),
            runs: Vec::new(),
            values: [None; RESOURCES as usize],
            wish: (0, None),
            draining: None,
            out: VecDeque::new(),
            began: Vec::new(),
            readies: 0,
            resigned: Vec::new(),
            taken: 0,
        }
    }

    pub(crate) fn standing(&self, now: u64) -> Standing {
        match self.held {
            Some(tenure) if at(now) < tenure.until => Standing::Leading(tenure),
            _ => Standing::Unknown,
        }
    }

    /// Whether its work may go on now.
    pub(crate) fn may_go_on(&self, now: u64) -> bool {
        self.takeover
            .may_go_on(at(now), self.standing(now))
            .is_some()
    }

    pub(crate) fn hand(&mut self, now: u64, random: &mut Random, input: Input<u64>) {
        self.takeover.handle(at(now), self.standing(now), input);
        while let Some(output) = self.takeover.poll() {
            match output {
                Output::Event(Event::Ready(_)) => self.readies += 1,
                Output::Event(_) => {
                    self.values = [None; RESOURCES as usize];
                    self.wish.1 = None;
                    self.draining = None;
                }
                Output::Resign(because) => {
                    self.resigned.push(because);
                    self.give_up();
                    // Somebody else comes first.
                    self.ask_lease = now + LEASE;
                    let gone = self.standing(now);
                    self.takeover.handle(at(now), gone, Input::Look);
                }
                Output::Request(ticket, pass, request) => {
                    self.carry_out(now, random, ticket, pass, request);
                }
            }
        }
    }

    fn carry_out(
        &mut self,
        now: u64,
        random: &mut Random,
        ticket: Ticket,
        pass: Pass,
        request: Request<u64>,
    ) {
        let reply = match request {
            Request::Resume {
                key,
                how: How::Redo,
            } => {
                self.taken += 1;
                self.run(now, random, key, pass);
                Reply::Resumed
            }
            Request::Announce => Reply::Announced,
            Request::Stop => {
                self.runs.clear();
                Reply::Stopped
            }
            Request::Drain(_) => {
                self.draining = Some(ticket);
                return self.drained(now);
            }
            elsewhere => return self.out.push_back(Ask::Takeover(ticket, pass, elsewhere)),
        };
        let standing = self.standing(now);
        self.takeover
            .handle(at(now), standing, Input::Reply(ticket, Ok(reply)));
    }

    fn run(&mut self, now: u64, random: &mut Random, job: u64, pass: Pass) {
        let phase = Phase::Working(now + 1_000 + random.below(30_000));
        self.runs.push(Run { job, pass, phase });
        self.began.push(job);
    }

    fn drained(&mut self, now: u64) {
        if self.runs.is_empty()
            && let Some(ticket) = self.draining.take()
        {
            let standing = self.standing(now);
            self.takeover
                .handle(at(now), standing, Input::Reply(ticket, Ok(Reply::Stopped)));
        }
    }

    fn give_up(&mut self) {
        if let Some(held) = self.held.take() {
            self.out.push_back(Ask::Release(held.token));
        }
    }

    /// Does what is due.
    pub(crate) fn tick(&mut self, now: u64, random: &mut Random) {
        if self.held.is_some_and(|held| held.until <= at(now)) {
            self.give_up();
        }
        if self.ask_lease <= now {
            self.ask_lease = now + RENEW;
            self.out.push_back(Ask::Lease(now));
        }
        self.hand(now, random, Input::Look);
        for place in 0..self.runs.len() {
            self.work(now, place);
        }
        let permit = self.takeover.may_begin(at(now), self.standing(now));
        if let Some(permit) = permit.filter(|_| self.runs.len() < LANES) {
            let (number, sent) = &mut self.wish;
            if sent.is_none() {
                *number += 1;
            }
            if sent.is_none_or(|sent| sent + RESEND <= now) {
                *sent = Some(now);
                self.out.push_back(Ask::Begin(permit.pass, *number));
            }
        }
    }

    fn work(&mut self, now: u64, place: usize) {
        let standing = self.standing(now);
        if self.takeover.may_go_on(at(now), standing).is_none() {
            return;
        }
        let Run { job, pass, phase } = self.runs[place];
        let resource = (job % RESOURCES) as usize;
        let busy = self.runs.iter().any(|run| {
            run.job % RESOURCES == job % RESOURCES && matches!(run.phase, Phase::Writing(..))
        });
        let phase = match phase {
            Phase::Working(until) if until <= now && !busy => {
                let Some(value) = self.values[resource] else {
                    return;
                };
                let value = value + 1;
                self.out.push_back(Ask::Effect { pass, job, value });
                Phase::Writing(now, value)
            }
            Phase::Writing(sent, value) if sent + RESEND <= now => {
                self.out.push_back(Ask::Effect { pass, job, value });
                Phase::Writing(now, value)
            }
            Phase::Finishing(sent) if sent + RESEND <= now => {
                self.out.push_back(Ask::Finish(pass.token, job));
                Phase::Finishing(now)
            }
            _ => return,
        };
        self.runs[place].phase = phase;
    }

    /// Something was said to it.
    pub(crate) fn hear(&mut self, now: u64, random: &mut Random, said: Say) {
        match said {
            Say::Lease(token, sent) => {
                let until = at(sent + LEASE - MARGIN);
                match &mut self.held {
                    Some(held) if held.token == token && at(now) < held.until => {
                        held.until = held.until.max(until);
                    }
                    _ if token > self.highest && at(now) < until => {
                        self.held = Some(Tenure { token, until });
                        self.highest = token;
                    }
                    _ => {}
                }
                self.hand(now, random, Input::Look);
            }
            Say::Takeover(ticket, reply, read) => {
                let own = self.takeover.pass().map(|pass| pass.token);
                if let Some((token, resource, value)) = read
                    && own == Some(token)
                {
                    self.values[resource as usize].get_or_insert(value);
                }
                self.hand(now, random, Input::Reply(ticket, reply));
            }
            Say::Begun(token, wish, job) => {
                let current = self.takeover.may_begin(at(now), self.standing(now));
                let pass = current.map(|permit| permit.pass);
                if let Some(pass) = pass.filter(|pass| pass.token == token)
                    && self.wish.0 == wish
                    && self.wish.1.take().is_some()
                    && let Some((job, _)) = job
                {
                    self.run(now, random, job, pass);
                }
            }
            Say::Effected(token, job, result) => self.effected(now, random, (token, job), result),
            Say::Finished(token, job) => {
                let own = |run: &Run| {
                    (run.pass.token, run.job) == (token, job)
                        && matches!(run.phase, Phase::Finishing(_))
                };
                self.runs.retain(|run| !own(run));
                self.drained(now);
                self.hand(now, random, Input::Look);
            }
        }
    }

    fn effected(
        &mut self,
        now: u64,
        random: &mut Random,
        of: (Token, u64),
        result: Result<u64, Refused>,
    ) {
        let run = self
            .runs
            .iter_mut()
            .find(|run| (run.pass.token, run.job) == of && matches!(run.phase, Phase::Writing(..)));
        let Some(run) = run else {
            return;
        };
        match result {
            Ok(value) => {
                // What is known of a resource is known for one tenure.
                if self.takeover.pass() == Some(run.pass) {
                    self.values[(of.1 % RESOURCES) as usize] = Some(value);
                }
                run.phase = Phase::Finishing(now);
                self.out.push_back(Ask::Finish(of.0, of.1));
            }
            Err(refused) => self.hand(now, random, Input::Refused(of.0, refused)),
        }
    }
}
