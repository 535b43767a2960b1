//! Following: fetching from a leader, and making the own log agree with its log (KR-F3 to KR-F5).

use super::ask::Question;
use super::message::{Body, Code, Fetched};
use super::{Kraft, LogWrite, Refusal, Role, Rule, Rules};
use crate::log::Position;

impl<R: Rules> Kraft<R> {
    /// Whom to fetch from, by place; nobody while the leader is none of the voters.
    pub(super) fn fetch_target(&self) -> Option<usize> {
        self.config.voters.place(self.leader?)
    }

    /// KR-F4: a voter's fetch says that its disk holds all before, so that it waits for the disk. An observer's says nothing.
    pub(super) fn can_fetch(&self) -> bool {
        self.durable.log() == self.log.last().index
            || !self.is_voter()
            || !self.keeps(Rule::FlushBeforeFetch)
    }

    /// Fetches on, unless a fetch is open.
    pub(super) fn fetch(&mut self) {
        let Some(place) = self.fetch_target() else {
            return;
        };
        let peer = &self.peers[place];
        if peer.open.is_none() && peer.ready_at <= self.now && self.can_fetch() {
            self.fetch_from(place);
        }
    }

    pub(super) fn on_fetched(
        &mut self,
        place: usize,
        question: Question,
        code: Code,
        content: Fetched,
        high_watermark: u64,
    ) {
        let follows = self.role == Role::Follower && self.fetch_target() == Some(place);
        // The log changes by what is fetched alone; if not, the answer is about another log.
        if code != Code::None || !follows || question != Question::Fetch(self.log.last()) {
            return self.look_elsewhere(code);
        }
        self.hear_from_leader();
        match content {
            Fetched::Diverging(at) => self.truncate_to(at, high_watermark),
            Fetched::Snapshot(snapshot) => {
                let body = Body::FetchSnapshot {
                    epoch: self.state.epoch,
                    snapshot,
                    replica: self.key,
                };
                self.request_of(place, Question::Snapshot(snapshot), body);
            }
            Fetched::Records { epoch, count } => {
                let after = self.log.last();
                if count > 0 && self.log.append(epoch, count).is_ok() {
                    self.write_log(LogWrite::Append {
                        after,
                        epoch,
                        count,
                    });
                }
                self.take_over(high_watermark);
            }
        }
    }

    /// An observer that is told that its leader leads no more looks for another one.
    fn look_elsewhere(&mut self, code: Code) {
        if code == Code::NotLeader && self.role == Role::Follower && !self.is_voter() {
            self.become_unattached();
        }
    }

    /// A fetch was answered: KR-S2.
    pub(super) fn hear_from_leader(&mut self) {
        self.fetched = true;
        self.await_fetch();
    }

    /// KR-F5: what the leader shows as committed is, as far as this log goes.
    pub(super) fn take_over(&mut self, high_watermark: u64) {
        let known = high_watermark.min(self.log.last().index);
        if known > self.high_watermark {
            self.high_watermark = known;
            self.consume();
        }
    }

    /// KR-F3: the leader's log has nothing after `at` of the epochs up to `at.term`; nor may this one.
    fn truncate_to(&mut self, at: Position, high_watermark: u64) {
        if !self.keeps(Rule::TruncateFirst) {
            self.take_over(high_watermark);
        }
        let own = self.log.hint(Position::new(at.term, u64::MAX));
        let to = own.index.min(at.index);
        if to < self.high_watermark.max(self.log.base().index) && self.keeps(Rule::TruncateFirst) {
            return self.refusals.add(Refusal::TruncatesCommitted);
        }
        self.log.truncate(to);
        let to = self.log.last();
        self.write_log(LogWrite::Truncate { to });
    }
}
