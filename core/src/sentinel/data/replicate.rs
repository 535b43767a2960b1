//! How writes come from a master to its replicas: later, or never.
//!
//! A master sends each write as it is made. Once a second a replica tells what it has; the master answers with what is missing
//! if what the replica has is a part of its own history (a partial resync), and with everything otherwise (a full one). Either
//! way the replica ends up with a prefix of its master's history: a tail that the master does not have is thrown away.

use super::super::config::MAX_REPLICAS;
use super::{Data, History, Mark, Message, Origin};
use crate::{Duration, Instant, NodeId};
use alloc::sync::Arc;

/// How often a replica says what it has.
pub(super) const ASK: Duration = Duration::from_secs(1);

/// How a replica stands with its master.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// When the master was last heard.
    pub(super) heard: Instant,
    /// Whether what it has is known to be a part of what the master has.
    pub(super) agrees: bool,
    /// Since when the link was down that is not up; meaningless while it is up.
    pub(super) down_since: Instant,
    /// When it says next what it has.
    pub(super) ask_at: Instant,
}

impl Link {
    /// None yet.
    pub(super) const fn broken(now: Instant) -> Self {
        Self {
            heard: now,
            agrees: false,
            down_since: now,
            ask_at: now,
        }
    }
}

/// A copy of everything that is on its way.
#[derive(Clone, Debug)]
pub(super) struct Copying {
    pub(super) until: Instant,
    pub(super) history: Arc<History>,
}

/// Who follows this server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Follower {
    pub(super) node: NodeId,
    /// When it last said what it has.
    pub(super) heard: Instant,
    /// Whether that was a part of what is here.
    pub(super) agrees: bool,
}

impl Data {
    /// The replica's duties: to say what it has, and to notice that its master is gone.
    pub(super) fn keep_in_touch(&mut self) {
        let Some(master) = self.master else {
            return;
        };
        if self.link.agrees && self.now.since(self.link.heard) >= self.config.link_timeout {
            self.link.agrees = false;
            self.link.down_since = self.link.heard + self.config.link_timeout;
        }
        if self.link.ask_at > self.now || self.is_loading() {
            return;
        }
        self.link.ask_at = self.now + ASK;
        // Who was ordered to follow itself connects to itself and learns nothing.
        if self.copying.is_none() && master != self.config.id {
            let last = self.history.last();
            self.send(master, Message::Psync { last });
        }
    }

    pub(super) fn link_is_up(&self, now: Instant) -> bool {
        self.link.agrees
            && self.copying.is_none()
            && now.since(self.link.heard) < self.config.link_timeout
    }

    /// Since when the link has been down, when it is.
    pub(super) fn link_down_since(&self) -> Option<Instant> {
        (!self.link_is_up(self.now)).then_some(self.link.down_since)
    }

    pub(super) fn on_stream(
        &mut self,
        from: NodeId,
        after: Option<Mark>,
        writes: Option<(Origin, u64)>,
    ) {
        if self.master != Some(from) || self.copying.is_some() {
            return;
        }
        self.link.heard = self.now;
        // Anything else came twice or late, or something before it was lost: what it says next sets that right.
        if after != self.history.last() {
            return;
        }
        self.link.agrees = true;
        if let Some((origin, count)) = writes
            && self.history.append(origin, count)
        {
            self.spread(after, origin, count);
        }
    }

    pub(super) fn on_full(&mut self, from: NodeId, history: Arc<History>) {
        if self.master != Some(from) || self.copying.is_some() {
            return;
        }
        self.link.heard = self.now;
        if self.link.agrees {
            self.link.agrees = false;
            self.link.down_since = self.now;
        }
        self.copying = Some(Copying {
            until: self.now + self.config.full_sync,
            history,
        });
        self.finish_copying();
    }

    /// A copy that is complete takes the place of all that was here.
    pub(super) fn finish_copying(&mut self) {
        if let Some(copying) = self.copying.take_if(|copying| copying.until <= self.now) {
            self.history = Arc::unwrap_or_clone(copying.history);
            self.link.agrees = true;
            self.link.heard = self.now;
            self.link.ask_at = self.now;
            // Who follows this one has to begin anew, too.
            for follower in &mut self.followers {
                follower.agrees = false;
            }
        }
    }

    pub(super) fn on_psync(&mut self, from: NodeId, last: Option<Mark>) {
        // Without data of its own to be sure of, it has none to give.
        let sure = self.master.is_none() || self.link_is_up(self.now);
        if from == self.config.id || self.is_loading() || !sure {
            return;
        }
        let agrees = last.is_none_or(|last| self.history.contains(last));
        let has = last.map_or(0, |last| last.offset);
        let lacks = self.history.len().saturating_sub(has);
        let partial = agrees && lacks <= self.config.backlog && self.covers(has);
        if !self.remember(from, partial) {
            return;
        }
        if !partial {
            let history = Arc::new(self.history.clone());
            return self.send(from, Message::Full(history));
        }
        let (mut after, mut at) = (last, has);
        loop {
            let writes = self.history.run_after(at);
            self.send(from, Message::Stream { after, writes });
            let Some((origin, count)) = writes else {
                return;
            };
            at += count;
            after = Some(Mark { origin, offset: at });
            if at == self.history.len() {
                return;
            }
        }
    }

    /// Whether it is remembered who made all the writes after `offset`.
    fn covers(&self, offset: u64) -> bool {
        offset == self.history.len() || self.history.run_after(offset).is_some()
    }

    /// Notes that a replica was heard. False when there is no room for one more.
    fn remember(&mut self, node: NodeId, agrees: bool) -> bool {
        self.forget_silent();
        let heard = self.now;
        if let Some(follower) = self.followers.iter_mut().find(|one| one.node == node) {
            (follower.heard, follower.agrees) = (heard, agrees);
            return true;
        }
        if self.followers.len() >= MAX_REPLICAS {
            return false;
        }
        self.followers.push(Follower {
            node,
            heard,
            agrees,
        });
        self.list();
        true
    }

    /// Replicas that fell silent are connected no more.
    pub(super) fn forget_silent(&mut self) {
        let (now, patience) = (self.now, self.config.link_timeout);
        let before = self.followers.len();
        (self.followers).retain(|one| now.since(one.heard) < patience);
        if self.followers.len() != before {
            self.list();
        }
    }

    pub(super) fn list(&mut self) {
        self.listed = self.followers.iter().map(|one| one.node).collect();
    }

    /// A connection was closed: that of a master, or of a replica.
    pub(super) fn on_closed(&mut self, from: NodeId) {
        if self.master == Some(from) && self.link_is_up(self.now) {
            self.link.agrees = false;
            self.link.down_since = self.now;
        }
        let before = self.followers.len();
        self.followers.retain(|one| one.node != from);
        if self.followers.len() != before {
            self.list();
        }
    }

    /// Sends writes on as they come.
    pub(super) fn spread(&mut self, after: Option<Mark>, origin: Origin, count: u64) {
        let writes = Some((origin, count));
        for place in 0..self.followers.len() {
            let follower = self.followers[place];
            if follower.agrees {
                self.send(follower.node, Message::Stream { after, writes });
            }
        }
    }

    pub(super) fn good_replicas(&self) -> usize {
        self.good_replicas_at(self.now)
    }

    /// How many replicas kept up lately.
    pub(super) fn good_replicas_at(&self, now: Instant) -> usize {
        let good =
            |one: &&super::Follower| one.agrees && now.since(one.heard) <= self.config.max_lag;
        self.followers.iter().filter(good).count()
    }
}
