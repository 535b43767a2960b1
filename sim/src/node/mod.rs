//! A node: a machine, its disk, its clock, and the process they run in.
//!
//! Generic over the scheme. This is a host as the core's contract asks for one: it hands inputs over with the node's own
//! time, drains the outputs, and calls again at the deadline.

#[cfg(feature = "peers")]
mod broadcast;
mod host;
mod jobs;
mod log;
#[cfg(feature = "peers")]
mod office;
mod service;
pub(crate) mod shelf;
mod takeover;
mod turn;

use crate::app::App;
use crate::check::Fact;
use crate::fault::Damage;
use crate::packet::Packet;
use crate::physics::clock::Clock;
use crate::physics::disk::{Disk, Takes};
use crate::physics::network::Flight;
use crate::physics::trace::{Ended, Event, Kind, Loss, Lost};
use crate::physics::{Blame, NEVER, NOBODY};
use crate::scheme::{Answer, Hosted, Look, RoleCode};
use crate::world::env::{Env, message_event};
use shelf::Shelf;
#[cfg(not(target_family = "wasm"))]
use tenure::raft::ChangeRefused;
use tenure::{Input, Token};
use turn::Late;

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
pub struct Node<M: Hosted> {
    /// `None` while crashed.
    machine: Option<M>,
    disk: Disk<Shelf<M::Stored>>,
    /// What it replicates, while its machine runs and has a log.
    replica: Option<Box<crate::store::Replica>>,
    /// What it does as a controller of brokers, where there are some.
    #[cfg(feature = "peers")]
    office: Option<Box<crate::brokers::Office>>,
    /// Up to where its machine said that the log is committed.
    committed: u64,
    /// When it looks next whether leases are over; [`NEVER`] while it keeps none.
    leases_at: u64,
    clock: Clock,
    status: Status,
    /// How often it started. The incarnation of the machine, which the core wants fresh each time.
    lives: u64,
    app: App,
    /// Whether its takeover wants it to resign.
    resigns: bool,
    /// What came while the process was frozen, or busy, in order.
    late: Vec<Late>,
    /// How long it takes for each thing that comes; 0 when that is no time.
    takes: u64,
    /// When it is done with what it is at; [`NEVER`] while it is at nothing.
    turn_at: u64,
    /// Whether a look at the time waits its turn.
    looks: bool,
    /// The earliest wake-up that is scheduled.
    wake_at: u64,
    /// What the machine showed when it was last looked at.
    look: Look,
    refusals: M::Refusals,
    /// What the judges were told last: by which token it believes and until when, and whether it runs.
    told: (Token, u64, bool),
    /// Whether it believed to lead when it froze.
    froze_leading: bool,
    by: Blames,
}

/// Which action did what to a node, until somebody was shown it.
#[derive(Clone, Copy, Debug)]
struct Blames {
    crash: Blame,
    pause: Blame,
    slow: Blame,
    clock: Blame,
    disk: Blame,
    wipe: Blame,
    lie: Blame,
    fail: Blame,
    drop: Blame,
}

const BLAMELESS: Blames = Blames {
    crash: NOBODY,
    pause: NOBODY,
    slow: NOBODY,
    clock: NOBODY,
    disk: NOBODY,
    wipe: NOBODY,
    lie: NOBODY,
    fail: NOBODY,
    drop: NOBODY,
};

const AT_REST: Look = Look {
    role: RoleCode::Follower,
    term: 0,
    vote: None,
    leader: None,
};

/// What has come to a node is lost.
fn lose(env: &mut Env, me: usize, flight: &Flight<Packet>, why: Loss) {
    let from = flight.from as usize;
    env.emit(message_event(Kind::Lose, from, me, &flight.payload).b(why as u64));
    env.unheard(from, &flight.payload);
}

impl<M: Hosted> Node<M> {
    /// A node that was not started yet.
    #[must_use]
    pub fn new(clock: Clock, disk: Takes) -> Self {
        Self {
            machine: None,
            disk: Disk::new(disk),
            replica: None,
            #[cfg(feature = "peers")]
            office: None,
            committed: 0,
            leases_at: NEVER,
            clock,
            status: Status::Crashed,
            lives: 0,
            app: App::default(),
            resigns: false,
            late: Vec::new(),
            takes: 0,
            turn_at: NEVER,
            looks: false,
            wake_at: NEVER,
            look: AT_REST,
            refusals: M::Refusals::default(),
            told: (Token::NONE, 0, false),
            froze_leading: false,
            by: BLAMELESS,
        }
    }

