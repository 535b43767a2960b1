//! Two runners of jobs elect a leader by a row in a database; the leader freezes in the middle of a job, the other takes over,
//! and what the first writes late is refused:
//!
//! ```sh
//! cargo run --example job_runner -p tenure
//! ```
//!
//! What a host of an election over a store does: it carries out statements and says what came of them ([`Database::carry_out`]),
//! turns one machine ([`Runner::turn`]), asks for leave before each effect and shows its token with it ([`Runner::work`]), and
//! leaves office before it ends ([`Runner::leave`]). Time and database are simple here, so that every run is the same:
//! three_processes has the clock and the loop of a program, and `tenure::lease::sql::text` the statements for PostgreSQL.

use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use tenure::fence::{ElectionId, Fence, Holder, Pass, Record, Refused};
use tenure::lease::sql::{Reply, Request, Row, Sql};
use tenure::lease::{Boot, Claimant, Config, Identity, Nonce};
use tenure::takeover::{self, How, Item, Policy, Takeover};
use tenure::{Duration, Election, Event, Input, Instant, Output, Ticket, Token, Unknown};

/// The one election of this program.
const JOBS: ElectionId = ElectionId(1);

/// How long a job takes.
const EFFORT: Duration = Duration::from_millis(500);

/// The way to the database, or back.
const WAY: Duration = Duration::from_millis(10);

/// The row of the election, with the time at which it is free, by the database's clock.
struct Held {
    holder: Option<Claimant>,
    nonce: Nonce,
    epoch: u64,
    expires: Instant,
}

/// A database with the row of the election, the jobs, and beside them the record of their guard.
struct Database {
    row: Option<Held>,
    guard: Option<Record>,
    /// By which tenure each job was begun.
    begun: BTreeMap<u64, Token>,
    done: Vec<u64>,
}

impl Database {
    /// Runs a statement of the election, which is `text::TAKE` and so on for a real database.
    fn carry_out(&mut self, now: Instant, request: Request) -> Reply {
        match (request, &mut self.row) {
            (
                Request::Take {
                    claimant,
                    nonce,
                    ttl,
                },
                row,
            ) => {
                let free = |held: &Held| held.holder.is_none() || held.expires <= now;
                if row.as_ref().is_none_or(free) {
                    let epoch = row.as_ref().map_or(0, |held| held.epoch) + 1;
                    let (holder, expires) = (Some(claimant), now + ttl);
                    *row = Some(Held {
                        holder,
                        nonce,
                        epoch,
                        expires,
                    });
                    return Reply::Taken(epoch);
                }
            }
            (Request::Renew { nonce, epoch, ttl }, Some(held)) => {
                let own = held.holder.is_some() && (held.nonce, held.epoch) == (nonce, epoch);
                if own && held.expires > now {
                    held.expires = now + ttl;
                    return Reply::Renewed;
                }
            }
            (Request::Release { nonce, epoch }, row) => {
                if let Some(held) = row
                    .as_mut()
                    .filter(|held| (held.nonce, held.epoch) == (nonce, epoch))
                {
                    (held.holder, held.expires, held.epoch) = (None, now, epoch + 1);
                }
                return Reply::Released;
            }
            (Request::Renew { .. } | Request::Read, _) => {}
        }
        // What is not granted is answered by how the row is.
        Reply::Row(self.row.as_ref().map(|held| Row {
            holder: held.holder.clone(),
            nonce: held.nonce,
            epoch: held.epoch,
            left: held.expires.since(now),
        }))
    }

    /// What every transaction of a leader begins with: the record of the guard is read, and written together with the effect.
    fn admit(&mut self, pass: &Pass) -> Result<(), Refused> {
        self.guard = Some(Fence::restore(JOBS, self.guard).admit(pass)?);
        Ok(())
    }

    /// A new leader shuts its predecessors out, before it reads.
    fn fence(&mut self, pass: &Pass) -> Result<(), Refused> {
        self.guard = Some(Fence::restore(JOBS, self.guard).fence(pass)?);
        Ok(())
    }

    /// Begins a job that is not begun and not done, guarded like every effect.
    fn begin(&mut self, pass: &Pass) -> Result<u64, Refused> {
        self.admit(pass)?;
        let last = self.begun.keys().chain(&self.done).max();
        let job = last.map_or(1, |last| last + 1);
        self.begun.insert(job, pass.token);
        Ok(job)
    }

