//! Liveness: once the last fault is healed, a running node leads within the bound. The start of a run counts too.
//!
//! A window in which a new fault strikes before the bound is over, and before anybody led, says nothing.

use super::Tally;
use crate::physics::NEVER;

/// Waits for a leader.
#[derive(Clone, Debug)]
pub(super) struct LeaderAgain {
    within: u64,
    /// By node: until when it runs and believes to lead; 0 when it does not.
    until: Vec<u64>,
    /// The latest of these.
    led_until: u64,
    /// Since when the world is whole and without a leader, while that is being judged.
    waiting_since: Option<u64>,
    accounted: u64,
    without_leader: u64,
    /// When each window began, and how long a leader took; `NEVER` when none came in time.
    windows: Vec<(u64, u64)>,
    tally: Tally,
}

impl LeaderAgain {
    pub(super) fn new(nodes: usize, within: u64) -> Self {
        Self {
            within,
            until: vec![0; nodes],
            led_until: 0,
            waiting_since: Some(0),
            accounted: 0,
            without_leader: 0,
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
        self.settle(now);
        broken
    }

    /// The last fault was healed, or the first one struck.
    pub(super) fn whole(&mut self, now: u64, whole: bool) -> bool {
        let broken = self.advance(now);
        self.waiting_since = whole.then_some(now);
        self.settle(now);
        broken
    }

    /// When the bound is over, while somebody is waited for.
    pub(super) fn due(&self) -> Option<u64> {
        self.waiting_since
            .map(|since| since.saturating_add(self.within))
    }

    pub(super) fn advance(&mut self, now: u64) -> bool {
        let led_to = self
            .led_until
            .clamp(self.accounted, now.max(self.accounted));
        self.without_leader += now.max(self.accounted) - led_to;
        self.accounted = self.accounted.max(now);
        let Some(since) = self
            .waiting_since
            .filter(|since| since.saturating_add(self.within) < now)
        else {
            return false;
        };
        self.waiting_since = None;
        self.windows.push((since, NEVER));
        self.tally.note(since.saturating_add(self.within), true)
    }

    pub(super) const fn without_leader(&self) -> u64 {
        self.without_leader
    }

    pub(super) fn windows(&self) -> &[(u64, u64)] {
        &self.windows
    }

    pub(super) const fn tally(&self) -> Tally {
        self.tally
    }

    fn settle(&mut self, now: u64) {
        if let Some(since) = self.waiting_since
            && self.led_until > now
        {
            self.waiting_since = None;
            self.windows.push((since, now - since));
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
        check.whole(200, false);
        check.whole(300, true);
        check.leads(350, 1, 400);
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
    fn a_new_fault_voids_the_window() {
        let mut check = LeaderAgain::new(1, 100);
        check.whole(50, false);
        assert!(!check.advance(1000));
        assert_eq!(check.tally().exercised, 0);
    }
}
