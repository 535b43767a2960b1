//! Somebody who is watched: when it was asked for a sign of life, when it gave one, and whether it is held to be down.

use super::message::{Life, Report, Role};
use super::timing;
use crate::{Duration, Instant, NodeId};
use core::hash::{Hash, Hasher};

/// What is known of one node: a master, a replica or another sentinel.
///
/// Connections are left out, but for the word of the host that one was closed. Else the oldest ping that was not answered says
/// what a link would: after half of `down_after` the real sentinel closes a link by it (SEN-D2), and from then on such a node
/// counts as not connected here.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) node: NodeId,
    /// The oldest ping that was not answered: its number, and when it was sent.
    unanswered: Option<(u64, Instant)>,
    /// Whether its connection was closed, and nothing was heard since.
    closed: bool,
    /// When the newest ping was sent.
    pinged: Option<Instant>,
    /// When any answer to one came last.
    answered: Option<Instant>,
    /// When an answer came last that counts as alive.
    pub(super) alive: Option<Instant>,
    /// The number of the newest question what it is, and of the newest that was answered.
    asked: u64,
    told: u64,
    asked_at: Option<Instant>,
    /// What it said it is, and when.
    pub(super) report: Option<(Report, Instant)>,
    /// When it was last told about this sentinel.
    published: Option<Instant>,
    /// What it said it is, or what it is taken for until it says so; and since when.
    pub(super) role: Role,
    pub(super) role_since: Instant,
    /// Since when it names the master that it names.
    pub(super) follows_since: Instant,
    pub(super) down: bool,
    /// When it was last found to be down.
    pub(super) down_since: Option<Instant>,
    /// Since when it loads after a restart.
    rebooted: Option<Instant>,
}

impl Instance {
    pub(super) const fn new(node: NodeId, role: Role, now: Instant) -> Self {
        Self {
            node,
            unanswered: None,
            closed: false,
            pinged: None,
            answered: None,
            alive: None,
            asked: 0,
            told: 0,
            asked_at: None,
            report: None,
            published: None,
            role,
            role_since: now,
            follows_since: now,
            down: false,
            down_since: None,
            rebooted: None,
        }
    }

    /// Whether it is time for a ping. A lost one is repeated after half the period.
    pub(super) fn wants_ping(&self, now: Instant, period: Duration) -> bool {
        let half = period.scaled_down(1, 2);
        older(self.answered, now, period) && older(self.pinged, now, half)
    }

    pub(super) fn pinged(&mut self, now: Instant, number: u64) {
        self.pinged = Some(now);
        if self.unanswered.is_none() {
            self.unanswered = Some((number, now));
        }
    }

    /// It answered a ping. False when that was to none that waits.
    pub(super) fn on_pong(&mut self, now: Instant, number: u64, life: Life) -> bool {
        if self.unanswered.is_none_or(|(oldest, _)| number < oldest) {
            return false;
        }
        self.answered = Some(now);
        self.closed = false;
        if life != Life::Other {
            self.alive = Some(now);
            self.unanswered = None;
        }
        if life == Life::Pong {
            self.rebooted = None;
        }
        true
    }

    /// Its process is gone. The real one pings at once when it has to connect again, so that the silence counts from now.
    pub(super) const fn closed(&mut self) {
        self.closed = true;
        if self.unanswered.is_none() {
            (self.answered, self.pinged) = (None, None);
        }
    }

    pub(super) fn wants_info(&self, now: Instant, period: Duration) -> bool {
        let told = self.report.map(|(_, at)| at);
        older(told, now, period) && older(self.asked_at, now, timing::INFO_SOON.min(period))
    }

    pub(super) fn asked(&mut self, now: Instant, number: u64) {
        (self.asked, self.asked_at) = (number, Some(now));
    }

    /// Whether this is an answer to a question that is newer than all that were answered.
    pub(super) fn takes_info(&mut self, number: u64) -> bool {
        let takes = number > self.told && number <= self.asked;
        if takes {
            self.told = number;
        }
        takes
    }

    /// It told what it is. True when it is another life than before.
    pub(super) fn on_report(&mut self, now: Instant, report: Report) -> bool {
        let before = self.report.map(|(before, _)| before);
        self.report = Some((report, now));
        if self.role != report.role {
            self.role = report.role;
            self.role_since = now;
            self.follows_since = now;
        }
        if before.is_some_and(|before| before.master != report.master) {
            self.follows_since = now;
        }
        before.is_some_and(|before| before.run != report.run)
    }

    pub(super) fn rebooted(&mut self, now: Instant) {
        self.rebooted = Some(now);
    }

    pub(super) fn wants_hello(&self, now: Instant) -> bool {
        older(self.published, now, timing::HELLO)
    }

    pub(super) fn published(&mut self, now: Instant) {
        self.published = Some(now);
    }

    /// It is told of the configuration with the next tick.
    pub(super) fn hurry_hello(&mut self) {
        self.published = None;
    }

    /// Whether it can be reached, as far as is known.
    pub(super) fn is_linked(&self, now: Instant, down_after: Duration) -> bool {
        let patience = down_after.scaled_down(1, 2).max(timing::PING);
        let heard = self.alive.is_some() && !self.closed;
        heard && (self.unanswered).is_none_or(|(_, at)| now.since(at) <= patience)
    }

    /// SEN-D1: whether it is to be held to be down.
    pub(super) fn is_silent(
        &self,
        now: Instant,
        down_after: Duration,
        as_master: bool,
        reboot: Option<Duration>,
    ) -> bool {
        let silent = (self.unanswered).is_some_and(|(_, at)| now.since(at) > down_after);
        let patience = down_after + timing::INFO + timing::INFO;
        let demoted =
            as_master && self.role == Role::Replica && now.since(self.role_since) > patience;
        let loading = (reboot.zip(self.rebooted))
            .is_some_and(|(patience, since)| as_master && now.since(since) > patience);
        silent || demoted || loading
    }

    /// Sets whether it is down. True when that is news.
    pub(super) fn set_down(&mut self, now: Instant, down: bool) -> bool {
        let news = self.down != down;
        if news && down {
            self.down_since = Some(now);
        }
        self.down = down;
        news
    }

    /// Whether it was never found to be down in so long.
    pub(super) fn is_up_for(&self, now: Instant, span: Duration) -> bool {
        !self.down && older(self.down_since, now, span)
    }

    /// Whether what it said of itself is younger than this.
    pub(super) fn is_fresh(&self, now: Instant, span: Duration) -> bool {
        self.report.is_some_and(|(_, at)| now.since(at) <= span)
    }

    pub(super) fn fingerprint<H: Hasher>(&self, now: Instant, numbered: u64, hasher: &mut H) {
        let ago = |at: Option<Instant>| at.map(|at| now.since(at));
        let ping = (self.unanswered).map(|(number, at)| (numbered - number, now.since(at)));
        (self.node, ping, ago(self.pinged), ago(self.answered)).hash(hasher);
        (ago(self.alive), ago(self.asked_at), ago(self.published)).hash(hasher);
        (self.asked > self.told, numbered.saturating_sub(self.told)).hash(hasher);
        self.report
            .map(|(report, at)| (report, now.since(at)))
            .hash(hasher);
        (
            self.role,
            now.since(self.role_since),
            now.since(self.follows_since),
        )
            .hash(hasher);
        (
            self.down,
            self.closed,
            ago(self.down_since),
            ago(self.rebooted),
        )
            .hash(hasher);
    }
}

/// Whether it was never, or longer ago than this.
fn older(at: Option<Instant>, now: Instant, span: Duration) -> bool {
    at.is_none_or(|at| now.since(at) > span)
}
