//! What a node does for its clients when it leads: take over, then write to both resources.
//!
//! It takes over as the core's machine says, for which it keeps what that asked and was not answered. It keeps the two
//! rules a leader has to keep: it asks `standing` before every effect, and it shows its token with every effect. What it
//! cannot keep is that no time passes between the two: the process may freeze there, and the message may be slow. That is
//! what the fence is for.

use crate::jobs::Scheduler;
use crate::packet::{Done, Outcome, Packet};
use crate::resource::{ELECTION, JOB_DONE, JOB_OWNED};
use std::collections::VecDeque;
use tenure::fence::{Holder, Pass, Refused};
use tenure::takeover::{
    Config, Input, Item, Output, Policy, Reply, Rule, Switched, Takeover as Machine, Timing,
};
use tenure::{Duration, Instant, Standing, Ticket, Token};

/// How a new leader takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takeover {
    /// Fence both resources, read them, then write: right.
    FenceFirst,
    /// Read, and fence by the first write: what its predecessor still writes is lost (LS-F5).
    ReadFirst,
}

/// Through whom clients write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// Whoever leads.
    Leader,
    /// Any node, each in turn: it does not ask who leads, and has no token to show. The election goes on beside it,
    /// unheeded. What one alone does well (read, think, write) conflicts with the others: why one leads.
    Anyone,
}

impl Through {
    /// The resource that speaks for a write: the fenced one; for writers without a token the other, as the guard admits
    /// none of them.
    #[must_use]
    pub const fn speaker(self) -> usize {
        match self {
            Self::Leader => 0,
            Self::Anyone => 1,
        }
    }
}

/// The two resources, in the order of their actors.
pub const RESOURCES: usize = 2;

/// The resources of a world always answer, in a frozen or a slow process late.
const TIMING: Timing = Timing {
    patience: Duration::from_secs(60),
    retry: Duration::from_secs(1),
    limit: Duration::from_secs(3_600),
    stop: Duration::ZERO,
    drain: Duration::ZERO,
};

/// The application on one node; volatile.
#[derive(Clone, Debug, Default)]
pub struct App {
    /// Since it led first.
    takeover: Option<Box<Machine<u64, Switched>>>,
    office: Option<Office>,
    /// What was checked and waits for the node to have thought about it, oldest first.
    thinking: VecDeque<Thought>,
    /// What somebody who does not lead looks at before it writes.
    looking: Vec<Looked>,
}

/// What a leader keeps for one tenure.
#[derive(Clone, Copy, Debug)]
struct Office {
    pass: Pass,
    asked: Asked,
    /// How many resources a leader without a token has not heard from.
    unheard: usize,
    /// The values last written: the leader is the only writer, so it reads once and counts from there.
    next: [u64; RESOURCES],
    /// If there are any to do.
    jobs: Option<Scheduler>,
}

/// What the takeover asked last, as far as it was not answered.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    fence: [Option<Ticket>; RESOURCES],
    read: [Option<Ticket>; RESOURCES],
    list: Option<Ticket>,
    /// How far the jobs are, and the owner of the next, by those who have answered.
    listed: [Option<(u64, u64)>; RESOURCES],
    claim: Option<Ticket>,
    /// Nobody tells of changes; whoever finds that something is not as listed says so in its place.
    watch: Option<Ticket>,
}

#[derive(Clone, Copy, Debug)]
struct Thought {
    due: u64,
    pass: Pass,
    effect: Effect,
}

/// What is about to be done.
#[derive(Clone, Copy, Debug)]
enum Effect {
    /// Read, modified, and about to be written.
    Write {
        request: u64,
        values: [u64; RESOURCES],
    },
    /// The effect of a job.
    Finish(u64),
}

/// What was seen so far, for one write.
#[derive(Clone, Copy, Debug)]
struct Looked {
    request: u64,
    values: [Option<u64>; RESOURCES],
}

