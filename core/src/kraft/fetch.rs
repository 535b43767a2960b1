//! Answering fetches: KR-F1 and KR-F2, and the wait for something new.

use super::message::{Body, Code, Correlation, Fetched, Message};
use super::{Kraft, ReplicaKey, Role, Rule, Rules};
use crate::log::Position;
use crate::{Instant, NodeId};

/// How many nodes that are no voters may wait at once. Whoever finds no room is answered at once that there is nothing.
const OBSERVERS: usize = 64;

/// A fetch that waits for something new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Parked {
    pub(super) from: NodeId,
    pub(super) correlation: Correlation,
    pub(super) after: Position,
    /// The high watermark it knows.
    pub(super) known: u64,
    /// When it is answered at the latest.
    pub(super) until: Instant,
}

impl<R: Rules> Kraft<R> {
    pub(super) fn on_fetch(
        &mut self,
        correlation: Correlation,
        epoch: u64,
        after: Position,
        replica: ReplicaKey,
        known: u64,
    ) {
        let from = replica.id;
        // Who asks again has given up what it asked before.
        self.parked.retain(|parked| parked.from != from);
        let code = self.serves(epoch);
        if code != Code::None {
            return self.answer_fetch(from, correlation, code, after, Fetched::NOTHING);
        }
        let content = self.after(after);
        if let Some(place) = self.voter(replica) {
            // What diverges is no acknowledgement.
            if matches!(content, Fetched::Records { .. }) {
                self.peers[place].end = after.index;
            }
            self.heard_from(place);
            self.advance_high_watermark();
        }
        let parked = Parked {
            from,
            correlation,
            after,
            known,
            until: self.now + self.config.timing.fetch_max_wait,
        };
        if content != Fetched::NOTHING || self.is_news(&parked) || !self.park(parked) {
            self.answer_fetch(from, correlation, Code::None, after, content);
        }
    }

    /// KR-F1: whether this node can answer what only the leader of `epoch` can.
    pub(super) fn serves(&self, epoch: u64) -> Code {
        if epoch < self.state.epoch {
            Code::FencedLeaderEpoch
        } else if epoch > self.state.epoch {
            Code::UnknownLeaderEpoch
        } else if self.role != Role::Leader {
            Code::NotLeader
        } else {
            Code::None
        }
    }

    /// KR-F2: what comes after a record, if the log has it.
    fn after(&self, after: Position) -> Fetched {
        let base = self.log.base();
        if after.index < base.index || (after.index == base.index && after != base) {
            return Fetched::Snapshot(base);
        }
        if !self.log.contains(after) && self.keeps(Rule::DivergenceChecked) {
            // The end of the latest epoch that the follower may have in common with this log.
            let end = self.log.hint(Position::new(after.term, u64::MAX));
            return match end.term > after.term {
                true => Fetched::Snapshot(base),
                false => Fetched::Diverging(end),
            };
        }
        match self.log.run_after(after.index) {
            Some((epoch, count)) => Fetched::Records {
                epoch,
                count: count.min(self.config.batch),
            },
            None => Fetched::NOTHING,
        }
    }

    /// Whether there is something that the one who waits does not know.
    fn is_news(&self, parked: &Parked) -> bool {
        self.log.last().index > parked.after.index || self.shown_high_watermark() > parked.known
    }

    /// Keeps a fetch until there is something new. False when there is no room.
    fn park(&mut self, parked: Parked) -> bool {
        let stranger = |id: NodeId| self.config.voters.place(id).is_none();
        let waiting = self.parked.iter();
        let observers = waiting.filter(|parked| stranger(parked.from)).count();
        if stranger(parked.from) && observers >= OBSERVERS {
            return false;
        }
        self.parked.push(parked);
        true
    }

    fn answer_fetch(
        &mut self,
        to: NodeId,
        correlation: Correlation,
        code: Code,
        after: Position,
        content: Fetched,
    ) {
        let high_watermark = match self.role {
            Role::Leader => self.shown_high_watermark(),
            _ => 0,
        };
        let body = Body::FetchReply {
            head: self.head(code),
            after,
            content,
            high_watermark,
        };
        self.send(to, Message { correlation, body });
    }

    /// When the first of those that wait is answered at the latest.
    pub(super) fn answers_at(&self) -> Option<Instant> {
        self.parked.iter().map(|parked| parked.until).min()
    }

    /// Leader: those that wait for what is there now have it.
    pub(super) fn answer_with_news(&mut self) {
        let mut at = 0;
        while let Some(parked) = self.parked.get(at).copied() {
            if self.is_news(&parked) {
                self.parked.remove(at);
                self.answer_parked(parked);
            } else {
                at += 1;
            }
        }
    }

    /// Those that waited long enough are told that there is nothing.
    pub(super) fn answer_late_fetches(&mut self) {
        let mut at = 0;
        while let Some(parked) = self.parked.get(at).copied() {
            if parked.until <= self.now {
                self.parked.remove(at);
                self.answer_parked(parked);
            } else {
                at += 1;
            }
        }
    }

    fn answer_parked(&mut self, parked: Parked) {
        let Parked {
            from,
            correlation,
            after,
            ..
        } = parked;
        let content = self.after(after);
        self.answer_fetch(from, correlation, Code::None, after, content);
    }

    /// It leads no more: those that wait are told to ask elsewhere.
    pub(super) fn dismiss_parked(&mut self) {
        while let Some(parked) = self.parked.pop() {
            let Parked {
                from,
                correlation,
                after,
                ..
            } = parked;
            self.answer_fetch(from, correlation, Code::NotLeader, after, Fetched::NOTHING);
        }
    }
}
