//! The session of a node: opened, kept, and lost only when a server says that it is over.
//!
//! What a node may believe of it counts from the send of what was acknowledged (LS-R1), in the time that was negotiated,
//! whatever becomes of the connection. And only from what ZooKeeper's *leader* knows, which alone decides when a session is
//! over: a server that answers a read, a ping, or even a write tells it of that with its next sign of life, half a tick later,
//! or never when it dies before. What it told goes the same way as the writes it passes on, in order. So each write proves the
//! one before it, if that was answered a tick before this one was sent.

use super::api::SessionId;
use crate::lease::{MAX_TTL, Timing};
use crate::random::Random;
use crate::{Duration, Instant};
use core::hash::{Hash, Hasher};

/// What a session needs now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Connect,
    KeepAlive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    /// It is to be opened.
    Wanted,
    /// It is open, or was last.
    Live,
    /// It is open, and there is no connection.
    Suspended,
    /// There is none, or it is left.
    Left,
}

/// The latest session of a node.
#[derive(Clone, Debug)]
pub(super) struct Session {
    id: SessionId,
    /// Until when the node may believe that ZooKeeper's leader has it.
    until: Instant,
    /// When the last write was sent that did not come too soon after another; of one that is wanted, since when it is.
    wrote: Instant,
    /// How many milliseconds later it was answered, begun ones included.
    answered: u16,
    /// When to ask next, [`Instant::FOREVER`] while an answer is waited for; of one that is left, when it is over at the
    /// latest.
    ask_at: Instant,
    /// How many milliseconds it lasts without a sign of life, as was negotiated.
    ttl: u32,
    state: State,
}

impl Session {
    /// None.
    pub(super) const fn none() -> Self {
        Self {
            id: SessionId::NONE,
            until: Instant::ZERO,
            wrote: Instant::ZERO,
            answered: 0,
            ask_at: Instant::FOREVER,
            ttl: 0,
            state: State::Left,
        }
    }

    /// Another one is wanted from now on.
    pub(super) const fn begin(&mut self, now: Instant) {
        *self = Self {
            wrote: now,
            ask_at: now,
            state: State::Wanted,
            ..Self::none()
        };
    }

    /// It is given up: closed, or over by itself after so long.
    pub(super) fn leave(&mut self, now: Instant, timing: &Timing) {
        self.state = State::Left;
        self.ask_at = now + timing.surely_over(self.ttl().max(timing.ttl));
    }

    /// Whether it was given up, and is over by itself.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.state == State::Left && self.ask_at <= now
    }

    pub(super) const fn id(&self) -> SessionId {
        self.id
    }

    pub(super) const fn ttl(&self) -> Duration {
        Duration::from_millis(self.ttl as u64)
    }

    /// Until when the node may believe in it; long past when that is not known.
    pub(super) const fn until(&self) -> Instant {
        self.until
    }

    /// Whether there is one to ask by.
    pub(super) const fn is_open(&self) -> bool {
        matches!(self.state, State::Live | State::Suspended)
    }

    pub(super) const fn is_suspended(&self) -> bool {
        matches!(self.state, State::Suspended)
    }

    pub(super) const fn is_wanted(&self) -> bool {
        matches!(self.state, State::Wanted)
    }

    /// When it has to be looked at. `written`: whether it is kept by writes.
    pub(super) const fn due(&self, written: bool) -> Instant {
        if self.is_open() && !written {
            Instant::FOREVER
        } else {
            self.ask_at
        }
    }

    /// What it needs now. `waits`: whether an answer of it is waited for.
    pub(super) fn need(
        &mut self,
        now: Instant,
        (waits, written): (bool, bool),
        timing: &Timing,
        random: &mut Random,
    ) -> Option<Need> {
        let need = match self.state {
            State::Wanted => Need::Connect,
            State::Live | State::Suspended if written => Need::KeepAlive,
            _ => return None,
        };
        if self.ask_at == Instant::FOREVER && !waits {
            self.ask_at = now + timing.retry_pause(random);
        }
        if self.ask_at > now {
            return None;
        }
        self.ask_at = Instant::FOREVER;
        (!waits).then_some(need)
    }

    /// Since when it is wanted, while it is: a handle that is asked for again may have begun it before.
    pub(super) const fn wanted_since(&self) -> Instant {
        self.wrote
    }

    /// It was opened: ZooKeeper's leader itself began it, no earlier than `from`. The first write is what the next proves.
    pub(super) fn opened(&mut self, id: SessionId, from: Instant, timing: &Timing) {
        *self = Self {
            id,
            until: from + timing.belief(timing.ttl),
            ask_at: from + timing.renew.scaled_down(9, 10),
            ttl: (timing.ttl.as_micros() / 1_000) as u32,
            state: State::Live,
            ..Self::none()
        };
    }

    /// A write went through: remembered, to be proven by the next, unless its answer took longer than can be told.
    fn note(&mut self, sent: Instant, now: Instant) {
        let millis = now.since(sent).as_micros().div_ceil(1_000);
        if let Ok(answered) = u16::try_from(millis) {
            (self.wrote, self.answered) = (sent, answered);
        }
    }

    /// The connection is there, or is not.
    pub(super) fn connected(&mut self, now: Instant, connected: bool) {
        if self.is_open() {
            self.state = if connected {
                State::Live
            } else {
                State::Suspended
            };
        }
        if connected {
            self.hurry(now);
        }
    }

    /// A write went through that was sent then: it proves the one before it, if that was answered `tick` before.
    pub(super) fn wrote(
        &mut self,
        (sent, now): (Instant, Instant),
        tick: Duration,
        timing: &Timing,
        random: &mut Random,
    ) {
        let answered = self.wrote + Duration::from_millis(self.answered.into());
        if answered + tick <= sent {
            let proven = self.wrote;
            self.note(sent, now);
            self.believe(proven, timing);
        }
        self.ask_again(sent, timing, random);
    }

    /// The leader began it anew, no earlier than then.
    pub(super) fn believe(&mut self, from: Instant, timing: &Timing) {
        self.until = self.until.max(from + timing.belief(self.ttl()));
    }

    /// It is kept again a while after what was sent then.
    pub(super) fn ask_again(&mut self, sent: Instant, timing: &Timing, random: &mut Random) {
        let next = sent + timing.renew_pause(random);
        if self.ask_at == Instant::FOREVER || next > self.ask_at {
            self.ask_at = next;
        }
    }

    /// It is kept now, unless it just is.
    pub(super) fn hurry(&mut self, now: Instant) {
        if self.ask_at != Instant::FOREVER {
            self.ask_at = now;
        }
    }

    /// An answer that keeps it is late: it is asked for again at once.
    pub(super) fn late(&mut self, now: Instant) {
        if self.is_open() {
            self.ask_at = now;
        }
    }

    /// Which session it is says nothing; what is known of it does.
    pub(super) fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        let ask = self.ask_at.ahead_of(now);
        let wrote = (now.since(self.wrote), self.answered);
        (self.until.since(now), wrote, ask, self.ttl, self.state).hash(hasher);
    }
}

/// What counts of a timeout: whole milliseconds, as ZooKeeper counts them, and no more than is no mistake in the unit.
pub(super) fn bounded(timeout: Duration) -> Duration {
    let millis = timeout.min(MAX_TTL).as_micros() / 1_000;
    Duration::from_millis(millis)
}
