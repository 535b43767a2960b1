//! What comes of an answer: whose the lock is, and for how long.

use super::{Aim, Asked, Hold, MAX_TOKEN, Redis};
use crate::lease::Rules;
use crate::lease::office::NotElected;
use crate::lease::redis::api::{Found, Reply};
use crate::lease::refuse::Refusal;
use crate::lease::requests::Open;
use crate::lease::rules::counts_from;
use crate::{Duration, Instant, Leader, Token, Unknown, Why};

impl<R: Rules> Redis<R> {
    pub(super) fn answered(
        &mut self,
        now: Instant,
        open: Open<Asked>,
        result: Result<Reply, Unknown>,
    ) {
        match (open.what, result) {
            (Asked::Take(attempt), Ok(Reply::Taken(token))) => {
                self.taken(now, open.sent, Hold { attempt, token });
            }
            (Asked::Renew(hold), Ok(Reply::Renewed)) => self.renewed(now, open.sent, hold),
            (Asked::Release(hold), Ok(Reply::Released)) => self.released(now, hold),
            (Asked::Take(_) | Asked::Renew(_) | Asked::Read, Ok(Reply::Found(found))) => {
                // A late look may be older than what is known since.
                if !open.late {
                    self.saw(now, open.what, found);
                }
            }
            (_, Ok(Reply::NotDone)) => {}
            (asked, result) => {
                if result.is_ok() {
                    self.refusals.add(Refusal::WrongAnswer);
                }
                self.doubtful |= matches!(asked, Asked::Take(_));
            }
        }
    }

    /// The lock was taken by a request that was sent then.
    fn taken(&mut self, now: Instant, sent: Instant, hold: Hold) {
        match self.aim {
            Aim::Take if hold.attempt == self.attempt => self.lead(now, sent, hold),
            // Carried out twice, it may have been taken twice. What it leads by, or may yet, is not given up: a release that is
            // late would free it for another.
            Aim::Confirm(own) if own.attempt == hold.attempt => {
                if own.token <= hold.token {
                    self.lead(now, sent, hold);
                }
            }
            Aim::Hold(own) if own.attempt == hold.attempt => {}
            Aim::Release { hold: own, .. } if own == hold => {}
            // By an attempt that was given up. Left alone it would keep everybody out until the lease ends.
            _ => {
                self.requests.make(now, Asked::Release(hold));
            }
        }
    }

    /// The lock is held, by a request that was sent then.
    fn lead(&mut self, now: Instant, sent: Instant, hold: Hold) {
        let token = Token::new(self.config.generation, hold.token);
        let elected = if hold.token > MAX_TOKEN {
            Err(NotElected::For(Refusal::TokenExhausted))
        } else {
            self.office.elect(token, self.until(now, sent))
        };
        match elected {
            Ok(()) => {
                self.holder = None;
                self.aim = Aim::Hold(hold);
                self.renew_later(sent);
            }
            Err(why) => {
                if let NotElected::For(refusal) = why {
                    self.refusals.add(refusal);
                }
                self.release(now, hold, self.config.timing.retry);
            }
        }
    }

    fn renewed(&mut self, now: Instant, sent: Instant, hold: Hold) {
        match self.aim {
            Aim::Confirm(own) if own == hold => self.lead(now, sent, hold),
            Aim::Hold(own) if own == hold => {
                let until = self.until(now, sent);
                self.office.extend(until);
                self.renew_later(sent);
            }
            _ => {}
        }
    }

    fn released(&mut self, now: Instant, hold: Hold) {
        if let Aim::Release {
            hold: own, rest, ..
        } = self.aim
            && own == hold
        {
            self.stand_back(now, rest);
        }
    }

    /// The lock is like this, and what was asked for was not done.
    fn saw(&mut self, now: Instant, asked: Asked, found: Option<Found>) {
        let own = found.as_ref().and_then(|found| self.own(found));
        match (self.aim, own) {
            (Aim::Hold(hold), own) if asked == Asked::Renew(hold) => {
                self.office.depose(Why::Taken);
                self.follow(now, found);
                match own {
                    // The counter was changed under it. With this lock it does not lead again, and nobody else can.
                    Some(_) => self.release(now, hold, Duration::ZERO),
                    None => self.want_anew(),
                }
            }
            // It lapsed before it was confirmed, or a Renew would have come through.
            (Aim::Confirm(_), Some(hold)) if asked == Asked::Renew(hold) => {
                self.release(now, hold, Duration::ZERO);
            }
            (Aim::Take | Aim::Confirm(_), Some(hold)) => {
                self.aim = Aim::Confirm(hold);
                self.next = now;
            }
            (Aim::Take | Aim::Confirm(_), None) => {
                self.follow(now, found);
                self.aim = Aim::Take;
                if !self.doubtful {
                    self.want_anew();
                }
            }
            // An attempt that was given up came through after all.
            (Aim::Observe(until), Some(hold)) => self.release(now, hold, until.since(now)),
            (Aim::Observe(_), None) => self.follow(now, found),
            _ => {}
        }
    }

    /// The lock, if it is that of the present attempt.
    fn own(&self, found: &Found) -> Option<Hold> {
        let value = found.value.as_ref()?;
        (value.nonce == self.nonce(self.attempt)).then_some(Hold {
            attempt: self.attempt,
            token: found.token,
        })
    }

    /// Whom the lock names is followed for as long as it is held.
    fn follow(&mut self, now: Instant, found: Option<Found>) {
        let (token, left) = found
            .as_ref()
            .map_or((0, Duration::ZERO), |found| (found.token, found.left));
        self.holder = found
            .and_then(|found| found.value)
            .map(|value| value.claimant);
        let timing = &self.config.timing;
        let held = self.holder.as_ref().filter(|_| left > Duration::ZERO);
        let leader = held.map(|holder| {
            let leader = Leader {
                node: holder.identity.node(),
                token: Token::new(self.config.generation, token),
            };
            // What is left of it on any clock, and a look more.
            let until = now + timing.surely_over(left) + timing.retry;
            (leader, until)
        });
        self.office.follow(leader);
    }

    /// Until when the answer to a request that was sent then lets a holder believe.
    fn until(&self, now: Instant, sent: Instant) -> Instant {
        let from = counts_from(&self.rules, sent, now);
        from + self.config.timing.belief(self.config.timing.ttl)
    }
}
