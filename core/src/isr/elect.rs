//! Who leads a partition: what becomes of it when somebody comes or goes, or its leader wants another ISR.

use super::image::{Partition, Topic};
use super::places::Places;
use super::record::Change;
use super::rules::{Rule, Rules};
use super::words::Election;
use crate::NodeId;

/// A partition, and what is to become of it. Made of the state before, and what is meant to be different; the rest follows.
pub(super) struct Plan<'a, A> {
    before: &'a Partition,
    min_isr: usize,
    /// Whether there are ELRs.
    elr: bool,
    /// Whether a broker may lead.
    active: A,
    /// Who is to be in sync.
    pub(super) isr: Places,
    /// Who came back without its disk's tail.
    pub(super) unclean: Places,
    pub(super) election: Election,
    pub(super) recovering: bool,
}

/// Who leads from then on, and whether it may lack what was committed.
#[derive(Clone, Copy)]
struct Elected {
    leader: Option<NodeId>,
    unclean: bool,
}

impl<'a, A: Fn(NodeId) -> bool> Plan<'a, A> {
    /// Nothing is meant to be different, but that whoever is active by `active` may lead.
    pub(super) fn new(topic: &Topic, before: &'a Partition, elr: bool, active: A) -> Self {
        Self {
            before,
            min_isr: usize::from(topic.min_isr).min(before.replicas.len()),
            elr,
            active,
            isr: before.isr,
            unclean: Places::NONE,
            election: Election::Any,
            recovering: before.recovering,
        }
    }

    /// What is to be written; nothing when all stays as it is.
    pub(super) fn change(&self, rules: &impl Rules) -> Option<Change> {
        let (before, mut isr) = (self.before, self.isr);
        let (mut elr, mut recovering) = (self.eligible(), self.recovering);
        let elected = self.elect(elr, rules);
        if let Some(leader) = elected.leader.filter(|leader| !before.among(*leader, isr)) {
            // KP-elr-elected, KP-unclean: its log is what counts.
            isr = before.only(leader);
            if elected.unclean {
                recovering = true;
                elr = Places::NONE;
            }
            elr = elr.but(isr);
        } else if isr.is_empty() && !self.elr {
            // KP-no-ELR: who was the last in sync is all that is known of who has what was committed.
            isr = before.isr;
        }
        let last_known = match elected.leader {
            Some(_) => None,
            // The first time there is nobody.
            None if self.elr && isr.is_empty() => before.leader.or(before.last_known),
            None => before.last_known,
        };
        let changed = Change {
            leader: (elected.leader != before.leader).then_some(elected.leader),
            isr: (isr != before.isr).then_some(isr),
            elr: (elr != before.elr).then_some(elr),
            last_known: (last_known != before.last_known).then_some(last_known),
            recovering: (recovering != before.recovering).then_some(recovering),
        };
        Some(changed).filter(|changed| !changed.is_empty())
    }

    /// KP-ELR: who is known to have what was committed, beside those in sync.
    fn eligible(&self) -> Places {
        let before = self.before;
        if !self.elr || self.isr.count() >= self.min_isr {
            return Places::NONE;
        }
        before.elr.or(before.isr).but(self.isr).but(self.unclean)
    }

    fn elect(&self, elr: Places, rules: &impl Rules) -> Elected {
        let replicas = &self.before.replicas;
        let clean = |leader| Elected {
            leader: Some(leader),
            unclean: false,
        };
        // KP-valid.
        let candidates = if self.isr.is_empty() { elr } else { self.isr };
        let is_valid = |who: &NodeId| self.before.among(*who, candidates) && (self.active)(*who);
        let preferred = replicas
            .first()
            .filter(|_| self.election == Election::Preferred);
        let stays = self.before.leader.as_ref();
        let first = preferred.into_iter().chain(stays).chain(replicas.iter());
        if let Some(leader) = first.copied().find(is_valid) {
            return clean(leader);
        }
        let active = || replicas.iter().copied().find(|who| (self.active)(*who));
        if !rules.keeps(Rule::CleanElection)
            && let Some(leader) = active()
        {
            return clean(leader);
        }
        let leader = self.last_known(elr, rules).or_else(|| {
            let allowed = self.election == Election::Unclean;
            active().filter(|_| allowed)
        });
        Elected {
            leader,
            unclean: leader.is_some(),
        }
    }

    /// KP-last-known: nobody is known to have what was committed, and one led last.
    fn last_known(&self, elr: Places, rules: &impl Rules) -> Option<NodeId> {
        let nobody = self.elr && self.isr.is_empty() && elr.is_empty();
        let last = self.before.last_known.filter(|_| nobody)?;
        // KAFKA-19522.
        let may = (self.active)(last) || !rules.keeps(Rule::LastKnownIsActive);
        may.then_some(last)
    }
}
