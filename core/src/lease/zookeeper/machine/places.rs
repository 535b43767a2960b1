//! What comes of a list of candidates: who leads, whether one of them is the own, and who is before it.

use super::ZooKeeper;
use super::aim::{Aim, Kind, Spot};
use crate::Instant;
use crate::lease::refuse::Refusal;
use crate::lease::zookeeper::api::Path;
use crate::lease::zookeeper::client::Rest;
use crate::lease::zookeeper::queue::{self, MAX_CANDIDATES, Sequence};
use crate::lease::{Rule, Rules};
use core::cmp::Ordering;

impl<R: Rules> ZooKeeper<R> {
    /// Nobody is there.
    pub(super) fn vacant(&mut self, now: Instant) {
        self.head = None;
        self.follow(now, None);
        self.client.look_later(now);
    }

    /// Who is there.
    pub(super) fn listed(&mut self, now: Instant, names: &[Path]) {
        if names.len() > MAX_CANDIDATES {
            self.client.refusals.add(Refusal::TooLong);
            return;
        }
        match self.aim {
            Aim::Observe => self.saw_all(now, names),
            Aim::Find => self.sought(now, names),
            Aim::Wait(_) => self.saw_queue(now, names),
            _ => {}
        }
    }

    fn saw_all(&mut self, now: Instant, names: &[Path]) {
        match first(names, |_| true) {
            Some(head) => {
                self.client.unwatch();
                self.head = Some(queue::child(&self.client.config.parent, head));
                self.client.next = now;
            }
            None => self.vacant(now),
        }
    }

    /// Is one of them a node of its own?
    fn sought(&mut self, now: Instant, names: &[Path]) {
        let guid = self.guid();
        self.client.next = now;
        match first(names, |name| queue::is_of(name, guid)) {
            Some(own) => {
                let own = queue::child(&self.client.config.parent, own);
                if self.client.rules.keeps(Rule::RecheckOwnRecord) {
                    // Of which session, it says itself.
                    self.own = Some(own);
                } else {
                    self.enter(now, own);
                }
            }
            None => self.aim = Aim::Enter,
        }
    }

    /// Where in the queue it is.
    fn saw_queue(&mut self, now: Instant, names: &[Path]) {
        let own = queue::name(self.own.as_deref().unwrap_or_default());
        let mine = queue::sequence(own);
        let (Some(mine), true) = (mine, names.iter().any(|name| **name == *own)) else {
            self.lost(now);
            return;
        };
        let before = |name: &str| {
            let number = queue::sequence(name)?;
            (number.against(mine) == Ordering::Less).then_some(number)
        };
        let twin = |name: &Path| **name != *own && queue::sequence(name) == Some(mine);
        if names.iter().any(twin) {
            // The numbers are used up.
            self.leave(now, Rest::Briefly);
            return;
        }
        let last = names
            .iter()
            .filter_map(|name| Some((name, before(name)?)))
            .reduce(|last, next| {
                if next.1.against(last.1) == Ordering::Greater {
                    next
                } else {
                    last
                }
            });
        let Some((last, _)) = last else {
            self.before = None;
            self.client.unwatch();
            self.look(now, Spot::First);
            return;
        };
        if queue::name(self.before.as_deref().unwrap_or_default()) != &**last {
            self.before = Some(queue::child(&self.client.config.parent, last));
            self.client.unwatch();
        }
        let parent = &self.client.config.parent;
        self.head = match first(names, |name| before(name).is_some()) {
            Some(head) if head != last => Some(queue::child(parent, head)),
            _ => self.before.clone(),
        };
        self.look(now, Spot::Behind);
        if queue::is_of(last, self.guid()) {
            // Left by a former session of this node, or by an attempt in doubt: it is in nobody's place.
            self.client.ask(now, Kind::Delete);
        }
    }
}

/// The first of those candidates of which that is so.
fn first<'n>(names: &'n [Path], which: impl Fn(&str) -> bool) -> Option<&'n Path> {
    let number =
        |name: &'n Path| -> Option<(&'n Path, Sequence)> { Some((name, queue::sequence(name)?)) };
    let all = names.iter().filter(|name| which(name)).filter_map(number);
    let first = all.reduce(|first, next| {
        if next.1.against(first.1) == Ordering::Less {
            next
        } else {
            first
        }
    });
    first.map(|(name, _)| name)
}
