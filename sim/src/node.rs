//! A node: a machine, its disk, its clock, and the process they run in.
//!
//! Generic over the scheme. This is a host as the core's contract asks for one: it hands inputs over with the node's own
//! time, drains the outputs, and calls again at the deadline.

use crate::app::App;
use crate::check::Fact;
use crate::packet::{Done, Outcome, Packet};
use crate::physics::NEVER;
use crate::physics::clock::Clock;
use crate::physics::disk::Disk;
use crate::physics::network::Flight;
use crate::physics::trace::{Event, Kind, Loss};
use crate::resource::ELECTION;
use crate::scheme::{Look, RoleCode, Scheme};
use crate::world::env::{Due, Env, message_event};
use tenure::fence::{Holder, Pass};
use tenure::{Input, NodeId, Output, Standing, Ticket, Token, Why};

/// What the process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// It runs.
    Up = 0,
    /// It is frozen.
    Paused = 1,
    /// It is not there.
    Crashed = 2,
}

/// One node.
#[derive(Clone, Debug)]
pub struct Node<M: Scheme> {
    /// `None` while crashed.
    machine: Option<M>,
    disk: Disk<M::Request>,
    clock: Clock,
    status: Status,
    /// How often it started. The incarnation of the machine, which the core wants fresh each time.
    lives: u64,
    app: App,
    /// What came while the process was frozen, in order.
    late: Vec<Late>,
    /// The earliest wake-up that is scheduled.
    wake_at: u64,
    /// What the machine showed when it was last looked at.
    look: Look,
    refusals: M::Refusals,
    /// What the judges were told last: until when it believes, and whether it runs.
    told: (u64, bool),
    /// Whether it believed to lead when it froze.
    froze_leading: bool,
}

/// Something that came while the process was frozen.
#[derive(Clone, Copy, Debug)]
enum Late {
    Message(Flight<Packet>),
    Written(Ticket),
}

const AT_REST: Look = Look {
    role: RoleCode::Follower,
    term: 0,
    vote: None,
    leader: None,
};

impl<M: Scheme> Node<M> {
    /// A node that was not started yet.
    #[must_use]
    pub fn new(clock: Clock, disk_takes: u64) -> Self {
        Self {
            machine: None,
            disk: Disk::new(disk_takes),
            clock,
            status: Status::Crashed,
            lives: 0,
            app: App::default(),
            late: Vec::new(),
            wake_at: NEVER,
            look: AT_REST,
            refusals: M::Refusals::default(),
            told: (0, false),
            froze_leading: false,
        }
    }

    /// Starts the process from what the disk holds. False when it is there already.
    pub(crate) fn start(&mut self, env: &mut Env, me: usize, setup: &M::Setup) -> bool {
        if self.status != Status::Crashed {
            return false;
        }
        let durable = self.disk.durable().cloned();
        let Some(machine) = M::boot(
            setup,
            me,
            self.lives + 1,
            durable,
            self.clock.reads(env.now),
        ) else {
            return false;
        };
        self.lives += 1;
        self.status = Status::Up;
        self.look = Look {
            role: RoleCode::Follower,
            ..machine.look()
        };
        self.refusals = machine.refusals();
        self.machine = Some(machine);
        env.trace.cause = env.emit(Event::new(Kind::Boot, me).a(self.lives));
        self.settle(env, me);
        true
    }

    /// The process dies. False when it is dead.
    pub(crate) fn crash(&mut self, env: &mut Env, me: usize) -> bool {
        if self.status == Status::Crashed {
            return false;
        }
        env.trace.cause = env.emit(Event::new(Kind::Crash, me));
        if matches!(self.look.role, RoleCode::Elected | RoleCode::Established) {
            env.counts.depositions += 1;
            env.emit(Event::new(Kind::Deposed, me).term(self.look.term).a(4));
        }
        self.disk.crash(|ticket| {
            env.trace
                .emit(env.now, Event::new(Kind::PersistLost, me).a(ticket.number));
        });
        for late in std::mem::take(&mut self.late) {
            if let Late::Message(flight) = late {
                let lost = message_event(Kind::Lose, flight.from as usize, me, &flight.payload);
                env.emit(lost.b(Loss::ReceiverDown as u64));
            }
        }
        self.machine = None;
        self.app = App::default();
        self.status = Status::Crashed;
        self.wake_at = NEVER;
        self.froze_leading = false;
        let recorded = self.disk.durable().map(M::recorded).unwrap_or_default();
        self.look = Look {
            term: recorded.term,
            vote: recorded.vote,
            ..AT_REST
        };
        self.tell_belief(env, me);
        true
    }

