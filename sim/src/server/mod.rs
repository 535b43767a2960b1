//! A server of a store: what it keeps, its clock, and the process it runs in.
//!
//! Servers stand in the network like nodes, after them: links to them are cut, slow and flap like any other.

use crate::fault::Action;
use crate::node::Status;
use crate::packet::Packet;
use crate::physics::clock::Clock;
use crate::physics::network::Flight;
use crate::physics::trace::{Event, Kind, Loss};
use crate::physics::{Blame, NEVER, NOBODY};
use crate::scheme::lease::ZooKeeper;
use crate::scheme::{StoreAsk, StoreSaid};
use crate::store::etcd::Etcd;
use crate::store::sql::Database;
use crate::world::env::{Due, Env, message_event};
use std::sync::Arc;
use tenure::{Instant, Ticket};

/// What a server does. Its times are those of its own clock, in microseconds.
pub(crate) trait Service {
    /// A client asks.
    fn ask(&mut self, now: u64, client: u16, ticket: Ticket, ask: &StoreAsk);

    /// The next thing to say, to whom, as an answer to what.
    fn poll(&mut self) -> Option<(u16, Ticket, StoreSaid)>;

    /// When something happens by itself.
    fn due(&self) -> Option<u64> {
        None
    }

    /// The time has come.
    fn wake(&mut self, now: u64) {
        let _ = now;
    }

    /// The process died, and is back: what it kept is what its disk holds.
    fn restarted(&mut self, now: u64) {
        let _ = now;
    }
}

/// What a server is, of whatever kind.
#[derive(Clone, Debug)]
pub(crate) enum Kept {
    Sql(Database),
    Etcd(Etcd),
    ZooKeeper(ZooKeeper),
}

impl Kept {
    fn service(&self) -> &dyn Service {
        match self {
            Self::Sql(database) => database,
            Self::Etcd(etcd) => etcd,
            Self::ZooKeeper(zookeeper) => zookeeper,
        }
    }

    fn service_mut(&mut self) -> &mut dyn Service {
        match self {
            Self::Sql(database) => database,
            Self::Etcd(etcd) => etcd,
            Self::ZooKeeper(zookeeper) => zookeeper,
        }
    }
}

/// One server.
#[derive(Clone, Debug)]
pub struct Server {
    kept: Kept,
    clock: Clock,
    status: Status,
    /// What came while it was frozen, in order.
    late: Vec<Flight<Packet>>,
    /// The earliest wake-up that is scheduled.
    wake_at: u64,
    by: Blames,
}

/// Which action did what to it, until somebody was shown it.
#[derive(Clone, Copy, Debug)]
struct Blames {
    crash: Blame,
    pause: Blame,
    clock: Blame,
}

