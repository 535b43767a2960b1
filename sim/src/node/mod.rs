//! A node: a machine, its disk, its clock, and the process they run in.
//!
//! Generic over the scheme. This is a host as the core's contract asks for one: it hands inputs over with the node's own
//! time, drains the outputs, and calls again at the deadline.

mod host;
mod jobs;
mod service;

use crate::app::App;
use crate::check::Fact;
use crate::fault::{Action, Damage};
use crate::packet::Packet;
use crate::physics::NEVER;
use crate::physics::clock::Clock;
use crate::physics::disk::{Disk, Written};
use crate::physics::network::Flight;
use crate::physics::trace::{Event, Kind, Loss, Lost};
use crate::scheme::{Look, RoleCode, Scheme};
use crate::world::env::{Env, message_event};
use tenure::Input;

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
    /// What was done to its disk and clock, as bits by the kind of action, until it is shown to matter.
    touched: u32,
}

/// Something that came while the process was frozen.
#[derive(Clone, Copy, Debug)]
enum Late {
    Message(Flight<Packet>),
    Written(Written),
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
            touched: 0,
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
        self.matters(env, Action::WIPE);
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
    #[cfg_attr(target_family = "wasm", inline(never))]
    pub(crate) fn crash(&mut self, env: &mut Env, me: usize) -> bool {
        if self.status == Status::Crashed {
            return false;
        }
        env.trace.cause = env.emit(Event::new(Kind::Crash, me));
        if matches!(self.look.role, RoleCode::Elected | RoleCode::Established) {
            env.counts.depositions += 1;
            env.notice(Action::CRASH);
            env.emit(Event::new(Kind::Deposed, me).term(self.look.term).a(4));
        }
        let answered = self.disk.crash(|ticket| {
            env.notice(Action::CRASH);
            env.trace
                .emit(env.now, Event::new(Kind::PersistLost, me).a(ticket.number));
        });
        if let Some(ticket) = answered {
            env.notice(Action::LIE);
            let lost = Event::new(Kind::PersistLost, me).b(Lost::Answered as u64);
            env.emit(lost.a(ticket.number));
        }
        for late in std::mem::take(&mut self.late) {
            if let Late::Message(flight) = late {
                let lost = message_event(Kind::Lose, flight.from as usize, me, &flight.payload);
                env.emit(lost.b(Loss::ReceiverDown as u64));
                env.unheard(flight.from as usize, &flight.payload);
            }
        }
        self.machine = None;
        self.freeze_work(env, me);
        self.app = App::default();
        self.status = Status::Crashed;
        self.wake_at = NEVER;
        self.froze_leading = false;
        self.look_at_the_disk();
        self.tell_belief(env, me);
        true
    }

    /// The disk is damaged. False when it was already.
    pub(crate) fn damage(&mut self, env: &mut Env, me: usize, damage: Damage) -> bool {
        match damage {
            Damage::Wipe => self.wipe(env, me),
            Damage::Lie => !std::mem::replace(&mut self.disk.lies, true),
            Damage::Fail => !std::mem::replace(&mut self.disk.fails, true),
        }
    }

    /// The process dies, if it is there, and its disk is empty. False when both were so.
    fn wipe(&mut self, env: &mut Env, me: usize) -> bool {
        let died = self.crash(env, me);
        let wiped = self.disk.wipe();
        if wiped {
            self.touched |= Action::WIPE;
            env.emit(Event::new(Kind::PersistLost, me).b(Lost::Wiped as u64));
        }
        self.look_at_the_disk();
        died || wiped
    }

    /// A process that is not there shows what its disk holds.
    #[cfg_attr(target_family = "wasm", inline(never))]
    fn look_at_the_disk(&mut self) {
        let recorded = self.disk.durable().map(M::recorded).unwrap_or_default();
        self.look = Look {
            term: recorded.term,
            vote: recorded.vote,
            ..AT_REST
        };
    }

    /// The process freezes. False when it does not run.
    #[cfg_attr(target_family = "wasm", inline(never))]
    pub(crate) fn pause(&mut self, env: &mut Env, me: usize) -> bool {
        if self.status != Status::Up {
            return false;
        }
        env.trace.cause = env.emit(Event::new(Kind::Pause, me));
        self.froze_leading = self.leading(env).is_some();
        self.status = Status::Paused;
        self.freeze_work(env, me);
        self.tell_belief(env, me);
        true
    }

    /// The frozen process goes on. It does first what it was about to do, then reads what came, then looks at the time.
    /// False when it was not frozen.
    #[cfg_attr(target_family = "wasm", inline(never))]
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
                Late::Message(flight) => self.deliver(env, me, &flight),
                Late::Written((ticket, result)) => self.feed(env, me, Input::Reply(ticket, result)),
            }
        }
        env.trace.cause = resumed;
        self.look_at_the_time(env, me);
        self.tell_belief(env, me);
        self.thaw_work(env, me);
        true
    }

    /// A wish of whoever runs the node. False when nothing came of it.
    pub(crate) fn wish(&mut self, env: &mut Env, me: usize, wish: Input<M::Peer, ()>) -> bool {
        if self.status != Status::Up {
            return false;
        }
        env.hear(Fact::Wished);
        let before = (self.look, env.net.sent());
        self.feed(env, me, wish);
        before != (self.look, env.net.sent())
    }

    /// A message has come.
    pub(crate) fn arrive(&mut self, env: &mut Env, me: usize, flight: &Flight<Packet>) {
        match self.status {
            Status::Up => self.deliver(env, me, flight),
            Status::Paused => {
                env.notice(Action::PAUSE);
                self.late.push(Late::Message(*flight));
            }
            Status::Crashed => {
                env.notice(Action::CRASH);
                let lost = message_event(Kind::Lose, flight.from as usize, me, &flight.payload);
                env.emit(lost.b(Loss::ReceiverDown as u64));
                env.unheard(flight.from as usize, &flight.payload);
            }
        }
    }

    /// The disk is done with its oldest write, if no crash undid it.
    pub(crate) fn written(&mut self, env: &mut Env, me: usize, era: u32) {
        let Some(written) = self.disk.done(era) else {
            return;
        };
        let (ticket, result) = written;
        let over = match result {
            Ok(()) => Event::new(Kind::Persisted, me),
            Err(_) => {
                env.notice(Action::FAIL);
                Event::new(Kind::PersistLost, me).b(Lost::Failed as u64)
            }
        };
        env.trace.cause = env.emit(over.a(ticket.number));
        match self.status {
            Status::Up => self.feed(env, me, Input::Reply(ticket, result)),
            Status::Paused => self.late.push(Late::Written(written)),
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

    /// The clock runs at another pace from now on, and jumps. False when it does neither.
    #[cfg_attr(target_family = "wasm", inline(never))]
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
            self.touched |= Action::CLOCK;
        }
        if self.status == Status::Up {
            self.look_at_the_time(env, me);
        }
        self.tell_belief(env, me);
        changed
    }

    /// The disk is as named from now on, and honest. False when it was.
    pub(crate) fn mend(&mut self, takes: u64) -> bool {
        let mended = self.disk.mend(takes);
        if mended {
            self.touched |= Action::DISK;
        }
        mended
    }

    /// What was done to it in this way, if it was, is shown now.
    pub(super) const fn matters(&mut self, env: &mut Env, kind: u32) {
        env.notice(self.touched & kind);
        self.touched &= !kind;
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
}