    /// The process freezes. False when it does not run.
    pub(crate) fn pause(&mut self, env: &mut Env, me: usize) -> bool {
        if self.status != Status::Up {
            return false;
        }
        env.trace.cause = env.emit(Event::new(Kind::Pause, me));
        self.froze_leading = self.leading(env).is_some();
        self.status = Status::Paused;
        self.tell_belief(env, me);
        true
    }

    /// The frozen process goes on. It does first what it was about to do, then reads what came, then looks at the time.
    /// False when it was not frozen.
    pub(crate) fn resume(&mut self, env: &mut Env, me: usize) -> bool {
        if self.status != Status::Paused {
            return false;
        }
        env.trace.cause = env.emit(Event::new(Kind::Resume, me));
        self.status = Status::Up;
        self.froze_leading = false;
        let resumed = env.trace.cause;
        self.thought(env, me);
        for late in std::mem::take(&mut self.late) {
            env.trace.cause = resumed;
            match late {
                Late::Message(flight) => self.deliver(env, me, flight),
                Late::Written(ticket) => self.feed(env, me, Input::Reply(ticket, Ok(()))),
            }
        }
        env.trace.cause = resumed;
        self.look_at_the_time(env, me);
        self.tell_belief(env, me);
        true
    }

    /// A wish of whoever runs the node. False when nothing came of it.
    pub(crate) fn wish(&mut self, env: &mut Env, me: usize, wish: Input<M::Peer, ()>) -> bool {
        if self.status != Status::Up {
            return false;
        }
        let before = (self.look, env.net.sent());
        self.feed(env, me, wish);
        before != (self.look, env.net.sent())
    }

    /// A message has come.
    pub(crate) fn arrive(&mut self, env: &mut Env, me: usize, flight: Flight<Packet>) {
        match self.status {
            Status::Up => self.deliver(env, me, flight),
            Status::Paused => self.late.push(Late::Message(flight)),
            Status::Crashed => {
                let lost = message_event(Kind::Lose, flight.from as usize, me, &flight.payload);
                env.emit(lost.b(Loss::ReceiverDown as u64));
            }
        }
    }

    /// The disk is done with its oldest write, if no crash undid it.
    pub(crate) fn written(&mut self, env: &mut Env, me: usize, era: u32) {
        let Some(ticket) = self.disk.done(era) else {
            return;
        };
        env.trace.cause = env.emit(Event::new(Kind::Persisted, me).a(ticket.number));
        match self.status {
            Status::Up => self.feed(env, me, Input::Reply(ticket, Ok(()))),
            Status::Paused => self.late.push(Late::Written(ticket)),
            Status::Crashed => {}
        }
    }

    /// A wake-up came.
    pub(crate) fn wake(&mut self, env: &mut Env, me: usize) {
        if self.wake_at != env.now {
            return;
        }
        self.wake_at = NEVER;
        if self.status == Status::Up {
            self.look_at_the_time(env, me);
        }
    }

    /// Writes that have been thought about leave for the resources, whatever has become of the leader meanwhile.
    pub(crate) fn thought(&mut self, env: &mut Env, me: usize) {
        if self.status != Status::Up {
            return;
        }
        while let Some(writes) = self.app.thought(env.now) {
            for (resource, packet) in writes.into_iter().enumerate() {
                let actor = env.resource_actor(resource);
                let issued = Event::new(Kind::WriteIssued, me).with(actor);
                env.emit(packet.term().map_or(issued, |term| issued.term(term)));
                env.send_outside(me, actor, env.clients.write_delay, packet);
            }
        }
    }

    /// The disk takes this long for a write from now on. False when it did before.
    pub(crate) fn set_disk(&mut self, takes: u64) -> bool {
        std::mem::replace(&mut self.disk.takes, takes) != takes
    }

    /// The machine; `None` while crashed.
    #[must_use]
    pub const fn machine(&self) -> Option<&M> {
        self.machine.as_ref()
    }

    /// What the process is doing.
    #[must_use]
    pub const fn status(&self) -> Status {
        self.status
    }

    /// Its clock.
    #[must_use]
    pub const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Its disk.
    #[must_use]
    pub const fn disk(&self) -> &Disk<M::Request> {
        &self.disk
    }