impl App {
    /// The node was established, with this standing: its takeover begins.
    pub(crate) fn established(
        &mut self,
        (now, standing): (Instant, Standing),
        holder: Holder,
        takeover: Takeover,
    ) {
        if self.takeover.is_none() {
            let config = Config {
                page: 1,
                timing: TIMING,
                ..Config::new(ELECTION, holder, RESOURCES as u32)
            };
            let off: &[Rule] = match takeover {
                Takeover::FenceFirst => &[],
                Takeover::ReadFirst => &[Rule::FenceBeforeRead],
            };
            let machine = Machine::with_rules(config, Switched::without(off));
            self.takeover = machine.ok().map(Box::new);
        }
        self.hand(now, standing, Input::Look);
    }

    /// The node leads without a token, with which nothing can be fenced or taken over: it reads, and counts on from there.
    pub(crate) fn established_without_token(&mut self, pass: Pass) -> Packet {
        self.office = Some(Office {
            pass,
            asked: Asked::default(),
            unheard: RESOURCES,
            next: [0; RESOURCES],
            jobs: None,
        });
        Packet::Read { pass }
    }

    /// The takeover asks for something under this pass.
    pub(crate) fn takes_over_as(&mut self, pass: Pass, jobs: bool) {
        if self.office.is_none_or(|office| office.pass != pass) {
            self.office = Some(Office {
                pass,
                asked: Asked::default(),
                unheard: 0,
                next: [0; RESOURCES],
                jobs: jobs.then(Scheduler::new),
            });
        }
    }

    /// Something for the takeover, if it ever began: see [`poll`](Self::poll).
    pub(crate) fn hand(&mut self, now: Instant, standing: Standing, input: Input<u64>) {
        if let Some(machine) = &mut self.takeover {
            machine.handle(now, standing, input);
        }
    }

    /// What the takeover says.
    pub(crate) fn poll(&mut self) -> Option<Output<u64>> {
        self.takeover.as_mut()?.poll()
    }

