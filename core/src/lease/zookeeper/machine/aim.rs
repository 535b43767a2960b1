//! What a node can be about, what it can ask for, and how it comes from one to the next.

use super::ZooKeeper;
use crate::Instant;
use crate::lease::Rules;
use crate::lease::zookeeper::api::Path;

/// What a request was for, and of which of the node's places: what was asked for one is not answered for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    pub(super) kind: Kind,
    pub(super) place: u16,
}

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

/// For how long a node does not want to lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Rest {
    None,
    /// So that not all come back at once.
    Briefly,
    /// As long as a session: somebody else comes first.
    Long,
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
        self.session.begin(now);
        self.forget();
        self.next = Instant::FOREVER;
    }

    /// Knows of no node of its own, and of none before it.
    pub(super) fn forget(&mut self) {
        self.place = self.place.wrapping_add(1);
        self.own = None;
        self.before = None;
        self.watch = 0;
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
        self.aim = Aim::Find;
        self.next = now;
    }

    /// Gives up node and session, and then does not want to lead for a while.
    pub(super) fn leave(&mut self, now: Instant, rest: Rest) {
        let timing = self.timing();
        if !self.session.is_open() {
            return self.stand_back(now, rest);
        }
        self.session.leave(now, &timing);
        self.watch = 0;
        self.aim = Aim::Leave(rest);
        self.next = now;
    }

    /// They were given up.
    pub(super) fn stand_back(&mut self, now: Instant, rest: Rest) {
        let timing = self.config.common.timing;
        self.rests = match rest {
            _ if !self.config.common.candidate => Instant::FOREVER,
            Rest::None => now,
            Rest::Briefly => now + self.random.duration(timing.retry, timing.renew),
            Rest::Long => now + timing.ttl,
        };
        self.aim = if self.rests > now {
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
        self.aim = Aim::Wait(spot);
        self.next = now;
    }

    pub(super) fn look_later(&mut self, now: Instant) {
        let timing = self.timing();
        self.next = now + timing.renew_pause(&mut self.random);
    }
}
