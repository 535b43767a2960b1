//! SEN-RateLimited: between two attempts of a sentinel, and between its vote for another and its own attempt, pass two failover
//! timeouts by its own clock.

use crate::check::Tally;
use crate::sorted::Sorted;
use tenure::sentinel::MasterName;

#[derive(Clone, Debug)]
pub(super) struct RateLimited {
    timeout: u64,
    /// Since when the next attempt has to wait, by the sentinel's own clock.
    waits: Sorted<(usize, MasterName), u64>,
    pub(super) tally: Tally,
}

impl RateLimited {
    pub(super) fn new(timeout: u64) -> Self {
        Self {
            timeout,
            waits: Sorted::default(),
            tally: Tally {
                exercised: 0,
                broken: 0,
                first_broken_at: None,
            },
        }
    }

    /// A life begins: it remembers nothing of an attempt.
    pub(super) fn started(&mut self, node: usize) {
        self.waits.retain(|(of, _), _| *of != node);
    }

    pub(super) fn voted(&mut self, own: u64, node: usize, name: MasterName) {
        self.waits.insert((node, name), own);
    }

    /// Another server is the master: what was tried was of the one before.
    pub(super) fn switched(&mut self, node: usize, name: MasterName) {
        self.waits.remove(&(node, name));
    }

    /// A sentinel begins an attempt. Whether it is too soon.
    pub(super) fn tried(
        &mut self,
        now: u64,
        own: u64,
        node: usize,
        name: MasterName,
        forced: bool,
    ) -> bool {
        let since = self.waits.replace((node, name), own);
        let Some(since) = since.filter(|_| !forced) else {
            return false;
        };
        self.tally.note(now, own - since < 2 * self.timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_too_soon_is_told() {
        let (mut check, name) = (RateLimited::new(10), MasterName(0));
        assert!(!check.tried(1, 100, 0, name, false) && !check.tried(1, 120, 0, name, false));
        check.voted(130, 0, name);
        assert!(check.tried(2, 149, 0, name, false) && !check.tried(2, 150, 0, name, true));
        check.switched(0, name);
        assert!(!check.tried(3, 151, 0, name, false));
        check.started(0);
        assert!(!check.tried(3, 152, 0, name, false));
    }
}