    /// Starts the process from what the disk holds. False when it is there already.
    pub(crate) fn start(&mut self, env: &mut Env, me: usize, setup: &M::Setup) -> bool {
        if self.status != Status::Crashed {
            return false;
        }
        let stored = self.disk.durable().map(|shelf| shelf.stored.clone());
        let Some(machine) = M::boot(setup, me, self.lives + 1, stored, self.clock.reads(env.now))
        else {
            return false;
        };
        self.lives += 1;
        env.shown(&mut self.by.wipe);
        if self.disk.is_missing_one() {
            env.shown(&mut self.by.drop);
        }
        self.by.crash = NOBODY;
        self.status = Status::Up;
        self.look = Look {
            role: RoleCode::Follower,
            ..machine.look()
        };
        self.refusals = machine.refusals();
        self.machine = Some(machine);
        self.start_replica(env, me);
        env.trace.cause = env.emit(Event::new(Kind::Boot, me).a(self.lives));
        env.net.join(env.now, me);
        env.tell_connections();
        self.settle(env, me);
        true
    }

    /// The process dies, and `by` is to blame. False when it is dead.
    pub(crate) fn crash(&mut self, env: &mut Env, me: usize, by: Blame) -> bool {
        if self.status == Status::Crashed {
            return false;
        }
        env.trace.cause = env.emit(Event::new(Kind::Crash, me));
        self.by.crash = by;
        env.net.leave(env.now, me, by);
        env.tell_connections();
        if self.look.role.leads() {
            env.counts.depositions += 1;
            env.shown(&mut self.by.crash);
            let event = Event::new(Kind::Deposed, me).term(self.look.term);
            env.emit(event.a(Ended::Crashed as u64));
        }
        let (now, trace) = (env.now, &mut env.trace);
        #[cfg(not(target_family = "wasm"))]
        let marks = &mut env.marks;
        let mut undone = false;
        let answered = self.disk.crash(now, &mut env.disks, |ticket, left| {
            undone = true;
            let left = match left {
                Ok(()) => Event::new(Kind::Persisted, me),
                Err(None) => Event::new(Kind::PersistLost, me),
                Err(Some(how)) => Event::new(Kind::PersistLost, me).b(how as u64),
            };
            let left = left.a(ticket.number);
            #[cfg(not(target_family = "wasm"))]
            if let Some(marks) = marks {
                marks.see(now, &left);
            }
            trace.emit(now, left);
        });
        if undone {
            env.shown(&mut self.by.crash);
        }
        if let Some(ticket) = answered {
            env.shown(&mut self.by.lie);
            let lost = Event::new(Kind::PersistLost, me).b(Lost::Answered as u64);
            env.emit(lost.a(ticket.number));
        }
        for late in std::mem::take(&mut self.late) {
            if let Late::Message(flight) = late {
                lose(env, me, &flight, Loss::ReceiverDown);
            }
        }
        self.machine = None;
        self.lose_replica(env, me);
        self.freeze_work(env, me);
        self.app = App::default();
        self.resigns = false;
        self.status = Status::Crashed;
        (self.wake_at, self.turn_at) = (NEVER, NEVER);
        self.looks = false;
        self.froze_leading = false;
        self.look_at_the_disk();
        self.tell_belief(env, me);
        #[cfg(feature = "peers")]
        env.close(me);
        true
    }

    /// The disk is damaged. False when it was already.
    pub(crate) fn damage(&mut self, env: &mut Env, me: usize, damage: Damage) -> bool {
        let (flag, by) = match damage {
            Damage::Wipe => return self.wipe(env, me),
            Damage::Lie => (&mut self.disk.lies, &mut self.by.lie),
            Damage::Fail => (&mut self.disk.fails, &mut self.by.fail),
            Damage::Drop => (&mut self.disk.drops, &mut self.by.drop),
        };
        if !std::mem::replace(flag, true) {
            *by = env.act;
            return true;
        }
        false
    }

    /// The process dies, if it is there, and its disk is empty. False when both were so.
    fn wipe(&mut self, env: &mut Env, me: usize) -> bool {
        // That it dies is not what a wipe is about.
        let died = self.crash(env, me, NOBODY);
        let wiped = self.disk.wipe();
        self.tell_disk(env, me);
        if wiped {
            self.by.wipe = env.act;
            env.emit(Event::new(Kind::PersistLost, me).b(Lost::Wiped as u64));
        }
        self.look_at_the_disk();
        died || wiped
    }

    /// A process that is not there shows what its disk holds.
    fn look_at_the_disk(&mut self) {
        let recorded = self
            .disk
            .durable()
            .map(|shelf| M::stored(&shelf.stored))
            .unwrap_or_default();
        self.look = Look {
            term: recorded.term,
            vote: recorded.vote,
            ..AT_REST
        };
    }

