//! What comes of an answer: what it says of the object, and whether the own write was done.

use super::{Aim, Asked, Kind, Kubernetes, MAX_TRANSITIONS, Seen};
use crate::lease::kubernetes::api::{Lease, Record, Reply};
use crate::lease::kubernetes::config::LONGEST;
use crate::lease::office::NotElected;
use crate::lease::refuse::Refusal;
use crate::lease::requests::Open;
use crate::lease::rules::counts_from;
use crate::lease::{Nonce, Rule, Rules};
use crate::{Duration, Instant, Leader, Token, Unknown, Why};

impl<R: Rules> Kubernetes<R> {
    pub(super) fn answered(
        &mut self,
        now: Instant,
        open: Open<Asked>,
        result: Result<Reply, Unknown>,
    ) {
        if !self.is_present(open.what) {
            // By an attempt that was given up. What it wrote keeps others out for a lease, and nobody leads by it.
            return;
        }
        match (open.what.kind, result) {
            (Kind::Look, Ok(Reply::Object(_) | Reply::NotFound)) if open.late => {}
            (Kind::Look, Ok(Reply::Object(lease))) => self.saw(now, lease),
            (Kind::Look, Ok(Reply::NotFound)) => self.missed(now),
            (Kind::Take | Kind::Renew, Ok(Reply::Object(lease))) => {
                if self.is_done(&lease) {
                    self.wrote(now, open.sent, lease);
                } else {
                    self.refusals.add(Refusal::WrongAnswer);
                    self.doubt(open.what.kind);
                }
            }
            (Kind::Release, Ok(Reply::Object(_))) => {
                if let Aim::Release { rest, .. } = self.aim {
                    self.stand_back(now, rest);
                }
            }
            (
                Kind::Take | Kind::Renew | Kind::Release,
                Ok(Reply::Conflict | Reply::AlreadyExists | Reply::NotFound),
            ) => {
                if !open.late {
                    self.stale = true;
                    self.seek();
                    self.next = now;
                }
            }
            (_, Ok(Reply::NotDone)) => {
                if !open.late {
                    self.seek();
                }
            }
            (kind, result) => {
                if result.is_ok() {
                    self.refusals.add(Refusal::WrongAnswer);
                }
                self.doubt(kind);
            }
        }
    }

    /// A write may or may not have been done: the next thing is a look.
    pub(super) fn doubt(&mut self, kind: Kind) {
        if kind != Kind::Look {
            self.stale = true;
            self.doubtful |= kind == Kind::Take;
            self.seek();
        }
    }

    /// What was to be taken is to be looked at again.
    fn seek(&mut self) {
        if matches!(self.aim, Aim::Create | Aim::Take(_) | Aim::Confirm(_)) {
            self.aim = Aim::Seek;
        }
    }

    /// Whether that is the object as a write of this attempt left it. What it left in an older version than the one that is
    /// known was not written at all: it changed nothing.
    fn is_done(&self, lease: &Lease) -> bool {
        let newer = match self.aim {
            Aim::Hold { version, .. } | Aim::Release { version, .. } => {
                lease.uid == self.uid && lease.version > version
            }
            _ => true,
        };
        newer && lease.record.nonce == self.nonce && lease.record.holder.is_some()
    }

    /// A write of the own record was acknowledged, which was sent then.
    fn wrote(&mut self, now: Instant, sent: Instant, lease: Lease) {
        let until = self.until(now, sent);
        match &mut self.aim {
            Aim::Hold { version, .. } => {
                *version = lease.version;
                self.stale = false;
                self.office.extend(until);
                self.keep(&lease);
                self.renew_later(sent);
            }
            Aim::Release { version, .. } => *version = lease.version,
            Aim::Seek | Aim::Create | Aim::Take(_) | Aim::Confirm(_) => {
                let version = lease.version;
                if self.seen.is_some_and(|seen| seen.version > version) {
                    // Somebody wrote over it since.
                    return;
                }
                self.keep(&lease);
                let token = Token::new(self.config.common.generation, version);
                match self.office.elect(token, until) {
                    Ok(()) => {
                        self.holder = None;
                        self.seen = None;
                        self.stale = false;
                        self.aim = Aim::Hold {
                            since: version,
                            version,
                        };
                        self.renew_later(sent);
                    }
                    Err(why) => {
                        if let NotElected::For(refusal) = why {
                            self.refusals.add(refusal);
                        }
                        self.release(now, version, self.config.common.timing.retry);
                    }
                }
            }
            Aim::Observe(_) => {}
        }
    }

