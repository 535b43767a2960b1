//! What comes of an answer: what it says of the lease, of the own key and of whoever is before it.

use super::{Aim, Asked, Etcd, Kind};
use crate::lease::etcd::api::{Change, KeyValue, Reply};
use crate::lease::office::NotElected;
use crate::lease::refuse::Refusal;
use crate::lease::requests::Open;
use crate::lease::rules::counts_from;
use crate::lease::{Rule, Rules};
use crate::{Duration, Instant, Leader, Token, Unknown, Why};

impl<R: Rules> Etcd<R> {
    pub(super) fn answered(
        &mut self,
        now: Instant,
        open: Open<Asked>,
        result: Result<Reply, Unknown>,
    ) {
        if !self.is_present(open.what) {
            // Of a lease that is over.
            return;
        }
        match (open.what.kind, result) {
            (Kind::Grant, Ok(Reply::Granted(ttl))) => self.alive(now, open.sent, ttl),
            (Kind::Grant, Ok(Reply::LeaseExists)) => {
                if self.aim == Aim::Enter && !self.session.exists(now) {
                    self.session.begin(now, &mut self.random);
                }
            }
            (Kind::KeepAlive, Ok(Reply::Alive(ttl))) if ttl > Duration::ZERO => {
                self.alive(now, open.sent, ttl);
            }
            (Kind::KeepAlive, Ok(Reply::Alive(_) | Reply::LeaseNotFound))
            | (Kind::Create | Kind::Proclaim, Ok(Reply::LeaseNotFound)) => self.session_over(now),
            // What is in the store may have changed since: it is asked again.
            (Kind::Create, Ok(Reply::Txn { .. })) if open.late => {}
            (
                Kind::Create,
                Ok(Reply::Txn {
                    revision,
                    succeeded,
                    found,
                }),
            ) => self.created(now, revision, succeeded, found),
            (Kind::Look, Ok(Reply::Range { revision, found })) => {
                // From before the own key was created it says nothing of it.
                if revision >= self.revision {
                    self.looked(now, revision, &found);
                }
            }
            (Kind::Head, Ok(Reply::Range { revision, found })) => {
                if !open.late {
                    self.saw_head(now, revision, found.first());
                }
            }
            (Kind::Proclaim, Ok(Reply::Txn { succeeded, .. })) => {
                // Not the own key any more: how it is, the next look says.
                if !succeeded && matches!(self.aim, Aim::Wait | Aim::Hold) {
                    self.next = now;
                }
            }
            (Kind::Delete, Ok(Reply::Txn { .. })) => {
                if self.releasing() {
                    self.revision = 0;
                    self.next = now;
                }
            }
            (Kind::Revoke, Ok(Reply::Revoked | Reply::LeaseNotFound)) => {
                if let Aim::Leave { rest } = self.aim {
                    self.stand_back(now, rest);
                }
            }
            (Kind::Proclaim, Ok(Reply::NotDone)) => self.stale = true,
            (_, Ok(Reply::NotDone)) => {}
            (kind, result) => {
                if result.is_ok() {
                    self.refusals.add(Refusal::WrongAnswer);
                }
                self.doubt(kind);
            }
        }
    }

    /// Something that was asked for may or may not have been done.
    pub(super) fn doubt(&mut self, kind: Kind) {
        match kind {
            Kind::Grant => self.session.doubt(),
            Kind::Proclaim => self.stale = true,
            // They are asked again for the same lease and key, which is harmless.
            _ => {}
        }
    }

    /// The lease is there, as a request says that was sent then.
    fn alive(&mut self, now: Instant, sent: Instant, ttl: Duration) {
        let from = counts_from(&self.rules, sent, now);
        let timing = &self.config.common.timing;
        self.session
            .acknowledged(from, ttl, timing, &mut self.random);
        match self.aim {
            Aim::Hold => self.office.extend(self.session.until()),
            Aim::Enter if !self.waits_for(&[Kind::Create]) => self.next = now,
            _ => {}
        }
    }

    /// The store has no such lease: the key is gone with it (LS-17, LS-52).
    fn session_over(&mut self, now: Instant) {
        match self.aim {
            Aim::Observe(_) => {}
            Aim::Leave { rest } => self.stand_back(now, rest),
            Aim::Wait if self.is_queue() && !self.rules.keeps(Rule::RecheckOwnRecord) => {}
            Aim::Enter | Aim::Wait | Aim::Hold => {
                self.office.depose(Why::Taken);
                self.begin(now);
            }
        }
    }

    /// The own key was created, or what was found there instead.
    fn created(&mut self, now: Instant, revision: u64, succeeded: bool, found: Option<KeyValue>) {
        match (self.aim, found) {
            (Aim::Enter, _) if succeeded => self.placed(now, revision),
            (Aim::Enter, Some(found)) if self.is_own(&found) => {
                // By an attempt of which no answer came.
                self.placed(now, found.create_revision);
            }
            (Aim::Enter, Some(found)) if !self.is_queue() => {
                self.aim = Aim::Wait;
                self.wait_for(now, revision, &found);
            }
            // Somebody else put it there, under the number of this lease.
            (Aim::Enter, Some(_)) => self.leave(now, Duration::ZERO),
            (Aim::Enter, None) => self.refusals.add(Refusal::WrongAnswer),
            _ => {}
        }
    }

    /// It has a key, of this revision.
    fn placed(&mut self, now: Instant, revision: u64) {
        self.revision = revision;
        self.aim = Aim::Wait;
        self.next = now;
        if !self.is_queue() {
            self.claim(now);
        }
    }

