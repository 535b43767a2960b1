//! Leading: the own epoch, its first record, the high watermark, and the check of the quorum (KR-S5, KR-S6).

use super::{Kraft, LogWrite, Role, Rule, Rules};
use crate::{Event, Instant, Why};

/// What a leader knows of its epoch.
#[derive(Clone, Debug)]
pub(super) struct Reign {
    /// The end of the log when the epoch began: its LeaderChange record comes after.
    pub(super) start: u64,
    /// Proposals that wait to be appended together, and since when for how long.
    pub(super) lingering: u64,
    pub(super) linger_until: Instant,
    /// Whether its controller is active (KC-1).
    pub(super) claimed: bool,
    /// Whether its controller gave up, and the node leads on (KAFKA-13104).
    pub(super) renounced: bool,
}

impl Reign {
    pub(super) fn lingers_until(&self, now: Instant) -> bool {
        self.lingering > 0 && self.linger_until <= now
    }
}

impl<R: Rules> Kraft<R> {
    /// Elected: the disk says so. Its epoch begins with a record of its own, so that the high watermark can pass it.
    pub(super) fn lead(&mut self) {
        self.switch(Role::Leader);
        self.retries = 0;
        self.leader = Some(self.config.id);
        self.reign = Some(Reign {
            start: self.log.last().index,
            lingering: 0,
            linger_until: self.now,
            claimed: false,
            renounced: false,
        });
        self.event(Event::Elected(self.token()));
        self.await_quorum();
        self.append(1);
        self.claim();
        self.advance_high_watermark();
    }

    /// Appends records of the own epoch.
    pub(super) fn append(&mut self, count: u64) {
        let (after, epoch) = (self.log.last(), self.state.epoch);
        // Epochs rise, and what is proposed fits.
        if self.log.append(epoch, count).is_ok() {
            self.write_log(LogWrite::Append {
                after,
                epoch,
                count,
            });
            self.advance_high_watermark();
        }
    }

    /// Up to where the leader shows the log as committed; 0 while that is unknown (KR-S5).
    pub(super) fn shown_high_watermark(&self) -> u64 {
        let known = self.log.term_at(self.high_watermark) == Some(self.state.epoch)
            || !self.keeps(Rule::OwnEpochHighWatermark);
        if known { self.high_watermark } else { 0 }
    }

    /// KR-S5: what a majority has is committed, from the first record of the own epoch on.
    pub(super) fn advance_high_watermark(&mut self) {
        if self.reign.is_none() {
            return;
        }
        let own = match self.keeps(Rule::FlushBeforeOwnAck) {
            true => self.durable.log(),
            false => self.log.last().index,
        };
        let floor = match self.keeps(Rule::HighWatermarkNeverFalls) {
            true => self.high_watermark,
            false => 0,
        };
        let voters = &self.config.voters;
        let reached = voters.membership().reached_by_quorum(floor, |place| {
            match voters.ids()[place] == self.config.id {
                true => own,
                false => self.peers[place].end,
            }
        });
        let own_epoch = self.log.term_at(reached) == Some(self.state.epoch);
        if reached == self.high_watermark
            || (!own_epoch && self.keeps(Rule::OwnEpochHighWatermark))
            || (reached == 0 && floor == 0)
        {
            return;
        }
        self.high_watermark = reached;
        self.consume();
    }

    /// KR-S6: the time in which a majority must have fetched begins.
    fn await_quorum(&mut self) {
        for peer in &mut self.peers {
            peer.fetched = false;
        }
        self.armed_at = self.now;
        // One that needs nobody is cut off from nobody.
        let checked = self.peers.len() > 1 && self.keeps(Rule::CheckQuorum);
        self.due = checked.then(|| self.now + self.config.timing.check_quorum());
    }

    /// A voter fetched. When a majority did, the leader included, the time begins anew.
    pub(super) fn heard_from(&mut self, place: usize) {
        self.peers[place].fetched = true;
        let fetched = self.peers.iter().filter(|peer| peer.fetched).count();
        if self.due.is_some() && fetched >= self.peers.len() / 2 {
            self.await_quorum();
        }
    }

    /// It leads no more.
    pub(super) fn end_reign(&mut self, why: Why) {
        let Some(reign) = self.reign.take() else {
            return;
        };
        if !reign.renounced {
            self.event(Event::Deposed(self.token(), why));
        }
        self.leader = None;
        self.dismiss_parked();
    }
}
