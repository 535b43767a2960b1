//! The fingerprint of a machine (law C10): its protocol state, with instants relative to `now` and without random state.

use super::ask::{Open, Peer};
use super::fetch::Parked;
use super::lead::Reign;
use super::{Kraft, Rules};
use crate::Instant;
use core::hash::{Hash, Hasher};

impl<R: Rules> Kraft<R> {
    pub(super) fn view<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        let ahead = |at: Instant| at.ahead_of(now);
        let number = |number: u64| self.correlation - number.min(self.correlation);
        self.state.hash(hasher);
        (self.role, self.leader, self.halted).hash(hasher);
        self.log.hash(hasher);
        (self.high_watermark, self.applied, self.fetched).hash(hasher);
        (self.backing_off, self.retries.min(10)).hash(hasher);
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
