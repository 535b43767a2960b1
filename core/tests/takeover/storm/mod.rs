//! Nodes that elect by a lease and work at jobs, under whatever can go wrong: they die in the middle of a job and come back,
//! freeze, hand over; what they ask and are answered is lost, doubtful, late, twice.

mod judge;
mod process;
mod stores;

pub(crate) use judge::{Fates, Judge};
use process::Process;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use stores::{Lease, Resource, State, Table};
use tenure::fence::{Pass, Refused};
use tenure::random::Random;
use tenure::rules::Rules;
use tenure::takeover::{Because, How, Input, Invariant, Policy, Reply, Request, Rule, Switched};
use tenure::{Ticket, Token, Unknown};

/// The lease, how long before its end a holder stops to believe, and how often it is renewed.
pub(crate) const LEASE: u64 = 150_000;
const MARGIN: u64 = 10_000;
const RENEW: u64 = 40_000;
/// How many resources there are: a job's effect is at that of its number.
pub(crate) const RESOURCES: u64 = 3;
/// How many jobs a leader works at at once.
const LANES: usize = 3;
const NODES: usize = 3;
const TICK: u64 = 2_000;
/// Between two jobs.
const JOB: u64 = 40_000;

/// What a process asks of what outlives it.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    /// The lease, at that time.
    Lease(u64),
    Release(Token),
    Takeover(Ticket, Pass, Request<u64>),
    /// A job, by the number of the wish.
    Begin(Pass, u64),
    Effect {
        pass: Pass,
        job: u64,
        value: u64,
    },
    Finish(Token, u64),
}

/// What it is answered.
#[derive(Clone, Debug)]
pub(crate) enum Say {
    Lease(Token, u64),
    /// And what was read of which resource, for whom.
    Takeover(
        Ticket,
        Result<Reply<u64>, Unknown>,
        Option<(Token, u64, u64)>,
    ),
    Begun(Token, u64, Option<(u64, Policy)>),
    Effected(Token, u64, Result<u64, Refused>),
    Finished(Token, u64),
}

/// Of what there are figures.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    /// Leaders that died in the middle of a job.
    pub(crate) crashes: u64,
    pub(crate) freezes: u64,
    /// Takeovers that were complete.
    pub(crate) takeovers: u64,
    /// Items that were begun again.
    pub(crate) taken: u64,
    pub(crate) handed_over: u64,
    pub(crate) fates: Fates,
    pub(crate) broken: Option<Invariant>,
}

enum Due {
    Tick(usize),
    Ask(usize, u64, Ask),
    Say(usize, u64, Say),
    Job,
    Fault,
    Thaw(usize, u64),
    Start(usize),
}

struct Node {
    process: Option<Process>,
    lives: u64,
    /// What came while it is frozen.
    frozen: Option<Vec<Say>>,
}

pub(crate) struct Storm {
    now: u64,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    due: BTreeMap<u64, Due>,
    pushed: u64,
    random: Random,
    rules: Switched,
    nodes: Vec<Node>,
    lease: Lease,
    table: Table,
    resources: Vec<Resource>,
    judge: Judge,
    run: Run,
    calm: bool,
}

impl Storm {
    pub(crate) fn new(seed: u64, off: &[Rule]) -> Self {
        let rules = Switched::without(off);
        let node = |_| Node {
            process: None,
            lives: 0,
            frozen: None,
        };
        Self {
            now: 0,
            queue: BinaryHeap::new(),
            due: BTreeMap::new(),
            pushed: 0,
            random: Random::from_seed(seed),
            rules,
            nodes: (0..NODES).map(node).collect(),
            lease: Lease::default(),
            table: Table::new(rules.keeps(Rule::CompareAndSwapOwner)),
            resources: (0..RESOURCES)
                .map(|place| Resource::new(place, rules))
                .collect(),
            judge: Judge::default(),
            run: Run::default(),
            calm: false,
        }
    }