    /// When the takeover wants to look at the time, while it goes on. Once it is complete, the work looks itself.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let machine = self.takeover.as_ref().filter(|machine| !machine.is_ready());
        machine?.deadline()
    }

    /// What is asked of a resource is answered by this ticket.
    pub(crate) fn fences(&mut self, resource: usize, ticket: Ticket) {
        self.asks(|asked| asked.fence[resource] = Some(ticket));
    }

    pub(crate) fn reads(&mut self, resource: usize, ticket: Ticket) {
        self.asks(|asked| asked.read[resource] = Some(ticket));
    }

    pub(crate) fn watches(&mut self, ticket: Ticket) {
        self.asks(|asked| asked.watch = Some(ticket));
    }

    /// False when there are no jobs to list.
    pub(crate) fn lists(&mut self, ticket: Ticket) -> bool {
        self.asks(|asked| {
            asked.list = Some(ticket);
            asked.listed = [None; RESOURCES];
        });
        self.office.is_some_and(|office| office.jobs.is_some())
    }

    /// How to take a job over.
    pub(crate) fn claims(&mut self, ticket: Ticket, from: Token) -> Option<[Packet; RESOURCES]> {
        let office = self.office.as_mut()?;
        office.asked.claim = Some(ticket);
        let jobs = office.jobs.as_mut()?;
        Some(jobs.take_over(office.pass, from.counter))
    }

    fn asks(&mut self, note: impl FnOnce(&mut Asked)) {
        if let Some(office) = &mut self.office {
            note(&mut office.asked);
        }
    }

    /// The node's term is over; the job that was being worked at is stopped. What is already thought about is not taken
    /// back: nobody told the thought.
    pub fn deposed(&mut self) -> Option<u64> {
        let working = self.working();
        self.office = None;
        working
    }

    /// A client asks; `leading` is the token of the tenure that `standing` shows right now, if any. Either the answer to
    /// the client, or `None`: the write was checked and is thought about until `due`.
    pub fn asked(
        &mut self,
        request: u64,
        leading: Option<Token>,
        leader: Option<u16>,
        due: u64,
    ) -> Option<Outcome> {
        let Some(token) = leading else {
            return Some(Outcome::Redirected(leader));
        };
        match self.serving_as(token) {
            Some(office) => {
                for value in &mut office.next {
                    *value += 1;
                }
                let (pass, values) = (office.pass, office.next);
                self.think(due, pass, Effect::Write { request, values });
                None
            }
            None => Some(Outcome::NotYet),
        }
    }

    /// A write is acknowledged that nobody writes: a mistake, for the tests of the judges.
    pub(crate) fn acknowledged_unwritten(&self) -> Option<Outcome> {
        let next = self.office.map_or(0, |office| office.next[0]);
        Some(Outcome::Acknowledged(next + 1))
    }

    /// A client asks somebody who does not care who leads: what is looked at first.
    pub fn look(&mut self, request: u64, pass: Pass) -> Packet {
        self.looking.push(Looked {
            request,
            values: [None; RESOURCES],
        });
        Packet::Look { pass, request }
    }

    /// A resource was seen. True when all of them were: what is written is thought about until `due`.
    pub fn seen(&mut self, resource: usize, pass: Pass, seen: (u64, u64), due: u64) -> bool {
        let (request, value) = seen;
        let Some(place) = self
            .looking
            .iter()
            .position(|looked| looked.request == request)
        else {
            return false;
        };
        let looked = &mut self.looking[place];
        if let Some(slot) = looked.values.get_mut(resource) {
            *slot = Some(value);
        }
        let [Some(first), Some(second)] = looked.values else {
            return false;
        };
        self.looking.remove(place);
        let values = [first + 1, second + 1];
        self.think(due, pass, Effect::Write { request, values });
        true
    }

    /// The next effect that has been thought about by `now`, for each resource. The standing is *not* asked again: this
    /// is the gap between check and effect.
    pub fn thought(&mut self, now: u64) -> Option<[Packet; RESOURCES]> {
        let Thought { pass, effect, .. } =
            *self.thinking.front().filter(|thought| thought.due <= now)?;
        self.thinking.pop_front();
        Some(match effect {
            Effect::Write { request, values } => values.map(|value| Packet::Write {
                pass,
                request,
                value,
            }),
            Effect::Finish(job) => std::array::from_fn(|_| Packet::Finish { pass, job }),
        })
    }

    /// A job is due: how to make it the node's own at each resource, if the tenure that `standing` shows right now has
    /// taken over and works at none.
    pub(crate) fn claim(&mut self, due: u64, leading: Token) -> Option<[Packet; RESOURCES]> {
        let office = self.serving_as(leading)?;
        office.jobs.as_mut()?.claim(due, office.pass)
    }

    /// The job was given to the node: whether it works at it until then.
    pub(crate) fn start(&mut self, job: u64, leading: Token, until: u64) -> bool {
        self.office_of(leading)
            .and_then(|office| office.jobs.as_mut())
            .is_some_and(|jobs| jobs.start(job, until))
    }

    /// The work of a job is done, if it is now: its effect is thought about until `due`.
    pub(crate) fn worked(&mut self, now: u64, leading: Token, due: u64) -> Option<u64> {
        let office = self.office_of(leading)?;
        let (pass, job) = (office.pass, office.jobs.as_mut()?.worked(now)?);
        self.think(due, pass, Effect::Finish(job));
        Some(job)
    }

    /// The job it works at.
    pub(crate) fn working(&self) -> Option<u64> {
        self.office?.jobs?.working()
    }

    /// The token of the tenure it has taken over for.
    pub(crate) fn token(&self) -> Option<Token> {
        self.office.map(|office| office.pass.token)
    }

    /// The process freezes.
    pub(crate) fn freeze(&mut self, now: u64) {
        if let Some(jobs) = self.office.as_mut().and_then(|office| office.jobs.as_mut()) {
            jobs.freeze(now);
        }
    }

    /// The process goes on: with which job.
    pub(crate) fn thaw(&mut self, now: u64) -> Option<u64> {
        self.office.as_mut()?.jobs.as_mut()?.thaw(now)
    }

    /// When to look at the tenure, which is not over before `end`, for the sake of the work.
    pub(crate) fn look_at(&mut self, end: u64) -> Option<u64> {
        self.office.as_mut()?.jobs.as_mut()?.look_at(end)
    }

    /// Whether it is now that it wanted to look.
    pub(crate) fn looks(&self, now: u64) -> bool {
        let jobs = self.office.as_ref().and_then(|office| office.jobs.as_ref());
        jobs.is_some_and(|jobs| jobs.looks(now))
    }

    fn serving_as(&mut self, leading: Token) -> Option<&mut Office> {
        let serves = self.serving();
        self.office_of(leading).filter(|_| serves)
    }

    /// What is kept for this tenure. Work that was taken over runs before it serves.
    fn office_of(&mut self, token: Token) -> Option<&mut Office> {
        let office = self.office.as_mut();
        office.filter(|office| office.pass.token == token)
    }

    fn think(&mut self, due: u64, pass: Pass, effect: Effect) {
        self.thinking.push_back(Thought { due, pass, effect });
    }

    /// A resource answered: what the takeover is answered with that, if it asked. `forgets`: a mistake, for the tests of the
    /// judges: what others began is passed over.
    pub(crate) fn answered(
        &mut self,
        resource: usize,
        pass: Pass,
        done: Done,
        forgets: bool,
    ) -> Option<(Ticket, Reply<u64>)> {
        let office = self.office.as_mut().filter(|office| office.pass == pass)?;
        let asked = &mut office.asked;
        if office.unheard > 0 {
            office.unheard -= 1;
            if let Done::Read(value) = done {
                office.next[resource] = value;
            }
            return None;
        }
        match done {
            Done::Fenced => Some((asked.fence.get_mut(resource)?.take()?, Reply::Fenced)),
            Done::Refused { request: 0, .. } => {
                let ticket = asked.fence.get_mut(resource)?.take()?;
                Some((ticket, Reply::Refused(OVERTAKEN)))
            }
            Done::Read(value) => {
                let ticket = asked.read.get_mut(resource)?.take()?;
                office.next[resource] = value;
                Some((ticket, Reply::Read))
            }
            Done::Listed { done, owner } => {
                let jobs = office.jobs.as_mut()?;
                jobs.listed(resource, done, owner, pass.token.counter);
                if forgets {
                    jobs.forget_others();
                }
                *asked.listed.get_mut(resource)? = Some((done, owner));
                let [Some((done, owner)), Some(_)] = asked.listed else {
                    return None;
                };
                let token = Token::new(pass.token.generation, owner);
                let item = Item {
                    key: done + 1,
                    owner: token,
                    policy: Policy::Idempotent,
                };
                let begun = owner != 0 && !forgets;
                let items = begun.then_some(item).into_iter().collect();
                let more = false;
                Some((asked.list.take()?, Reply::Page { items, more }))
            }
            // The first resource, which is fenced, has the say.
            _ if resource != 0 => None,
            Done::Claimed(_) => Some((asked.claim.take()?, Reply::Claimed)),
            Done::Denied { job, reason, owner } => match (reason, asked.claim.take()) {
                (JOB_DONE, Some(ticket)) => {
                    office.jobs.as_mut()?.gone(job);
                    Some((ticket, Reply::Gone))
                }
                (JOB_OWNED, Some(ticket)) => {
                    let owner = Token::new(pass.token.generation, owner);
                    Some((ticket, Reply::Owned(owner)))
                }
                (_, Some(ticket)) => Some((ticket, Reply::Refused(OVERTAKEN))),
                // What it was told of the job is not so any more: it is listed again.
                (JOB_DONE | JOB_OWNED, None) => Some((asked.watch?, Reply::Changed)),
                // A guard's refusal is final: it was overtaken, and does no more jobs. It leads on like one that does not
                // hear of it, as at the resource that has no guard.
                (_, None) => {
                    office.jobs = None;
                    None
                }
            },
            Done::Finished(job) => {
                office.jobs.as_mut()?.finished(job);
                None
            }
            _ => None,
        }
    }

    /// Whether it has taken over and serves clients.
    #[must_use]
    pub fn serving(&self) -> bool {
        match &self.office {
            Some(office) if !office.pass.token.is_issued() => office.unheard == 0,
            _ => (self.takeover.as_ref()).is_some_and(|machine| machine.is_ready()),
        }
    }
}

