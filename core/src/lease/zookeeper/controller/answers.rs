//! What comes of an answer: what it says of `/controller` and of the epoch.

use super::aim::{Aim, Kind};
use super::{Controller, Known};
use crate::lease::office::NotElected;
use crate::lease::refuse::Refusal;
use crate::lease::zookeeper::api::{Change, Data, Reply, Stat};
use crate::lease::zookeeper::client::{Answer, Kind as _, Rest};
use crate::lease::zookeeper::queue;
use crate::lease::{Rule, Rules, value};
use crate::{Instant, Why};

impl<R: Rules> Controller<R> {
    pub(super) fn answered(&mut self, now: Instant, answer: Answer<Kind>) {
        let Answer {
            kind,
            sent,
            late,
            result,
        } = answer;
        match (kind, result) {
            (Kind::Close, Ok(Reply::Closed)) => self.session_over(now),
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
            (Kind::Claim, Ok(Reply::NodeExists)) => {
                if self.aim == Aim::Claim {
                    self.turn(now, Aim::Doubt);
                }
            }
            // Somebody wrote the epoch and may not be there any more, nor stop writing: not at the pace of the answers.
            (Kind::Claim, Ok(Reply::BadVersion)) => self.doubt(now, Kind::Claim),
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
                    self.client.next = now;
                }
            }
            // What is there may have changed since: it is asked again.
            (Kind::Look(_) | Kind::Epoch, Ok(Reply::Data(..) | Reply::NoNode)) if late => {}
            (Kind::Look(_), Ok(Reply::Data(data, stat))) => self.looked(now, data, stat),
            (Kind::Look(_), Ok(Reply::NoNode)) => self.vacant(now),
            (Kind::Epoch, Ok(Reply::Data(data, stat))) => self.read(now, &data, stat),
            (Kind::Epoch, Ok(Reply::NoNode)) => match self.aim {
                Aim::Read => self.turn(now, Aim::Start),
                Aim::Learn => self.unlearned(now),
                Aim::Confirm => self.leave(now, Rest::Briefly),
                _ => {}
            },
            (Kind::Start | Kind::Claim, Ok(Reply::NoNode)) => {
                if matches!(self.aim, Aim::Start | Aim::Claim) {
                    self.forget();
                    self.turn(now, Aim::Prepare(queue::depth(&self.client.config.parent)));
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
                    self.client.refusals.add(Refusal::WrongAnswer);
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

    /// The session is over, and the own node with it, or it will be (KZ-5).
    pub(super) fn session_over(&mut self, now: Instant) {
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
            if parts < queue::depth(&self.client.config.parent) {
                self.turn(now, Aim::Prepare(parts + 1));
            } else {
                self.again(now);
            }
        }
    }

    /// Whether `/controller` is of this node: by its session. What else names it is of a former life (KAFKA-1029).
    fn is_own(&self, data: &str, stat: Stat) -> bool {
        if self.client.rules.keeps(Rule::OwnSession) {
            stat.owner == self.client.session.id()
        } else {
            value::name(data) == Some(self.client.config.common.claimant.identity.name())
        }
    }

    /// Somebody is elected.
    fn looked(&mut self, now: Instant, data: Data, stat: Stat) {
        let own = self.is_own(&data, stat);
        match self.aim {
            Aim::Hold if own => self.client.look_later(now),
            Aim::Hold => self.lost(now),
            Aim::Wait | Aim::Doubt if own => self.turn(now, Aim::Confirm),
            Aim::Doubt => {
                self.forget();
                self.saw(now, data, stat);
            }
            Aim::Wait | Aim::Observe => self.saw(now, data, stat),
            _ => {}
        }
    }

    /// Somebody else is elected: in which epoch? In the one that was read between two looks at the same node; one that was
    /// read after the first alone may be of the next controller, as the two are not read at once.
    fn saw(&mut self, now: Instant, data: Data, stat: Stat) {
        self.seen = Some(data).filter(|data| value::fits(data));
        let Known { node, epoch, sure } = self.known;
        if node == stat.czxid && epoch > 0 {
            self.known.sure = true;
            self.follow(now, epoch);
            self.wait(now);
            self.client.look_later(now);
            return;
        }
        self.known = Known {
            node: stat.czxid,
            ..Known::default()
        };
        self.turn(now, Aim::Learn);
        if epoch > 0 && !sure {
            // Another was elected in between: not at the pace of the answers.
            self.client.try_later(now);
        }
    }

    /// Nobody is elected.
    fn vacant(&mut self, now: Instant) {
        self.seen = None;
        match self.aim {
            Aim::Observe => {
                self.office.follow(None);
                self.client.look_later(now);
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
            self.client.refusals.add(Refusal::TokenExhausted);
            return match self.aim {
                Aim::Learn => self.unlearned(now),
                _ => self.leave(now, Rest::Briefly),
            };
        };
        match self.aim {
            Aim::Read => {
                (self.claimed, self.version) = (epoch + 1, stat.version);
                self.turn(now, Aim::Claim);
            }
            Aim::Learn if epoch == 0 => self.unlearned(now),
            Aim::Learn => {
                self.known.epoch = epoch;
                self.wait(now);
                self.client.next = now;
            }
            // KZ-4: the answer was lost.
            Aim::Confirm if epoch == self.claimed || !self.client.rules.keeps(Rule::OwnSession) => {
                (self.claimed, self.version) = (epoch, stat.version);
                self.won(now);
                self.elect(now);
            }
            // KZ-F3: it is its node, and not its epoch.
            Aim::Confirm => self.leave(now, Rest::Briefly),
            _ => {}
        }
    }

    /// Somebody else leads, in an epoch that cannot be known.
    fn unlearned(&mut self, now: Instant) {
        self.wait(now);
        self.client.look_later(now);
    }

    /// The own node is there, in the own epoch. A write a tick later proves that the session goes on.
    fn won(&mut self, now: Instant) {
        self.aim = Aim::Won;
        self.seen = None;
        self.client.next = now + self.client.config.tick();
    }

    /// Leads, if the session is known to be good for another attempt to keep it.
    fn elect(&mut self, now: Instant) {
        let until = self.client.session.until();
        if self.aim != Aim::Won || until <= now + self.client.timing().retry {
            return;
        }
        match self.office.elect(self.client.token(self.claimed), until) {
            // And watches it from then on.
            Ok(()) => self.turn(now, Aim::Hold),
            Err(why) => {
                if let NotElected::For(refusal) = why {
                    self.client.refusals.add(refusal);
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
        if stat.owner != self.client.session.id() && self.client.rules.keeps(Rule::OwnSession) {
            return self.lost(now);
        }
        self.written(now, sent);
        self.elect(now);
    }

    /// A write went through that was sent then.
    fn written(&mut self, now: Instant, sent: Instant) {
        self.client.written(now, sent);
        if self.aim == Aim::Hold {
            self.office.extend(self.client.session.until());
        }
    }

    /// What was watched is not as it was.
    pub(super) fn changed(&mut self, now: Instant, change: Change) {
        match self.aim {
            // KZ-5. It is seen to be gone, or another's, before anything is claimed.
            Aim::Hold if change == Change::Deleted => self.lost(now),
            Aim::Observe | Aim::Wait | Aim::Hold => self.client.next = now,
            _ => {}
        }
    }
}
