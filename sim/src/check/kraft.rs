//! The judges of Kafka's controllers: what no other scheme promises.

use super::claim_after_catch_up::ClaimAfterCatchUp;
use super::pre_vote_quiet::PreVoteQuiet;
use super::resigned_no_reuse::ResignedNoReuse;
use super::stale_leader_stops::StaleLeaderStops;
use super::{Broken, Check, Fact, Tally};

/// All of them.
#[derive(Clone, Debug)]
pub(crate) struct KraftJudges {
    quiet: PreVoteQuiet,
    reuse: ResignedNoReuse,
    claims: ClaimAfterCatchUp,
    stops: StaleLeaderStops,
}

impl KraftJudges {
    /// Of so many nodes; `within` what time one that was overtaken stops.
    pub(super) fn new(nodes: usize, within: u64) -> Self {
        Self {
            quiet: PreVoteQuiet::default(),
            reuse: ResignedNoReuse::new(nodes),
            claims: ClaimAfterCatchUp::new(nodes),
            stops: StaleLeaderStops::new(nodes, within),
        }
    }

    pub(super) fn hear(&mut self, now: u64, fact: Fact, broken: &mut Broken) {
        match fact {
            Fact::Acted { node, term } => {
                let again = self.reuse.leads(now, node, term);
                broken.add(Check::ResignedNoReuse, again);
            }
            Fact::Established { node, token } => {
                let behind = self.claims.established(now, node, token.counter);
                broken.add(Check::ClaimAfterCatchUp, behind);
                let late = self.stops.established(now, token);
                broken.add(Check::StaleLeaderStops, late);
            }
            Fact::Believes {
                node, token, until, ..
            } => {
                let late = self.stops.believes(now, node, token, until);
                broken.add(Check::StaleLeaderStops, late);
            }
            _ => {}
        }
    }

    /// A node begins another life, with the state as of an entry of this term.
    pub(crate) fn restarted(&mut self, node: usize, term: u64) {
        self.reuse.restarted(node);
        self.claims.is_at(node, term);
    }

    /// A node's state is as of an entry of this term.
    pub(crate) fn is_at(&mut self, node: usize, term: u64) {
        self.claims.is_at(node, term);
    }

    /// A node reads a message that was sent then.
    pub(crate) fn reads(&mut self, now: u64, node: usize, sent: u64) {
        self.stops.reads(now, node, sent);
    }

    /// A node has its disk record a vote.
    pub(crate) fn records(&mut self, now: u64, node: u16, term: u64, vote: u16) -> Broken {
        let mut broken = Broken::default();
        let loud = self.quiet.records(now, node, term, vote);
        broken.add(Check::PreVoteQuiet, loud);
        broken
    }

    pub(super) fn tally(&self, check: Check) -> Tally {
        match check {
            Check::PreVoteQuiet => self.quiet.tally,
            Check::ResignedNoReuse => self.reuse.tally,
            Check::ClaimAfterCatchUp => self.claims.tally,
            _ => self.stops.tally,
        }
    }
}