impl Server {
    /// A server that runs from the start.
    pub(crate) const fn new(kept: Kept, clock: Clock) -> Self {
        Self {
            kept,
            clock,
            status: Status::Up,
            late: Vec::new(),
            wake_at: NEVER,
            by: Blames {
                crash: NOBODY,
                pause: NOBODY,
                clock: NOBODY,
            },
        }
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

    /// A message has come.
    pub(crate) fn arrive(&mut self, env: &mut Env, me: usize, flight: Flight<Packet>) {
        match self.status {
            Status::Up => self.serve(env, me, &flight),
            Status::Paused => {
                env.shown(&mut self.by.pause);
                self.late.push(flight);
            }
            Status::Crashed => {
                env.shown(&mut self.by.crash);
                lose(env, me, &flight);
            }
        }
    }

    fn serve(&mut self, env: &mut Env, me: usize, flight: &Flight<Packet>) {
        let from = usize::from(flight.from);
        env.trace.cause = flight.cause;
        let event = message_event(Kind::Deliver, me, from, &flight.payload).b(flight.id);
        env.trace.cause = env.emit(event);
        if let Packet::AskStore { ticket, ask } = &flight.payload {
            let now = self.now(env);
            let service = self.kept.service_mut();
            service.wake(now);
            service.ask(now, flight.from, *ticket, ask);
            self.settle(env, me);
        }
    }

    /// Says what there is to say, and looks again when something happens by itself.
    fn settle(&mut self, env: &mut Env, me: usize) {
        while let Some((to, ticket, said)) = self.kept.service_mut().poll() {
            let said = Arc::new(said);
            env.send(me, usize::from(to), Packet::StoreSaid { ticket, said });
        }
        if let Some(due) = self.kept.service().due() {
            let at = self.clock.when(Instant::from_micros(due)).max(env.now + 1);
            if at < self.wake_at {
                self.wake_at = at;
                env.queue.push(at, Due::Wake(me as u16));
            }
        }
    }

    /// A wake-up came.
    pub(crate) fn wake(&mut self, env: &mut Env, me: usize) {
        if self.wake_at == env.now {
            self.wake_at = NEVER;
            self.look_at_the_time(env, me);
        }
    }

    fn look_at_the_time(&mut self, env: &mut Env, me: usize) {
        if self.status == Status::Up {
            env.shown(&mut self.by.clock);
            let now = self.now(env);
            self.kept.service_mut().wake(now);
            self.settle(env, me);
        }
    }

    /// The process dies, and `by` is to blame. False when it is dead.
    pub(crate) fn crash(&mut self, env: &mut Env, me: usize, by: Blame) -> bool {
        if self.status == Status::Crashed {
            return false;
        }
        env.trace.cause = env.emit(Event::new(Kind::Crash, me));
        self.by.crash = by;
        self.status = Status::Crashed;
        self.wake_at = NEVER;
        env.net.leave(env.now, me, by);
        env.tell_connections();
        for flight in std::mem::take(&mut self.late) {
            lose(env, me, &flight);
        }
        true
    }

    /// The process is back. False when it was there.
    pub(crate) fn start(&mut self, env: &mut Env, me: usize) -> bool {
        if self.status != Status::Crashed {
            return false;
        }
        self.status = Status::Up;
        self.by.crash = NOBODY;
        env.trace.cause = env.emit(Event::new(Kind::Boot, me));
        env.net.join(env.now, me);
        env.tell_connections();
        let now = self.now(env);
        self.kept.service_mut().restarted(now);
        self.settle(env, me);
        true
    }

    /// The process freezes. False when it does not run.
    pub(crate) fn pause(&mut self, env: &mut Env, me: usize) -> bool {
        if self.status != Status::Up {
            return false;
        }
        env.trace.cause = env.emit(Event::new(Kind::Pause, me));
        self.status = Status::Paused;
        self.by.pause = env.act;
        true
    }

    /// The frozen process goes on: it reads what came. False when it was not frozen.
    pub(crate) fn resume(&mut self, env: &mut Env, me: usize) -> bool {
        if self.status != Status::Paused {
            return false;
        }
        env.trace.cause = env.emit(Event::new(Kind::Resume, me));
        self.status = Status::Up;
        for flight in std::mem::take(&mut self.late) {
            self.serve(env, me, &flight);
        }
        self.look_at_the_time(env, me);
        true
    }

    /// The clock runs at another pace from now on, and jumps. False when it does neither.
    pub(crate) fn set_clock(
        &mut self,
        env: &mut Env,
        me: usize,
        pace: Option<u32>,
        jump: i64,
    ) -> bool {
        let former = self.clock.pace();
        let pace = pace.unwrap_or(former);
        self.clock.change(env.now, pace, jump);
        let changed = pace != former || jump != 0;
        if changed {
            self.by.clock = env.act;
        }
        self.look_at_the_time(env, me);
        changed
    }

    /// An action is carried out on it. False when that has no effect, or is none for a server.
    pub(crate) fn carry_out(&mut self, env: &mut Env, me: usize, action: &Action) -> bool {
        match action {
            Action::Crash(_) => self.crash(env, me, env.act),
            Action::Restart(_) => self.start(env, me),
            Action::Pause(_) => self.pause(env, me),
            Action::Resume(_) => self.resume(env, me),
            Action::Clock(_, pace, jump) => self.set_clock(env, me, *pace, *jump),
            _ => false,
        }
    }

    fn now(&self, env: &Env) -> u64 {
        self.clock.reads(env.now).as_micros()
    }
}

fn lose(env: &mut Env, me: usize, flight: &Flight<Packet>) {
    let from = usize::from(flight.from);
    let event = message_event(Kind::Lose, from, me, &flight.payload);
    env.emit(event.b(Loss::ReceiverDown as u64));
}
