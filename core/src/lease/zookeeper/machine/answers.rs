//! What comes of an answer: what it says of the session, of the own node and of whoever is before it.

use super::ZooKeeper;
use super::aim::{Aim, Asked, Kind, Rest, Spot};
use crate::lease::office::NotElected;
use crate::lease::refuse::Refusal;
use crate::lease::requests::Open;
use crate::lease::rules::counts_from;
use crate::lease::zookeeper::api::{Change, Path, Reply, SessionId, Stat};
use crate::lease::zookeeper::queue;
use crate::lease::zookeeper::session::bounded;
use crate::lease::{Rule, Rules};
use crate::{Duration, Instant, Ticket, Token, Unknown, Why};

impl<R: Rules> ZooKeeper<R> {
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
            // Of a place that it does not have any more.
            return;
        }
        if self.watch == number as u16
            && !matches!(result, Ok(Reply::Data(..) | Reply::Children(_)))
        {
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
            (Kind::KeepAlive, Ok(Reply::Set(stat))) => {
                self.again = false;
                if self.saw_own(now, stat) {
                    self.written(now, sent);
                }
            }
            (Kind::KeepAlive, Ok(Reply::BadVersion)) => {
                // By an attempt in doubt; or by somebody else, who may go on with it.
                (self.stale, self.again) = (true, !self.again);
                self.ask(now, Kind::Own(false));
            }
            (Kind::Create, Ok(Reply::Created(path))) => {
                self.written(now, sent);
                self.created(now, path);
            }
            // By an attempt in doubt, where the numbers are used up.
            (Kind::Create, Ok(Reply::NodeExists)) => self.doubt(now, kind),
            (Kind::Parent(parts), Ok(Reply::Created(_) | Reply::NodeExists)) => {
                self.prepared(now, parts)
            }
            (Kind::Delete, Ok(Reply::Deleted | Reply::NoNode)) => self.deleted(now),
            (kind, Ok(Reply::NoNode)) if !late => self.missing(now, kind),
            // What is there may have changed since: it is asked again.
            (Kind::List(_), Ok(Reply::Children(_))) if late => {}
            (Kind::List(_), Ok(Reply::Children(names))) => self.listed(now, &names),
            (Kind::Own(_) | Kind::Before(_) | Kind::Head(_), Ok(Reply::Data(..))) if late => {}
            (Kind::Own(_), Ok(Reply::Data(_, stat))) => {
                if !self.rules.keeps(Rule::ProvenAtLeader) {
                    self.believe(now, sent);
                }
                self.looked(now, stat);
            }
            (Kind::Before(_), Ok(Reply::Data(data, stat))) => {
                if matches!(self.aim, Aim::Wait(Spot::Behind)) {
                    self.look_later(now);
                    if self.head == self.before {
                        self.follow(now, Some((data, stat.czxid)));
                    }
                }
            }
            (Kind::Head(_), Ok(Reply::Data(data, stat))) => match self.aim {
                Aim::Observe => {
                    self.look_later(now);
                    self.follow(now, Some((data, stat.czxid)));
                }
                Aim::Wait(_) => self.follow(now, Some((data, stat.czxid))),
                _ => {}
            },
            (kind, Ok(Reply::NotDone | Reply::NoNode)) => self.stale |= kind == Kind::KeepAlive,
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
            Kind::KeepAlive => (self.stale, self.again) = (true, false),
            // A node of its own may be there (LS-R4).
            Kind::Create if self.aim == Aim::Enter => {
                self.aim = Aim::Find;
                let timing = self.timing();
                self.next = now + timing.retry_pause(&mut self.random);
            }
            Kind::List(true) | Kind::Own(true) | Kind::Before(true) | Kind::Head(true) => {
                self.watch = 0;
            }
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
                // One that was left for a former place says nothing.
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

    /// The own node was written, by a request that was sent then.
    fn written(&mut self, now: Instant, sent: Instant) {
        let timing = self.timing();
        let proves = self.rules.keeps(Rule::ProvenAtLeader) && !self.config.alone;
        if proves && self.rules.keeps(Rule::ValidityFromSend) {
            let tick = self.config.tick();
            self.session
                .wrote((sent, now), tick, &timing, &mut self.random);
            self.extend();
        } else {
            self.believe(now, sent);
            self.session.ask_again(sent, &timing, &mut self.random);
        }
    }

    /// What was asked then is taken to say that the session goes on.
    fn believe(&mut self, now: Instant, sent: Instant) {
        let (from, timing) = (counts_from(&self.rules, sent, now), self.timing());
        self.session.believe(from, &timing);
        self.extend();
    }

    fn extend(&mut self) {
        if self.aim == Aim::Hold {
            self.office.extend(self.session.until());
        }
    }

    /// The session is over: the own node is gone with it, or will be.
    fn session_over(&mut self, now: Instant) {
        match self.aim {
            Aim::Observe => self.connect(now),
            Aim::Leave(rest) => self.stand_back(now, rest),
            _ => {
                self.office.depose(Why::Taken);
                self.aim = Aim::Find;
                self.connect(now);
            }
        }
    }

    /// The own node was created.
    fn created(&mut self, now: Instant, path: Path) {
        let is_own = path
            .strip_prefix(&*self.config.parent)
            .and_then(|rest| rest.strip_prefix('/'))
            .is_some_and(|name| queue::is_of(name, self.guid()) && queue::sequence(name).is_some());
        match self.aim {
            _ if !is_own => {
                self.refusals.add(Refusal::WrongAnswer);
                self.doubt(now, Kind::Create);
            }
            Aim::Find | Aim::Enter => self.enter(now, path),
            _ => {}
        }
    }

    /// So many parts of the parent are there.
    fn prepared(&mut self, now: Instant, parts: u8) {
        if self.aim == Aim::Prepare(parts) {
            if parts < queue::depth(&self.config.parent) {
                self.aim = Aim::Prepare(parts + 1);
                self.next = now;
            } else {
                self.find(now);
            }
        }
    }

    fn deleted(&mut self, now: Instant) {
        match self.aim {
            Aim::Leave(_) => {
                self.own = None;
                self.next = now;
            }
            Aim::Find => self.find(now),
            Aim::Wait(_) => self.look(now, Spot::Unknown),
            _ => {}
        }
    }

    /// What was asked for is not there, nor what it is in.
    fn missing(&mut self, now: Instant, kind: Kind) {
        match (kind, self.aim) {
            (Kind::List(_), Aim::Observe) => self.vacant(now),
            // LS-26.
            (Kind::List(_) | Kind::Create, Aim::Find | Aim::Enter | Aim::Wait(_)) => {
                self.forget();
                self.aim = Aim::Prepare(queue::depth(&self.config.parent));
                self.next = now;
            }
            (Kind::Parent(parts), Aim::Prepare(_)) if parts > 1 => {
                self.aim = Aim::Prepare(parts - 1);
                self.next = now;
            }
            (Kind::KeepAlive | Kind::Own(_), Aim::Find | Aim::Wait(_) | Aim::Hold) => {
                self.lost(now)
            }
            (Kind::Before(_) | Kind::Head(_), Aim::Wait(_)) => self.look(now, Spot::Unknown),
            (Kind::Head(_), Aim::Observe) => {
                self.head = None;
                self.next = now;
            }
            _ => {}
        }
    }

    /// The own node is gone, and the session may be there.
    pub(super) fn lost(&mut self, now: Instant) {
        self.office.depose(Why::Taken);
        self.find(now);
    }

    /// What the own node is.
    fn looked(&mut self, now: Instant, stat: Stat) {
        if self.aim == Aim::Find {
            self.found(now, stat);
        } else if self.saw_own(now, stat) {
            match self.aim {
                Aim::Wait(Spot::First) => self.claim(now, stat),
                Aim::Hold => self.look_later(now),
                _ => {}
            }
        }
    }

    /// What a node is that was made by this life of the node.
    fn found(&mut self, now: Instant, stat: Stat) {
        let own = self.own.clone().filter(|_| stat.owner == self.session.id());
        if let Some(own) = own {
            self.enter(now, own);
            self.version = stat.version;
        } else {
            // LS-24: of a former session, with which it goes. It is not waited for.
            self.ask(now, Kind::Delete);
        }
    }

    /// How the own node is now. False when it is the own one no more.
    fn saw_own(&mut self, now: Instant, stat: Stat) -> bool {
        if !matches!(self.aim, Aim::Wait(_) | Aim::Hold) {
            return false;
        }
        if stat.owner != self.session.id() && self.rules.keeps(Rule::RecheckOwnRecord) {
            self.office.depose(Why::Taken);
            self.leave(now, Rest::None);
            return false;
        }
        if stat.version.wrapping_sub(self.version) > 0 {
            self.version = stat.version;
            if self.stale && self.again {
                self.session.hurry(now);
            }
        }
        true
    }

    /// The own node is there, of this session, and none before it: leads, if the session is good for another attempt to keep it.
    fn claim(&mut self, now: Instant, stat: Stat) {
        let (until, timing) = (self.session.until(), self.timing());
        if until <= now + timing.retry {
            self.session.hurry(now);
            self.next = now + timing.retry_pause(&mut self.random);
            return;
        }
        let token = Token::new(self.config.common.generation, stat.czxid);
        match self.office.elect(token, until) {
            Ok(()) => {
                self.aim = Aim::Hold;
                (self.head, self.seen) = (None, None);
                // And watches it from then on.
                self.next = now;
            }
            Err(why) => {
                if let NotElected::For(refusal) = why {
                    self.refusals.add(refusal);
                }
                self.leave(now, Rest::Briefly);
            }
        }
    }

    /// What was watched is not as it was.
    fn changed(&mut self, now: Instant, change: Change) {
        match self.aim {
            Aim::Hold if change == Change::Deleted => self.lost(now),
            Aim::Wait(Spot::Behind) if change == Change::Deleted => self.look(now, Spot::Unknown),
            // Even if an answer is waited for: it may be older than this.
            Aim::Observe | Aim::Wait(_) | Aim::Hold => self.next = now,
            _ => {}
        }
    }
}
