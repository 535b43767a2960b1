//! The configurations that the log holds: the newest in it counts, committed or not (Raft §6), and a truncation takes
//! back those it cuts off.

use super::{Heard, Progress, Raft, Rules, change};
use crate::NodeId;
use crate::membership::Membership;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The configuration a log begins with, and those its entries bring.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Members {
    /// As of the last entry that was compacted away; `None` when nothing was, and the machine's own configuration counts.
    base: Option<Arc<Membership>>,
    /// Those in the log, in rising order of index.
    changes: Vec<Change>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Change {
    index: u64,
    to: Arc<Membership>,
}

impl Members {
    /// The newest, if there is any.
    #[must_use]
    pub fn newest(&self) -> Option<&Arc<Membership>> {
        self.changes
            .last()
            .map(|change| &change.to)
            .or(self.base.as_ref())
    }

    /// The index of the newest configuration entry in the log; 0 when it has none.
    #[must_use]
    pub fn newest_index(&self) -> u64 {
        self.changes.last().map_or(0, |change| change.index)
    }

    /// The index of the newest configuration entry in the log up to `index`; 0 when there is none.
    #[must_use]
    pub fn index_as_of(&self, index: u64) -> u64 {
        let mut upto = self.changes.iter().rev();
        upto.find(|change| change.index <= index)
            .map_or(0, |change| change.index)
    }

    /// The one that counted as of `index`, which is not below the base; `None` when that is the machine's own.
    #[must_use]
    pub fn as_of(&self, index: u64) -> Option<&Arc<Membership>> {
        let upto = self.changes.partition_point(|change| change.index <= index);
        match upto {
            0 => self.base.as_ref(),
            _ => Some(&self.changes[upto - 1].to),
        }
    }

    /// The first configuration entry after `index`: where it is and what it brings.
    #[must_use]
    pub fn after(&self, index: u64) -> Option<(u64, &Arc<Membership>)> {
        // Mostly there is none: looked at from the end.
        if self.changes.last()?.index <= index {
            return None;
        }
        let at = self.changes.partition_point(|change| change.index <= index);
        self.changes
            .get(at)
            .map(|change| (change.index, &change.to))
    }

    /// No change after `base`.
    pub(crate) const fn beginning_with(base: Option<Arc<Membership>>) -> Self {
        Self {
            base,
            changes: Vec::new(),
        }
    }

    /// The configuration the log begins with, if that is not the machine's own.
    pub(crate) fn base(&self) -> Option<&Arc<Membership>> {
        self.base.as_ref()
    }

    /// Those in the log, with their index.
    pub(crate) fn changes(&self) -> impl ExactSizeIterator<Item = (u64, &Arc<Membership>)> {
        self.changes.iter().map(|change| (change.index, &change.to))
    }

    /// An entry at `index`, beyond all others, brings another.
    pub(crate) fn push(&mut self, index: u64, to: Arc<Membership>) {
        debug_assert!(index > self.newest_index());
        self.changes.push(Change { index, to });
    }

    /// The entries after `index` are gone. Whether that took one away.
    pub(super) fn truncate(&mut self, index: u64) -> bool {
        let keep = self.changes.partition_point(|change| change.index <= index);
        let fewer = keep < self.changes.len();
        self.changes.truncate(keep);
        fewer
    }

    /// The log begins after `index` now, with `base`.
    pub(super) fn compact(&mut self, index: u64, base: &Arc<Membership>) {
        self.changes.retain(|change| change.index > index);
        self.base = Some(base.clone());
    }

    /// The log is empty, and begins with `base`.
    pub(super) fn reset(&mut self, base: Arc<Membership>) {
        self.changes.clear();
        self.base = Some(base);
    }
}

impl<R: Rules> Raft<R> {
    /// Who takes part, as far as this node knows: the newest configuration in its log, committed or not.
    #[must_use]
    pub fn membership(&self) -> &Membership {
        &self.membership
    }

    /// The own place in the membership; `None` when it is no member.
    pub(super) fn own_place(&self) -> Option<usize> {
        self.membership.place(self.config.id)
    }

    /// Whether this node votes for itself: a voter of either half does (scylladb#10618).
    pub(super) fn votes(&self) -> bool {
        self.is_voter(self.config.id)
    }

    /// The own place in the membership when it votes; also one that stands may have no vote.
    pub(super) fn own_vote(&self) -> Option<usize> {
        self.own_place().filter(|own| self.membership.votes(*own))
    }

    pub(super) fn is_voter(&self, id: NodeId) -> bool {
        self.membership
            .place(id)
            .is_some_and(|place| self.membership.votes(place))
    }

    /// The configuration that counted as of `index`.
    pub(super) fn as_of(&self, index: u64) -> Arc<Membership> {
        let known = self.members.as_of(index);
        known.unwrap_or(self.config.voters.membership()).clone()
    }

    /// The newest configuration in the log counts from now on. What members said stays theirs, at their new places.
    pub(super) fn reconfigure(&mut self) {
        let next = change::in_force(&self.rules, self.newest_configuration());
        let before = core::mem::replace(&mut self.membership, next);
        let (last, now) = (self.log.last().index, self.now);
        let places: Vec<Option<usize>> = self
            .membership
            .members()
            .iter()
            .map(|member| before.place(member.id))
            .collect();
        let heard = |place: &Option<usize>| place.map_or(Heard::NOTHING, |old| self.heard_of(old));
        if !self.heard.is_empty() {
            self.heard = places.iter().map(heard).collect();
        }
        if !self.progress.is_empty() {
            let known = |place: &Option<usize>| match place {
                Some(old) => self.progress[*old],
                None => Progress::unknown(last, now),
            };
            self.progress = places.iter().map(known).collect();
            (self.unsent, self.cursor) = (true, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeId;
    use crate::quorum::Voters;

    fn of(n: u64) -> Arc<Membership> {
        Arc::new(Membership::new(&Voters::new((0..n).map(NodeId)).unwrap()))
    }

    #[test]
    fn the_newest_counts_and_a_truncation_takes_it_back() {
        let mut members = Members::default();
        assert_eq!((members.newest(), members.newest_index()), (None, 0));
        members.push(3, of(1));
        members.push(5, of(2));
        assert_eq!(
            (members.newest(), members.newest_index()),
            (Some(&of(2)), 5)
        );
        assert_eq!(members.as_of(2), None);
        assert_eq!(
            (members.as_of(3), members.as_of(4)),
            (Some(&of(1)), Some(&of(1)))
        );
        assert_eq!(members.as_of(9), Some(&of(2)));
        let at = |index| members.index_as_of(index);
        assert_eq!([at(2), at(3), at(4), at(5), at(9)], [0, 3, 3, 5, 5]);
        assert_eq!(members.after(3), Some((5, &of(2))));
        assert_eq!(members.after(2), Some((3, &of(1))));
        assert_eq!(members.after(5), None);
        assert!(!members.truncate(5));
        assert!(members.truncate(4));
        assert_eq!(members.newest(), Some(&of(1)));
    }

    #[test]
    fn a_compacted_log_begins_with_what_counted_there() {
        let mut members = Members::default();
        members.push(3, of(1));
        members.push(5, of(2));
        members.compact(4, &of(1));
        assert_eq!(
            (members.as_of(4), members.newest()),
            (Some(&of(1)), Some(&of(2)))
        );
        let mut all = members.clone();
        all.compact(5, &of(2));
        assert_eq!((all.newest(), all.newest_index()), (Some(&of(2)), 0));
        members.truncate(4);
        assert_eq!(members.newest(), Some(&of(1)));
        members.reset(of(3));
        assert_eq!(
            (members.newest(), members.newest_index()),
            (Some(&of(3)), 0)
        );
    }
}