    /// The process freezes. False when it does not run.
    pub(crate) fn pause(&mut self, env: &mut Env, me: usize) -> bool {
        if self.status != Status::Up {
            return false;
        }
        env.trace.cause = env.emit(Event::new(Kind::Pause, me));
        self.froze_leading = self.leading(env).is_some();
        self.status = Status::Paused;
        self.by.pause = env.act;
        self.turn_at = NEVER;
        self.freeze_work(env, me);
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
        if self.is_slow() {
            self.late.insert(0, Late::Thought);
            self.time_came(env, me);
            if self.turn_at == NEVER {
                self.begin_turn(env, me);
            }
            self.tell_belief(env, me);
            return true;
        }
        let resumed = env.trace.cause;
        self.write_what_was_thought(env, me);
        for late in std::mem::take(&mut self.late) {
            env.trace.cause = resumed;
            match late {
                Late::Written(written, _) => self.take(env, me, Late::Written(written, resumed)),
                late => self.take(env, me, late),
            }
        }
        env.trace.cause = resumed;
        self.look_at_the_time(env, me);
        self.tell_belief(env, me);
        self.thaw_work(env, me);
        true
    }

    /// A wish of whoever runs the node. False when nothing came of it.
    pub(crate) fn wish(&mut self, env: &mut Env, me: usize, wish: Input<M::Peer, Answer>) -> bool {
        if self.status != Status::Up {
            return false;
        }
        let before = (self.look, env.net.sent());
        self.feed(env, me, wish);
        let effect = before != (self.look, env.net.sent());
        if effect {
            env.hear(Fact::Wished);
        }
        effect
    }

    /// A message has come.
    pub(crate) fn arrive(&mut self, env: &mut Env, me: usize, flight: Flight<Packet>) {
        match self.status {
            Status::Up if self.is_slow() => {
                self.keep(env, me, flight);
                self.wait_for_turn(env, me);
            }
            Status::Up => self.deliver(env, me, flight),
            Status::Paused => {
                env.shown(&mut self.by.pause);
                self.keep(env, me, flight);
            }
            Status::Crashed => {
                env.shown(&mut self.by.crash);
                lose(env, me, &flight, Loss::ReceiverDown);
                #[cfg(feature = "peers")]
                env.refuse(me, &flight);
            }
        }
    }

    /// The connection to another node ended, could not be made, or stands again.
    pub(crate) fn connection(&mut self, env: &mut Env, me: usize, peer: usize, stands: bool) {
        match self.status {
            Status::Up if self.is_slow() => self.queue_up(env, me, Late::Connection(peer, stands)),
            Status::Up => self.hear_of_connection(env, me, peer, stands),
            Status::Paused => self.late.push(Late::Connection(peer, stands)),
            Status::Crashed => {}
        }
    }

    /// The disk is done with its oldest write, if no crash undid it.
    pub(crate) fn written(&mut self, env: &mut Env, me: usize, era: u32) {
        let Some(written) = self.disk.done(era) else {
            return;
        };
        if written.answer.is_err() {
            env.shown(&mut self.by.fail);
        }
        self.tell_disk(env, me);
        let over = match written.lost {
            None => Event::new(Kind::Persisted, me),
            Some(how) => Event::new(Kind::PersistLost, me).b(how as u64),
        };
        env.trace.cause = env.emit(over.a(written.ticket.number));
        let late = Late::Written(written, env.trace.cause);
        match self.status {
            Status::Up if self.is_slow() => self.queue_up(env, me, late),
            Status::Up => self.take(env, me, late),
            Status::Paused => self.late.push(late),
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
            self.time_came(env, me);
        }
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
        if self.status == Status::Up {
            self.time_came(env, me);
        }
        self.tell_belief(env, me);
        changed
    }

    /// The disk is as named from now on, and honest. False when it was.
    pub(crate) fn mend(&mut self, env: &Env, takes: Takes) -> bool {
        let mended = self.disk.mend(takes);
        if mended {
            self.by.disk = env.act;
        }
        mended
    }

    /// Why its machine would not begin that change of who takes part at a true time; nothing when it would.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn refuses_change(
        &self,
        now: u64,
        voters: &[u16],
        learners: &[u16],
    ) -> Option<ChangeRefused> {
        let machine = self.machine.as_ref()?;
        machine.refuses_change(self.clock.reads(now), voters, learners)
    }

    /// The machine, to be asked for its news.
    #[cfg(feature = "peers")]
    pub(crate) const fn machine_mut(&mut self) -> Option<&mut M> {
        self.machine.as_mut()
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
    pub const fn disk(&self) -> &Disk<Shelf<M::Stored>> {
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

    /// How much came while it was frozen or busy, and waits.
    #[must_use]
    pub fn late(&self) -> usize {
        self.late.len()
    }

    /// How long it takes for each thing that comes; 0 when that is no time.
    #[must_use]
    pub const fn takes(&self) -> u64 {
        self.takes
    }
}
