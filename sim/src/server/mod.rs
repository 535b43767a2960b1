//! A server of a store: what it keeps, its clock, and the process it runs in.
//!
//! Servers stand in the network like nodes, after them: links to them are cut, slow and flap like any other.

mod serves;

pub use serves::{Part, Serves};

#[cfg(feature = "peers")]
use crate::brokers::{BrokerServer, Ended};
use crate::check::Excuse;
#[cfg(feature = "peers")]
use crate::check::Fact;
use crate::fault::Action;
#[cfg(feature = "peers")]
use crate::fault::Damage;
use crate::node::Status;
#[cfg(feature = "peers")]
use crate::packet::Outcome;
use crate::packet::Packet;
use crate::physics::clock::Clock;
use crate::physics::network::Flight;
#[cfg(feature = "peers")]
use crate::physics::trace::Lost;
use crate::physics::trace::{Event, Kind, Loss};
use crate::physics::{Blame, NEVER, NOBODY};
#[cfg(feature = "peers")]
use crate::scheme::PeerSaid;
use crate::scheme::lease::Kept;
#[cfg(feature = "peers")]
use crate::scheme::sentinel::DataServer;
use crate::scheme::{ServerSaid, StoreAsk, StoreSaid};
use crate::world::env::{Due, Env, message_event};
use std::sync::Arc;
#[cfg(feature = "peers")]
use tenure::sentinel::data::{Data, Mark};
use tenure::{Instant, Ticket};

/// What a server does. Its times are those of its own clock, in microseconds.
pub(crate) trait Service {
    /// A client asks.
    fn ask(&mut self, now: u64, client: u16, ticket: Ticket, ask: &StoreAsk);

    /// The next thing to say, to whom, as an answer to what.
    fn poll(&mut self) -> Option<(u16, Ticket, StoreSaid)>;

    /// Another server of the same cluster says something: which one, counted from 0.
    fn hear(&mut self, now: u64, from: u16, said: &ServerSaid) {
        let _ = (now, from, said);
    }

    /// The next thing to say to another server, and to which.
    fn poll_peer(&mut self) -> Option<(u16, ServerSaid)> {
        None
    }

    /// The connection to a client ended, or one begins that knows nothing of it. Told where servers speak over connections.
    #[cfg(any(feature = "peers", feature = "stores"))]
    fn hung_up(&mut self, now: u64, client: u16) {
        let _ = (now, client);
    }

    /// The connection to another server of the same cluster ended or could not be made, or stands again.
    #[cfg(feature = "peers")]
    fn connection(&mut self, now: u64, server: u16, stands: bool) {
        let _ = (now, server, stands);
    }

    /// Whether it leads a cluster of servers.
    fn leads(&self) -> bool {
        false
    }

    /// A node says something, or another server in the language of the nodes: which actor.
    #[cfg(feature = "peers")]
    fn hear_peer(&mut self, now: u64, from: u16, said: &PeerSaid) {
        let _ = (now, from, said);
    }

    /// The next thing to say in the language of the nodes, and to which actor.
    #[cfg(feature = "peers")]
    fn poll_said(&mut self) -> Option<(u16, PeerSaid)> {
        None
    }

    /// A client writes to it: what it is acknowledged by, if it is.
    #[cfg(feature = "peers")]
    fn write(&mut self, now: u64) -> Option<Mark> {
        let _ = now;
        None
    }

    /// The data server, if it is one.
    #[cfg(feature = "peers")]
    fn data(&self) -> Option<&Data> {
        None
    }

    /// What it shows of the data it keeps, unless it is a store.
    fn serves(&self, now: u64) -> Option<Serves> {
        let _ = now;
        None
    }

    /// The records of the election, to be shown: whoever holds by one comes first, and then who waits, in order.
    fn records(&self, now: u64) -> Vec<Record>;

    /// The change by which somebody who was overtaken wrote, if that is what was written last: of a store that is to take no
    /// such write.
    fn stale_write(&self) -> Option<u64> {
        None
    }

    /// When something happens by itself.
    fn due(&self) -> Option<u64> {
        None
    }

    /// The time has come.
    fn wake(&mut self, now: u64) {
        let _ = now;
    }

    /// The process died.
    fn died(&mut self) {}

    /// The process died, and is back: what it kept is what its disk holds.
    fn restarted(&mut self, now: u64) {
        let _ = now;
    }

