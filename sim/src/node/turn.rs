//! What waits for the process: for its return while it is frozen, for its turn while it is slow.
//!
//! A slow process is like one that gets little of a processor: it takes so long for each message, each reply of its disk
//! and each deadline, one after another in the order in which they came, and the machine sees the time at which its turn
//! comes (C2). Only what an operator asks of it is done at once.

use super::{Node, Status, lose};
use crate::packet::Packet;
use crate::physics::NEVER;
use crate::physics::disk::Written;
use crate::physics::network::Flight;
use crate::physics::trace::Loss;
use crate::scheme::{Answer, Hosted};
use crate::world::env::{Due, Env};
use tenure::Input;

/// How many messages and replies wait for a process at most, as in the buffers of its system.
const BUFFER: usize = 1 << 16;

/// Something that waits.
#[derive(Clone, Debug)]
pub(super) enum Late {
    Message(Flight<Packet>),
    /// A reply of the disk, and the event it is caused by.
    Written(Written, i64),
    /// A deadline.
    Time,
    /// A write that was thought about.
    Thought,
    /// The connection to another node ended, or stands again.
    Connection(usize, bool),
}

impl<M: Hosted> Node<M> {
    /// The process takes so long for each thing from now on; 0 ends that. False when it did.
    pub(crate) fn set_takes(&mut self, env: &mut Env, me: usize, takes: u64) -> bool {
        if self.takes == takes {
            return false;
        }
        self.takes = takes;
        self.by.slow = env.act;
        if takes == 0 && self.status == Status::Up {
            self.turn_at = NEVER;
            for late in std::mem::take(&mut self.late) {
                env.shown(&mut self.by.slow);
                self.take(env, me, late);
            }
        }
        true
    }

    /// Whether what comes has to wait its turn.
    pub(super) const fn is_slow(&self) -> bool {
        self.takes > 0
    }

    pub(super) fn queue_up(&mut self, env: &mut Env, me: usize, late: Late) {
        self.late.push(late);
        self.wait_for_turn(env, me);
    }

    /// A message waits, if there is room for it.
    pub(super) fn keep(&mut self, env: &mut Env, me: usize, flight: Flight<Packet>) {
        if self.late.len() < BUFFER {
            self.late.push(Late::Message(flight));
        } else {
            lose(env, me, &flight, Loss::BufferFull);
        }
    }

    pub(super) fn wait_for_turn(&mut self, env: &mut Env, me: usize) {
        if self.turn_at == NEVER {
            self.begin_turn(env, me);
        }
    }

    /// The next that waits is begun with.
    pub(super) fn begin_turn(&mut self, env: &mut Env, me: usize) {
        if !self.late.is_empty() {
            self.turn_at = env.now.saturating_add(self.takes);
            env.queue.push(self.turn_at, Due::Served(me as u16));
        }
    }

    /// A slow process is done with what came first.
    pub(crate) fn served(&mut self, env: &mut Env, me: usize) {
        if self.turn_at != env.now {
            return;
        }
        self.turn_at = NEVER;
        if !self.late.is_empty() {
            env.shown(&mut self.by.slow);
            // Mostly few: moving the rest up costs little.
            let first = self.late.remove(0);
            self.take(env, me, first);
        }
        self.begin_turn(env, me);
    }

    /// A deadline came, or the clock was changed.
    pub(super) fn time_came(&mut self, env: &mut Env, me: usize) {
        if !self.is_slow() {
            self.look_at_the_time(env, me);
        } else if !self.looks {
            self.looks = true;
            self.queue_up(env, me, Late::Time);
        }
    }

    /// Its turn has come.
    pub(super) fn take(&mut self, env: &mut Env, me: usize, late: Late) {
        match late {
            Late::Message(flight) => self.deliver(env, me, flight),
            Late::Written(written, cause) => {
                env.trace.cause = cause;
                let answer = written.answer.map(|()| Answer::Written);
                self.feed(env, me, Input::Reply(written.ticket, answer));
            }
            Late::Time => {
                self.looks = false;
                env.trace.cause = -1;
                self.look_at_the_time(env, me);
                // A process that was frozen while it was slow: its work goes on once it has looked.
                self.thaw_work(env, me);
            }
            Late::Thought => {
                env.trace.cause = -1;
                self.write_what_was_thought(env, me);
            }
            Late::Connection(peer, stands) => {
                env.trace.cause = -1;
                self.hear_of_connection(env, me, peer, stands);
            }
        }
    }
}