    /// How often it started.
    #[must_use]
    pub const fn lives(&self) -> u64 {
        self.lives
    }

    /// What the machine showed last; for a crashed node, what its disk holds.
    #[must_use]
    pub const fn look(&self) -> Look {
        self.look
    }

    /// Whether it is frozen and believed to lead when it froze: it will act as a leader when it goes on, unless it looks.
    #[must_use]
    pub const fn froze_leading(&self) -> bool {
        self.froze_leading
    }

    /// Whether it has taken over and serves clients.
    #[must_use]
    pub fn serving(&self) -> bool {
        self.app.serving()
    }

    /// How much came while it was frozen.
    #[must_use]
    pub fn late(&self) -> usize {
        self.late.len()
    }

    fn deliver(&mut self, env: &mut Env, me: usize, flight: Flight<Packet>) {
        let Flight {
            id,
            from,
            payload,
            cause,
            ..
        } = flight;
        env.trace.cause = cause;
        env.trace.cause = env.emit(message_event(Kind::Deliver, me, from as usize, &payload).b(id));
        match payload {
            Packet::Request { request } => self.serve(env, me, request),
            Packet::Answer { pass, done } => {
                let resource = (from as usize).saturating_sub(env.resource_actor(0));
                if let Some(next) = self.app.answered(resource, pass, done) {
                    ask_resources(env, me, next);
                }
                // The fenced resource speaks for the write; the other is there to be compared with.
                let outcome = match done {
                    Done::Written(request) => Some((request, Outcome::Acknowledged)),
                    Done::Refused { request, .. } if request != 0 => {
                        Some((request, Outcome::Refused))
                    }
                    _ => None,
                };
                if let Some((request, outcome)) = outcome.filter(|_| resource == 0) {
                    env.send_outside(
                        me,
                        env.client_actor(),
                        0,
                        Packet::Reply { request, outcome },
                    );
                }
            }
            other => {
                if let Some(message) = M::unpack(other) {
                    self.feed(env, me, Input::Peer(NodeId(u64::from(from)), message));
                }
            }
        }
    }

    /// A client wants to write: the standing is asked now, and the write leaves when it was thought about.
    fn serve(&mut self, env: &mut Env, me: usize, request: u64) {
        let leading = self.leading(env).map(|(token, _)| token);
        let due = env.now.saturating_add(env.clients.think);
        match self.app.asked(request, leading, self.look.leader, due) {
            Some(outcome) => env.send_outside(
                me,
                env.client_actor(),
                0,
                Packet::Reply { request, outcome },
            ),
            None if due > env.now => env.queue.push(due, Due::Thought(me as u16)),
            None => self.thought(env, me),
        }
    }

    fn look_at_the_time(&mut self, env: &mut Env, me: usize) {
        let now = self.clock.reads(env.now);
        let due = self
            .machine
            .as_ref()
            .and_then(M::deadline)
            .is_some_and(|deadline| deadline <= now);
        if due {
            env.trace.cause = env.emit(Event::new(Kind::Timeout, me));
            self.feed(env, me, Input::Timeout);
        } else {
            self.arm(env, me);
        }
    }

    fn feed(&mut self, env: &mut Env, me: usize, input: Input<M::Peer, ()>) {
        if let Some(machine) = &mut self.machine {
            machine.handle(self.clock.reads(env.now), input);
            self.settle(env, me);
        }
    }

    /// After every input: shows what changed, carries the outputs out, and arms the next wake-up.
    fn settle(&mut self, env: &mut Env, me: usize) {
        self.show(env, me);
        while let Some(output) = self.machine.as_mut().and_then(M::poll) {
            match output {
                Output::Send(to, message) => {
                    let to = to.0 as usize;
                    if let Some(fact) = M::said(me, to, &message) {
                        env.hear(fact);
                    }
                    env.send(me, to, M::pack(message));
                }
                Output::Request(ticket, record) => {
                    let recorded = M::recorded(&record);
                    env.trace.mix(recorded.rest);
                    let event = Event::new(Kind::Persist, me)
                        .term(recorded.term)
                        .a(ticket.number);
                    env.emit(recorded.vote.map_or(event, |vote| event.b(u64::from(vote))));
                    let done = self.disk.write(env.now, ticket, record);
                    env.queue
                        .push(done, Due::Written(me as u16, self.disk.era()));
                }
                Output::Event(event) => self.news(env, me, event),
            }
        }
        self.tell_belief(env, me);
        self.arm(env, me);
    }