/// What a guard's refusal means for a takeover. By which token it was, a resource of a world does not say.
const OVERTAKEN: Refused = Refused::Stale {
    highest: Token::NONE,
};

#[cfg(test)]
mod tests {
    use super::*;
    use tenure::takeover::{How, Request};
    use tenure::{NodeId, Tenure};

    fn pass(counter: u64) -> Pass {
        Pass {
            election: ELECTION,
            token: Token::new(0, counter),
            holder: Holder {
                node: NodeId(1),
                incarnation: 1,
            },
        }
    }

    /// A node that was established, and what its takeover asks of the resources.
    struct Led {
        app: App,
        pass: Pass,
        standing: Standing,
        jobs: bool,
        asked: Vec<Request<u64>>,
        packets: Vec<[Packet; RESOURCES]>,
    }

    impl Led {
        fn new(pass: Pass, takeover: Takeover, jobs: bool) -> Self {
            let standing = Standing::Leading(Tenure {
                token: pass.token,
                until: Instant::FOREVER,
            });
            let mut app = App::default();
            app.established((Instant::ZERO, standing), pass.holder, takeover);
            let mut led = Self {
                app,
                pass,
                standing,
                jobs,
                asked: Vec::new(),
                packets: Vec::new(),
            };
            led.carry_out();
            led
        }

