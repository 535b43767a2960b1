//! Which replica is promoted (SEN-F3): one that can be reached and was in touch with its master, and of these the best.

use super::master::Seen;
use super::names::RunId;
use super::{Master, Replica, Rule, Rules, Sentinel, timing};
use crate::{Duration, NodeId};
use core::cmp::Reverse;

/// The order of candidates, the best first.
type Rank = (Reverse<Seen>, u32, Reverse<u64>, RunId, NodeId);

/// Who could be promoted, as far as it is not out of touch for too long.
struct Candidate {
    rank: Rank,
    data: u64,
    /// For how long nothing came from the master; nothing where that tells nothing of the data.
    broken: Option<Duration>,
}

impl<R: Rules> Sentinel<R> {
    /// The best of those that can be promoted now.
    pub(super) fn select(&self, place: usize) -> Option<NodeId> {
        let master = &self.masters[place];
        let candidates = || {
            let replicas = master.replicas.iter();
            replicas.filter_map(|one| self.candidate(master, one))
        };
        let most = candidates().max_by_key(|one| one.data);
        let may = self.most_broken(master, most.and_then(|one| one.broken));
        let ranked = candidates()
            .filter(|one| one.broken.is_none_or(|broken| broken <= may))
            .map(|one| one.rank);
        ranked.min().map(|(.., node)| node)
    }

    /// What speaks for it; `None` when it cannot be promoted.
    fn candidate(&self, master: &Master, replica: &Replica) -> Option<Candidate> {
        let (now, monitor) = (self.now, &master.monitor);
        let one = &replica.at;
        let recent = timing::PING.scaled_up(5, 1);
        let heard = one.alive.is_some_and(|at| now.since(at) <= recent);
        if one.down || !one.is_linked(now, monitor.down_after) || !heard {
            return None;
        }
        let fresh = if master.at.down {
            timing::INFO_SOON.scaled_up(5, 1)
        } else {
            timing::INFO.scaled_up(3, 1)
        };
        let (report, at) = one.report.filter(|_| one.is_fresh(now, fresh))?;
        // A former master that was not reached yet has other data (redis#12570). Who follows nobody any more, because an
        // attempt came to nothing that had promoted it, has been in touch before. And whom the master itself follows, by
        // whoever's order, has all that the master has.
        let follows = self.rules.keeps(Rule::CandidateFollows);
        let leads =
            follows && (master.report()).is_some_and(|report| report.master == Some(one.node));
        let seen = if !follows {
            Seen::InTouch
        } else if leads {
            replica.seen.max(Seen::Following)
        } else {
            replica.seen
        };
        if report.priority == 0 || seen == Seen::Astray {
            return None;
        }
        // How long nothing came from the master tells how old the data is, but not of whom the master itself follows. Where the
        // two follow each other, neither link is ever whole: the shipped sentinel promotes nobody then, for ever.
        let broken = (report.link_down).map_or(Duration::ZERO, |down| down + now.since(at));
        let broken = (!leads).then_some(broken);
        let data = report.offset;
        let offset = if self.rules.keeps(Rule::RankByOffset) {
            data
        } else {
            0
        };
        let (seen, offset) = (Reverse(seen), Reverse(offset));
        Some(Candidate {
            rank: (seen, report.priority, offset, report.run, one.node),
            data,
            broken,
        })
    }

    /// For how long a replica's link to its master may have been broken: since the master went down, and a while more. `most`: for
    /// how long that of the replica is that has the most data.
    fn most_broken(&self, master: &Master, most: Option<Duration>) -> Duration {
        let (now, down_after) = (self.now, master.monitor.down_after);
        let while_more = down_after.scaled_up(10, 1);
        let Some(held) = (master.at.down_since).filter(|_| master.at.down) else {
            return while_more;
        };
        let held = now.since(held);
        if !self.rules.keeps(Rule::LastSignOfLife) {
            return held + while_more;
        }
        let heard = master.at.alive.map(|at| now.since(at));
        let sign = heard.into_iter().chain(most).min();
        // Whoever had been awake would hold it to be down since then.
        let gone = sign.unwrap_or_default().saturating_sub(down_after);
        held.max(gone) + while_more
    }
}