    /// Until so many leaders died in the middle of a job, or something is broken; and then in calm until all is done.
    pub(crate) fn run(mut self, crashes: u64) -> Run {
        for node in 0..NODES {
            self.push(0, Due::Start(node));
            self.push(node as u64 * 700, Due::Tick(node));
        }
        self.push(0, Due::Job);
        self.push(200_000, Due::Fault);
        let mut end = u64::MAX;
        while let Some(Reverse((at, number))) = self.queue.pop() {
            self.now = at;
            if at >= end || self.judge.broken.is_some() || (self.calm && self.table.is_settled()) {
                break;
            }
            if let Some(due) = self.due.remove(&number) {
                self.happen(due);
            }
            if !self.calm && self.run.crashes >= crashes {
                self.calm = true;
                end = at + 1_000 * LEASE;
            }
        }
        for node in 0..NODES {
            self.count(node);
        }
        if self.judge.broken.is_none() {
            self.run.fates = self.judge.fates(&self.table);
        }
        self.run.broken = self.judge.broken;
        self.run
    }

    fn push(&mut self, after: u64, due: Due) {
        self.pushed += 1;
        self.queue.push(Reverse((self.now + after, self.pushed)));
        self.due.insert(self.pushed, due);
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Start(node) => {
                let Node { process, lives, .. } = &mut self.nodes[node];
                *lives += 1;
                *process = Some(Process::new(node, *lives, self.rules));
            }
            Due::Tick(node) => {
                self.push(TICK, Due::Tick(node));
                if self.nodes[node].frozen.is_none() {
                    self.with(node, |process, now, random| process.tick(now, random));
                }
            }
            Due::Job => {
                // In calm no more come: those that are there have to be finished.
                if !self.calm {
                    let policies = [Policy::Idempotent, Policy::AtLeastOnce, Policy::AtMostOnce];
                    self.table.add(policies[self.random.below(3) as usize]);
                    self.push(JOB, Due::Job);
                }
            }
            Due::Ask(node, life, ask) => self.asked(node, life, ask),
            Due::Say(node, life, said) => self.say(node, life, said),
            Due::Fault => self.fault(),
            Due::Thaw(node, life) => {
                if self.nodes[node].lives == life {
                    let late = self.nodes[node].frozen.take();
                    for said in late.into_iter().flatten() {
                        self.say(node, life, said);
                    }
                }
            }
        }
    }

    /// Lets a process do something, and carries out what it asks.
    fn with(&mut self, node: usize, does: impl FnOnce(&mut Process, u64, &mut Random)) {
        let now = self.now;
        let Some(process) = &mut self.nodes[node].process else {
            return;
        };
        does(process, now, &mut self.random);
        let life = process.life;
        let began = std::mem::take(&mut process.began);
        let asks = std::mem::take(&mut process.out);
        for job in began {
            let others = self.works_at(job).saturating_sub(1);
            self.judge.begins(others);
        }
        for ask in asks {
            self.send(Due::Ask(node, life, ask));
        }
    }

    /// How many runs of a job there are that may go on.
    fn works_at(&self, job: u64) -> usize {
        let runs = |node: &Node| {
            let process = node.process.as_ref()?;
            let runs = process.runs.iter().filter(|run| run.job == job).count();
            (node.frozen.is_none() && process.may_go_on(self.now)).then_some(runs)
        };
        self.nodes.iter().filter_map(runs).sum()
    }

    /// Something travels: it takes its time, may be lost, and may come twice.
    fn send(&mut self, due: Due) {
        let told = matches!(
            &due,
            Due::Say(_, _, Say::Takeover(_, Ok(Reply::Changed), _))
        );
        if !self.calm && !told && self.random.below(100) < 3 {
            return;
        }
        let late = !self.calm && self.random.below(100) < 5;
        let takes = 300 + self.random.below(if late { 3 * LEASE } else { 3_000 });
        if let (Due::Ask(node, life, ask), 0) = (&due, self.random.below(50)) {
            let again = Due::Ask(*node, *life, ask.clone());
            let later = takes + 1 + self.random.below(2 * LEASE);
            self.push(later, again);
        }
        self.push(takes, due);
    }

    fn say(&mut self, node: usize, life: u64, said: Say) {
        let alive = self.nodes[node].process.as_ref();
        if alive.is_none_or(|process| process.life != life) {
            return;
        }
        match &mut self.nodes[node].frozen {
            Some(late) => late.push(said),
            None => self.with(node, |process, now, random| process.hear(now, random, said)),
        }
    }

    fn answer(&mut self, node: usize, life: u64, said: Say) {
        self.send(Due::Say(node, life, said));
    }

    fn asked(&mut self, node: usize, life: u64, ask: Ask) {
        let now = self.now;
        match ask {
            Ask::Lease(sent) => {
                if let Some(token) = self.lease.want(now, (node, life)) {
                    self.answer(node, life, Say::Lease(token, sent));
                }
            }
            Ask::Release(token) => self.lease.release(now, token),
            Ask::Begin(pass, wish) => {
                let job = self.table.begin(pass.token, wish);
                let watcher = self.table.watcher.filter(|_| job.is_some());
                if let Some((to, its, ticket, _)) =
                    watcher.filter(|watcher| watcher.3 != pass.token)
                {
                    let changed = Say::Takeover(ticket, Ok(Reply::Changed), None);
                    self.answer(to, its, changed);
                }
                self.answer(node, life, Say::Begun(pass.token, wish, job));
            }
            Ask::Effect { pass, job, value } => {
                let resource = &mut self.resources[(job % RESOURCES) as usize];
                let policy = self.table.jobs[job as usize].policy;
                let result = resource.effect(&mut self.judge, &pass, (job, policy), value);
                self.answer(node, life, Say::Effected(pass.token, job, result));
            }
            Ask::Finish(token, job) => {
                self.table.settle(job, token, State::Done);
                self.judge.settled(job, self.table.jobs[job as usize].state);
                self.answer(node, life, Say::Finished(token, job));
            }
            Ask::Takeover(ticket, pass, request) => {
                let (reply, read) = self.carry_out(node, life, ticket, &pass, request);
                let doubtful = !self.calm && self.random.below(100) < 3;
                let reply = if doubtful { Err(Unknown) } else { Ok(reply) };
                self.answer(node, life, Say::Takeover(ticket, reply, read));
            }
        }
    }

    fn carry_out(
        &mut self,
        node: usize,
        life: u64,
        ticket: Ticket,
        pass: &Pass,
        request: Request<u64>,
    ) -> (Reply<u64>, Option<(Token, u64, u64)>) {
        let reply = match request {
            Request::Fence(resource) => {
                self.resources[resource as usize].fence(&mut self.judge, pass)
            }
            Request::Read(resource) => {
                let value = self.resources[resource as usize].value;
                return (Reply::Read, Some((pass.token, u64::from(resource), value)));
            }
            Request::Watch => {
                let watcher = self.table.watcher;
                if watcher.is_none_or(|(_, _, _, token)| token <= pass.token) {
                    self.table.watcher = Some((node, life, ticket, pass.token));
                }
                Reply::Watching
            }
            Request::List { after, limit } => self.table.list(after, limit),
            Request::Claim { key, from } => self.table.claim(key, from, pass.token),
            Request::Resume {
                key,
                how: How::Doubt,
            } => {
                self.table.settle(key, pass.token, State::Doubtful);
                Reply::Resumed
            }
            _ => Reply::Failed,
        };
        (reply, None)
    }

    fn fault(&mut self) {
        if self.calm {
            return;
        }
        let works = |node: &Node| {
            let process = node.process.as_ref()?;
            (node.frozen.is_none() && process.may_go_on(self.now)).then_some(process.runs.len())
        };
        let working = |node: &Node| works(node).is_some_and(|runs| runs > 0);
        let Some(node) = self.nodes.iter().position(working) else {
            return self.push(2_000, Due::Fault);
        };
        let life = self.nodes[node].lives;
        match self.random.below(10) {
            0..7 => {
                self.count(node);
                self.nodes[node].process = None;
                self.run.crashes += 1;
                let back = self.random.below(2 * LEASE);
                self.push(back, Due::Start(node));
            }
            7 | 8 => {
                self.nodes[node].frozen = Some(Vec::new());
                self.run.freezes += 1;
                let back = self.random.below(3 * LEASE);
                self.push(back, Due::Thaw(node, life));
            }
            _ => self.with(node, |process, now, random| {
                process.hand(now, random, Input::HandOver)
            }),
        }
        let pause = self.random.below(2 * LEASE);
        self.push(pause, Due::Fault);
    }

    /// The figures of a process that is about to be gone.
    fn count(&mut self, node: usize) {
        if let Some(process) = &self.nodes[node].process {
            self.run.takeovers += process.readies;
            self.run.taken += process.taken;
            let wished = |because: &&Because| **because == Because::HandedOver;
            self.run.handed_over += process.resigned.iter().filter(wished).count() as u64;
        }
    }
}
