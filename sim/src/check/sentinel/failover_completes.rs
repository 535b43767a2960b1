//! SEN-FailoverCompletes: a master that is gone is replaced within the bound, while a majority of the sentinels can talk and a good
//! replica can be reached.
//!
//! It is asked where nobody comes back, too: a wait for a leader begins when all is well again, and so never where a server
//! stays dead.

use crate::check::Tally;
use std::collections::BTreeMap;
use tenure::NodeId;
use tenure::sentinel::MasterName;

#[derive(Clone, Debug)]
pub(super) struct FailoverCompletes {
    within: u64,
    down_after: u64,
    masters: BTreeMap<MasterName, Watched>,
    /// With whom a server was in touch last, and when.
    touched: BTreeMap<NodeId, (NodeId, u64)>,
    pub(super) tally: Tally,
}

/// One master.
#[derive(Clone, Copy, Debug)]
struct Watched {
    /// Who it is, and when it was last seen to run.
    address: NodeId,
    ran: u64,
    /// Since when it is to be replaced, and nothing is done to anybody.
    since: Option<u64>,
    /// Whether the bound was over before.
    told: bool,
}

impl FailoverCompletes {
    pub(super) fn new(within: u64, down_after: u64) -> Self {
        Self {
            within,
            down_after,
            masters: BTreeMap::new(),
            touched: BTreeMap::new(),
            tally: Tally::default(),
        }
    }

    /// A server has what this master has.
    pub(super) fn in_touch(&mut self, now: u64, server: NodeId, master: NodeId) {
        self.touched.insert(server, (master, now));
    }

    /// Whether a server was in touch with the master until that one went, or nearly.
    pub(super) fn is_good(&self, name: MasterName, server: NodeId) -> bool {
        let (Some(master), Some((with, at))) = (self.masters.get(&name), self.touched.get(&server))
        else {
            return false;
        };
        *with == master.address && at.saturating_add(self.down_after) >= master.ran
    }

    /// Who the master is by the highest configuration, and whether it runs.
    pub(super) fn is_at(&mut self, now: u64, name: MasterName, address: NodeId, runs: bool) {
        let master = self.masters.entry(name).or_insert(Watched {
            address,
            ran: now,
            since: None,
            told: false,
        });
        if master.address != address {
            let waited = master.since.is_some();
            (master.address, master.since, master.told) = (address, None, false);
            if waited {
                self.tally.note(now, false);
            }
        }
        if runs {
            master.ran = now;
        }
    }

    /// Whether it is to be replaced, as far as is seen now.
    pub(super) fn is_due(&mut self, now: u64, name: MasterName, due: bool) {
        if let Some(master) = self.masters.get_mut(&name) {
            if !due {
                (master.since, master.told) = (None, false);
            } else if !master.told {
                master.since.get_or_insert(now);
            }
        }
    }

    /// Something was done to somebody: what is waited for is waited for anew.
    pub(super) fn acted(&mut self, now: u64) {
        for master in self.masters.values_mut() {
            master.told = false;
            master.since = master.since.map(|_| now);
        }
    }

    pub(super) fn due(&self) -> Option<u64> {
        let since = self.masters.values().filter_map(|master| master.since);
        since.min().map(|since| since.saturating_add(self.within))
    }

    pub(super) fn advance(&mut self, now: u64) -> bool {
        let mut broken = false;
        for master in self.masters.values_mut() {
            let due = master.since.map(|since| since.saturating_add(self.within));
            if let Some(due) = due.filter(|due| *due < now) {
                (master.since, master.told) = (None, true);
                broken |= self.tally.note(due, true);
            }
        }
        broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: MasterName = MasterName(0);

    #[test]
    fn who_is_not_replaced_within_the_bound_is_told_once_and_who_is_passes() {
        let mut check = FailoverCompletes::new(100, 10);
        let (one, other) = (NodeId(5), NodeId(6));
        check.is_at(0, NAME, one, true);
        check.in_touch(0, other, one);
        check.is_at(10, NAME, one, true);
        assert!(check.is_good(NAME, other) && !check.is_good(NAME, one));
        check.is_due(20, NAME, true);
        check.is_due(30, NAME, true);
        assert_eq!(check.due(), Some(120));
        check.acted(40);
        assert!(!check.advance(140) && check.advance(141));
        check.is_due(150, NAME, true);
        assert!(!check.advance(900), "once");
        check.acted(900);
        check.is_due(900, NAME, true);
        check.is_at(950, NAME, other, true);
        assert_eq!((check.tally.exercised, check.tally.broken), (2, 1));
        assert_eq!(check.due(), None);
        assert!(!check.is_good(NAME, one), "it was in touch with nobody");
    }

    #[test]
    fn who_lost_touch_before_is_no_good_and_whoever_can_do_nothing_is_not_asked() {
        let mut check = FailoverCompletes::new(100, 10);
        check.in_touch(5, NodeId(6), NodeId(5));
        check.is_at(16, NAME, NodeId(5), true);
        assert!(!check.is_good(NAME, NodeId(6)));
        check.is_due(20, NAME, true);
        check.is_due(100, NAME, false);
        assert!(!check.advance(900));
        assert_eq!(check.tally.exercised, 0);
    }
}