    /// The effect of a job.
    fn finish(&mut self, pass: &Pass, job: u64) -> Result<(), Refused> {
        self.admit(pass)?;
        self.begun.remove(&job);
        self.done.push(job);
        Ok(())
    }
}

/// One process: its election, its takeover, and a worker.
struct Runner {
    name: &'static str,
    election: Sql,
    takeover: Takeover<u64>,
    /// What the database answered, and when that arrives.
    answers: VecDeque<(Instant, Ticket, Result<Reply, Unknown>)>,
    /// The job that is being done, and when it is finished.
    job: Option<(u64, Instant)>,
    /// Whether an answer is to be lost on the way, as when a connection breaks.
    loses_one: bool,
}

impl Runner {
    /// `incarnation` tells the lives of a runner apart, and `seed` its draws: a program takes both from the system's source of
    /// random numbers, or counts its lives on a disk.
    fn new(
        name: &'static str,
        incarnation: u64,
        seed: u64,
        now: Instant,
    ) -> Result<Self, Box<dyn Error>> {
        let config = Config::new(Claimant::new(Identity::new(name)?));
        let node = config.claimant.identity.node();
        let holder = Holder { node, incarnation };
        Ok(Self {
            name,
            election: Sql::new(config, Boot { incarnation, seed }, now)?,
            takeover: Takeover::new(takeover::Config::new(JOBS, holder, 1))?,
            answers: VecDeque::new(),
            job: None,
            loses_one: false,
        })
    }

    /// What is due: a timeout first, for it could be the end of a tenure, then what arrived; and after each the outputs.
    fn turn(&mut self, now: Instant, database: &mut Database) {
        if self
            .election
            .deadline()
            .is_some_and(|deadline| deadline <= now)
        {
            self.election.handle(now, Input::Timeout);
            self.drain(now, database);
        }
        let arrived = self.answers.iter().take_while(|(at, ..)| *at <= now);
        for _ in 0..arrived.count() {
            if let Some((_, ticket, reply)) = self.answers.pop_front() {
                self.election.handle(now, Input::Reply(ticket, reply));
                self.drain(now, database);
            }
        }
        self.look(now, takeover::Input::Look, database);
    }

    fn drain(&mut self, now: Instant, database: &mut Database) {
        while let Some(output) = self.election.poll() {
            match output {
                Output::Request(ticket, request) => {
                    let reply = database.carry_out(now + WAY, request);
                    // Done or not: a host whose connection broke does not know, and says so. A request that was never sent would
                    // be `Reply::NotDone`.
                    let lost = std::mem::take(&mut self.loses_one);
                    let reply = if lost { Err(Unknown) } else { Ok(reply) };
                    self.answers.push_back((now + WAY + WAY, ticket, reply));
                }
                Output::Event(Event::Established(tenure)) => {
                    println!("{now}: {} leads with token {}", self.name, tenure.token);
                }
                Output::Event(Event::Deposed(token, why)) => {
                    println!(
                        "{now}: {} does not lead any more with token {token}: {why:?}",
                        self.name
                    );
                }
                Output::Event(_) => {}
                // Nodes of an election over a store say nothing to each other.
                Output::Send(_, never) => match never {},
            }
        }
    }

    /// Shows the takeover where the node stands, and does what it says.
    fn look(&mut self, now: Instant, input: takeover::Input<u64>, database: &mut Database) {
        self.takeover
            .handle(now, self.election.standing(now), input);
        while let Some(output) = self.takeover.poll() {
            match output {
                takeover::Output::Request(ticket, pass, request) => {
                    let reply = self.carry_out(now, &pass, request, database);
                    let input = takeover::Input::Reply(ticket, Ok(reply));
                    self.takeover
                        .handle(now, self.election.standing(now), input);
                }
                takeover::Output::Resign(_) => {
                    self.election.handle(now, Input::Resign { to: None });
                    self.drain(now, database);
                    self.takeover
                        .handle(now, self.election.standing(now), takeover::Input::Look);
                }
                takeover::Output::Event(_) => {}
            }
        }
    }

