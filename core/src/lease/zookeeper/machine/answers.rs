//! What comes of an answer: what it says of the own node and of whoever is before it.

use super::ZooKeeper;
use super::aim::{Aim, Kind, Spot};
use crate::lease::office::NotElected;
use crate::lease::refuse::Refusal;
use crate::lease::zookeeper::api::{Change, Path, Reply, Stat};
use crate::lease::zookeeper::client::{Answer, Kind as _, Rest};
use crate::lease::zookeeper::queue;
use crate::lease::{Rule, Rules};
use crate::{Instant, Why};

impl<R: Rules> ZooKeeper<R> {
    pub(super) fn answered(&mut self, now: Instant, answer: Answer<Kind>) {
        let Answer {
            kind,
            sent,
            late,
            result,
        } = answer;
        match (kind, result) {
            (Kind::Close, Ok(Reply::Closed)) => self.session_over(now),
            (Kind::KeepAlive, Ok(Reply::Set(stat))) => {
                self.again = false;
                if self.saw_own(now, stat) {
                    self.written(now, sent);
                }
            }
            (Kind::KeepAlive, Ok(Reply::BadVersion)) => {
                // By an attempt in doubt; or by somebody else, who may go on with it.
                (self.stale, self.again) = (true, !self.again);
                self.client.ask(now, Kind::Own(false));
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
                if !self.client.rules.keeps(Rule::ProvenAtLeader) {
                    self.client.believe(now, sent);
                    self.extend();
                }
                self.looked(now, stat);
            }
            (Kind::Before(_), Ok(Reply::Data(data, stat))) => {
                if matches!(self.aim, Aim::Wait(Spot::Behind)) {
                    self.client.look_later(now);
                    if self.head == self.before {
                        self.follow(now, Some((data, stat.czxid)));
                    }
                }
            }
            (Kind::Head(_), Ok(Reply::Data(data, stat))) => match self.aim {
                Aim::Observe => {
                    self.client.look_later(now);
                    self.follow(now, Some((data, stat.czxid)));
                }
                Aim::Wait(_) => self.follow(now, Some((data, stat.czxid))),
                _ => {}
            },
            (kind, Ok(Reply::NotDone | Reply::NoNode)) => self.stale |= kind == Kind::KeepAlive,
            (kind, result) => {
                if result.is_ok() {
                    self.client.refusals.add(Refusal::WrongAnswer);
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
                self.client.try_later(now);
            }
            _ if kind.watches() => self.client.unwatch(),
            _ => {}
        }
    }

    /// There is a session.
    pub(super) fn opened(&mut self, now: Instant) {
        match self.aim {
            Aim::Observe => self.client.next = now,
            _ => self.want(now),
        }
    }

    /// The own node was written, by a request that was sent then.
    fn written(&mut self, now: Instant, sent: Instant) {
        self.client.written(now, sent);
        self.extend();
    }

    fn extend(&mut self) {
        if self.aim == Aim::Hold {
            self.office.extend(self.client.session.until());
        }
    }

    /// It cannot be relied on any more that node and session are its own.
    pub(super) fn taken(&mut self, now: Instant) {
        self.office.depose(Why::Taken);
        self.leave(now, Rest::None);
    }

    /// The session is over: the own node is gone with it, or will be.
    pub(super) fn session_over(&mut self, now: Instant) {
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
            .strip_prefix(&*self.client.config.parent)
            .and_then(|rest| rest.strip_prefix('/'))
            .is_some_and(|name| queue::is_of(name, self.guid()) && queue::sequence(name).is_some());
        match self.aim {
            _ if !is_own => {
                self.client.refusals.add(Refusal::WrongAnswer);
                self.doubt(now, Kind::Create);
            }
            Aim::Find | Aim::Enter => self.enter(now, path),
            _ => {}
        }
    }

    /// So many parts of the parent are there.
    fn prepared(&mut self, now: Instant, parts: u8) {
        if self.aim == Aim::Prepare(parts) {
            if parts < queue::depth(&self.client.config.parent) {
                self.turn(now, Aim::Prepare(parts + 1));
            } else {
                self.find(now);
            }
        }
    }

    fn deleted(&mut self, now: Instant) {
        match self.aim {
            Aim::Leave(_) => {
                self.own = None;
                self.client.next = now;
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
                self.turn(now, Aim::Prepare(queue::depth(&self.client.config.parent)));
            }
            (Kind::Parent(parts), Aim::Prepare(_)) if parts > 1 => {
                self.turn(now, Aim::Prepare(parts - 1));
            }
            (Kind::KeepAlive | Kind::Own(_), Aim::Find | Aim::Wait(_) | Aim::Hold) => {
                self.lost(now)
            }
            (Kind::Before(_) | Kind::Head(_), Aim::Wait(_)) => self.look(now, Spot::Unknown),
            (Kind::Head(_), Aim::Observe) => {
                self.head = None;
                self.client.next = now;
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
                Aim::Hold => self.client.look_later(now),
                _ => {}
            }
        }
    }

    /// What a node is that was made by this life of the node.
    fn found(&mut self, now: Instant, stat: Stat) {
        let own = self
            .own
            .clone()
            .filter(|_| stat.owner == self.client.session.id());
        if let Some(own) = own {
            self.enter(now, own);
            self.version = stat.version;
        } else {
            // LS-24: of a former session, with which it goes. It is not waited for.
            self.client.ask(now, Kind::Delete);
        }
    }

    /// How the own node is now. False when it is the own one no more.
    fn saw_own(&mut self, now: Instant, stat: Stat) -> bool {
        if !matches!(self.aim, Aim::Wait(_) | Aim::Hold) {
            return false;
        }
        let is_own = stat.owner == self.client.session.id();
        if !is_own && self.client.rules.keeps(Rule::RecheckOwnRecord) {
            self.taken(now);
            return false;
        }
        if stat.version.wrapping_sub(self.version) > 0 {
            self.version = stat.version;
            if self.stale && self.again {
                self.client.session.hurry(now);
            }
        }
        true
    }

    /// The own node is there, of this session, and none before it: leads, if the session is good for another attempt to keep it.
    fn claim(&mut self, now: Instant, stat: Stat) {
        let until = self.client.session.until();
        if until <= now + self.client.timing().retry {
            self.client.session.hurry(now);
            self.client.try_later(now);
            return;
        }
        match self.office.elect(self.client.token(stat.czxid), until) {
            Ok(()) => {
                (self.head, self.seen) = (None, None);
                // And watches it from then on.
                self.turn(now, Aim::Hold);
            }
            Err(why) => {
                if let NotElected::For(refusal) = why {
                    self.client.refusals.add(refusal);
                }
                self.leave(now, Rest::Briefly);
            }
        }
    }

    /// What was watched is not as it was.
    pub(super) fn changed(&mut self, now: Instant, change: Change) {
        match self.aim {
            Aim::Hold if change == Change::Deleted => self.lost(now),
            Aim::Wait(Spot::Behind) if change == Change::Deleted => self.look(now, Spot::Unknown),
            // Even if an answer is waited for: it may be older than this.
            Aim::Observe | Aim::Wait(_) | Aim::Hold => self.client.next = now,
            _ => {}
        }
    }
}