    fn show(&mut self, env: &mut Env, me: usize) {
        let Some(machine) = &self.machine else {
            return;
        };
        let look = machine.look();
        let before = std::mem::replace(&mut self.look, look);
        if look.role != before.role {
            env.emit(
                Event::new(Kind::Role, me)
                    .term(look.term)
                    .a(look.role as u64),
            );
            if look.role == RoleCode::PreCandidate {
                env.counts.pre_candidacies += 1;
            }
            if matches!(look.role, RoleCode::PreCandidate | RoleCode::Candidate) {
                env.stages.stood(env.now);
            }
        }
        if look.term > before.term && look.vote == Some(me as u16) {
            env.counts.candidacies += 1;
            env.stages.candidacy(look.term);
        }
        let refusals = machine.refusals();
        if let Some(reason) = M::newly_refused(&self.refusals, &refusals) {
            self.refusals = refusals;
            env.emit(Event::new(Kind::Refusal, me).a(reason));
        }
    }

    fn news(&mut self, env: &mut Env, me: usize, event: tenure::Event) {
        match event {
            tenure::Event::Elected(token) => {
                env.emit(Event::new(Kind::Elected, me).term(token.counter));
                env.stages.elected(env.now, token);
                env.hear(Fact::Acted {
                    node: me,
                    term: token.counter,
                });
                env.hear(Fact::Elected { node: me, token });
            }
            tenure::Event::Established(tenure) => {
                let until = self.clock.when(tenure.until).min(i64::MAX as u64);
                env.counts.establishments += 1;
                env.emit(
                    Event::new(Kind::Established, me)
                        .term(tenure.token.counter)
                        .a(until),
                );
                env.stages.established(env.now, tenure.token);
                env.hear(Fact::Established {
                    node: me,
                    token: tenure.token,
                });
                let holder = Holder {
                    node: NodeId(me as u64),
                    incarnation: self.lives,
                };
                let pass = Pass {
                    election: ELECTION,
                    token: tenure.token,
                    holder,
                };
                let first = self.app.established(pass, env.clients.takeover);
                ask_resources(env, me, first);
            }
            tenure::Event::Deposed(token, why) => {
                env.counts.depositions += 1;
                let why = match why {
                    Why::HigherTerm => 1,
                    Why::Resigned => 2,
                    Why::DiskFailed => 3,
                    _ => 0,
                };
                env.emit(Event::new(Kind::Deposed, me).term(token.counter).a(why));
                self.app.deposed();
            }
            tenure::Event::Following(leader) => {
                let event = Event::new(Kind::Following, me);
                env.emit(leader.map_or(event, |leader| {
                    event
                        .with(leader.node.0 as usize)
                        .term(leader.token.counter)
                }));
            }
            // Shown by the role.
            _ => {}
        }
    }

    /// The token of the tenure that the machine shows right now, and the true time of its end.
    pub(crate) fn leading(&self, env: &Env) -> Option<(Token, u64)> {
        self.leads_at(env.now)
    }

    /// As [`leading`](Self::leading), at a true time not before the last event.
    #[must_use]
    pub fn leads_at(&self, now: u64) -> Option<(Token, u64)> {
        match self.machine.as_ref()?.standing(self.clock.reads(now)) {
            Standing::Leading(tenure) => Some((tenure.token, self.clock.when(tenure.until))),
            _ => None,
        }
    }

    fn tell_belief(&mut self, env: &mut Env, me: usize) {
        let until = self.leading(env).map_or(0, |(_, until)| until);
        let running = self.status == Status::Up;
        if (until, running) != self.told {
            self.told = (until, running);
            env.hear(Fact::Believes {
                node: me,
                until,
                running,
            });
        }
    }

    fn arm(&mut self, env: &mut Env, me: usize) {
        if let Some(deadline) = self.machine.as_ref().and_then(M::deadline) {
            // A deadline in the past would stop the world at this instant: the law says there is none after a drain.
            let at = self.clock.when(deadline).max(env.now + 1);
            if at < self.wake_at {
                self.wake_at = at;
                env.queue.push(at, Due::Wake(me as u16));
            }
        }
    }
}

fn ask_resources(env: &mut Env, me: usize, packet: Packet) {
    for resource in 0..crate::app::RESOURCES {
        env.send_outside(me, env.resource_actor(resource), 0, packet);
    }
}