    fn carry_out(
        &mut self,
        now: Instant,
        pass: &Pass,
        request: takeover::Request<u64>,
        database: &mut Database,
    ) -> takeover::Reply<u64> {
        use takeover::{Reply, Request};
        let guarded = match request {
            Request::Fence(_) => database.fence(pass),
            Request::Drain(_) | Request::Stop => Ok(()), // what runs is the worker's own
            _ => database.admit(pass),
        };
        if let Err(refused) = guarded {
            return Reply::Refused(refused);
        }
        match request {
            Request::Fence(_) => Reply::Fenced,
            Request::Watch => Reply::Watching, // only leaders begin jobs
            Request::Read(_) => Reply::Read,
            Request::List { after, limit } => {
                let rest = database
                    .begun
                    .iter()
                    .filter(|(job, _)| after.is_none_or(|after| **job > after));
                let item = |(job, owner): (&u64, &_)| Item {
                    key: *job,
                    owner: *owner,
                    policy: Policy::Idempotent,
                };
                let mut items: Vec<_> = rest.map(item).take(limit as usize + 1).collect();
                let more = items.len() > limit as usize;
                items.truncate(limit as usize);
                Reply::Page { items, more }
            }
            Request::Claim { key, from } => match database.begun.get_mut(&key) {
                None => Reply::Gone,
                Some(owner) if *owner == from => {
                    *owner = pass.token;
                    Reply::Claimed
                }
                Some(owner) => Reply::Owned(*owner),
            },
            Request::Resume { key, how } => {
                assert_eq!(how, How::Redo, "all jobs here are idempotent");
                println!("{now}: {} begins job {key} again", self.name);
                self.job = Some((key, now + EFFORT));
                Reply::Resumed
            }
            Request::Announce => Reply::Announced,
            Request::Drain(_) | Request::Stop => {
                // The job stays begun, and the next leader finds it. To finish it first, a host answers later.
                self.job = None;
                Reply::Stopped
            }
        }
    }

    /// Finishes the job that is due, or begins one: with leave, which is asked for again before each effect.
    fn work(&mut self, now: Instant, database: &mut Database) {
        let standing = self.election.standing(now);
        let refused = match self.job {
            None => self.takeover.may_begin(now, standing).and_then(|permit| {
                let begun = database.begin(&permit.pass);
                self.job = begun.ok().map(|job| (job, now + EFFORT));
                Some((permit.pass.token, begun.err()?))
            }),
            Some((job, ready)) if ready <= now => {
                self.takeover.may_go_on(now, standing).and_then(|permit| {
                    self.job = None;
                    println!("{now}: {} has done job {job}", self.name);
                    let refused = database.finish(&permit.pass, job).err()?;
                    Some((permit.pass.token, refused))
                })
            }
            Some(_) => None,
        };
        if let Some((shown, refused)) = refused {
            self.look(now, takeover::Input::Refused(shown, refused), database);
        }
    }

    /// Gives the row up. The process may end when this is true: sooner, and the next leader waits for the end of the lease.
    fn leave(&mut self, now: Instant, database: &mut Database) -> bool {
        self.look(now, takeover::Input::HandOver, database);
        self.takeover.may_leave() && !self.election.releasing()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut now = Instant::ZERO;
    let mut database = Database {
        row: None,
        guard: Fence::unused(JOBS).record(),
        begun: BTreeMap::new(),
        done: Vec::new(),
    };
    let mut anna = Runner::new("anna", 1, 7, now)?;
    let mut ben = Runner::new("ben", 1, 8, now)?;
    // The row is taken, and anna does not hear of it: she finds it to be hers, and confirms it before she leads.
    anna.loses_one = true;
    let mut step = |runners: &mut [&mut Runner], database: &mut Database| {
        now = now + Duration::from_millis(1);
        for runner in runners {
            runner.turn(now, database);
            runner.work(now, database);
        }
        now
    };
    while database.done.len() < 2 {
        step(&mut [&mut anna, &mut ben], &mut database);
    }
    let now = step(&mut [&mut anna, &mut ben], &mut database);
    // Anna looks at her standing, may go on, and freezes before she writes. No lease can prevent that.
    let (job, _) = anna.job.ok_or("anna does no job")?;
    let permit = anna.takeover.may_go_on(now, anna.election.standing(now));
    let late = permit.ok_or("anna does not lead")?.pass;
    println!("{now}: anna freezes in the middle of job {job}");
    while database.done.len() < 4 {
        step(&mut [&mut ben], &mut database);
    }
    let refused = database.finish(&late, job).err();
    println!(
        "anna wakes, and her write is refused: {}",
        refused.ok_or("it got in")?
    );
    // Ben goes in good order, and anna need not wait for the end of his lease.
    while {
        let now = step(&mut [&mut anna, &mut ben], &mut database);
        !ben.leave(now, &mut database)
    } {}
    println!("ben has left");
    while database.done.len() < 6 {
        step(&mut [&mut anna], &mut database);
    }
    println!("done, each once: {:?}", database.done);
    Ok(())
}
