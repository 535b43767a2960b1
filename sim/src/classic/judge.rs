//! The judges of the classics. They see what nodes believe from outside, and know nothing of how they decide.

use super::{Law, Mark};
use crate::check::Tally;
use crate::check::believed::BelievedLeaders;
use std::collections::BTreeMap;

/// A leader that held office for so long is not to be replaced while it could go on.
const HEALTHY: u64 = 1_000_000;

/// What was counted from some time on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages of elections.
    pub election: u64,
    /// Times a node began to lead.
    pub led: u64,
    /// How long two or more believed to lead, in microseconds.
    pub two_leaders: u64,
    /// When somebody first held office.
    pub office_at: Option<u64>,
}

/// What was seen.
pub(super) struct Seen {
    pub(super) counts: Counts,
    believed: BelievedLeaders,
    /// The overlap before the counts began.
    before: u64,
    /// Who holds office, and since when.
    office: Option<(usize, u64)>,
    /// Who held it last and could hold it still, as far as the links and its process go; and for how long it did.
    able: Option<(usize, u64)>,
    /// Who began to lead last.
    last: Option<usize>,
    /// Whom each mark led: which node, in which life.
    marks: BTreeMap<Mark, (usize, u64)>,
    /// The highest mark that was established, and when.
    established: Option<(Mark, u64)>,
    tallies: [Tally; Law::ALL.len()],
}

impl Seen {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            counts: Counts::default(),
            believed: BelievedLeaders::new(nodes),
            before: 0,
            office: None,
            able: None,
            last: None,
            marks: BTreeMap::new(),
            established: None,
            tallies: [Tally::default(); Law::ALL.len()],
        }
    }

    pub(super) fn count_anew(&mut self, now: u64) {
        self.believed.advance(now);
        self.before = self.believed.overlap();
        self.counts = Counts {
            office_at: self.office.map(|_| now),
            ..Counts::default()
        };
    }

    pub(super) const fn tally(&self, law: Law) -> Tally {
        self.tallies[law as usize]
    }

    pub(super) fn note(&mut self, law: Law, now: u64, broken: bool) {
        self.tallies[law as usize].note(now, broken);
    }

    /// Until when a node believes to lead; 0 when it does not. Answers whether it begins to beside another.
    pub(super) fn believes(&mut self, now: u64, node: usize, until: u64) -> bool {
        let meets = self.believed.believes(now, node, until);
        self.counts.two_leaders = self.believed.overlap() - self.before;
        meets
    }

    /// A node names a mark as the leader's, after others in the same life.
    pub(super) fn names(&mut self, now: u64, highest: Option<Mark>, mark: Mark) {
        if let Some(highest) = highest.filter(|highest| *highest != mark) {
            self.note(Law::MonotoneBallots, now, mark < highest);
        }
    }

    /// A node, in one of its lives, begins to lead.
    pub(super) fn begins(&mut self, now: u64, who: (usize, u64), mark: Option<Mark>, meets: bool) {
        let (node, _) = who;
        self.counts.led += 1;
        // Nothing can go wrong with the first, or with one that only comes back.
        if self.last.is_some_and(|last| last != node) || meets {
            let healthy = |(able, held): (usize, u64)| able != node && held >= HEALTHY;
            let deposed = self.able.is_some_and(healthy);
            self.note(Law::OneLeader, now, meets);
            self.note(Law::LeaderStays, now, deposed);
        }
        self.last = Some(node);
        let Some(mark) = mark else { return };
        let first = *self.marks.entry(mark).or_insert(who);
        self.note(Law::UniqueBallot, now, first != who);
        if self.established.is_none_or(|(newest, _)| newest < mark) {
            self.established = Some((mark, now));
        }
    }

    /// A quorum agreed to what it was asked then, under a mark.
    pub(super) fn acted(&mut self, now: u64, mark: Mark, asked: u64) {
        // One that is the first has none before it to be stopped.
        if let Some((newest, at)) = self.established.filter(|_| self.marks.len() > 1) {
            self.note(Law::Fence, now, newest > mark && at <= asked);
        }
    }

    /// Who holds office now.
    pub(super) fn office(&mut self, now: u64, holder: Option<usize>) {
        // A leader often loses those that followed it before the next one begins. It was the next one's doing all the same.
        if let Some((node, since)) = self.office {
            self.able = Some((node, now - since));
        }
        if holder != self.office.map(|(node, _)| node) {
            self.office = holder.map(|node| (node, now));
        }
        if holder.is_some() {
            self.counts.office_at.get_or_insert(now);
        }
    }

    pub(super) const fn in_office(&self) -> Option<(usize, u64)> {
        self.office
    }

    pub(super) fn able(&self) -> Option<usize> {
        self.able.map(|(node, _)| node)
    }

    /// Who held office last cannot hold it any more.
    pub(super) const fn unable(&mut self) {
        self.able = None;
    }
}
