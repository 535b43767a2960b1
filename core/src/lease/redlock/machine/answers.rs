//! What comes of an answer: what it says of a server's key, and when enough have granted it.

use super::{Aim, Redlock};
use crate::lease::redlock::Value;
use crate::lease::redlock::api::Reply;
use crate::lease::redlock::round::{Kind, Round, Servers};
use crate::lease::refuse::Refusal;
use crate::lease::rules::counts_from;
use crate::lease::{Nonce, Rule, Rules};
use crate::{Duration, Instant, Leader, Ticket, Token, Unknown, Why};

impl<R: Rules> Redlock<R> {
    pub(super) fn answered(
        &mut self,
        now: Instant,
        ticket: Ticket,
        result: Result<Reply, Unknown>,
    ) {
        let (number, kind, server) = Round::asked(ticket);
        let present = (number, kind) == (self.round.number, self.round.kind);
        let known = if present {
            self.round.awaits(server)
        } else {
            number <= self.round.number
        };
        if ticket.incarnation != self.incarnation || server >= self.config.servers || !known {
            self.refusals.add(Refusal::UnknownTicket);
            return;
        }
        if !present {
            if kind == Kind::Set && result == Ok(Reply::Granted) {
                self.granted_late(number, server);
            }
            return;
        }
        let bit = 1 << server;
        self.round.open &= !bit;
        match (kind, result) {
            (Kind::Set | Kind::Extend, Ok(Reply::Granted)) => self.round.granted |= bit,
            (Kind::Release, Ok(Reply::Released)) => {
                if let Aim::Rest { unreleased, .. } = &mut self.aim {
                    *unreleased &= !bit;
                }
            }
            (Kind::Set | Kind::Extend | Kind::Look, Ok(Reply::Held(value))) => {
                self.held_by(server, value);
            }
            (_, Ok(Reply::NotDone) | Err(Unknown)) => {}
            _ => self.refusals.add(Refusal::WrongAnswer),
        }
        self.count(now);
    }

    /// A server granted an attempt whose round is over. Of one that was given up, the key would keep others out until its lease
    /// ends (LS-R4).
    fn granted_late(&mut self, attempt: u64, server: u8) {
        let bit = 1 << server;
        let wanted = match self.aim {
            Aim::Hold => attempt == self.attempt,
            // It is given up already.
            Aim::Rest { unreleased, .. } => attempt == self.attempt && unreleased & bit != 0,
            Aim::Observe | Aim::Take => false,
        };
        if !wanted {
            self.give_up(attempt, bit);
        }
    }

    /// Keys of an attempt that was given up are deleted. Those of an earlier one are left to their lease.
    const fn give_up(&mut self, attempt: u64, servers: Servers) {
        let (former, also) = self.stray;
        self.stray = (
            attempt,
            if former == attempt {
                also | servers
            } else {
                servers
            },
        );
    }

    /// A server says who holds its key.
    fn held_by(&mut self, server: u8, value: Option<Value>) {
        let bit = 1 << server;
        let own = value.as_ref().and_then(|value| self.own(value.nonce));
        match (own, self.round.kind) {
            // What was asked was carried out twice, and this is the second answer.
            (Some(attempt), Kind::Set) if attempt == self.attempt => self.round.granted |= bit,
            (Some(attempt), _) if attempt == self.attempt => {
                self.refusals.add(Refusal::WrongAnswer);
            }
            (Some(attempt), _) => {
                self.round.denied |= bit;
                self.give_up(attempt, bit);
            }
            (None, _) => {
                self.round.denied |= bit;
                if let Some(value) = value {
                    self.round.name(value);
                }
            }
        }
    }

    /// The attempt of this life that a nonce is of.
    fn own(&self, nonce: Nonce) -> Option<u64> {
        let since = nonce.0.wrapping_sub(self.first.0);
        let attempt = u64::try_from(since).ok()?;
        (attempt <= self.round.number).then_some(attempt)
    }

    /// Whether enough granted it.
    fn is_granted(&self) -> bool {
        let granted = self.round.granted.count_ones();
        if self.rules.keeps(Rule::MajorityOfConfigured) {
            return granted >= self.majority();
        }
        let answered = granted + self.round.denied.count_ones();
        self.round.is_over() && granted > answered / 2
    }

    /// Whether so many denied it that it cannot be granted: with an even number of servers, half of them are enough for that.
    fn is_denied(&self) -> bool {
        u32::from(self.config.servers) - self.round.denied.count_ones() < self.majority()
    }

    /// Does what follows from the answers so far.
    pub(super) fn count(&mut self, now: Instant) {
        if self.round.settled {
            return;
        }
        // Whether its end is no news: what comes late may still change it.
        let over = self.round.is_over() && self.next == Instant::FOREVER;
        match self.round.kind {
            Kind::Set if self.is_granted() => self.lead(now),
            Kind::Set if over || self.is_denied() => {
                self.follow(now);
                self.rest(now, Duration::ZERO);
            }
            Kind::Extend if self.is_granted() => {
                self.round.settled = true;
                let until = self.until(now);
                self.office.extend(until);
                self.renew_later();
            }
            Kind::Extend if self.is_denied() => {
                self.office.depose(Why::Taken);
                self.follow(now);
                self.rest(now, Duration::ZERO);
            }
            Kind::Look if over => {
                self.follow(now);
                self.retry_later(now);
            }
            Kind::Extend | Kind::Release if over => self.retry_later(now),
            _ => {}
        }
    }

    fn lead(&mut self, now: Instant) {
        let until = self.until(now);
        if self.office.elect_without_token(until) {
            self.round.settled = true;
            self.holder = None;
            self.aim = Aim::Hold;
            self.renew_later();
        } else {
            // It took too long (LS-31).
            self.rest(now, Duration::ZERO);
        }
    }

    /// Until when the present round lets a holder believe.
    fn until(&self, now: Instant) -> Instant {
        let from = counts_from(&self.rules, self.round.sent, now);
        let timing = &self.config.common.timing;
        from + timing.belief(timing.ttl)
    }

    /// Who holds more than half is followed for a lease.
    fn follow(&mut self, now: Instant) {
        self.holder = self.round.holder(self.majority());
        let timing = &self.config.common.timing;
        let until = now + timing.surely_over(timing.ttl) + timing.retry;
        let leader = self.holder.as_ref().map(|holder| Leader {
            node: holder.identity.node(),
            token: Token::NONE,
        });
        self.office.follow(leader.map(|leader| (leader, until)));
    }
}