    /// What there is of the own key, and of whom comes before it.
    fn looked(&mut self, now: Instant, revision: u64, found: &[KeyValue]) {
        if !matches!(self.aim, Aim::Wait | Aim::Hold) {
            return;
        }
        let (own, before) = if self.is_queue() {
            if found.iter().any(|key| key.create_revision > self.revision) {
                self.refusals.add(Refusal::WrongAnswer);
                return;
            }
            let own = found
                .iter()
                .find(|key| key.create_revision == self.revision);
            let mut others = found
                .iter()
                .filter(|key| key.create_revision < self.revision);
            (own, others.next())
        } else {
            let own = |key: &KeyValue| {
                key.create_revision == self.revision || (self.revision == 0 && self.is_own(key))
            };
            (
                found.first().filter(|key| own(key)),
                found.first().filter(|key| !own(key)),
            )
        };
        if own.is_some_and(|own| !self.is_own(own)) {
            // Somebody wrote over it, and it does not go with the lease any more. It must not stay.
            self.office.depose(Why::Taken);
            self.leave(now, Duration::ZERO);
            return;
        }
        match (self.aim, own, before) {
            (Aim::Hold, Some(_), None) => {
                self.watch_own();
                self.look_later(now);
            }
            (Aim::Hold, ..) => self.lost(now),
            (_, own, Some(before)) => {
                if self.is_queue() && own.is_none() && self.rules.keeps(Rule::RecheckOwnRecord) {
                    self.enter(now);
                } else {
                    self.wait_for(now, revision, before);
                }
            }
            (_, Some(own), None) => {
                self.revision = own.create_revision;
                self.claim(now);
            }
            (_, None, None) if self.is_queue() && !self.rules.keeps(Rule::RecheckOwnRecord) => {
                self.claim(now);
            }
            (_, None, None) => self.enter(now),
        }
    }

    /// Another's key comes first.
    fn wait_for(&mut self, now: Instant, revision: u64, before: &KeyValue) {
        if !self.is_queue() {
            self.revision = 0;
        }
        self.watch(&before.key, revision.saturating_add(1));
        self.look_later(now);
        // Who is before the node in the queue leads when that was the first of all: nobody comes in before it.
        let leads = |leader: Leader| leader.token.counter == before.create_revision;
        if !self.is_queue() || self.office.leader().is_some_and(leads) {
            self.follow(now, Some(before));
        } else {
            self.ask(now, Kind::Head);
        }
    }

    /// Who leads.
    fn saw_head(&mut self, now: Instant, revision: u64, head: Option<&KeyValue>) {
        match self.aim {
            Aim::Observe(_) => {
                let all = self.config.mode.key().clone();
                self.watch(
                    head.map_or(&all, |head| &head.key),
                    revision.saturating_add(1),
                );
                self.follow(now, head);
                self.look_later(now);
            }
            Aim::Wait => self.follow(now, head),
            _ => {}
        }
    }

    /// The own key is there, and none before it: leads, if the lease is good for another attempt to renew it (LS-13).
    fn claim(&mut self, now: Instant) {
        let timing = &self.config.common.timing;
        let mut until = self.session.until();
        if !self.rules.keeps(Rule::RecheckOwnRecord) {
            until = until.max(now + timing.belief(timing.ttl));
        }
        if until <= now + timing.retry {
            self.session.hurry(now);
            self.next = now + timing.retry_pause(&mut self.random);
            return;
        }
        let token = Token::new(self.config.common.generation, self.revision);
        match self.office.elect(token, until) {
            Ok(()) => {
                self.aim = Aim::Hold;
                self.seen = None;
                self.watch_own();
                self.look_later(now);
            }
            Err(why) => {
                if let NotElected::For(refusal) = why {
                    self.refusals.add(refusal);
                }
                self.leave(now, self.config.common.timing.retry);
            }
        }
    }

    /// The own key is gone, and the lease may be there.
    fn lost(&mut self, now: Instant) {
        self.office.depose(Why::Taken);
        self.enter(now);
    }

    /// The watch tells, or is over.
    pub(super) fn watched(&mut self, now: Instant, result: Result<Reply, Unknown>) {
        match result {
            Ok(Reply::Watched(changes)) => {
                if !changes.is_empty() {
                    self.changed(now, &changes);
                }
            }
            result => {
                self.watch = None;
                if matches!(
                    result,
                    Ok(Reply::WatchEnded | Reply::NotDone) | Err(Unknown)
                ) {
                    // The next look begins another.
                    let timing = &self.config.common.timing;
                    self.next = self.next.min(now + timing.retry_pause(&mut self.random));
                } else {
                    self.refusals.add(Refusal::WrongAnswer);
                }
            }
        }
    }

    fn changed(&mut self, now: Instant, changes: &[Change]) {
        let gone = changes.iter().any(|change| match change {
            Change::Delete { revision, .. } => *revision > self.revision,
            Change::Put(_) => false,
        });
        match self.aim {
            Aim::Hold if gone => self.lost(now),
            // Free: whoever creates it first has it.
            Aim::Wait if gone && !self.is_queue() => self.enter(now),
            // Even if an answer is waited for: it may be older than this.
            Aim::Observe(_) | Aim::Wait | Aim::Hold => self.next = now,
            Aim::Enter | Aim::Leave { .. } => {}
        }
    }
}
