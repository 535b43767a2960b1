//! The vote: first come, first served; once an epoch for each master; in the file before anybody hears of it.
//!
//! The shipped sentinel compares epochs with the one that all masters share, when it is asked, when it asks and when it
//! counts. So the failover of one master changes the votes for another: votes of two epochs are added up (redis#2230), or none count
//! (redis#12865). Here the epochs of the master itself decide: a vote is for an epoch above that of the last vote and above
//! that of the configuration, which makes it unique, and keeps an overtaken candidate from being elected. That is the first
//! condition of SEN-V2, and stands for its second one, by which a voter that has entered a later epoch gives no vote.

use super::names::RunId;
use super::news::News;
use super::{MAX_EPOCH, Rule, Rules, Sentinel, timing};
use crate::Duration;

impl<R: Rules> Sentinel<R> {
    /// Enters an epoch that somebody named, if it is higher (SEN-V1, SEN-V5).
    pub(super) fn enter(&mut self, epoch: u64) {
        if epoch > self.current_epoch && epoch <= MAX_EPOCH {
            self.current_epoch = epoch;
            self.change();
            self.news.post(News::NewEpoch(epoch));
        }
    }

    /// The vote in `epoch`, if it can still be given; and whom the last vote was for, and in which epoch it was (SEN-V1 to
    /// SEN-V3).
    pub(super) fn vote(
        &mut self,
        place: usize,
        epoch: u64,
        candidate: RunId,
    ) -> Option<(RunId, u64)> {
        self.enter(epoch);
        let current = self.current_epoch;
        let master = &self.masters[place];
        let own_epochs = self.rules.keeps(Rule::OwnMastersEpoch);
        let newest = if own_epochs {
            master.config_epoch < epoch
        } else {
            current <= epoch
        };
        let again = master.leader_epoch == epoch
            && master.leader != Some(candidate)
            && !self.rules.keeps(Rule::OneVoteAnEpoch);
        if newest && (master.leader_epoch < epoch || again) {
            let written = self.change();
            let name = self.masters[place].monitor.name;
            let master = &mut self.masters[place];
            master.leader = Some(candidate);
            master.leader_epoch = epoch;
            master.voted = written;
            self.news.post(News::VoteForLeader(name, candidate, epoch));
            // Who has voted for another gives that one time (redis@47750998a).
            if candidate != self.id && self.rules.keeps(Rule::WaitAfterVote) {
                self.wait_from_now(place);
            }
        }
        let master = &self.masters[place];
        master.leader.map(|leader| (leader, master.leader_epoch))
    }

    /// The next attempt has to wait, and a random while longer, so that sentinels do not stay in step.
    pub(super) fn wait_from_now(&mut self, place: usize) {
        let most = timing::DESYNC.saturating_sub(Duration::from_micros(1));
        let wait = self.random.duration(Duration::ZERO, most);
        self.masters[place].started = Some(self.now + wait);
    }

    /// Who is elected for the failover of `epoch`, if anybody is (SEN-V4). The own vote is given here, to whoever is ahead.
    pub(super) fn tally(&mut self, place: usize, epoch: u64) -> Option<RunId> {
        let counted = if self.rules.keeps(Rule::FailoverEpoch) {
            epoch
        } else {
            self.current_epoch
        };
        let ahead = self.most_votes(place, counted, None);
        let candidate = ahead.map_or(self.id, |(candidate, _)| candidate);
        let vote = self.vote(place, epoch, candidate);
        // The own vote counts when the disk has it (law C1).
        let written = self.is_written(self.masters[place].voted);
        let own = vote.filter(|(_, voted)| *voted == epoch && written);
        let (winner, votes) = self.most_votes(place, counted, own.map(|(leader, _)| leader))?;
        let majority = self.voters(place) / 2 + 1;
        let majority_is_there = votes >= majority || !self.rules.keeps(Rule::MajorityBesidesQuorum);
        let quorum = self.masters[place].monitor.quorum;
        (majority_is_there && votes >= quorum).then_some(winner)
    }

    /// How many vote. All that were ever seen: who is cut off has a vote, too (redis@f4be6f16f).
    fn voters(&self, place: usize) -> usize {
        let master = &self.masters[place];
        if self.rules.keeps(Rule::AllKnownVoters) {
            return master.voters();
        }
        let answers = |one: &&super::Sentry| {
            (one.heard).is_some_and(|at| self.now.since(at) <= timing::BELIEVED)
        };
        master.sentinels.iter().filter(answers).count() + 1
    }

    /// Who has the most votes of this epoch, the own one included, and how many. Of equals the lowest id, where the real one
    /// takes the first that its hash table yields.
    fn most_votes(&self, place: usize, epoch: u64, own: Option<RunId>) -> Option<(RunId, usize)> {
        let sentinels = &self.masters[place].sentinels;
        let others = (sentinels.iter())
            .filter_map(|one| one.vote)
            .filter(|(_, voted)| *voted == epoch)
            .map(|(leader, _)| leader);
        let votes = others.chain(own);
        let count = |of: RunId| votes.clone().filter(|leader| *leader == of).count();
        (votes.clone())
            .map(|leader| (leader, count(leader)))
            .max_by_key(|(leader, count)| (*count, core::cmp::Reverse(*leader)))
    }
}
