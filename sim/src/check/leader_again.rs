//! Liveness: once the last fault is healed, a running node leads within the bound, and while nothing is wrong none is
//! missing for longer than that: one that resigned, or lost its lease for no reason, is succeeded. The start of a run
//! counts too.
//!
//! A wait in which a new fault strikes before the bound is over, and before anybody led, says nothing.

use super::Tally;
use super::spans::Spans;
use crate::physics::NEVER;

/// Waits for a leader.
#[derive(Clone, Debug)]
pub(super) struct LeaderAgain {
    within: u64,
    /// By node: until when it runs and believes to lead; 0 when it does not.
    until: Vec<u64>,
    /// The latest of these.
    led_until: u64,
    whole: bool,
    /// What is waited for, while the world is whole and without a leader, and that is being judged.
    waiting: Option<Waiting>,
    /// Whether the last wait was too long, and nobody led since: it is told once.
    told: bool,
    accounted: u64,
    without_leader: u64,
    /// When no running node led.
    spans: Spans,
    /// When each window began, and how long a leader took; `NEVER` when none came in time.
    windows: Vec<(u64, u64)>,
    tally: Tally,
}

/// A wait for a leader.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    since: u64,
    /// Whether it began with the run or a healing, and not with a leader that went away.
    window: bool,
}

impl LeaderAgain {
    pub(super) fn new(nodes: usize, within: u64) -> Self {
        Self {
            within,
            until: vec![0; nodes],
            led_until: 0,
            whole: true,
            waiting: Some(Waiting {
                since: 0,
                window: true,
            }),
            told: false,
            accounted: 0,
            without_leader: 0,
            spans: Spans::default(),
            windows: Vec::new(),
            tally: Tally::default(),
        }
    }

    /// The node leads until `until`, or does not (0).
    pub(super) fn leads(&mut self, now: u64, node: usize, until: u64) -> bool {
        let broken = self.advance(now);
        let Some(slot) = self.until.get_mut(node) else {
            return broken;
        };
        *slot = until;
        self.led_until = self.until.iter().copied().max().unwrap_or(0);
        if self.led_until > now {
            self.spans.note(now, false);
            self.told = false;
        } else {
            self.miss(now);
        }
        self.settle(now);
        broken
    }

    /// The last fault was healed, or the first one struck.
    pub(super) fn whole(&mut self, now: u64, whole: bool) -> bool {
        let broken = self.advance(now);
        (self.whole, self.told) = (whole, false);
        self.waiting = whole.then_some(Waiting {
            since: now,
            window: true,
        });
        self.settle(now);
        broken
    }

    /// A leader was asked to resign, or another node to campaign: the wait for who succeeds begins anew.
    pub(super) fn wished(&mut self, now: u64) -> bool {
        let broken = self.advance(now);
        if let Some(waiting) = self.waiting.as_mut().filter(|waiting| !waiting.window) {
            waiting.since = now;
        }
        broken
    }

    /// When the bound is over, if nobody comes, or goes on, to lead until then.
    pub(super) fn due(&self) -> Option<u64> {
        let lapses = (self.whole && !self.told).then_some(self.led_until);
        let since = self.waiting.map(|waiting| waiting.since).or(lapses);
        since.map(|since| since.saturating_add(self.within))
    }

    pub(super) fn advance(&mut self, now: u64) -> bool {
        let led_to = self
            .led_until
            .clamp(self.accounted, now.max(self.accounted));
        if led_to < now {
            self.without_leader += now - led_to;
            self.spans.note(led_to, true);
        }
        self.accounted = self.accounted.max(now);
        if self.led_until < now {
            self.miss(self.led_until);
        }
        let Some(Waiting { since, window }) = self
            .waiting
            .filter(|waiting| waiting.since.saturating_add(self.within) < now)
        else {
            return false;
        };
        self.waiting = None;
        self.told = true;
        if window {
            self.windows.push((since, NEVER));
        }
        self.tally.note(since.saturating_add(self.within), true)
    }

    pub(super) const fn without_leader(&self) -> u64 {
        self.without_leader
    }

    /// When no running node led: beginning and end of each span.
    pub(super) fn spans(&self) -> &[(u64, u64)] {
        self.spans.list()
    }

    pub(super) fn windows(&self) -> &[(u64, u64)] {
        &self.windows
    }

    pub(super) const fn tally(&self) -> Tally {
        self.tally
    }

    /// Nobody leads from then on.
    fn miss(&mut self, since: u64) {
        if self.whole && !self.told && self.waiting.is_none() {
            self.waiting = Some(Waiting {
                since,
                window: false,
            });
        }
    }

    fn settle(&mut self, now: u64) {
        if let Some(Waiting { since, window }) = self.waiting
            && self.led_until > now
        {
            self.waiting = None;
            if window {
                self.windows.push((since, now - since));
            }
            self.tally.note(now, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_late_is_broken_at_the_bound() {
        let mut check = LeaderAgain::new(2, 100);
        assert_eq!(check.due(), Some(100));
        assert!(!check.advance(100));
        assert!(check.leads(140, 1, 500));
        assert_eq!(
            check.tally(),
            Tally {
                exercised: 1,
                broken: 1,
                first_broken_at: Some(100)
            }
        );
        assert_eq!(check.without_leader(), 140);
    }

    #[test]
    fn in_time_holds_and_the_time_is_kept() {
        let mut check = LeaderAgain::new(2, 100);
        check.leads(40, 0, 90);
        check.whole(150, false);
        check.whole(300, true);
        check.leads(350, 1, 400);
        assert!(!check.advance(500));
        check.whole(500, false);
        assert!(!check.advance(1000));
        assert_eq!(
            check.tally(),
            Tally {
                exercised: 2,
                broken: 0,
                first_broken_at: None
            }
        );
        assert_eq!(check.windows(), [(0, 40), (300, 50)]);
        assert_eq!(check.without_leader(), 40 + 260 + 600);
        assert_eq!(check.spans(), [(0, 40), (90, 350), (400, NEVER)]);
    }

    #[test]
    fn a_leader_that_never_went_away_counts_at_once() {
        let mut check = LeaderAgain::new(1, 100);
        check.leads(40, 0, 1000);
        check.whole(50, false);
        check.whole(60, true);
        assert_eq!(check.windows(), [(0, 40), (60, 0)]);
    }

    #[test]
    fn one_that_goes_away_while_nothing_is_wrong_is_succeeded_in_time() {
        let mut check = LeaderAgain::new(2, 100);
        check.leads(40, 0, 500);
        assert_eq!(check.due(), Some(600), "if it is not heard of again");
        check.leads(200, 0, 0);
        assert_eq!(check.due(), Some(300));
        assert!(!check.leads(300, 1, 350) && check.tally().exercised == 2);
        assert!(
            !check.advance(450) && check.advance(451),
            "it lapsed at 350"
        );
        assert!(check.due().is_none() && !check.advance(900), "told once");
        assert!(!check.leads(910, 0, 950) && !check.wished(940));
        assert_eq!(check.due(), Some(1050), "it leads still");
        assert!(!check.wished(1040) && check.due() == Some(1140));
        let tally = check.tally();
        assert_eq!((tally.broken, tally.first_broken_at), (1, Some(450)));
        assert_eq!(check.windows(), [(0, 40)]);
    }

    #[test]
    fn a_new_fault_voids_the_window() {
        let mut check = LeaderAgain::new(1, 100);
        check.whole(50, false);
        assert!(!check.advance(1000));
        assert_eq!(check.tally().exercised, 0);
    }
}