    /// The machine loses its power, and what was written and not synced is gone. False when that is nothing.
    fn cut_power(&mut self, now: u64) -> bool {
        let _ = now;
        false
    }

    /// The primary is lost, and its asynchronous replica takes its place, with what has reached it. False without one.
    fn fail_over(&mut self, now: u64) -> bool {
        let _ = now;
        false
    }

    /// The record of the election is gone, deleted by nobody who takes part. False when there is none.
    fn evict(&mut self, now: u64) -> bool {
        let _ = now;
        false
    }

    /// What it keeps is copied. False when it cannot be.
    fn back_up(&mut self, now: u64) -> bool {
        let _ = now;
        false
    }

    /// What was copied last takes the place of all it keeps. False when nothing was.
    fn restore(&mut self, now: u64) -> bool {
        let _ = now;
        false
    }
}

/// What a server holds: of a store, or data of its own.
#[derive(Clone, Debug)]
pub(crate) enum Holds {
    /// What a store keeps.
    Store(Kept),
    /// The data that sentinels watch over.
    #[cfg(feature = "peers")]
    Data(DataServer),
    /// The partitions of a broker.
    #[cfg(feature = "peers")]
    Broker(Box<BrokerServer>),
}

impl Holds {
    fn service(&self) -> &dyn Service {
        match self {
            Self::Store(kept) => kept.service(),
            #[cfg(feature = "peers")]
            Self::Data(data) => data,
            #[cfg(feature = "peers")]
            Self::Broker(broker) => &**broker,
        }
    }

    fn service_mut(&mut self) -> &mut dyn Service {
        match self {
            Self::Store(kept) => kept.service_mut(),
            #[cfg(feature = "peers")]
            Self::Data(data) => data,
            #[cfg(feature = "peers")]
            Self::Broker(broker) => &mut **broker,
        }
    }
}

/// A record of the election as a server keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Under what it is kept.
    pub key: String,
    /// The name of whoever it is of.
    pub holder: Option<String>,
    /// The counter of the token that goes with it; 0 when none does.
    pub token: u64,
    /// When it ends, on the clock of the server; `None` when no time is set to it.
    pub ends: Option<u64>,
    /// Whether whoever it is of leads by it, as the server sees it.
    pub holds: bool,
}

/// One server.
#[derive(Clone, Debug)]
pub struct Server {
    kept: Holds,
    clock: Clock,
    status: Status,
    /// What came while it was frozen, in order.
    late: Vec<Late>,
    /// The earliest wake-up that is scheduled.
    wake_at: u64,
    /// The last change by which somebody wrote who was overtaken.
    stale: u64,
    by: Blames,
}

/// What comes to a server.
#[derive(Clone, Debug)]
enum Late {
    Message(Flight<Packet>),
    /// What became of its connection to an actor.
    #[cfg(any(feature = "peers", feature = "stores"))]
    Connection(usize, bool),
}

/// Which action did what to it, until somebody was shown it.
#[derive(Clone, Copy, Debug)]
struct Blames {
    crash: Blame,
    pause: Blame,
    clock: Blame,
    /// What it keeps is not what it was asked to keep.
    kept: Blame,
    /// Its disk is damaged.
    #[cfg(feature = "peers")]
    disk: Blame,
}

