//! What comes of an answer: what it says of the session, of `/controller` and of the epoch.

use super::Controller;
use super::aim::{Aim, Asked, Kind, Rest};
use crate::lease::office::NotElected;
use crate::lease::refuse::Refusal;
use crate::lease::requests::Open;
use crate::lease::rules::counts_from;
use crate::lease::zookeeper::api::{Change, Data, Reply, SessionId, Stat};
use crate::lease::zookeeper::queue;
use crate::lease::zookeeper::session::bounded;
use crate::lease::{Rule, Rules, value};
use crate::{Duration, Instant, Ticket, Token, Unknown, Why};

impl<R: Rules> Controller<R> {
    pub(super) fn answered(
        &mut self,
        now: Instant,
        number: u64,
        open: Open<Asked>,
        result: Result<Reply, Unknown>,
    ) {
        let Open {
            what: Asked { kind, .. },
            sent,
            late,
            ..
        } = open;
        if !self.is_present(open.what) {
            // Of an attempt that is over.
            return;
        }
        if self.watch == number as u16 && !matches!(result, Ok(Reply::Data(..))) {
            self.watch = 0;
        }
        match (kind, result) {
            (Kind::Connect, Ok(Reply::Connected { session, timeout }))
                if session != SessionId::NONE && timeout > Duration::ZERO =>
            {
                self.handle = number as u16;
                self.opened(now, session, timeout);
            }
            (Kind::Connect, Ok(Reply::Suspended | Reply::Expired)) => {}
            (Kind::Close, Ok(Reply::Closed)) | (_, Ok(Reply::Expired)) => self.session_over(now),
            (Kind::Renew, Ok(Reply::Set(stat))) => self.renewed(now, sent, stat),
            // KZ-F1: another is elected; or the node is gone.
            (Kind::Renew, Ok(Reply::BadVersion | Reply::NoNode)) => {
                if self.writes() {
                    self.lost(now);
                }
            }
            (Kind::Claim, Ok(Reply::Set(stat))) => {
                if matches!(self.aim, Aim::Claim | Aim::Doubt) {
                    self.version = stat.version;
                    self.won(now);
                    self.written(now, sent);
                    self.elect(now);
                }
            }
            // KZ-4.
            (Kind::Claim, Ok(Reply::NodeExists | Reply::BadVersion)) => {
                if self.aim == Aim::Claim {
                    self.turn(now, Aim::Doubt);
                }
            }
            (Kind::Parent(parts), Ok(Reply::Created(_) | Reply::NodeExists)) => {
                self.prepared(now, parts);
            }
            (Kind::Start, Ok(Reply::Created(_) | Reply::NodeExists)) => {
                if self.aim == Aim::Start {
                    self.turn(now, Aim::Read);
                }
            }
            (Kind::Delete, Ok(Reply::Deleted | Reply::NoNode | Reply::BadVersion)) => {
                if self.releasing() {
                    self.claimed = 0;
                    self.next = now;
                }
            }
            // What is there may have changed since: it is asked again.
            (Kind::Look(_) | Kind::Epoch, Ok(Reply::Data(..) | Reply::NoNode)) if late => {}
            (Kind::Look(_), Ok(Reply::Data(data, stat))) => self.looked(now, data, stat),
            (Kind::Look(_), Ok(Reply::NoNode)) => self.vacant(now),
            (Kind::Epoch, Ok(Reply::Data(data, stat))) => self.read(now, &data, stat),
            (Kind::Epoch, Ok(Reply::NoNode)) => match self.aim {
                Aim::Read => self.turn(now, Aim::Start),
                Aim::Learn => self.learned(now, 0),
                Aim::Confirm => self.leave(now, Rest::Briefly),
                _ => {}
            },
            (Kind::Start | Kind::Claim, Ok(Reply::NoNode)) => {
                if matches!(self.aim, Aim::Start | Aim::Claim) {
                    self.forget();
                    self.turn(now, Aim::Prepare(queue::depth(&self.config.parent)));
                }
            }
            (Kind::Parent(parts), Ok(Reply::NoNode)) => {
                if self.aim == Aim::Prepare(parts) && parts > 1 {
                    self.turn(now, Aim::Prepare(parts - 1));
                }
            }
            (_, Ok(Reply::NotDone)) => {}
            (kind, result) => {
                if result.is_ok() {
                    self.refusals.add(Refusal::WrongAnswer);
                }
                self.doubt(now, kind);
            }
        }
    }