        fn serving(pass: Pass, jobs: bool) -> Self {
            let mut led = Self::new(pass, Takeover::ReadFirst, jobs);
            led.tell(0, Done::Read(10));
            led.tell(1, Done::Read(20));
            led
        }

        fn hand(&mut self, ticket: Ticket, reply: Reply<u64>) {
            let input = Input::Reply(ticket, Ok(reply));
            self.app.hand(Instant::ZERO, self.standing, input);
        }

        fn tell(&mut self, resource: usize, done: Done) {
            if let Some((ticket, reply)) = self.app.answered(resource, self.pass, done, false) {
                self.hand(ticket, reply);
                self.carry_out();
            }
        }

        fn carry_out(&mut self) {
            while let Some(output) = self.app.poll() {
                let Output::Request(ticket, pass, request) = output else {
                    continue;
                };
                self.app.takes_over_as(pass, self.jobs);
                let reply = match &request {
                    Request::Fence(resource) => {
                        self.app.fences(*resource as usize, ticket);
                        None
                    }
                    Request::Read(resource) => {
                        self.app.reads(*resource as usize, ticket);
                        None
                    }
                    Request::Watch => {
                        self.app.watches(ticket);
                        Some(Reply::Watching)
                    }
                    Request::List { .. } => (!self.app.lists(ticket)).then(|| Reply::Page {
                        items: Vec::new(),
                        more: false,
                    }),
                    Request::Claim { from, .. } => {
                        self.packets.extend(self.app.claims(ticket, *from));
                        None
                    }
                    Request::Resume { .. } => Some(Reply::Resumed),
                    Request::Announce => Some(Reply::Announced),
                    Request::Drain(_) | Request::Stop => Some(Reply::Stopped),
                };
                self.asked.push(request);
                if let Some(reply) = reply {
                    self.hand(ticket, reply);
                }
            }
        }

        fn last(&self) -> &Request<u64> {
            self.asked.last().expect("something was asked")
        }
    }

