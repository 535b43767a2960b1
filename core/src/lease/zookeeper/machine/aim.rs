//! What a node can be about, what it can ask for, and how it comes from one to the next.

use super::ZooKeeper;
use crate::Instant;
use crate::lease::Rules;
use crate::lease::zookeeper::api::Path;
use crate::lease::zookeeper::client::{self, Rest};

/// What it can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Connect,
    /// Writes the own node.
    KeepAlive,
    /// Creates so many parts of the parent.
    Parent(u8),
    /// Creates the own node.
    Create,
    /// Looks at the children; `true`: and watches them.
    List(bool),
    /// Looks at the own node.
    Own(bool),
    /// Looks at the node before the own one.
    Before(bool),
    /// Looks at the node of who leads.
    Head(bool),
    /// Deletes the own node, or one that a former session of this node left.
    Delete,
    Close,
}

impl client::Kind for Kind {
    const CONNECT: Self = Self::Connect;
    const KEEP_ALIVE: Self = Self::KeepAlive;

    fn watches(self) -> bool {
        matches!(
            self,
            Self::List(true) | Self::Own(true) | Self::Before(true) | Self::Head(true)
        )
    }
}

/// What the node is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Aim {
    /// Looks who leads, and does not want to lead for a while, or for good.
    Observe,
    /// Looks for a node of its own, of an attempt in doubt or of a former session.
    Find,
    /// Creates so many parts of the parent.
    Prepare(u8),
    /// Creates its node.
    Enter,
    /// Waits for its turn.
    Wait(Spot),
    /// Leads.
    Hold,
    /// Gives up its node, and then its session; and then does not want to lead for a while.
    Leave(Rest),
}

/// Where in the queue the own node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Spot {
    Unknown,
    First,
    Behind,
}

impl<R: Rules> ZooKeeper<R> {
    /// Wants a session.
    pub(super) fn connect(&mut self, now: Instant) {
        self.forget();
        self.client.connect(now);
    }

    /// Knows of no node of its own, and of none before it.
    pub(super) fn forget(&mut self) {
        self.client.begin_anew();
        self.own = None;
        self.before = None;
        self.version = 0;
        self.again = false;
    }

    /// Wants to lead.
    pub(super) fn want(&mut self, now: Instant) {
        if self.budget().is_ok() {
            self.find(now);
        } else {
            // In this session it cannot; in another it may.
            self.leave(now, Rest::Long);
        }
    }

    /// Looks for a node of its own.
    pub(super) fn find(&mut self, now: Instant) {
        self.forget();
        self.turn(now, Aim::Find);
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
            Aim::Find
        };
        self.connect(now);
    }

    /// Its own node is there.
    pub(super) fn enter(&mut self, now: Instant, own: Path) {
        self.forget();
        self.own = Some(own);
        self.look(now, Spot::Unknown);
    }

    /// Looks at once where in the queue it is, or who is there.
    pub(super) fn look(&mut self, now: Instant, spot: Spot) {
        self.turn(now, Aim::Wait(spot));
    }
}
