//! What an exhaustive search asks of a machine (law C10): its state without absolute time, also without time at all, and
//! which answers can do nothing any more.

use super::ask::{Open, Peer};
use super::fetch::Parked;
use super::lead::Reign;
use super::{Correlation, Kraft, Rules};
use crate::{Duration, Instant, NodeId};
use core::hash::{Hash, Hasher};

/// What of a machine's state counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Whether time counts. Without it a machine is what it can do when every timer may fire at any moment, and a question
    /// is open or is not, whatever its number: see [`Kraft::awaits`].
    pub timed: bool,
}

impl View {
    /// All of the state.
    pub const PLAIN: Self = Self { timed: true };
}

impl<R: Rules> Kraft<R> {
    /// Whether an answer of that number would be heard: what was asked of the node is open still.
    #[must_use]
    pub fn awaits(&self, from: NodeId, correlation: Correlation) -> bool {
        let place = self.config.voters.place(from);
        let open = place.and_then(|place| self.peers[place].open);
        let own = correlation.incarnation == self.incarnation();
        own && open.is_some_and(|open| open.number == correlation.number)
    }

    /// Feeds the protocol state into `hasher` as `view` shows it.
    pub fn view<H: Hasher>(&self, now: Instant, view: View, hasher: &mut H) {
        let ahead = |at: Instant| match view.timed {
            true => at.ahead_of(now),
            false => Duration::ZERO,
        };
        let number = |number: u64| match view.timed {
            true => self.correlation - number.min(self.correlation),
            false => 0,
        };
        self.state.hash(hasher);
        (self.role, self.leader, self.halted).hash(hasher);
        self.log.hash(hasher);
        (self.high_watermark, self.applied, self.fetched).hash(hasher);
        // More candidacies than that stretch no wait any further.
        (self.backing_off, view.timed.then(|| self.retries.min(10))).hash(hasher);
        (self.due.map(ahead), self.durable.open()).hash(hasher);
        self.durable.log().hash(hasher);
        for write in self.durable.writes() {
            write.hash(hasher);
        }
        self.durable.held().hash(hasher);
        for peer in &self.peers {
            let Peer {
                open,
                ready_at,
                answer,
                end,
                fetched,
            } = peer;
            let open = open.map(|open| {
                let Open {
                    number: asked,
                    question,
                    until,
                } = open;
                (number(asked), question, ahead(until))
            });
            (open, ahead(*ready_at), answer, end, fetched).hash(hasher);
        }
        self.reign.is_some().hash(hasher);
        if let Some(reign) = &self.reign {
            let Reign {
                start,
                lingering,
                linger_until,
                claimed,
                renounced,
            } = *reign;
            let lingers = (lingering > 0).then(|| (lingering, ahead(linger_until)));
            (start, lingers, claimed, renounced).hash(hasher);
        }
        for parked in &self.parked {
            let Parked {
                from,
                correlation,
                after,
                known,
                until,
            } = *parked;
            (from, correlation, after, known, ahead(until)).hash(hasher);
        }
        self.successors.hash(hasher);
    }
}