    #[test]
    fn fence_then_read_then_write() {
        let pass = pass(3);
        let mut led = Led::new(pass, Takeover::FenceFirst, false);
        assert_eq!(led.asked, [Request::Fence(0), Request::Fence(1)]);
        led.tell(0, Done::Fenced);
        led.tell(0, Done::Fenced);
        assert_eq!(
            led.last(),
            &Request::Fence(1),
            "one resource speaks for itself"
        );
        led.tell(1, Done::Fenced);
        assert_eq!(led.last(), &Request::Read(1));
        led.tell(0, Done::Read(10));
        let app = &mut led.app;
        assert!(!app.serving());
        assert_eq!(
            app.asked(1, Some(pass.token), None, 5),
            Some(Outcome::NotYet)
        );
        led.tell(1, Done::Read(20));
        let app = &mut led.app;
        assert!(app.serving());
        assert_eq!(app.asked(1, Some(pass.token), None, 5), None);
        assert!(app.thought(4).is_none());
        let Some(
            [
                Packet::Write { value: first, .. },
                Packet::Write { value: second, .. },
            ],
        ) = app.thought(5)
        else {
            panic!()
        };
        assert_eq!((first, second), (11, 21));
    }

    #[test]
    fn who_may_not_fence_reads_nothing() {
        let mut led = Led::new(pass(3), Takeover::FenceFirst, false);
        let refused = Done::Refused {
            request: 0,
            reason: 0,
        };
        led.tell(1, Done::Fenced);
        led.tell(0, refused);
        assert_eq!(led.asked, [Request::Fence(0), Request::Fence(1)]);
        assert!(!led.app.serving());
    }

    #[test]
    fn a_node_that_does_not_lead_says_who_does() {
        let mut app = Led::serving(pass(3), false).app;
        assert_eq!(
            app.asked(1, None, Some(2), 5),
            Some(Outcome::Redirected(Some(2)))
        );
        assert_eq!(
            app.asked(1, Some(pass(4).token), None, 5),
            Some(Outcome::NotYet),
            "a newer tenure is not taken over yet"
        );
    }

    #[test]
    fn what_others_began_is_taken_over_before_clients_are_served() {
        let pass = pass(3);
        let mut led = Led::serving(pass, true);
        assert!(matches!(led.last(), Request::List { .. }) && !led.app.serving());
        let listed = |owner| Done::Listed { done: 4, owner };
        led.tell(0, listed(2));
        led.tell(1, listed(1));
        assert!(!led.app.serving() && led.app.claim(9, pass.token).is_none());
        let from = led.packets[0].clone().map(|packet| match packet {
            Packet::Claim { job: 5, from, .. } => from,
            other => panic!("{other:?}"),
        });
        assert_eq!(from, [2, 1]);
        // It is taken from whoever has it.
        let owned = |owner| Done::Denied {
            job: 5,
            reason: JOB_OWNED,
            owner,
        };
        led.tell(1, owned(2));
        led.tell(0, owned(1));
        assert!(matches!(led.packets[1][0], Packet::Claim { from: 1, .. }));
        led.tell(0, Done::Claimed(5));
        assert!(led.app.serving());
        assert!(led.asked.contains(&Request::Resume {
            key: 5,
            how: How::Redo
        }));
        assert!(led.app.start(5, pass.token, 50));
        // Nobody began the next: that is no takeover.
        assert_eq!(led.app.worked(50, pass.token, 60), Some(5));
        led.tell(0, Done::Finished(5));
        let claim = led.app.claim(9, pass.token).unwrap();
        assert!(matches!(
            claim[0],
            Packet::Claim {
                job: 6,
                from: 0,
                ..
            }
        ));
    }

