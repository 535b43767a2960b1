//! The lease of a candidate: granted, kept alive, and lost only when the store says that it is over.
//!
//! What a node may believe of it counts from the send of what was acknowledged last (LS-R1), whatever becomes of streams and
//! connections (LS-15). It is asked for whenever its time has come, whoever else is silent (LS-16).

use super::api::LeaseId;
use crate::lease::{MAX_TTL, Timing};
use crate::random::Random;
use crate::{Duration, Instant};
use core::hash::{Hash, Hasher};

/// What a session needs now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Grant,
    KeepAlive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    /// It is to be granted.
    Wanted,
    /// It may have been granted: then it is the own one (LS-R4).
    Doubtful,
    /// The store has it, or had it last.
    Live,
    /// It is not kept alive: there is none, or it is left.
    Left,
}

/// The lease of a node, of all it had the latest.
#[derive(Clone, Debug)]
pub(super) struct Session {
    lease: LeaseId,
    /// Until when the node may believe that the store has it.
    until: Instant,
    /// When to ask next, [`Instant::FOREVER`] while an answer is waited for; of one that is left, when it is over for the
    /// store at the latest.
    ask_at: Instant,
    /// How many seconds it lasts in the store, as was said last.
    ttl: u32,
    /// Which of the node's it is: what was asked for one is not answered for another.
    number: u16,
    state: State,
}

impl Session {
    /// None.
    pub(super) const fn none() -> Self {
        Self::left(LeaseId::NONE)
    }

    /// One that is not kept alive, such as that of a former life.
    pub(super) const fn left(lease: LeaseId) -> Self {
        Self {
            lease,
            until: Instant::ZERO,
            ask_at: Instant::FOREVER,
            ttl: 0,
            number: 0,
            state: State::Left,
        }
    }

    /// Another one is wanted from now on.
    pub(super) fn begin(&mut self, now: Instant, random: &mut Random) {
        *self = Self {
            // Any number above 0: etcd's are signed.
            lease: LeaseId(((random.bits() >> 1) as i64).max(1)),
            until: Instant::ZERO,
            ask_at: now,
            ttl: 0,
            number: self.number.wrapping_add(1),
            state: State::Wanted,
        };
    }

    /// It is not kept alive any more (LS-19), and ends by itself.
    pub(super) fn leave(&mut self, now: Instant, timing: &Timing) {
        let ttl = self.ttl().max(timing.ttl);
        self.state = State::Left;
        self.ask_at = now + timing.surely_over(ttl);
    }

    /// It is given up.
    pub(super) const fn forget(&mut self) {
        self.ask_at = Instant::FOREVER;
    }

    /// Whether it has ended by itself.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.state == State::Left && self.ask_at <= now
    }

    pub(super) const fn lease(&self) -> LeaseId {
        self.lease
    }

    /// How long it lasts in the store; zero when that was not said.
    pub(super) const fn ttl(&self) -> Duration {
        Duration::from_secs(self.ttl as u64)
    }

    pub(super) const fn number(&self) -> u16 {
        self.number
    }

    /// Until when the node may believe that the store has it; long past when that is not known.
    pub(super) const fn until(&self) -> Instant {
        self.until
    }

    /// Whether a key can be put under it.
    pub(super) fn is_live(&self) -> bool {
        self.state == State::Live
    }

    /// Whether the node has one or wants one.
    pub(super) fn is_kept(&self) -> bool {
        self.state != State::Left
    }

    /// When it has to be looked at.
    pub(super) const fn due(&self) -> Instant {
        self.ask_at
    }

    /// What it needs now. `waits`: whether an answer of it is waited for.
    pub(super) fn need(
        &mut self,
        now: Instant,
        waits: bool,
        timing: &Timing,
        random: &mut Random,
    ) -> Option<Need> {
        let need = match self.state {
            State::Wanted | State::Doubtful => Need::Grant,
            State::Live => Need::KeepAlive,
            State::Left => return None,
        };
        if self.ask_at == Instant::FOREVER && !waits {
            self.ask_at = now + timing.retry_pause(random);
        }
        if self.ask_at > now {
            return None;
        }
        self.ask_at = Instant::FOREVER;
        Some(need)
    }

    /// A grant may or may not have been.
    pub(super) fn doubt(&mut self) {
        if self.state == State::Wanted {
            self.state = State::Doubtful;
        }
    }

    /// There is a lease of this number: it is the own one if a grant was in doubt, and is renewed before it counts. False
    /// when it is another's.
    pub(super) fn exists(&mut self, now: Instant) -> bool {
        if self.state == State::Doubtful {
            self.state = State::Live;
            self.ask_at = now;
        }
        self.state == State::Live
    }

    /// It was granted, or kept alive, by a request that counts from `from` on.
    pub(super) fn acknowledged(
        &mut self,
        from: Instant,
        ttl: Duration,
        timing: &Timing,
        random: &mut Random,
    ) {
        if self.state == State::Left {
            return;
        }
        let ttl = ttl.min(MAX_TTL);
        let until = from + timing.belief(ttl);
        // An answer that comes after that of a later request is no news (LS-R2).
        if self.state != State::Live || until > self.until {
            self.state = State::Live;
            self.ttl = ttl.as_micros().div_ceil(1_000_000) as u32;
            self.until = until.max(self.until);
            let pause = timing.renew_pause(random).min(ttl.scaled_down(1, 3));
            self.ask_at = from + pause;
        }
    }

    /// It is renewed now, unless it just is.
    pub(super) fn hurry(&mut self, now: Instant) {
        if self.ask_at != Instant::FOREVER {
            self.ask_at = now;
        }
    }

    /// Which lease it is says nothing; what is known of it does.
    pub(super) fn fingerprint<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        let ask = self.ask_at.ahead_of(now);
        (self.until.since(now), ask, self.ttl, self.state).hash(hasher);
    }
}
