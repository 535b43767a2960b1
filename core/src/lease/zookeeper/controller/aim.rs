//! What a node can be about, what it can ask for, and how it comes from one to the next.

use super::{Controller, Known};
use crate::Instant;
use crate::lease::Rules;
use crate::lease::zookeeper::client::{self, Rest};

/// What it can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Connect,
    /// Writes the own node.
    Renew,
    /// Creates so many parts of the parent.
    Parent(u8),
    /// Creates the epoch's node.
    Start,
    /// Looks at `/controller`; `true`: and watches it.
    Look(bool),
    /// Looks at the epoch.
    Epoch,
    Claim,
    /// Deletes the own node.
    Delete,
    Close,
}

impl client::Kind for Kind {
    const CONNECT: Self = Self::Connect;
    const KEEP_ALIVE: Self = Self::Renew;

    fn watches(self) -> bool {
        self == Self::Look(true)
    }
}

/// What the node is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Aim {
    /// Looks who is elected, and does not want to be for a while, or for good.
    Observe,
    /// Looks whether anybody is (KZ-1), and waits while somebody is.
    Wait,
    /// Somebody is: looks in which epoch, then whether it is the same who is, and then does as before.
    Learn,
    /// Nobody is: looks at the epoch (KZ-2).
    Read,
    /// Creates so many parts of the parent.
    Prepare(u8),
    /// Creates the epoch's node.
    Start,
    /// Claims the epoch after the one it read.
    Claim,
    /// Its claim may have been carried out, or not (KZ-4): looks whose `/controller` is.
    Doubt,
    /// It is its own: looks whether the epoch is the one it claimed.
    Confirm,
    /// Its node is there, in its epoch; waits until its session is known to go on.
    Won,
    /// Leads.
    Hold,
    /// Gives up its node, and then its session; and then does not want to lead for a while.
    Leave(Rest),
}

impl<R: Rules> Controller<R> {
    /// Wants a session.
    pub(super) fn connect(&mut self, now: Instant) {
        self.forget();
        // What another session reads may be older than what this one did.
        self.known = Known::default();
        self.client.connect(now);
    }

    /// Begins another attempt, of which nothing is known yet.
    pub(super) const fn forget(&mut self) {
        self.client.begin_anew();
        self.claimed = 0;
        self.version = 0;
    }

    /// Wants to lead: KZ-1.
    pub(super) fn want(&mut self, now: Instant) {
        if self.budget().is_ok() {
            self.again(now);
        } else {
            // In this session it cannot; in another it may.
            self.leave(now, Rest::Long);
        }
    }

    /// Somebody else is elected.
    pub(super) fn wait(&mut self, now: Instant) {
        let rests = self.client.rests != Instant::FOREVER && self.client.rests > now;
        self.aim = if rests || !self.client.config.common.candidate {
            Aim::Observe
        } else {
            Aim::Wait
        };
    }

    /// Looks again whether anybody is elected.
    pub(super) fn again(&mut self, now: Instant) {
        self.forget();
        self.turn(now, Aim::Wait);
    }

    /// From now on it is about that.
    pub(super) fn turn(&mut self, now: Instant, aim: Aim) {
        self.aim = aim;
        self.client.next = now;
    }

    /// Gives up node and session, and then does not want to lead for a while.
    pub(super) fn leave(&mut self, now: Instant, rest: Rest) {
        if self.client.leave(now) {
            self.turn(now, Aim::Leave(rest));
        } else {
            self.stand_back(now, rest);
        }
    }

    /// They were given up.
    pub(super) fn stand_back(&mut self, now: Instant, rest: Rest) {
        self.aim = if self.client.rest(now, rest) {
            Aim::Observe
        } else {
            Aim::Wait
        };
        self.connect(now);
    }
}
