//! What counts of a sentinel's state, without absolute time and random state (law C10).

use super::{Rules, Sentinel};
use crate::Instant;
use core::hash::{Hash, Hasher};

impl<R: Rules> Sentinel<R> {
    pub(super) fn hash_state<H: Hasher>(&self, now: Instant, hasher: &mut H) {
        let ago = |at: Option<Instant>| at.map(|at| now.since(at));
        (self.config.id, self.id, self.current_epoch, self.halted).hash(hasher);
        (
            self.tick_at.ahead_of(now),
            now.since(self.ticked),
            ago(self.tilt),
        )
            .hash(hasher);
        (
            self.office,
            self.followed.map(|leader| (leader.node, leader.token)),
        )
            .hash(hasher);
        self.durable.requests.pending().hash(hasher);
        for (fewer, to, message) in self.durable.held() {
            (fewer, to).hash(hasher);
            message.hash(hasher);
        }
        for master in &self.masters {
            (
                master.monitor.name,
                master.config_epoch,
                master.leader_epoch,
            )
                .hash(hasher);
            (
                master.leader,
                self.durable.requests.pending_to(master.voted),
                master.odown,
            )
                .hash(hasher);
            // What clients are told, which falls behind while the disk does.
            master.written.hash(hasher);
            let waits = master.started.map(|at| (at.ahead_of(now), now.since(at)));
            waits.hash(hasher);
            if let Some(failover) = &master.failover {
                (failover.epoch, failover.stage, failover.promoted).hash(hasher);
                (
                    failover.forced,
                    failover.established,
                    now.since(failover.since),
                )
                    .hash(hasher);
                self.durable
                    .requests
                    .pending_to(failover.written)
                    .hash(hasher);
            }
            master.at.fingerprint(now, self.asked, hasher);
            master.replicas.len().hash(hasher);
            for one in &master.replicas {
                one.at.fingerprint(now, self.asked, hasher);
                (one.reconf, now.since(one.ordered), one.seen).hash(hasher);
            }
            for one in &master.sentinels {
                one.at.fingerprint(now, self.asked, hasher);
                (
                    one.id,
                    one.down,
                    ago(one.heard),
                    ago(one.asked_at),
                    one.vote,
                )
                    .hash(hasher);
                let number = |number: u64| self.asked - number;
                (number(one.asked), number(one.answered)).hash(hasher);
            }
        }
    }
}
