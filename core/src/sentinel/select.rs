//! Which replica is promoted (SEN-F3): one that can be reached and was in touch with its master, and of these the best.

use super::master::Seen;
use super::names::RunId;
use super::{Master, Replica, Rule, Rules, Sentinel, timing};
use crate::{Duration, Instant, NodeId};
use core::cmp::Reverse;

/// The order of candidates, the best first.
type Rank = (Reverse<Seen>, u32, Reverse<u64>, RunId, NodeId);

impl<R: Rules> Sentinel<R> {
    /// The best of those that can be promoted now.
    pub(super) fn select(&self, place: usize) -> Option<NodeId> {
        let master = &self.masters[place];
        let ranked = master
            .replicas
            .iter()
            .filter_map(|one| self.rank(master, one));
        ranked.min().map(|(.., node)| node)
    }

    /// Its rank; `None` when it cannot be promoted.
    fn rank(&self, master: &Master, replica: &Replica) -> Option<Rank> {
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
        let broken = (report.link_down.filter(|_| !leads))
            .map_or(Duration::ZERO, |down| down + now.since(at));
        if broken > most_broken(master, now) {
            return None;
        }
        let offset = if self.rules.keeps(Rule::RankByOffset) {
            report.offset
        } else {
            0
        };
        let (seen, offset) = (Reverse(seen), Reverse(offset));
        Some((seen, report.priority, offset, report.run, one.node))
    }
}

/// For how long a replica's link to its master may have been broken: since the master went down, and a while more.
fn most_broken(master: &Master, now: Instant) -> Duration {
    let down = (master.at.down_since).filter(|_| master.at.down);
    let since = down.map_or(Duration::ZERO, |at| now.since(at));
    since + master.monitor.down_after.scaled_up(10, 1)
}
