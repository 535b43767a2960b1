//! KP-CleanNoLoss: unless an election was unclean or of the last known leader, whoever leads has every record below a high
//! watermark that a leader showed, and so everything that was acknowledged to who waits for all.

use crate::check::Tally;
use crate::sorted::Sorted;
use tenure::isr::PartitionId;
use tenure::log::Shape;

#[derive(Clone, Debug, Default)]
pub(super) struct CleanNoLoss {
    /// The epoch of every record that a leader showed as committed.
    exposed: Sorted<PartitionId, Vec<u64>>,
    pub(super) tally: Tally,
}

impl CleanNoLoss {
    /// A leader that knew so many records to be committed shows more. Whether one of them is another than was shown before.
    pub(super) fn exposes(
        &mut self,
        now: u64,
        at: PartitionId,
        log: &Shape,
        known: u64,
        high_watermark: u64,
    ) -> bool {
        let exposed = self.exposed.or_default(at);
        let mut other = false;
        for index in (known + 1).min(exposed.len() as u64 + 1)..=high_watermark {
            let written = log.term_at(index).unwrap_or(0);
            match exposed.get(index as usize - 1) {
                None => exposed.push(written),
                Some(before) => other |= *before != written,
            }
        }
        self.tally.note(now, other)
    }

    /// Whoever leads now has this. Whether it lacks something that was shown.
    pub(super) fn leads(&mut self, now: u64, at: PartitionId, log: &Shape) -> bool {
        let exposed = self.exposed.get(&at).filter(|exposed| !exposed.is_empty());
        let Some(exposed) = exposed else {
            return false;
        };
        let lacks = agrees(exposed, log) < exposed.len();
        self.tally.note(now, lacks)
    }

    /// What this leader lacks is lost by design.
    pub(super) fn pardon(&mut self, at: PartitionId, log: &Shape) {
        if let Some(exposed) = self.exposed.get_mut(&at) {
            exposed.truncate(agrees(exposed, log));
        }
    }
}

/// How many of these records a log has, from the first on.
pub(super) fn agrees(records: &[u64], log: &Shape) -> usize {
    let numbered = (1..).zip(records);
    let has = |(index, written): &(u64, &u64)| log.term_at(*index) == Some(**written);
    numbered.take_while(has).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenure::isr::TopicId;

    #[test]
    fn a_leader_that_lacks_what_was_shown_is_told() {
        let at = PartitionId {
            topic: TopicId(1),
            index: 0,
        };
        let mut check = CleanNoLoss::default();
        let log = Shape::from_runs([(1, 3), (2, 2)]).unwrap();
        assert!(!check.exposes(1, at, &log, 0, 4) && !check.leads(2, at, &log));
        let other = Shape::from_runs([(1, 3), (3, 2)]).unwrap();
        assert!(check.leads(3, at, &other) && check.exposes(4, at, &other, 3, 5));
        check.pardon(at, &other);
        assert!(!check.leads(5, at, &other));
        assert_eq!(check.tally.broken, 2);
    }
}
