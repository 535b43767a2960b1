//! Acknowledged records survive, while fewer disks lose what was written last than `min.insync.replicas`: broken by design with
//! `acks=1`, where a leader alone acknowledges, where an election may be unclean, and where nobody is left who was known to have
//! everything.

use crate::check::Tally;
use crate::sorted::Sorted;
use tenure::isr::PartitionId;
use tenure::log::{Position, Shape};

#[derive(Clone, Debug, Default)]
pub(super) struct AckLoss {
    /// What was acknowledged and is not known to be lost.
    acknowledged: Sorted<PartitionId, Vec<Position>>,
    /// What nothing excuses.
    tally: Tally,
    /// What is lost by design.
    designed: Tally,
}

impl AckLoss {
    /// A producer is told that its record is in.
    pub(super) fn acknowledged(&mut self, at: PartitionId, position: Position) {
        self.tally.exercised += 1;
        self.acknowledged.or_default(at).push(position);
    }

    /// Whoever leads now has this. Whether it lacks something that was acknowledged; each is counted once. `excused` where that is
    /// lost by design.
    pub(super) fn look(&mut self, now: u64, at: PartitionId, log: &Shape, excused: bool) -> bool {
        let Some(acknowledged) = self.acknowledged.get_mut(&at) else {
            return false;
        };
        let before = acknowledged.len();
        acknowledged.retain(|position| log.contains(*position));
        let lost = (before - acknowledged.len()) as u64;
        if lost > 0 {
            let tally = if excused {
                &mut self.designed
            } else {
                &mut self.tally
            };
            tally.broken += lost;
            tally.first_broken_at.get_or_insert(now);
        }
        lost > 0
    }

    /// The counts; when it broke first is when something was lost that nothing excuses, if anything was.
    pub(super) fn tally(&self) -> Tally {
        let first = self.tally.first_broken_at;
        Tally {
            broken: self.tally.broken + self.designed.broken,
            first_broken_at: first.or(self.designed.first_broken_at),
            ..self.tally
        }
    }

    /// Whether something was lost, and all of it by design.
    pub(super) const fn is_designed(&self) -> bool {
        self.tally.broken == 0 && self.designed.broken > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenure::isr::TopicId;

    #[test]
    fn what_a_leader_lacks_is_counted_once() {
        let at = PartitionId {
            topic: TopicId(1),
            index: 0,
        };
        let mut check = AckLoss::default();
        for index in 1..=3 {
            check.acknowledged(at, Position::new(1, index));
        }
        let log = Shape::from_runs([(1, 2), (2, 4)]).unwrap();
        assert!(check.look(5, at, &log, true) && !check.look(6, at, &log, true));
        let tally = check.tally();
        assert_eq!((tally.exercised, tally.broken), (3, 1));
        assert_eq!(
            (tally.first_broken_at, check.is_designed()),
            (Some(5), true)
        );
        // What nothing excuses is what counts, be it later.
        let shorter = Shape::from_runs([(1, 1)]).unwrap();
        assert!(check.look(7, at, &shorter, false) && !check.is_designed());
        assert_eq!(
            (check.tally().broken, check.tally().first_broken_at),
            (2, Some(7))
        );
    }
}
