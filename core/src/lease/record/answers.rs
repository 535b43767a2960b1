//! What comes of an answer: whose the record is, and for how long.

use super::{Aim, Answer, Asked, Hold, Keeper, Record, Seen};
use crate::lease::Rules;
use crate::lease::office::NotElected;
use crate::lease::refuse::Refusal;
use crate::lease::requests::Open;
use crate::lease::rules::counts_from;
use crate::{Duration, Instant, Leader, Token, Unknown, Why};

impl<K: Keeper, R: Rules> Record<K, R> {
    pub(super) fn answered(
        &mut self,
        now: Instant,
        open: Open<Asked>,
        result: Result<Answer, Unknown>,
    ) {
        match (open.what, result) {
            (Asked::Take(attempt), Ok(Answer::Taken(counter))) => {
                self.taken(now, open.sent, Hold { attempt, counter });
            }
            (Asked::Renew(hold), Ok(Answer::Renewed)) => self.renewed(now, open.sent, hold),
            (Asked::Release(hold), Ok(Answer::Released)) => self.released(now, hold),
            (Asked::Take(_) | Asked::Renew(_) | Asked::Read, Ok(Answer::Seen(seen))) => {
                // A late look may be older than what is known since.
                if !open.late {
                    self.saw(now, open.what, seen);
                }
            }
            (_, Ok(Answer::NotDone)) => {}
            (asked, result) => {
                if result.is_ok() {
                    self.refusals.add(Refusal::WrongAnswer);
                }
                self.doubtful |= matches!(asked, Asked::Take(_));
            }
        }
    }

    /// The record was taken by a request that was sent then.
    fn taken(&mut self, now: Instant, sent: Instant, hold: Hold) {
        match self.aim {
            Aim::Take if hold.attempt == self.attempt => self.lead(now, sent, hold),
            // Carried out twice, it may have been taken twice. What it leads by, or may yet, is not given up: a release that is
            // late would free it for another.
            Aim::Confirm(own) if own.attempt == hold.attempt => {
                if own.counter <= hold.counter {
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

    /// The record is held, by a request that was sent then.
    fn lead(&mut self, now: Instant, sent: Instant, hold: Hold) {
        let token = Token::new(self.config.generation, hold.counter);
        let elected = if hold.counter > K::LAST {
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

    /// The record is like this, and what was asked for was not done.
    fn saw(&mut self, now: Instant, asked: Asked, seen: Option<Seen>) {
        let own = seen.as_ref().and_then(|seen| self.own(seen));
        match (self.aim, own) {
            (Aim::Hold(hold), own) if asked == Asked::Renew(hold) => {
                self.office.depose(Why::Taken);
                self.follow(now, seen);
                match own {
                    // The counter was changed under it. By this record it does not lead again, and nobody else can.
                    Some(_) if K::STAYS => self.release(now, hold, Duration::ZERO),
                    _ => self.want_anew(),
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
                self.follow(now, seen);
                self.aim = Aim::Take;
                if !self.doubtful {
                    self.want_anew();
                }
                if K::LOOKS_FIRST {
                    self.taken = self.office.leader().is_some();
                    if asked == Asked::Read && !self.taken {
                        self.next = now;
                    }
                }
            }
            // An attempt that was given up came through after all.
            (Aim::Observe(until), Some(hold)) => self.release(now, hold, until.since(now)),
            (Aim::Observe(_), None) => self.follow(now, seen),
            _ => {}
        }
    }

    /// The record, if it is that of the present attempt.
    fn own(&self, seen: &Seen) -> Option<Hold> {
        let mark = seen.mark.as_ref()?;
        (mark.nonce == self.nonce(self.attempt)).then_some(Hold {
            attempt: self.attempt,
            counter: seen.counter,
        })
    }

    /// Whom the record names is followed for as long as it is held.
    fn follow(&mut self, now: Instant, seen: Option<Seen>) {
        let (counter, left) = seen
            .as_ref()
            .map_or((0, Duration::ZERO), |seen| (seen.counter, seen.left));
        self.holder = seen.and_then(|seen| seen.mark).map(|mark| mark.claimant);
        let timing = &self.config.timing;
        let held = self.holder.as_ref().filter(|_| left > Duration::ZERO);
        let leader = held.map(|holder| {
            let leader = Leader {
                node: holder.identity.node(),
                token: Token::new(self.config.generation, counter),
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