    /// Something that was asked for may or may not have been done.
    pub(super) fn doubt(&mut self, now: Instant, kind: Kind) {
        match kind {
            // LS-R4, KZ-4.
            Kind::Claim if self.aim == Aim::Claim => {
                self.aim = Aim::Doubt;
                self.try_later(now);
            }
            Kind::Look(true) => self.watch = 0,
            _ => {}
        }
    }

    /// A handle or a watch tells something. False when there is none of that ticket.
    pub(super) fn told(
        &mut self,
        now: Instant,
        ticket: Ticket,
        result: Result<Reply, Unknown>,
    ) -> bool {
        let number = ticket.number;
        if self.requests.numbered(number) != ticket {
            return false;
        }
        match result {
            Ok(Reply::Changed(change)) => {
                // One that was left in a former attempt says nothing.
                if number as u16 == self.watch {
                    self.watch = 0;
                    self.changed(now, change);
                }
                true
            }
            _ if self.handle != number as u16 || self.session.id() == SessionId::NONE => false,
            Ok(Reply::Connected { session, timeout }) => {
                if session != self.session.id() {
                    self.session_over(now);
                } else if timeout < self.session.ttl() && !self.releasing() {
                    // By servers that do not grant what the others did: it ends sooner than is believed.
                    self.office.depose(Why::Taken);
                    self.leave(now, Rest::None);
                } else {
                    self.connected(now);
                }
                true
            }
            Ok(Reply::Suspended) | Err(Unknown) => {
                self.session.connected(now, false);
                true
            }
            Ok(Reply::Expired) => {
                self.session_over(now);
                true
            }
            Ok(_) => {
                self.refusals.add(Refusal::WrongAnswer);
                true
            }
        }
    }

    /// The connection is there again: what could not be asked is asked now.
    fn connected(&mut self, now: Instant) {
        if self.session.is_suspended() {
            self.session.connected(now, true);
            if self.next != Instant::FOREVER {
                self.next = now;
            }
        }
    }

    /// It has a session. It may have been begun when it was asked for first, and told to who asked last (LS-R1).
    fn opened(&mut self, now: Instant, id: SessionId, timeout: Duration) {
        if !self.session.is_wanted() {
            return;
        }
        let from = counts_from(&self.rules, self.session.wanted_since(), now);
        let timing = self.config.timing(bounded(timeout));
        self.session.opened(id, from, &timing);
        match self.aim {
            Aim::Observe => self.next = now,
            _ => self.want(now),
        }
    }

    /// The session is over, and the own node with it, or it will be (KZ-5).
    fn session_over(&mut self, now: Instant) {
        match self.aim {
            Aim::Observe => self.connect(now),
            Aim::Leave(rest) => self.stand_back(now, rest),
            _ => {
                self.office.depose(Why::Taken);
                self.aim = Aim::Wait;
                self.connect(now);
            }
        }
    }

    /// The own node is gone, or the epoch another's.
    pub(super) fn lost(&mut self, now: Instant) {
        self.office.depose(Why::Taken);
        self.again(now);
    }

    /// So many parts of the parent are there.
    fn prepared(&mut self, now: Instant, parts: u8) {
        if self.aim == Aim::Prepare(parts) {
            if parts < queue::depth(&self.config.parent) {
                self.turn(now, Aim::Prepare(parts + 1));
            } else {
                self.again(now);
            }
        }
    }

    /// Whether `/controller` is of this node: by its session. What else names it is of a former life (KAFKA-1029).
    fn is_own(&self, data: &str, stat: Stat) -> bool {
        if self.rules.keeps(Rule::OwnSession) {
            stat.owner == self.session.id()
        } else {
            value::name(data) == Some(self.config.common.claimant.identity.name())
        }
    }

    /// Somebody is elected.
    fn looked(&mut self, now: Instant, data: Data, stat: Stat) {
        let own = self.is_own(&data, stat);
        match self.aim {
            Aim::Hold if own => self.look_later(now),
            Aim::Hold => self.lost(now),
            Aim::Wait | Aim::Doubt if own => self.turn(now, Aim::Confirm),
            Aim::Doubt => {
                self.forget();
                self.saw(now, data);
            }
            Aim::Wait | Aim::Observe => self.saw(now, data),
            _ => {}
        }
    }

