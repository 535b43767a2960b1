//! What everybody comes to when all faults are over, and within what time.

use super::Tally;

/// Waits from the last heal on, or from the start.
#[derive(Clone, Debug)]
pub(super) struct Converges {
    within: u64,
    /// Since when that is waited for; `None` while something is wrong, or once the bound was looked at.
    since: Option<u64>,
    /// Whether it was so since then, for the first time.
    met: bool,
    so: bool,
    pub(super) tally: Tally,
}

impl Converges {
    pub(super) const fn new(within: u64) -> Self {
        Self {
            within,
            since: Some(0),
            met: false,
            so: false,
            tally: Tally {
                exercised: 0,
                broken: 0,
                first_broken_at: None,
            },
        }
    }

    pub(super) fn whole(&mut self, now: u64, whole: bool) {
        self.since = whole.then_some(now);
        self.met = false;
    }

    /// Something was ordered: the wait begins anew.
    pub(super) fn wished(&mut self, now: u64) {
        if let Some(since) = &mut self.since {
            *since = now;
        }
    }

    #[cfg(not(target_family = "wasm"))]
    pub(super) const fn is_so(&self) -> bool {
        self.so
    }

    /// Whether it is so now.
    pub(super) fn now(&mut self, now: u64, so: bool) {
        self.so = so;
        if so && self.since.is_some() && !std::mem::replace(&mut self.met, true) {
            self.tally.note(now, false);
        }
    }

    pub(super) fn due(&self) -> Option<u64> {
        self.since.map(|since| since.saturating_add(self.within))
    }

    pub(super) fn advance(&mut self, now: u64) -> bool {
        let Some(due) = self.due().filter(|due| *due < now) else {
            return false;
        };
        self.since = None;
        !self.so && self.tally.note(due, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_not_converged_at_the_bound_is_told_once() {
        let mut check = Converges::new(10);
        check.now(5, true);
        check.now(6, false);
        assert!(!check.advance(10) && check.advance(11) && !check.advance(30));
        check.whole(40, true);
        check.now(45, true);
        assert!(!check.advance(51));
        check.whole(60, true);
        check.whole(61, false);
        check.now(61, false);
        assert!(!check.advance(90));
        assert_eq!((check.tally.exercised, check.tally.broken), (3, 1));
    }
}
