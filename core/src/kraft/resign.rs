//! Going: EndQuorumEpoch and who comes next (KR-S7, KR-S8).

use super::message::{Body, Code, Message};
use super::{Correlation, Kraft, Role, Rules};
use crate::{Duration, NodeId, Why};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Reverse;

impl<R: Rules> Kraft<R> {
    /// KR-S7. Leads no more in this epoch, and says so, naming `to` first and then whoever has most of the log.
    ///
    /// After an election timeout it stands in the same epoch, without the memory of having led it, or it would follow itself
    /// when the others refuse (KAFKA-18379). The disk remembers.
    pub(super) fn resign(&mut self, to: Option<NodeId>, why: Why) {
        let ids = self.config.voters.ids();
        let mut others: Vec<(bool, Reverse<u64>, NodeId)> = (ids.iter().zip(&self.peers))
            .filter(|(id, _)| **id != self.config.id)
            .map(|(id, peer)| (to != Some(*id), Reverse(peer.end), *id))
            .collect();
        others.sort_unstable();
        self.successors = others.into_iter().map(|(_, _, id)| id).collect();
        self.role = Role::Resigned;
        self.end_reign(why);
        self.switch(Role::Resigned);
        self.arm_election();
    }

    /// A life that begins as the leader its disk names (KR-ResignedNoReuse): it votes for nobody else in that epoch, and
    /// appends nothing in it. It does not know how far the others are.
    pub(super) fn begin_resigned(&mut self) {
        self.successors = Arc::default();
        self.switch(Role::Resigned);
        self.arm_election();
        self.claim_in_a_former_life();
    }

    /// KR-S8: the leader goes. The first successor doubts at once, the others one after another.
    pub(super) fn on_end(
        &mut self,
        from: NodeId,
        correlation: Correlation,
        epoch: u64,
        successors: &[NodeId],
    ) {
        let Some(code) = self.hear_leader(from, epoch) else {
            return;
        };
        let body = Body::EndQuorumEpochReply(self.head(code));
        self.send(from, Message { correlation, body });
        if code != Code::None || self.role != Role::Follower || !self.is_voter() {
            return;
        }
        let longest = self.config.timing.election_backoff_max;
        let wait = turn(successors, self.config.id, longest);
        self.arm(wait);
        if wait == Duration::ZERO {
            self.stand();
        }
    }
}

/// How long `id` waits: the first not at all, the last half the longest time, and each before it half as long as the next.
fn turn(successors: &[NodeId], id: NodeId, longest: Duration) -> Duration {
    let Some(place) = successors.iter().position(|successor| *successor == id) else {
        return longest;
    };
    if place == 0 {
        return Duration::ZERO;
    }
    let shift = u32::try_from(successors.len() - place)
        .unwrap_or(63)
        .min(63);
    Duration::from_micros(longest.as_micros() >> shift)
}
