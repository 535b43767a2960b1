//! KR-ResignedNoReuse: who led a term in a former life leads it no more, so that it never gives a name of that term to
//! another record.

use super::Tally;

/// Follows in which life nodes led which term.
#[derive(Clone, Debug)]
pub(super) struct ResignedNoReuse {
    /// By node: its life, and the latest term that it led, with the life in which it did.
    nodes: Vec<(u64, Option<(u64, u64)>)>,
    pub(super) tally: Tally,
}

impl ResignedNoReuse {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            nodes: vec![(0, None); nodes],
            tally: Tally::default(),
        }
    }

    /// A node begins another life.
    pub(super) fn restarted(&mut self, node: usize) {
        self.nodes[node].0 += 1;
    }

    /// A node leads a term. Whether it did in a former life.
    pub(super) fn leads(&mut self, now: u64, node: usize, term: u64) -> bool {
        let (life, led) = &mut self.nodes[node];
        let before = led.filter(|(other, _)| *other == term);
        let again = before.is_some_and(|(_, in_life)| in_life != *life);
        let fresh = before.is_none();
        *led = Some((term, *life));
        // That it led before, and died since, is when it could.
        let could = fresh && *life > 0 || again;
        could && self.tally.note(now, again)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_that_is_led_in_two_lives_is_found() {
        let mut check = ResignedNoReuse::new(2);
        assert!(!check.leads(1, 0, 3) && !check.leads(2, 0, 3));
        check.restarted(0);
        assert!(!check.leads(3, 1, 3) && check.leads(4, 0, 3));
        assert!(!check.leads(5, 0, 4));
        assert_eq!((check.tally.exercised, check.tally.broken), (2, 1));
    }
}