    fn keep(&mut self, lease: &Lease) {
        self.uid = lease.uid;
        self.transitions = lease.record.transitions.min(MAX_TRANSITIONS);
        self.acquired = lease.record.acquired;
    }

    /// The object is not there.
    fn missed(&mut self, now: Instant) {
        self.holder = None;
        match self.aim {
            Aim::Hold { .. } => {
                self.office.depose(Why::Taken);
                self.want_anew();
                // Whoever creates it now comes first.
                self.next = now + self.look_pause();
            }
            Aim::Release { rest, .. } => self.stand_back(now, rest),
            Aim::Observe(_) => self.office.follow(None),
            Aim::Seek | Aim::Create | Aim::Take(_) | Aim::Confirm(_) => {
                self.office.follow(None);
                self.seen = self.seen.filter(|seen| now < seen.stands);
                let stands = self.seen.is_some();
                self.aim = if stands { Aim::Seek } else { Aim::Create };
                self.next = if stands { now + self.look_pause() } else { now };
            }
        }
    }

    /// The object is like this.
    fn saw(&mut self, now: Instant, lease: Lease) {
        let own = self.is_own(&lease.record);
        match self.aim {
            // Older than what it wrote itself.
            Aim::Hold { version, .. } | Aim::Release { version, .. }
                if lease.uid == self.uid && lease.version < version => {}
            Aim::Hold { since, .. } if own && lease.uid == self.uid => {
                self.stale = false;
                self.aim = Aim::Hold {
                    since,
                    version: lease.version,
                };
                self.next = now;
            }
            Aim::Hold { .. } => {
                self.office.depose(Why::Taken);
                self.want_anew();
                self.observe(now, &lease);
            }
            Aim::Release { over, rest, .. } if own || !self.rules.keeps(Rule::CompareAndDelete) => {
                self.stale = false;
                self.uid = lease.uid;
                self.aim = Aim::Release {
                    version: lease.version,
                    over,
                    rest,
                };
                self.next = now;
            }
            Aim::Release { rest, .. } => {
                self.observe(now, &lease);
                self.stand_back(now, rest);
            }
            Aim::Seek | Aim::Create | Aim::Take(_) | Aim::Confirm(_) => {
                let version = lease.version;
                self.aim = if own {
                    Aim::Confirm(version)
                } else if self.observe(now, &lease) {
                    Aim::Take(version)
                } else {
                    Aim::Seek
                };
                self.keep(&lease);
                if self.aim != Aim::Seek {
                    self.next = now;
                }
            }
            Aim::Observe(_) => {
                self.observe(now, &lease);
            }
        }
    }

    /// A record of somebody else, or of nobody. Whether it may be taken.
    fn observe(&mut self, now: Instant, lease: &Lease) -> bool {
        let (record, timing) = (&lease.record, &self.config.common.timing);
        self.holder.clone_from(&record.holder);
        let Some(holder) = &record.holder else {
            self.seen = None;
            self.office.follow(None);
            return true;
        };
        let named = Duration::from_secs(u64::from(record.seconds));
        let stands = match self.seen {
            Some(seen) if seen.version == lease.version => seen.stands,
            _ if self.rules.keeps(Rule::OwnClockOnly) => {
                let (least, most) = (timing.ttl, timing.ttl.scaled_down(LONGEST, 1));
                now + timing.wait(named.clamp(least, most))
            }
            _ => now + timing.wait(named).saturating_sub(lease.age),
        };
        self.seen = Some(Seen {
            version: lease.version,
            stands,
        });
        let token = match record.since {
            // Another client's record says nothing of it, and changes with every renewal.
            None if record.nonce == Nonce(0) => Token::NONE,
            since => Token::new(
                self.config.common.generation,
                since.unwrap_or(lease.version),
            ),
        };
        let leader = Leader {
            node: holder.identity.node(),
            token,
        };
        self.office
            .follow((now < stands).then_some((leader, stands)));
        now >= stands
    }

    /// Whether a record is that of the present attempt.
    fn is_own(&self, record: &Record) -> bool {
        let Some(holder) = &record.holder else {
            return false;
        };
        // A client that knows nothing of nonces leaves the one it finds.
        holder.identity == self.config.common.claimant.identity
            && (record.nonce == self.nonce || !self.rules.keeps(Rule::Nonce))
    }

    /// Until when the answer to a request that was sent then lets a holder believe.
    fn until(&self, now: Instant, sent: Instant) -> Instant {
        let from = counts_from(&self.rules, sent, now);
        from + self.config.belief()
    }
}