    /// Somebody else is elected: in which epoch?
    fn saw(&mut self, now: Instant, data: Data) {
        self.seen = Some(data).filter(|data| value::fits(data));
        self.turn(now, Aim::Learn);
    }

    /// Nobody is elected.
    fn vacant(&mut self, now: Instant) {
        self.seen = None;
        match self.aim {
            Aim::Observe => {
                self.office.follow(None);
                self.look_later(now);
            }
            Aim::Wait | Aim::Doubt => {
                self.office.follow(None);
                self.forget();
                self.turn(now, Aim::Read);
            }
            Aim::Hold => self.lost(now),
            _ => {}
        }
    }

    /// The epoch is this.
    fn read(&mut self, now: Instant, data: &str, stat: Stat) {
        let epoch = data.parse().ok().filter(|epoch| *epoch < u64::MAX - 1);
        let Some(epoch) = epoch else {
            // None that a controller wrote, or the last there is.
            self.refusals.add(Refusal::TokenExhausted);
            return match self.aim {
                Aim::Learn => self.learned(now, 0),
                _ => self.leave(now, Rest::Briefly),
            };
        };
        match self.aim {
            Aim::Read => {
                (self.claimed, self.version) = (epoch + 1, stat.version);
                self.turn(now, Aim::Claim);
            }
            Aim::Learn => self.learned(now, epoch),
            // KZ-4: the answer was lost.
            Aim::Confirm if epoch == self.claimed || !self.rules.keeps(Rule::OwnSession) => {
                (self.claimed, self.version) = (epoch, stat.version);
                self.won(now);
                self.elect(now);
            }
            // KZ-F3: it is its node, and not its epoch.
            Aim::Confirm => self.leave(now, Rest::Briefly),
            _ => {}
        }
    }

    /// Somebody else leads in this epoch, and is looked at again.
    fn learned(&mut self, now: Instant, epoch: u64) {
        if epoch > 0 {
            self.follow(now, epoch);
        }
        self.aim = if self.rests != Instant::FOREVER && self.rests > now
            || !self.config.common.candidate
        {
            Aim::Observe
        } else {
            Aim::Wait
        };
        self.look_later(now);
    }

    /// The own node is there, in the own epoch. A write a tick later proves that the session goes on.
    fn won(&mut self, now: Instant) {
        self.aim = Aim::Won;
        self.seen = None;
        self.next = now + self.config.tick();
    }

    /// Leads, if the session is known to be good for another attempt to keep it.
    fn elect(&mut self, now: Instant) {
        let (until, timing) = (self.session.until(), self.timing());
        if self.aim != Aim::Won || until <= now + timing.retry {
            return;
        }
        let token = Token::new(self.config.common.generation, self.claimed);
        match self.office.elect(token, until) {
            // And watches it from then on.
            Ok(()) => self.turn(now, Aim::Hold),
            Err(why) => {
                if let NotElected::For(refusal) = why {
                    self.refusals.add(refusal);
                }
                self.leave(now, Rest::Briefly);
            }
        }
    }

    /// The own node was written.
    fn renewed(&mut self, now: Instant, sent: Instant, stat: Stat) {
        if !self.writes() {
            return;
        }
        if stat.owner != self.session.id() && self.rules.keeps(Rule::OwnSession) {
            return self.lost(now);
        }
        self.written(now, sent);
        self.elect(now);
    }

    /// A write went through that was sent then.
    fn written(&mut self, now: Instant, sent: Instant) {
        let timing = self.timing();
        let proves = self.rules.keeps(Rule::ProvenAtLeader) && !self.config.alone;
        if proves && self.rules.keeps(Rule::ValidityFromSend) {
            let tick = self.config.tick();
            self.session
                .wrote((sent, now), tick, &timing, &mut self.random);
        } else {
            let from = counts_from(&self.rules, sent, now);
            self.session.believe(from, &timing);
            self.session.ask_again(sent, &timing, &mut self.random);
        }
        if self.aim == Aim::Hold {
            self.office.extend(self.session.until());
        }
    }

    /// What was watched is not as it was.
    fn changed(&mut self, now: Instant, change: Change) {
        match self.aim {
            // KZ-5. It is seen to be gone, or another's, before anything is claimed.
            Aim::Hold if change == Change::Deleted => self.lost(now),
            Aim::Observe | Aim::Wait | Aim::Hold => self.next = now,
            _ => {}
        }
    }
}