impl Server {
    /// A server that runs from the start.
    pub(crate) const fn new(kept: Holds, clock: Clock) -> Self {
        Self {
            kept,
            clock,
            status: Status::Up,
            late: Vec::new(),
            wake_at: NEVER,
            stale: 0,
            by: Blames {
                crash: NOBODY,
                pause: NOBODY,
                clock: NOBODY,
                kept: NOBODY,
                #[cfg(feature = "peers")]
                disk: NOBODY,
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

    /// The records of the election at a true time: whoever holds by one comes first, and then who waits, in order.
    #[must_use]
    pub fn records(&self, at: u64) -> Vec<Record> {
        let now = self.clock.reads(at).as_micros();
        self.kept.service().records(now)
    }

    /// What it shows of the data it keeps at a true time, unless it is a store.
    #[must_use]
    pub fn serves(&self, at: u64) -> Option<Serves> {
        let now = self.clock.reads(at).as_micros();
        self.kept.service().serves(now)
    }

    /// Whether it runs and leads a cluster of servers.
    #[must_use]
    pub fn leads(&self) -> bool {
        self.status == Status::Up && self.kept.service().leads()
    }

    /// Whether it has to do something before anybody asks.
    pub(crate) fn begins(&self) -> bool {
        self.kept.service().due().is_some()
    }

    /// It runs for the first time.
    pub(crate) fn begin(&mut self, env: &mut Env, me: usize) {
        self.look_at_the_time(env, me);
    }

    /// How many messages it has not read yet, because it is frozen.
    #[must_use]
    pub fn late(&self) -> usize {
        let message = |late: &&Late| matches!(late, Late::Message(_));
        self.late.iter().filter(message).count()
    }

    /// A message has come.
    pub(crate) fn arrive(&mut self, env: &mut Env, me: usize, flight: Flight<Packet>) {
        match self.status {
            Status::Up => self.serve(env, me, &flight),
            Status::Paused => {
                env.shown(&mut self.by.pause);
                self.late.push(Late::Message(flight));
            }
            Status::Crashed => {
                env.shown(&mut self.by.crash);
                lose(env, me, &flight);
                #[cfg(feature = "peers")]
                env.refuse(me, &flight);
            }
        }
    }

    fn serve(&mut self, env: &mut Env, me: usize, flight: &Flight<Packet>) {
        let from = usize::from(flight.from);
        env.trace.cause = flight.cause;
        let event = message_event(Kind::Deliver, me, from, &flight.payload).b(flight.id);
        env.trace.cause = env.emit(event);
        if let Packet::AskStore { ticket, ask } = &flight.payload {
            env.shown(&mut self.by.kept);
            let now = self.now(env);
            let service = self.kept.service_mut();
            service.wake(now);
            service.ask(now, flight.from, *ticket, ask);
            self.settle(env, me);
        } else if let Packet::Servers(said) = &flight.payload {
            let now = self.now(env);
            let service = self.kept.service_mut();
            service.wake(now);
            service.hear(now, (from - env.server_actor(0)) as u16, said);
            self.settle(env, me);
        }
        #[cfg(feature = "peers")]
        self.serve_sentinels(env, me, flight);
        #[cfg(feature = "peers")]
        if let (Holds::Broker(broker), Packet::Brokers(said)) = (&mut self.kept, &flight.payload) {
            let now = self.clock.reads(env.now).as_micros();
            broker.hear(now, flight.from, said);
            self.settle(env, me);
        }
    }

    /// The broker, if it is one.
    #[cfg(feature = "peers")]
    pub(crate) fn broker(&self) -> Option<&BrokerServer> {
        match &self.kept {
            Holds::Broker(broker) => Some(broker),
            _ => None,
        }
    }

    /// What a broker says goes out, what happened to it is told, and when it is done its process ends.
    #[cfg(feature = "peers")]
    fn settle_broker(&mut self, env: &mut Env, me: usize) {
        let Holds::Broker(broker) = &mut self.kept else {
            return;
        };
        while let Some(news) = broker.poll_news() {
            env.hear_of_broker(me, &news);
        }
        while let Some((to, said)) = broker.poll_brokers() {
            env.say_of_brokers(me, to, said);
        }
        let ended = broker.has_ended();
        if let Some(ended) = ended.filter(|_| self.status != Status::Crashed) {
            env.went = true;
            let by = match ended {
                Ended::InOrder => NOBODY,
                Ended::DiskFailed => self.by.disk,
            };
            self.crash(env, me, by);
        }
    }

    /// A broker is to go in good order. False when it does not run, or is none.
    #[cfg(feature = "peers")]
    fn shut_down(&mut self, env: &mut Env, me: usize) -> bool {
        let now = self.now(env);
        let Holds::Broker(broker) = &mut self.kept else {
            return false;
        };
        let goes = self.status == Status::Up && broker.shut_down(now);
        if goes {
            self.settle(env, me);
            env.hear(Fact::Wished);
        }
        goes
    }

    /// The disk of a broker is damaged. False when it was already, and for what has no disk of its own.
    #[cfg(feature = "peers")]
    fn damage(&mut self, env: &mut Env, me: usize, damage: Damage) -> bool {
        if !matches!(self.kept, Holds::Broker(_)) {
            return false;
        }
        // That it dies is not what a wipe is about.
        let died = damage == Damage::Wipe && self.crash(env, me, NOBODY);
        let Holds::Broker(broker) = &mut self.kept else {
            return died;
        };
        let damaged = match damage {
            Damage::Wipe => broker.wipe(),
            Damage::Lie => broker.lie(),
            Damage::Fail => broker.fail(),
            // Nobody waits for one write alone.
            Damage::Drop => false,
        };
        if damaged {
            self.by.disk = env.act;
            if damage == Damage::Wipe {
                env.emit(Event::new(Kind::PersistLost, me).b(Lost::Wiped as u64));
            }
        }
        died || damaged
    }

    /// Whether the disk of a broker lies, or will fail.
    #[cfg(feature = "peers")]
    pub(crate) fn is_damaged(&self) -> bool {
        self.broker().is_some_and(BrokerServer::is_damaged)
    }

    /// The connection to another actor ended, could not be made, or stands again.
    #[cfg(any(feature = "peers", feature = "stores"))]
    pub(crate) fn connection(&mut self, env: &mut Env, me: usize, actor: usize, stands: bool) {
        match self.status {
            Status::Up => self.hear_of_connection(env, me, actor, stands),
            Status::Paused => self.late.push(Late::Connection(actor, stands)),
            Status::Crashed => {}
        }
    }

    #[cfg(any(feature = "peers", feature = "stores"))]
    fn hear_of_connection(&mut self, env: &mut Env, me: usize, actor: usize, stands: bool) {
        let now = self.now(env);
        let service = self.kept.service_mut();
        service.wake(now);
        match actor.checked_sub(env.server_actor(0)) {
            #[cfg(feature = "peers")]
            Some(server) => service.connection(now, server as u16, stands),
            // Those of other stores do not speak to each other over connections.
            #[cfg(not(feature = "peers"))]
            Some(_) => _ = stands,
            None => service.hung_up(now, actor as u16),
        }
        self.settle(env, me);
    }

    /// What sentinels and other data servers say, and what a client wants written.
    #[cfg(feature = "peers")]
    fn serve_sentinels(&mut self, env: &mut Env, me: usize, flight: &Flight<Packet>) {
        let now = self.now(env);
        let service = self.kept.service_mut();
        match &flight.payload {
            Packet::Peer(said) => {
                service.hear_peer(now, flight.from, said);
                self.settle(env, me);
            }
            Packet::Request { request } => {
                let request = *request;
                let outcome = match service.write(now) {
                    Some(mark) => {
                        env.wrote_at_server(me, mark);
                        Outcome::Acknowledged(mark.offset)
                    }
                    None => Outcome::Refused,
                };
                self.settle(env, me);
                let reply = Packet::Reply { request, outcome };
                env.send_outside(me, usize::from(flight.from), 0, reply);
            }
            _ => {}
        }
    }

    /// The data server, if it is one.
    #[cfg(feature = "peers")]
    pub(crate) fn data(&self) -> Option<&Data> {
        self.kept.service().data()
    }

    /// Whether it takes writes at a true time: it runs, and is a master with as many replicas as it needs.
    #[cfg(feature = "peers")]
    pub(crate) fn is_writable(&self, at: u64) -> bool {
        let writable = |data: &Data| data.is_writable(self.clock.reads(at));
        self.status == Status::Up && self.data().is_some_and(writable)
    }

    /// Whether it follows this one at a true time, and has all that it said.
    #[cfg(feature = "peers")]
    pub(crate) fn is_in_touch(&self, at: u64, master: tenure::NodeId) -> bool {
        let linked = |data: &Data| data.is_linked(self.clock.reads(at));
        let follows = |data: &&Data| data.master() == Some(master);
        self.status == Status::Up && self.data().filter(follows).is_some_and(linked)
    }

    /// Says what there is to say, and looks again when something happens by itself.
    fn settle(&mut self, env: &mut Env, me: usize) {
        if let Some(change) = self.kept.service().stale_write()
            && change > self.stale
        {
            self.stale = change;
            env.store_took_stale(me);
        }
        while let Some((to, ticket, said)) = self.kept.service_mut().poll() {
            let said = Arc::new(said);
            env.send(me, usize::from(to), Packet::StoreSaid { ticket, said });
        }
        while let Some((to, said)) = self.kept.service_mut().poll_peer() {
            let to = env.server_actor(to.into());
            env.send(me, to, Packet::Servers(Arc::new(said)));
        }
        #[cfg(feature = "peers")]
        while let Some((to, said)) = self.kept.service_mut().poll_said() {
            env.send(me, usize::from(to), Packet::Peer(said));
        }
        #[cfg(feature = "peers")]
        self.settle_broker(env, me);
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
        self.kept.service_mut().died();
        env.net.leave(env.now, me, by);
        env.tell_connections();
        for late in std::mem::take(&mut self.late) {
            match late {
                Late::Message(flight) => lose(env, me, &flight),
                #[cfg(any(feature = "peers", feature = "stores"))]
                Late::Connection(..) => {}
            }
        }
        #[cfg(feature = "peers")]
        env.close(me);
        true
    }

    /// The process is back. False when it was there.
    pub(crate) fn start(&mut self, env: &mut Env, me: usize) -> bool {
        if self.status != Status::Crashed {
            return false;
        }
        // Here it shows what its disk has lost.
        #[cfg(feature = "peers")]
        if !self.is_damaged() {
            env.shown(&mut self.by.disk);
        }
        let now = self.now(env);
        self.kept.service_mut().restarted(now);
        self.join(env, me);
        true
    }

    /// A process is there, and is asked.
    fn join(&mut self, env: &mut Env, me: usize) {
        self.status = Status::Up;
        self.by.crash = NOBODY;
        env.trace.cause = env.emit(Event::new(Kind::Boot, me));
        env.net.join(env.now, me);
        env.tell_connections();
        self.settle(env, me);
    }

    /// The machine loses its power. False when it was down, with all it kept on its disk.
    fn cut_power(&mut self, env: &mut Env, me: usize) -> bool {
        let died = self.crash(env, me, env.act);
        let now = self.now(env);
        let lost = self.kept.service_mut().cut_power(now);
        if lost {
            // Of a disk that lies, this is what it did.
            #[cfg(feature = "peers")]
            if self.is_damaged() {
                env.shown(&mut self.by.disk);
            }
            self.changed(env, me, Kind::TailLost);
        }
        died || lost
    }

    /// Another process takes the place of the one that was asked, which dies if it had not died before. False when there is
    /// none.
    fn fail_over(&mut self, env: &mut Env, me: usize) -> bool {
        if self.leads() {
            // The others of its cluster go on, with all that was acknowledged.
            return self.crash(env, me, env.act);
        }
        let now = self.now(env);
        if !self.kept.service_mut().fail_over(now) {
            return false;
        }
        self.crash(env, me, env.act);
        self.changed(env, me, Kind::Failover);
        self.join(env, me);
        true
    }

    /// Something is done to what it keeps. False when it has no effect.
    fn tamper(
        &mut self,
        env: &mut Env,
        me: usize,
        kind: Kind,
        what: fn(&mut dyn Service, u64) -> bool,
    ) -> bool {
        let now = self.now(env);
        let done = what(self.kept.service_mut(), now);
        if done {
            self.changed(env, me, kind);
            if self.status == Status::Up {
                self.settle(env, me);
            }
        }
        done
    }

    /// What it keeps was changed by the present action.
    fn changed(&mut self, env: &mut Env, me: usize, kind: Kind) {
        env.trace.cause = env.emit(Event::new(kind, me));
        if kind != Kind::BackUp {
            self.by.kept = env.act;
            // Of no other does an election rest on what it keeps.
            if matches!(self.kept, Holds::Store(_)) {
                env.judges.excuse(env.now, Excuse::Lost);
            }
        }
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
        for late in std::mem::take(&mut self.late) {
            match late {
                Late::Message(flight) => self.serve(env, me, &flight),
                #[cfg(any(feature = "peers", feature = "stores"))]
                Late::Connection(actor, stands) => {
                    self.hear_of_connection(env, me, actor, stands);
                }
            }
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
        if jump != 0 {
            env.judges.excuse(env.now, Excuse::Jumped);
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
            Action::PowerCut(_) => self.cut_power(env, me),
            #[cfg(feature = "peers")]
            Action::Damage(_, damage) => self.damage(env, me, *damage),
            #[cfg(feature = "peers")]
            Action::Resign(_) => self.shut_down(env, me),
            Action::Failover(_) => self.fail_over(env, me),
            Action::Evict(_) => self.tamper(env, me, Kind::Evict, |kept, now| kept.evict(now)),
            Action::BackUp(_) => self.tamper(env, me, Kind::BackUp, |kept, now| kept.back_up(now)),
            Action::Restore(_) => {
                self.tamper(env, me, Kind::Restore, |kept, now| kept.restore(now))
            }
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
