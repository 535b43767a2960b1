//! What an exhaustive search asks of a machine beyond its inputs (law C10): its state without absolute time, and without what
//! it drew to name its connections.

use super::lead::{Handler, Leading};
use super::learn::Learning;
use super::vote::Told;
use super::{Link, Rules, Zab};
use crate::{Instant, NodeId};
use core::hash::{Hash, Hasher};

impl<R: Rules> Zab<R> {
    /// The connection it has with `peer`, as its leader or as its learner: what tells a search which packets on their way are of
    /// it. Its names were drawn, and are no part of the fingerprint.
    #[must_use]
    pub fn link(&self, peer: NodeId) -> Option<Link> {
        if let Some(leading) = &self.leading {
            let place = self.config.ensemble.place(peer)?;
            return leading.handlers[place].as_ref().map(|to| to.link);
        }
        let learning = self.learning.as_ref();
        let learning = learning.filter(|learning| learning.leader == peer)?;
        Some(learning.link)
    }

    pub(super) fn view<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        (self.accepted, self.current, self.commit, self.blank).hash(hasher);
        (self.role, self.round, self.vote, self.halted).hash(hasher);
        self.log.hash(hasher);
        (
            self.durable.requests.pending(),
            self.durable.appended,
            self.durable.synced(),
        )
            .hash(hasher);
        for sync in self.durable.open_syncs() {
            sync.hash(hasher);
        }
        let reads = &self.reads;
        (reads.asked - reads.done, reads.posed - reads.done).hash(hasher);
        let looking = &self.looking;
        (looking.begun, looking.hold.map(|at| at.ahead_of(now))).hash(hasher);
        if looking.begun {
            let votes = |votes: &[Option<Told>], hasher: &mut H| votes.hash(hasher);
            (looking.proposal, looking.initial, looking.wait).hash(hasher);
            (
                looking.due.ahead_of(now),
                looking.finalizing.map(|at| at.ahead_of(now)),
            )
                .hash(hasher);
            votes(&looking.received, hasher);
            votes(&looking.outside, hasher);
        }
        if let Some(leading) = &self.leading {
            self.view_leading(leading, now, hasher);
        }
        if let Some(learning) = &self.learning {
            self.view_learning(learning, now, hasher);
        }
    }

    fn view_leading<H: Hasher>(&self, leading: &Leading, now: Instant, hasher: &mut H) {
        (leading.phase, leading.epoch, leading.told, leading.own).hash(hasher);
        (leading.history, leading.deserted, leading.whole).hash(hasher);
        self.durable
            .requests
            .pending_to(leading.ticket)
            .hash(hasher);
        (leading.limit.ahead_of(now), leading.half.ahead_of(now)).hash(hasher);
        (&leading.sets, &leading.made).hash(hasher);
        let behind = |round: u64| leading.round.saturating_sub(round);
        leading.awaited.map(behind).hash(hasher);
        leading.question.hash(hasher);
        for handler in &leading.handlers {
            let shown = handler.as_ref().map(|handler| {
                let Handler {
                    stage,
                    last,
                    announced,
                    history,
                    sent,
                    told,
                    acked,
                    round,
                    question,
                    ..
                } = handler;
                let header = handler.header;
                let owes = handler.owes.map(|(upto, since)| (upto, now.since(since)));
                let ahead = handler.deadline.ahead_of(now);
                (
                    (*stage, *last, *announced, *history, *sent, *told),
                    (*acked, behind(*round), *question, header, owes, ahead),
                )
            });
            shown.hash(hasher);
        }
    }

    fn view_learning<H: Hasher>(&self, learning: &Learning, now: Instant, hasher: &mut H) {
        (learning.leader, learning.stage, learning.epoch).hash(hasher);
        learning.deadline.ahead_of(now).hash(hasher);
        learning.view(now, &self.durable, hasher);
    }
}
