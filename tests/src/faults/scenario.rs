//! The faults, and one trial of one of them.

use super::network::Links;
use super::system::System;
use std::collections::BTreeSet;

/// An election timeout, in ticks.
const TIMEOUT: u64 = 10;
/// What was on its way when the fault came has arrived after so many ticks: no sign of a recovery.
const SETTLES: u64 = 4;

/// What happens to a group that has a leader. The hub of a star is its first follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The leader loses all its links.
    CutOff,
    /// Every node keeps only its link to one follower; so does the leader.
    Star,
    /// Three in a row, with the leader at one end.
    Chain,
    /// A follower that heard nothing for thirty election timeouts is back.
    Return,
    /// Leader and two followers hear each other; the fourth hears only a follower, the fifth only the leader
    /// (Howard & Abraham 2020).
    TwoSpokes,
    /// None. What then changes is a false failover.
    Healthy,
    /// As [`Star`](Self::Star), but the leader is gone, and the only node that can win lost all its links three ticks before,
    /// so that it lacks entries that are committed (OmniPaxos's constrained election).
    Constrained,
}

/// What came of a trial.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Ticks from the fault to the first commit after it; `None` when none came.
    pub recovered: Option<u64>,
    /// Terms that were voted on before that and elected nobody: split votes.
    pub split: u64,
    /// Whether somebody had to ask twice before that.
    pub again: bool,
    /// New leaders in the whole trial.
    pub leaders: u64,
    /// Terms of the whole trial in which nobody led.
    pub burnt: u64,
    /// In how many ticks something was committed, or how many entries.
    pub committed: u64,
    /// Ticks in which two believed to lead.
    pub two: u64,
}

fn whole(_: usize, _: usize) -> bool {
    true
}

impl Fault {
    /// The links that are up from the fault on, for a leader and its followers.
    fn links(self, leader: usize, others: &[usize]) -> Box<Links> {
        let hub = others[0];
        match self {
            Self::CutOff => Box::new(move |a, b| a != leader && b != leader),
            Self::Star | Self::Chain => Box::new(move |a, b| a == hub || b == hub),
            Self::Constrained => {
                Box::new(move |a, b| (a == hub || b == hub) && a != leader && b != leader)
            }
            Self::Return | Self::Healthy => Box::new(whole),
            Self::TwoSpokes => {
                let (a, b, c, d) = (others[0], others[1], others[2], others[3]);
                let up = [(leader, a), (leader, b), (a, b), (a, c), (leader, d)];
                Box::new(move |from, to| up.contains(&(from, to)) || up.contains(&(to, from)))
            }
        }
    }

    /// One trial, with `horizon` ticks after the fault. When that comes depends on the trial: some libraries act at fixed
    /// times.
    pub fn trial(self, group: &mut impl System, nodes: usize, trial: u64, horizon: u64) -> Outcome {
        let mut ticks = 0;
        while ticks < 60 + trial % 20 || group.leaders().len() != 1 {
            group.tick(&whole);
            ticks += 1;
            assert!(ticks < 10_000, "no group starts with a leader");
        }
        let leader = group.leaders()[0].1;
        let others: Vec<usize> = (0..nodes).filter(|at| *at != leader).collect();
        let away = others[0];
        let absent = match self {
            Self::Return => 30 * TIMEOUT,
            Self::Constrained => 3,
            _ => 0,
        };
        for _ in 0..absent {
            group.tick(&move |a, b| a != away && b != away);
        }
        observe(group, &*self.links(leader, &others), horizon)
    }
}

/// The trial from the fault on.
fn observe(group: &mut impl System, links: &Links, horizon: u64) -> Outcome {
    let (term, asked, committed) = (group.term(), group.asked().to_vec(), group.committed());
    let before: BTreeSet<_> = group.leaders().into_iter().collect();
    let (mut seen, mut last) = (before.clone(), committed);
    let lost = |group: &dyn System, seen: &BTreeSet<(u64, usize)>| {
        let led = seen.difference(&before).map(|(term, _)| *term);
        (group.term() - term).saturating_sub(led.collect::<BTreeSet<_>>().len() as u64)
    };
    let (mut recovered, mut split, mut again, mut two) = (None, 0, false, 0);
    for tick in 1..=horizon {
        group.tick(links);
        let leaders = group.leaders();
        two += u64::from(leaders.len() > 1);
        seen.extend(leaders);
        let now = group.committed();
        if recovered.is_none() && tick > SETTLES && now > last {
            recovered = Some(tick);
            split = lost(group, &seen);
            let mut asks = group.asked().iter().zip(&asked);
            again = asks.any(|(now, then)| now - then > 1);
        }
        last = now;
    }
    Outcome {
        recovered,
        split,
        again,
        leaders: seen.difference(&before).count() as u64,
        burnt: lost(group, &seen),
        committed: last - committed,
        two,
    }
}