    #[test]
    fn a_job_that_is_done_when_it_is_to_be_taken_over_is_passed() {
        let mut led = Led::serving(pass(3), true);
        for resource in 0..RESOURCES {
            led.tell(resource, Done::Listed { done: 4, owner: 2 });
        }
        led.tell(
            0,
            Done::Denied {
                job: 5,
                reason: JOB_DONE,
                owner: 0,
            },
        );
        let claim = led.app.claim(9, Token::new(0, 3)).unwrap();
        assert!(led.app.serving() && matches!(claim[0], Packet::Claim { job: 6, .. }));
    }

    #[test]
    fn the_jobs_are_listed_again_when_they_are_not_as_listed() {
        let pass = pass(3);
        let mut led = Led::serving(pass, true);
        let listed = Done::Listed { done: 4, owner: 0 };
        led.tell(0, listed);
        led.tell(1, listed);
        assert!(led.app.serving() && led.app.claim(9, Token::new(0, 4)).is_none());
        assert!(led.app.claim(9, pass.token).is_some());
        let denied = |reason| Done::Denied {
            job: 5,
            reason,
            owner: 2,
        };
        led.tell(0, denied(JOB_OWNED));
        assert!(matches!(led.last(), Request::List { .. }) && led.app.serving());
        led.tell(0, Done::Listed { done: 4, owner: 2 });
        led.tell(1, listed);
        assert!(led.app.claim(9, pass.token).is_none());
        assert!(matches!(
            led.packets[0][0],
            Packet::Claim {
                job: 5,
                from: 2,
                ..
            }
        ));
        led.tell(0, Done::Claimed(5));
        // The guard is heard of the jobs, and does not make it resign.
        led.tell(0, denied(0));
        assert!(led.app.serving() && led.app.claim(9, pass.token).is_none());
    }

    #[test]
    fn the_job_is_stopped_with_the_office_and_its_effect_is_not_once_thought_of() {
        let pass = pass(3);
        let working = || {
            let mut led = Led::serving(pass, true);
            for resource in 0..RESOURCES {
                led.tell(resource, Done::Listed { done: 0, owner: 0 });
            }
            led.app.claim(1, pass.token).unwrap();
            assert!(led.app.start(1, pass.token, 50));
            led.app
        };
        let mut app = working();
        assert_eq!(
            (app.deposed(), app.worked(50, pass.token, 60)),
            (Some(1), None)
        );
        let mut app = working();
        assert_eq!(app.worked(50, pass.token, 60), Some(1));
        assert_eq!(app.deposed(), None);
        assert!(app.thought(59).is_none());
        assert!(matches!(
            app.thought(60),
            Some([Packet::Finish { job: 1, .. }, _])
        ));
    }

    #[test]
    fn who_does_not_lead_writes_what_it_saw_and_one_more() {
        let (mut app, none) = (App::default(), pass(0));
        app.look(7, none);
        app.look(8, none);
        assert!(!app.seen(0, none, (8, 30), 5) && !app.seen(0, none, (7, 10), 5));
        assert!(app.seen(1, none, (7, 20), 5) && !app.seen(1, none, (7, 20), 5));
        let Some(
            [
                Packet::Write {
                    request: 7,
                    value: 11,
                    ..
                },
                second,
            ],
        ) = app.thought(5)
        else {
            panic!()
        };
        assert!(matches!(second, Packet::Write { value: 21, .. }));
        assert!(app.thought(5).is_none());
    }

    #[test]
    fn a_thought_outlives_the_office() {
        let mut led = Led::serving(pass(3), false);
        led.app.asked(1, Some(pass(3).token), None, 5);
        led.app.deposed();
        assert!(led.app.thought(5).is_some());
        led.app.hand(Instant::ZERO, Standing::Unknown, Input::Look);
        assert!(!led.app.serving());
    }

    #[test]
    fn answers_to_an_earlier_tenure_do_not_count() {
        let mut led = Led::new(pass(4), Takeover::FenceFirst, false);
        for resource in 0..RESOURCES {
            let answered = led.app.answered(resource, pass(3), Done::Fenced, false);
            assert_eq!(answered, None);
        }
    }
}
