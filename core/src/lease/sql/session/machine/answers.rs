//! What comes of an answer: what it says of the session, of the row, and of whoever has the lock.

use super::{Aim, Asked, Kind, Session};
use crate::lease::office::NotElected;
use crate::lease::refuse::Refusal;
use crate::lease::requests::Open;
use crate::lease::rules::counts_from;
use crate::lease::sql::session::api::{Reply, Row};
use crate::lease::{Rule, Rules};
use crate::{Instant, Leader, Token, Unknown, Why};

impl<R: Rules> Session<R> {
    pub(super) fn answered(
        &mut self,
        now: Instant,
        open: Open<Asked>,
        result: Result<Reply, Unknown>,
    ) {
        if open.what.session != self.session {
            // Of a connection that was closed.
            return;
        }
        match (open.what.kind, result) {
            (Kind::Take, Ok(Reply::Taken { epoch, interrupted })) => {
                self.taken(now, open.sent, epoch, interrupted);
            }
            (Kind::Take | Kind::Look, Ok(Reply::Row(row))) => {
                if matches!(self.aim, Aim::Take | Aim::Observe(_)) {
                    self.follow(now, row);
                }
            }
            (Kind::Probe, Ok(Reply::Held)) => self.held(now, open.sent),
            (Kind::Probe, Ok(Reply::Row(row))) => {
                if matches!(self.aim, Aim::Wait { .. } | Aim::Hold { .. }) {
                    self.office.depose(Why::Taken);
                    self.follow(now, row);
                    self.another_session(now);
                }
            }
            (Kind::Release, Ok(Reply::Released)) => {
                if self.releasing() {
                    self.another_session(now);
                    self.former = None;
                }
            }
            (_, Ok(Reply::Ended)) => self.ended(now),
            (_, Ok(Reply::NotDone)) => {}
            (kind, result) => {
                if result.is_ok() {
                    self.refusals.add(Refusal::WrongAnswer);
                }
                self.doubt(now, kind);
            }
        }
    }

    /// The connection is gone.
    pub(super) fn ended(&mut self, now: Instant) {
        self.office.depose(Why::Taken);
        self.another_session(now);
    }

    /// Something that was asked for may or may not have been done. Whether the session has the lock still, it is asked again;
    /// from anything else the way out is to close it.
    pub(super) fn doubt(&mut self, now: Instant, kind: Kind) {
        if kind != Kind::Probe {
            self.another_session(now);
        }
    }

    /// The session has the lock, and drew an epoch by a request that was sent then.
    fn taken(&mut self, now: Instant, sent: Instant, epoch: u64, interrupted: bool) {
        if self.aim != Aim::Take {
            return;
        }
        self.follow(now, None);
        self.former = None;
        let timing = &self.config.common.timing;
        if interrupted && self.rules.keeps(Rule::OutwaitFormer) {
            self.not_before = self.not_before.max(now + timing.wait(timing.ttl));
        }
        self.aim = Aim::Wait { epoch, alive: now };
        self.held(now, sent);
    }

    /// The session has it still, as a request says that was sent then.
    fn held(&mut self, now: Instant, sent: Instant) {
        let from = counts_from(&self.rules, sent, now);
        let until = from
            + self
                .config
                .common
                .timing
                .belief(self.config.common.timing.ttl);
        match &mut self.aim {
            Aim::Hold { .. } => self.office.extend(until),
            Aim::Wait { epoch, alive } => {
                *alive = until.max(*alive);
                if self.not_before <= now {
                    let epoch = *epoch;
                    self.lead(now, until, epoch);
                }
            }
            _ => return,
        }
        if matches!(self.aim, Aim::Wait { .. } | Aim::Hold { .. }) {
            self.next = sent + self.config.common.timing.renew_pause(&mut self.random);
            if self.not_before > now {
                self.next = self.next.min(self.not_before);
            }
        }
    }

    fn lead(&mut self, now: Instant, until: Instant, epoch: u64) {
        let token = Token::new(self.config.common.generation, epoch);
        match self.office.elect(token, until) {
            Ok(()) => self.aim = Aim::Hold { epoch },
            // The next answer may be there in time.
            Err(NotElected::TooLate) => {}
            Err(NotElected::For(refusal)) => {
                self.refusals.add(refusal);
                self.release(now, epoch, self.config.common.timing.retry);
            }
        }
    }

    /// Who holds the lock is followed until the next look but one.
    fn follow(&mut self, now: Instant, row: Option<Row>) {
        let timing = &self.config.common.timing;
        let until = now + timing.retry + timing.patience + timing.patience;
        let row = row.filter(|row| row.locked);
        let leader = row.as_ref().and_then(|row| {
            let leader = Leader {
                node: row.holder.as_ref()?.identity.node(),
                token: Token::new(self.config.common.generation, row.epoch),
            };
            Some((leader, until))
        });
        self.holder = row.and_then(|row| row.holder);
        self.office.follow(leader);
    }
}
